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


def digest(*numbers):  # of one record: pairs of a field's place and a number's bits, or an inner record's hash
    total = 0
    for place, bits in numbers:
        word = (bits + (place + 1) * 0x9E3779B97F4A7C15) % 2**64
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
        total += word ^ word >> 31
    return total % 2**64


def bits(*floats):  # of 32-bit floats
    return struct.unpack(f"<{len(floats)}I", struct.pack(f"<{len(floats)}f", *floats))


def project(wire):  # the sum of all numbers; the count of points is none of them
    head, points = decode(wire)
    return float(sum(head[:3])) + sum(map(sum, points))


def project_exactly(wire):  # how many numbers, and their hash
    head, points = decode(wire)
    inner = [digest(*((0, word) for word in bits(x, y, z)), (1, intensity)) for x, y, z, intensity in points]
    outer = digest((0, digest(*enumerate(head[:3]))), *((1, one) for one in inner))
    return 3 + 4 * len(points), outer


def element(wire):  # position[1] of the middle point: one read
    count = HEAD.unpack_from(wire)[3]
    return struct.unpack_from("<f", wire, HEAD.size + 4 * (count + count // 2))[0] if count else None


def element_exactly(wire):
    value = element(wire)
    return (0, 0) if value is None else (1, digest((0, *bits(value))))


def fixed(wire):  # info.guid
    return HEAD.unpack_from(wire)[2]


messages, wires = [], []
EXPERIMENTS = {  # what is timed, and what shows that it was right
    "encode": (lambda i: len(encode(messages[i])), lambda i: ("encoded", encode(messages[i]))),
    "decode": (lambda i: len(decode(wires[i])[1]), lambda i: ("decoded", canonical(decode(wires[i])))),
    "project": (lambda i: project(wires[i]), lambda i: project_exactly(wires[i])),
    "fixed": (lambda i: float(fixed(wires[i])), lambda i: (1, digest((0, fixed(wires[i]))))),
    "element": (lambda i: element(wires[i]) or 0.0, lambda i: element_exactly(wires[i])),
}


def run(experiment, iterations, prove):  # we reuse nothing, so what is to live on is no matter
    step, proof = EXPERIMENTS[experiment]
    total, start = 0.0, time.perf_counter_ns()
    for i in range(iterations):
        total += step(i % len(messages))
    reply = f"ns {time.perf_counter_ns() - start}\nsum {total!r}\n".encode()
    if prove == "none":
        return reply
    name, product = proof(int(prove))
    if isinstance(product, bytes):
        return reply + f"{name} {len(product)}\n\n".encode() + product
    return reply + f"count {name}\nhash {product}\n".encode()


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
        i, reply = int(words[0]), ""
        for name in "project", "fixed", "element":
            step, proof = EXPERIMENTS[name]
            reply += "{} {!r} {} {}\n".format(name, step(i), *proof(i))
        return reply.encode()
    elif verb == "run":
        return run(words[0], int(words[1]), words[-1].removeprefix("prove="))
    elif verb != "schema":  # we know the schema
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
