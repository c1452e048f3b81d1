"""The timed loops: each does one experiment so many times and nothing else."""

import gc
from itertools import cycle, islice
from time import perf_counter_ns

#: Bytes of objects that are parsed ahead where extraction alone is timed. Many would
#: be searched for garbage, which they are not where one comes after the other.
_AHEAD = 1 << 14


class Sample:
    """A loaded message and its encoded bytes."""

    __slots__ = ("message", "wire")

    def __init__(self, message, wire):
        self.message = message
        self.wire = wire


class Outcome:
    """How long it took, what it added up to, and what one more iteration made."""

    def __init__(self):
        self.ns = 0
        self.sum = 0.0
        self.made = None


def experiments(codec):
    """The names of what a codec can do."""
    names = ["encode", "decode", "project", "fixed", "element", "roundtrip"]
    if codec.phased:
        names += ["encode/populate", "encode/write", "decode/parse", "decode/extract"]
    if codec.has_clients:
        names.append("client")
    if codec.verifies:
        names.append("verify")
        if codec.unchecked:
            names += ["decode/checked", "project/checked"]
    return names


class Loop:
    """One run of an experiment: so many messages, taking turns over the samples.
    With `prove` it is done once more on that sample, untimed, by the same code."""

    def __init__(self, factory, codec, samples, iterations, prove=None):
        """`factory` makes the codec anew for each message where scratch is fresh."""
        self.factory, self.codec = factory, codec
        self.samples, self.iterations, self.prove = samples, iterations, prove

    def run(self, name):
        """The outcome of an experiment."""
        if name not in experiments(self.codec):
            raise ValueError(f"there is no experiment '{name}'")
        if name == "encode/write":
            return self._write()
        if name == "decode/extract":
            return self._extract()
        outcome = Outcome()
        step = self._step(name)
        if name in ("encode", "roundtrip"):
            outcome.ns, outcome.sum = self._sized(step, name == "roundtrip")
        elif name.split("/")[0] in ("project", "fixed", "element", "client"):
            outcome.ns, outcome.sum = self._read(step)
        else:
            outcome.ns = self._made(step)
        if self.prove is not None:
            outcome.made = step(self.prove)
        return outcome

    def _step(self, name):
        if self.factory is None:
            return self._bound(self.codec, name)
        # Looking the step up anew is part of what a new codec costs.
        return lambda sample: self._bound(self.factory(), name)(sample)

    def _bound(self, codec, name):
        populate, write = codec.populate, codec.write
        parse, extract = codec.parse, codec.extract
        if name == "encode":
            if not codec.phased:
                return lambda sample: write(sample.message)
            return lambda sample: write(populate(sample.message))
        if name == "decode":
            if not codec.phased:
                return lambda sample: parse(sample.wire)
            return lambda sample: extract(parse(sample.wire))
        if name == "roundtrip":

            def both(sample):
                wire = write(populate(sample.message))
                return wire, extract(parse(wire))

            return both
        if name == "encode/populate":
            return lambda sample: populate(sample.message)
        if name == "decode/parse":
            return lambda sample: parse(sample.wire)
        if name == "verify":
            return lambda sample: codec.verify(sample.wire)
        if name == "decode/checked":

            def checked(sample):
                codec.verify(sample.wire)
                return extract(parse(sample.wire))

            return checked
        if name == "client":
            build, project = codec.build, codec.project
            return lambda sample: project(write(build(sample.message)))
        read = getattr(codec, name.split("/")[0])
        if name == "project/checked":

            def read_checked(sample):
                codec.verify(sample.wire)
                return read(sample.wire)

            return read_checked
        return lambda sample: read(sample.wire)

    def _turns(self):
        return islice(cycle(self.samples), self.iterations)

    def _sized(self, step, paired):
        total, turns = 0, self._turns()
        if paired:
            start = perf_counter_ns()
            for sample in turns:
                total += len(step(sample)[0])
            return perf_counter_ns() - start, total
        start = perf_counter_ns()
        for sample in turns:
            total += len(step(sample))
        return perf_counter_ns() - start, total

    def _read(self, step):
        total, turns = 0.0, self._turns()
        start = perf_counter_ns()
        for sample in turns:
            total += step(sample) or 0.0
        return perf_counter_ns() - start, total

    def _made(self, step):
        turns = self._turns()
        start = perf_counter_ns()
        for sample in turns:
            step(sample)
        return perf_counter_ns() - start

    def _write(self):
        """Objects are populated ahead, one for each message."""
        reused, self.codec.objects_reused = self.codec.objects_reused, False
        items = [self.codec.populate(sample.message) for sample in self.samples]
        self.codec.objects_reused = reused
        outcome, total = Outcome(), 0
        write, turns = self.codec.write, islice(cycle(items), self.iterations)
        start = perf_counter_ns()
        for item in turns:
            total += len(write(item))
        outcome.ns, outcome.sum = perf_counter_ns() - start, total
        if self.prove is not None:
            outcome.made = write(self.codec.populate(self.prove.message))
        return outcome

    def _extract(self):
        """Objects are parsed ahead, as many as keep the clock's own cost small, and
        only their extraction is timed."""
        reused, self.codec.objects_reused = self.codec.objects_reused, False
        largest = max(len(sample.wire) for sample in self.samples)
        ahead = min(max(_AHEAD // max(largest, 1), 1), 64)
        outcome, left, turns = Outcome(), self.iterations, self._turns()
        extract = self.codec.extract
        while left:
            parsed = [self.codec.parse(sample.wire) for sample in islice(turns, min(left, ahead))]
            left -= len(parsed)
            start = perf_counter_ns()
            for item in parsed:
                extract(item)
            outcome.ns += perf_counter_ns() - start
        if self.prove is not None:
            outcome.made = extract(self.codec.parse(self.prove.wire))
        self.codec.objects_reused = reused
        return outcome


class Collections:
    """How long the garbage collector was at work."""

    def __enter__(self):
        self.ns = self.count = self._start = 0
        gc.callbacks.append(self._note)
        return self

    def __exit__(self, *_):
        gc.callbacks.remove(self._note)

    def _note(self, phase, _):
        if phase == "start":
            self._start = perf_counter_ns()
        else:
            self.ns += perf_counter_ns() - self._start
            self.count += 1
