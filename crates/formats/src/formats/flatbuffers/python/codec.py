"""The normalized message by the classes of FlatBuffers' own compiler."""

from importlib.metadata import version

import flatbuffers
import glue
from form import FORM
from wiregauge_runner import Codec, Rejected, serve


class FlatBuffers(Codec):
    library = f"flatbuffers {version('flatbuffers')}"

    def __init__(self):
        self.builder = flatbuffers.Builder()

    def admit(self, message):
        if glue.loses_sign(message):
            raise Rejected("it loses the sign of zero: -0.0 is not written, as 0.0 is not")

    def write(self, message):
        builder = self.builder
        builder.Clear()
        builder.Finish(glue.build(builder, message))
        return builder.Output()

    def parse(self, wire):
        return glue.take(glue.Root.GetRootAs(wire))

    def project(self, wire):
        return glue.project(glue.Root.GetRootAs(wire))

    def exact(self, wire):
        return glue.exact(glue.Root.GetRootAs(wire))

    def fixed(self, wire):
        return glue.fixed(glue.Root.GetRootAs(wire))

    def element(self, wire):
        return glue.element(glue.Root.GetRootAs(wire))


def main():
    serve(FlatBuffers, FORM)
