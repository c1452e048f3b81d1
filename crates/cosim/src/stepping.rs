//! When the steps of an FMU begin and end that is given messages which have times.
//!
//! All times are counted from the first one, in whole nanoseconds or by a multiplication:
//! rounding does not add up.

use anyhow::{bail, ensure, Result};

/// Nanoseconds of simulation time.
type Nanoseconds = i128;

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;
/// Most steps of one length between two messages.
const MOST: f64 = 1e6;
/// How far a message may be off the end of a step of one length, as a share of the step:
/// clocks have a grain.
const TOLERANCE: f64 = 0.01;

/// How long the steps are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// From message to message.
    Varying,
    /// All the same, and there is a message at the end of each.
    Same,
    /// All the same, whenever messages come.
    Sampled,
}

/// A step: where it begins and how long it is, in seconds, and where it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSpan {
    /// Where it begins, in seconds.
    pub begin: f64,
    /// How long it is, in seconds.
    pub size: f64,
    /// Where it ends.
    pub end: Nanoseconds,
}

/// The steps of an FMU, so far.
#[derive(Clone, Debug)]
pub struct Stepping {
    length: Length,
    /// The step's size in seconds, of varying ones that of the first.
    size: f64,
    /// Where the first step begins; of varying ones, where the next does.
    start: Nanoseconds,
    /// Steps that were done.
    pub done: u64,
    /// The time of the last message, which is the end of a varying step.
    last: Option<Nanoseconds>,
    /// What the times of the trace are put off by since it is played again.
    later: Nanoseconds,
    /// Whether the next message is the first of a turn.
    turns: bool,
}

impl Stepping {
    /// Steps that begin a step before the first message, at a time.
    pub fn new(length: Length, size: f64, first: Nanoseconds) -> Stepping {
        let start = first - nanoseconds(size);
        Stepping { length, size, start, done: 0, last: None, later: 0, turns: false }
    }

    /// The size of the steps, of varying ones that of the first, in seconds.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// How long the steps are.
    pub fn length(&self) -> Length {
        self.length
    }

    /// Where the simulation starts, in seconds, before any step is done.
    pub fn start(&self) -> f64 {
        seconds(self.start)
    }

    /// The trace begins again: the next message comes a step after the last one.
    pub fn restart_trace(&mut self) {
        self.turns = self.last.is_some();
    }

    /// Takes the time of a message; one without a time comes a step after the one before.
    /// None where it does not come after that: an FMU's time goes forward alone.
    pub fn accept_time(&mut self, time: Option<Nanoseconds>) -> Option<Nanoseconds> {
        let next = match self.last {
            Some(last) => last + nanoseconds(self.size).max(1),
            None => self.end(),
        };
        if std::mem::take(&mut self.turns) {
            self.later = next - time.unwrap_or(next);
        }
        let time = time.map_or(next, |time| time + self.later);
        if self.last.is_some_and(|last| time <= last) {
            return None;
        }
        self.last = Some(time);
        Some(time)
    }

    /// The step that ends before a message of this time, if there is one: it has the
    /// message before.
    ///
    /// # Errors
    /// When there are more than can be done.
    pub fn step_before(&mut self, time: Nanoseconds) -> Result<Option<StepSpan>> {
        if self.length != Length::Sampled {
            return Ok(None);
        }
        let left = (time - self.end()) as f64 / SECOND / self.size;
        ensure!(
            left <= MOST,
            "{left:.0} steps of {} s lie before the message at {} s; {MOST} is the limit",
            self.size,
            seconds(time)
        );
        Ok((left > TOLERANCE).then(|| self.extra_step()))
    }

    /// The step that ends with a message of this time; none where it ends later.
    ///
    /// # Errors
    /// When the steps are of one length, and none ends there.
    pub fn step_at(&mut self, time: Nanoseconds) -> Result<Option<StepSpan>> {
        let off = (time - self.end()) as f64 / SECOND / self.size;
        match self.length {
            Length::Varying => {
                let begin = self.start;
                self.done += 1;
                self.start = time;
                let size = seconds(time - begin);
                Ok(Some(StepSpan { begin: seconds(begin), size, end: time }))
            }
            Length::Same if off.abs() > TOLERANCE => bail!(
                "it takes steps of one length only (canHandleVariableCommunicationStepSize in its \
                 modelDescription.xml is not true), but the message at {} s does not come one step \
                 of {} s after the one before; --step-size SECONDS samples the trace in steps of \
                 that length",
                seconds(time),
                self.size
            ),
            Length::Same => Ok(Some(self.extra_step())),
            Length::Sampled => Ok((off >= -TOLERANCE).then(|| self.extra_step())),
        }
    }

