//! The timed loops: each does one experiment so many times and nothing else.

use std::hint::black_box;
use std::time::Instant;

use crate::codec::{Codec, Error, Message};
use crate::tally::{Digest, Sum, Tally};

/// A loaded message and its encoded bytes.
pub struct Sample<M> {
    pub message: M,
    pub wire: Vec<u8>,
}

/// What lives on from message to message.
#[derive(Clone, Copy)]
pub struct Reuse {
    pub scratch: bool,
    pub objects: bool,
    pub buffers: bool,
}

/// What a loop brought.
pub struct Outcome {
    pub ns: u64,
    pub sum: f64,
    /// What one more iteration made, where that was asked for.
    pub proof: Proof,
}

/// What an experiment made of one message.
#[derive(Default)]
pub struct Proof {
    /// Encoded bytes.
    pub encoded: Option<Vec<u8>>,
    /// A decoded message in its canonical form.
    pub decoded: Option<Vec<u8>>,
    /// Numbers that were read.
    pub digest: Option<Digest>,
}

/// The experiments that a runner of this codec can do.
pub fn experiments<C: Codec>(codec: &C) -> Vec<&'static str> {
    let hello = codec.hello();
    let mut names = vec!["encode", "decode", "project", "fixed", "element", "roundtrip"];
    if hello.phased {
        names.extend(["encode/populate", "encode/write", "decode/parse", "decode/extract"]);
    }
    if hello.verifies {
        names.push("verify");
        if hello.unchecked {
            names.extend(["decode/checked", "project/checked"]);
        }
    }
    names
}

/// Runs one experiment: `iterations` messages, taking turns over `samples`. With
/// `prove` it is done once more on that message, untimed, by the same code on
/// what the loop left behind.
pub fn run<C: Codec>(
    codec: &mut C,
    samples: &[Sample<C::Message>],
    experiment: &str,
    iterations: u64,
    reuse: Reuse,
    prove: Option<usize>,
) -> Result<Outcome, Error> {
    let largest =
        samples.iter().map(|s| s.wire.len()).max().ok_or(Error::new("no message was given"))?;
    let prove = match prove {
        None => None,
        Some(at) => {
            Some(samples.get(at).ok_or_else(|| Error::new(format!("there is no message {at}")))?)
        }
    };
    let mut bench = Bench {
        codec,
        reuse,
        buffer: prefaulted_buffer(largest),
        object: C::Object::default(),
        parsed: C::Object::default(),
        message: C::Message::default(),
    };
    let outcome = match experiment {
        "encode" => bench.run(samples, iterations, prove, Bench::encode, Bench::encoded),
        "encode/populate" => bench.run(samples, iterations, prove, Bench::populate, Bench::nothing),
        "encode/write" => bench.write(samples, iterations, prove),
        "decode" => bench.run(samples, iterations, prove, Bench::decode, Bench::decoded),
        "decode/checked" => bench.run(
            samples,
            iterations,
            prove,
            |bench, sample| {
                bench.codec.verify(black_box(&sample.wire))?;
                bench.decode(sample)
            },
            Bench::decoded,
        ),
        "decode/parse" => bench.run(samples, iterations, prove, Bench::parse, Bench::nothing),
        "decode/extract" => bench.extract(samples, iterations, prove),
        "roundtrip" => {
            bench.run(samples, iterations, prove, Bench::roundtrip, Bench::roundtrip_proof)
        }
        "project" => bench.read(samples, iterations, prove, Reading::Project),
        "project/checked" => bench.read(samples, iterations, prove, Reading::CheckedProject),
        "fixed" => bench.read(samples, iterations, prove, Reading::Fixed),
        "element" => bench.read(samples, iterations, prove, Reading::Element),
        "verify" => bench.run(
            samples,
            iterations,
            prove,
            |bench, sample| bench.codec.verify(black_box(&sample.wire)).map(|()| 0.0),
            Bench::nothing,
        ),
        other => Err(Error::new(format!("there is no experiment '{other}'"))),
    };
    // What was lent is there for the next run.
    let Bench { codec, object, parsed, .. } = bench;
    codec.recycle(object);
    codec.recycle(parsed);
    outcome
}

