"""The Python package at work, for the tests: tool.py COMMAND …, as tool.cpp."""

import struct
import sys
from pathlib import Path

import numpy as np

from wiregauge.packed import (
    PRESETS,
    Column,
    Layout,
    Message,
    PackedError,
    View,
    find,
    pack,
    reduce,
    unpack,
)
from wiregauge.packed.__main__ import main
from wiregauge.packed.layout import ELEMENTS, dtype


def written():
    """The message of languages.rs, written in place."""
    message = Message("SensorView", b"\x1a\x02\x08\x07")
    columns = [
        Column("signal_strength"),
        Column("time_of_flight", "f32"),
        Column("object_id", "u32", optional=True),
        Column("example.org/gain", "u16", scale=(-10.0, 0.5)),
    ]
    message.add("lidar_reflections", columns, 10, b"\x0a\x02\x30\x0a")
    message.add("radar_reflections", [Column("snr", "f16")], 3)
    data, (lidar, radar) = message.write()
    row = np.arange(10)
    lidar.column("signal_strength")[:] = -1.5 * row
    lidar.column("time_of_flight")[:] = 0.25 * row
    lidar.column("object_id")[:] = np.where(row % 2 == 0, row, 0)
    lidar.set_present("object_id", row % 2 == 0)
    lidar.set_values("example.org/gain", row)
    radar.set_values("snr", 0.1 * np.arange(3))
    return data


def verdict(what, convert):
    """What becomes of a conversion."""
    try:
        out = convert()
    except PackedError as error:
        return f"{what} {error.fault} {error.number} {error.name}"
    return f"{what} {len(out)} {hashed(out)}"


def hashed(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def parts(data):
    """The parts of a file of parts with their lengths."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def reduce_all(cases):
    """Fields of one reduced column each, of cases as languages.rs writes them."""
    out = b""
    for case in parts(cases):
        element, flags, resolution, rows = struct.unpack_from("<BB6xdI", case)
        bits = (rows + 7) // 8 if flags & 4 else 0
        present = None
        if flags & 4:
            octets = np.frombuffer(case[24 : 24 + bits], np.uint8)
            present = np.unpackbits(octets, count=rows, bitorder="little").astype(bool)
        values = np.frombuffer(case[24 + bits :], dtype(ELEMENTS[element]), rows)
        try:
            reduced = reduce(
                "a", values, present, resolution if flags & 1 else None, bool(flags & 2)
            )
            layout = Layout([Column("a", optional=bool(flags & 4), reduced=reduced)], rows, 0, 8)
            field = bytearray(layout.size)
            table = layout.write(field)
            if present is not None:
                table.set_present("a", present)
            print(f"error {np.float64(reduced.error).view(np.uint64):016x}")
        except PackedError as error:
            field = b""
            print(error)
        out += len(field).to_bytes(4, "little") + field
    return out


def restore_all(fields):
    """What becomes of each field, and all and some of its columns' rows."""
    for field in parts(fields):
        views = []
        print(verdict("open", lambda: views.append(View(field)) or b""))
        for view in views:
            for name, column in view.columns.items():
                if column.element in (None, "none"):
                    continue
                for values in (view.column(name), view.part(name, view.rows // 3, view.rows // 2)):
                    print(f"rows {len(values)} {hashed(values.tobytes())}")


def verdicts(root, data):
    """What becomes of each message of a file of messages with their lengths."""
    for message in parts(data):
        found = []
        result = verdict("find", lambda: bytes(len(found.extend(find(root, message)) or found)))
        for one in found:
            if one.field is not None:
                print(verdict("open", lambda: b"" if View(one.field) else b""))
        print(result)
        print(verdict("pack", lambda: pack(root, message)))
        print(verdict("unpack", lambda: unpack(root, message, limit=1 << 20)))


def presets():
    """Each preset, its rows, and its resolutions by their bits."""
    for name, preset in PRESETS.items():
        steps = (
            f"{column}={np.float64(step).view(np.uint64):016x}"
            for column, step in preset.resolutions.items()
        )
        print(name, *preset.kinds, *steps)


if sys.argv[1] == "write":
    Path(sys.argv[2]).write_bytes(written())
elif sys.argv[1] == "presets":
    presets()
elif sys.argv[1] == "reduce":
    Path(sys.argv[3]).write_bytes(reduce_all(Path(sys.argv[2]).read_bytes()))
elif sys.argv[1] == "restore":
    restore_all(Path(sys.argv[2]).read_bytes())
elif sys.argv[1] == "verdicts":
    verdicts(sys.argv[2], Path(sys.argv[3]).read_bytes())
else:
    sys.exit(main(sys.argv[1:]))
