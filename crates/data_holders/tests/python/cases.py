"""Reads and writes what Protobuf's library says of bytes: cases.py MODULE TYPE CASES."""

import struct
import sys
from pathlib import Path

import named

holders, _ = named.load(sys.argv[1])
kind = getattr(holders, sys.argv[2])
data = Path(sys.argv[3]).read_bytes()
at = count = 0


def part():
    global at
    size = struct.unpack_from("<I", data, at)[0]
    at += 4
    if size == 0xFFFFFFFF:
        return None
    at += size
    return data[at - size : at]


while at < len(data):
    given, wanted, cdr = part(), part(), part()
    try:
        read = kind.deserialize_protobuf(given)
    except holders.WireError as error:
        assert wanted is None, f"{count}: {given.hex()} is refused: {error}"
    else:
        assert wanted is not None, f"{count}: {given.hex()} is taken for a message"
        own = read.serialize_protobuf()
        assert own == wanted, f"{count}: {given.hex()} becomes {own.hex()}, not {wanted.hex()}"
        if cdr is not None and hasattr(kind, "serialize_cdr"):
            assert read.serialize_cdr(header=False) == cdr, f"{count}: {given.hex()}"
            again = kind.deserialize_cdr(cdr, header=False)
            assert again == read and again.serialize_protobuf() == wanted, count
    count += 1
print(count)
