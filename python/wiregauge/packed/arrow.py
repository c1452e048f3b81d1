"""Columns as Arrow arrays. Needs pyarrow, which nothing else here does."""

import numpy as np

from .layout import dtype, widen


def record_batch(view, names=None):
    """The columns of a view as a ``pyarrow.RecordBatch``; see ``View.to_arrow``."""
    import pyarrow

    known = [values for values in view.columns.values() if values.element is not None]
    if names is not None:
        by_name = {values.name: values for values in known}
        known = [by_name[name] for name in names]  # KeyError names what there is not
    arrays = [_array(pyarrow, view, values) for values in known]
    # Of a marker all rows say whether the message is there.
    fields = [
        pyarrow.field(
            values.name,
            array.type,
            nullable=values.bitmap is not None and values.element != "none",
        )
        for values, array in zip(known, arrays)
    ]
    struct = pyarrow.schema(fields)
    if not arrays:
        empty = pyarrow.array([{}] * view.rows, pyarrow.struct([]))
        return pyarrow.RecordBatch.from_struct_array(empty)
    return pyarrow.RecordBatch.from_arrays(arrays, schema=struct)


def _array(pyarrow, view, values):
    bitmap = None if values.bitmap is None else pyarrow.py_buffer(values.bitmap)
    if values.element == "none":
        if bitmap is None:
            bitmap = pyarrow.py_buffer(b"\xff" * ((view.rows + 7) // 8))
        return pyarrow.Array.from_buffers(pyarrow.bool_(), view.rows, [None, bitmap])
    elements = view.column(values.name)
    if values.scale is not None:
        elements = widen(elements, values.scale)
    elif not elements.flags.aligned:
        elements = elements.copy()
    kind = pyarrow.from_numpy_dtype(elements.dtype)
    # How many are absent nobody has counted: -1.
    absent = 0 if bitmap is None else -1
    data = pyarrow.py_buffer(np.ascontiguousarray(elements))
    return pyarrow.Array.from_buffers(kind, view.rows, [bitmap, data], absent)
