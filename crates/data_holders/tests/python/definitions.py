"""Writes the definitions of the common packages, as rosbags has them, into a
folder for each ROS: definitions.py FOLDER."""

import sys
from pathlib import Path

from rosbags.typesys import Stores, get_typestore

for store, version in [(Stores.ROS1_NOETIC, 1), (Stores.ROS2_JAZZY, 2)]:
    types = get_typestore(store)
    for name in sorted(types.fielddefs):
        package, _, last = name.split("/")
        if version == 1 and package == "builtin_interfaces":
            continue
        text, _ = types.generate_msgdef(name, ros_version=version)
        file = Path(sys.argv[1]) / f"ros{version}" / package / "msg" / f"{last}.msg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.split("=" * 80)[0])
