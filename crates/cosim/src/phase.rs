//! From the events of a log to the phases of each step.

use crate::log::{Event, Kind, Log};

/// One step of an FMU, as its log tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Simulation time, in nanoseconds.
    pub simulation_ns: i128,
    /// When its first phase began, on the machine's clock, in nanoseconds.
    pub began_ns: i128,
    /// When its last phase ended.
    pub ended_ns: i128,
    /// Its phases in nanoseconds: generation and serialization of a source;
    /// deserialization, calculation and serialization of a model. None where
    /// an event is missing or time went backwards.
    pub phases: Option<Vec<u64>>,
    /// Size of the message in bytes.
    pub size: u64,
}

/// The names of the phases in a run.
pub const SOURCE: [&str; 2] = ["source generation", "source serialization"];
/// Those of a model.
pub const MODEL: [&str; 3] = ["model deserialization", "model calculation", "model serialization"];

/// The steps of a log in their order.
pub fn steps(log: &Log) -> Vec<Step> {
    let source = log.is_source();
    let opening = if source { Kind::StartSourceCalc } else { Kind::StartOsiDeserialize };
    let mut groups: Vec<Vec<Event>> = Vec::new();
    for event in &log.events {
        let opens = groups.last().is_none_or(|group| {
            let closed = group.iter().any(|e| e.kind == Kind::StopOsiSerialize);
            group[0].simulation_ns != event.simulation_ns || closed
        });
        match groups.last_mut() {
            _ if event.kind == opening && opens => groups.push(vec![*event]),
            Some(group) => group.push(*event),
            // What comes before the first step belongs to none.
            None => {}
        }
    }
    groups.iter().map(|group| step(group, source)).collect()
}

fn step(events: &[Event], source: bool) -> Step {
    let first = |kind: Kind| events.iter().find(|e| e.kind == kind).map(|e| e.global_ns);
    let last = |kind: Kind| events.iter().rev().find(|e| e.kind == kind).map(|e| e.global_ns);
    let serialized = [first(Kind::StartOsiSerialize), last(Kind::StopOsiSerialize)];
    let marks = if source {
        let [start, stop] = serialized;
        vec![first(Kind::StartSourceCalc), start, stop]
    } else {
        // Several inputs may be deserialized in a step.
        let (start, stop) = (first(Kind::StartOsiDeserialize), last(Kind::StopOsiDeserialize));
        let [from, to] = serialized;
        vec![start, stop, from, to]
    };
    let marks: Option<Vec<i128>> = marks.into_iter().collect();
    let phases = marks.and_then(|marks| {
        marks.windows(2).map(|pair| u64::try_from(pair[1] - pair[0]).ok()).collect()
    });
    let times = || events.iter().map(|event| event.global_ns);
    Step {
        simulation_ns: events[0].simulation_ns,
        began_ns: times().min().unwrap_or(0),
        ended_ns: times().max().unwrap_or(0),
        phases,
        // What came out; what went in stands with other events.
        size: events
            .iter()
            .rev()
            .find(|event| event.kind == Kind::StopOsiSerialize)
            .or(events.iter().max_by_key(|event| event.size))
            .map_or(0, |event| event.size),
    }
}

/// Puts steps in the places that the master counted, `count` of them: in their
/// order where the numbers agree, else by simulation time.
pub fn placed(mut steps: Vec<Step>, count: u64, start: f64, size: f64) -> Vec<Option<Step>> {
    if steps.len() as u64 == count {
        return steps.into_iter().map(Some).collect();
    }
    let mut places: Vec<Option<Step>> = vec![None; count as usize];
    let Some(first) = steps.first() else { return places };
    // A log says when a step begins, or when it ends.
    let at = |step: &Step| (step.simulation_ns as f64 / 1e9 - start) / size;
    let offset = if at(first) > 0.5 { 1.0 } else { 0.0 };
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

    fn log(events: &[(Kind, i128, i128)]) -> Log {
        let events = events.iter().map(|&(kind, global_ns, simulation_ns)| Event {
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

    use Kind::{
        StartOsiDeserialize as Des, StartOsiSerialize as Ser, StartSourceCalc as Calc,
        StopOsiDeserialize as DesEnd, StopOsiSerialize as SerEnd,
    };

    #[test]
    fn a_source_has_two_phases() {
        let steps = steps(&log(&[
            (Calc, 100, 1),
            (Ser, 130, 1),
            (SerEnd, 135, 1),
            (Calc, 200, 2),
            (Ser, 240, 2),
            (SerEnd, 241, 2),
        ]));
        let phases: Vec<_> = steps.iter().map(|step| step.phases.clone().unwrap()).collect();
        assert_eq!(phases, [[30, 5], [40, 1]]);
        assert_eq!((steps[1].began_ns, steps[1].ended_ns, steps[1].size), (200, 241, 7));
    }

    #[test]
    fn a_model_has_three_phases() {
        let steps = steps(&log(&[
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
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].phases.clone().unwrap(), [10, 40, 10]);
    }

    #[test]
    fn steps_are_told_apart_though_simulation_time_stands_still() {
        let steps = steps(&log(&[
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
        let steps = steps(&log(&[
            (Calc, 100, 1),
            (SerEnd, 135, 1),
            (Calc, 200, 2),
            (Ser, 190, 2),
            (SerEnd, 241, 2),
        ]));
        assert_eq!(steps.iter().filter(|step| step.phases.is_none()).count(), 2);
    }

    #[test]
    fn steps_are_placed_by_their_time_where_some_are_missing() {
        let of = |times: &[i128]| -> Vec<Step> {
            times
                .iter()
                .map(|&ms| Step {
                    simulation_ns: ms * 1_000_000,
                    began_ns: 0,
                    ended_ns: 0,
                    phases: None,
                    size: 0,
                })
                .collect()
        };
        let places = |times: &[i128], count| -> Vec<usize> {
            let placed = placed(of(times), count, 0.0, 0.02);
            placed.iter().enumerate().filter_map(|(i, s)| s.as_ref().map(|_| i)).collect()
        };
        assert_eq!(places(&[20, 40, 60], 3), [0, 1, 2]);
        assert_eq!(places(&[20, 60], 3), [0, 2]);
        assert_eq!(places(&[0, 40], 3), [0, 2]);
        assert_eq!(places(&[20, 50, 60, 80], 3), [0, 2]);
    }
}
