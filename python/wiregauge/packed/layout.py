"""Writing a field in place: where everything lies, and its columns to fill."""

import math
import struct
from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from .error import PackedError
from .reduce import Reduced

MAGIC = b"WGPACKED"
VERSION = (1, 1)  # a field without a reduced column is written as 1.0
HEADER = struct.Struct("<8sHHHHQII")
DESCRIPTOR = struct.Struct("<QQQddIHBB")
SCALED = 1
REDUCED = 2

MAXIMUM_SIZE = 0x7FFFFFFF
MAXIMUM_ROWS = 0x7FFFFFFF
MAXIMUM_COLUMNS = 256
MAXIMUM_NAME = 255
MAXIMUM_ALIGNMENT = 4096

# By their codes. "none" has no bytes: the presence bitmap is all there is.
ELEMENTS = ("none", "f64", "f32", "f16", "u64", "u32", "u16", "u8", "i64", "i32", "i16", "i8")


def dtype(element):
    """The NumPy type of an element type."""
    return np.dtype(f"<{element[0]}{int(element[1:]) // 8}")


def size_of(element):
    """Bytes of one element."""
    return 0 if element == "none" else int(element[1:]) // 8


def is_integer(element):
    """Whether it can be scaled."""
    return element[0] in "ui"


def is_name(name):
    """Whether bytes are a name that a column may have."""
    return 1 <= len(name) <= MAXIMUM_NAME and all(0x21 <= c <= 0x7E for c in name)


def is_scale(element, offset, scale):
    """Whether a scale is one that a column may have."""
    return (
        is_integer(element) and scale != 0.0 and math.isfinite(scale) and math.isfinite(offset)
    )


@dataclass(frozen=True)
class Column:
    """A column to be written.

    ``scale`` is (offset, scale) of integers: value = offset + scale * raw.
    ``reduced`` are its elements where they are reduced; ``element`` is theirs then.
    """

    name: str
    element: str = "f64"
    optional: bool = False
    scale: Optional[Tuple[float, float]] = None
    reduced: Optional[Reduced] = None

    def __post_init__(self):
        if self.reduced is not None:
            object.__setattr__(self, "element", self.reduced.element)

    def size(self, rows):
        """Bytes of the elements of so many rows."""
        return rows * size_of(self.element) if self.reduced is None else len(self.reduced.data)


def align_up(value, alignment):
    return (value + alignment - 1) // alignment * alignment


class Layout:
    """Where everything lies in a field of known columns and rows.

    Columns lie at multiples of ``alignment`` bytes (a power of two up to 4096),
    counted from ``start`` bytes before the field.
    """

    def __init__(self, columns, rows, start=0, alignment=64):
        columns = list(columns)
        if (
            len(columns) > MAXIMUM_COLUMNS
            or not 0 <= rows <= MAXIMUM_ROWS
            or not 1 <= alignment <= MAXIMUM_ALIGNMENT
            or alignment & (alignment - 1)
        ):
            raise PackedError("limit")
        self.columns = columns
        self.rows = rows
        self.alignment = alignment
        self.places = []  # of elements and bitmap, from the first column's first byte
        self.names = b""
        seen = set()
        at = 0
        for index, column in enumerate(columns):
            name = column.name.encode("utf-8")
            if not is_name(name):
                raise PackedError("name", index, column.name)
            if name in seen:
                raise PackedError("duplicate", index, column.name)
            seen.add(name)
            if column.element not in ELEMENTS:
                raise PackedError("element", index, column.name)
            if column.scale is not None and not is_scale(column.element, *column.scale):
                raise PackedError("scale", index, column.name)
            if column.reduced is not None and column.element == "none":
                raise PackedError("element", index, column.name)
            self.names += name
            at = align_up(at, alignment)
            data = at
            at += column.size(rows)
            presence = None
            if column.optional:
                at = align_up(at, min(alignment, 8))
                presence = at
                at += (rows + 7) // 8
            if at > MAXIMUM_SIZE:
                raise PackedError("limit")
            self.places.append((data, presence))
        self.head = HEADER.size + len(columns) * DESCRIPTOR.size + len(self.names)
        self.pad = 0
        self.body = at
        self.shift(start)
        if self.size > MAXIMUM_SIZE:
            raise PackedError("limit")

    @property
    def size(self):
        """Bytes of the field."""
        return self.head + self.pad + self.body

    def loosen(self):
        """Takes all padding away, before the first shift."""
        self.pad = 0

    def shift(self, start):
        """Adds padding so that the columns are aligned where the field begins
        ``start`` bytes into its message. Never takes any away."""
        if self.columns:
            at = start + self.head + self.pad
            self.pad += align_up(at, self.alignment) - at

    def write(self, buffer):
        """Writes everything but the elements of columns that are not reduced into a
        buffer of zeros."""
        base = self.head + self.pad
        HEADER.pack_into(
            buffer,
            0,
            MAGIC,
            VERSION[0],
            VERSION[1] if any(column.reduced is not None for column in self.columns) else 0,
            HEADER.size,
            DESCRIPTOR.size,
            self.rows,
            len(self.columns),
            len(self.names),
        )
        name = 0
        for index, (column, (data, presence)) in enumerate(zip(self.columns, self.places)):
            flags = 0 if column.scale is None else SCALED
            offset, scale = column.scale or (0.0, 0.0)
            if column.reduced is not None:
                flags |= REDUCED
                if column.scale is None:
                    scale = column.reduced.resolution or 0.0
                at = base + data
                buffer[at : at + len(column.reduced.data)] = column.reduced.data
            DESCRIPTOR.pack_into(
                buffer,
                HEADER.size + index * DESCRIPTOR.size,
                base + data,
                column.size(self.rows),
                0 if presence is None else base + presence,
                offset,
                scale,
                name,
                len(column.name),
                ELEMENTS.index(column.element),
                flags,
            )
            name += len(column.name)
        buffer[self.head - len(self.names) : self.head] = self.names
        return Table(self, buffer)


