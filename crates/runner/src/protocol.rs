//! The conversation with the gauge on standard input and output.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use crate::allocations;
use crate::codec::{Codec, Error, Message};
use crate::tally::{Digest, Sum};
use crate::timing::{self, Proof, Reuse, Sample};

/// Version of the protocol.
const VERSION: &str = "2";

/// Serves one gauge until it says `quit` or closes the pipe. The process
/// should end when this returns; an error is one of input or output.
pub fn serve<C: Codec>(codec: C) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut runner = Runner { codec, samples: Vec::new() };
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let payload = match words.as_slice() {
            ["quit"] => return Ok(()),
            ["schema" | "message" | "decode", len] => {
                let len = len.parse().map_err(|_| io::ErrorKind::InvalidData)?;
                read_payload(&mut input, len)?
            }
            _ => Vec::new(),
        };
        let (word, reply) = match runner.answer(&words, payload) {
            Ok(reply) => ("ok", reply),
            Err(error) if error.is_rejection() => ("rejected", error.to_string().into_bytes()),
            Err(error) => ("error", error.to_string().into_bytes()),
        };
        writeln!(output, "{word} {}", reply.len())?;
        output.write_all(&reply)?;
        output.flush()?;
    }
}

/// So many bytes, in memory of just that size: if it grew by what a pipe happens to hold, the heap
/// that a loop finds would depend on it.
fn read_payload(input: &mut impl Read, len: u64) -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    payload.try_reserve_exact(usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?)?;
    input.take(len).read_to_end(&mut payload)?;
    if payload.len() as u64 != len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(payload)
}

struct Runner<C: Codec> {
    codec: C,
    samples: Vec<Sample<C::Message>>,
}

impl<C: Codec> Runner<C> {
    fn answer(&mut self, words: &[&str], payload: Vec<u8>) -> Result<Vec<u8>, Error> {
        match words {
            ["hello", VERSION] => Ok(self.hello()),
            ["hello", other] => Err(Error::new(format!(
                "protocol {other} is asked for, this runner speaks {VERSION}"
            ))),
            ["schema", _] => {
                self.codec.take_schema(&payload);
                Ok(Vec::new())
            }
            ["reset"] => {
                self.samples.clear();
                Ok(Vec::new())
            }
            ["message", _] => self.message(&payload),
            ["decode", _] => self.decode(&payload),
            ["values", index] => self.values(index),
            ["run", experiment, iterations, settings @ .., prove] => {
                self.run(experiment, iterations, reuse(settings)?, prove)
            }
            ["allocations", experiment, settings @ ..] => {
                self.allocations(experiment, reuse(settings)?)
            }
            _ => Err(Error::new(format!("there is no request '{}'", words.join(" ")))),
        }
    }

    fn hello(&self) -> Vec<u8> {
        let hello = self.codec.hello();
        format!(
            "library {}\nexperiments {}\nunchecked {}\n",
            hello.library,
            timing::experiments(&self.codec).join(" "),
            if hello.unchecked { "yes" } else { "no" },
        )
        .into_bytes()
    }

    fn message(&mut self, canonical: &[u8]) -> Result<Vec<u8>, Error> {
        let message = C::Message::from_canonical(canonical)?;
        self.codec.admit(&message)?;
        let mut out = Vec::new();
        let mut object = C::Object::default();
        self.codec.populate(&message, &mut object)?;
        self.codec.write(&message, &mut object, &mut out)?;
        let mut wire = Vec::new();
        self.codec.written(&object, &out, |piece| wire.extend_from_slice(piece));
        self.codec.recycle(object);
        self.samples.push(Sample { message, wire: wire.clone() });
        Ok(wire)
    }

    fn decode(&mut self, wire: &[u8]) -> Result<Vec<u8>, Error> {
        let mut message = C::Message::default();
        let mut object = C::Object::default();
        self.codec.parse(wire, &mut object)?;
        self.codec.extract(wire, &mut object, &mut message)?;
        self.codec.recycle(object);
        let mut canonical = Vec::new();
        message.to_canonical(&mut canonical);
        Ok(canonical)
    }

    fn values(&mut self, index: &str) -> Result<Vec<u8>, Error> {
        let sample = index.parse().ok().and_then(|i: usize| self.samples.get(i));
        let wire = &sample.ok_or_else(|| Error::new(format!("there is no message {index}")))?.wire;
        let mut reply = Vec::new();
        for experiment in ["project", "fixed", "element"] {
            let sum: Sum = timing::read(&mut self.codec, wire, experiment)?;
            let digest: Digest = timing::read(&mut self.codec, wire, experiment)?;
            writeln!(reply, "{experiment} {:e} {} {}", sum.0, digest.count, digest.hash)?;
        }
        Ok(reply)
    }

