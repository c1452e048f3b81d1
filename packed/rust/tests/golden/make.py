"""Makes the messages of this folder by the official OSI package: make.py FOLDER"""

import struct
import sys
from pathlib import Path

from osi3.osi_sensordata_pb2 import SensorData
from osi3.osi_sensorview_pb2 import SensorView

NAN = struct.unpack("<d", bytes.fromhex("efbeadde0000f87f"))[0]


def view():
    """A head like a simulator's."""
    out = SensorView()
    out.version.version_major = 3
    out.version.version_minor = 8
    out.timestamp.seconds = 12
    out.timestamp.nanos = 345000000
    out.sensor_id.value = 7
    moving = out.global_ground_truth.moving_object.add()
    moving.id.value = 1 << 40
    moving.base.position.x = 12.5
    return out


def full():
    """Every field of every row, two lidars, a radar and a camera behind them."""
    out = view()
    for lidar in range(2):
        sensor = out.lidar_sensor_view.add()
        sensor.view_configuration.number_of_rays_horizontal = 10 + lidar
        for row in range(9):
            one = sensor.reflection.add()
            one.signal_strength = -3.25 * row
            one.time_of_flight = 1e-7 + row * 1e-9
            one.doppler_shift = 0.1 * row
            one.normal_to_surface.x = 1.0
            one.normal_to_surface.y = -0.0
            one.normal_to_surface.z = row / 3
            one.object_id.value = (1 << 64) - 1 - row if lidar else row * 100
    radar = out.radar_sensor_view.add()
    for row in range(3):
        one = radar.reflection.add()
        one.signal_strength = float(row)
        one.time_of_flight = 2.0**-row
        one.doppler_shift = -70.0 * row
        one.source_horizontal_angle = 0.01 * row
        one.source_vertical_angle = -0.02 * row
    out.camera_sensor_view.add().image_data = b"image"
    return out


def sparse():
    """Fields that only some rows have, messages without fields, odd numbers."""
    out = view()
    sensor = out.lidar_sensor_view.add()
    for row in range(11):
        one = sensor.reflection.add()
        if row % 2:
            one.signal_strength = (NAN, float("inf"), -0.0, 5e-324)[row // 2 % 4]
        if row != 3:
            one.time_of_flight = 1.7976931348623157e308
        if row % 3 == 0:
            one.normal_to_surface.SetInParent()
        if row == 6:
            one.normal_to_surface.y = 1.0
        if row in (2, 9):
            one.object_id.SetInParent()
        if row == 9:
            one.object_id.value = 300
    for _ in range(4):
        out.lidar_sensor_view.add().reflection.add()
    out.lidar_sensor_view.add()
    return out


def regular():
    """What a simulator sends: two doubles a row."""
    out = view()
    sensor = out.lidar_sensor_view.add()
    for row in range(100):
        one = sensor.reflection.add()
        one.signal_strength = -0.5 * row
        one.time_of_flight = 1e-9 * row
    return out


def detections():
    """A SensorData with detections, and with a SensorView that has reflections."""
    out = SensorData()
    out.timestamp.seconds = 3
    out.sensor_view.add().CopyFrom(full())
    out.moving_object.add().header.tracking_id.value = 5
    out.feature_data.version.version_major = 3
    for sensor in range(2):
        lidar = out.feature_data.lidar_sensor.add()
        lidar.header.cycle_counter = 77
        radar = out.feature_data.radar_sensor.add()
        radar.header.sensor_id.value = 4
        for row in range(5):
            for one in (lidar.detection.add(), radar.detection.add()):
                for descriptor in one.DESCRIPTOR.fields:
                    if sensor and (row + descriptor.number) % 3 == 0:
                        continue
                    fill(one, descriptor, row)
    out.feature_data.ultrasonic_sensor.add().detection.add().distance = 1.5
    out.system_time.nanos = 1
    return out


def fill(message, descriptor, row):
    """Sets a field, whatever its type."""
    if descriptor.message_type:
        inner = getattr(message, descriptor.name)
        for each in descriptor.message_type.fields:
            fill(inner, each, row)
    elif descriptor.enum_type:
        values = descriptor.enum_type.values
        setattr(message, descriptor.name, values[row % len(values)].number)
    elif descriptor.name == "value":
        setattr(message, descriptor.name, 7**row << row)
    else:
        setattr(message, descriptor.name, descriptor.number + row / 7)


def main(folder):
    """Writes the messages."""
    makers = {
        "SensorView.full": full,
        "SensorView.sparse": sparse,
        "SensorView.regular": regular,
        "SensorData.detections": detections,
    }
    for name, make in makers.items():
        data = make().SerializeToString(deterministic=True)
        Path(folder, f"{name}.osi").write_bytes(data)


main(*sys.argv[1:])
