//! Which messages the user asks for.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_osi::descriptors::osi_definitions;
use wiregauge_system::quantity::parse_nanoseconds;
use wiregauge_trace::mcap::summary::Summary;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::Nanoseconds;
use wiregauge_trace::select::Selection;

/// Which messages the user asks for; all of them by default. Unlike those of a [`Selection`],
/// its times may count from the first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFilter {
    /// Topics; none for all. A `*` stands for any letters.
    pub channels: Vec<String>,
    /// Topics that are left out, likewise.
    pub excluded: Vec<String>,
    /// From this time on.
    pub from: Option<Moment>,
    /// Up to this time.
    pub to: Option<Moment>,
    /// Only these messages.
    pub range: Option<MessageRange>,
    /// Every so many messages of a channel, at least 1.
    pub every: u64,
}

impl Default for MessageFilter {
    fn default() -> MessageFilter {
        let (channels, excluded) = Default::default();
        MessageFilter { channels, excluded, from: None, to: None, range: None, every: 1 }
    }
}

impl MessageFilter {
    /// Whether messages are chosen by their numbers, so that all of them count.
    pub fn selects_by_number(&self) -> bool {
        self.range.is_some()
    }

    /// Why no message was taken of files.
    pub fn explain_empty(&self, files: &str) -> String {
        match *self == MessageFilter::default() {
            true => format!("{files} has no messages"),
            false => explain_unmatched(files),
        }
    }

    /// What is selected of some files. Times count from the first message of all of them.
    ///
    /// # Errors
    /// When a file cannot be read, or has no times to count from.
    pub fn resolve(&self, files: &[PathBuf], hints: &OpenHints) -> Result<Selection> {
        let is_relative = |moment: &Option<Moment>| matches!(moment, Some(Moment::AfterFirst(_)));
        let first = match is_relative(&self.from) || is_relative(&self.to) {
            true => {
                let times = files.iter().map(|path| first_time(path, hints));
                times.collect::<Result<Vec<_>>>()?.into_iter().min().unwrap_or(0)
            }
            false => 0,
        };
        let on_clock = |moment: Moment| match moment {
            Moment::AfterFirst(span) => first + span,
            Moment::OnClock(time) => time,
        };
        let range = self.range.unwrap_or(MessageRange { first: 0, end: None });
        Ok(Selection {
            channels: self.channels.clone(),
            excluded: self.excluded.clone(),
            from: self.from.map(on_clock),
            to: self.to.map(on_clock),
            first: range.first,
            end: range.end,
            every: self.every,
        })
    }
}

/// That files have messages, and none of them is selected.
pub(crate) fn explain_unmatched(files: &str) -> String {
    format!("no message in {files} has the channel, time and number that were asked for")
}

/// The time of the first message; 0 of a file without messages.
fn first_time(path: &Path, hints: &OpenHints) -> Result<Nanoseconds> {
    let summary = if path.is_dir() { None } else { Summary::open(path)? };
    if let Some(Summary { statistics: Some(known), .. }) = summary {
        if known.messages > 0 {
            return Ok(known.times.0.into());
        }
    }
    let mut reader = open::open_with(path, hints, &osi_definitions)?;
    let mut is_empty = true;
    while let Some(head) = reader.next()? {
        is_empty = false;
        if let Some(time) = head.time {
            return Ok(time);
        }
    }
    if is_empty {
        return Ok(0);
    }
    bail!("{}: no message has a time, so leave out --from and --to", path.display())
}

/// A moment in a trace, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// So long after the first message: `12.5s`.
    AfterFirst(Nanoseconds),
    /// On the clock of the trace: `@1623.5`, in seconds.
    OnClock(Nanoseconds),
}

impl FromStr for Moment {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Moment> {
        match text.strip_prefix('@') {
            None => Ok(Moment::AfterFirst(parse_nanoseconds(text)?)),
            Some(clock) if clock.ends_with(|last: char| last.is_ascii_digit() || last == '.') => {
                Ok(Moment::OnClock(parse_nanoseconds(&format!("{clock}s"))?))
            }
            Some(clock) => Ok(Moment::OnClock(parse_nanoseconds(clock)?)),
        }
    }
}

/// Messages by their numbers, counted from 0: `10..20`, `10..`, `..3` or `7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRange {
    /// The first one.
    pub first: u64,
    /// The one after the last one; none for the end of the file.
    pub end: Option<u64>,
}

impl FromStr for MessageRange {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<MessageRange> {
        let (first, end) = match text.split_once("..") {
            Some(both) => both,
            None => {
                let first: u64 = text.parse().context("write one number, or A..B")?;
                return Ok(MessageRange { first, end: first.checked_add(1) });
            }
        };
        let number = |text: &str| text.parse::<u64>().context("write A..B, A.. or ..B");
        let first = if first.is_empty() { 0 } else { number(first)? };
        let end = if end.is_empty() { None } else { Some(number(end)?) };
        ensure!(end.is_none_or(|end| end > first), "the range is empty");
        Ok(MessageRange { first, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (text, wanted) in [
            ("12.5s", Moment::AfterFirst(12_500_000_000)),
            ("300ms", Moment::AfterFirst(300_000_000)),
            ("1.5 min", Moment::AfterFirst(90_000_000_000)),
            ("7ns", Moment::AfterFirst(7)),
            ("@1623247200.123456789", Moment::OnClock(1_623_247_200_123_456_789)),
            ("@-0.5", Moment::OnClock(-500_000_000)),
        ] {
            assert_eq!(text.parse::<Moment>().unwrap(), wanted, "{text}");
        }
        for text in ["12", "s", "@", "1.s2", "0.1ns", "@0.1234567891", "1e3s"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }

    #[test]
    fn spans_of_messages() {
        let span = |first, end| MessageRange { first, end };
        for (text, wanted) in [
            ("7", span(7, Some(8))),
            ("10..20", span(10, Some(20))),
            ("10..", span(10, None)),
            ("..3", span(0, Some(3))),
        ] {
            assert_eq!(text.parse::<MessageRange>().unwrap(), wanted);
        }
        assert!("3..3".parse::<MessageRange>().is_err() && "a..".parse::<MessageRange>().is_err());
    }
}
