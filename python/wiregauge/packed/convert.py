"""Between sub-messages and packed fields.

Rows are converted one by one; where all of a message have the same bytes but
for their values, as a simulator's have, they are converted as arrays.
"""

from typing import NamedTuple, Optional, Tuple

import numpy as np

from .error import PackedError
from .layout import MAXIMUM_SIZE, Column, Layout, dtype, is_integer, narrow, widen
from .leaf import LEAVES, row_name
from .message import FIELD, INNER, KINDS, ROOTS, ROWS, Part, assemble, serialized
from .preset import presets_of
from .reduce import reduce
from .view import View
from .wire import fields, put_head, put_varint


class Encoding(NamedTuple):
    """How a column is packed: its element type and (offset, scale) of integers, and
    whether it is reduced: to a resolution, which goes with f64, or exactly."""

    element: str
    scale: Optional[Tuple[float, float]] = None
    reduced: bool = False
    resolution: Optional[float] = None
    whole_bytes: bool = False


class Precision(NamedTuple):
    """What packing has cost a column: the largest difference between a packed
    value and the given one, in the column's unit, and bytes of its elements and
    presence."""

    kind: str
    name: str
    element: str
    error: float
    bytes: int


class _Plan(NamedTuple):
    """How columns are packed: by what is said of them, else by presets."""

    encodings: dict
    presets: list
    whole_bytes: bool

    def encoding(self, kind, leaf):
        """How a column of some rows is packed."""
        given = self.encodings.get(leaf.name)
        if given:
            return given
        preset = next((one for one in reversed(self.presets) if kind in one.kinds), None)
        if preset is None:
            return Encoding(leaf.element)
        resolution = preset.resolutions.get(leaf.name)
        return Encoding(leaf.element, None, True, resolution, self.whole_bytes)


def pack(
    root,
    message,
    encodings=None,
    alignment=64,
    precision=None,
    presets=(),
    whole_bytes=False,
):
    """Replaces reflections and detections by packed fields; all else stays byte
    for byte.

    ``encodings`` maps columns' names to an Encoding. All others are reduced by the
    last of ``presets``, names of PRESETS, that tells of their rows; without one they
    are lossless and not reduced. ``whole_bytes`` is larger by itself, and smaller
    where the whole is compressed afterwards. A Precision for each column is appended
    to the list ``precision``. Returns bytes.
    """
    if root not in ROOTS:
        raise ValueError(f"{root!r} is none of {ROOTS}")
    data = serialized(message)
    plan = _Plan(encodings or {}, presets_of(presets), whole_bytes)
    tables = []
    parts, _ = _split(root, data, 0, len(data), plan, alignment, tables)
    out, places = assemble(parts)
    for (kind, columns), table in zip(tables, places):
        for column, values, present in columns:
            if column.element != "none" and column.reduced is None:
                table.column(column.name)[:] = values
            if column.optional:
                table.set_present(column.name, present)
    if precision is not None:
        precision.extend(item for kind, columns in tables for item in _precisions(kind, columns))
    return bytes(out)


