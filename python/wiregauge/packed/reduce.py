"""Reducing columns, to a resolution or without loss, and restoring them."""

import math
from dataclasses import dataclass
from typing import Optional

import numpy as np

from .block import (
    BITS,
    BLOCK,
    DECIMAL,
    HEAD,
    POWERS,
    STEPS,
    is_listed,
    open_block,
    pack,
    packed_size,
    places_size,
    turn,
)
from .error import PackedError

# Below this a double has room for a fraction, and adding ROUND rounds.
MOST = 2.0**51
ROUND = 3 * 2.0**51


def is_resolution(element, resolution):
    """Whether a resolution is one that a column of these elements may have."""
    return element in ("f64", "f32") and resolution > 0.0 and math.isfinite(resolution)


@dataclass(frozen=True)
class Reduced:
    """A column's elements, reduced: ``Column(name, reduced=…)`` plans it.

    ``resolution`` is in the column's unit, None where every bit is kept; ``error``
    is the largest difference that it made.
    """

    element: str
    resolution: Optional[float]
    data: bytes
    error: float


def reduce(name, values, present=None, resolution=None, whole_bytes=False):
    """Reduces an array of elements, shape (rows,).

    No value changes by more than half of the resolution, in the column's unit;
    without one every bit is kept. ``present`` says which rows of an optional column
    have a value. ``whole_bytes`` is larger by itself, and smaller where the whole is
    compressed afterwards.

    Raises ``PackedError`` with the name: ``resolution`` where it is no positive
    number or the elements are neither f64 nor f32; ``steps`` where a value is 2**51
    resolutions or more away from 0.
    """
    values = np.ascontiguousarray(values)
    values = values.astype(values.dtype.newbyteorder("<"), copy=False)
    kind = values.dtype
    element = f"{kind.kind}{8 * kind.itemsize}"
    if kind.kind not in "fui" or kind.itemsize > 8:
        raise PackedError("element", 0, name)
    if resolution is not None and not is_resolution(element, resolution):
        raise PackedError("resolution", 0, name)
    has = np.ones(len(values), bool) if present is None else np.asarray(present, bool)
    step = 8 if whole_bytes else 1
    whole = len(values) // BLOCK * BLOCK
    blocks = []
    error = 0.0
    # Blocks of the same length together, as the rows of a matrix.
    for part, count in ((slice(0, whole), BLOCK), (slice(whole, None), len(values) - whole)):
        if count and len(values[part]):
            writer = _Writer(values[part].reshape(-1, count), has[part].reshape(-1, count))
            made, more = writer.reduce(name, resolution, step)
            error = max(error, made)
            blocks += more
    index = np.cumsum([len(block) for block in blocks]).astype("<u4").tobytes()
    return Reduced(element, resolution, index + b"".join(blocks), error)


