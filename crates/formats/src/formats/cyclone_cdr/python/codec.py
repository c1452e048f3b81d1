"""The normalized message by Cyclone DDS's package."""

from importlib.metadata import version

import glue
from cyclonedds.idl import IdlStruct
from form import FORM
from wiregauge_runner import Codec, serve


class Cyclone(Codec):
    library = f"cyclonedds {version('cyclonedds')}"
    phased = True

    populate = staticmethod(glue.give)
    # A member may have the name of the method.
    write = staticmethod(IdlStruct.serialize)
    parse = staticmethod(glue.Root.deserialize)
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
    serve(Cyclone, FORM)
