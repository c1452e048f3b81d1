//! The timed loops: each does one experiment so many times and nothing else.

use std::hint::black_box;
use std::time::Instant;

use crate::codec::{Codec, Error};

/// A loaded message and its encoded bytes.
pub struct Sample<M> {
    pub message: M,
    pub wire: Vec<u8>,
}

/// Whether output buffers and message objects live on from message to message.
#[derive(Clone, Copy, Default)]
pub struct Reuse {
    pub buffers: bool,
    pub objects: bool,
}

/// What a loop brought.
pub struct Outcome {
    pub ns: u64,
    pub sum: f64,
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
    }
    names
}

/// Runs one experiment: `iterations` messages, taking turns over `samples`.
pub fn run<C: Codec>(
    codec: &mut C,
    samples: &[Sample<C::Message>],
    experiment: &str,
    iterations: u64,
    reuse: Reuse,
) -> Result<Outcome, Error> {
    if samples.is_empty() {
        return Err(Error::new("no message was given"));
    }
    let largest = samples.iter().map(|s| s.wire.len()).max().unwrap_or(0);
    let mut buffer = touched(largest);
    let mut turns = Turns { samples, next: 0 };
    let mut object = C::Object::default();
    let mut message = C::Message::default();
    match experiment {
        "encode" => timed(iterations, || {
            let sample = turns.take();
            let mut fresh = Vec::new();
            let out = if reuse.buffers { &mut buffer } else { &mut fresh };
            out.clear();
            if !reuse.objects {
                object = C::Object::default();
            }
            codec.populate(&sample.message, &mut object)?;
            codec.write(&sample.message, &mut object, out)?;
            Ok(black_box(codec.written(out)).len() as f64)
        }),
        "encode/populate" => timed(iterations, || {
            let sample = turns.take();
            if !reuse.objects {
                object = C::Object::default();
            }
            codec.populate(&sample.message, &mut object)?;
            black_box(&object);
            Ok(0.0)
        }),
        "encode/write" => {
            let mut objects = Vec::new();
            for sample in samples {
                let mut object = C::Object::default();
                codec.populate(&sample.message, &mut object)?;
                objects.push((sample, object));
            }
            let mut next = 0;
            timed(iterations, || {
                let (sample, object) = &mut objects[next];
                next = (next + 1) % samples.len();
                let mut fresh = Vec::new();
                let out = if reuse.buffers { &mut buffer } else { &mut fresh };
                out.clear();
                codec.write(&sample.message, object, out)?;
                Ok(black_box(codec.written(out)).len() as f64)
            })
        }
        "decode" => timed(iterations, || {
            let sample = turns.take();
            if !reuse.objects {
                object = C::Object::default();
                message = C::Message::default();
            }
            codec.parse(black_box(&sample.wire), &mut object)?;
            codec.extract(&sample.wire, &mut object, &mut message)?;
            black_box(&message);
            Ok(0.0)
        }),
        "decode/parse" => timed(iterations, || {
            let sample = turns.take();
            if !reuse.objects {
                object = C::Object::default();
            }
            codec.parse(black_box(&sample.wire), &mut object)?;
            black_box(&object);
            Ok(0.0)
        }),
        "decode/extract" => extract(codec, samples, iterations, reuse),
        "roundtrip" => {
            let mut parsed = C::Object::default();
            timed(iterations, || {
                let sample = turns.take();
                let mut fresh = Vec::new();
                let out = if reuse.buffers { &mut buffer } else { &mut fresh };
                out.clear();
                if !reuse.objects {
                    object = C::Object::default();
                    parsed = C::Object::default();
                    message = C::Message::default();
                }
                codec.populate(&sample.message, &mut object)?;
                codec.write(&sample.message, &mut object, out)?;
                // The same bytes as in `out`, but an object that borrows them
                // may live on into the next turn.
                codec.parse(black_box(&sample.wire), &mut parsed)?;
                codec.extract(&sample.wire, &mut parsed, &mut message)?;
                black_box(&message);
                Ok(black_box(codec.written(out)).len() as f64)
            })
        }
        "project" => timed(iterations, || codec.project(black_box(&turns.take().wire))),
        "fixed" => timed(iterations, || codec.fixed(black_box(&turns.take().wire))),
        "element" => timed(iterations, || codec.element(black_box(&turns.take().wire))),
        "verify" => timed(iterations, || codec.verify(black_box(&turns.take().wire)).map(|()| 0.0)),
        other => Err(Error::new(format!("there is no experiment '{other}'"))),
    }
}

/// Extraction may consume its object, so objects are parsed ahead, as many as
/// keep the clock's own cost small, and only their extraction is timed.
fn extract<C: Codec>(
    codec: &mut C,
    samples: &[Sample<C::Message>],
    iterations: u64,
    reuse: Reuse,
) -> Result<Outcome, Error> {
    const AHEAD_BYTES: usize = 1 << 20;
    let largest = samples.iter().map(|s| s.wire.len()).max().unwrap_or(0).max(1);
    let ahead = (AHEAD_BYTES / largest).clamp(1, 256);
    let mut turns = Turns { samples, next: 0 };
    let mut message = C::Message::default();
    let mut total = Outcome { ns: 0, sum: 0.0 };
    let mut left = iterations;
    while left > 0 {
        let batch = left.min(ahead as u64);
        let mut parsed = Vec::with_capacity(ahead);
        for _ in 0..batch {
            let sample = turns.take();
            let mut object = C::Object::default();
            codec.parse(&sample.wire, &mut object)?;
            parsed.push((sample, object));
        }
        let mut next = parsed.iter_mut();
        let outcome = timed(batch, || {
            let (sample, object) = next.next().expect("one for each iteration");
            if !reuse.objects {
                message = C::Message::default();
            }
            codec.extract(&sample.wire, object, &mut message)?;
            black_box(&message);
            Ok(0.0)
        })?;
        total.ns += outcome.ns;
        left -= batch;
    }
    Ok(total)
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

/// Times `iterations` calls; the results are summed, so that none can be
/// dropped by the optimizer.
#[inline(always)]
fn timed(iterations: u64, mut step: impl FnMut() -> Result<f64, Error>) -> Result<Outcome, Error> {
    let mut sum = 0.0;
    let start = Instant::now();
    for _ in 0..iterations {
        sum += black_box(step()?);
    }
    Ok(Outcome { ns: start.elapsed().as_nanos() as u64, sum })
}

/// An empty buffer whose pages are there before the clock runs.
fn touched(len: usize) -> Vec<u8> {
    let mut buffer = vec![1; len + len / 4 + 64];
    black_box(&mut buffer).clear();
    buffer
}
