class WireError(ValueError):
    """A message that cannot be written, or bytes that are no message."""


#: What holders call by other names, which fields may have.
_array = array
_range = range

#: The most elements that a list without a bound may have.
_MOST = 0xFFFFFFFF

#: The length of a list or text, in a tuple.
_length_at = struct.Struct("<I").unpack_from

#: Whether numbers lie in memory as they do on the wires.
_IS_LITTLE = sys.byteorder == "little"

#: The codes of the struct module by the kind of number that they stand for.
_KINDS = {code: kind for kind in ("bhilq", "BHILQ", "efd", "?") for code in kind}


def _bits(value: float) -> int:
    """A number as a float32, by its bits. The processor makes each float that is no number
    a quiet one when it narrows or widens it, and then other bits."""
    bits = int.from_bytes(struct.pack("<f", value), "little")
    if bits & 0x7FFFFFFF > 0x7FC00000:
        wide = int.from_bytes(struct.pack("<d", value), "little")
        if not wide >> 51 & 1:
            bits &= ~0x400000
    return bits


def _single(bits: int) -> Any:
    """A float32 of its bits; in one that is no number they stay."""
    if bits & 0x7FFFFFFF <= 0x7F800000:
        return struct.unpack("<f", bits.to_bytes(4, "little"))[0]
    wide = bits >> 31 << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
    return struct.unpack("<d", wide.to_bytes(8, "little"))[0]


def _float4(value: float) -> bytes:
    block = struct.pack("<f", value)
    return block if value - value == 0 else _bits(value).to_bytes(4, "little")


def _float4_of(block: bytes | memoryview) -> Any:
    value = struct.unpack("<f", block)[0]
    return value if value - value == 0 else _single(int.from_bytes(block, "little"))


def _are_numbers(values: Any) -> bool:
    """Whether the sum of values is finite, which it never is where one of them is none."""
    try:
        total = float(sum(values))
    except (TypeError, ValueError):
        return False
    return total - total == 0


def _packed(block: struct.Struct, *values: Any) -> bytes:
    """Numbers, float32 among them, at once."""
    packed = block.pack(*values)
    if _are_numbers(values):
        return packed
    codes = block.format.replace("x", "")[1:]
    bits = [_bits(value) if code == "f" else value for code, value in zip(codes, values)]
    return struct.pack(block.format.replace("f", "I"), *bits)


def _unpacked(block: struct.Struct, data: Any, at: int) -> tuple[Any, ...]:
    """The same back, from a place on."""
    values = block.unpack_from(data, at)
    if _are_numbers(values):
        return values
    codes = block.format.replace("x", "")[1:]
    bits = struct.unpack_from(block.format.replace("f", "I"), data, at)
    return tuple([_single(one) if code == "f" else one for code, one in zip(codes, bits)])


def _array_of(code: str, values: Any) -> array[Any]:
    """Python's own numbers as an array."""
    numbers = array(code, values)
    if code == "f" and not _are_numbers(numbers):
        numbers = array(code)
        numbers.frombytes(array("I", [_bits(value) for value in values]).tobytes())
    return numbers


def _singles(values: Any) -> Any:
    """The float32 of a list as Python's own numbers."""
    if _are_numbers(values):
        return values
    try:
        memoryview(values)
    except TypeError:
        return values
    return [_single(bits) for (bits,) in struct.iter_unpack("<I", _block(values, "f", 4))]


def _is_block(view: memoryview, code: str, size: int) -> bool:
    """Whether memory holds such numbers, little-endian."""
    own = view.format.lstrip("@=<")
    same = _KINDS.get(own) == _KINDS[code] and view.itemsize == size
    return same and (size == 1 or _IS_LITTLE)


def _block(values: Sequence[float], code: str, size: int) -> memoryview:
    """Numbers as one block; a copy only where they are none in memory."""
    try:
        view = memoryview(cast(bytes, values))
    except TypeError:
        view = memoryview(_array_of(code, values))
    if _is_block(view, code, size):
        view = view if view.c_contiguous else memoryview(view.tobytes())
    else:
        copy = _array_of(code, view.tolist() if view.ndim == 1 else _flat(view.tolist()))
        if not _IS_LITTLE:
            copy.byteswap()
        view = memoryview(copy)
    return view.cast("B") if view.nbytes else memoryview(b"")


def _flat(rows: Any) -> Any:
    """The numbers of a matrix, row by row."""
    while rows and isinstance(rows[0], list):
        rows = [value for row in rows for value in row]
    return rows


def _numbers(block: memoryview, code: str, view: bool) -> Any:
    """A block as numbers: a copy, or where it lies."""
    if view and _IS_LITTLE:
        return block.cast(cast(Any, code))
    numbers = array(code)
    numbers.frombytes(block)
    if not _IS_LITTLE:
        numbers.byteswap()
    return numbers


def _equal(one: Any, other: Any) -> bool:
    """Whether two lists have equal elements, however they are held."""
    if type(one) is type(other) and isinstance(one, (list, bytes, array)):
        return bool(one == other)
    return len(one) == len(other) and all(a == b for a, b in zip(one, other))


def _flag(octet: int) -> bool:
    if octet > 1:
        raise WireError(f"a truth value is 0 or 1, not {octet}")
    return octet == 1


