class _SomeIpWriter(_Writer):
    """SOME/IP: highest bytes first, and before texts and lists how many bytes they take."""

    __slots__ = ()

    def text(self, text: str, most: int = _MOST) -> None:
        block = text.encode()
        if len(block) > most:
            raise WireError(f"a text of {len(block)} bytes, and {most} at most may be written")
        if 0 in block:
            raise WireError("a text with a zero in it, which ends texts")
        self.octets(_TEXT_MARK + block + b"\0")

    def octets(self, octets: bytes | bytearray | memoryview, most: int = _MOST) -> None:
        block = octets if isinstance(octets, bytes) else memoryview(octets).cast("B")
        self.put(_size(len(block)))
        self.put(block)

    def numbers(self, values: Sequence[float], code: str, size: int, most: int = _MOST) -> None:
        block = _swapped(_block(values, code, size), size)
        self.most(len(block) // size, most)
        self.octets(block)

    def fixed(self, values: Sequence[float], code: str, size: int, count: int) -> None:
        block = _block(values, code, size)
        self.check(len(block) // size, count)
        self.put(_swapped(block, size))

    def most(self, count: int, most: int) -> None:
        """Holds the length of a list against its bound."""
        if count > most:
            raise WireError(f"{count} elements, and {most} at most may be written")

    def open(self) -> tuple[int, int]:
        """Where what begins whose bytes are counted."""
        self.put(b"")
        self.size += 4
        return len(self.parts) - 1, self.size

    def close(self, start: tuple[int, int]) -> None:
        self.parts[start[0]] = _size(self.size - start[1])


class _SomeIpReader(_Reader):
    """SOME/IP: highest bytes first, and before texts and lists how many bytes they take."""

    __slots__ = ()

    def number(self, code: str, size: int) -> Any:
        return struct.unpack(code, self.block(size))[0]

    def float4(self) -> Any:
        return _float4_of(bytes(self.block(4))[::-1])

    def text(self, most: int = _MOST) -> str:
        block = bytes(self.block(self.open() - self.at))
        text = block[len(_TEXT_MARK) : -1]
        if not block.startswith(_TEXT_MARK) or block[-1] or 0 in text or len(block) < 4:
            raise WireError("a text that does not stand between its mark and the only zero in it")
        if len(text) > most:
            raise WireError(f"a text of {len(text)} bytes, and {most} at most may be there")
        return str(text, "utf-8")

    def octets(self) -> bytes | bytearray | memoryview:
        block = self.block(self.open() - self.at)
        return block if self.view else bytes(block)

    def numbers(self, code: str, size: int, most: int = _MOST) -> Any:
        block = self.block(self.open() - self.at)
        if len(block) % size:
            raise WireError(f"a list of {len(block)} bytes, and {size} for each of its numbers")
        self.most(len(block) // size, most)
        return _numbers(_swapped(block, size), code, self.view)

    def fixed(self, code: str, size: int, count: int) -> Any:
        return _numbers(_swapped(self.block(count * size), size), code, self.view)

    def most(self, count: int, most: int) -> None:
        """Holds the length of a list against its bound."""
        if count > most:
            raise WireError(f"{count} elements, and {most} at most may be there")

    def open(self) -> int:
        """Where what must end whose bytes are counted."""
        size = int.from_bytes(self.block(4), "big")
        if size > self.left():
            raise WireError(f"{size} bytes are wanted, and {self.left()} are left")
        return self.at + size

    def close(self, end: int) -> None:
        if self.at != end:
            raise WireError(f"a list ends {self.at - end} bytes behind what its length says")


#: What stands before the letters of a text in SOME/IP.
_TEXT_MARK = b"\xef\xbb\xbf"


def _size(size: int) -> bytes:
    return size.to_bytes(4, "big")


def _swapped(block: memoryview, size: int) -> memoryview:
    """Numbers of a size with their bytes in the other order."""
    if size == 1:
        return block
    numbers = array({2: "H", 4: "I", 8: "Q"}[size])
    numbers.frombytes(block)
    numbers.byteswap()
    return memoryview(numbers).cast("B") if numbers else memoryview(b"")
