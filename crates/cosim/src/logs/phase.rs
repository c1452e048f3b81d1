//! From the events of a log to the phases of each step.

use crate::logs::log::{EventKind, Log, LogEvent};

/// One step of an FMU, as its log tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedStep {
    /// Simulation time, in nanoseconds.
    pub simulation_ns: i128,
    /// When its first phase began, on the machine's clock, in nanoseconds.
    pub began_ns: i128,
    /// When its last phase ended.
    pub ended_ns: i128,
    /// Its phases in nanoseconds: generation and serialization of a source;
    /// deserialization, calculation and serialization of a model. None where
    /// an event is missing or time went backwards.
    pub phases: Vec<Option<u64>>,
    /// Size of the message in bytes.
    pub size: u64,
}

/// The names of the phases in a run.
pub const SOURCE: [&str; 2] = ["source generation", "source serialization"];
/// Those of a model.
pub const MODEL: [&str; 3] = ["model deserialization", "model calculation", "model serialization"];

/// The events that make the steps of a source, or else of a model, whole.
pub fn events(source: bool) -> &'static str {
    if source {
        "StartSourceCalc, StartOSISerialize, StopOSISerialize"
    } else {
        "StartOSIDeserialize, StopOSIDeserialize, StartOSISerialize, StopOSISerialize"
    }
}

/// How many steps of a log lack an event, in words; none where all are whole.
/// A sink makes no message, so it has none to serialize.
pub fn describe_incomplete(log: &Log, steps: &[LoggedStep]) -> Option<String> {
    let sink = log.is_sink();
    let whole =
        |step: &&LoggedStep| step.phases.iter().take(if sink { 1 } else { 3 }).all(Option::is_some);
    let lacking = steps.len() - steps.iter().filter(whole).count();
    (lacking > 0 || steps.is_empty()).then(|| {
        format!(
            "{lacking} of {} steps lack one of the events {}, or have them in another order",
            steps.len(),
            events(log.is_source())
        )
    })
}

/// The steps of a log in their order, and how many events belong to none.
pub fn steps(log: &Log) -> (Vec<LoggedStep>, usize) {
    let source = log.is_source();
    let opening = if source { EventKind::StartSourceCalc } else { EventKind::StartOsiDeserialize };
    let mut groups: Vec<Vec<LogEvent>> = Vec::new();
    let mut before = 0;
    for event in &log.events {
        let opens = groups.last().is_none_or(|group| {
            let closed = group.iter().any(|e| e.kind == EventKind::StopOsiSerialize);
            group[0].simulation_ns != event.simulation_ns || closed
        });
        match groups.last_mut() {
            _ if event.kind == opening && opens => groups.push(vec![*event]),
            Some(group) => group.push(*event),
            None => before += 1,
        }
    }
    (groups.iter().map(|group| step(group, source)).collect(), before)
}

fn step(events: &[LogEvent], source: bool) -> LoggedStep {
    let first = |kind: EventKind| events.iter().find(|e| e.kind == kind).map(|e| e.global_ns);
    let last = |kind: EventKind| events.iter().rev().find(|e| e.kind == kind).map(|e| e.global_ns);
    let serialized = [first(EventKind::StartOsiSerialize), last(EventKind::StopOsiSerialize)];
    let marks = if source {
        let [start, stop] = serialized;
        vec![first(EventKind::StartSourceCalc), start, stop]
    } else {
        // Several inputs may be deserialized in a step.
        let (start, stop) =
            (first(EventKind::StartOsiDeserialize), last(EventKind::StopOsiDeserialize));
        let [from, to] = serialized;
        vec![start, stop, from, to]
    };
    let phases =
        marks.windows(2).map(|pair| u64::try_from(pair[1]?.checked_sub(pair[0]?)?).ok()).collect();
    let times = || events.iter().map(|event| event.global_ns);
    LoggedStep {
        simulation_ns: events[0].simulation_ns,
        began_ns: times().min().unwrap_or(0),
        ended_ns: times().max().unwrap_or(0),
        phases,
        // What came out; what went in stands with other events.
        size: events
            .iter()
            .rev()
            .find(|event| event.kind == EventKind::StopOsiSerialize)
            .or(events.iter().max_by_key(|event| event.size))
            .map_or(0, |event| event.size),
    }
}

