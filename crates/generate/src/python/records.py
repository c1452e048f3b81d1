class _Plain(Protocol):
    """A record that is numbers alone."""

    _BLOCK: ClassVar[struct.Struct]
    _DTYPE: ClassVar[list[Any]]

    def _to_block(self) -> tuple[Any, ...]: ...

    @classmethod
    def _from_block(cls, t: tuple[Any, ...]) -> Any: ...


class Records(Sequence[_T]):
    """Plain records in one block of memory. They are read from where they lie when
    they are asked for; what one of them is changed to is not written back."""

    __slots__ = ("_data", "_kind")

    def __init__(self, kind: type[_T], data: bytes | bytearray | memoryview = b"") -> None:
        """Records of a kind in their bytes, little-endian and without gaps; also in
        a NumPy array of :meth:`numpy`'s dtype."""
        self._kind = kind
        self._data = memoryview(data).cast("B") if memoryview(data).nbytes else memoryview(b"")
        if len(self._data) % self._block().size:
            raise WireError(f"{len(self._data)} bytes are no {kind.__name__}s")

    def _block(self) -> struct.Struct:
        return self._kind._BLOCK

    def _made(self, values: tuple[Any, ...]) -> _T:
        return cast(_T, self._kind._from_block(values))

    def __len__(self) -> int:
        return len(self._data) // self._block().size

    @overload
    def __getitem__(self, index: int) -> _T: ...

    @overload
    def __getitem__(self, index: slice) -> list[_T]: ...

    def __getitem__(self, index: int | slice) -> _T | list[_T]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        block = self._block()
        return self._made(block.unpack_from(self._data, index % len(self) * block.size))

    def __iter__(self) -> Iterator[_T]:
        return map(self._made, self._block().iter_unpack(self._data))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Records):
            return self._kind is other._kind and self._data == other._data
        return isinstance(other, Sequence) and _equal(self, other)

    def __repr__(self) -> str:
        return f"{list(self)!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Records, (self._kind, bytes(self._data))

    def memory(self) -> memoryview:
        """Their bytes."""
        return self._data

    def numpy(self) -> Any:
        """A structured array over the same memory. Needs NumPy."""
        return importlib.import_module("numpy").frombuffer(self._data, dtype=self._kind._DTYPE)


def _records(kind: type[_T], values: Sequence[_T]) -> memoryview:
    """Plain records as one block."""
    if isinstance(values, Records) and values._kind is kind:
        return values.memory()
    pack = kind._BLOCK.pack
    return memoryview(b"".join([pack(*value._to_block()) for value in values]))


def _gapped(kind: type[_T], row: struct.Struct, gap: int, values: Sequence[_T]) -> memoryview:
    """Plain records in rows with gaps, but for the last one's at its end."""
    pack = row.pack
    if isinstance(values, Records) and values._kind is kind:
        rows = [pack(*numbers) for numbers in kind._BLOCK.iter_unpack(values.memory())]
    else:
        rows = [pack(*value._to_block()) for value in values]
    return memoryview(b"".join(rows))[: max(len(rows) * row.size - gap, 0)]


def _gapped_at(r: _Reader, kind: type[_T], row: struct.Struct, gap: int, count: int) -> list[_T]:
    """So many plain records in rows with gaps."""
    block = bytes(r.block(max(count * row.size - gap, 0))) + bytes(gap if count else 0)
    return [cast(_T, kind._from_block(numbers)) for numbers in row.iter_unpack(block)]


def _records_at(r: _Reader, kind: type[_T], count: int) -> Records[_T]:
    """So many plain records: a copy of their bytes, or where they lie."""
    block = r.block(count * kind._BLOCK.size)
    return Records(kind, block if r.view else bytes(block))
