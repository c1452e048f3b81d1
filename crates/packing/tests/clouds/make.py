"""Writes the clouds of this folder anew, by the libraries of requirements.txt.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python make.py
    wiregauge packed pack ros2.mcap -o /tmp/ros2.mcap --preset lidar-exact
    wiregauge packed pack ros1.mcap -o /tmp/ros1.mcap --preset lidar-exact
    venv/bin/python make.py /tmp/ros2.mcap /tmp/ros1.mcap

The second time it reads what wiregauge packed as CompressedPointCloud2, holds it
against the cloud that it is of, and writes the message itself: what the tests want.
"""

import struct
import sys
from pathlib import Path

import numpy
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

HERE = Path(__file__).parent
PLAIN = "sensor_msgs/msg/PointCloud2"
PACKED = "point_cloud_interfaces/msg/CompressedPointCloud2"
TEXT = """std_msgs/Header header
uint32 height
uint32 width
sensor_msgs/PointField[] fields
bool is_bigendian
uint32 point_step
uint32 row_step
uint8[] compressed_data
bool is_dense
string format
"""


def store_of(version):
    store = get_typestore(Stores.ROS1_NOETIC if version == 1 else Stores.ROS2_JAZZY)
    store.register(get_types_from_msg(TEXT, PACKED))
    return store


# Name, offset, type of PointField, count, as struct has it.
FIELDS = [("x", 0, 7, 1, "f"), ("y", 4, 7, 1, "f"), ("z", 8, 7, 1, "f"), ("t", 16, 8, 1, "d")]
FIELDS += [("ring", 24, 4, 0, "H"), ("normal", 26, 1, 3, "3b")]
STEP = 31


def point(i, order):
    values = [(0.1 * i,), (-1.0 * i,), (float("nan") if i % 5 == 0 else i / 3,), (1e9 + i * 1e-5,)]
    values += [(i % 16,), (i % 7 - 3, 1, -1)]
    out = bytearray(STEP)
    for (_, offset, _, _, code), of in zip(FIELDS, values):
        struct.pack_into(order + code, out, offset, *of)
    out[13] = i % 3  # What lies between the fields is kept as well.
    return bytes(out)


def cloud(store, n, big_endian):
    types = store.types
    height, width = (2, 30) if n == 1 else (1, 7 * n)
    stamp = types["builtin_interfaces/msg/Time"](sec=n, nanosec=5)
    own = {"seq": n} if "seq" in types["std_msgs/msg/Header"].__dataclass_fields__ else {}
    header = types["std_msgs/msg/Header"](stamp=stamp, frame_id="lidar"[:n], **own)
    fields = [
        types["sensor_msgs/msg/PointField"](name=name, offset=offset, datatype=kind, count=count)
        for name, offset, kind, count, _ in FIELDS
    ]
    data = b"".join(point(i, ">" if big_endian else "<") for i in range(height * width))
    return types[PLAIN](
        header=header,
        height=height,
        width=width,
        fields=fields,
        is_bigendian=big_endian,
        point_step=STEP,
        row_step=STEP * width,
        data=numpy.frombuffer(data, numpy.uint8),
        is_dense=False,
    )


def messages(version):
    """Small clouds in all byte orders, of the message and of the points."""
    store = store_of(version)
    for n in range(4):
        for little_endian in (True, False) if version == 2 else (True,):
            yield store, cloud(store, n, big_endian=n == 2), little_endian


def serialized(store, message, name, version, little_endian):
    if version == 1:
        return bytes(store.serialize_ros1(message, name))
    return bytes(store.serialize_cdr(message, name, little_endian=little_endian))


def write(path, version, name, contents):
    store = store_of(version)
    text, _ = store.generate_msgdef(name, ros_version=version)
    with open(path, "wb") as file:
        out = Writer(file, compression=CompressionType.ZSTD)
        out.start(f"ros{version}", "make.py")
        shown = name if version == 2 else name.replace("/msg/", "/")
        schema = out.register_schema(shown, f"ros{version}msg", text.encode())
        encoding = "cdr" if version == 2 else "ros1"
        channel = out.register_channel("/points", encoding, schema, {"topic_type_hash": "a hash"})
        other = out.register_channel("/other", "json", 0)
        out.add_message(other, 0, b"{}", 0)
        for n, content in enumerate(contents):
            out.add_message(channel, 1000 + n, content, 1000 + n)
        out.finish()


def check(path, version):
    """What was packed, as the library writes it."""
    with open(path, "rb") as file:
        packed = [m.data for _, c, m in make_reader(file).iter_messages() if c.topic == "/points"]
    for (store, given, little_endian), data in zip(messages(version), packed, strict=True):
        read = store.deserialize_ros1 if version == 1 else store.deserialize_cdr
        found = read(data, PACKED)
        for name in PLAIN_FIELDS:
            assert getattr(found, name) == getattr(given, name), name
        assert found.format == "wgpacked" and bytes(found.compressed_data[:8]) == b"WGPACKED"
        yield serialized(store, found, PACKED, version, little_endian)


PLAIN_FIELDS = ["header", "height", "width", "fields", "is_bigendian", "point_step", "row_step"]
PLAIN_FIELDS += ["is_dense"]

for version, packed in zip((2, 1), sys.argv[1:] or (None, None)):
    if packed:
        write(HERE / f"ros{version}.packed.mcap", version, PACKED, list(check(packed, version)))
    else:
        contents = [
            serialized(store, message, PLAIN, version, little_endian)
            for store, message, little_endian in messages(version)
        ]
        write(HERE / f"ros{version}.mcap", version, PLAIN, contents)