    fn run(
        &mut self,
        experiment: &str,
        iterations: &str,
        reuse: Reuse,
        prove: &str,
    ) -> Result<Vec<u8>, Error> {
        let prove = match prove.strip_prefix("prove=") {
            Some("none") => None,
            Some(index) => Some(index.parse()?),
            None => return Err(Error::new(format!("prove=INDEX or prove=none, not '{prove}'"))),
        };
        let iterations = iterations.parse()?;
        let outcome =
            timing::run(&mut self.codec, &self.samples, experiment, iterations, reuse, prove)?;
        let mut reply = Vec::new();
        // With all its digits always: a time of more digits would take more memory, and the heap
        // that the next loop finds would depend on it.
        writeln!(reply, "ns {:020}\nsum {:e}", outcome.ns, outcome.sum)?;
        let Proof { encoded, decoded, digest } = outcome.proof;
        if let Some(digest) = digest {
            writeln!(reply, "count {}\nhash {}", digest.count, digest.hash)?;
        }
        let products = [("encoded", encoded), ("decoded", decoded)];
        for (name, bytes) in &products {
            if let Some(bytes) = bytes {
                writeln!(reply, "{name} {}", bytes.len())?;
            }
        }
        if products.iter().any(|(_, bytes)| bytes.is_some()) {
            reply.push(b'\n');
            for bytes in products.into_iter().filter_map(|(_, bytes)| bytes) {
                reply.extend_from_slice(&bytes);
            }
        }
        Ok(reply)
    }

    /// Counts over one pass through the messages. A first pass warms up what
    /// is reused; the loop's own set-up is subtracted by a pass of twice as many.
    fn allocations(&mut self, experiment: &str, reuse: Reuse) -> Result<Vec<u8>, Error> {
        let count = self.samples.len() as u64;
        let mut pass = |iterations: u64| -> Result<(u64, u64), Error> {
            let missing = || Error::new("the allocation counter is not loaded");
            let before = allocations::counts().ok_or_else(missing)?;
            timing::run(&mut self.codec, &self.samples, experiment, iterations, reuse, None)?;
            let after = allocations::counts().ok_or_else(missing)?;
            Ok((after.0 - before.0, after.1 - before.1))
        };
        pass(count)?;
        let (one, two) = (pass(count)?, pass(2 * count)?);
        Ok(format!(
            "allocations {}\nbytes {}\n",
            (two.0.saturating_sub(one.0)) as f64 / count as f64,
            (two.1.saturating_sub(one.1)) as f64 / count as f64
        )
        .into_bytes())
    }
}

/// The settings of a request, all of which it has to state.
fn reuse(words: &[&str]) -> Result<Reuse, Error> {
    let [scratch, objects, buffers] = words else {
        return Err(Error::new("a request states scratch=…, objects=… and buffers=…"));
    };
    let lives = |word: &str, name: &str| match word.strip_prefix(name) {
        Some("=reused") => Ok(true),
        Some("=fresh") => Ok(false),
        _ => Err(Error::new(format!("{name}=reused or {name}=fresh, not '{word}'"))),
    };
    Ok(Reuse {
        scratch: lives(scratch, "scratch")?,
        objects: lives(objects, "objects")?,
        buffers: lives(buffers, "buffers")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe that has so many bytes at a time.
    struct Pipe<'a>(&'a [u8], usize);

    impl Read for Pipe<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = &self.0[..self.0.len().min(self.1)];
            (&*piece).read(buffer).inspect(|read| self.0 = &self.0[*read..])
        }
    }

    #[test]
    fn memory_does_not_depend_on_what_a_pipe_has_at_a_time() {
        let bytes: Vec<u8> = (0..100_000).map(|i| i as u8).collect();
        for piece in [1, 7, 4096, 65_536, 99_999, 100_000] {
            let mut input = BufReader::new(Pipe(&bytes, piece));
            let payload = read_payload(&mut input, 99_000).unwrap();
            assert_eq!((payload.capacity(), &payload[..]), (99_000, &bytes[..99_000]));
            let end = read_payload(&mut input, 1_001).unwrap_err();
            assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        }
        assert!(read_payload(&mut io::empty(), u64::MAX).is_err());
    }
}
