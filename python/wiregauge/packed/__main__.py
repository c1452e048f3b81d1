"""python -m wiregauge.packed: looks into messages and converts them.

    dump SensorView|SensorData FILE
    pack SensorView|SensorData FILE OUT [PRESET …] [--whole-bytes]
        [COLUMN=ELEMENT[,OFFSET,SCALE][@RESOLUTION|@exact] …]
    unpack SensorView|SensorData FILE OUT

pack reduces columns that no argument names by presets (lidar-1mm, lidar-exact,
radar-1cm, radar-exact), to whole bytes where zstd or lz4 comes behind. It prints each
column's kind, name, element type, largest error as the bits of a double, and bytes.
"""

import sys
from pathlib import Path

import numpy as np

from .convert import Encoding, pack, unpack
from .message import find
from .view import View


def dump(root, data):
    """Everything that a message's packed fields say, a line each: numbers by
    their bits, so that two readers can be compared."""
    lines = []
    for found in find(root, data):
        lines.append(f"{found.kind} rows {found.rows}")
        if found.field is None:
            continue
        view = View(found.field)
        lines.append(f"packed rows {view.rows}")
        for name, column in view.columns.items():
            scale = "-" if column.scale is None else " ".join(map(_bits, column.scale))
            optional = "" if column.bitmap is None else " optional"
            lines.append(f"column {name} {column.element or '?'} {scale}{optional}")
            if column.element is None:
                continue
            present = view.present(name)
            if column.element == "none":
                values = ["-"] * view.rows
            else:
                values = [_bits(value) for value in view.values(name)]
            shown = (v if p else "absent" for v, p in zip(values, present))
            lines.extend(f"  {value}" for value in shown)
    return "\n".join(lines) + "\n"


def _bits(value):
    return f"{np.float64(value).view(np.uint64):016x}"


def encoding(text):
    """A column's name and encoding of an argument."""
    name, rest = text.split("=")
    rest, at, how = rest.partition("@")
    element, *scale = rest.split(",")
    resolution = float(how) if at and how != "exact" else None
    return name, Encoding(element, tuple(map(float, scale)) if scale else None, bool(at), resolution)


def main(arguments):
    """Runs one command."""
    if len(arguments) < 3 or arguments[0] not in ("dump", "pack", "unpack"):
        print(__doc__, file=sys.stderr)
        return 2
    command, root, source, *rest = arguments
    data = Path(source).read_bytes()
    try:
        if command == "dump":
            sys.stdout.write(dump(root, data))
        elif command == "pack":
            costs = []
            out, *given = rest
            packed = pack(
                root,
                data,
                dict(encoding(one) for one in given if "=" in one),
                precision=costs,
                presets=[one for one in given if "=" not in one and one != "--whole-bytes"],
                whole_bytes="--whole-bytes" in given,
            )
            Path(out).write_bytes(packed)
            for cost in costs:
                print(cost.kind, cost.name, cost.element, _bits(cost.error), cost.bytes)
        else:
            Path(rest[0]).write_bytes(unpack(root, data))
    except ValueError as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
