class _CdrWriter(_Writer):
    """CDR: numbers stand at multiples of their size, texts end in a zero."""

    __slots__ = ()

    _ALIGNED = 3

    def align(self, to: int) -> None:
        gap = -self.size & (to - 1)
        if gap:
            self.put(bytes(gap))

    def text(self, text: str, most: int = _MOST) -> None:
        block = text.encode()
        if len(block) > most:
            raise WireError(f"a text of {len(block)} bytes, and {most} at most may be written")
        if 0 in block:
            raise WireError("a text with a zero in it, which ends texts")
        self.octets(block + b"\0")


class _CdrReader(_Reader):
    """CDR: numbers stand at multiples of their size, texts end in a zero."""

    __slots__ = ()

    _ALIGNED = 3

    def align(self, to: int) -> None:
        self.at += -self.at & (to - 1)

    def text(self, most: int = _MOST) -> str:
        size = self.count(1)
        if size == 0:
            # Some write an empty text without its zero.
            return ""
        at = self.at
        self.at = end = at + size
        block = bytes(self.raw[at : end - 1])
        if self.raw[end - 1] or 0 in block:
            raise WireError("a text that does not end in the only zero in it")
        if size - 1 > most:
            raise WireError(f"a text of {size - 1} bytes, and {most} at most may be there")
        return str(block, "utf-8")


#: What stands before a message in DDS and in recordings: CDR, little-endian.
_CDR_HEADER = b"\0\1\0\0"


def _cdr_body(
    data: bytes | bytearray | memoryview, header: bool, wanted: bytes
) -> bytes | bytearray | memoryview:
    if not header:
        return data
    if bytes(data[:2]) != wanted[:2] or len(data) < 4:
        raise WireError(
            f"the bytes begin with {bytes(data[:4]).hex()}, which is not the wire's header for "
            f"little-endian ({wanted[:2].hex()}…)"
        )
    # To copy little takes less time than to look through a view.
    return data[4:] if isinstance(data, bytes) and len(data) < 4096 else memoryview(data)[4:]
