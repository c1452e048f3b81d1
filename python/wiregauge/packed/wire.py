"""Protobuf's wire format."""

from typing import NamedTuple

from .error import PackedError

# Groups may nest this deep.
DEPTH = 100


class Field(NamedTuple):
    """A field as it stands on the wire, a group as a whole: ``value`` of the wire
    types 0, 1 and 5, the place of the content of type 2, that of it all."""

    number: int
    kind: int
    value: int
    content: tuple
    begin: int
    end: int


def varint(data, at, end, most=10):
    """A varint and the place behind it."""
    value = 0
    for i in range(min(most, end - at)):
        byte = data[at + i]
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at + i + 1
    raise PackedError("wire")


def _tag(data, at, end):
    tag, at = varint(data, at, end, 5)
    if tag > 0xFFFFFFFF or tag >> 3 == 0:
        raise PackedError("wire")
    return tag >> 3, tag & 7, at


def _value(data, at, end, kind):
    """Value, content and the place behind."""
    if kind == 0:
        value, at = varint(data, at, end)
        return value, (0, 0), at
    if kind in (1, 5):
        size = 8 if kind == 1 else 4
        if end - at < size:
            raise PackedError("wire")
        return int.from_bytes(data[at : at + size], "little"), (0, 0), at + size
    if kind == 2:
        size, at = varint(data, at, end)
        if size > end - at:
            raise PackedError("wire")
        return 0, (at, at + size), at + size
    raise PackedError("wire")


def _group(data, at, end, number):
    """The place behind a group that has begun."""
    groups = [number]
    while groups:
        number, kind, at = _tag(data, at, end)
        if kind == 3:
            if len(groups) == DEPTH:
                raise PackedError("depth")
            groups.append(number)
        elif kind == 4:
            if groups.pop() != number:
                raise PackedError("wire")
        else:
            at = _value(data, at, end, kind)[2]
    return at


def fields(data, begin, end):
    """The fields of the message at data[begin:end], one after the other."""
    at = begin
    while at < end:
        begin = at
        number, kind, at = _tag(data, at, end)
        if kind == 3:
            at = _group(data, at, end, number)
            yield Field(number, kind, 0, (0, 0), begin, at)
        else:
            value, content, at = _value(data, at, end, kind)
            yield Field(number, kind, value, content, begin, at)


def put_varint(value):
    """A varint's bytes."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def put_head(number, size):
    """The tag and the length before so many bytes."""
    return put_varint(number << 3 | 2) + put_varint(size)
