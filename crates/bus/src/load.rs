//! What is sent: so many bytes, so often, in a mode, by so many on so many topics, to so many.

pub mod fep;
pub mod modes;

use std::time::Duration;

use anyhow::{ensure, Result};
use wiregauge_participant::control::Mode;
use wiregauge_participant::sample::{HEADER_SIZE, MAX_RUN_NS, MAX_SAMPLE_SIZE};
use wiregauge_result::run::{Case, Parameter};

/// Most participants of a run: each is a process with connections of its own.
pub const MAX_PARTICIPANTS: usize = 256;

/// Most topics of a run, of all senders together: a receiver has a reader of each.
pub const MAX_TOPICS: usize = 256;

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
    /// How many send, each on topics of its own.
    pub senders: usize,
    /// How many topics a sender has. In each cycle a sample goes to each of them.
    pub topics: usize,
}

impl Load {
    /// One from a sender to a receiver on a topic.
    pub const fn new(size: usize, cycle: Duration, mode: Mode) -> Load {
        Load { size, cycle, mode, fast: false, receivers: 1, senders: 1, topics: 1 }
    }

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
                && (1..MAX_PARTICIPANTS).contains(&self.receivers)
                && self.senders <= MAX_PARTICIPANTS - self.receivers,
            "the cycle must be shorter than 78 hours, and a run can have at most \
             {MAX_PARTICIPANTS} participants"
        );
        ensure!(
            self.senders > 0 && self.topics > 0,
            "give 1 or more senders, and 1 or more topics"
        );
        let topics = self.senders.saturating_mul(self.topics);
        ensure!(
            topics <= MAX_TOPICS,
            "{topics} topics cannot be measured; give {MAX_TOPICS} or fewer, of all senders together"
        );
        Ok(())
    }

    /// Its key: `10 B, 1 ms, discrete`.
    pub fn id(&self) -> String {
        self.id_with(&format_bytes(self.size))
    }

    /// Its key where this is what is sent.
    pub fn id_with(&self, what: &str) -> String {
        let mut key = format_key(&self.describe_pace(what), self.mode, self.participants() - 1);
        if self.senders > 1 {
            key += &format!(", {} senders", self.senders);
        }
        match (self.topics, self.senders) {
            (1, _) => key,
            (topics, 1) => format!("{key}, {topics} topics"),
            (topics, _) => format!("{key}, {topics} topics each"),
        }
    }

    /// How many take part.
    pub fn participants(&self) -> usize {
        self.senders + self.receivers
    }

    /// Whether there are several senders, or several topics.
    pub fn has_several(&self) -> bool {
        self.senders * self.topics > 1
    }

    /// What a reader of its figures must know of its topics, if there are several.
    pub fn note(&self) -> Option<String> {
        let Load { senders, topics, .. } = *self;
        let each = match topics {
            1 => "a sample in each cycle".to_owned(),
            topics => {
                format!("in each cycle a sample on each of {topics} topics, one after the other")
            }
        };
        let by = match senders {
            1 => format!("the sender sends {each}"),
            senders => {
                let when = match self.mode {
                    Mode::Continuous => "all at the same moments",
                    Mode::Discrete => "the first one announces the step to the others",
                };
                format!("each of {senders} senders sends {each}, {when}")
            }
        };
        self.has_several()
            .then(|| format!("{by}; each receiver reads all {} topics", senders * topics))
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
            notes: self.note().into_iter().collect(),
            ..Case::new(self.id(), "sample", "sequence, time and content by sequence")
        }
    }

    /// Samples per second that are offered to each receiver, on all topics; none where it is as fast
    /// as it goes.
    pub fn rate(&self) -> Option<f64> {
        let samples = (self.senders * self.topics) as f64;
        (!self.cycle.is_zero() && !self.fast).then(|| samples / self.cycle.as_secs_f64())
    }
}

