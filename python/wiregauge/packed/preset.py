"""What people want of the scans of a sensor, under a name."""

import math
from typing import Dict, NamedTuple, Tuple

from .error import PackedError


class Preset(NamedTuple):
    """Resolutions by column, each in the column's unit; all other columns are exact.

    ``kinds`` says of which rows of OSI it tells. Points of other structures are
    anybody's.
    """

    kinds: Tuple[str, str]
    resolutions: Dict[str, float]


_LIDAR = ("lidar_reflections", "lidar_detections")
_RADAR = ("radar_reflections", "radar_detections")

# A hundredth of a degree.
_ANGLE = math.pi / 18_000

# All of them.
PRESETS = {
    "lidar-1mm": Preset(
        _LIDAR,
        {
            "time_of_flight": 6.67e-12,  # 1 mm there and back
            "signal_strength": 0.1,
            "position.distance": 1e-3,
            "x": 1e-3,
            "y": 1e-3,
            "z": 1e-3,
        },
    ),
    "lidar-exact": Preset(_LIDAR, {}),
    "radar-1cm": Preset(
        _RADAR,
        {
            "time_of_flight": 6.67e-11,
            "signal_strength": 0.1,
            "doppler_shift": 5.0,  # 1 cm/s at 77 GHz
            "source_horizontal_angle": _ANGLE,
            "source_vertical_angle": _ANGLE,
            "position.distance": 0.01,
            "position.azimuth": _ANGLE,
            "position.elevation": _ANGLE,
            "radial_velocity": 0.01,
            "rcs": 0.1,
            "snr": 0.1,
            "x": 0.01,
            "y": 0.01,
            "z": 0.01,
        },
    ),
    "radar-exact": Preset(_RADAR, {}),
}


def presets_of(names):
    """The presets of names, or of one name."""
    names = [names] if isinstance(names, str) else list(names)
    for index, name in enumerate(names):
        if name not in PRESETS:
            raise PackedError("preset", index, name, ", ".join(PRESETS))
    return [PRESETS[name] for name in names]
