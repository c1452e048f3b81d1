"""The field in its message: found, and written with the message around it."""

from typing import NamedTuple, Optional

from .error import PackedError
from .layout import MAXIMUM_SIZE, Layout
from .view import View
from .wire import fields, put_head

# The field's number in LidarSensorView, RadarSensorView, LidarDetectionData and
# RadarDetectionData.
FIELD = 52307

# The number of reflection and of detection in their messages.
ROWS = 2

ROOTS = ("SensorView", "SensorData")

# What the rows are, and so in which message the field is.
KINDS = ("lidar_reflections", "radar_reflections", "lidar_detections", "radar_detections")

# Which messages lead to the rows.
INNER = {
    ("SensorView", 1001): "radar_reflections",
    ("SensorView", 1002): "lidar_reflections",
    ("SensorData", 8): "SensorView",
    ("SensorData", 26): "FeatureData",
    ("FeatureData", 2): "radar_detections",
    ("FeatureData", 3): "lidar_detections",
}


def serialized(message):
    """Bytes as a memoryview; an object of osi-python is serialized."""
    if hasattr(message, "SerializeToString"):
        message = message.SerializeToString()
    return memoryview(message).cast("B")


class Found(NamedTuple):
    """A LidarSensorView, RadarSensorView, LidarDetectionData or RadarDetectionData:
    its bytes, its packed field (of several the last) and the number of its rows
    that are sub-messages."""

    kind: str
    message: memoryview
    field: Optional[memoryview]
    rows: int


def find(root, message):
    """All views and sensors' detections in the message's order, those of
    SensorData.sensor_view included."""
    if root not in ROOTS:
        raise ValueError(f"{root!r} is none of {ROOTS}")
    data = serialized(message)
    out = []
    _search(root, data, 0, len(data), out)
    return out


def _search(level, data, begin, end, out):
    if level in KINDS:
        packed = None
        rows = 0
        for field in fields(data, begin, end):
            if (field.number, field.kind) == (ROWS, 2):
                rows += 1
            elif (field.number, field.kind) == (FIELD, 2):
                packed = data[field.content[0] : field.content[1]]
        out.append(Found(level, data[begin:end], packed, rows))
        return
    for field in fields(data, begin, end):
        inner = INNER.get((level, field.number)) if field.kind == 2 else None
        if inner:
            _search(inner, data, *field.content, out)


def first(root, message, kind):
    """Opens the first packed field of a kind; None where the message has none."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is none of {KINDS}")
    for found in find(root, message):
        if found.kind == kind and found.field is not None:
            return View(found.field)
    return None


class Part:
    """A piece of a message: bytes as they are, a nested message or a table."""

    def __init__(self, data=b"", number=0, parts=None, layout=None):
        self.data = data
        self.number = number
        self.parts = parts or []
        self.layout = layout
        self.size = 0
        self.at = 0

    def head(self):
        """Tag and length."""
        return put_head(self.number, self.size) if self.number else b""


def _loosen(parts):
    for part in parts:
        if part.layout:
            part.layout.loosen()
        _loosen(part.parts)


def _measure(parts):
    total = 0
    for part in parts:
        if part.layout:
            part.size = part.layout.size
        else:
            part.size = _measure(part.parts) if part.number else len(part.data)
        total += len(part.head()) + part.size
    return total


def _place(parts, at):
    """Whether a table has moved, so that lengths must be measured again."""
    moved = False
    for part in parts:
        part.at = at + len(part.head())
        at = part.at + part.size
        if part.layout:
            part.layout.shift(part.at)
            moved |= part.layout.size != part.size
        elif part.number:
            moved |= _place(part.parts, part.at)
    return moved


def _write(parts, buffer, tables):
    for part in parts:
        head = part.head()
        buffer[part.at - len(head) : part.at] = head
        if part.layout:
            tables.append(part.layout.write(buffer[part.at : part.at + part.size]))
        elif part.number:
            _write(part.parts, buffer, tables)
        else:
            buffer[part.at : part.at + part.size] = part.data


def assemble(parts):
    """A message of parts in one buffer, and its tables to fill."""
    _loosen(parts)
    size = _measure(parts)
    while _place(parts, 0):
        size = _measure(parts)
    if size > MAXIMUM_SIZE:
        raise PackedError("limit")
    data = bytearray(size)
    tables = []
    _write(parts, memoryview(data), tables)
    return data, tables


class Message:
    """A SensorView or SensorData whose packed fields are written in place.

    ``rest`` are its other fields, as bytes or as an object of osi-python.
    """

    def __init__(self, root, rest=b""):
        if root not in ROOTS:
            raise ValueError(f"{root!r} is none of {ROOTS}")
        self.root = root
        self._parts = [Part(serialized(rest))]

    def add(self, kind, columns, rows, rest=b"", alignment=64):
        """Adds a LidarSensorView, RadarSensorView, LidarDetectionData or
        RadarDetectionData. ``rest`` are its other fields, such as
        view_configuration or header."""
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is none of {KINDS}")
        level = "SensorView" if self.root == "SensorView" else "FeatureData"
        number = next((n for (of, n), to in INNER.items() if (of, to) == (level, kind)), None)
        if number is None:
            raise PackedError("kind")
        table = Part(number=FIELD, layout=Layout(columns, rows, 0, alignment))
        part = Part(number=number, parts=[Part(serialized(rest)), table])
        if level == "SensorView":
            self._parts.append(part)
        elif len(self._parts) == 1:
            self._parts.append(Part(number=26, parts=[part]))
        else:
            self._parts[1].parts.append(part)

    def write(self):
        """The message as a bytearray, and its tables to fill in the order in which
        they were added. The columns lie aligned from the message's beginning."""
        return assemble(self._parts)
