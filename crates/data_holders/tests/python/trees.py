"""Makes messages that contain themselves by Protobuf's library: trees.py SET TYPE FOLDER SEED."""

import random
import sys
from pathlib import Path

import library

folder, chance = Path(sys.argv[3]), random.Random(int(sys.argv[4]))
kind = library.kind(sys.argv[1], sys.argv[2])


def number(field):
    if field.cpp_type in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
        return chance.uniform(-1e9, 1e9)
    if field.type == field.TYPE_BYTES:
        return chance.randbytes(chance.randrange(5))
    if field.cpp_type == field.CPPTYPE_STRING:
        return "".join(chance.choice("abß€") for _ in range(chance.randrange(5)))
    return chance.randrange(-(2**31), 2**31)


def fill(message, depth):
    for field in message.DESCRIPTOR.fields:
        is_needed = field.is_required
        if field.message_type is None:
            if not is_needed and chance.random() < 0.3:
                continue
            if field.is_repeated:
                getattr(message, field.name).extend(number(field) for _ in range(chance.randrange(3)))
            else:
                setattr(message, field.name, number(field))
        elif field.message_type.GetOptions().map_entry:
            for _ in range(chance.randrange(3) if depth else 0):
                fill(getattr(message, field.name)[number(field.message_type.fields[0])], depth - 1)
        elif field.is_repeated:
            for _ in range(chance.randrange(3) if depth else 0):
                fill(getattr(message, field.name).add(), depth - 1)
        elif is_needed or depth and chance.random() < 0.5:
            inner = getattr(message, field.name)
            inner.SetInParent()
            fill(inner, max(depth - 1, 0))


folder.mkdir(exist_ok=True)
for at in range(6):
    message = kind()
    if at:
        fill(message, at)
    (folder / f"{at}.protobuf").write_bytes(message.SerializeToString(deterministic=True))
