"""What Protobuf's library makes of bytes: witness.py SET TYPE MESSAGES CASES SEED.

Each message is held against what the library writes. Then CASES are written: bytes,
what the library writes after reading them or nothing where it refuses them, and the
message in CDR where that is known."""

import random
import struct
import sys
from pathlib import Path

import library
from google.protobuf import message

folder, chance = Path(sys.argv[3]), random.Random(int(sys.argv[5]))
kind = library.kind(sys.argv[1], sys.argv[2])
has_maps = any(f.message_type and f.message_type.GetOptions().map_entry
               for f in kind.DESCRIPTOR.fields)


def said(data):
    """What the library writes after it has read this; None where it refuses."""
    try:
        read = kind.FromString(data)
        read.DiscardUnknownFields()
        return read.SerializeToString(deterministic=True)
    except (message.DecodeError, message.EncodeError):
        return None


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes((value,))


def taken(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def behind(data, at, key):
    """Where a field's value begins and ends."""
    if key & 7 == 0:
        return at, taken(data, at)[1]
    if key & 7 == 2:
        size, at = taken(data, at)
        return at, at + size
    if key & 7 != 3:
        return at, at + (8 if key & 7 == 1 else 4)
    begin = at
    while True:
        inner, at = taken(data, at)
        if inner & 7 == 4:
            return begin, at
        _, at = behind(data, at, inner)


def fields(data):
    """The fields of a message as keys and bytes."""
    at = 0
    while at < len(data):
        start = at
        key, at = taken(data, at)
        begin, at = behind(data, at, key)
        yield key, data[start:at], data[begin:at]


def repacked(data):
    """Packed numbers one by one, and others packed."""
    out = b""
    for key, whole, inner in fields(data):
        field = kind.DESCRIPTOR.fields_by_number[key >> 3]
        is_number = field.cpp_type not in (field.CPPTYPE_STRING, field.CPPTYPE_MESSAGE)
        if not (field.is_repeated if hasattr(field, "is_repeated") else field.label == 3):
            is_number = False
        if not is_number:
            out += whole
        elif key & 7 != 2:
            out += varint(key & ~7 | 2) + varint(len(inner)) + inner
        else:
            name = field.GetOptions() and field.type
            size = {1: 8, 6: 8, 16: 8, 2: 4, 7: 4, 15: 4}.get(name)
            at = 0
            while at < len(inner):
                end = at + size if size else taken(inner, at)[1]
                out += varint(key & ~7 | {8: 1, 4: 5, None: 0}[size]) + inner[at:end]
                at = end
    return out


def inside(field, data):
    """A message in another one, in this field."""
    if field.type == field.TYPE_GROUP:
        return varint(field.number << 3 | 3) + data + varint(field.number << 3 | 4)
    return varint(field.number << 3 | 2) + varint(len(data)) + data


UNKNOWN = [b"\xf8\x3f" + b"\xff" * 9 + b"\x02", b"\xf8\x3f\x96\x01", b"\xf9\x3f12345678", b"\xfa\x3f\x03abc", b"\xfd\x3f1234",
           b"\xfb\x3f\x08\x01\xfb\x3f\xfa\x3f\x01x\xfc\x3f\xfc\x3f", b"\xfb\x3f\xfc\x3f"]
BAD = [b"\xf8\x3f", b"\xfb\x3f", b"\xfb\x3f\x0b\xfc\x3f\x0c", b"\xfc\x3f", b"\xfe\x3f", b"\xff\x3f",
       b"\x00", b"\x07", b"\xf8\x3f" + b"\xff" * 10 + b"\x01",
       b"\xfa\x3f\xff\xff\xff\xff\x0f", b"\xfa\x3f\xff\xff\xff\xff\x7f",
       b"\x88\x80\x80\x80\x80\x80\x00\x01"]

cases = []
whole = []
for file in sorted(folder.glob("*.protobuf")):
    data, cdr = file.read_bytes(), file.with_suffix(".cdr")
    cdr = cdr.read_bytes() if cdr.exists() else None
    theirs = said(data)
    if has_maps:
        # Of entries it has an order of its own, and we have what was given.
        same = theirs is not None and kind.FromString(data) == kind.FromString(theirs)
        assert same and len(theirs) == len(data), file
    else:
        assert theirs == data, f"{file}: {data.hex()} by us, {theirs.hex()} by the library"
    whole.append(theirs)
    cases.append((data, data, cdr))
empty = whole[0]
for data in whole:
    others = [repacked(data)]
    for _ in range(4):
        parts = [part for _, part, _ in fields(data)]
        chance.shuffle(parts)
        if has_maps:
            # Entries stay in their order.
            parts.sort(key=lambda part: part[0] >> 3 in (8, 9, 10, 11) and data.index(part))
        for unknown in UNKNOWN:
            parts.insert(chance.randrange(len(parts) + 1), unknown)
        others.append(b"".join(parts))
    if not has_maps:
        others += [data + other for other in whole] + [repacked(data) + data]
    for bad in BAD:
        assert said(data + bad) is None, bad
        others.append(data + bad)
    if len(data) > 4000:
        cases += [(other, said(other), None) for other in others]
        continue
    cuts = range(len(data))
    others += [data[:cut] for cut in (cuts if len(data) < 300 else chance.sample(cuts, 300))]
    if not has_maps:
        for _ in range(400 if data else 0):
            damaged = bytearray(data)
            for _ in range(chance.choice((1, 1, 2))):
                damaged[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            others.append(bytes(damaged))
    cases += [(other, said(other), None) for other in others]
own = [f for f in kind.DESCRIPTOR.fields if f.message_type is kind.DESCRIPTOR]
for field in own:
    # As deep as the library reads and one deeper, with groups that are skipped inside.
    for depth in (1, 50, 99, 100, 101, 1000):
        for groups in (0, 1, 49, 50, 51, 99, 100):
            data, bare = b"\xfb\x3f" * groups + b"\xfc\x3f" * groups, b""
            for _ in range(depth):
                data, bare = (inside(field, one) for one in (data, bare))
            # What is not known the library leaves out only where it is less deep.
            cases.append((data, None if said(data) is None else bare, None))
assert not own or any(case[1] is None for case in cases[-7:])
if "r_float" in kind.DESCRIPTOR.fields_by_name:
    # Zeros below zero, and members of a union: the last one counts, and is merged with
    # itself alone.
    which = [b"\xe2\x03\x01a", b"\xea\x03\x02\x10\x05", b"\xea\x03\x0a\x0a\x08" + bytes(8),
             b"\xf1\x03" + bytes(8), b"\xf8\x03\x00"]
    others = [b"\x65\0\0\0\x80", b"\x69" + bytes(7) + b"\x80", b"\xad\x01\0\0\0\x80"]
    others += [a + b + c for a in which for b in which for c in which]
    # Floats that are no numbers, and signal that.
    for single in (b"\1\0\x80\x7f", b"\0\0\xa0\xff"):
        others += [b"\x65" + single, b"\xad\1" + single, b"\xd2\2\4" + single]
        others += [(b"\xd5\2" + single) * 2, b"\xd2\2\4" + single + b"\xd5\2" + single]
    for double in (bytes((1, 0, 0, 0, 0, 0, 0xF0, 0x7F)), bytes((0, 0, 0, 0, 0, 0, 0xF4, 0xFF))):
        others += [b"\x69" + double, b"\xda\2\x08" + double, b"\xf1\3" + double]
    cases += [(other, said(other), None) for other in others]
for field in kind.DESCRIPTOR.fields:
    if field.message_type is None or field.message_type.GetOptions().map_entry:
        continue
    if any(inner.is_required for inner in field.message_type.fields):
        # The library wants it once in all pieces of a record, and we in each.
        continue
    # Groups that do not end, or as others, and what is of the other kind.
    start, end, other = (varint(field.number << 3 | kind) for kind in (3, 4, 2))
    wrong = varint(field.number + 1 << 3 | 4)
    ends = [b"", end, wrong, end + end, end + wrong]
    others = [start + inner + last for last in ends
              for inner in (b"", *UNKNOWN, start, start + end, b"\xfb\x3f" + end, b"\xfb\x3f")]
    others += [end, wrong, other + b"\0", other + b"\1" + end, other + b"\1" + start,
               other + varint(len(start)) + start, start + b"\x0a\1" + end]
    cases += [(whole[-1] + one, said(whole[-1] + one), None) for one in others]
    if not has_maps:
        cases += [(one, said(one), None) for one in others]
with open(sys.argv[4], "wb") as out:
    for case in cases:
        for part in case:
            out.write(struct.pack("<I", 0xFFFFFFFF if part is None else len(part)) + (part or b""))
print(len(cases))
