"""betterproto2's compiler, called as protoc calls it: makes the package `generated` of the
descriptors in a folder."""

import os
import sys
from pathlib import Path

from betterproto2_compiler.lib.google.protobuf import FileDescriptorSet
from betterproto2_compiler.lib.google.protobuf.compiler import CodeGeneratorRequest
from betterproto2_compiler.plugin.parser import generate_code

# It formats what it makes by the ruff of this environment.
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])

folder = Path(sys.argv[1])
files = FileDescriptorSet.parse((folder / "message.descriptors").read_bytes()).file
request = CodeGeneratorRequest(file_to_generate=["message.proto"], proto_file=files)
for file in generate_code(request).file:
    path = folder / "generated" / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file.content)
