//! The conversation with the gauge on standard input and output.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use crate::allocations;
use crate::codec::{Codec, Error, Message};
use crate::timing::{self, Reuse, Sample};

/// Version of the protocol.
const VERSION: &str = "1";

/// Serves one gauge until it says `quit` or closes the pipe. The process
/// should end when this returns; an error is one of input or output.
pub fn serve<C: Codec>(codec: C) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut runner = Runner { codec, samples: Vec::new(), reuse: Reuse::default() };
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
                let mut payload = Vec::new();
                input.by_ref().take(len).read_to_end(&mut payload)?;
                if payload.len() as u64 != len {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                payload
            }
            _ => Vec::new(),
        };
        let (word, reply) = match runner.answer(&words, payload) {
            Ok(reply) => ("ok", reply),
            Err(error) => ("error", error.to_string().into_bytes()),
        };
        writeln!(output, "{word} {}", reply.len())?;
        output.write_all(&reply)?;
        output.flush()?;
    }
}

struct Runner<C: Codec> {
    codec: C,
    samples: Vec<Sample<C::Message>>,
    reuse: Reuse,
}

impl<C: Codec> Runner<C> {
    fn answer(&mut self, words: &[&str], payload: Vec<u8>) -> Result<Vec<u8>, Error> {
        match words {
            ["hello", VERSION] => Ok(self.hello()),
            ["hello", other] => Err(Error::new(format!(
                "protocol {other} is asked for, this runner speaks {VERSION}"
            ))),
            // The schema is compiled in.
            ["schema", _] => Ok(Vec::new()),
            ["reset"] => {
                self.samples.clear();
                Ok(Vec::new())
            }
            ["set", "buffers", how] => set(&mut self.reuse.buffers, how),
            ["set", "objects", how] => set(&mut self.reuse.objects, how),
            ["message", _] => self.message(&payload),
            ["decode", _] => self.decode(&payload),
            ["values", index] => self.values(index),
            ["run", experiment, iterations] => self.run(experiment, iterations),
            ["allocations", experiment] => self.allocations(experiment),
            _ => Err(Error::new(format!("there is no request '{}'", words.join(" ")))),
        }
    }

    fn hello(&self) -> Vec<u8> {
        format!(
            "library {}\nexperiments {}\n",
            self.codec.hello().library,
            timing::experiments(&self.codec).join(" ")
        )
        .into_bytes()
    }

    fn message(&mut self, canonical: &[u8]) -> Result<Vec<u8>, Error> {
        let message = C::Message::from_canonical(canonical)?;
        let mut out = Vec::new();
        let mut object = C::Object::default();
        self.codec.populate(&message, &mut object)?;
        self.codec.write(&message, &mut object, &mut out)?;
        drop(object);
        let wire = self.codec.written(&out).to_vec();
        self.samples.push(Sample { message, wire: wire.clone() });
        Ok(wire)
    }

    fn decode(&mut self, wire: &[u8]) -> Result<Vec<u8>, Error> {
        let mut message = C::Message::default();
        let mut object = C::Object::default();
        self.codec.parse(wire, &mut object)?;
        self.codec.extract(wire, &mut object, &mut message)?;
        let mut canonical = Vec::new();
        message.to_canonical(&mut canonical);
        Ok(canonical)
    }

    fn values(&mut self, index: &str) -> Result<Vec<u8>, Error> {
        let sample = index.parse().ok().and_then(|i: usize| self.samples.get(i));
        let wire = &sample.ok_or_else(|| Error::new(format!("there is no message {index}")))?.wire;
        let project = self.codec.project(wire)?;
        let fixed = self.codec.fixed(wire)?;
        let element = self.codec.element(wire)?;
        Ok(format!("project {project:e}\nfixed {fixed:e}\nelement {element:e}\n").into_bytes())
    }

    fn run(&mut self, experiment: &str, iterations: &str) -> Result<Vec<u8>, Error> {
        let iterations = iterations.parse()?;
        let outcome =
            timing::run(&mut self.codec, &self.samples, experiment, iterations, self.reuse)?;
        Ok(format!("ns {}\nsum {:e}\n", outcome.ns, outcome.sum).into_bytes())
    }

    /// Counts over one pass through the messages. A first pass warms up what
    /// is reused; the loop's own set-up is subtracted by a pass of none.
    fn allocations(&mut self, experiment: &str) -> Result<Vec<u8>, Error> {
        let count = self.samples.len() as u64;
        let mut pass = |iterations: u64| -> Result<(u64, u64), Error> {
            let missing = || Error::new("the allocation counter is not loaded");
            let before = allocations::counts().ok_or_else(missing)?;
            timing::run(&mut self.codec, &self.samples, experiment, iterations, self.reuse)?;
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

fn set(reuse: &mut bool, how: &str) -> Result<Vec<u8>, Error> {
    *reuse = match how {
        "reused" => true,
        "fresh" => false,
        other => return Err(Error::new(format!("reused or fresh, not '{other}'"))),
    };
    Ok(Vec::new())
}
