class _Plain(Protocol):
    """A record that is numbers alone."""

    _BLOCK: ClassVar[struct.Struct]
    _DTYPE: ClassVar[list[Any]]

    def _to_block(self) -> tuple[Any, ...]: ...

    @classmethod
    def _from_block(cls, t: tuple[Any, ...]) -> Any: ...


class _Rows:
    """How plain records lie on a wire that leaves gaps between their numbers: one with the
    gap behind it, which the last one lacks, and NumPy's type of it."""

    __slots__ = ("dtype", "gap", "row")

    def __init__(self, codes: str, gap: int, dtype: dict[str, Any]) -> None:
        self.row = struct.Struct(codes)
        self.gap = gap
        self.dtype = dtype


class Records(Sequence[_T]):
    """Plain records in one block of memory. They are read from where they lie when
    they are asked for; what one of them is changed to is not written back."""

    __slots__ = ("_data", "_dtype", "_kind", "_row")

    def __init__(self, kind: type[_T], data: bytes | bytearray | memoryview = b"") -> None:
        """Records of a kind in their bytes, little-endian and without gaps; also in
        a NumPy array of :meth:`numpy`'s dtype."""
        self._kind = kind
        self._row: struct.Struct = kind._BLOCK
        self._dtype: Any = kind._DTYPE
        if getattr(getattr(data, "dtype", None), "names", None):
            data = cast(Any, data).astype(kind._DTYPE, copy=False)
        self._data = memoryview(data).cast("B") if memoryview(data).nbytes else memoryview(b"")
        if len(self._data) % self._row.size:
            raise WireError(f"{len(self._data)} bytes are no {kind.__name__}s")

    def _packed(self) -> memoryview:
        """Their bytes without gaps."""
        block = self._kind._BLOCK
        if self._row is block:
            return self._data
        pack = _packer(block)
        return memoryview(b"".join([pack(*numbers) for numbers in self._rows()]))

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """The numbers of each."""
        row, data = self._row, self._data
        if "f" not in row.format:
            return row.iter_unpack(data)
        return (_unpacked(row, data, at) for at in range(0, len(data), row.size))

    def _made(self, values: tuple[Any, ...]) -> _T:
        return cast(_T, self._kind._from_block(values))

    def __len__(self) -> int:
        return len(self._data) // self._row.size

    @overload
    def __getitem__(self, index: int) -> _T: ...

    @overload
    def __getitem__(self, index: slice) -> list[_T]: ...

    def __getitem__(self, index: int | slice) -> _T | list[_T]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        row = self._row
        return self._made(_unpacked(row, self._data, index % len(self) * row.size))

    def __iter__(self) -> Iterator[_T]:
        return map(self._made, self._rows())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Records):
            return self._kind is other._kind and self._packed() == other._packed()
        return isinstance(other, Sequence) and _equal(self, other)

    def __repr__(self) -> str:
        return f"{list(self)!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Records, (self._kind, bytes(self._packed()))

    def memory(self) -> memoryview:
        """Their bytes, without gaps."""
        return self._packed()

    def numpy(self) -> Any:
        """A structured array over the same memory. Needs NumPy."""
        return importlib.import_module("numpy").frombuffer(self._data, dtype=self._dtype)


def _packer(block: struct.Struct) -> Any:
    """What packs numbers."""
    if "f" not in block.format:
        return block.pack
    return lambda *values: _packed(block, *values)


def _records(kind: type[_T], values: Sequence[_T]) -> memoryview:
    """Plain records as one block."""
    if isinstance(values, Records) and values._kind is kind:
        return values.memory()
    pack = _packer(kind._BLOCK)
    return memoryview(b"".join([pack(*value._to_block()) for value in values]))


def _gapped(kind: type[_T], rows: _Rows, values: Sequence[_T]) -> memoryview:
    """Plain records as rows with gaps of zeros."""
    pack = _packer(rows.row)
    numpy = sys.modules.get("numpy")
    if not isinstance(values, Records) or values._kind is not kind:
        block = b"".join([pack(*value._to_block()) for value in values])
    elif numpy is None:
        block = b"".join([pack(*numbers) for numbers in values._rows()])
    else:
        array = numpy.zeros(len(values), dtype=rows.dtype)
        array[...] = values.numpy()
        block = array.tobytes()
    return memoryview(block)[: max(len(block) - rows.gap, 0)]


def _gapped_at(r: _Reader, kind: type[_T], rows: _Rows, count: int) -> Records[_T]:
    """So many plain records in rows with gaps: a copy, as the last one lacks its gap."""
    records = Records(kind)
    if count:
        records._data = memoryview(bytes(r.block(count * rows.row.size - rows.gap)) + bytes(rows.gap))
    records._row, records._dtype = rows.row, rows.dtype
    return records


def _records_at(r: _Reader, kind: type[_T], count: int) -> Records[_T]:
    """So many plain records: a copy of their bytes, or where they lie."""
    block = r.block(count * kind._BLOCK.size)
    return Records(kind, block if r.view else bytes(block))
