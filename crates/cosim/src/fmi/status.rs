//! What came of a call of an FMU, and its last words.

use anyhow::{bail, Result};

use crate::fmi::message;

/// What a call of FMI returned. FMI 2 and 3 number them alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Status(pub i32);

impl Status {
    /// All is well.
    pub const OK: Status = Status(0);
    /// All is well, with a complaint.
    pub const WARNING: Status = Status(1);
    /// The step was not carried out.
    pub const DISCARD: Status = Status(2);
    /// It failed.
    pub const ERROR: Status = Status(3);
    /// A step goes on behind the call.
    pub const PENDING: Status = Status(5);
    /// A step of FMI 3 ended before its end, though that was not allowed; the call
    /// itself returned that all is well.
    pub const ENDED_EARLY: Status = Status(101);
    /// An exception came instead of a status; shim.cpp says so.
    pub const THROWN: Status = Status(100);

    /// As the standard calls it.
    pub fn name(self) -> &'static str {
        match self.0 {
            0 => "OK",
            1 => "warning",
            2 => "discard",
            3 => "error",
            4 => "fatal",
            5 => "pending",
            _ => "a status that FMI does not define",
        }
    }

    /// What came of a call: `returned error`, `threw std::bad_alloc: …`.
    pub fn describe(self) -> String {
        match message::take_thrown().filter(|_| self == Status::THROWN) {
            Some(thrown) => format!("threw {thrown}"),
            None if self == Status::ENDED_EARLY => "returned early".into(),
            None => format!("returned {}", self.name()),
        }
    }

    /// Whether the call did what it was to do.
    pub fn is_good(self) -> bool {
        self == Status::OK || self == Status::WARNING
    }

    /// An error that names the call, unless all is well or it is a mere
    /// warning.
    ///
    /// # Errors
    /// With the call, the status and the FMU's last words.
    pub fn require_good(self, call: &str) -> Result<()> {
        if self.is_good() {
            return Ok(());
        }
        bail!("{call} {}{}", self.describe(), recent_messages())
    }
}

/// What the FMUs' loggers said last, to be put behind an error.
pub fn recent_messages() -> String {
    let words = message::take_last(3);
    if words.is_empty() {
        return String::new();
    }
    format!("; its log: {}", words.join(" | "))
}

/// Why there is no instance.
pub(crate) fn no_instance(call: &str) -> String {
    let what = match message::take_thrown() {
        Some(thrown) => format!("threw {thrown}"),
        None => "returned nothing".into(),
    };
    format!("{call} {what}{}", recent_messages())
}
