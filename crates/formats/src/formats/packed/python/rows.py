"""Lists of plain records as packed fields: what stands in which column."""

from operator import attrgetter

import numpy
from wiregauge.packed import Column, Layout, View
from wiregauge_runner.tally import Tally

#: Codes of the module struct, by the packed field's element types.
CODES = {
    "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
    "f32": "f", "f64": "d",
}  # fmt: skip


def pack(plan, rows):
    """The field of these records; empty where there are none."""
    if not rows:
        return b""
    out = []
    plan.give(rows, out)
    if not out:
        # One column at least, so that the field's size bounds its rows.
        out.append((plan.lacking(), None, numpy.zeros(len(rows), bool)))
    layout = Layout([column for column, _, _ in out], len(rows))
    field = bytearray(layout.size)
    table = layout.write(field)
    for column, values, present in out:
        if values is not None:
            table.column(column.name)[:] = values
        if present is not None:
            table.set_present(column.name, present)
    return bytes(field)


def opened(field):
    """The columns in a field; None where it is empty."""
    if not field:
        return None
    view = View(field)
    if view.rows > 8 * len(field):
        raise ValueError("the packed field has rows that no column holds")
    return view


def take(plan, view):
    """The records."""
    return [] if view is None else plan.take(view)


def total(plan, view):
    """The sum of all numbers."""
    return 0.0 if view is None else plan.total(view)


def tallies(plan, view):
    """A tally of each record."""
    return [plan.tell(record) for record in take(plan, view)]


def number(plan, view, row, path):
    """One number of the record at a place, or of the middle one, by the places of fields
    and elements on the way; None where it is not there."""
    if view is None:
        return None
    row = view.rows // 2 if row is None else row
    return plan.number(view, row, *path) if row < view.rows else None


class Number:
    """A number of a row, which is a column. A truth value is a u8."""

    def __init__(self, name, kind, is_optional=False):
        self.name, self.is_optional = name, is_optional
        self.code = "?" if kind == "bool" else CODES[kind]
        self.element = "u8" if kind == "bool" else kind
        self.whole = Column(name, self.element)
        self.partial = Column(name, self.element, optional=True)

    def give(self, values, out):
        """Adds the column of these values, and says which rows have one; None where
        all must."""
        if not self.is_optional:
            out.append((self.whole, values, None))
            return None
        present = numpy.array([value is not None for value in values])
        if present.all():
            out.append((self.whole, values, None))
        elif present.any():
            values = [0 if value is None else value for value in values]
            out.append((self.partial, values, present))
        return present

    def lacking(self):
        """The column where no row has a value."""
        return self.partial

    def column(self, view):
        """The column; None where no row has a value."""
        found = view.columns.get(self.name)
        if found is None and self.is_optional:
            return None
        if found is None or found.element != self.element or found.scale is not None:
            raise ValueError(f"there is no column '{self.name}' of {self.element}")
        if found.bitmap is not None and not self.is_optional:
            raise ValueError(f"column '{self.name}' does not have all rows")
        column = view.column(self.name)
        return column.astype(bool) if self.code == "?" else column

    def present(self, view):
        """Which rows have a value."""
        is_there = self.name in view.columns
        return view.present(self.name) if is_there else numpy.zeros(view.rows, bool)

    def take(self, view):
        """The value of each row; None where it has none."""
        column = self.column(view)
        if column is None:
            return [None] * view.rows
        values = column.tolist()
        if view.columns[self.name].bitmap is None:
            return values
        present = view.present(self.name).tolist()
        return [value if there else None for value, there in zip(values, present)]

    def total(self, view):
        """The sum of all values."""
        column = self.column(view)
        if column is None:
            return 0.0
        if view.columns[self.name].bitmap is not None:
            column = column[view.present(self.name)]
        return float(column.sum(dtype="f8"))

    def number(self, view, row):
        """The value of a row; None where it has none."""
        column = self.column(view)
        if column is None or not view.present(self.name)[row]:
            return None
        return column[row].item()

    def tally(self, tally, place, value):
        """Tells a value of a row."""
        tally.number(place, self.code, value)


class Field:
    """A field of a record: one value, or a fixed array of them. Where its record may be
    missing, so may it."""

    def __init__(self, member, *items, is_array=False, may_miss=False):
        self.member, self.items = member, items
        self.is_array, self.may_miss = is_array, may_miss
        self.get = attrgetter(member)

    def give(self, rows, out):
        """Adds the columns of these rows' field, and says which rows have one."""
        if self.may_miss:
            get, missing = self.get, (None,) * len(self.items) if self.is_array else None
            values = [missing if row is None else get(row) for row in rows]
        else:
            values = list(map(self.get, rows))
        each = zip(*values) if self.is_array else [values]
        return union([item.give(values, out) for item, values in zip(self.items, each)])

    def take(self, view):
        """The field of each row."""
        values = [item.take(view) for item in self.items]
        return map(list, zip(*values)) if self.is_array else values[0]


class Record:
    """A record in a row, or the row itself: the columns of its fields. A marker is the
    column of an optional one that may have none of them."""

    def __init__(self, make, *fields, is_optional=False, marker=None):
        self.make, self.fields = make, fields
        self.is_optional, self.marker = is_optional, marker

    def give(self, rows, out):
        """Adds the columns of these records, and says which rows have one."""
        first = len(out)
        filled = union([field.give(rows, out) for field in self.fields])
        if not self.is_optional:
            return filled
        there = numpy.array([row is not None for row in rows])
        if self.marker is not None and numpy.any(there if filled is None else there & ~filled):
            out.insert(first, (Column(self.marker, "none", optional=True), None, there))
        return there

    def lacking(self):
        """A column where no row has a value; None where there are no columns."""
        if self.marker is not None:
            return Column(self.marker, "none", optional=True)
        items = [item for field in self.fields for item in field.items]
        return next(filter(None, (item.lacking() for item in items)), None)

    def present(self, view):
        """Which rows have the record."""
        if self.marker in view.columns:
            return view.present(self.marker)
        there = numpy.zeros(view.rows, bool)
        for field in self.fields:
            for item in field.items:
                there |= item.present(view)
        return there

    def take(self, view):
        """The record of each row; None where it has none."""
        if self.fields:
            members = [field.take(view) for field in self.fields]
            rows = map(self.make, *members)
        else:
            rows = [self.make() for _ in range(view.rows)]
        if not self.is_optional:
            return list(rows)
        there = self.present(view).tolist()
        return [row if has else None for row, has in zip(rows, there)]

    def total(self, view):
        """The sum of all numbers."""
        return sum([item.total(view) for field in self.fields for item in field.items])

    def number(self, view, row, place, item, *path):
        """One number of a row; None where it has none."""
        return self.fields[place].items[item].number(view, row, *path)

    def tally(self, tally, place, record):
        """Tells a record in a row."""
        tally.record(place, self.tell(record))

    def tell(self, record):
        """A tally of a record."""
        tally = Tally()
        for place, field in enumerate(self.fields):
            value = field.get(record)
            for item, one in zip(field.items, value if field.is_array else [value]):
                if one is not None:
                    item.tally(tally, place, one)
        return tally


def union(presences):
    """Which rows have one of these; None where all have, or there are none of them."""
    if not presences or any(present is None for present in presences):
        return None
    return numpy.logical_or.reduce(presences)
