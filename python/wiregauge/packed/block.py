"""A block of a reduced column: its head, and where its parts lie."""

import struct
from typing import NamedTuple, Tuple

import numpy as np

BLOCK = 1024  # rows of a block; the last one has what is left
HEAD = struct.Struct("<BBB3BHHHq")
POWERS = np.array([float(f"1e{power}") for power in range(23)])

# What a block's numbers stand for: an element's bits without so many lowest ones,
# number * resolution, or number / 10 to a power.
BITS, STEPS, DECIMAL = range(3)


def packed_size(count, width):
    """Bytes of so many numbers of so many bits."""
    return (count * width + 7) // 8


def is_listed(count, following):
    """Whether the numbers that go on in the next layer are listed; else they have
    a bitmap."""
    return 2 * following < (count + 7) // 8


def places_size(count, following):
    """Bytes that say which numbers go on."""
    return np.minimum((count + 7) // 8, 2 * following)


def pack(numbers, width):
    """The lowest bits of numbers (uint64), the first one lowest."""
    octets = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")[:, :width]
    return np.packbits(bits, bitorder="little").tobytes()


def unpack(data, width, count):
    """Numbers of so many bits, as uint64."""
    bits = np.zeros((count, 64), np.uint8)
    octets = np.frombuffer(data, np.uint8)
    bits[:, :width] = np.unpackbits(octets, count=count * width, bitorder="little").reshape(
        count, width
    )
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").reshape(count)


def turn(numbers, kind, shift):
    """Floats are sign and magnitude: of negative ones the magnitude is turned
    over, so that numbers are in the order of the values. The same again gives the
    bits back."""
    if kind.kind != "f":
        return numbers
    magnitude = ((1 << (8 * kind.itemsize - 1)) - 1) >> shift
    return numbers ^ ((numbers >> 63) & np.int64(magnitude))


class Block(NamedTuple):
    """What a block's head says, and its parts.

    ``numbers`` are the layers: width, count and bytes of each; ``places`` which
    numbers of a layer go on; ``plain`` the rows and values that stand as they are.
    """

    form: int
    differences: bool
    detail: int
    base: int
    layers: Tuple[Tuple[int, int, bytes], ...]
    places: Tuple[np.ndarray, ...]
    plain_rows: np.ndarray
    plain: bytes

    def numbers(self):
        """The numbers of all rows, as int64."""
        codes = None
        for (width, count, data), above in zip(reversed(self.layers), (None, *reversed(self.places))):
            if count == 0:
                continue
            lower = unpack(data, width, count)
            if codes is not None:
                lower[above] |= codes << np.uint64(width)
            codes = lower
        if self.differences:
            one = np.uint64(1)
            steps = (codes >> one) ^ (np.uint64(0) - (codes & one))
            codes = np.cumsum(steps, dtype=np.uint64)
        return codes.view(np.int64) + np.int64(self.base)


def open_block(data, rows, kind, steps):
    """A checked block; None where the bytes are none, to the last one."""
    if len(data) < HEAD.size:
        return None
    form, differences, detail, *widths, second, third, plain, base = HEAD.unpack_from(data)
    counts = (rows, second, third)
    is_float = kind.kind == "f" and kind.itemsize > 2
    is_known = (
        (form == BITS and detail < 8 * kind.itemsize)
        or (form == STEPS and steps and detail == 0)
        or (form == DECIMAL and not steps and is_float and detail < len(POWERS))
    )
    if (
        not is_known
        or differences > 1
        or sum(widths) > 64
        or not rows >= second >= third
        or (widths[1] == 0) != (second == 0)
        or (widths[2] == 0) != (third == 0)
        or plain > (0 if form == BITS else rows)
    ):
        return None
    at = HEAD.size
    layers = []
    places = []
    for layer, (width, count) in enumerate(zip(widths, counts)):
        if layer:
            size = int(places_size(counts[layer - 1], count))
            found = _places(data[at : at + size], counts[layer - 1], count)
            if found is None:
                return None
            places.append(found)
            at += size
        size = packed_size(count, width)
        layers.append((width, count, data[at : at + size]))
        at += size
    plain_rows = _ascending(data[at : at + 2 * plain], plain, rows)
    at += 2 * plain
    if plain_rows is None or at + plain * kind.itemsize != len(data):
        return None
    return Block(
        form, differences == 1, detail, base, tuple(layers), tuple(places), plain_rows, data[at:]
    )


def _ascending(data, count, end):
    """Places that rise and stay below the end; None where they do not."""
    if len(data) != 2 * count:
        return None
    places = np.frombuffer(data, "<u2").astype(np.int64)
    if count and (places[-1] >= end or np.any(np.diff(places) <= 0)):
        return None
    return places


def _places(data, count, following):
    """Which numbers go on; None where the bytes do not say so many."""
    if is_listed(count, following):
        return _ascending(data, following, count)
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    places = np.flatnonzero(bits)
    if len(bits) < count or len(places) != following or np.any(places >= count):
        return None
    return places
