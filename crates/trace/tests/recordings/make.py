"""Writes the recordings of this folder anew, by the libraries of requirements.txt.

python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python make.py

The same versions write the same bytes. The values are made up; the tests know them.
"""

import json
import shutil
import struct
from pathlib import Path

import numpy
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from mcap.writer import CompressionType, IndexType, Writer as Mcap
from osi3 import osi_object_pb2, osi_sensordata_pb2, osi_sensorview_pb2
from osi3trace.osi_trace import OSITrace
from rosbags import rosbag1, rosbag2
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

HERE = Path(__file__).parent
FIELD = descriptor_pb2.FieldDescriptorProto
ENUM = FIELD.TYPE_ENUM
NONE, LZ4, ZSTD = CompressionType.NONE, CompressionType.LZ4, CompressionType.ZSTD

# ROS: small messages that have what is easily got wrong, and two like a lidar's.
STAMP = {"ROS 1": "time stamp\n", "ROS 2": "builtin_interfaces/Time stamp\n"}
MESSAGES = {
    "p/msg/Pair": "uint16 x\nfloat64 y\n",
    "p/msg/Scan": "int8 b\nstring name\nfloat32[] xs\np/Pair[2] pairs\n",
    "p/msg/Point": "float32[3] position\nuint8 intensity\n",
    "p/msg/Sweep": "{stamp}string frame\np/Point[] points\n",
    "p/msg/Cloud": "{stamp}string frame\nuint32 point_step\nuint8[] data\n",
}
SCANS = 10


def ros(version):
    """The messages in a dialect of ROS."""
    store = get_typestore(Stores.ROS1_NOETIC if version == "ROS 1" else Stores.ROS2_JAZZY)
    for name, text in MESSAGES.items():
        # A scan of ROS 1 has a time of its own.
        text = text.replace("{stamp}", STAMP[version])
        if version == "ROS 1" and name == "p/msg/Scan":
            text = STAMP[version] + text
        store.register(get_types_from_msg(text, name))
    return store


ROS1, ROS2 = ros("ROS 1"), ros("ROS 2")


def time(store, n):
    return store.types["builtin_interfaces/msg/Time"](sec=n, nanosec=5)


def scan(store, n):
    pair, scan = store.types["p/msg/Pair"], store.types["p/msg/Scan"]
    own = {"stamp": time(store, n)} if store is ROS1 else {}
    xs = numpy.full(n, 0.5, numpy.float32)
    return scan(b=-1, name=f"s{n}", xs=xs, pairs=[pair(1, 1.5), pair(2, 2.5)], **own)


def points(n):
    """The points of a lidar's turn: one more each."""
    return [((i + 0.5, -i - 0.5, n), 10 * i + n) for i in range(5 + n)]


def sweep(store, n):
    point = store.types["p/msg/Point"]
    all = [point(numpy.array(at, numpy.float32), intensity) for at, intensity in points(n)]
    return store.types["p/msg/Sweep"](stamp=time(store, n), frame="lidar", points=all)


def cloud(store, n):
    data = b"".join(struct.pack("<3fB3x", *at, intensity) for at, intensity in points(n))
    cloud = store.types["p/msg/Cloud"]
    data = numpy.frombuffer(data, numpy.uint8)
    return cloud(stamp=time(store, n), frame="lidar", point_step=16, data=data)


def bag1(path, compression):
    bag = rosbag1.Writer(path)
    if compression:
        bag.set_compression(compression)
    with bag:
        to = bag.add_connection("/scan", "p/msg/Scan", typestore=ROS1)
        bag.add_connection("/empty", "p/msg/Pair", typestore=ROS1)
        for n in range(SCANS):
            bag.write(to, 1000 * n, ROS1.serialize_ros1(scan(ROS1, n), "p/msg/Scan"))


def bag2(path, plugin, mode):
    bag = rosbag2.Writer(path, version=9, storage_plugin=plugin)
    if mode:
        bag.set_compression(mode, rosbag2.CompressionFormat.ZSTD)
    with bag:
        to = bag.add_connection("/scan", "p/msg/Scan", typestore=ROS2)
        bag.add_connection("/empty", "p/msg/Pair", typestore=ROS2)
        for n in range(SCANS):
            bag.write(to, 1000 * n, ROS2.serialize_cdr(scan(ROS2, n), "p/msg/Scan"))


