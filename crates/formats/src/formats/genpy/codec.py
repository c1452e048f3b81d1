"""The normalized message by genpy."""

from importlib.metadata import version
from io import BytesIO

import glue
from form import FORM
from wiregauge_runner import Codec, serve


class Genpy(Codec):
    library = f"genpy {version('genpy')}"
    phased = True

    populate = staticmethod(glue.give)
    extract = staticmethod(glue.take)

    def write(self, item):
        buffer = BytesIO()
        item.serialize(buffer)
        return buffer.getvalue()

    def parse(self, wire):
        return glue.Root().deserialize(wire)

    def project(self, wire):
        return glue.project(self.parse(wire))

    def exact(self, wire):
        return glue.exact(self.parse(wire))

    def fixed(self, wire):
        return glue.fixed(self.parse(wire))

    def element(self, wire):
        return glue.element(self.parse(wire))


def main():
    serve(Genpy, FORM)
