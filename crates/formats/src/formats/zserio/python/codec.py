"""The normalized message by zserio."""

from importlib.metadata import version

import glue
import zserio
from form import FORM
from wiregauge_runner import Codec, serve


class Zserio(Codec):
    library = f"zserio {version('zserio')}"
    phased = True

    populate = staticmethod(glue.give)
    write = staticmethod(zserio.serialize_to_bytes)
    extract = staticmethod(glue.take)

    def parse(self, wire):
        return zserio.deserialize_from_bytes(glue.Root, wire)

    def project(self, wire):
        return glue.project(self.parse(wire))

    def exact(self, wire):
        return glue.exact(self.parse(wire))

    def fixed(self, wire):
        return glue.fixed(self.parse(wire))

    def element(self, wire):
        return glue.element(self.parse(wire))


def main():
    serve(Zserio, FORM)
