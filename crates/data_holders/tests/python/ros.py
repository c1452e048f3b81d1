"""Has genpy, ROS 1's own, read and write messages, and compute their md5 sums: ros.py MODULE
DEFINITIONS FOLDER, which has NNNN.type and NNNN.ros_msg; DEFINITIONS has a folder a package."""

import importlib
import io
import sys
import tempfile
from pathlib import Path

import named

# Debian's packages, behind those of the environment.
sys.path.append("/usr/lib/python3/dist-packages")
from genpy.generate_initpy import write_modules  # noqa: E402
from genpy.generator import MsgGenerator  # noqa: E402

module, definitions, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
_, kinds = named.load(module)

with tempfile.TemporaryDirectory() as made:
    sys.path.insert(0, made)
    packages = {package.name: [str(package / "msg")] for package in definitions.iterdir()}
    for package, (messages,) in packages.items():
        own = Path(made) / package / "msg"
        own.mkdir(parents=True)
        (own.parent / "__init__.py").touch()
        files = [str(file) for file in Path(messages).glob("*.msg")]
        assert not MsgGenerator().generate_messages(package, files, str(own), packages)
        assert not write_modules(str(own))
    count = 0
    for file in sorted(folder.glob("[0-9]*.type")):
        package, name = file.read_text().split("/")
        theirs = getattr(importlib.import_module(f"{package}.msg"), name)
        assert theirs._md5sum == kinds[file.read_text()].ROS1_MD5, file
        wire = file.with_suffix(".ros_msg").read_bytes()
        buffer = io.BytesIO()
        theirs().deserialize(wire).serialize(buffer)
        assert buffer.getvalue() == wire, f"{file}: genpy writes other bytes"
        count += 1
print(count)
