"""The normalized message by rosbags."""

import glue
from definition import ROOT
from form import FORM
from library import NAME, STORE
from wiregauge_runner import Codec, serve

SERIALIZE = getattr(STORE, f"serialize_{glue.KIND}")
DESERIALIZE = getattr(STORE, f"deserialize_{glue.KIND}")


def plain(value):
    """A number of NumPy's as Python's own."""
    return value.item() if hasattr(value, "item") else value


class Rosbags(Codec):
    library = NAME
    phased = True

    populate = staticmethod(glue.give)
    extract = staticmethod(glue.take)

    def write(self, item):
        return SERIALIZE(item, ROOT)

    def parse(self, wire):
        return DESERIALIZE(wire, ROOT)

    def project(self, wire):
        return glue.project(DESERIALIZE(wire, ROOT))

    def exact(self, wire):
        return glue.exact(DESERIALIZE(wire, ROOT))

    def fixed(self, wire):
        return plain(glue.fixed(DESERIALIZE(wire, ROOT)))

    def element(self, wire):
        return plain(glue.element(DESERIALIZE(wire, ROOT)))


def main():
    serve(Rosbags, FORM)
