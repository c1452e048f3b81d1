"""The normalized message by the classes of Protobuf's own library."""

from pathlib import Path

import glue
import google.protobuf
from form import FORM
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation
from wiregauge_runner import Codec, serve

if api_implementation.Type() != "upb":
    raise ImportError(f"protobuf is the one in {api_implementation.Type()}, not upb")


def message_class():
    """The class of the message, as a generated module has it."""
    descriptors = Path(__file__).with_name("message.descriptors").read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptors).file:
        pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(glue.NAME))


Message = message_class()


class Protobuf(Codec):
    library = f"protobuf {google.protobuf.__version__}"
    phased = True
    has_clients = True

    def __init__(self):
        # One of each direction, for where objects live on.
        self.filled, self.parsed = Message(), Message()

    def populate(self, message):
        if self.objects_reused:
            item = self.filled
            item.Clear()
        else:
            item = Message()
        glue.fill(message, item)
        return item

    def write(self, item):
        return item.SerializeToString()

    def parse(self, wire):
        item = self.parsed if self.objects_reused else Message()
        item.ParseFromString(wire)
        return item

    extract = staticmethod(glue.take)

    def project(self, wire):
        return glue.project(self.parse(wire))

    def exact(self, wire):
        return glue.exact(self.parse(wire))

    def fixed(self, wire):
        return glue.fixed(self.parse(wire))

    def element(self, wire):
        return glue.element(self.parse(wire))


def main():
    serve(Protobuf, FORM)
