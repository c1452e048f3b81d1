"""The normalized message by msgspec's structs."""

import json

import glue
import msgspec
from form import FORM
from wiregauge_runner import Codec, Rejected, serve

WIRE = glue.wire


class Structs(Codec):
    library = f"msgspec {msgspec.__version__}"
    phased = True

    def __init__(self):
        self.write = WIRE.Encoder().encode
        self.parse = WIRE.Decoder(glue.Root).decode

    populate = staticmethod(glue.give)
    extract = staticmethod(glue.take)

    def admit(self, message):
        if WIRE is not msgspec.json:
            return
        try:
            json.dumps(msgspec.to_builtins(glue.give(message)), allow_nan=False)
        except ValueError as error:
            raise Rejected("JSON cannot say NaN or an infinity") from error

    def project(self, wire):
        return glue.project(self.parse(wire))

    def exact(self, wire):
        return glue.exact(self.parse(wire))

    def fixed(self, wire):
        return glue.fixed(self.parse(wire))

    def element(self, wire):
        return glue.element(self.parse(wire))


def main():
    serve(Structs, FORM)
