"""Imports modules by their names, and has each of their holders, as it is made, written and
read: imported.py FOLDER MODULE…"""

import enum
import importlib
import sys

folder, *names = sys.argv[1:]
# Behind the standard library, as which no module may be called.
sys.path[0:1] = []
sys.path.append(folder)
for name in names:
    module = importlib.import_module(name)
    assert getattr(module, "__file__", "").startswith(folder), f"{name} is {module}"
    for kind in (getattr(module, name) for name in module.__all__):
        if issubclass(kind, (enum.Enum, Exception)) or kind.__name__ == "Records":
            continue
        holder = kind()
        repr(holder)
        for wire in ("ros_msg", "cdr", "xcdr2", "protobuf"):
            if hasattr(kind, f"serialize_{wire}"):
                data = getattr(holder, f"serialize_{wire}")()
                assert getattr(kind, f"deserialize_{wire}")(data) == holder, kind
