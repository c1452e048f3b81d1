"""Reads messages of one wire and writes them on the other, and refuses what is no
message: cross.py MODULE FOLDER, which has NNNN.type, NNNN.cdr, NNNN.xcdr2 and
NNNN.ros_msg, maybe NNNN.someip, and the same of badNNNN."""

import copy
import pickle
import sys
import unittest.mock
from pathlib import Path

import named

holders, kinds = named.load(sys.argv[1])


def same(holder, cdr, xcdr2, ros, file):
    """Holds what a holder writes against the three wires."""
    assert holder.serialize_cdr(header=False) == cdr, file
    assert holder.serialize_xcdr2(header=False) == xcdr2, file
    assert holder.serialize_ros_msg() == ros, file


count = 0
for file in sorted(Path(sys.argv[2]).glob("[0-9]*.type")):
    kind = kinds[file.read_text()]
    cdr = file.with_suffix(".cdr").read_bytes()
    xcdr2 = file.with_suffix(".xcdr2").read_bytes()
    ros = file.with_suffix(".ros_msg").read_bytes()
    from_cdr = kind.deserialize_cdr(cdr, header=False)
    from_ros = kind.deserialize_ros_msg(ros)
    from_xcdr2 = kind.deserialize_xcdr2(xcdr2, header=False)
    assert from_cdr == from_ros == from_xcdr2, file
    assert from_cdr.serialize_ros_msg() == ros, file
    assert from_ros.serialize_xcdr2() == b"\0\7\0\0" + xcdr2, file
    assert from_xcdr2.serialize_cdr(header=False) == cdr, file
    try:
        kind.deserialize_xcdr2(from_cdr.serialize_cdr())
    except holders.WireError:
        pass
    else:
        raise AssertionError(f"{file}: the header of CDR is taken for that of XCDR2")
    assert from_ros.serialize_cdr(header=False) == cdr, file
    for holder in (from_cdr, from_ros, from_xcdr2):
        # Blocks go from wire to wire, by NumPy and without it, and through its arrays.
        with unittest.mock.patch.dict(sys.modules, {"numpy": None}):
            same(holder, cdr, xcdr2, ros, file)
        same(holder, cdr, xcdr2, ros, file)
        for name in holder.__slots__:
            value = getattr(holder, name)
            if isinstance(value, getattr(holders, "Records", ())):
                twin = holders.Records(value._kind, value.numpy())
                assert twin == value and list(twin) == list(value), file
                setattr(holder, name, twin)
        same(holder, cdr, xcdr2, ros, file)
    views = kind.deserialize_cdr(bytearray(cdr), header=False, view=True)
    assert views.serialize_cdr(header=False) == cdr, file
    views = kind.deserialize_xcdr2(bytearray(xcdr2), header=False, view=True)
    assert views.serialize_xcdr2(header=False) == xcdr2, file
    # Holders are data: they are copied, and sent to other processes.
    for twin in (copy.deepcopy(from_cdr), pickle.loads(pickle.dumps(from_cdr))):
        assert twin.serialize_cdr(header=False) == cdr, file
    someip = file.with_suffix(".someip")
    if someip.exists():
        someip = someip.read_bytes()
        assert from_ros.serialize_someip() == someip, file
        for view in (False, True):
            assert kind.deserialize_someip(someip, view=view) == from_ros, file
        assert kind.deserialize_someip(bytearray(someip), view=True).serialize_cdr(header=False) == cdr
    else:
        someip = b""
    for read, whole in ((lambda b: kind.deserialize_cdr(b, header=False), cdr),
                        (kind.deserialize_someip, someip),
                        (lambda b: kind.deserialize_xcdr2(b, header=False), xcdr2),
                        (kind.deserialize_ros_msg, ros)):
        for cut in range(min(len(whole), 400)):
            try:
                read(whole[:cut])
            except holders.WireError:
                continue
            raise AssertionError(f"{file}: {cut} of {len(whole)} bytes are taken for a message")
        for at in range(min(len(whole), 400)):
            # Damaged bytes are read as something else or refused, and nothing more.
            damaged = bytearray(whole)
            damaged[at] ^= 0xFF
            try:
                read(bytes(damaged))
            except holders.WireError:
                pass
    count += 1
for file in sorted(Path(sys.argv[2]).glob("bad*.type")):
    kind = kinds[file.read_text()]
    for read, end in ((kind.deserialize_someip, ".someip"),
                      (lambda b: kind.deserialize_cdr(b, header=False), ".cdr"),
                      (lambda b: kind.deserialize_xcdr2(b, header=False), ".xcdr2"),
                      (kind.deserialize_ros_msg, ".ros_msg")):
        if end == ".someip" and not file.with_suffix(end).exists():
            continue
        try:
            read(file.with_suffix(end).read_bytes())
        except holders.WireError:
            continue
        raise AssertionError(f"{file.with_suffix(end)} is taken for a message")
print(count)