class _Writer:
    """Blocks that are joined in the end, and how many bytes they have so far."""

    __slots__ = ("parts", "size")

    #: The bits that are zero in places where a length may stand.
    _ALIGNED: ClassVar[int] = 0

    def __init__(self) -> None:
        self.parts: list[bytes | bytearray | memoryview | array[Any]] = []
        self.size = 0

    def align(self, to: int) -> None:
        """Nothing is aligned unless a wire does so."""

    def put(self, block: bytes | bytearray | memoryview) -> None:
        self.parts.append(block)
        self.size += len(block)

    def count(self, count: int, most: int) -> None:
        if count > most:
            raise WireError(f"{count} elements, and {most} at most may be written")
        gap = -self.size & self._ALIGNED
        if gap:
            self.parts.append(bytes(gap))
        self.parts.append(count.to_bytes(4, "little"))
        self.size += gap + 4

    def check(self, count: int, wanted: int) -> None:
        if count != wanted:
            raise WireError(f"{count} elements, and {wanted} are wanted")

    def text(self, text: str, most: int = _MOST) -> None:
        self.octets(text.encode(), most)

    def octets(self, octets: bytes | bytearray | memoryview, most: int = _MOST) -> None:
        block = octets if isinstance(octets, bytes) else memoryview(octets).cast("B")
        count = len(block)
        self.count(count, most)
        self.parts.append(block)
        self.size += count

    def numbers(self, values: Sequence[float], code: str, size: int, most: int = _MOST) -> None:
        block: memoryview | array[Any]
        if _IS_LITTLE and isinstance(values, array) and values.typecode == code:
            block, count = values, len(values)
        else:
            block = _block(values, code, size)
            count = len(block) // size
        self.count(count, most)
        if count:
            if size > 4:
                self.align(size)
            self.parts.append(block)
            self.size += count * size

    def fixed(self, values: Sequence[float], code: str, size: int, count: int) -> None:
        block = _block(values, code, size)
        self.check(len(block) // size, count)
        self.align(size)
        self.put(block)

    def done(self) -> bytes:
        return b"".join(self.parts)


class _Reader:
    """Bytes, and how many of them are read. Lengths are held against what is there."""

    __slots__ = ("at", "data", "end", "raw", "view")

    #: The bits that are zero in places where a length may stand.
    _ALIGNED: ClassVar[int] = 0

    def __init__(self, data: bytes | bytearray | memoryview, view: bool) -> None:
        #: What slices are copied from: cheapest from bytes.
        self.raw = data if isinstance(data, bytes) else memoryview(data).cast("B")
        self.data = memoryview(self.raw)
        if view and not isinstance(self.data.obj, bytes):
            # A view stays what it is only if nobody can write to its bytes.
            self.data = memoryview(bytes(self.data))
        self.at = 0
        self.end = len(self.raw)
        self.view = view

    def align(self, to: int) -> None:
        """Nothing is aligned unless a wire does so."""

    def left(self) -> int:
        return self.end - self.at

    def take(self, block: struct.Struct) -> tuple[Any, ...]:
        at = self.at
        self.at = at + block.size
        return block.unpack_from(self.raw, at)

    def take_floats(self, block: struct.Struct) -> tuple[Any, ...]:
        """The same where there are float32 among the numbers."""
        at = self.at
        self.at = at + block.size
        return _unpacked(block, self.raw, at)

    def block(self, size: int) -> memoryview:
        at = self.at
        end = at + size
        if end > self.end:
            raise WireError(f"{size} bytes are wanted, and {self.left()} are left")
        self.at = end
        return self.data[at:end]

    def count(self, least: int, most: int = _MOST) -> int:
        """The length of a list of which each element takes so many bytes at least."""
        at = self.at
        at += -at & self._ALIGNED
        count: int = _length_at(self.raw, at)[0]
        self.at = at = at + 4
        if count > most:
            raise WireError(f"{count} elements, and {most} at most may be there")
        if count * least > self.end - at:
            raise WireError(f"{count} elements, and {self.left()} bytes are left")
        return count

    def number(self, code: str, size: int) -> Any:
        self.align(size)
        return struct.unpack(code, self.block(size))[0]

    def float4(self) -> Any:
        self.align(4)
        return _float4_of(self.block(4))

    def text(self, most: int = _MOST) -> str:
        end = self.count(1, most) + self.at
        text = str(self.raw[self.at : end], "utf-8")
        self.at = end
        return text

    def octets(self) -> bytes | bytearray | memoryview:
        # As count does it, without its call.
        at = self.at
        at += (-at & self._ALIGNED) + 4
        end: int = at + _length_at(self.raw, at - 4)[0]
        if end > self.end:
            raise WireError(f"{end - at} bytes are wanted, and {self.end - at} are left")
        self.at = end
        return self.data[at:end] if self.view else bytes(self.raw[at:end])

    def numbers(self, code: str, size: int, most: int = _MOST) -> Any:
        count = self.count(size, most)
        if size > 4 and count:
            self.align(size)
        return _numbers(self.block(count * size), code, self.view)

    def fixed(self, code: str, size: int, count: int) -> Any:
        self.align(size)
        return _numbers(self.block(count * size), code, self.view)

    def done(self, spare: int = 0) -> None:
        if self.left() > spare:
            raise WireError(f"{self.left()} bytes are left over")
