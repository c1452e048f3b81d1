//! Reads of what was written just before, which wait for the write and not for a cache.
//!
//! A processor keeps what it writes in a queue until the cache has it. A read of it is answered
//! from there if one write of the queue holds all that is read: it is *forwarded*, after some
//! cycles. A read that needs more than the youngest write to the same bytes holds is *blocked*
//! until the cache has all of it, ten cycles and more. Neither shows in counts of instructions or
//! in simulated caches. Source: Intel 64 and IA-32 Architectures Optimization Reference Manual,
//! 'Store Forwarding'; Agner Fog, The microarchitecture of Intel, AMD and VIA CPUs, 'Store
//! forwarding'.
//!
//! Lackey, a tool of valgrind, tells each instruction, read and write. The queue here is a model:
//! what was written by the last [`WINDOW`] instructions.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};
use rustix::fs::{mknodat, FileType, Mode, CWD};
use tempfile::TempDir;
use wiregauge_child_process::runner::Launch;

use crate::callgrind::Callgrind;
use crate::count::{count_folder, wrap_launch};

/// For so many instructions a write is in the queue.
pub const WINDOW: u64 = 64;

/// What asks for what was counted so far, and what ends the trace: no lines of lackey's.
const MARK: &[u8] = b"mark\n";
const END: &[u8] = b"end\n";

/// Reads that were answered, or not, by what was written just before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreReads {
    /// One write holds all that is read.
    pub forwarded: u64,
    /// The youngest write to these bytes does not.
    pub blocked: u64,
}

/// A runner each of whose reads and writes is looked at.
#[derive(Debug)]
pub struct AccessTrace {
    /// How it is started.
    pub launch: Launch,
    /// The pipe that lackey writes into.
    trace: File,
    counted: Receiver<StoreReads>,
    before: StoreReads,
    reader: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl AccessTrace {
    /// Prepares to look at this runner.
    ///
    /// # Errors
    /// When there is no room for the pipe over which it is told.
    pub fn prepare(valgrind: &Callgrind, launch: &Launch) -> Result<AccessTrace> {
        let folder = count_folder()?;
        let path = folder.path().join("trace");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .with_context(|| format!("cannot make the pipe {}", path.display()))?;
        // Open for writing, too: so it does not end before the runner begins.
        let open = || File::options().read(true).write(true).open(&path);
        let (input, trace) = (open()?, open()?);
        let (sender, counted) = mpsc::channel();
        let reader = thread::spawn(move || read_trace(BufReader::new(input), &sender));
        let words = [
            valgrind.program().display().to_string(),
            "--tool=lackey".into(),
            "--trace-mem=yes".into(),
            "--basic-counts=no".into(),
            "--quiet".into(),
            "--vgdb=no".into(),
            format!("--log-file={}", path.display()),
        ];
        let launch = wrap_launch(launch, words.into());
        let before = StoreReads::default();
        Ok(AccessTrace { launch, trace, counted, before, reader: Some(reader), _folder: folder })
    }

    /// What it read since the last call. Call it while the runner waits, or once it has ended.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn take(&mut self) -> Result<StoreReads> {
        self.trace.write_all(MARK).context("cannot write into the trace")?;
        let all = self.counted.recv().context("the trace cannot be read")?;
        let since = StoreReads {
            forwarded: all.forwarded - self.before.forwarded,
            blocked: all.blocked - self.before.blocked,
        };
        self.before = all;
        Ok(since)
    }
}

impl Drop for AccessTrace {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.take() {
            if self.trace.write_all(END).is_ok() {
                let _ = reader.join();
            }
        }
    }
}

/// Reads lackey's lines: `I  04001090,3`, ` L 1ffefff000,8`, ` S …` and ` M …`, which is a read and
/// a write.
///
/// Tells what was counted at each mark.
fn read_trace(mut input: impl BufRead, counted: &Sender<StoreReads>) {
    let mut queue = StoreQueue::default();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|size| size > 0) && line != END {
        match line.get(..2) {
            Some(b"I ") => queue.count_instruction(),
            Some(b" L") => parse_access(&line).into_iter().for_each(|access| queue.read(access)),
            Some(b" S") => parse_access(&line).into_iter().for_each(|access| queue.write(access)),
            Some(b" M") => {
                if let Some(access) = parse_access(&line) {
                    queue.read(access);
                    queue.write(access);
                }
            }
            _ if line == MARK => {
                let _ = counted.send(queue.reads);
            }
            // What valgrind says besides.
            _ => {}
        }
        line.clear();
    }
}

/// Bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    address: u64,
    size: u64,
}

