"""Vectors: written of offsets, and read where they lie."""


def offsets(builder, start, items):
    """A vector of what was written before."""
    start(builder, len(items))
    for item in reversed(items):
        builder.PrependUOffsetTRelative(item)
    return builder.EndVector()


def structs(builder, start, create, items):
    """A vector of structs."""
    start(builder, len(items))
    for item in reversed(items):
        create(builder, item)
    return builder.EndVector()


class Vector:
    """The elements of a vector, each read as it is asked for."""

    __slots__ = ("read", "count")

    def __init__(self, read, count):
        self.read = read
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.read(index)

    def __iter__(self):
        return map(self.read, range(self.count))
