"""The normalized message by pycapnp."""

from pathlib import Path

import capnp
import glue
from form import FORM
from wiregauge_runner import Codec, serve

capnp.remove_import_hook()
Root = getattr(capnp.load(str(Path(__file__).with_name("message.capnp"))), glue.ROOT)
# The default, which own messages may exceed and must then be read all the same.
WORDS = 8 * 1024 * 1024
LIBCAPNP = ".".join(
    str(getattr(capnp.version, f"LIBCAPNP_VERSION_{part}")) for part in ("MAJOR", "MINOR", "MICRO")
)


def reading(wire):
    """What opens and closes the library's reader of these bytes."""
    return Root.from_bytes(wire, max(WORDS, len(wire) // 4), glue.NESTING)


class CapnProto(Codec):
    library = f"pycapnp {capnp.__version__}, capnp {LIBCAPNP}"
    phased = True
    verifies = True

    def populate(self, message):
        item = Root.new_message()
        glue.fill(item, message)
        return item

    def write(self, item):
        wire = item.to_bytes()
        # It warns of what is written twice, as it is where writing alone is timed.
        item.clear_write_flag()
        return wire

    def parse(self, wire):
        item = reading(wire)
        return item, item.__enter__()

    def extract(self, item):
        message = glue.take(item[1])
        item[0].__exit__(None, None, None)
        return message

    def verify(self, wire):
        with reading(wire) as item:
            return item.total_size

    def project(self, wire):
        with reading(wire) as item:
            return glue.project(item)

    def exact(self, wire):
        with reading(wire) as item:
            return glue.exact(item)

    def fixed(self, wire):
        with reading(wire) as item:
            return glue.fixed(item)

    def element(self, wire):
        with reading(wire) as item:
            return glue.element(item)


def main():
    serve(CapnProto, FORM)
