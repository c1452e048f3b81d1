"""Reads a recording by a peer and prints seconds, a count and a mean: read.py PEER FILE [OUT]."""

import os
import sys
import time

import numpy as np


def decoded(path, topic):
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, _, message, value in reader.iter_decoded_messages(topics=[topic]):
            yield message, value


def loop(path):
    """Ten lines: MCAP's library and NumPy."""
    count, total = 0, 0.0
    for _, cloud in decoded(path, "/points"):
        points = np.frombuffer(cloud.data, "<f4").reshape(-1, 4)
        count, total = count + len(points), total + float(points[:, 2].sum(dtype="f8"))
    return count, total / count


def loop_to_arrow(path, out):
    """The same, with all columns into a file of Arrow."""
    import pyarrow as pa

    count, total, writer = 0, 0.0, None
    for message, cloud in decoded(path, "/points"):
        points = np.frombuffer(cloud.data, "<f4").reshape(-1, 4)
        columns = [np.full(len(points), message.log_time, "i8"), np.full(len(points), count, "u4")]
        columns += [np.ascontiguousarray(points[:, at]) for at in range(4)]
        batch = pa.record_batch(columns, names=["log_time", "message", "x", "y", "z", "i"])
        writer = writer or pa.ipc.new_file(out, batch.schema)
        writer.write_batch(batch)
        count, total = count + len(points), total + float(points[:, 2].sum(dtype="f8"))
    writer.close()
    # As wiregauge's, the file is on the disk before it counts.
    file = os.open(out, os.O_RDWR)
    os.fsync(file)
    os.close(file)
    return count, total / count


def rosbags(path):
    from mcap.reader import make_reader
    from rosbags.typesys import Stores, get_typestore

    store, count, total = get_typestore(Stores.ROS2_HUMBLE), 0, 0.0
    with open(path, "rb") as file:
        for schema, _, message in make_reader(file).iter_messages(topics=["/points"]):
            cloud = store.deserialize_cdr(message.data, schema.name)
            points = cloud.data.view("<f4").reshape(-1, 4)
            count, total = count + len(points), total + float(points[:, 2].sum(dtype="f8"))
    return count, total / count


def roboto_batches(path, topic, include):
    import mcap_codec

    file = os.open(path, os.O_RDONLY)
    opened = mcap_codec.open_mcap_file(
        lambda at, length: os.pread(file, length, at),
        os.path.getsize(path),
        channel=mcap_codec.TopicName(topic),
        timestamp=mcap_codec.TimestampSource("message_log_time"),
        projection=mcap_codec.Projection(include=include),
    )
    with opened as batches:
        yield from batches
    os.close(file)


def roboto(path):
    count, total = 0, 0.0
    for batch in roboto_batches(path, "/points", [["data"]]):
        data = batch.column(2).values.to_numpy(zero_copy_only=True)
        points = data.view("<f4").reshape(-1, 4)
        count, total = count + len(points), total + float(points[:, 2].sum(dtype="f8"))
    return count, total / count


def returns(path):
    count, total = 0, 0.0
    for _, message in decoded(path, "/returns"):
        values = [one.z for one in message.returns]
        count, total = count + len(values), total + float(np.sum(values))
    return count, total / count


def roboto_returns(path):
    count, total = 0, 0.0
    for batch in roboto_batches(path, "/returns", [["returns"]]):
        values = batch.column(2).values.field("z").to_numpy()
        count, total = count + len(values), total + float(values.sum(dtype="f8"))
    return count, total / count


def objects(path):
    from osi3trace.osi_trace import OSITrace

    count, total = 0, 0.0
    for message in OSITrace(path, "GroundTruth"):
        for one in message.moving_object:
            count, total = count + 1, total + one.base.position.x
    return count, total / count


def parse(path):
    from osi3trace.osi_trace import OSITrace

    count = sum(1 for _ in OSITrace(path, "GroundTruth"))
    return count, 0.0


def json_lines(path, out):
    from google.protobuf.json_format import MessageToJson
    from osi3trace.osi_trace import OSITrace

    count = 0
    with open(out, "w") as lines:
        for message in OSITrace(path, "GroundTruth"):
            lines.write(MessageToJson(message, indent=None, preserving_proto_field_name=True) + "\n")
            count += 1
    return count, 0.0


# What is imported is not measured.
for module in ("mcap.reader", "mcap_ros2.decoder", "rosbags.typesys", "mcap_codec", "pyarrow"):
    __import__(module)
if sys.argv[1] in ("objects", "parse", "json_lines"):
    import google.protobuf.json_format
    import osi3trace.osi_trace
began = time.perf_counter()
count, mean = globals()[sys.argv[1]](*sys.argv[2:])
print(time.perf_counter() - began, count, mean)
