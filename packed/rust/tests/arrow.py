"""What pyarrow, DuckDB, Polars and pandas make of packed fields: arrow.py GOLDEN [LIBRARY]

LIBRARY is arrow.cpp as a shared library: its arrays must be those of Python.
"""

import ctypes
import gc
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow as pa

from wiregauge.packed import Column, Layout, View, find, reduce

BATCHES = 0


def fields(folder):
    """All packed fields of the golden messages."""
    for path in sorted(folder.iterdir()):
        root = path.name.split(".")[0]
        if root in ("SensorView", "SensorData"):
            for found in find(root, path.read_bytes()):
                if found.field is not None:
                    yield path.name, found.field


def equal(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


def check(name, field):
    """Each column has its values, and is null where the row is absent."""
    view = View(field)
    batch = view.to_arrow()
    batch.validate(full=True)
    assert batch.num_rows == view.rows and batch.schema.names == list(view.columns), name
    for column in view.columns.values():
        array = batch.column(column.name)
        present = view.present(column.name)
        if column.element == "none":
            assert equal(array.to_numpy(zero_copy_only=False), present), (name, column.name)
            continue
        assert equal(array.is_valid().to_numpy(zero_copy_only=False), present), (name, column.name)
        given = view.values(column.name) if column.scale else view.column(column.name)
        values = array.drop_null().to_numpy(zero_copy_only=False)
        assert values.dtype == given.dtype and equal(values, given[present]), (name, column.name)
    return batch


def from_cpp(library, field):
    """The same field by the C++ header and Arrow's C data interface."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(field)
        file.flush()
        # Larger than both structures, and aligned.
        schema, array = (ctypes.c_uint64 * 16)(), (ctypes.c_uint64 * 16)()
        at = [ctypes.addressof(of) for of in (schema, array)]
        assert library.export_field(file.name.encode(), *map(ctypes.c_void_p, at))
        return pa.RecordBatch._import_from_c(at[1], at[0])


def made(rows):
    """A field of a plain, a reduced and an optional column."""
    power = np.sin(np.arange(rows) / 50.0)
    power = reduce("power", power, resolution=0.01)
    columns = [Column("time"), Column("power", reduced=power), Column("ring", "u16", True)]
    layout = Layout(columns, rows)
    data = bytearray(layout.size)
    table = layout.write(data)
    table.column("time")[:] = np.arange(rows) * 0.5
    table.column("ring")[:] = np.arange(rows) // 100
    table.set_present("ring", np.arange(rows) % 4 != 0)
    return bytes(data)


def inside(buffer, data):
    begin = np.frombuffer(data, np.uint8).ctypes.data
    return begin <= buffer.address < begin + len(data)


def what_lies_in_place_is_not_copied():
    data = made(3000)
    batch = View(data).to_arrow()
    bits, values = batch.column("ring").buffers()
    assert inside(bits, data) and inside(values, data)
    assert inside(batch.column("time").buffers()[1], data)
    assert not inside(batch.column("power").buffers()[1], data)
    # The batch alone keeps the bytes, and each column alone the batch's.
    held = sys.getrefcount(data)
    time = batch.column("time")
    del batch, bits, values
    gc.collect()
    assert sys.getrefcount(data) > 2 and time[2999].as_py() == 1499.5
    del time
    gc.collect()
    assert sys.getrefcount(data) < held
    # A copy only where the elements do not lie aligned.
    shifted = memoryview(b"x" + data)[1:]
    batch = View(shifted).to_arrow()
    assert not inside(batch.column("time").buffers()[1], shifted)
    assert batch.equals(View(data).to_arrow())
    some = View(data).to_arrow(["ring", "time"])
    assert some.schema.names == ["ring", "time"] and some.num_columns == 2
    try:
        View(data).to_arrow(["range"])
    except KeyError as error:
        assert "range" in str(error)
    else:
        raise AssertionError("a column that there is not")


def tools_of_tables_take_it():
    view = View(made(3000))
    query = "select count(*), count(ring), max(time), min(power) from view where time >= 100"
    count, rings, most, least = duckdb.sql(query).fetchall()[0]
    assert (count, rings, most) == (2800, 2100, 1499.5) and abs(least + 1.0) <= 0.01
    rings = duckdb.sql("select ring, count(*) from view where ring < 2 group by ring order by ring")
    assert rings.fetchall() == [(0, 75), (1, 75)]
    frame = polars.DataFrame(view)
    assert frame.shape == (3000, 3) and frame["ring"].null_count() == 750
    table = pa.table(view)
    assert table.num_rows == 3000 and table.column("ring").null_count == 750
    pandas = view.to_arrow().to_pandas()
    assert pandas["time"].iloc[-1] == 1499.5 and pandas["ring"].isna().sum() == 750


def main():
    golden = Path(sys.argv[1])
    library = ctypes.CDLL(sys.argv[2]) if len(sys.argv) > 2 else None
    if library is not None:
        library.export_field.restype = ctypes.c_bool
    seen = 0
    for name, field in [*fields(golden), ("made", made(3000)), ("empty", made(0))]:
        batch = check(name, field)
        if library is not None and batch.num_columns:
            other = from_cpp(library, bytes(field))
            assert other.schema == batch.schema, (name, other.schema, batch.schema)
            for column in batch.schema.names:
                a, b = batch.column(column), other.column(column)
                assert equal(a.is_valid(), b.is_valid()), (name, column)
                bits = [x.drop_null().to_numpy(zero_copy_only=False).tobytes() for x in (a, b)]
                assert bits[0] == bits[1], (name, column)
        seen += batch.num_columns
    assert seen > 60, seen
    what_lies_in_place_is_not_copied()
    tools_of_tables_take_it()
    print(f"{seen} columns")


if __name__ == "__main__":
    main()
