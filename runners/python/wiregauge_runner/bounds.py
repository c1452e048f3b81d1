"""The two bounds: no operation, which shows what the harness costs, and memcpy,
which shows what moving the bytes costs."""

from wiregauge_runner.codec import Codec
from wiregauge_runner.tally import Tally


class Opaque:
    """The form of a message whose content nobody looks at: its canonical bytes."""

    def read(self, canonical):
        return bytes(canonical)

    def write(self, message):
        return bytes(message)

    def path_code(self, _):
        return "B"


class Noop(Codec):
    """Does nothing."""

    def write(self, _):
        return b""

    def parse(self, _):
        return b""

    def project(self, _):
        return 0.0

    def fixed(self, _):
        return None

    def element(self, _):
        return None

    def exact(self, _):
        return Tally()


class Memcpy(Codec):
    """Copies the canonical bytes there and back."""

    library = "bytearray"

    def write(self, message):
        return bytearray(message)

    def parse(self, wire):
        return bytearray(wire)

    def project(self, wire):
        words = memoryview(wire)[: len(wire) & ~7].cast("Q")
        return float(sum(words) + sum(wire[len(words) * 8 :]))

    def exact(self, _):
        return Tally()

    def fixed(self, wire):
        return wire[0] if wire else None

    def element(self, wire):
        return wire[len(wire) // 2] if wire else None
