//! Why a conversation with a child ended, and how the child did.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::text::escape_short;

/// Why a conversation with a child ended. The child is dead by then.
#[derive(Debug)]
pub enum ChildFailure {
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

impl fmt::Display for ChildFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChildFailure::Hung => f.write_str("hung: no answer in time"),
            ChildFailure::Died(death) => death.fmt(f),
            ChildFailure::Nonsense(text) => write!(f, "sent a malformed answer: {text}"),
            ChildFailure::Interrupted => Interrupted.fmt(f),
            ChildFailure::Io(error) => write!(f, "cannot be reached: {error}"),
        }
    }
}

impl std::error::Error for ChildFailure {}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// Its exit status; none when it had to be killed: it closed its pipes but went
    /// on running, or took too much memory.
    pub status: Option<ExitStatus>,
    /// The end of what it wrote to standard error.
    pub stderr: String,
    /// The bytes of memory that it may take, where it took more.
    pub beyond: Option<u64>,
}

impl Death {
    /// Whether it ended for want of memory: at the limit of `runners/alloc`, or
    /// because an allocation failed at the limit of the address space.
    pub fn out_of_memory(&self) -> bool {
        const SIGNS: [&str; 3] = ["memory allocation of ", "std::bad_alloc", "MemoryError"];
        self.beyond.is_some()
            || self.status.and_then(|status| status.code()) == Some(86)
            || SIGNS.iter().any(|sign| self.stderr.contains(sign))
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(most) = self.beyond {
            return f.write_str(&describe_memory_limit(most));
        }
        match self.status {
            Some(status) => f.write_str(&describe(status))?,
            None => f.write_str("closed its pipes but kept running")?,
        }
        match reason(&self.stderr) {
            Some(line) => write!(f, " ({})", escape_short(line)),
            None => Ok(()),
        }
    }
}

/// What is said of a child that took more memory than it may.
pub fn describe_memory_limit(most: u64) -> String {
    let (unit, bytes) = if most >= 1 << 30 { ("GiB", 1 << 30) } else { ("MiB", 1 << 20) };
    let most = format!("{:.1}", most as f64 / f64::from(bytes));
    let most = most.strip_suffix(".0").unwrap_or(&most);
    format!("used more than {most} {unit} of memory; --max-memory allows more")
}

/// The line of standard error that says why a program ended: what it said of its memory
/// or a sanitizer of it, else what it panicked for, else its last line that is no
/// stack and no advice.
fn reason(stderr: &str) -> Option<&str> {
    const SAID: [&str; 6] = [
        "memory allocation of ",
        "std::bad_alloc",
        "MemoryError",
        "OutOfMemoryError",
        "ERROR: AddressSanitizer",
        "runtime error: ",
    ];
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = lines().rfind(|line| SAID.iter().any(|sign| line.contains(sign)));
    let panicked = || {
        let mut after = lines().skip_while(|line| !line.contains(" panicked at ")).skip(1);
        after.find(|line| !is_stack(line))
    };
    let thrown = || lines().rfind(|line| line.starts_with("Exception in thread "));
    said.or_else(panicked)
        .or_else(thrown)
        .or_else(|| lines().rfind(|line| !is_stack(line)))
        .or_else(|| lines().next_back())
}

/// Whether a line is of a stack, or of the advice that Rust, Java, Python and sanitizers
/// give with one.
fn is_stack(line: &str) -> bool {
    let frame = line.split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    let begins = ["note: ", "stack backtrace:", "at ", "... ", "#", "Traceback ", "File \""];
    frame || begins.iter().any(|begin| line.starts_with(begin)) || line.ends_with("==ABORTING")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_told_and_not_the_advice() {
        let rust = "memory allocation of 100000000 bytes failed\nstack backtrace:\n   0: main\n\
                    note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose \
                    backtrace.\n";
        let panic = "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds\nnote: run \
                     with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let backtrace = "thread 'a' (7) panicked at a.rs:2:5:\nno\nstack backtrace:\n   0: rust\n\
                         \x20            at ./a.rs:3\nnote: Some details are omitted\n";
        let java = "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat \
                    Main.main(Main.java:3)\n\t... 2 more\n";
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n\
                      ValueError: no\n";
        let cpp = "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  \
                   std::bad_alloc\n";
        let sanitized = "==7==ERROR: AddressSanitizer: heap-use-after-free\n    #0 0x1 in main\n\
                         ==7==ABORTING\n";
        for (stderr, said) in [
            (rust, "memory allocation of 100000000 bytes failed"),
            (panic, "index out of bounds"),
            (backtrace, "no"),
            (java, "Exception in thread \"main\" java.lang.IllegalStateException: no"),
            (python, "ValueError: no"),
            (cpp, "what():  std::bad_alloc"),
            (sanitized, "==7==ERROR: AddressSanitizer: heap-use-after-free"),
            ("early\nno such codec\n\n", "no such codec"),
            ("note: alone\n", "note: alone"),
        ] {
            assert_eq!(reason(stderr), Some(said), "{stderr}");
        }
        assert_eq!(reason(" \n"), None);
    }
}