    /// One more step of the one length.
    pub fn extra_step(&mut self) -> StepSpan {
        let (end, passed) = (self.end(), self.done as f64 * self.size);
        self.done += 1;
        StepSpan { begin: seconds(self.start) + passed, size: self.size, end }
    }

    /// Where the next step of the one length ends.
    fn end(&self) -> Nanoseconds {
        self.start + nanoseconds((self.done + 1) as f64 * self.size)
    }
}

fn nanoseconds(seconds: f64) -> Nanoseconds {
    (seconds * SECOND).round() as Nanoseconds
}

fn seconds(nanoseconds: Nanoseconds) -> f64 {
    nanoseconds as f64 / SECOND
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanoseconds = 1_000_000;

    /// The steps for messages at these times, in milliseconds.
    fn steps(length: Length, size: f64, times: &[i64]) -> Result<Vec<(f64, f64)>> {
        let times: Vec<Nanoseconds> = times.iter().map(|time| i128::from(*time) * MS).collect();
        let mut stepping = Stepping::new(length, size, times[0]);
        let mut spans = Vec::new();
        for time in times {
            let Some(time) = stepping.accept_time(Some(time)) else { continue };
            while let Some(span) = stepping.step_before(time)? {
                spans.push((span.begin, span.size));
            }
            spans.extend(stepping.step_at(time)?.map(|span| (span.begin, span.size)));
        }
        Ok(spans)
    }

    #[test]
    fn steps_end_at_the_times_of_the_messages() {
        let varying = |times: &[i64]| steps(Length::Varying, 0.02, times).unwrap();
        assert_eq!(
            varying(&[1_000_100, 1_000_200, 1_000_300]),
            [(1000.08, 0.02), (1000.1, 0.1), (1000.2, 0.1)]
        );
        // At zero, in odd distances, at one time, and back.
        assert_eq!(varying(&[0, 7, 1000]), [(-0.02, 0.02), (0.0, 0.007), (0.007, 0.993)]);
        assert_eq!(varying(&[50, 50, 40, 60]), [(0.03, 0.02), (0.05, 0.01)]);
    }

    #[test]
    fn rounding_does_not_add_up() {
        for (length, size) in [(Length::Varying, 0.1), (Length::Same, 0.1)] {
            let mut stepping = Stepping::new(length, size, 100 * MS);
            for number in 1..=100_000 {
                let time = stepping.accept_time(Some(number * 100 * MS)).unwrap();
                let span = stepping.step_at(time).unwrap().unwrap();
                assert_eq!(span.end, number * 100 * MS);
                assert!((span.begin + span.size - number as f64 / 10.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn steps_of_one_length_are_of_one_length() {
        let same = |times: &[i64]| steps(Length::Same, 0.1, times);
        assert_eq!(same(&[100, 200, 300]).unwrap(), [(0.0, 0.1), (0.1, 0.1), (0.2, 0.1)]);
        let error = same(&[100, 200, 320]).unwrap_err().to_string();
        assert!(error.contains("--step-size") && error.contains("0.32 s"), "{error}");
        // Messages in between are passed over, and steps without a new one have the last.
        let sampled = |times: &[i64]| steps(Length::Sampled, 0.1, times).unwrap();
        let begins = |times: &[i64]| sampled(times).iter().map(|span| span.0).collect::<Vec<_>>();
        assert!(sampled(&[100, 130, 400]).iter().all(|span| span.1 == 0.1));
        assert_eq!(begins(&[100, 130, 160, 200]), [0.0, 0.1]);
        assert_eq!(begins(&[100, 400]).len(), 4);
        assert!(steps(Length::Sampled, 1e-9, &[0, 1]).is_ok());
        assert!(steps(Length::Sampled, 1e-9, &[0, 2]).is_err());
    }

    #[test]
    fn what_is_played_again_goes_on() {
        let mut stepping = Stepping::new(Length::Varying, 0.02, 500 * MS);
        let mut ends = Vec::new();
        for _ in 0..2 {
            stepping.restart_trace();
            for time in [500, 600] {
                let time = stepping.accept_time(Some(time * MS)).unwrap();
                ends.push(stepping.step_at(time).unwrap().unwrap().end / MS);
            }
        }
        assert_eq!(ends, [500, 600, 620, 720]);
        // Without any times.
        let mut stepping = Stepping::new(Length::Varying, 0.02, 20 * MS);
        let ends: Vec<i128> = (0..3)
            .map(|_| {
                stepping
                    .accept_time(None)
                    .and_then(|time| stepping.step_at(time).unwrap())
                    .unwrap()
                    .end
            })
            .collect();
        assert_eq!(ends, [20 * MS, 40 * MS, 60 * MS]);
    }
}