def _precisions(kind, columns):
    for column, values, present in columns:
        size = column.size(len(present)) + ((len(present) + 7) // 8 if column.optional else 0)
        yield Precision(kind, column.name, column.element, getattr(values, "error", 0.0), size)


class _Raw(np.ndarray):
    """Elements that know what rounding has cost."""

    error = 0.0


def _split(level, data, begin, end, plan, alignment, tables):
    """A message's parts, and whether it changes."""
    if level in KINDS:
        return _split_rows(level, data, begin, end, plan, alignment, tables)
    parts = []
    kept = begin
    changed = False
    for field in fields(data, begin, end):
        inner = INNER.get((level, field.number)) if field.kind == 2 else None
        if not inner:
            continue
        inside, differs = _split(inner, data, *field.content, plan, alignment, tables)
        if differs:
            parts.append(Part(data[kept : field.begin]))
            parts.append(Part(number=field.number, parts=inside))
            kept = field.end
            changed = True
    parts.append(Part(data[kept:end]))
    return parts, changed


def _split_rows(kind, data, begin, end, plan, alignment, tables):
    parts = []
    rows = []
    kept = begin
    place = 0
    packed = False
    for field in fields(data, begin, end):
        packed |= (field.number, field.kind) == (FIELD, 2)
        if (field.number, field.kind) != (ROWS, 2):
            continue
        if field.begin > kept:
            parts.append(Part(data[kept : field.begin]))
        if not rows:
            place = len(parts)
        rows.append(field)
        kept = field.end
    parts.append(Part(data[kept:end]))
    if not rows:
        return parts, False
    if packed:
        raise PackedError("both")
    columns = _regular(kind, data, rows, plan) or _columns(kind, data, rows, plan)
    layout = Layout([column for column, _, _ in columns], len(rows), 0, alignment)
    parts.insert(place, Part(number=FIELD, layout=layout))
    tables.append((kind, columns))
    return parts, True


def _take(leaf, kind, field):
    """A value as OSI has it: the bits of a double, or an integer with its sign."""
    if field.kind != leaf.wire:
        message = leaf.parent if leaf.inner else row_name(kind)
        raise PackedError("unknown", field.number, message)
    value = field.value
    if leaf.type == "enumeration":
        value = value - (1 << 64) if value >> 63 else value
        if not -(1 << 31) <= value < 1 << 31:
            raise PackedError("value", field.number, leaf.name)
    return value


def _row(kind, data, begin, end):
    """A row's values by leaf, and the numbers of its messages."""
    leaves = LEAVES[kind]
    values = {}
    messages = set()
    for field in fields(data, begin, end):
        index = next((i for i, leaf in enumerate(leaves) if leaf.number == field.number), None)
        if index is None or (leaves[index].inner and field.kind != 2):
            raise PackedError("unknown", field.number, row_name(kind))
        if not leaves[index].inner:
            values[index] = _take(leaves[index], kind, field)
            continue
        messages.add(field.number)
        for value in fields(data, *field.content):
            at = index + value.number - 1
            if at >= len(leaves) or leaves[at].number != field.number:
                raise PackedError("unknown", value.number, leaves[index].parent)
            values[at] = _take(leaves[at], kind, value)
    return values, messages


def _columns(kind, data, rows, plan):
    """The columns that the rows need: what each is, its elements and presence."""
    leaves = LEAVES[kind]
    count = len(rows)
    present = np.zeros((len(leaves), count), dtype=bool)
    messages = {leaf.number: np.zeros(count, dtype=bool) for leaf in leaves if leaf.inner}
    hollow = set()
    taken = [{} for _ in leaves]
    for row, field in enumerate(rows):
        values, inside = _row(kind, data, *field.content)
        for leaf, value in values.items():
            present[leaf, row] = True
            taken[leaf][row] = value
        for number in inside:
            messages[number][row] = True
        hollow |= inside - {leaves[leaf].number for leaf in values}
    columns = []
    for index, leaf in enumerate(leaves):
        if leaf.inner == 1 and leaf.number in hollow:
            there = messages[leaf.number]
            column = Column(leaf.marker, "none", not there.all())
            columns.append((column, np.empty(0), there))
        if not taken[index]:
            continue
        at = np.fromiter(taken[index].keys(), np.int64, len(taken[index]))
        kinds = np.int64 if leaf.type == "enumeration" else np.uint64
        bits = np.fromiter(taken[index].values(), kinds, len(taken[index]))
        values = bits.view(np.float64) if leaf.type == "number" else bits
        encoding = plan.encoding(kind, leaf)
        columns.append(_encode(leaf, values, at, present[index], encoding))
    return columns


def _encode(leaf, values, at, present, encoding):
    """A column of the values at some rows."""
    element, scale = encoding.element, encoding.scale
    whole = is_integer(element) and scale is None
    rounded = encoding.resolution is not None and element != "f64"
    if element == "none" or (leaf.type != "number" and not whole) or rounded:
        raise PackedError("element", leaf.number, leaf.name)
    if leaf.type == "number":
        few = narrow(values, element, scale, leaf.name, leaf.number)
    else:
        few = values.astype(dtype(element))
        # Too large a value wraps and differs; so does a sign that gets lost.
        same = few.astype(values.dtype) == values
        if not np.all(same & ((few < 0) == (values < 0))):
            raise PackedError("value", leaf.number, leaf.name)
    raw = np.zeros(len(present), dtype(element)).view(_Raw)
    raw[at] = few
    if leaf.type == "number" and element != "f64" and len(few):
        with np.errstate(invalid="ignore"):
            off = np.abs(widen(few, scale) - values)
        raw.error = float(np.nanmax(off)) if not np.isnan(off).all() else 0.0
    reduced = None
    if encoding.reduced:
        try:
            reduced = reduce(
                leaf.name, raw.view(np.ndarray), present, encoding.resolution, encoding.whole_bytes
            )
        except PackedError as error:
            raise PackedError(error.fault, leaf.number, leaf.name) from None
        raw.error = max(raw.error, reduced.error)
    return Column(leaf.name, element, not present.all(), scale, reduced), raw, present


def _regular(kind, data, rows, plan):
    """The columns of rows that are alike in all bytes but their values'; None
    where they are not."""
    size = rows[0].end - rows[0].begin
    count = len(rows)
    if rows[-1].end - rows[0].begin != size * count:
        return None
    array = np.frombuffer(data, np.uint8, size * count, rows[0].begin).reshape(count, size)
    leaves = LEAVES[kind]
    places = {}
    fixed = np.ones(size, dtype=bool)
    base = rows[0].begin
    # Where the values are in the first row. What is odd is left to the other way.
    values, messages = _row(kind, data, *rows[0].content)
    if {leaves[leaf].number for leaf in values if leaves[leaf].inner} != messages:
        return None
    for field in fields(data, *rows[0].content):
        index = next(i for i, leaf in enumerate(leaves) if leaf.number == field.number)
        inside = fields(data, *field.content) if leaves[index].inner else [field]
        for value in inside:
            leaf = index + value.number - 1 if leaves[index].inner else index
            if leaf in places or leaves[leaf].type == "enumeration":
                return None
            width = 8 if leaves[leaf].wire == 1 else value.end - value.begin - 1
            if leaves[leaf].wire == 0 and width > 9:
                return None
            places[leaf] = (value.end - base - width, width)
            fixed[value.end - base - width : value.end - base] = False
    if not np.array_equal(array[:, fixed], np.broadcast_to(array[0, fixed], (count, fixed.sum()))):
        return None
    columns = []
    everywhere = np.ones(count, dtype=bool)
    for index in sorted(places):
        at, width = places[index]
        part = array[:, at : at + width]
        if leaves[index].wire == 1:
            values = np.ascontiguousarray(part).view("<f8").reshape(count)
        else:
            more = part >= 0x80
            if not (more[:, :-1].all() and not more[:, -1].any()):
                return None
            shifts = np.arange(width, dtype=np.uint64) * np.uint64(7)
            values = ((part & 0x7F).astype(np.uint64) << shifts).sum(axis=1, dtype=np.uint64)
        encoding = plan.encoding(kind, leaves[index])
        columns.append(_encode(leaves[index], values, slice(None), everywhere, encoding))
    return columns


def unpack(root, message, drop_unknown=False, limit=MAXIMUM_SIZE):
    """Replaces packed fields by reflections and detections; all else stays byte
    for byte.

    ``drop_unknown`` leaves out columns that OSI has no field for; ``limit`` is
    the most bytes that the result may have. Returns bytes.
    """
    if root not in ROOTS:
        raise ValueError(f"{root!r} is none of {ROOTS}")
    data = serialized(message)
    out = _unpack(root, data, 0, len(data), drop_unknown, limit)
    out = bytes(data) if out is None else bytes(out)
    if len(out) > limit:
        raise PackedError("limit")
    return out


def _unpack(level, data, begin, end, drop_unknown, limit):
    """A message unpacked; None where it stays as it is."""
    out = bytearray()
    kept = begin
    changed = False
    last = None
    if level in KINDS:
        rows = False
        for field in fields(data, begin, end):
            if (field.number, field.kind) == (FIELD, 2):
                last = field.begin
            rows |= (field.number, field.kind) == (ROWS, 2)
        if last is not None and rows:
            raise PackedError("both")
    for field in fields(data, begin, end):
        if field.kind != 2:
            continue
        inner = None
        if level in KINDS:
            if field.number == FIELD:
                content = data[field.content[0] : field.content[1]]
                inner = _rows(level, content, drop_unknown, limit) if field.begin == last else b""
        elif (level, field.number) in INNER:
            below = INNER[level, field.number]
            inner = _unpack(below, data, *field.content, drop_unknown, limit)
            if inner is not None:
                inner = put_head(field.number, len(inner)) + inner
        if inner is not None:
            out += data[kept : field.begin]
            out += inner
            kept = field.end
            changed = True
        if len(out) > limit:
            raise PackedError("limit")
    out += data[kept:end]
    return out if changed else None


def _rows(kind, content, drop_unknown, limit):
    """The rows of a packed field as sub-messages."""
    view = View(content)
    leaves = LEAVES[kind]
    names = {leaf.name: i for i, leaf in enumerate(leaves)}
    markers = {leaf.marker: i for i, leaf in enumerate(leaves) if leaf.inner == 1}
    origins = {}
    marked = {}
    for index, values in enumerate(view.columns.values()):
        name = values.name
        leaf = names.get(name, markers.get(name))
        if leaf is None or values.element is None:
            if drop_unknown:
                continue
            raise PackedError("foreign", index, name)
        whole = is_integer(values.element) and values.scale is None
        if values.element == "none":
            fits = name in markers
        else:
            fits = name in names and (leaves[leaf].type == "number" or whole)
        if not fits:
            raise PackedError("element", index, name)
        if name in markers:
            marked[leaves[leaf].number] = view.present(name)
        else:
            origins[leaf] = (_osi(leaves[leaf], view, name), view.present(name))
    # An empty row takes two bytes: more rows than that are refused unread.
    if view.rows > limit // 2:
        raise PackedError("limit")
    _check(leaves, origins, view.rows)
    regular = None if marked else _regular_rows(leaves, origins, view.rows)
    if regular is not None:
        return regular
    out = bytearray()
    for row in range(view.rows):
        out += _put_row(leaves, origins, marked, row)
        if len(out) > limit:
            raise PackedError("limit")
    return out


def _osi(leaf, view, name):
    """A column's values as OSI has them: bits of doubles, or integers."""
    if leaf.type == "number":
        if view.columns[name].element == "f64":
            return view.column(name).view("<u8")
        return np.ascontiguousarray(view.values(name)).view("<u8")
    return view.column(name)


def _check(leaves, origins, rows):
    """Refuses values that OSI's field cannot have, of the first row that has one."""
    bad = []
    for index, (values, present) in origins.items():
        leaf = leaves[index]
        if leaf.type == "identifier":
            wrong = values < 0
        elif leaf.type == "enumeration":
            wrong = (values > 0x7FFFFFFF) | (values < -0x80000000)
        else:
            continue
        at = np.flatnonzero(wrong & present)
        if len(at):
            bad.append((at[0], leaf))
    if bad:
        leaf = min(bad, key=lambda item: item[0])[1]
        raise PackedError("value", leaf.number, leaf.name)


def _groups(leaves):
    """The indices of each number's leaves."""
    groups = {}
    for index, leaf in enumerate(leaves):
        groups.setdefault(leaf.number, []).append(index)
    return groups.items()


def _put_leaf(leaf, value):
    number = leaf.inner or leaf.number
    if leaf.type == "number":
        return bytes((number << 3 | 1,)) + int(value).to_bytes(8, "little")
    return bytes((number << 3,)) + put_varint(int(value) & 0xFFFFFFFFFFFFFFFF)


def _put_row(leaves, origins, marked, row):
    """One row as a sub-message."""
    out = b""
    for number, group in _groups(leaves):
        inside = b"".join(
            _put_leaf(leaves[i], origins[i][0][row])
            for i in group
            if i in origins and origins[i][1][row]
        )
        if not leaves[group[0]].inner:
            out += inside
        elif inside or (number in marked and marked[number][row]):
            out += put_head(number, len(inside)) + inside
    return put_head(ROWS, len(out)) + out


def _regular_rows(leaves, origins, rows):
    """All rows at once, where each has the same fields of the same sizes; else None."""
    if rows < 2 or not all(present.all() for _, present in origins.values()):
        return None
    first_row = _put_row(leaves, origins, {}, 0)
    for index, (values, _) in origins.items():
        if leaves[index].type == "number":
            continue
        # Signs make ten bytes of varint; those are rare.
        if np.any(values < 0) or np.any(values >= 1 << 28):
            return None
        if len(put_varint(int(values.min()))) != len(put_varint(int(values.max()))):
            return None
    array = np.empty((rows, len(first_row)), np.uint8)
    array[:] = np.frombuffer(first_row, np.uint8)
    at = len(first_row) - _content(first_row)
    for number, group in _groups(leaves):
        group = [i for i in group if i in origins]
        if not group:
            continue
        if leaves[group[0]].inner:
            at += 2
        for index in group:
            values = origins[index][0]
            at += 1
            if leaves[index].type == "number":
                array[:, at : at + 8] = np.ascontiguousarray(values).view(np.uint8).reshape(rows, 8)
                at += 8
                continue
            width = len(put_varint(int(values.min())))
            for i in range(width):
                byte = (values.astype(np.uint64) >> np.uint64(7 * i)) & np.uint64(0x7F)
                array[:, at] = byte | (0x80 if i + 1 < width else 0)
                at += 1
    return array.tobytes()


def _content(row):
    """Bytes of a row behind its tag and length."""
    field = next(fields(row, 0, len(row)))
    return field.content[1] - field.content[0]