def mcap(path, channels, metadata=(), **options):
    """Channels are (topic, message encoding, schema or None, messages, metadata);
    a schema is (name, encoding, definition)."""
    with open(path, "wb") as file:
        writer = Mcap(file, **options)
        writer.start()
        for name, entries in metadata:
            writer.add_metadata(name, entries)
        known = {}
        for topic, encoding, schema, messages, about in channels:
            if schema and schema not in known:
                known[schema] = writer.register_schema(*schema)
            to = writer.register_channel(topic, encoding, known.get(schema, 0), about)
            for n, (at, data) in enumerate(messages):
                writer.add_message(to, at, data, at, n)
        writer.finish()


def ros_channel(store, topic, name, messages, little_endian=True):
    definition, _ = store.generate_msgdef(name, ros_version=1 if store is ROS1 else 2)
    if store is ROS1:
        encodings = ("ros1", "ros1msg")
        name_there = name.replace("/msg/", "/")
        encoded = [store.serialize_ros1(message, name) for message in messages]
    else:
        encodings = ("cdr", "ros2msg")
        name_there = name
        encoded = [store.serialize_cdr(m, name, little_endian=little_endian) for m in messages]
    schema = (name_there, encodings[1], definition.encode())
    timed = [(1000 * n, bytes(data)) for n, data in enumerate(encoded)]
    return (topic, encodings[0], schema, timed, {})


def scans(store):
    return [scan(store, n) for n in range(SCANS)]


def turns(store):
    """Three turns of a lidar, as a list of structures and as a block of bytes."""
    return [
        ros_channel(store, "/sweep", "p/msg/Sweep", [sweep(store, n) for n in range(3)]),
        ros_channel(store, "/cloud", "p/msg/Cloud", [cloud(store, n) for n in range(3)]),
    ]


def mcaps_of_ros(folder):
    ros2 = [
        ros_channel(ROS2, "/scan", "p/msg/Scan", scans(ROS2)),
        ros_channel(ROS2, "/big_endian", "p/msg/Scan", scans(ROS2), little_endian=False),
        *turns(ROS2),
        ros_channel(ROS2, "/empty", "p/msg/Pair", []),
    ]
    mcap(folder / "ros2-zstd.mcap", ros2, compression=ZSTD)
    mcap(folder / "ros2-lz4.mcap", ros2, compression=LZ4)
    mcap(folder / "ros2-chunks.mcap", ros2, compression=NONE)
    # As a recorder leaves it that writes neither chunks nor index nor summary.
    bare = dict(use_statistics=False, use_summary_offsets=False, index_types=IndexType.NONE)
    bare |= dict(repeat_channels=False, repeat_schemas=False, use_chunking=False)
    mcap(folder / "ros2-bare.mcap", ros2, **bare)
    scan1 = ros_channel(ROS1, "/scan", "p/msg/Scan", scans(ROS1))
    empty1 = ros_channel(ROS1, "/empty", "p/msg/Pair", [])
    mcap(folder / "ros1.mcap", [scan1, empty1])


def others(folder):
    """Definitions that are not read: OMG IDL, FlatBuffers, JSON, and none at all."""
    idl = b"module p { module msg { struct Pair { uint16 x; double y; }; }; };"
    pair = ROS2.types["p/msg/Pair"](3, 4.5)
    cdr = bytes(ROS2.serialize_cdr(pair, "p/msg/Pair"))
    schema = json.dumps({"type": "object", "properties": {"x": {"type": "integer"}}})
    channels = [
        ("/idl", "cdr", ("p/msg/Pair", "ros2idl", idl), [(0, cdr)], {}),
        ("/json", "json", ("Pair", "jsonschema", schema.encode()), [(1, b'{"x": 3}')], {}),
        # Neither is decoded, so that the bytes need not be of their format.
        ("/flatbuffer", "flatbuffer", ("p.Pair", "flatbuffer", b"no schema"), [(2, b"xy")], {}),
        ("/none", "cdr", None, [(3, cdr)], {}),
    ]
    mcap(folder / "others.mcap", channels)


