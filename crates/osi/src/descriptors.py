"""Writes the FileDescriptorSet of the installed OSI package, imports first."""

import importlib
import pkgutil
import sys

import osi3
from google.protobuf import descriptor_pb2

files = descriptor_pb2.FileDescriptorSet()
seen = set()


def add(descriptor):
    if descriptor.name in seen:
        return
    seen.add(descriptor.name)
    for dependency in descriptor.dependencies:
        add(dependency)
    descriptor.CopyToProto(files.file.add())


for module in pkgutil.iter_modules(osi3.__path__):
    if module.name.endswith("_pb2"):
        add(importlib.import_module(f"osi3.{module.name}").DESCRIPTOR)

with open(sys.argv[1], "wb") as output:
    output.write(files.SerializeToString(deterministic=True))
