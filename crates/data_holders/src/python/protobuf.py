#: Most bytes of a message.
_MOST_PROTOBUF = 0x7FFFFFFF

#: How deep records and groups may be in each other.
_DEEPEST = 100

_Parts = list[Any]


def _varint(value: int) -> bytes:
    """An integer that is not negative, by seven bits a byte."""
    if value < 0x80:
        return bytes((value,))
    octets = bytearray()
    while value > 0x7F:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)


def _ranged(value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise WireError(f"{value} is not from {least} to {most}")
    return value


def _int32(value: int) -> bytes:
    return _varint(_ranged(value, -(2**31), 2**31 - 1) & 0xFFFFFFFFFFFFFFFF)


def _int64(value: int) -> bytes:
    return _varint(_ranged(value, -(2**63), 2**63 - 1) & 0xFFFFFFFFFFFFFFFF)


def _uint32(value: int) -> bytes:
    return _varint(_ranged(value, 0, 2**32 - 1))


def _uint64(value: int) -> bytes:
    return _varint(_ranged(value, 0, 2**64 - 1))


def _sint32(value: int) -> bytes:
    return _varint((_ranged(value, -(2**31), 2**31 - 1) << 1 ^ value >> 31) & 0xFFFFFFFF)


def _sint64(value: int) -> bytes:
    return _varint((_ranged(value, -(2**63), 2**63 - 1) << 1 ^ value >> 63) & 0xFFFFFFFFFFFFFFFF)


def _bool(value: bool) -> bytes:
    return b"\1" if value else b"\0"


_fixed32 = struct.Struct("<I").pack
_fixed64 = struct.Struct("<Q").pack
_sfixed32 = struct.Struct("<i").pack
_sfixed64 = struct.Struct("<q").pack
_float = _float4
_double = struct.Struct("<d").pack


def _deeper(depth: int) -> int:
    if depth == _DEEPEST:
        raise WireError(f"records are more than {_DEEPEST} deep in each other")
    return depth + 1


def _nested(out: _Parts, key: bytes, part: Any) -> None:
    """Octets, text or a record behind their length."""
    block = b"".join(part) if isinstance(part, list) else part
    size = memoryview(block).nbytes
    out += (key, _varint(size), block)


def _joined(out: _Parts) -> bytes:
    block = b"".join(out)
    if len(block) > _MOST_PROTOBUF:
        raise WireError(f"a message of {len(block)} bytes, and {_MOST_PROTOBUF} at most are carried")
    return block


class _Decoder:
    """Protobuf's fields. A length is held against the bytes that are left."""

    __slots__ = ("at", "copied", "data", "depth", "end", "last")

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        self.data = memoryview(data).cast("B")
        self.at = 0
        self.end = len(self.data)
        self.copied = 0
        self.depth = 0
        #: The key that ends the group that is read; 0 where the end of the bytes does.
        self.last = 0

    def block(self, size: int) -> memoryview:
        at = self.at
        if size > self.end - at:
            raise WireError(f"{size} bytes are wanted, and {self.end - at} are left")
        self.at = at + size
        return self.data[at : at + size]

    def varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            if self.at == self.end:
                raise WireError("an integer does not end")
            octet = self.data[self.at]
            self.at += 1
            value |= (octet & 0x7F) << shift
            if octet < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF
        raise WireError("an integer of more than ten bytes")

    def small(self) -> int:
        """An integer of 32 bits in at most five bytes, as keys and lengths are."""
        start = self.at
        value = self.varint()
        if value > 0xFFFFFFFF or self.at - start > 5:
            raise WireError("a key or a length of more than 32 bits")
        return value

    def key(self) -> int:
        """The next key, 0 where the bytes or the group end."""
        if self.at == self.end and not self.last:
            return 0
        key = self.any_key()
        return 0 if key == self.last else key

    def any_key(self) -> int:
        key = self.small()
        if key < 8:
            raise WireError("a field without a number")
        return key

    def length(self) -> int:
        size = self.small()
        if size > min(self.end - self.at, _MOST_PROTOBUF):
            raise WireError(f"{size} bytes are wanted, and {self.end - self.at} are left")
        return size

    def open(self) -> int:
        """Goes into what stands behind a length; where the bytes ended before."""
        size = self.length()
        before = self.end
        self.end = self.at + size
        return before

    def enter(self) -> tuple[int, int]:
        """Goes into a record behind its length; what ended the record before."""
        self.depth = _deeper(self.depth)
        last, self.last = self.last, 0
        return self.open(), last

    def enter_group(self, key: int) -> tuple[int, int]:
        """Goes into a group, up to the key that ends it; what ended the record before."""
        self.depth = _deeper(self.depth)
        last, self.last = self.last, key + 1
        return self.end, last

    def leave(self, before: tuple[int, int]) -> None:
        self.depth -= 1
        self.end, self.last = before

    def int32(self) -> int:
        value = self.varint() & 0xFFFFFFFF
        return value - 0x100000000 if value > 0x7FFFFFFF else value

    def int64(self) -> int:
        value = self.varint()
        return value - 0x10000000000000000 if value > 0x7FFFFFFFFFFFFFFF else value

    def uint32(self) -> int:
        return self.varint() & 0xFFFFFFFF

    def uint64(self) -> int:
        return self.varint()

    def sint32(self) -> int:
        value = self.varint() & 0xFFFFFFFF
        return value >> 1 ^ -(value & 1)

    def sint64(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def flag(self) -> bool:
        return self.varint() != 0

    def number(self, code: str, size: int) -> Any:
        return struct.unpack(code, self.block(size))[0]

    def fixed32(self) -> int:
        return int(self.number("<I", 4))

    def fixed64(self) -> int:
        return int(self.number("<Q", 8))

    def sfixed32(self) -> int:
        return int(self.number("<i", 4))

    def sfixed64(self) -> int:
        return int(self.number("<q", 8))

    def float4(self) -> Any:
        return _float4_of(self.block(4))

    def float8(self) -> Any:
        return self.number("<d", 8)

    def text(self) -> str:
        return str(self.block(self.length()), "utf-8")

    def octets(self) -> bytes:
        return bytes(self.block(self.length()))

    def packed(self, code: str, size: int) -> Any:
        """Numbers behind a length, each of so many bytes."""
        block = self.block(self.length())
        if len(block) % size:
            raise WireError(f"{len(block)} bytes are no numbers of {size}")
        return _numbers(block, code, False)

    def added(self, old: Any, new: Any) -> Any:
        """A list with more behind it."""
        if not len(old):
            return new
        # A record that is merged into again and again is made for nothing else.
        self.copied += len(old)
        if self.copied > 65536 + 64 * len(self.data):
            raise WireError("a record that is merged too often")
        if not isinstance(new, array):
            return [*old, *new]
        return _array_of(new.typecode, old) + new if not isinstance(old, array) else old + new

    def skip(self, key: int) -> None:
        """Goes behind a field that is not known."""
        groups: list[int] = []
        while True:
            kind = key & 7
            if kind == 0:
                self.varint()
            elif kind == 1:
                self.block(8)
            elif kind == 2:
                self.block(self.length())
            elif kind == 3 and len(groups) + self.depth < _DEEPEST:
                groups.append(key >> 3)
            elif kind == 4 and groups and groups[-1] == key >> 3:
                groups.pop()
            elif kind == 5:
                self.block(4)
            else:
                raise WireError(f"a field cannot be of the kind {kind} there")
            if not groups:
                return
            key = self.any_key()
