"""Fails where a prebuilt row was not measured: prebuilt.py RESULT."""

import json
import sys

PREBUILT = "prost quick-protobuf bincode minicbor cbor messagepack json rkyv zserio memcpy noop"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        subjects = json.load(file)["subjects"]
    states = {subject["id"]: subject["status"]["state"] for subject in subjects}
    lost = [name for name in PREBUILT.split() if states.get(name) != "measured"]
    sys.exit(f"not measured: {', '.join(lost)}" if lost else None)


if __name__ == "__main__":
    main()