class Table:
    """A field whose header is written and whose columns are to be filled."""

    def __init__(self, layout, buffer):
        self.layout = layout
        self.rows = layout.rows
        self._buffer = buffer

    def _index(self, name):
        for index, column in enumerate(self.layout.columns):
            if column.name == name:
                return index
        raise KeyError(name)

    def column(self, name):
        """The raw elements to fill, shape (rows,). Absent rows stay 0. ``KeyError``
        where the column is reduced or has none."""
        index = self._index(name)
        element = self.layout.columns[index].element
        if element == "none" or self.layout.columns[index].reduced is not None:
            raise KeyError(name)
        if self.rows == 0:
            return np.empty(0, dtype(element))
        at = self.layout.head + self.layout.pad + self.layout.places[index][0]
        return np.frombuffer(self._buffer, dtype(element), self.rows, at)

    def set_values(self, name, values):
        """Fills a column with values in OSI's unit, rounded and scaled as it says."""
        column = self.layout.columns[self._index(name)]
        values = np.asarray(values, dtype=np.float64)
        self.column(name)[:] = narrow(values, column.element, column.scale, name)

    def set_present(self, name, present):
        """Says which rows of an optional column have a value; bool, shape (rows,)."""
        index = self._index(name)
        presence = self.layout.places[index][1]
        if presence is None:
            raise KeyError(name)
        present = np.asarray(present, dtype=bool)
        if present.shape != (self.rows,):
            raise ValueError(f"presence has shape {present.shape}, not ({self.rows},)")
        bits = np.packbits(present, bitorder="little").tobytes()
        at = self.layout.head + self.layout.pad + presence
        self._buffer[at : at + len(bits)] = bits


def narrow(values, element, scale, name, number=0):
    """Doubles rounded to an element type; ``PackedError`` where out of range."""
    kind = dtype(element)
    if element == "f64":
        return values
    if element in ("f32", "f16"):
        with np.errstate(over="ignore", invalid="ignore"):
            raw = values.astype(kind)
        if np.any(np.isfinite(values) & np.isinf(raw)):
            raise PackedError("value", number, name)
        return raw
    if scale is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            values = (values - scale[0]) / scale[1]
    values = np.rint(values)
    bits = kind.itemsize * 8 - (kind.kind == "i")
    # The upper bound is exclusive, as the largest 64 bit integers are no doubles.
    bottom = -(2.0**bits) if kind.kind == "i" else 0.0
    if not np.all((values >= bottom) & (values < 2.0**bits)):
        raise PackedError("value", number, name)
    return values.astype(kind)


def widen(raw, scale):
    """The values of raw elements as doubles in OSI's unit."""
    values = raw.astype(np.float64, copy=False)
    return values if scale is None else scale[0] + scale[1] * values
