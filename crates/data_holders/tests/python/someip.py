"""Holds holders against someipy, which others wrote: someip.py MODULE. It knows lists of what is
of one size, and counts the letters of a text and not their bytes."""

import sys
from dataclasses import dataclass, field

import named
from someipy import serialization as si

holders, kinds = named.load(sys.argv[1])


@dataclass
class Point(si.SomeIpPayload):
    x: si.Float32 = field(default_factory=si.Float32)
    kind: si.Uint8 = field(default_factory=si.Uint8)


@dataclass
class Scan(si.SomeIpPayload):
    flag: si.Bool = field(default_factory=si.Bool)
    small: si.Sint8 = field(default_factory=si.Sint8)
    middle: si.Uint16 = field(default_factory=si.Uint16)
    large: si.Sint32 = field(default_factory=si.Sint32)
    largest: si.Uint64 = field(default_factory=si.Uint64)
    real: si.Float64 = field(default_factory=si.Float64)
    name: si.SomeIpDynamicSizeString = field(default_factory=si.SomeIpDynamicSizeString)
    three: si.SomeIpFixedSizeArray = field(
        default_factory=lambda: si.SomeIpFixedSizeArray(si.Sint16, 3)
    )
    ranges: si.SomeIpDynamicSizeArray = field(
        default_factory=lambda: si.SomeIpDynamicSizeArray(si.Float32)
    )
    point: Point = field(default_factory=Point)
    points: si.SomeIpDynamicSizeArray = field(
        default_factory=lambda: si.SomeIpDynamicSizeArray(Point)
    )
    last: si.Uint8 = field(default_factory=si.Uint8)


def theirs(count):
    """A message with so many elements in its lists, as someipy has it."""
    scan = Scan()
    scan.flag.value = count % 2 == 0
    scan.small.value, scan.middle.value = -count, 0x1234 + count
    scan.large.value, scan.largest.value = -0x1234567 - count, 0x123456789ABCDEF0 + count
    scan.real.value, scan.last.value = 0.1 + count, 200 + count
    scan.name.data = "name" * count
    for at, one in enumerate(scan.three.data):
        one.value = at - count
    scan.ranges.data = [si.Float32(at + 0.5) for at in range(count)]
    scan.point.x.value, scan.point.kind.value = 1.5, count
    scan.points.data = [Point(si.Float32(at - 0.25), si.Uint8(at)) for at in range(count)]
    return scan


def ours(scan):
    """The same message as our holder has it."""
    point = lambda one: holders.Point(one.x.value, one.kind.value)
    return holders.Scan(
        scan.flag.value, scan.small.value, scan.middle.value, scan.large.value,
        scan.largest.value, scan.real.value, scan.name.data,
        [one.value for one in scan.three.data], [one.value for one in scan.ranges.data],
        point(scan.point), [point(one) for one in scan.points.data], scan.last.value,
    )  # fmt: skip


for count in range(4):
    scan = theirs(count)
    data = scan.serialize()
    message = ours(scan)
    assert message.serialize_someip() == data, (message.serialize_someip().hex(), data.hex())
    assert holders.Scan.deserialize_someip(data) == message, count
    assert ours(Scan().deserialize(message.serialize_someip())) == message, count
print(count + 1)
