"""Makes the recordings that are read: make.py FOLDER PACKAGES, where wiregauge is in the second."""

import os
import random
import struct
import sys

import numpy as np
from mcap.writer import CompressionType, Writer
from osi3.osi_groundtruth_pb2 import GroundTruth
from osi3.osi_sensorview_pb2 import SensorView

FOLDER = sys.argv[1]
sys.path.insert(0, sys.argv[2])
LINE = "\n" + 80 * "=" + "\nMSG: "
HEADER = (
    LINE + "std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" +
    LINE + "builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
)
CLOUD = (
    "std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\n"
    "uint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n" + HEADER + LINE +
    "sensor_msgs/PointField\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n"
)
RETURNS = (
    "std_msgs/Header header\nReturn[] returns\n" + HEADER + LINE +
    "lab_msgs/Return\nfloat32 x\nfloat32 y\nfloat32 z\nfloat32 intensity\nuint32 time\n"
    "uint16 ring\nuint16 flags\n"
)


class Cdr:
    """A message in CDR."""

    def __init__(self):
        self.out = bytearray(b"\0\1\0\0")

    def number(self, value):
        self.out.extend(bytes(-(len(self.out) - 4) % 4) + struct.pack("<I", value))

    def text(self, value):
        self.number(len(value) + 1)
        self.out.extend(value.encode() + b"\0")

    def header(self, n):
        self.number(n // 10)
        self.number(n % 10 * 100_000_000)
        self.text("lidar")


def cloud(n, points, rng):
    """A rotating scan: x, y, z and intensity."""
    data = np.empty((points, 4), "<f4")
    angles = np.linspace(0, 2 * np.pi, points, dtype="f4")
    ranges = 20 + 5 * np.sin(angles * 7 + n) + rng.normal(0, 0.02, points).astype("f4")
    data[:, 0], data[:, 1] = ranges * np.cos(angles), ranges * np.sin(angles)
    data[:, 2], data[:, 3] = rng.normal(0, 1, points), rng.integers(0, 255, points)
    message = Cdr()
    message.header(n)
    for value in (1, points, 4):
        message.number(value)
    for at, name in enumerate("xyzi"):
        message.text(name)
        message.number(4 * at)
        message.out.append(7)
        message.number(1)
    message.out.append(0)
    for value in (16, 16 * points, 16 * points):
        message.number(value)
    message.out.extend(data.tobytes() + b"\1")
    return bytes(message.out)


def returns(n, count, rng):
    """A list of records of 24 bytes."""
    kinds = [("f", "<f4", 4), ("time", "<u4"), ("ring", "<u2"), ("flags", "<u2")]
    data = np.zeros(count, kinds)
    data["f"] = rng.normal(0, 10, (count, 4))
    data["time"], data["ring"] = np.arange(count), rng.integers(0, 128, count)
    message = Cdr()
    message.header(n)
    message.number(count)
    message.out.extend(data.tobytes())
    return bytes(message.out)


def write(name, compression, schema, topic, messages):
    """A recording of a channel, with twenty small messages between each two of it."""
    writer = Writer(os.path.join(FOLDER, name), chunk_size=1 << 20, compression=compression)
    writer.start()
    kind = writer.register_schema(schema[0], "ros2msg", schema[1].encode())
    channel = writer.register_channel(topic, "cdr", kind)
    small = writer.register_schema("std_msgs/msg/UInt32", "ros2msg", b"uint32 data\n")
    small = writer.register_channel("/small", "cdr", small)
    for n, message in enumerate(messages):
        time = n * 100_000_000
        writer.add_message(channel, time, message, time)
        for k in range(20):
            data = b"\0\1\0\0" + struct.pack("<I", k)
            writer.add_message(small, time + k * 5_000_000, data, time)
    writer.finish()


def trace(name, messages):
    """A trace file of OSI."""
    with open(os.path.join(FOLDER, name), "wb") as out:
        for message in messages:
            out.write(struct.pack("<I", len(message)) + message)


def ground_truth(n):
    """Two hundred objects."""
    m = GroundTruth()
    m.version.version_major, m.version.version_minor, m.version.version_patch = 3, 8, 0
    m.timestamp.seconds, m.timestamp.nanos = n // 100, n % 100 * 10_000_000
    for k in range(200):
        o = m.moving_object.add()
        o.id.value, o.type = k, 2
        b = o.base
        for v in (b.position, b.velocity, b.acceleration):
            v.x, v.y, v.z = random.random(), random.random(), random.random()
        b.orientation.yaw = random.random()
        b.dimension.length, b.dimension.width, b.dimension.height = 4, 2, 1.5
    return m.SerializeToString()


def view_of(n):
    m = SensorView()
    m.version.version_major, m.version.version_minor, m.version.version_patch = 3, 8, 0
    m.timestamp.seconds, m.timestamp.nanos = n // 10, n % 10 * 100_000_000
    return m, m.lidar_sensor_view.add()


def two_numbers(n):
    """Reflections of a lidar, with two numbers each."""
    m, view = view_of(n)
    for _ in range(100_000):
        view.reflection.add(signal_strength=random.random(), time_of_flight=random.random())
    return m.SerializeToString()


def all_fields(n):
    """Reflections with all that OSI has; the numbers of their objects have one or two bytes."""
    m, view = view_of(n)
    for _ in range(100_000):
        one = view.reflection.add(signal_strength=random.random(), time_of_flight=random.random())
        one.doppler_shift, one.object_id.value = random.random(), random.randrange(256)
        normal = one.normal_to_surface
        normal.x, normal.y, normal.z = random.random(), random.random(), random.random()
    return m.SerializeToString()


def packed(n):
    """Reflections with two numbers each, in the packed field."""
    from wiregauge.packed import Column, Message

    names = ("signal_strength", "time_of_flight")
    message = Message("SensorView")
    message.add("lidar_reflections", [Column(name) for name in names], 100_000)
    data, tables = message.write()
    for name in names:
        tables[0].column(name)[:] = np.random.default_rng(n).random(100_000)
    return bytes(data)


random.seed(1)
for name, compression in (("plain", CompressionType.NONE), ("zstd", CompressionType.ZSTD)):
    rng = np.random.default_rng(1)
    clouds = (cloud(n, 120_000, rng) for n in range(120))
    schema = ("sensor_msgs/msg/PointCloud2", CLOUD)
    write(f"{name}.mcap", compression, schema, "/points", clouds)
rng = np.random.default_rng(1)
lists = (returns(n, 3_225, rng) for n in range(100))
write("returns.mcap", CompressionType.NONE, ("lab_msgs/msg/Returns", RETURNS), "/returns", lists)
trace("20240101T000000Z_gt_380_32112_2000_made.osi", map(ground_truth, range(2000)))
for name, make in (("two", two_numbers), ("all", all_fields), ("packed", packed)):
    trace(f"20240101T000000Z_sv_380_32112_20_{name}.osi", map(make, range(20)))
