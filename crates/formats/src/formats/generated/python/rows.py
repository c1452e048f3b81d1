"""Lists of numbers and of plain records, read where they lie."""

import numpy
from wiregauge_runner.tally import Tally


#: Codes of the module struct, by NumPy's.
CODES = {
    "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f4": "f", "f8": "d",
}  # fmt: skip


def _array(values):
    return values.numpy() if hasattr(values, "numpy") else numpy.asarray(values)


def total(values):
    """The sum of all numbers in a list."""
    return _total(_array(values)) if len(values) else 0.0


def _total(rows):
    names = rows.dtype.names
    if names is None:
        return float(rows.sum(dtype="f8"))
    return sum([_total(rows[name]) for name in names])


def tallies(records):
    """A tally of each of the plain records in a list."""
    return [_tally(row) for row in _array(records)] if len(records) else []


def _tally(row):
    tally = Tally()
    for place, name in enumerate(row.dtype.names):
        value = row[name]
        if value.dtype.names is None:
            tally.numbers(place, CODES[value.dtype.str[1:]], value.reshape(-1).tolist())
        else:
            for inner in value.reshape(-1):
                tally.record(place, _tally(inner))
    return tally
