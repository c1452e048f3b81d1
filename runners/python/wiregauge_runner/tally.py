"""How many numbers were read and a hash of all their bits, in any order but each
in its own field and record (docs/runner-protocol.md has the formula)."""

import struct

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15
#: The unsigned number of the same bits, by the code of the number.
_SAME_BITS = {"b": "B", "h": "H", "i": "I", "q": "Q", "f": "I", "d": "Q"}


def words(code, numbers):
    """The bits of numbers at their own width."""
    if code == "?":
        return [1 if number else 0 for number in numbers]
    packed = struct.pack(f"<{len(numbers)}{code}", *numbers)
    return struct.unpack(f"<{len(numbers)}{_SAME_BITS.get(code, code)}", packed)


def mix(bits):
    """The finalizer of SplitMix64."""
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & _MASK
    return bits ^ bits >> 31


class Tally:
    """What was read of a record. A code is that of the module struct."""

    __slots__ = ("count", "hash")

    def __init__(self):
        self.count = 0
        self.hash = 0

    def _add(self, place, word):
        self.hash = (self.hash + mix(word + (place + 1) * _STEP & _MASK)) & _MASK

    def numbers(self, place, code, numbers):
        """Numbers of the field at this place in its record."""
        for word in words(code, numbers):
            self.count += 1
            self._add(place, word)

    def number(self, place, code, number):
        """One of them."""
        self.numbers(place, code, (number,))

    def length(self, place, length):
        """The length of a text or of octets."""
        self.count += 1
        self._add(place, length)

    def record(self, place, inner):
        """What a record inside brought."""
        self.count += inner.count
        self._add(place, inner.hash)


def octets(text):
    """How many octets a text has."""
    return len(text) if text.isascii() else len(text.encode())
