//! Why a conversation with a child ended, and how the child did.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::text::safe;

/// Why a conversation with a child ended. The child is dead by then.
#[derive(Debug)]
pub enum Broken {
    /// Nothing came, or nothing was taken, until the deadline.
    Hung,
    /// It ended, or closed its pipes.
    Died(Death),
    /// It said something that cannot be an answer; the text says what.
    Nonsense(String),
    /// The user asked to stop.
    Interrupted,
    /// The system failed us.
    Io(io::Error),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Hung => f.write_str("hung: no answer in time"),
            Broken::Died(death) => death.fmt(f),
            Broken::Nonsense(text) => write!(f, "answered nonsense: {text}"),
            Broken::Interrupted => Interrupted.fmt(f),
            Broken::Io(error) => write!(f, "cannot be talked to: {error}"),
        }
    }
}

impl std::error::Error for Broken {}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// Its exit status; none when it closed its pipes but went on running, and
    /// had to be killed.
    pub status: Option<ExitStatus>,
    /// The end of what it wrote to standard error.
    pub stderr: String,
}

impl Death {
    /// Whether it ended for want of memory: at the limit of `runners/alloc`, or
    /// because an allocation failed at the limit of the address space.
    pub fn out_of_memory(&self) -> bool {
        const SIGNS: [&str; 3] = ["memory allocation of ", "std::bad_alloc", "MemoryError"];
        self.status.and_then(|status| status.code()) == Some(86)
            || SIGNS.iter().any(|sign| self.stderr.contains(sign))
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => f.write_str(&describe(status))?,
            None => f.write_str("closed its pipes but went on running")?,
        }
        match self.stderr.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => write!(f, " ({})", safe(line.trim())),
            None => Ok(()),
        }
    }
}

/// An exit status in words: `killed by SIGSEGV`, `exit code 86`.
pub fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(number), _) => match signal_hook::low_level::signal_name(number) {
            Some(name) => format!("killed by {name}"),
            None => format!("killed by signal {number}"),
        },
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => status.to_string(),
    }
}