class Blocks:
    """A reduced column that has been checked; ``blocks`` is None where it is none."""

    def __init__(self, data, rows, kind, resolution):
        self.rows = rows
        self.kind = kind
        self.resolution = resolution
        self.blocks = None
        count = (rows + BLOCK - 1) // BLOCK
        if len(data) < 4 * count:
            return
        ends = np.frombuffer(data, "<u4", count).astype(np.int64) if count else np.zeros(0, int)
        body = data[4 * count :]
        starts = np.concatenate(([0], ends))
        if np.any(np.diff(starts) < 0) or starts[-1] != len(body):
            return
        blocks = []
        for at, (begin, end) in enumerate(zip(starts[:-1], ends)):
            inside = min(BLOCK, rows - at * BLOCK)
            block = open_block(body[begin:end], inside, kind, resolution is not None)
            if block is None:
                return
            blocks.append(block)
        self.blocks = blocks

    def restore(self, begin, end):
        """The elements of rows from ``begin`` to before ``end``."""
        first = begin // BLOCK
        parts = [self._restore(block) for block in self.blocks[first : (end + BLOCK - 1) // BLOCK]]
        if not parts:
            return np.empty(0, self.kind)
        return np.concatenate(parts)[begin - first * BLOCK : end - first * BLOCK]

    def _restore(self, block):
        numbers = block.numbers()
        with np.errstate(all="ignore"):
            if block.form == STEPS:
                out = (numbers * np.float64(self.resolution)).astype(self.kind)
            elif block.form == DECIMAL:
                out = (numbers / POWERS[block.detail]).astype(self.kind)
            else:
                bits = turn(numbers, self.kind, block.detail) << np.int64(block.detail)
                out = bits.astype(f"<i{self.kind.itemsize}").view(self.kind)
        out[block.plain_rows] = np.frombuffer(block.plain, self.kind)
        return out


def _fill(numbers, holes):
    """Holes take the number before them, the first ones the first that there is."""
    if not holes.any():
        return numbers
    rows = np.where(holes, -1, np.arange(numbers.shape[1]))
    before = np.maximum.accumulate(rows, axis=1)
    first = np.argmax(~holes, axis=1)[:, None]
    filled = np.take_along_axis(numbers, np.where(before < 0, first, before), axis=1)
    return np.where(holes.all(axis=1)[:, None], np.int64(0), filled)


def _round(values):
    """The nearest whole numbers, of two the even one: as integers and doubles."""
    rounded = values + ROUND
    return rounded.view(np.int64) - np.float64(ROUND).view(np.int64), rounded - ROUND


def _lengths(codes):
    """Bits of each number up to its highest one."""
    high = np.frexp((codes >> np.uint64(32)).astype(np.float64))[1]
    low = np.frexp((codes & np.uint64(0xFFFFFFFF)).astype(np.float64))[1]
    return np.where(high > 0, high + 32, low)


def _differences(numbers):
    """Each number's difference to the one before, its sign as its lowest bit."""
    steps = np.diff(numbers, axis=1, prepend=numbers[:, :1])
    return ((steps << 1) ^ (steps >> 63)).view(np.uint64)


def _choose(codes, step):
    """The smallest layers of each block: widths, counts, and bytes of all."""
    blocks, rows = codes.shape
    lengths = _lengths(codes)
    flat = lengths + 65 * np.arange(blocks)[:, None]
    histogram = np.bincount(flat.ravel(), minlength=65 * blocks).reshape(blocks, 65)
    longer = rows - np.cumsum(histogram, axis=1)
    most = -(-lengths.max(axis=1) // step) * step
    widths = np.zeros((blocks, 3), np.int64)
    counts = np.zeros((blocks, 3), np.int64)
    sizes = np.zeros(blocks, np.int64)
    for all_bits in np.unique(most):
        group = np.flatnonzero(most == all_bits)
        ways = [(all_bits, 0, 0)]
        for first in range(0, all_bits, step):
            ways.append((first, all_bits - first, 0))
            for both in range(first + step, all_bits, step):
                ways.append((first, both - first, all_bits - both))
        ways = np.array(ways)
        # Those that go on above the first layer, and above the second.
        second = longer[group][:, ways[:, 0]] * (ways[:, 1] > 0)
        third = longer[group][:, ways[:, 0] + ways[:, 1]] * (ways[:, 2] > 0)
        size = (
            packed_size(rows, ways[:, 0])
            + places_size(rows, second)
            + packed_size(second, ways[:, 1])
            + places_size(second, third)
            + packed_size(third, ways[:, 2])
        )
        best = np.argmin(size, axis=1)
        every = np.arange(len(group))
        widths[group] = ways[best]
        counts[group] = np.stack(
            (np.full(len(group), rows), second[every, best], third[every, best]), axis=1
        )
        sizes[group] = size[every, best]
    return widths, counts, sizes


class _Numbers:
    """The numbers of blocks as (blocks, rows), and how they are kept best."""

    def __init__(self, form, detail, numbers, plain, step):
        self.form = form
        self.detail = np.broadcast_to(detail, len(numbers))
        self.numbers = numbers
        self.plain = plain
        self.smallest = numbers.min(axis=1)
        above = (numbers - self.smallest[:, None]).view(np.uint64)
        self.above = _choose(above, step)
        self.differences = _choose(_differences(numbers), step)
        self.by_difference = self.differences[2] < self.above[2]
        self.size = np.minimum(self.differences[2], self.above[2])

    def write(self, at, values):
        """The bytes of one block."""
        numbers = self.numbers[at : at + 1]
        by_difference = bool(self.by_difference[at])
        base = int(numbers[0, 0] if by_difference else self.smallest[at])
        widths, counts, _ = self.differences if by_difference else self.above
        widths, counts = widths[at].tolist(), counts[at].tolist()
        if by_difference:
            codes = _differences(numbers)[0]
        else:
            codes = (numbers[0] - np.int64(base)).view(np.uint64)
        plain = np.flatnonzero(self.plain[at])
        head = HEAD.pack(
            self.form,
            by_difference,
            int(self.detail[at]),
            *widths,
            counts[1],
            counts[2],
            len(plain),
            base,
        )
        out = [head]
        for layer, (width, count) in enumerate(zip(widths, counts)):
            if count == 0:
                break
            out.append(pack(codes, width))
            following = counts[layer + 1] if layer < 2 else 0
            if following:
                above = codes >> np.uint64(width)
                places = np.flatnonzero(above)
                if is_listed(count, following):
                    out.append(places.astype("<u2").tobytes())
                else:
                    out.append(np.packbits(above != 0, bitorder="little").tobytes())
                codes = above[places]
        out.append(plain.astype("<u2").tobytes())
        out.append(values[plain].tobytes())
        return b"".join(out)


class _Writer:
    """Blocks of one length: elements and which are there, as (blocks, rows)."""

    def __init__(self, values, has):
        self.values = values
        self.has = has

    def reduce(self, name, resolution, step):
        """The largest error, and the bytes of each block."""
        kind = self.values.dtype
        errors = np.zeros(len(self.values))
        ways = []
        with np.errstate(all="ignore"):
            if resolution is not None:
                way, errors = self._steps(name, resolution, step)
                ways.append((way, np.ones(len(errors), bool)))
            elif kind.kind == "f" and kind.itemsize > 2:
                ways.append(self._decimal(step))
            if resolution is None or ways[0][0].plain.any():
                way = self._bits(step)
                tried = np.ones(len(errors), bool)
                if resolution is not None:
                    tried = ways[0][0].plain.any(axis=1)
                ways.append((way, tried))
        far = np.iinfo(np.int64).max
        cost = [
            np.where(tried, way.size + way.plain.sum(axis=1) * (2 + kind.itemsize), far)
            for way, tried in ways
        ]
        chosen = np.argmin(cost, axis=0)
        error = max((e for e, way in zip(errors, chosen) if way == 0), default=0.0)
        blocks = [ways[way][0].write(at, self.values[at]) for at, way in enumerate(chosen)]
        return float(error), blocks

    def _steps(self, name, resolution, step):
        values = self.values.astype(np.float64)
        steps = values / resolution
        numbers, whole = _round(steps)
        back = (whole * resolution).astype(self.values.dtype).astype(np.float64)
        error = np.abs(back - values)
        if np.any(self.has & np.isfinite(values) & ~(np.abs(steps) < MOST)):
            raise PackedError("steps", 0, name)
        fits = self.has & (error <= resolution / 2.0)
        numbers = _fill(numbers, ~fits)
        largest = np.where(fits, error, 0.0).max(axis=1)
        return _Numbers(STEPS, 0, numbers, self.has & ~fits, step), largest

    def _decimal(self, step):
        """Numbers of tenths, hundredths and so on, and which blocks have half of a
        sample that are some."""
        rows = self.values.shape[1]
        count = min(32, rows)
        sample = np.arange(count) * rows // count
        has = self.has[:, sample]
        hits = np.stack(
            [(has & self._decimals(sample, np.full(len(has), p))[1]).sum(axis=1) for p in range(23)]
        )
        power = np.argmax(hits, axis=0)
        best = hits.max(axis=0)
        numbers, same = self._decimals(slice(None), power)
        numbers = _fill(numbers, ~(same & self.has))
        tried = (best > 0) & (2 * best >= has.sum(axis=1))
        return _Numbers(DECIMAL, power, numbers, self.has & ~same, step), tried

    def _decimals(self, rows, power):
        values = self.values[:, rows]
        wide = values.astype(np.float64)
        factor = POWERS[power][:, None]
        products = wide * factor
        numbers, whole = _round(products)
        back = np.ascontiguousarray((whole / factor).astype(values.dtype))
        bits = f"<u{values.dtype.itemsize}"
        same = back.view(bits) == np.ascontiguousarray(values).view(bits)
        return numbers, same & (np.abs(products) < MOST)

    def _bits(self, step):
        """Bits in the order of the values, without the lowest ones that are 0 in all
        of a block."""
        kind = self.values.dtype
        sign = "u" if kind.kind == "u" else "i"
        bits = self.values.view(f"<{sign}{kind.itemsize}").astype(np.int64)
        any_bits = np.bitwise_or.reduce(np.where(self.has, bits, 0), axis=1).view(np.uint64)
        lowest = any_bits & (np.uint64(0) - any_bits)
        shift = np.where(any_bits == 0, 1, _lengths(lowest)) - 1
        numbers = np.empty_like(bits)
        for one in np.unique(shift):
            group = shift == one
            numbers[group] = turn(bits[group] >> np.int64(one), kind, int(one))
        plain = np.zeros_like(self.has)
        return _Numbers(BITS, shift, _fill(numbers, ~self.has), plain, step)
