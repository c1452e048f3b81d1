"""Writes recordings for tests: MCAP with messages of ROS 2, chunk by chunk."""

import struct
import zlib

MAGIC = b"\x89MCAP0\r\n"
DEFINITION = "uint32 number\nfloat64 value\nItem[] items\n{}\nMSG: car/Item\nuint8 id\nfloat32 x\n"
#: Other fields under the same names, as after a change of the recorder.
CHANGED = "uint32 number\nfloat32 value\nItem[] items\n{}\nMSG: car/Item\nuint8 id\nfloat32 x\n"

CLOUD = (
    "std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\n"
    "bool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n"
    "{0}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
    "{0}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
    "{0}\nMSG: sensor_msgs/PointField\nstring name\nuint32 offset\nuint8 datatype\n"
    "uint32 count\n"
).format("=" * 80)


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def record(opcode, *fields):
    data = b"".join(fields)
    return struct.pack("<BQ", opcode, len(data)) + data


def state(number, items, changed=False):
    """A message: number, a value, and items as (id, x)."""
    data = bytearray(struct.pack("<BBH", 0, 1, 0) + struct.pack("<I", number))
    data += struct.pack("<f", number / 2) if changed else struct.pack("<4xd", number / 2)
    data += struct.pack("<I", len(items))
    for identity, x in items:
        data += struct.pack("<B", identity)
        data += bytes(-(len(data) - 4) % 4) + struct.pack("<f", x)
    return bytes(data)


def cloud(points, names=("x", "y", "z", "ring")):
    """A PointCloud2 of (x, y, z, ring): three floats and a byte, in steps of 16 bytes."""
    data = bytearray(struct.pack("<BBH", 0, 1, 0))

    def number(value):
        data.extend(bytes(-(len(data) - 4) % 4) + struct.pack("<I", value))

    def name(value):
        number(len(value) + 1)
        data.extend(value.encode() + b"\0")

    for value in (0, 0):
        number(value)
    name("lidar")
    for value in (1, len(points), 4):
        number(value)
    for offset, called, kind in zip((0, 4, 8, 12), names, (7, 7, 7, 2)):
        name(called)
        number(offset)
        data.append(kind)
        number(1)
    data.append(0)
    for value in (16, 16 * len(points), 16 * len(points)):
        number(value)
    for point in points:
        data.extend(struct.pack("<fffB3x", *point))
    return bytes(data + b"\1")


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def osi_field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def osi_view(second, sensors):
    """A SensorView of this second: for each LiDAR the strengths of its reflections."""
    lists = [
        b"".join(osi_field(2, b"\x09" + struct.pack("<d", strength)) for strength in strengths)
        for strengths in sensors
    ]
    return osi_field(2, b"\x08" + varint(second)) + b"".join(osi_field(1002, one) for one in lists)


def write_osi(path, messages):
    """A trace of OSI: each message behind its length."""
    path.write_bytes(b"".join(struct.pack("<I", len(one)) + bytes(one) for one in messages))


class Recording:
    """An MCAP file that is written: add messages, end chunks, finish."""

    def __init__(self, path, topics=("/state", "/other"), changed=False, compress=None,
                 kind="car/msg/State", definition=None):  # fmt: skip
        self.file = open(path, "wb")
        self.changed, self.compress = changed, compress
        definition = definition or (CHANGED if changed else DEFINITION).format("=" * 80)
        definition = definition.encode()
        self.channels = [
            record(3, struct.pack("<H", 1), text(kind), text("ros2msg"),
                   struct.pack("<I", len(definition)), definition)
        ] + [
            record(4, struct.pack("<HH", number + 1, 1), text(topic), text("cdr"),
                   struct.pack("<I", 0))
            for number, topic in enumerate(topics)
        ]  # fmt: skip
        self.counts = {number + 1: 0 for number in range(len(topics))}
        self.chunks, self.times = [], []
        self.write(MAGIC + record(1, text("ros2"), text("tests")))
        self.begin()

    def write(self, data):
        at = self.file.tell()
        self.file.write(data)
        return at

    def begin(self):
        self.records = bytearray(b"" if self.chunks else b"".join(self.channels))
        self.index = {}

    def add(self, channel, time, number, items):
        self.add_bytes(channel, time, number, state(number, items, self.changed))

    def add_bytes(self, channel, time, number, data):
        self.index.setdefault(channel, []).append((time, len(self.records)))
        self.records += record(5, struct.pack("<HIQQ", channel, number, time, time), data)
        self.counts[channel] += 1
        self.times.append(time)

    def end_chunk(self):
        if not self.index:
            return
        times = [time for entries in self.index.values() for time, _ in entries]
        span, raw = struct.pack("<QQ", min(times), max(times)), bytes(self.records)
        name, packed = self.compress(raw) if self.compress else ("", raw)
        sizes = struct.pack("<QI", len(raw), zlib.crc32(raw))
        chunk = record(6, span, sizes, text(name), struct.pack("<Q", len(packed)), packed)
        at, places = self.write(chunk), b""
        for channel, entries in sorted(self.index.items()):
            pairs = b"".join(struct.pack("<QQ", *entry) for entry in entries)
            index = record(7, struct.pack("<HI", channel, len(pairs)), pairs)
            places += struct.pack("<HQ", channel, self.write(index))
        length = self.file.tell() - at - len(chunk)
        self.chunks.append(
            record(8, span, struct.pack("<QQ", at, len(chunk)), struct.pack("<I", len(places)),
                   places, struct.pack("<Q", length), text(name),
                   struct.pack("<QQ", len(packed), len(raw)))
        )  # fmt: skip
        self.begin()

    def finish(self, summary=True):
        self.end_chunk()
        self.write(record(15, struct.pack("<I", 0)))
        at = self.file.tell()
        if summary:
            counts = b"".join(struct.pack("<HQ", *count) for count in self.counts.items())
            numbers = (sum(self.counts.values()), 1, len(self.counts), 0, 0, len(self.chunks))
            span = (min(self.times, default=0), max(self.times, default=0))
            fields = struct.pack("<QHIIIIQQ", *numbers, *span)
            statistics = record(11, fields, struct.pack("<I", len(counts)), counts)
            self.write(b"".join(self.channels + self.chunks) + statistics)
        self.write(record(2, struct.pack("<QQI", at if summary else 0, 0, 0)) + MAGIC)
        self.file.close()


def write_recording(path, random, messages=200, chunk=10, start=0, summary=True, **how):
    """A recording whose times go to and fro; its messages of /state as (time, number, items)."""
    recording, told = Recording(path, **how), []
    for number in range(messages):
        channel = 1 if random.random() < 0.7 else 2
        time = start + number * 1000 + random.randrange(-4000, 4000) + 10_000
        items = [(k, k + number / 8) for k in range(random.randrange(5))]
        recording.add(channel, time, number, items)
        if channel == 1:
            told.append((time, number, items))
        if number % chunk == chunk - 1:
            recording.end_chunk()
    recording.finish(summary)
    return told


def write_clouds(path, clouds, topic="/points", names=("x", "y", "z", "ring"), end_chunk=lambda: True):
    """A recording of clouds, each of a time and its points; a chunk each, unless it says no."""
    how = {"kind": "sensor_msgs/msg/PointCloud2", "definition": CLOUD}
    recording = Recording(path, topics=(topic,), **how)
    for number, (time, points) in enumerate(clouds):
        recording.add_bytes(1, time, number, cloud(points, names))
        if end_chunk():
            recording.end_chunk()
    recording.finish()