def add(message, number, name, kind, label=FIELD.LABEL_OPTIONAL, type_name=None, **more):
    message.field.add(
        name=name, number=number, type=kind, label=label, type_name=type_name, **more
    )


def all_of_protobuf():
    """A message with what Protobuf has: presence, oneof, map, enum, nesting."""
    file = descriptor_pb2.FileDescriptorProto(name="all.proto", package="p", syntax="proto3")
    all = file.message_type.add(name="All")
    inner = all.nested_type.add(name="Inner")
    add(inner, 1, "x", FIELD.TYPE_SINT32)
    entry = all.nested_type.add(name="NamedEntry")
    entry.options.map_entry = True
    add(entry, 1, "key", FIELD.TYPE_STRING)
    add(entry, 2, "value", FIELD.TYPE_MESSAGE, type_name=".p.All.Inner")
    kind = all.enum_type.add(name="Kind")
    kind.value.add(name="UNKNOWN", number=0)
    kind.value.add(name="CAR", number=5)
    add(all, 1, "n", FIELD.TYPE_UINT64)
    add(all, 2, "text", FIELD.TYPE_STRING)
    add(all, 3, "blob", FIELD.TYPE_BYTES)
    add(all, 4, "ys", FIELD.TYPE_DOUBLE, FIELD.LABEL_REPEATED)
    add(all, 5, "inner", FIELD.TYPE_MESSAGE, FIELD.LABEL_REPEATED, ".p.All.Inner")
    add(all, 6, "named", FIELD.TYPE_MESSAGE, FIELD.LABEL_REPEATED, ".p.All.NamedEntry")
    add(all, 7, "kind", ENUM, type_name=".p.All.Kind")
    all.oneof_decl.add(name="choice")
    add(all, 8, "a", FIELD.TYPE_FIXED32, oneof_index=0)
    add(all, 9, "b", FIELD.TYPE_STRING, oneof_index=0)
    all.oneof_decl.add(name="_maybe")
    add(all, 10, "maybe", FIELD.TYPE_BOOL, oneof_index=1, proto3_optional=True)
    return file


def mcap_of_protobuf(folder):
    file = all_of_protobuf()
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    All = message_factory.GetMessageClass(pool.FindMessageTypeByName("p.All"))
    full = All(n=2**63, text="grüß", blob=b"\0\xff", ys=[0.5, -1.5], kind=5, b="chosen")
    full.inner.add(x=-7)
    full.named["one"].x = 1
    full.named["two"].x = 2
    full.maybe = False
    definition = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    messages = [(0, All().SerializeToString()), (1, full.SerializeToString(deterministic=True))]
    channel = ("/all", "protobuf", ("p.All", "protobuf", definition), messages, {})
    mcap(folder / "protobuf.mcap", [channel])


# OSI: the messages are written by the official package. Their definition in the
# recordings is the part of OSI's that is named here, which keeps them small.
OSI = {
    "InterfaceVersion": ["version_major", "version_minor", "version_patch"],
    "Timestamp": ["seconds", "nanos"],
    "Vector3d": ["x", "y", "z"],
    "Identifier": ["value"],
    "Orientation3d": ["roll", "pitch", "yaw"],
    "BaseMoving": ["position", "orientation"],
    "MovingObject": ["id", "base", "type"],
    "GroundTruth": ["version", "timestamp", "host_vehicle_id", "moving_object"],
    "SensorView": ["version", "timestamp", "sensor_id", "global_ground_truth"],
    "SensorData": ["version", "timestamp", "sensor_id"],
}


