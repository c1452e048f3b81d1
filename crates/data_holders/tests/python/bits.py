"""Floats that are no numbers keep their bits: bits.py MODULE FOLDER, which has NNNN.type and
NNNN.WIRE of each wire."""

import struct
import sys
from pathlib import Path

import named
import numpy

holders, kinds = named.load(sys.argv[1])
WIRES = ("ros_msg", "cdr", "xcdr2", "someip", "protobuf")


def anew(holder):
    """The same without blocks: what a program has that makes each record itself."""
    kind = type(holder)
    if kind.__module__ != "holders":
        return holder
    if isinstance(holder, getattr(holders, "Records", ())):
        return list(holder)
    values = {name: getattr(holder, name) for name in kind.__slots__}
    return kind(**{
        name: [anew(one) for one in value] if isinstance(value, list) else anew(value)
        for name, value in values.items()
    })


count = 0
for file in sorted(Path(sys.argv[2]).glob("*.type")):
    kind = kinds[file.read_text()]
    given = {wire: file.with_suffix(f".{wire}") for wire in WIRES}
    given = {wire: path.read_bytes() for wire, path in given.items() if path.exists()}
    for wire, data in given.items():
        more = {"header": False} if wire in ("cdr", "xcdr2") else {}
        read = getattr(kind, f"deserialize_{wire}")
        ways = [read(data, **more)]
        if wire != "protobuf":
            ways.append(read(data, view=True, **more))
        for holder in ways:
            for one in (holder, anew(holder)):
                for other, wanted in given.items():
                    more = {"header": False} if other in ("cdr", "xcdr2") else {}
                    own = getattr(one, f"serialize_{other}")(**more)
                    assert own == wanted, f"{wire} to {other}: {own.hex()}, not {wanted.hex()}"
    count += 1
# Lists as programs have them.
quiet, loud = (struct.pack("<I", bits) for bits in (0x7FC00001, 0xFFA00000))
both = numpy.frombuffer(loud + quiet + quiet + loud, "<f4")
for values, wanted in (
    ([struct.unpack("<d", struct.pack("<Q", 0xFFF4000000000000))[0], 1.0], loud + struct.pack("<f", 1)),
    (both, loud + quiet + quiet + loud),
    (both[::3], loud + loud),
    (both.reshape(2, 2).T, loud + quiet + quiet + loud),
    # No bits are left of it in a float32 but the one that makes it a quiet one.
    ([struct.unpack("<d", struct.pack("<Q", 0x7FF0000000000001))[0]], struct.pack("<I", 0x7FC00000)),
    ([float("inf"), -float("inf"), 0.5], struct.pack("<fff", float("inf"), -float("inf"), 0.5)),
):
    assert bytes(holders._block(values, "f", 4)) == wanted
print(count)
