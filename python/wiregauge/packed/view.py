"""Reading a field in place."""

from typing import NamedTuple, Optional, Tuple

import numpy as np

from .error import PackedError
from .layout import (
    DESCRIPTOR,
    ELEMENTS,
    HEADER,
    MAGIC,
    MAXIMUM_COLUMNS,
    MAXIMUM_ROWS,
    MAXIMUM_SIZE,
    REDUCED,
    SCALED,
    VERSION,
    dtype,
    is_name,
    is_scale,
    size_of,
    widen,
)
from .reduce import Blocks, is_resolution


class Values(NamedTuple):
    """A column of any element type.

    ``element`` is None where it, or a flag, is one of a later version; ``scale``
    is (offset, scale) or None; ``data`` and ``bitmap`` are bytes, the bitmap None
    where every row has a value. ``blocks`` is None where the column is not reduced.
    """

    name: str
    element: Optional[str]
    scale: Optional[Tuple[float, float]]
    data: memoryview
    bitmap: Optional[memoryview]
    blocks: Optional[Blocks] = None

    @property
    def resolution(self):
        """What it is reduced to, in its unit; None where every bit is kept."""
        return self.blocks and self.blocks.resolution


class View:
    """A field that has been checked. Raises ``PackedError`` where it is none."""

    def __init__(self, field):
        field = memoryview(field).cast("B")
        if len(field) < HEADER.size:
            raise PackedError("truncated")
        magic, major, minor, header, descriptor, rows, columns, names = HEADER.unpack_from(field)
        if magic != MAGIC:
            raise PackedError("magic")
        if major != VERSION[0]:
            raise PackedError("version", major)
        if header < HEADER.size or descriptor < DESCRIPTOR.size:
            raise PackedError("header")
        if len(field) > MAXIMUM_SIZE or rows > MAXIMUM_ROWS or columns > MAXIMUM_COLUMNS:
            raise PackedError("limit")
        described = header + columns * descriptor
        if described + names > len(field):
            raise PackedError("truncated")
        self.rows = rows
        self.minor_version = minor
        self.columns = {}
        taken = []
        found = []
        for index in range(columns):
            at = header + index * descriptor
            values, spans = _describe(field, at, described, described + names, rows, index)
            found.append(values)
            taken.append(spans)
        for index, (values, spans) in enumerate(zip(found, taken)):
            for other in range(index):
                if found[other].name == values.name:
                    raise PackedError("duplicate", index, values.name)
                if any(_shared(a, b) for a in spans for b in taken[other]):
                    raise PackedError("overlap", index, values.name)
            self.columns[values.name] = values

    def column(self, name):
        """The raw elements, shape (rows,), over the field's own bytes; a copy where
        they are reduced. ``KeyError`` where there is no such column or its element
        type is unknown or none."""
        values = self.columns[name]
        if values.element in (None, "none"):
            raise KeyError(name)
        if values.blocks is not None:
            return values.blocks.restore(0, self.rows)
        if self.rows == 0:
            return np.empty(0, dtype(values.element))
        return np.frombuffer(values.data, dtype(values.element), self.rows)

    def part(self, name, begin, end):
        """The raw elements of rows from ``begin`` to before ``end``: of a reduced
        column no other blocks are touched. ``KeyError`` as for ``column``."""
        if not 0 <= begin <= end <= self.rows:
            raise IndexError(f"rows {begin} to {end} of {self.rows}")
        blocks = self.columns[name].blocks
        return self.column(name)[begin:end] if blocks is None else blocks.restore(begin, end)

    def values(self, name):
        """The values as doubles in OSI's unit, shape (rows,); a copy unless they
        are f64. What absent rows have means nothing."""
        return widen(self.column(name), self.columns[name].scale)

    def present(self, name):
        """Which rows have a value: bool, shape (rows,)."""
        bitmap = self.columns[name].bitmap
        if bitmap is None or self.rows == 0:
            return np.ones(self.rows, dtype=bool)
        bits = np.frombuffer(bitmap, np.uint8)
        return np.unpackbits(bits, count=self.rows, bitorder="little").astype(bool)

    def to_arrow(self, names=None):
        """The columns, or those of these names, as a ``pyarrow.RecordBatch``.

        What lies in place and aligned is not copied, presence bitmaps are Arrow's own;
        the batch holds on to the field's bytes. Reduced columns are decoded into the
        batch's buffers. Scaled ones are doubles in OSI's unit, markers such as
        ``position?`` booleans; columns of a later version are left out."""
        from .arrow import record_batch

        return record_batch(self, names)

    # Arrow's PyCapsule interface, so that Polars, DuckDB and others take a view as it is.

    def __arrow_c_schema__(self):
        return self.to_arrow().schema.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema=None):
        return self.to_arrow().__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _shared(a, b):
    return a[0] < a[1] and b[0] < b[1] and a[0] < b[1] and b[0] < a[1]


def _describe(field, at, names, head, rows, index):
    """A column and the places of its elements and its bitmap."""
    data, size, presence, offset, scale, name, name_size, element, flags = DESCRIPTOR.unpack_from(
        field, at
    )
    if name + name_size > head - names:
        raise PackedError("range", index)
    text = bytes(field[names + name : names + name + name_size])
    if not is_name(text):
        raise PackedError("name", index)
    text = text.decode("ascii")

    def check(begin, length):
        if begin + length > len(field):
            raise PackedError("range", index, text)
        if begin < head:
            raise PackedError("overlap", index, text)
        return begin, begin + length

    elements = check(data, size)
    bits = check(presence, (rows + 7) // 8) if presence else (0, 0)
    kind = None
    factors = None
    # Of an element type or flag of a later version nothing more is known.
    blocks = None
    if element < len(ELEMENTS) and not flags & ~(SCALED | REDUCED):
        kind = ELEMENTS[element]
        if not flags & REDUCED and size != rows * size_of(kind):
            raise PackedError("range", index, text)
        if flags & SCALED:
            if not is_scale(kind, offset, scale):
                raise PackedError("scale", index, text)
            factors = (offset, scale)
        if flags & REDUCED:
            resolution = None if flags & SCALED or scale == 0.0 else scale
            if kind == "none":
                raise PackedError("element", index, text)
            if resolution is not None and not is_resolution(kind, resolution):
                raise PackedError("resolution", index, text)
            blocks = Blocks(field[data : data + size], rows, dtype(kind), resolution)
            if blocks.blocks is None:
                raise PackedError("blocks", index, text)
    if _shared(elements, bits):
        raise PackedError("overlap", index, text)
    bitmap = field[bits[0] : bits[1]] if presence else None
    values = Values(text, kind, factors, field[elements[0] : elements[1]], bitmap, blocks)
    return values, (elements, bits)
