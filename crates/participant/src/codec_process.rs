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
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::sample::{Message, HEADER_SIZE};
use crate::shared_memory::SharedMemory;
use wiregauge_timing::allocation::allocate_zeroed;

/// Version of the runner protocol.
const PROTOCOL: u32 = 2;
/// How long what the codec uses lives: objects are new in each cycle.
const LIFETIMES: &str = "scratch=reused objects=fresh buffers=reused";
/// Largest reply in bytes.
const MAX_REPLY: usize = 1 << 30;
/// How long an answer may take.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);
/// Where the memory for a codec begins in a sample that it writes in place: behind the header,
/// and where the largest numbers and columns want it.
pub const ROOM_START: usize = 64;
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
    /// Where it is in a sample, where the codec writes and reads it there.
    place: Option<Place>,
}

/// A message in a sample that its codec writes and reads in place.
struct Place {
    /// Memory for the codec, from [`ROOM_START`] on, in bytes.
    room: usize,
    /// Where the message begins in that.
    start: usize,
    /// The message in its canonical form.
    canonical: Vec<u8>,
    memory: SharedMemory,
    /// Whether what is read in place has been compared with the message.
    is_proven: bool,
}

/// Where a sample begins in a file of shared memory.
pub struct SampleLocation {
    path: Vec<u8>,
    offset: u64,
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
        let mut process =
            CodecProcess { child, input, output, patience, encoded: Vec::new(), place: None };
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
        reported_time(&reply)
    }

    /// Has it write and read the message in samples from now on; returns a sample's size.
    ///
    /// # Errors
    /// When it cannot, or when what it writes there is another message.
    pub fn go_in_place(&mut self, coding: &CodecSetup) -> Result<usize> {
        let reply = self.send_request("room", &[])?;
        let (lines, encoded) = split_reply(&reply);
        let number = |name: &str| -> Result<usize> {
            let found = lines.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
            found.with_context(|| format!("the codec's runner told no '{name}' of its room"))
        };
        let (room, start, size) = (number("room ")?, number("start ")?, number("encoded ")?);
        let fits = start.checked_add(size).is_some_and(|end| end <= room);
        ensure!(
            fits && size == encoded.len() && room <= MAX_REPLY && room % ROOM_START == 0,
            "the codec's runner told of a room that cannot be"
        );
        let canonical = fs::read(&coding.message)?;
        let decoded = self.send_request(&format!("decode {size}"), encoded)?;
        ensure!(decoded == canonical, "the codec writes another message in place");
        self.encoded = encoded.to_vec();
        let (memory, is_proven) = (SharedMemory::default(), false);
        self.place = Some(Place { room, start, canonical, memory, is_proven });
        Ok(ROOM_START + room)
    }

    /// The message as samples carry it.
    pub fn message(&self) -> Message<'_> {
        let start = self.place.as_ref().map_or(HEADER_SIZE, |place| ROOM_START + place.start);
        Message { bytes: &self.encoded, start }
    }

    /// Whether it writes and reads in samples.
    pub fn is_in_place(&self) -> bool {
        self.place.is_some()
    }

    /// Where a sample lies that is written or read in place; none where that is not asked for.
    ///
    /// # Errors
    /// When it lies where no other process can open it, or not as codecs want it.
    pub fn locate(&mut self, sample: &[u8]) -> Result<Option<SampleLocation>> {
        let Some(place) = &mut self.place else { return Ok(None) };
        let (path, offset) = place.memory.locate(sample)?;
        ensure!(
            offset % ROOM_START as u64 == 0,
            "the transport's samples do not begin at multiples of {ROOM_START} bytes"
        );
        Ok(Some(SampleLocation { path: path.as_os_str().as_bytes().to_vec(), offset }))
    }

    /// Does it once in a sample, where it is in place, and otherwise in memory of its own;
    /// returns the nanoseconds that it took. Nothing refers to a sample that is written meanwhile.
    ///
    /// # Errors
    /// When the runner refuses or is gone.
    pub fn run_at(&mut self, work: CodecTask, location: Option<SampleLocation>) -> Result<u64> {
        let (Some(place), Some(SampleLocation { path, offset })) = (&mut self.place, location)
        else {
            return self.run(work);
        };
        let (start, size) = match work {
            CodecTask::Encode => (ROOM_START, place.room),
            _ => (ROOM_START + place.start, self.encoded.len()),
        };
        let offset = offset + start as u64;
        let proves = work == CodecTask::Decode && !place.is_proven;
        place.is_proven |= proves;
        let (experiment, prove) = (work.experiment(), if proves { "0" } else { "none" });
        let request = format!("lent {experiment} {offset} {size} prove={prove} {}", path.len());
        let reply = self.send_request(&request, &path)?;
        if proves {
            let (_, decoded) = split_reply(&reply);
            let same = self.place.as_ref().is_some_and(|place| place.canonical == decoded);
            ensure!(same, "the codec reads another message in place");
        }
        reported_time(&reply)
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

/// What a reply says in lines, and the bytes behind them.
fn split_reply(reply: &[u8]) -> (String, &[u8]) {
    let end = reply.windows(2).position(|pair| pair == b"\n\n");
    let (lines, bytes) = end.map_or((reply, &[][..]), |end| (&reply[..end], &reply[end + 2..]));
    (String::from_utf8_lossy(lines).into_owned(), bytes)
}

/// The nanoseconds that a reply tells.
fn reported_time(reply: &[u8]) -> Result<u64> {
    let (lines, _) = split_reply(reply);
    let time = lines.lines().find_map(|line| line.strip_prefix("ns "));
    let time: Option<f64> = time.and_then(|time| time.trim().parse().ok());
    Ok(time.context("the codec's runner reported no time")?.round() as u64)
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
