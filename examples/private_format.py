"""A runner for a private format: the LiDAR message by columns (all x, all y, all z, all intensities).

    wiregauge codecs --runner 'columns=python3 examples/private_format.py'

It speaks docs/runner-protocol.md. A message comes and goes in its canonical form: three u64, the
count of points as u32, then three f32 and one u8 a point, all little-endian and without padding.
"""
import struct
import sys
import time

HEAD = struct.Struct("<3QI")  # kind, timestamp, guid, number of points


def normalize(canonical):  # canonical bytes -> a plain Python message
    head = HEAD.unpack_from(canonical)
    return head, list(struct.iter_unpack("<3fB", canonical[HEAD.size :]))


def encode(message):  # a plain message -> our bytes
    head, points = message
    x, y, z, intensity = zip(*points) if points else ((), (), (), ())
    return HEAD.pack(*head) + struct.pack(f"<{3 * len(x)}f", *x, *y, *z) + bytes(intensity)


def decode(wire):  # our bytes -> a plain message
    head = HEAD.unpack_from(wire)
    count = head[3]
    if len(wire) != HEAD.size + 13 * count:
        raise ValueError(f"{count} points do not fit {len(wire)} bytes")
    floats = struct.unpack_from(f"<{3 * count}f", wire, HEAD.size)
    columns = floats[:count], floats[count : 2 * count], floats[2 * count :]
    return head, list(zip(*columns, wire[len(wire) - count :]))


def canonical(message):  # a plain message -> canonical bytes
    head, points = message
    return HEAD.pack(*head) + b"".join(struct.pack("<3fB", *point) for point in points)


def project(wire):  # every number, straight from the columns; the count is none of them
    head, points = decode(wire)
    return float(sum(head[:3])) + sum(map(sum, points))


def element(wire):  # position[1] of the middle point: one read
    count = HEAD.unpack_from(wire)[3]
    return struct.unpack_from("<f", wire, HEAD.size + 4 * (count + count // 2))[0] if count else 0.0


messages, wires = [], []
EXPERIMENTS = {
    "encode": lambda i: len(encode(messages[i])),
    "decode": lambda i: len(decode(wires[i])[1]),
    "project": lambda i: project(wires[i]),
    "fixed": lambda i: float(HEAD.unpack_from(wires[i])[2]),
    "element": lambda i: element(wires[i]),
}


def answer(verb, words, payload):
    if verb == "hello":
        return f"library struct\nexperiments {' '.join(EXPERIMENTS)}\n".encode()
    if verb == "reset":
        messages.clear(), wires.clear()
    elif verb == "message":
        messages.append(normalize(payload))
        wires.append(encode(messages[-1]))
        return wires[-1]
    elif verb == "decode":
        return canonical(decode(payload))
    elif verb == "values":
        names = "project", "fixed", "element"
        return "".join(f"{name} {EXPERIMENTS[name](int(words[0]))!r}\n" for name in names).encode()
    elif verb == "run":
        step, total, start = EXPERIMENTS[words[0]], 0.0, time.perf_counter_ns()
        for i in range(int(words[1])):
            total += step(i % len(messages))
        return f"ns {time.perf_counter_ns() - start}\nsum {total!r}\n".encode()
    elif verb not in ("schema", "set"):  # we know the schema, and reuse nothing
        raise ValueError(f"there is no request '{verb}'")
    return b""


while line := sys.stdin.buffer.readline().decode():
    verb, *words = line.split()
    if verb == "quit":
        break
    payload = sys.stdin.buffer.read(int(words[0])) if verb in ("schema", "message", "decode") else b""
    try:
        word, reply = "ok", answer(verb, words, payload)
    except Exception as error:  # refused; the runner lives on
        word, reply = "error", str(error).encode()
    sys.stdout.buffer.write(f"{word} {len(reply)}\n".encode() + reply)
    sys.stdout.buffer.flush()