/// A number of a load that may be swept over, and the load that has one there.
type Swept = (&'static str, fn(&Load) -> usize, fn(Load) -> Load);

/// Numbers of a load that may be swept over.
const SWEPT: [Swept; 3] = [
    ("receivers", |load| load.receivers, |load| Load { receivers: 1, ..load }),
    ("topics", |load| load.topics, |load| Load { topics: 1, ..load }),
    ("senders", |load| load.senders, |load| Load { senders: 1, ..load }),
];

/// What is measured on. Loads that differ in nothing but the number of those who receive, of topics
/// or of those who send are a sweep over it.
pub fn cases(loads: &[Load], carried: Option<&Case>) -> Vec<Case> {
    let case = |load: &Load| {
        let mut case = load.case(carried);
        let swept = SWEPT.into_iter().find(|(_, _, alone)| {
            loads.iter().any(|other| other != load && alone(*other) == alone(*load))
        });
        if let Some((name, number, alone)) = swept {
            case.message = alone(*load).case(carried).id;
            let value = number(load) as f64;
            case.parameter = Some(Parameter { name: name.into(), value });
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
        Load::new(size, cycle, Mode::Discrete)
    }

    #[test]
    fn has_a_key_that_people_read() {
        assert_eq!(load(10, Duration::from_millis(1)).id(), "10 B, 1 ms, discrete");
        assert_eq!(load(10_000_000, Duration::from_millis(100)).id(), "10 MB, 100 ms, discrete");
        assert_eq!(load(1 << 30, Duration::from_micros(1500)).id(), "1 GiB, 1500 µs, discrete");
        let fast = Load { fast: true, receivers: 3, ..load(1500, Duration::from_millis(1)) };
        assert_eq!(fast.id(), "1500 B, as fast as possible, discrete, 4 participants");
        let topics = Load { topics: 10, ..load(10, Duration::from_millis(1)) };
        assert_eq!(topics.id(), "10 B, 1 ms, discrete, 10 topics");
        let senders = Load { senders: 4, mode: Mode::Continuous, ..topics };
        assert_eq!(
            senders.id(),
            "10 B, 1 ms, continuous, 5 participants, 4 senders, 10 topics each"
        );
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
    fn senders_and_topics_that_cannot_be_are_refused_with_the_remedy() {
        let discrete = load(10, Duration::from_millis(1));
        let one = Load { mode: Mode::Continuous, ..discrete };
        for (load, words) in [
            (Load { topics: 0, ..one }, "1 or more topics"),
            (Load { senders: 0, ..one }, "1 or more senders"),
            (Load { topics: 257, ..one }, "257 topics cannot be measured; give 256 or fewer"),
            (Load { senders: 4, topics: 65, ..one }, "260 topics cannot be measured"),
            (Load { senders: 256, ..one }, "at most 256 participants"),
            (Load { topics: usize::MAX, senders: 2, ..one }, "give 256 or fewer"),
        ] {
            let error = load.check().unwrap_err().to_string();
            assert!(error.contains(words) && error.lines().count() == 1, "{error}");
        }
        Load { topics: 128, senders: 2, ..discrete }.check().unwrap();
        Load { senders: 255, ..one }.check().unwrap();
    }

    #[test]
    fn what_is_offered_is_that_of_all_topics_and_senders() {
        let one = Load { mode: Mode::Continuous, ..load(10, Duration::from_millis(1)) };
        assert_eq!((one.rate(), one.note()), (Some(1000.0), None));
        let many = Load { senders: 4, topics: 10, ..one };
        assert_eq!(many.rate(), Some(40_000.0));
        assert!(many.note().unwrap().ends_with("each receiver reads all 40 topics"));
    }

    #[test]
    fn loads_that_differ_in_topics_or_senders_make_a_sweep() {
        let one = Load { mode: Mode::Continuous, ..load(10, Duration::from_millis(1)) };
        let parameter = |loads: &[Load]| {
            let last = cases(loads, None).pop().unwrap();
            (last.message, last.parameter.map(|swept| (swept.name, swept.value)))
        };
        let expected = |name: &str| (one.id(), Some((name.to_owned(), 4.0)));
        assert_eq!(parameter(&[one, Load { topics: 4, ..one }]), expected("topics"));
        assert_eq!(parameter(&[one, Load { senders: 4, ..one }]), expected("senders"));
        assert_eq!(parameter(&[one, Load { senders: 4, topics: 2, ..one }]).1, None);
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