/// Puts steps in the places that the master counted, `count` of them: in their
/// order where the numbers agree, else by simulation time, which a log may
/// write as that of the step's beginning or of its end.
pub fn align_steps(
    mut steps: Vec<LoggedStep>,
    count: u64,
    start: f64,
    size: f64,
) -> Vec<Option<LoggedStep>> {
    if steps.len() as u64 == count {
        return steps.into_iter().map(Some).collect();
    }
    let mut places: Vec<Option<LoggedStep>> = vec![None; count as usize];
    let Some(first) = steps.first() else { return places };
    let at = |step: &LoggedStep| (step.simulation_ns as f64 / 1e9 - start) / size;
    // Only the end of the last step is that late.
    let late = steps.last().is_some_and(|last| at(last) > count as f64 - 0.5);
    let offset = if at(first) > 0.5 && (late || at(first) < 1.5) { 1.0 } else { 0.0 };
    for step in steps.drain(..) {
        let index = at(&step) - offset;
        let nearest = index.round();
        if nearest >= 0.0 && nearest < count as f64 && (index - nearest).abs() < 0.25 {
            places[nearest as usize] = Some(step);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(events: &[(EventKind, i128, i128)]) -> Log {
        let events = events.iter().map(|&(kind, global_ns, simulation_ns)| LogEvent {
            kind,
            global_ns,
            simulation_ns,
            size: 7,
        });
        Log {
            identity: String::new(),
            osi_version: None,
            events: events.collect(),
            resolution_ns: 1,
            flaws: Vec::new(),
        }
    }

    use EventKind::{
        StartOsiDeserialize as Des, StartOsiSerialize as Ser, StartSourceCalc as Calc,
        StopOsiDeserialize as DesEnd, StopOsiSerialize as SerEnd,
    };

    #[test]
    fn a_source_has_two_phases() {
        let (steps, _) = steps(&log(&[
            (Calc, 100, 1),
            (Ser, 130, 1),
            (SerEnd, 135, 1),
            (Calc, 200, 2),
            (Ser, 240, 2),
            (SerEnd, 241, 2),
        ]));
        let phases: Vec<_> = steps.iter().map(|step| step.phases.clone()).collect();
        assert_eq!(phases, [[Some(30), Some(5)], [Some(40), Some(1)]]);
        assert_eq!((steps[1].began_ns, steps[1].ended_ns, steps[1].size), (200, 241, 7));
    }

    #[test]
    fn a_model_has_three_phases() {
        let (steps, before) = steps(&log(&[
            // The end of a step that was not seen from its beginning.
            (SerEnd, 90, 0),
            (Des, 100, 1),
            (DesEnd, 103, 1),
            // A second input.
            (Des, 104, 1),
            (DesEnd, 110, 1),
            (Ser, 150, 1),
            (SerEnd, 160, 1),
        ]));
        assert_eq!((steps.len(), before), (1, 1));
        assert_eq!(steps[0].phases, [Some(10), Some(40), Some(10)]);
    }

    #[test]
    fn steps_are_told_apart_though_simulation_time_stands_still() {
        let (steps, _) = steps(&log(&[
            (Calc, 100, 5),
            (Ser, 130, 5),
            (SerEnd, 135, 5),
            (Calc, 200, 5),
            (Ser, 240, 5),
            (SerEnd, 241, 5),
        ]));
        assert_eq!(steps.len(), 2);
    }

    #[test]
    fn what_is_missing_or_backwards_is_lost() {
        let (steps, _) = steps(&log(&[
            (Calc, 100, 1),
            (SerEnd, 135, 1),
            (Calc, 200, 2),
            (Ser, 190, 2),
            (SerEnd, 241, 2),
        ]));
        assert_eq!(steps[0].phases, [None, None]);
        assert_eq!(steps[1].phases, [None, Some(51)]);
    }

    #[test]
    fn steps_are_placed_by_their_time_where_some_are_missing() {
        let of = |times: &[i128]| -> Vec<LoggedStep> {
            times
                .iter()
                .map(|&ms| LoggedStep {
                    simulation_ns: ms * 1_000_000,
                    began_ns: 0,
                    ended_ns: 0,
                    phases: Vec::new(),
                    size: 0,
                })
                .collect()
        };
        let places = |times: &[i128], count| -> Vec<usize> {
            let placed = align_steps(of(times), count, 0.0, 0.02);
            placed.iter().enumerate().filter_map(|(i, s)| s.as_ref().map(|_| i)).collect()
        };
        assert_eq!(places(&[20, 40, 60], 3), [0, 1, 2]);
        assert_eq!(places(&[20, 60], 3), [0, 2]);
        assert_eq!(places(&[0, 40], 3), [0, 2]);
        assert_eq!(places(&[20, 50, 60, 80], 3), [0, 2]);
        // The first steps had no message.
        assert_eq!(places(&[60, 80, 100], 5), [2, 3, 4]);
        assert_eq!(places(&[40, 60, 80], 5), [2, 3, 4]);
    }
}