impl Access {
    fn overlaps(self, other: Access) -> bool {
        self.address < other.address.saturating_add(other.size)
            && other.address < self.address.saturating_add(self.size)
    }

    fn contains(self, other: Access) -> bool {
        self.address <= other.address
            && other.address.saturating_add(other.size) <= self.address.saturating_add(self.size)
    }
}

fn parse_access(line: &[u8]) -> Option<Access> {
    let text = std::str::from_utf8(line.get(3..)?).ok()?;
    let (address, size) = text.trim_end().split_once(',')?;
    Some(Access { address: u64::from_str_radix(address, 16).ok()?, size: size.parse().ok()? })
}

/// What was written lately, the oldest first.
#[derive(Default)]
struct StoreQueue {
    instructions: u64,
    writes: VecDeque<(u64, Access)>,
    reads: StoreReads,
}

impl StoreQueue {
    fn count_instruction(&mut self) {
        self.instructions += 1;
        while self.writes.front().is_some_and(|(when, _)| when + WINDOW < self.instructions) {
            self.writes.pop_front();
        }
    }

    fn read(&mut self, read: Access) {
        let youngest = self.writes.iter().rev().find(|(_, write)| write.overlaps(read));
        match youngest {
            Some((_, write)) if write.contains(read) => self.reads.forwarded += 1,
            Some(_) => self.reads.blocked += 1,
            None => {}
        }
    }

    fn write(&mut self, write: Access) {
        self.writes.push_back((self.instructions, write));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::{Command, Stdio};

    use wiregauge_build_tools::run;

    use super::*;

    fn reads(trace: &str) -> (u64, u64) {
        let (sender, counted) = mpsc::channel();
        read_trace(format!("{trace}mark\n").as_bytes(), &sender);
        let reads = counted.recv().unwrap();
        (reads.forwarded, reads.blocked)
    }

    #[test]
    fn a_read_within_the_youngest_write_is_forwarded_and_a_wider_one_blocked() {
        let two = "I  00,4\n S 1000,8\n S 1008,8\n";
        assert_eq!(reads(&format!("{two} L 1000,8\n L 100c,4\n")), (2, 0));
        assert_eq!(reads(&format!("{two} L 1000,16\n L 1004,8\n L 0fff,2\n")), (0, 3));
        assert_eq!(reads(&format!("{two} L 1010,8\n L 0ff8,8\n")), (0, 0));
        // A younger, narrower one hides the older one.
        assert_eq!(reads(&format!("{two} S 1000,1\n L 1000,8\n M 1008,4\n L 1008,8\n")), (1, 2));
        assert_eq!(reads(&format!("==7== words\n{two}mark\n L 1000,8\n")), (0, 0));
    }

    #[test]
    fn what_was_written_long_ago_is_in_the_cache() {
        let later = |instructions: u64| {
            let between = "I  00,4\n".repeat(instructions as usize);
            reads(&format!("I  00,4\n S 1000,8\n{between} L 1000,4\n"))
        };
        assert_eq!(later(WINDOW), (1, 0));
        assert_eq!(later(WINDOW + 1), (0, 0));
    }

    /// Writes two numbers of four bytes and reads them as one of eight, so often as it is told;
    /// and one of eight, of which it reads four.
    const KNOWN: &str = r#"
#include <stdint.h>
#include <stdlib.h>
int main(int count, char **words) {
  static volatile union { uint32_t halves[2]; uint64_t whole; } both;
  uint64_t sum = 0;
  (void)count;
  for (long left = atol(words[1]); left > 0; left--) {
    both.halves[0] = 1;
    both.halves[1] = 2;
    sum += both.whole;
    both.whole = 3;
    sum += both.halves[0];
  }
  return sum == 0;
}
"#;

    #[test]
    fn known_reads_are_counted_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("known");
        fs::write(folder.path().join("known.c"), KNOWN).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-o"]).args([&program, &folder.path().join("known.c")]);
        run(&mut compiler, "cc").unwrap();
        let valgrind = Callgrind::find().unwrap();
        let reads = |turns: &str| {
            let launch = Launch {
                program: program.clone(),
                arguments: vec![turns.into()],
                ..Launch::default()
            };
            let mut trace = AccessTrace::prepare(&valgrind, &launch).unwrap();
            let mut command = Command::new(&trace.launch.program);
            command.args(&trace.launch.arguments).stdin(Stdio::null());
            assert!(command.status().unwrap().success());
            trace.take().unwrap()
        };
        let (few, many) = (reads("1000"), reads("3000"));
        assert_eq!(many.forwarded - few.forwarded, 2000);
        assert_eq!(many.blocked - few.blocked, 2000);
    }
}
