"""Holds generated holders against rosbags, for all of its definitions: bytes, both
ways, every truncation, md5 sums and hashes: published.py MODULE ROS SEED FOLDER.

The bytes that agree are left in the folder for other languages."""

import random
import sys
from pathlib import Path
from typing import Any

import named
import numpy
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore

path, version, seed, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
chance = random.Random(seed)
types = get_typestore(Stores.ROS1_NOETIC if version == 1 else Stores.ROS2_JAZZY)

holders, kinds = named.load(path)

# rosbags takes `char` for a kind of its own; rosidl makes a uint8 of it. These are
# the hashes that ROS 2 publishes.
CHARS = {
    "std_msgs/msg/Char": (
        "RIHS01_3ad2d04dd29ba19d04b16659afa3ccaedd691914b02a64e82e252f2fa6a586a9"
    ),
    "service_msgs/msg/ServiceEventInfo": (
        "RIHS01_41bcbbe07a75c9b52bc96bfd5c24d7f0fc0a08c0cb7921b3373c5732345a6f45"
    ),
}


def called(own: str) -> str:
    """What rosbags calls a type of either ROS."""
    if own in ("time", "duration"):
        return f"builtin_interfaces/msg/{own.capitalize()}"
    return own if "/msg/" in own else own.replace("/", "/msg/")


originals = {called(own): own for own in kinds}
ours = {called(own): kind for own, kind in kinds.items()}


def number(kind: str) -> Any:
    if kind == "bool":
        return chance.random() < 0.5
    if kind == "string":
        return "".join(chance.choice("abcäß€ _") for _ in range(chance.randrange(9)))
    if kind == "float32":
        return float(numpy.float32(chance.uniform(-1e6, 1e6)))
    if kind == "float64":
        return chance.uniform(-1e9, 1e9)
    if kind == "byte":
        # In rosbags always signed, which it is in ROS 1 alone.
        return chance.randrange(128)
    about = numpy.iinfo("uint8" if kind in ("char", "octet") else kind)
    return chance.choice([int(about.min), int(about.max), chance.randint(about.min, about.max)])


def pair(description: Any, full: bool) -> tuple[Any, Any]:
    """The same value in rosbags' types and in ours."""
    kind, about = description
    if kind == Nodetype.BASE:
        value = number(about[0])
        return value, value
    if kind == Nodetype.NAME:
        return message(about, full)
    inner, length = about
    count = length if kind == Nodetype.ARRAY else chance.randrange(4) if full else 0
    if length:
        count = min(count, length)
    pairs = [pair(inner, full) for _ in range(count)]
    theirs, own = [one for one, _ in pairs], [one for _, one in pairs]
    if inner[0] != Nodetype.BASE or inner[1][0] == "string":
        return theirs, own
    name = inner[1][0]
    array = numpy.array(theirs, dtype={"byte": "uint8", "char": "uint8"}.get(name, name))
    octets = name in ("uint8", "char") or (name == "byte" and version == 2)
    if octets and kind == Nodetype.SEQUENCE and not length:
        return array, bytes(own)
    # NumPy's arrays are taken as they are.
    return array, own if name in ("bool", "byte") or chance.random() < 0.5 else array


def message(name: str, full: bool) -> tuple[Any, Any]:
    if name.startswith("builtin_interfaces/"):
        # Its seconds are signed, and those of ROS 1 are not.
        parts = chance.randrange(2**31), chance.randrange(10**9)
        return types.types[name](*parts), ours[name](*parts)
    fields = types.fielddefs[name][1]
    if fields and fields[0][0] == "structure_needs_at_least_one_member":
        return types.types[name](0), ours[name]()
    pairs = [pair(description, full) for _, description in fields]
    theirs, own = [one for one, _ in pairs], [one for _, one in pairs]
    return types.types[name](*theirs), ours[name](*own)


def check(name: str, kind: Any, theirs: bytes, own: bytes, read: Any, value: Any) -> None:
    assert theirs == own, f"{name}: {theirs.hex()} by rosbags, {own.hex()} by us"
    # What is read is written as it was, and equal to what was written.
    for view in (False, True):
        back = read(theirs, view=view)
        assert back == value, f"{name}: {back} is not {value}"
    cuts = range(len(theirs))
    for cut in cuts if len(theirs) < 300 else chance.sample(cuts, 100):
        try:
            read(theirs[:cut])
        except holders.WireError:
            continue
        raise AssertionError(f"{name}: {cut} of {len(theirs)} bytes are taken for a message")


count = 0
for name in sorted(types.fielddefs):
    if version == 1 and name.startswith("builtin_interfaces/"):
        continue
    kind = ours[name]
    if version == 1:
        assert kind.ROS1_MD5 == types.generate_msgdef(name, ros_version=1)[1], name
    elif "'char'" not in str(types.fielddefs[name]) and "Entities" not in name:
        assert kind.ROS2_HASH == types.hash_rihs01(name), name
    elif name in CHARS:
        assert kind.ROS2_HASH == CHARS.pop(name), name
    for full in (False, True, True):
        theirs, own = message(name, full)
        cdr = bytes(types.serialize_cdr(theirs, name))
        check(name, kind, cdr, own.serialize_cdr(), kind.deserialize_cdr, own)
        assert own.serialize_cdr(header=False) == cdr[4:], name
        ros = bytes(types.serialize_ros1(theirs, name))
        check(name, kind, ros, own.serialize_ros_msg(), kind.deserialize_ros_msg, own)
        stem = f"{count:04}"
        (folder / f"{stem}.type").write_text(originals[name])
        (folder / f"{stem}.cdr").write_bytes(cdr[4:])
        (folder / f"{stem}.ros_msg").write_bytes(ros)
        # What rosbags does not write; Cyclone is asked by another program.
        (folder / f"{stem}.xcdr2").write_bytes(own.serialize_xcdr2(header=False))
        count += 1
assert version == 1 or not CHARS, CHARS
print(count)
