"""The Python package at work, for the tests: tool.py COMMAND …, as tool.cpp."""

import sys
from pathlib import Path

import numpy as np

from wiregauge_packed import Column, Message, PackedError, View, find, pack, unpack
from wiregauge_packed.__main__ import main


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
    value = 0xCBF29CE484222325
    for byte in out:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{what} {len(out)} {value:016x}"


def verdicts(root, data):
    """What becomes of each message of a file of messages with their lengths."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        message = data[at + 4 : at + 4 + size]
        at += 4 + size
        found = []
        result = verdict("find", lambda: bytes(len(found.extend(find(root, message)) or found)))
        for one in found:
            if one.field is not None:
                print(verdict("open", lambda: b"" if View(one.field) else b""))
        print(result)
        print(verdict("pack", lambda: pack(root, message)))
        print(verdict("unpack", lambda: unpack(root, message, limit=1 << 20)))


if sys.argv[1] == "write":
    Path(sys.argv[2]).write_bytes(written())
elif sys.argv[1] == "verdicts":
    verdicts(sys.argv[2], Path(sys.argv[3]).read_bytes())
else:
    sys.exit(main(sys.argv[1:]))
