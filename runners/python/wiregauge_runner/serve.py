"""The conversation with the gauge on standard input and output."""

import gc
import os
import sys
from time import perf_counter_ns

from wiregauge_runner.codec import Rejected
from wiregauge_runner.tally import Tally
from wiregauge_runner.timing import Collections, Loop, Sample, experiments

_PAYLOADS = ("schema", "message", "decode")
_READINGS = ("project", "fixed", "element")


def _lives(word, name):
    """Whether it is reused, by a word `NAME=reused` or `NAME=fresh`."""
    if word not in (f"{name}=reused", f"{name}=fresh"):
        raise ValueError(f"{name}=reused or {name}=fresh, not '{word}'")
    return word.endswith("=reused")


class Runner:
    """One runner: a codec and the messages that it was given."""

    def __init__(self, factory, form):
        self.factory, self.form = factory, form
        self.codec = factory()
        self.samples = []
        # The first of a process, in nanoseconds.
        self.first = {}
        self.is_frozen = False

    def answer(self, verb, words, payload):
        """The reply to a request."""
        request = getattr(self, f"on_{verb}", None)
        if request is None:
            raise ValueError(f"there is no request '{verb}'")
        return request(payload) if verb in _PAYLOADS else request(*words)

    def on_hello(self, version):
        if version != "2":
            raise ValueError(f"protocol {version} is asked for, this runner speaks 2")
        codec = self.codec
        unchecked = "yes" if codec.unchecked else "no"
        names = " ".join(experiments(codec))
        text = f"library {codec.library}\nexperiments {names}\nunchecked {unchecked}\nmanaged yes\n"
        return text.encode()

    def on_schema(self, _):
        return b""  # the schema is built in

    def on_reset(self):
        self.samples.clear()
        gc.unfreeze()
        self.is_frozen = False
        return b""

    def on_message(self, canonical):
        message = self.form.read(canonical)
        self.codec.admit(message)
        start = perf_counter_ns()
        wire = self.codec.write(self.codec.populate(message))
        self.first.setdefault("encode", perf_counter_ns() - start)
        # What the library hands over may be overwritten by the next.
        self.samples.append(Sample(message, bytes(wire)))
        self.is_frozen = False
        return self.samples[-1].wire

    def on_decode(self, wire):
        start = perf_counter_ns()
        message = self.codec.extract(self.codec.parse(wire))
        self.first.setdefault("decode", perf_counter_ns() - start)
        return self.form.write(message)

    def on_values(self, index):
        wire, reply = self.samples[int(index)].wire, ""
        for name in _READINGS:
            value = getattr(self.codec, name)(wire)
            tally = self.tally(name, wire, value)
            reply += f"{name} {float(value or 0.0)!r} {tally.count} {tally.hash}\n"
        return reply.encode()

    def tally(self, name, wire, value):
        """The exact proof of a reading."""
        if name == "project":
            return self.codec.exact(wire)
        tally = Tally()
        if value is not None:
            tally.number(0, self.form.path_code(name), value)
        return tally

    def on_run(self, experiment, iterations, scratch, objects, buffers, prove):
        if not prove.startswith("prove="):
            raise ValueError(f"prove=INDEX or prove=none, not '{prove}'")
        which = prove.removeprefix("prove=")
        which = None if which == "none" else self.samples[int(which)]
        outcome = self.loop(iterations, scratch, objects, buffers, which).run(experiment)
        # With all its digits always: the heap that the next loop finds does not depend on a time.
        head = f"ns {outcome.ns:020}\nsum {float(outcome.sum)!r}\n"
        whole = experiment.split("/")[0]
        if which is None:
            return head.encode()
        if whole in _READINGS:
            tally = self.tally(whole, which.wire, outcome.made)
            return f"{head}count {tally.count}\nhash {tally.hash}\n".encode()
        if experiment == "client":
            wire = bytes(self.codec.write(self.codec.build(which.message)))
            tally = self.codec.exact(wire)
            head += f"count {tally.count}\nhash {tally.hash}\nencoded {len(wire)}\n\n"
            return head.encode() + wire
        if experiment in ("encode", "encode/write"):
            return f"{head}encoded {len(outcome.made)}\n\n".encode() + outcome.made
        if experiment in ("decode", "decode/extract", "decode/checked"):
            canonical = self.form.write(outcome.made)
            return f"{head}decoded {len(canonical)}\n\n".encode() + canonical
        if experiment == "roundtrip":
            wire, message = outcome.made
            canonical = self.form.write(message)
            head += f"encoded {len(wire)}\ndecoded {len(canonical)}\n\n"
            return head.encode() + wire + canonical
        return head.encode()

    def on_collections(self, experiment, iterations, scratch, objects, buffers):
        loop = self.loop(iterations, scratch, objects, buffers)
        with Collections() as collections:
            ns = loop.run(experiment).ns
        return f"ns {ns}\ncollecting {collections.ns}\ncollections {collections.count}\n".encode()

    def on_cold(self):
        if len(self.first) != 2:
            raise ValueError("no message was encoded and decoded yet")
        return "".join(f"{name} {ns}\n" for name, ns in self.first.items()).encode()

    def on_allocations(self, *_):
        raise ValueError("CPython does not count what it takes from its own pools")

    def loop(self, iterations, scratch, objects, buffers, prove=None):
        """The loop with these settings, all of which have to be stated."""
        scratch, objects = _lives(scratch, "scratch"), _lives(objects, "objects")
        _lives(buffers, "buffers")  # what libraries hand over is always new
        if not self.samples:
            raise ValueError("no message was given")
        if not self.is_frozen:
            # What the runner itself holds is not searched for garbage.
            gc.collect()
            gc.freeze()
            self.is_frozen = True
        self.codec.objects_reused = objects
        factory = None if scratch else self.factory
        return Loop(factory, self.codec, self.samples, int(iterations), prove)


def serve(factory, form):
    """A runner's whole main: serves one gauge until it says `quit` or closes the
    pipe. What libraries print goes to standard error."""
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    runner = Runner(factory, form)
    while line := requests.readline():
        verb, *words = line.decode().split() or [""]
        if verb == "quit":
            return
        payload = b""
        if verb in _PAYLOADS and len(words) == 1:
            payload = requests.read(int(words[0]))
            if len(payload) != int(words[0]):
                return
        try:
            word, reply = "ok", runner.answer(verb, words, payload)
        except Rejected as error:
            word, reply = "rejected", str(error).encode()
        except Exception as error:  # whatever a library raises; the runner lives on
            word, reply = "error", f"{type(error).__name__}: {error}".encode()
        replies.write(f"{word} {len(reply)}\n".encode())
        replies.write(reply)
        replies.flush()
