"""The normalized message by fastavro."""

import json
from io import BytesIO
from pathlib import Path

import fastavro
import glue
from form import FORM
from wiregauge_runner import Codec, serve

DEFINITION = json.loads(Path(__file__).with_name("message.avsc").read_text())
# The message stands behind what it uses.
SCHEMA = fastavro.parse_schema(DEFINITION)[-1]
WRITE, READ = fastavro.schemaless_writer, fastavro.schemaless_reader


class Avro(Codec):
    library = f"fastavro {fastavro.__version__}"
    phased = True

    populate = staticmethod(glue.give)
    extract = staticmethod(glue.take)

    def write(self, item):
        out = BytesIO()
        WRITE(out, SCHEMA, item)
        return out.getvalue()

    def parse(self, wire):
        return READ(BytesIO(wire), SCHEMA)

    def project(self, wire):
        return glue.project(self.parse(wire))

    def exact(self, wire):
        return glue.exact(self.parse(wire))

    def fixed(self, wire):
        return glue.fixed(self.parse(wire))

    def element(self, wire):
        return glue.element(self.parse(wire))


def main():
    serve(Avro, FORM)