def part_of_osi():
    """The part as a descriptor set, with names, numbers and types as OSI has them."""
    pool = osi_sensorview_pb2.SensorView.DESCRIPTOR.file.pool
    file = descriptor_pb2.FileDescriptorProto(name="osi_part.proto", package="osi3")
    for name, fields in OSI.items():
        whole = descriptor_pb2.DescriptorProto()
        pool.FindMessageTypeByName(f"osi3.{name}").CopyToProto(whole)
        part = file.message_type.add(name=name)
        part.field.extend(field for field in whole.field if field.name in fields)
        enums = [field.type_name.split(".")[-1] for field in part.field if field.type == ENUM]
        part.enum_type.extend(enum for enum in whole.enum_type if enum.name in enums)
        for field in part.field:
            field.ClearField("options")
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


def stamped(message, n):
    message.version.version_major, message.version.version_minor = 3, 8
    message.timestamp.seconds, message.timestamp.nanos = n // 10, n % 10 * 100_000_000
    return message


def at(message):
    return message.timestamp.seconds * 1_000_000_000 + message.timestamp.nanos


def sensor_view(n):
    """A host at rest and a car that drives away from it."""
    view = stamped(osi_sensorview_pb2.SensorView(), n)
    view.sensor_id.value = 7
    truth = stamped(view.global_ground_truth, n)
    truth.host_vehicle_id.value = 1
    for id, x in [(1, 0.0), (2, 10.0 + n)]:
        object = truth.moving_object.add()
        object.id.value, object.base.position.x = id, x
        object.base.position.y = object.base.position.z = 0.5
        object.type = osi_object_pb2.MovingObject.TYPE_VEHICLE
    return view


def sensor_data(n):
    data = stamped(osi_sensordata_pb2.SensorData(), n)
    data.sensor_id.value = 7
    return data


def osi(folder):
    views, datas = [sensor_view(n) for n in range(5)], [sensor_data(n) for n in range(5)]
    trace = folder / "20240101T000000Z_sv_380_7362_5_made_up.osi"
    encoded = [view.SerializeToString() for view in views]
    trace.write_bytes(b"".join(struct.pack("<L", len(data)) + data for data in encoded))
    assert list(OSITrace(str(trace), "SensorView")) == views, "OSI's own reader"

    part = part_of_osi()
    channels = [
        (
            f"/{name}",
            "protobuf",
            (f"osi3.{name}", "protobuf", part),
            [(at(message), message.SerializeToString()) for message in messages],
            {"net.asam.osi.trace.channel.osi_version": "3.8.0"},
        )
        for name, messages in [("SensorView", views), ("SensorData", datas)]
    ]
    told = {"version": "3.8.0", "min_osi_version": "3.8.0", "max_osi_version": "3.8.0"}
    mcap(folder / "zstd.mcap", channels, [("net.asam.osi.trace", told)], compression=ZSTD)
    # The standard wants the metadata; what lacks it is readable all the same.
    mcap(folder / "lz4-no-metadata.mcap", channels, compression=LZ4)
    for name in ["zstd.mcap", "lz4-no-metadata.mcap"]:
        read = list(OSITrace(str(folder / name), "SensorView", topic="/SensorView"))
        assert read == views, "OSI's own reader"


def main():
    folders = {name: HERE / name for name in ["ros1", "ros2", "mcap", "osi"]}
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    bag1(folders["ros1"] / "plain.bag", None)
    bag1(folders["ros1"] / "bz2.bag", rosbag1.Writer.CompressionFormat.BZ2)
    bag1(folders["ros1"] / "lz4.bag", rosbag1.Writer.CompressionFormat.LZ4)
    # Pages of 4 KiB would be empty for the most part.
    Sqlite3Writer.SQLITE_SCHEMA = "PRAGMA page_size = 512;" + Sqlite3Writer.SQLITE_SCHEMA
    sqlite, in_mcap = rosbag2.StoragePlugin.SQLITE3, rosbag2.StoragePlugin.MCAP
    bag2(folders["ros2"] / "iron", sqlite, None)
    bag2(folders["ros2"] / "packed", sqlite, rosbag2.CompressionMode.MESSAGE)
    bag2(folders["ros2"] / "jazzy", in_mcap, rosbag2.CompressionMode.STORAGE)
    mcaps_of_ros(folders["mcap"])
    mcap_of_protobuf(folders["mcap"])
    others(folders["mcap"])
    osi(folders["osi"])


main()