/// What the three reading experiments find in a message.
pub fn read<C: Codec, T: Tally>(codec: &mut C, wire: &[u8], experiment: &str) -> Result<T, Error> {
    let mut tally = T::default();
    let (mut object, mut message) = (C::Object::default(), C::Message::default());
    match experiment {
        "project" => codec.project(wire, &mut object, &mut message, &mut tally)?,
        "fixed" => codec.fixed(wire, &mut object, &mut message, &mut tally)?,
        _ => codec.element(wire, &mut object, &mut message, &mut tally)?,
    }
    codec.recycle(object);
    Ok(tally)
}

#[derive(Clone, Copy)]
enum Reading {
    Project,
    CheckedProject,
    Fixed,
    Element,
}

/// What is on the bench while an experiment runs.
struct Bench<'c, 'a, C: Codec> {
    codec: &'c mut C,
    reuse: Reuse,
    buffer: Vec<u8>,
    object: C::Object<'a>,
    /// The object of decoding, where both directions take part.
    parsed: C::Object<'a>,
    message: C::Message,
}

impl<'a, C: Codec> Bench<'_, 'a, C> {
    /// The loop of all experiments but those whose input has to be prepared.
    #[inline(always)]
    fn run(
        &mut self,
        samples: &'a [Sample<C::Message>],
        iterations: u64,
        prove: Option<&'a Sample<C::Message>>,
        mut step: impl FnMut(&mut Self, &'a Sample<C::Message>) -> Result<f64, Error>,
        proof: impl Fn(&Self) -> Proof,
    ) -> Result<Outcome, Error> {
        let mut turns = Turns { samples, next: 0 };
        let (ns, sum) = time_calls(iterations, || step(self, turns.take()))?;
        let mut outcome = Outcome { ns, sum, proof: Proof::default() };
        if let Some(sample) = prove {
            step(self, sample)?;
            outcome.proof = proof(self);
        }
        Ok(outcome)
    }

    #[inline(always)]
    fn fresh_scratch(&mut self) {
        if !self.reuse.scratch {
            *self.codec = C::default();
        }
    }

    #[inline(always)]
    fn fresh_object(&mut self) {
        if !self.reuse.objects {
            let object = std::mem::take(&mut self.object);
            self.codec.recycle(object);
        }
    }

    #[inline(always)]
    fn fresh_message(&mut self) {
        if !self.reuse.objects {
            self.message = C::Message::default();
        }
    }

    #[inline(always)]
    fn fresh_buffer(&mut self) {
        if !self.reuse.buffers {
            self.buffer = Vec::new();
            self.codec.forget_output(&mut self.object);
        }
        self.buffer.clear();
    }

    /// Bytes that were written.
    #[inline(always)]
    fn size(&self) -> f64 {
        let mut size = 0;
        self.codec.written(&self.object, &self.buffer, |piece| size += black_box(piece).len());
        size as f64
    }

    #[inline(always)]
    fn encode(&mut self, sample: &'a Sample<C::Message>) -> Result<f64, Error> {
        self.fresh_object();
        self.fresh_scratch();
        self.fresh_buffer();
        self.codec.populate(&sample.message, &mut self.object)?;
        self.codec.write(&sample.message, &mut self.object, &mut self.buffer)?;
        Ok(self.size())
    }

    #[inline(always)]
    fn populate(&mut self, sample: &'a Sample<C::Message>) -> Result<f64, Error> {
        self.fresh_object();
        self.fresh_scratch();
        if !self.reuse.buffers {
            self.codec.forget_output(&mut self.object);
        }
        self.codec.populate(&sample.message, &mut self.object)?;
        black_box(&self.object);
        Ok(0.0)
    }

    #[inline(always)]
    fn decode(&mut self, sample: &'a Sample<C::Message>) -> Result<f64, Error> {
        self.fresh_object();
        self.fresh_message();
        self.fresh_scratch();
        self.codec.parse(black_box(&sample.wire), &mut self.object)?;
        self.codec.extract(&sample.wire, &mut self.object, &mut self.message)?;
        black_box(&self.message);
        Ok(0.0)
    }

    #[inline(always)]
    fn parse(&mut self, sample: &'a Sample<C::Message>) -> Result<f64, Error> {
        self.fresh_object();
        self.fresh_scratch();
        self.codec.parse(black_box(&sample.wire), &mut self.object)?;
        black_box(&self.object);
        Ok(0.0)
    }

    #[inline(always)]
    fn roundtrip(&mut self, sample: &'a Sample<C::Message>) -> Result<f64, Error> {
        if !self.reuse.objects {
            let parsed = std::mem::take(&mut self.parsed);
            self.codec.recycle(parsed);
        }
        self.fresh_message();
        let size = self.encode(sample)?;
        // The same bytes as were written, but an object that borrows them may
        // live on into the next turn.
        self.codec.parse(black_box(&sample.wire), &mut self.parsed)?;
        self.codec.extract(&sample.wire, &mut self.parsed, &mut self.message)?;
        black_box(&self.message);
        Ok(size)
    }

    fn nothing(&self) -> Proof {
        Proof::default()
    }

    fn encoded(&self) -> Proof {
        let mut encoded = Vec::new();
        self.codec.written(&self.object, &self.buffer, |piece| encoded.extend_from_slice(piece));
        Proof { encoded: Some(encoded), ..Proof::default() }
    }

    fn decoded(&self) -> Proof {
        let mut decoded = Vec::new();
        self.message.to_canonical(&mut decoded);
        Proof { decoded: Some(decoded), ..Proof::default() }
    }

    fn roundtrip_proof(&self) -> Proof {
        Proof { decoded: self.decoded().decoded, ..self.encoded() }
    }

    #[inline(always)]
    fn reading<T: Tally>(
        &mut self,
        sample: &'a Sample<C::Message>,
        reading: Reading,
    ) -> Result<T, Error> {
        if !C::IN_PLACE {
            self.fresh_object();
            self.fresh_message();
        }
        self.fresh_scratch();
        let wire = black_box(&sample.wire);
        let mut tally = T::default();
        let Bench { codec, object, message, .. } = self;
        match reading {
            Reading::Project => codec.project(wire, object, message, &mut tally)?,
            Reading::CheckedProject => {
                codec.verify(wire)?;
                codec.project(wire, object, message, &mut tally)?;
            }
            Reading::Fixed => codec.fixed(wire, object, message, &mut tally)?,
            Reading::Element => codec.element(wire, object, message, &mut tally)?,
        }
        Ok(tally)
    }

    #[inline(always)]
    fn read(
        &mut self,
        samples: &'a [Sample<C::Message>],
        iterations: u64,
        prove: Option<&'a Sample<C::Message>>,
        reading: Reading,
    ) -> Result<Outcome, Error> {
        let mut turns = Turns { samples, next: 0 };
        let (ns, sum) =
            time_calls(iterations, || self.reading::<Sum>(turns.take(), reading).map(|sum| sum.0))?;
        let digest = match prove {
            None => None,
            Some(sample) => Some(self.reading::<Digest>(sample, reading)?),
        };
        Ok(Outcome { ns, sum, proof: Proof { digest, ..Proof::default() } })
    }

    /// Objects are populated ahead, one for each message.
    fn write(
        &mut self,
        samples: &'a [Sample<C::Message>],
        iterations: u64,
        prove: Option<&'a Sample<C::Message>>,
    ) -> Result<Outcome, Error> {
        let mut objects = Vec::new();
        for sample in samples {
            let mut object = C::Object::default();
            self.codec.populate(&sample.message, &mut object)?;
            objects.push(object);
        }
        let mut next = 0;
        let mut turns = Turns { samples, next: 0 };
        let (ns, sum) = time_calls(iterations, || {
            let (sample, object) = (turns.take(), &mut objects[next]);
            next += 1;
            if next == samples.len() {
                next = 0;
            }
            if !self.reuse.buffers {
                self.buffer = Vec::new();
            }
            self.buffer.clear();
            self.codec.write(&sample.message, object, &mut self.buffer)?;
            let mut size = 0;
            self.codec.written(object, &self.buffer, |piece| size += black_box(piece).len());
            Ok(size as f64)
        })?;
        let mut proof = Proof::default();
        if let Some(sample) = prove {
            self.codec.populate(&sample.message, &mut self.object)?;
            self.buffer.clear();
            self.codec.write(&sample.message, &mut self.object, &mut self.buffer)?;
            proof = self.encoded();
        }
        Ok(Outcome { ns, sum, proof })
    }

    /// Extraction may consume its object, so objects are parsed ahead, as many as
    /// keep the clock's own cost small, and only their extraction is timed.
    fn extract(
        &mut self,
        samples: &'a [Sample<C::Message>],
        iterations: u64,
        prove: Option<&'a Sample<C::Message>>,
    ) -> Result<Outcome, Error> {
        const AHEAD_BYTES: usize = 1 << 20;
        let largest = samples.iter().map(|s| s.wire.len()).max().unwrap_or(0).max(1);
        let ahead = (AHEAD_BYTES / largest).clamp(1, 256);
        let mut turns = Turns { samples, next: 0 };
        let mut outcome = Outcome { ns: 0, sum: 0.0, proof: Proof::default() };
        let mut left = iterations;
        while left > 0 {
            let batch = left.min(ahead as u64);
            let mut parsed = Vec::with_capacity(ahead);
            for _ in 0..batch {
                let sample = turns.take();
                let mut object = C::Object::default();
                self.codec.parse(&sample.wire, &mut object)?;
                parsed.push((sample, object));
            }
            let mut next = parsed.iter_mut();
            let (ns, _) = time_calls(batch, || {
                let (sample, object) = next.next().expect("one for each iteration");
                self.fresh_message();
                self.codec.extract(&sample.wire, object, &mut self.message)?;
                black_box(&self.message);
                Ok(0.0)
            })?;
            for (_, object) in parsed {
                self.codec.recycle(object);
            }
            outcome.ns += ns;
            left -= batch;
        }
        if let Some(sample) = prove {
            self.decode(sample)?;
            outcome.proof = self.decoded();
        }
        Ok(outcome)
    }
}

/// Samples in turn. A counter that wraps costs less than a remainder.
struct Turns<'a, M> {
    samples: &'a [Sample<M>],
    next: usize,
}

impl<'a, M> Turns<'a, M> {
    #[inline(always)]
    fn take(&mut self) -> &'a Sample<M> {
        let sample = &self.samples[self.next];
        self.next += 1;
        if self.next == self.samples.len() {
            self.next = 0;
        }
        sample
    }
}

/// Nanoseconds of `iterations` calls and the sum of their results, which thus
/// cannot be dropped by the optimizer.
#[inline(always)]
fn time_calls(
    iterations: u64,
    mut step: impl FnMut() -> Result<f64, Error>,
) -> Result<(u64, f64), Error> {
    let mut sum = 0.0;
    let start = Instant::now();
    for _ in 0..iterations {
        sum += black_box(step()?);
    }
    Ok((start.elapsed().as_nanos() as u64, sum))
}

/// An empty buffer whose pages are there before the clock runs.
fn prefaulted_buffer(len: usize) -> Vec<u8> {
    let mut buffer = vec![1; len + len / 4 + 64];
    black_box(&mut buffer).clear();
    buffer
}
