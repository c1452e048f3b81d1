class _Xcdr2Writer(_CdrWriter):
    """XCDR version 2: numbers stand at multiples of four at most, and the size of a
    list or array of what is no number before it."""

    __slots__ = ()

    def align(self, to: int) -> None:
        gap = -self.size & (min(to, 4) - 1)
        if gap:
            self.put(bytes(gap))

    def open(self) -> tuple[int, int]:
        """Where what has its size before it begins."""
        self.align(4)
        self.put(b"")
        self.size += 4
        return len(self.parts) - 1, self.size

    def close(self, start: tuple[int, int]) -> None:
        self.parts[start[0]] = (self.size - start[1]).to_bytes(4, "little")


class _Xcdr2Reader(_CdrReader):
    """XCDR version 2: numbers stand at multiples of four at most, and the size of a
    list or array of what is no number before it."""

    __slots__ = ()

    def align(self, to: int) -> None:
        self.at += -self.at & (min(to, 4) - 1)

    def open(self) -> int:
        """Where what has its size before it must end."""
        size = self.count(1)
        return self.at + size

    def close(self, end: int) -> None:
        if self.at != end:
            raise WireError(f"a list ends {self.at - end} bytes behind what its size says")


#: What stands before a message in DDS: XCDR version 2 of final types, little-endian.
_XCDR2_HEADER = b"\0\7\0\0"
