//! Which messages are wanted, as the user says it.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_system::quantity::parse_nanoseconds;
use wiregauge_trace::mcap::summary::Summary;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::Nanoseconds;
use wiregauge_trace::select::Selection;

use crate::workload::osi_definitions;

/// The arguments that say which messages are wanted.
#[derive(clap::Args)]
pub struct SelectionArgs {
    /// Take only this channel; * stands for any letters. Give it several times for
    /// several channels.
    #[arg(long, value_name = "TOPIC")]
    channel: Vec<String>,
    /// Leave out this channel; also with --channel.
    #[arg(long, value_name = "TOPIC")]
    exclude_channel: Vec<String>,
    /// Start at this time: after the first message (12.5s, 300ms), or on the clock of
    /// the trace in seconds (@1623.5).
    #[arg(long, value_name = "TIME")]
    from: Option<Moment>,
    /// Stop after this time, which is included.
    #[arg(long, value_name = "TIME")]
    to: Option<Moment>,
    /// Take only these messages, counted from 0: 10..20 are ten messages, 10.. is all
    /// from there on, 10 is one.
    #[arg(long, value_name = "A..B")]
    range: Option<MessageRange>,
    /// Take only every N-th message of a channel.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
}

impl SelectionArgs {
    /// All messages.
    pub fn all() -> SelectionArgs {
        let (channel, exclude_channel) = Default::default();
        SelectionArgs { channel, exclude_channel, from: None, to: None, range: None, every: 1 }
    }

    /// Whether messages are chosen by their numbers, so that all of them count.
    pub fn selects_by_number(&self) -> bool {
        self.range.is_some()
    }

    /// That no message was taken of a file, and why.
    pub fn explain_empty(&self, input: &Path) -> String {
        let SelectionArgs { channel, exclude_channel, from, to, range, every } = self;
        let is_all = channel.is_empty() && exclude_channel.is_empty() && *every == 1;
        let input = input.display();
        match is_all && from.is_none() && to.is_none() && range.is_none() {
            true => format!("{input} has no messages"),
            false => format!(
                "no message in {input} has the channel, time and number that were asked for"
            ),
        }
    }

    /// What is wanted of some files. Times are counted from the first message of all.
    pub fn resolve(&self, paths: &[PathBuf], wish: &OpenHints) -> Result<Selection> {
        let is_relative = |moment: &Option<Moment>| matches!(moment, Some(Moment::AfterFirst(_)));
        let first = match is_relative(&self.from) || is_relative(&self.to) {
            true => {
                let times = paths.iter().map(|path| first_time(path, wish));
                times.collect::<Result<Vec<_>>>()?.into_iter().min().unwrap_or(0)
            }
            false => 0,
        };
        let on_clock = |moment: Moment| match moment {
            Moment::AfterFirst(span) => first + span,
            Moment::OnClock(time) => time,
        };
        let span = self.range.unwrap_or(MessageRange { first: 0, end: None });
        Ok(Selection {
            channels: self.channel.clone(),
            excluded: self.exclude_channel.clone(),
            from: self.from.map(on_clock),
            to: self.to.map(on_clock),
            first: span.first,
            end: span.end,
            every: self.every,
        })
    }
}

/// The time of the first message.
fn first_time(path: &Path, wish: &OpenHints) -> Result<Nanoseconds> {
    let summary = if path.is_dir() { None } else { Summary::open(path)? };
    if let Some(Summary { statistics: Some(known), .. }) = summary {
        if known.messages > 0 {
            return Ok(known.times.0.into());
        }
    }
    let mut reader = open::open_with(path, wish, &osi_definitions)?;
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

/// A moment in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    AfterFirst(Nanoseconds),
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

/// `10..20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MessageRange {
    first: u64,
    end: Option<u64>,
}

impl FromStr for MessageRange {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<MessageRange> {
        let (first, end) = match text.split_once("..") {
            Some(both) => both,
            None => {
                let first = text.parse().context("write one number, or A..B")?;
                return Ok(MessageRange { first, end: Some(first + 1) });
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
