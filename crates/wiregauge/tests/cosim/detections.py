"""The content of each SensorData, whatever its encoding, as a list in JSON: detections
and detected objects.

The messages come as JSON, a list of: encoding, the message's file, and the FlatBuffers
definition for the encodings that have one.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SPHERICAL = ("distance", "azimuth", "elevation")
DIMENSION = ("length", "width", "height")


def numbers(record, names):
    return [record.get(name, 0.0) for name in names]


def from_tree(data):
    """Of a message as JSON, whose absent numbers are zero."""
    sensor = data["feature_data"]["lidar_sensor"][0]
    objects = []
    for item in data.get("moving_object", []):
        position, dimension = item["base"].get("position", {}), item["base"]["dimension"]
        objects.append({
            "id": int(item["header"]["ground_truth_id"][0]["value"]),
            "position": numbers(position, "xyz"),
            "dimension": numbers(dimension, DIMENSION),
            # What the message compiler calls `type`.
            "type": item["candidate"][0].get("type_value", 0),
        })
    detections = [numbers(d.get("position", {}), SPHERICAL) for d in sensor.get("detection", [])]
    return {"detections": detections, "objects": objects}


def from_protobuf(message):
    from osi3.osi_sensordata_pb2 import SensorData

    data = SensorData.FromString(message)
    sensor = data.feature_data.lidar_sensor[0]
    return {
        "detections": [[getattr(d.position, n) for n in SPHERICAL] for d in sensor.detection],
        "objects": [{
            "id": item.header.ground_truth_id[0].value,
            "position": [getattr(item.base.position, n) for n in "xyz"],
            "dimension": [getattr(item.base.dimension, n) for n in DIMENSION],
            "type": item.candidate[0].type,
        } for item in data.moving_object],
    }


def content(encoding, path, definition):
    message = pathlib.Path(path).read_bytes()
    if encoding.startswith("flatbuffers"):
        with tempfile.TemporaryDirectory() as folder:
            # flatc prints twelve decimals.
            binary = pathlib.Path(folder) / "message.bin"
            binary.write_bytes(message)
            subprocess.run(
                ["flatc", "--json", "--strict-json", "--raw-binary", "--root-type",
                 "osi3.SensorData", "-o", folder, definition, "--", str(binary)], check=True)
            return from_tree(json.loads((pathlib.Path(folder) / "message.json").read_text()))
    if encoding.startswith("packed"):
        from wiregauge.packed import unpack

        return from_protobuf(unpack("SensorData", message))
    return from_protobuf(message)


json.dump([content(*one) for one in json.load(sys.stdin)], sys.stdout)
