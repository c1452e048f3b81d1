"""The fields of OSI that have a column."""

from typing import NamedTuple


class Leaf(NamedTuple):
    """A field of the row (inner 0), or of a message in the row."""

    name: str
    number: int
    inner: int = 0
    type: str = "number"

    @property
    def parent(self):
        """The name of its message in the row."""
        return self.name.split(".")[0]

    @property
    def marker(self):
        """The name of the column that says whether that message is there."""
        return self.parent + "?"

    @property
    def wire(self):
        """Its wire type."""
        return 1 if self.type == "number" else 0

    @property
    def element(self):
        """Its lossless element type."""
        return {"number": "f64", "identifier": "u64", "enumeration": "i32"}[self.type]


_POSITION = [
    Leaf(f"{name}.{part}", number, inner)
    for number, name in ((3, "position"), (4, "position_rmse"))
    for inner, part in ((1, "distance"), (2, "azimuth"), (3, "elevation"))
]

# By number; a message's fields in one go and numbered from 1.
LEAVES = {
    "lidar_reflections": [
        Leaf("signal_strength", 1),
        Leaf("time_of_flight", 2),
        Leaf("doppler_shift", 3),
        Leaf("normal_to_surface.x", 5, 1),
        Leaf("normal_to_surface.y", 5, 2),
        Leaf("normal_to_surface.z", 5, 3),
        Leaf("object_id", 6, 1, "identifier"),
    ],
    "radar_reflections": [
        Leaf("signal_strength", 1),
        Leaf("time_of_flight", 2),
        Leaf("doppler_shift", 3),
        Leaf("source_horizontal_angle", 4),
        Leaf("source_vertical_angle", 5),
    ],
    "lidar_detections": [
        Leaf("existence_probability", 1),
        Leaf("object_id", 2, 1, "identifier"),
        *_POSITION,
        Leaf("height", 5),
        Leaf("height_rmse", 6),
        Leaf("intensity", 7),
        Leaf("free_space_probability", 8),
        Leaf("classification", 9, 0, "enumeration"),
        Leaf("reflectivity", 10),
        Leaf("echo_pulse_width", 11),
        Leaf("radial_velocity", 12),
        Leaf("beam_id", 13, 1, "identifier"),
    ],
    "radar_detections": [
        Leaf("existence_probability", 1),
        Leaf("object_id", 2, 1, "identifier"),
        *_POSITION,
        Leaf("radial_velocity", 5),
        Leaf("radial_velocity_rmse", 6),
        Leaf("rcs", 7),
        Leaf("snr", 8),
        Leaf("point_target_probability", 9),
        Leaf("ambiguity_id", 10, 1, "identifier"),
        Leaf("classification", 11, 0, "enumeration"),
    ],
}


def row_name(kind):
    """The name of a row."""
    return kind.split("_")[1][:-1]
