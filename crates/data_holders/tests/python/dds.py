"""Holds holders against Cyclone DDS, which others wrote: dds.py MODULE SCHEMA FOLDER.

SCHEMA says of each record what its fields are. Messages of the folder are read by the
holders and written by Cyclone in both versions of XCDR, then read by Cyclone and written
again."""

import dataclasses
import sys
from pathlib import Path
from typing import Optional

import named
from cyclonedds.idl import make_idl_enum, make_idl_struct
from cyclonedds.idl import types as idl
from cyclonedds.idl._main import Endianness
from cyclonedds.idl.annotations import bit_bound

holders, kinds = named.load(sys.argv[1])
NUMBERS = {
    "bool": bool, "u8": idl.uint8, "u16": idl.uint16, "u32": idl.uint32, "u64": idl.uint64,
    "i8": idl.int8, "i16": idl.int16, "i32": idl.int32, "i64": idl.int64,
    "f32": idl.float32, "f64": idl.float64,
}
EMPTY = {"string": "", "bytes": [], "bool": False, "f32": 0.0, "f64": 0.0}


class Version:
    """The types of one version of XCDR as Cyclone has them. What may be absent is
    said in version 1 as holders say it: by a flag, or a list of none or one."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.types: dict[str, tuple] = {}
        self.made: dict[str, type] = {}
        for line in Path(sys.argv[2]).read_text().splitlines():
            word, name, *parts = line.split("\t")
            if word == "enum":
                self.types[name] = self.enum(len(self.types), *parts)
            elif word == "record":
                self.types[name] = ("record", [])
                fields = self.types[name][1]
            else:
                fields.append((name, *parts))

    def enum(self, place: int, size: str) -> tuple:
        size = int(size)
        if self.number == 1 and size != 4:
            # There enums have four bytes; those of others are integers.
            return ("enum", size, {1: idl.uint8, 2: idl.uint16, 8: idl.uint64}[size])
        kind = make_idl_enum(f"Enum{place}", f"Enum{place}", {"A": 0})
        return ("enum", size, kind if size == 4 else bit_bound(8 * size)(kind))

    def element(self, kind: str):
        if kind in NUMBERS:
            return NUMBERS[kind]
        if kind == "string":
            return str
        if kind == "bytes":
            return idl.sequence[idl.uint8]
        word, _, name = kind.partition(":")
        return self.types[name][2] if word == "enum" else self.struct(name)

    def struct(self, name: str):
        if name in self.made:
            return self.made[name]
        fields = {}
        for at, (kind, card, count) in enumerate(self.types[name][1]):
            one = self.element(kind)
            if card == "list":
                one = idl.sequence[one, int(count)] if int(count) else idl.sequence[one]
            elif card == "array":
                one = idl.array[one, int(count)]
            elif card == "optional" and self.number == 2:
                one = Optional[one]
            elif card == "optional" and kind.startswith("record:"):
                one = idl.sequence[one, 1]
            elif card == "optional":
                fields[f"p{at}"] = bool
            fields[f"f{at}"] = one
        if not fields:
            # As ROS 2 has it.
            fields["structure_needs_at_least_one_member"] = idl.uint8
        called = f"Record{len(self.made)}"
        self.made[name] = make_idl_struct(called, called, fields)
        return self.made[name]

    def value(self, kind: str, value):
        if kind.startswith("record:"):
            return self.message(kind.partition(":")[2], value)
        if kind == "bytes":
            return list(bytes(value))
        if kind.startswith("enum:"):
            return int(value) % (1 << 8 * self.types[kind.partition(":")[2]][1])
        return value

    def message(self, name: str, holder):
        values = []
        members = [field.name for field in dataclasses.fields(holder)]
        described = self.types[name][1]
        assert len(members) == len(described), name
        for member, (kind, card, _) in zip(members, described):
            value = getattr(holder, member)
            if card in ("list", "array"):
                values.append([self.value(kind, one) for one in value])
            elif card == "optional" and self.number == 1:
                if kind.startswith("record:"):
                    values.append([] if value is None else [self.value(kind, value)])
                else:
                    empty = EMPTY.get(kind, 0)
                    values += [value is not None, empty if value is None else self.value(kind, value)]
            else:
                values.append(None if value is None else self.value(kind, value))
        return self.struct(name)(*(values or ([] if described else [0])))


count = 0
versions = Version(1), Version(2)
for file in sorted(Path(sys.argv[3]).glob("[0-9]*.type")):
    name = file.read_text()
    for version, end in zip(versions, (".cdr", ".xcdr2")):
        own = file.with_suffix(end).read_bytes()
        header = b"\0\1\0\0" if version.number == 1 else b"\0\7\0\0"
        kind, suffix = kinds[name], end[1:]
        holder = getattr(kind, f"deserialize_{suffix}")(own, header=False)
        headed = getattr(holder, f"serialize_{suffix}")()
        struct = version.struct(name)
        settings = {"use_version_2": version.number == 2, "endianness": Endianness.Little}
        theirs = version.message(name, holder).serialize(**settings)
        assert theirs == header + own, (
            f"{file.name}, {name}: {theirs.hex()} by Cyclone, {headed.hex()} by us")
        assert headed == theirs, file
        back = struct.deserialize(headed)
        assert back.serialize(**settings) == theirs, f"{file}: Cyclone reads another message"
    count += 1
print(count)
