"""The packed field of OSI messages: lidar and radar reflections and detections
as columns in one ``bytes`` field (docs/packed.md).

Reading makes no copy: columns are NumPy arrays over the message's own bytes.

    view = first("SensorView", data, "lidar_reflections")
    strength = view.column("signal_strength")       # dB, shape (rows,)

Writing fills arrays inside the finished message:

    message = Message("SensorView", rest)
    message.add("lidar_reflections", [Column("signal_strength"), Column("time_of_flight")], rows)
    data, tables = message.write()
    tables[0].column("signal_strength")[:] = strength

``pack`` and ``unpack`` convert whole messages, given as bytes or as objects of
osi-python. All errors are ``PackedError``.
"""

from .convert import Encoding, Precision, pack, unpack
from .error import PackedError
from .layout import Column, Layout, Table
from .message import FIELD, KINDS, ROOTS, Found, Message, find, first
from .preset import PRESETS, Preset
from .reduce import Reduced, reduce
from .view import Values, View

__all__ = [
    "FIELD",
    "KINDS",
    "PRESETS",
    "ROOTS",
    "Column",
    "Encoding",
    "Found",
    "Layout",
    "Message",
    "PackedError",
    "Precision",
    "Preset",
    "Reduced",
    "Table",
    "Values",
    "View",
    "find",
    "first",
    "pack",
    "reduce",
    "unpack",
]
