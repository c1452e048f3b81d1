//! What is sent: so many bytes, so often, in a mode, to so many.

pub mod fep;
pub mod modes;

use std::time::Duration;

use anyhow::{ensure, Result};
use wiregauge_participant::control::Mode;
use wiregauge_participant::sample::{HEADER_SIZE, MAX_RUN_NS, MAX_SAMPLE_SIZE};
use wiregauge_result::run::{Case, Parameter};

/// Most participants of a run: each is a process with connections of its own.
pub const MAX_PARTICIPANTS: usize = 256;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Size of a sample in bytes.
    pub size: usize,
    /// From sample to sample; zero is as fast as it goes.
    pub cycle: Duration,
    /// How participants keep together.
    pub mode: Mode,
    /// Whether simulated time runs as fast as it can.
    pub fast: bool,
    /// How many receive.
    pub receivers: usize,
}

impl Load {
    /// Whether it can be sent.
    ///
    /// # Errors
    /// A size that has no room for a header, or more than the largest.
    pub fn check(&self) -> Result<()> {
        ensure!(
            self.size >= HEADER_SIZE,
            "a sample of {} B is too small for its sequence number and time; give {HEADER_SIZE} B \
             or more",
            self.size
        );
        ensure!(
            self.size <= MAX_SAMPLE_SIZE,
            "a sample can have at most {MAX_SAMPLE_SIZE} B (1 GiB)"
        );
        ensure!(
            !self.cycle.is_zero() || self.mode == Mode::Continuous,
            "discrete mode needs a cycle above 0: the simulated time of a step"
        );
        ensure!(
            !self.fast || self.mode == Mode::Discrete,
            "--fast is for discrete mode only; in continuous mode --cycle 0 sends as fast as \
             possible"
        );
        ensure!(
            self.cycle.as_nanos() < u128::from(MAX_RUN_NS)
                && (1..MAX_PARTICIPANTS).contains(&self.receivers),
            "the cycle must be shorter than 78 hours, and a run can have at most \
             {MAX_PARTICIPANTS} participants"
        );
        Ok(())
    }

    /// Its key: `10 B, 1 ms, discrete`.
    pub fn id(&self) -> String {
        self.id_with(&format_bytes(self.size))
    }

    /// Its key where this is what is sent.
    pub fn id_with(&self, what: &str) -> String {
        format_key(&self.describe_pace(what), self.mode, self.receivers)
    }

    /// What is sent: `10 B, 1 ms`.
    fn describe_pace(&self, what: &str) -> String {
        let cycle = match (self.fast, self.cycle.is_zero()) {
            (true, _) => "as fast as possible".to_owned(),
            (_, true) => "unthrottled".to_owned(),
            _ => format_duration(self.cycle),
        };
        format!("{what}, {cycle}")
    }

    /// What is measured on: generated content, or a message that is carried.
    pub fn case(&self, carried: Option<&Case>) -> Case {
        if let Some(message) = carried {
            return Case { id: self.id_with(&message.id), parameter: None, ..message.clone() };
        }
        Case {
            canonical_bytes: self.size as f64,
            ..Case::new(self.id(), "sample", "sequence, time and content by sequence")
        }
    }

    /// Samples per second that are offered; none where it is as fast as it goes.
    pub fn rate(&self) -> Option<f64> {
        (!self.cycle.is_zero() && !self.fast).then(|| 1.0 / self.cycle.as_secs_f64())
    }
}

/// What is measured on. Loads that differ in nothing but the number of those
/// who receive are a sweep over it.
pub fn cases(loads: &[Load], carried: Option<&Case>) -> Vec<Case> {
    let alone = |load: &Load| Load { receivers: 1, ..*load };
    let case = |load: &Load| {
        let kin = |other: &Load| other != load && alone(other) == alone(load);
        let mut case = load.case(carried);
        if loads.iter().any(kin) {
            case.message = alone(load).case(carried).id;
            let value = load.receivers as f64;
            case.parameter = Some(Parameter { name: "receivers".into(), value });
        }
        case
    };
    loads.iter().map(case).collect()
}

/// `10 B, 1 ms, discrete, 4 participants`, with those who take part only where
/// they are more than two.
pub(crate) fn format_key(what: &str, mode: Mode, receivers: usize) -> String {
    let mode = match mode {
        Mode::Continuous => "continuous",
        Mode::Discrete => "discrete",
    };
    match receivers {
        1 => format!("{what}, {mode}"),
        more => format!("{what}, {mode}, {} participants", more + 1),
    }
}

/// `10 MB` for 10,000,000.
pub(crate) fn format_bytes(size: usize) -> String {
    for (scale, unit) in [(1 << 30, "GiB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")]
    {
        if size >= scale && size.is_multiple_of(scale) {
            return format!("{} {unit}", size / scale);
        }
    }
    format!("{size} B")
}

/// `100 ms`.
pub(crate) fn format_duration(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    for (scale, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs")] {
        if nanoseconds.is_multiple_of(scale) {
            return format!("{} {unit}", nanoseconds / scale);
        }
    }
    format!("{nanoseconds} ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(size: usize, cycle: Duration) -> Load {
        Load { size, cycle, mode: Mode::Discrete, fast: false, receivers: 1 }
    }

    #[test]
    fn has_a_key_that_people_read() {
        assert_eq!(load(10, Duration::from_millis(1)).id(), "10 B, 1 ms, discrete");
        assert_eq!(load(10_000_000, Duration::from_millis(100)).id(), "10 MB, 100 ms, discrete");
        assert_eq!(load(1 << 30, Duration::from_micros(1500)).id(), "1 GiB, 1500 µs, discrete");
        let fast = Load { fast: true, receivers: 3, ..load(1500, Duration::from_millis(1)) };
        assert_eq!(fast.id(), "1500 B, as fast as possible, discrete, 4 participants");
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        for size in [0, 1, 9, (1 << 30) + 1] {
            assert!(load(size, Duration::from_millis(1)).check().is_err(), "{size}");
        }
        for size in [10, 1 << 30] {
            load(size, Duration::from_millis(1)).check().unwrap();
        }
        assert!(load(10, Duration::ZERO).check().is_err());
    }

    #[test]
    fn loads_that_differ_in_receivers_make_a_sweep() {
        let one = load(10, Duration::from_millis(1));
        let three = Load { receivers: 3, ..one };
        let alone = load(500, Duration::from_millis(1));
        let cases = cases(&[one, three, alone], None);
        let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let expected = ["10 B, 1 ms, discrete", "10 B, 1 ms, discrete, 4 participants"];
        assert_eq!(ids[..2], expected);
        assert_eq!([&cases[0].message, &cases[1].message], [expected[0]; 2]);
        let receivers = |case: &Case| case.parameter.as_ref().map(|p| (p.name.clone(), p.value));
        assert_eq!(receivers(&cases[0]), Some(("receivers".into(), 1.0)));
        assert_eq!(receivers(&cases[1]), Some(("receivers".into(), 3.0)));
        assert_eq!((receivers(&cases[2]), cases[2].message.as_str()), (None, "sample"));
    }
}
