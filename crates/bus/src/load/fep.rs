//! The reference's experiment: FEP SDK 3's throughput between two participants.

use std::time::Duration;

use wiregauge_participant::control::Mode;
use wiregauge_result::run::{Figure, Reference};

use crate::load::Load;

/// Duration of each of the reference's runs.
pub const DURATION: Duration = Duration::from_secs(300);

/// The published table: size, cycle in milliseconds, mode, throughput in MB/s,
/// its variance, and samples of a window.
const TABLE: [(usize, u64, Mode, f64, f64, f64); 6] = [
    (10, 1, Mode::Continuous, 0.010, 0.000000000025, 1000.591),
    (500, 1, Mode::Continuous, 0.500, 0.000000061941, 1000.631),
    (10_000_000, 100, Mode::Continuous, 100.037, 0.007762639499, 10.546),
    (10, 1, Mode::Discrete, 0.010, 0.000000000025, 1000.606),
    (500, 1, Mode::Discrete, 0.500, 0.000000062269, 1000.604),
    (10_000_000, 100, Mode::Discrete, 100.038, 0.004886273418, 10.602),
];

fn load(size: usize, milliseconds: u64, mode: Mode) -> Load {
    Load::new(size, Duration::from_millis(milliseconds), mode)
}

/// What the reference sent.
pub fn loads() -> Vec<Load> {
    TABLE.iter().map(|(size, cycle, mode, ..)| load(*size, *cycle, *mode)).collect()
}

/// The published figures, to stand beside each of these subjects.
pub fn reference(subjects: &[String]) -> Reference {
    let mut figures = Vec::new();
    for (size, cycle, mode, throughput, variance, samples) in TABLE {
        let case = load(size, cycle, mode).id();
        for (metric, unit, value) in [
            ("throughput/mean", "MB/s", throughput),
            ("variance", "(MB/s)²", variance),
            ("samples", "1", samples),
        ] {
            figures.extend(
                subjects
                    .iter()
                    .map(|subject| Figure::new(&case, ("FEP SDK 3", subject), metric, unit, value)),
            );
        }
    }
    Reference {
        title: "FEP SDK 3: performance of the simulation bus".into(),
        conditions: "two hosts with Xeon E5-1650 v3 on 1 Gbit Ethernet; five minutes each".into(),
        notes: vec![
            "the published throughput equals the offered load: nothing was lost".into(),
            "the published throughput is the mean over the windows, here throughput/mean; \
             wiregauge's throughput weights windows by their length"
                .into(),
            "variance of the throughput of a window; windows of a second or a little more, the \
             first three and the last dropped, as in the publication"
                .into(),
        ],
        figures,
        slopes: Vec::new(),
    }
}
