//! A codec's runner beside a participant (docs/runner-protocol.md).
//!
//! In each cycle the sender has one message encoded, sends what the encoder
//! made of it, and the receiver has the same bytes decoded when they arrived.
//! The runner times both itself, so that its pipe is no part of them, and with
//! caches as they are in a cycle and not in a loop.
//!
//! Programs with a heavier transport are built apart, with this crate and no other
//! of the workspace. So this is a client of the protocol of its own, for one
//! message, beside that of `child_process`.

use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use wiregauge_timing::allocation::allocate_zeroed;

/// Version of the runner protocol.
const PROTOCOL: u32 = 2;
/// How long what the codec uses lives: objects are new in each cycle.
const LIFETIMES: &str = "scratch=reused objects=fresh buffers=reused";
/// Largest reply in bytes.
const MAX_REPLY: usize = 1 << 30;
/// How long an answer may take.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);
/// What a pipe that has room takes at least without waiting (pipe(7): PIPE_BUF).
const PIPE_BUF: usize = 4096;

/// What is encoded and decoded, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodecSetup {
    /// The runner's program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// A file with the message's schema, as the runner wants it.
    pub schema: PathBuf,
    /// A file with the message in its canonical form.
    pub message: PathBuf,
}

/// A running runner with one message.
pub struct CodecProcess {
    child: Child,
    input: DeadlinePipe<ChildStdin>,
    output: BufReader<DeadlinePipe<ChildStdout>>,
    patience: Duration,
    /// The message as the codec writes it.
    pub encoded: Vec<u8>,
}

/// What it is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CodecTask {
    /// Message to bytes.
    Encode,
    /// Bytes to message.
    Decode,
    /// Every number in the bytes is read.
    Project,
    /// One number outside of every list is read.
    Fixed,
}

impl CodecTask {
    /// The experiment of the runner protocol.
    pub fn experiment(self) -> &'static str {
        match self {
            CodecTask::Encode => "encode",
            CodecTask::Decode => "decode",
            CodecTask::Project => "project",
            CodecTask::Fixed => "fixed",
        }
    }
}

impl CodecProcess {
    /// Starts a runner and gives it the message.
    ///
    /// # Errors
    /// When it does not start, does not answer, or refuses the message.
    pub fn start(coding: &CodecSetup) -> Result<CodecProcess> {
        CodecProcess::start_within(coding, REPLY_TIMEOUT)
    }

    fn start_within(coding: &CodecSetup, patience: Duration) -> Result<CodecProcess> {
        let read = |path: &PathBuf| {
            fs::read(path).with_context(|| format!("cannot read {}", path.display()))
        };
        let (schema, message) = (read(&coding.schema)?, read(&coding.message)?);
        let mut child = Command::new(&coding.program)
            .args(&coding.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", coding.program.display()))?;
        let input = child.stdin.take().context("a runner without input")?;
        let output = child.stdout.take().context("a runner without output")?;
        let deadline = Instant::now() + patience;
        let input = DeadlinePipe { pipe: input, deadline };
        let output = BufReader::new(DeadlinePipe { pipe: output, deadline });
        let mut process = CodecProcess { child, input, output, patience, encoded: Vec::new() };
        process.send_request(&format!("hello {PROTOCOL}"), &[])?;
        process.send_request(&format!("schema {}", schema.len()), &schema)?;
        process.encoded = process.send_request(&format!("message {}", message.len()), &message)?;
        Ok(process)
    }

    /// Does it once; returns the nanoseconds that it took.
    ///
    /// # Errors
    /// When the runner refuses or is gone.
    pub fn run(&mut self, work: CodecTask) -> Result<u64> {
        let experiment = work.experiment();
        let reply =
            self.send_request(&format!("run {experiment} 1 {LIFETIMES} prove=none"), &[])?;
        let text = String::from_utf8_lossy(&reply);
        let time = text.lines().find_map(|line| line.strip_prefix("ns "));
        let time: Option<f64> = time.and_then(|time| time.trim().parse().ok());
        Ok(time.context("the codec's runner reported no time")?.round() as u64)
    }

    fn send_request(&mut self, request: &str, payload: &[u8]) -> Result<Vec<u8>> {
        let deadline = Instant::now() + self.patience;
        (self.input.deadline, self.output.get_mut().deadline) = (deadline, deadline);
        let gone = "the codec's runner ended";
        self.input.write_all(format!("{request}\n").as_bytes()).context(gone)?;
        self.input.write_all(payload).context(gone)?;
        self.input.flush().context(gone)?;
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line).context(gone)? > 0, "{gone}");
        let answer = line.trim_end().split_once(' ');
        let size = |size: &str| size.parse().ok().filter(|size| *size <= MAX_REPLY);
        let Some((word, size)) = answer.and_then(|(word, text)| Some((word, size(text)?))) else {
            bail!("the codec's runner answered {line:?} to '{request}'");
        };
        let mut reply = allocate_zeroed(size)?;
        self.output.read_exact(&mut reply).context(gone)?;
        match word {
            "ok" => Ok(reply),
            _ => bail!("the codec's runner: {}", String::from_utf8_lossy(&reply).trim()),
        }
    }
}

/// A pipe that is waited for no longer than to a deadline.
struct DeadlinePipe<P> {
    pipe: P,
    deadline: Instant,
}

impl<P: AsFd> DeadlinePipe<P> {
    /// Waits until it can be read or written.
    fn wait(&self, until: PollFlags) -> io::Result<()> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            match poll(&mut [PollFd::new(&self.pipe, until)], Some(&left)) {
                Ok(0) => return Err(io::Error::new(ErrorKind::TimedOut, "no answer in time")),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for DeadlinePipe<ChildStdout> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.wait(PollFlags::IN)?;
        self.pipe.read(bytes)
    }
}

impl Write for DeadlinePipe<ChildStdin> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(PollFlags::OUT)?;
        self.pipe.write(&bytes[..bytes.len().min(PIPE_BUF)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for CodecProcess {
    fn drop(&mut self) {
        // It has nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coding(folder: &std::path::Path, script: &str) -> CodecSetup {
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, bytes).unwrap();
            path
        };
        CodecSetup {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
            schema: file("schema", b"{}"),
            message: file("message", b"hi"),
        }
    }

    #[test]
    fn a_runner_that_dies_or_talks_nonsense_is_told() {
        let folder = std::env::temp_dir().join(format!("wiregauge-process-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (script, words) in [
            ("exit 1", "runner ended"),
            ("echo what; cat", "what"),
            ("printf 'error 4\\nnope'; cat", "nope"),
            ("echo ok 99999999999; cat", "99999999999"),
        ] {
            let error =
                CodecProcess::start(&coding(&folder, script)).err().expect("it cannot start");
            assert!(format!("{error:#}").contains(words), "{error:#}");
        }
        // Neither silence nor a full pipe is waited for without end.
        for (script, message) in
            [("exec sleep 60", 2), ("printf 'ok 0\\nok 0\\n'; exec sleep 60", 1 << 20)]
        {
            let coding = coding(&folder, script);
            fs::write(&coding.message, vec![0; message]).unwrap();
            let began = Instant::now();
            let error = CodecProcess::start_within(&coding, Duration::from_millis(200));
            let error = format!("{:#}", error.err().expect("it does not answer"));
            assert!(error.contains("no answer in time"), "{error}");
            assert!(began.elapsed() < Duration::from_secs(30));
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
