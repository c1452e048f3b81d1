//! A run that is made up, for tests.

use std::time::Duration;

use wiregauge_participant::control::{Mode, ReceiverResult, SenderResult, TransportInfo};
use wiregauge_participant::window::{Window, Windows};
use wiregauge_result::environment::Environment;

use crate::load::Load;
use crate::record::RunRecord;
use crate::result::measured_trial::MeasuredTrial;

pub(super) const LOAD: Load = Load::new(10, Duration::from_millis(1), Mode::Continuous);

pub(super) fn window(span: u64, bytes: u64, samples: u64) -> Window {
    Window { span, bytes, samples, ..Window::default() }
}

pub(super) fn record(windows: Vec<Window>) -> RunRecord {
    let about = TransportInfo {
        name: "t".into(),
        library: String::new(),
        options: Vec::new(),
        knows: Vec::new(),
    };
    let received = ReceiverResult { windows, samples: 95, ..ReceiverResult::default() };
    let sent = SenderResult { samples: 100, due: Some(110), ..SenderResult::default() };
    RunRecord {
        about,
        round_trips: None,
        sent,
        received: vec![received],
        background: None,
        broken: None,
    }
}

/// What a receiver sees of 500 B a millisecond that stands still for 800 ms.
pub(super) fn stalled(window: u64, stall: u64) -> Vec<Window> {
    let mut windows = Windows::new(window);
    for due in (0..10_000).map(|at| at * 1_000_000) {
        let stands = (stall..stall + 800_000_000).contains(&due);
        let now = if stands { stall + 800_000_000 } else { due };
        windows.add_due(now, 500, 0, due);
    }
    windows.closed()
}

/// The trial that a record is of.
pub(super) fn trial<'a>(record: &'a RunRecord, machine: &'a Environment) -> MeasuredTrial<'a> {
    MeasuredTrial { case: "c", load: &LOAD, subject: "t", record, machine }
}

/// A figure of the trial.
pub(super) fn fact(measured: &MeasuredTrial, metric: &str) -> Option<f64> {
    measured.facts().iter().find(|fact| fact.metric == metric).map(|fact| fact.value)
}
