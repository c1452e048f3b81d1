//! Which steps of a source's log and of a model's belong together.
//!
//! Simulation times say so, but not alone: some FMUs write the time at which a
//! step begins and some that at which it ends, and some write it as `float`.
//! Where both logs go by one clock, that clock decides: a model's step begins
//! after the message was made that it takes, and before the next one was.

use crate::logs::phase::LoggedStep;

/// Dates are beyond this, in nanoseconds; clocks that count from the start of
/// a machine or a process are below, for three years.
const DATE_THRESHOLD_NS: i128 = 100_000_000_000_000_000;
/// How far apart the steps of one simulation may be, besides their period.
const SECOND: i128 = 1_000_000_000;

/// Steps that belong together, as indices of source and model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Pairs in their order.
    pub pairs: Vec<(usize, usize)>,
    /// How they were found, in words.
    pub how: &'static str,
    /// Pairs by simulation time that the clock contradicts, and which are none
    /// therefore.
    pub contradicted: usize,
    /// Whether both go by one clock.
    pub one_clock: bool,
}

/// When steps began and ended, on their clock.
pub fn span(steps: &[LoggedStep]) -> (i128, i128) {
    let began = steps.iter().map(|step| step.began_ns).min();
    let ended = steps.iter().map(|step| step.ended_ns).max();
    (began.unwrap_or(0), ended.unwrap_or(0))
}

/// Whether two logs can be compared by their clocks: both show dates, or none.
pub fn one_clock(source: &[LoggedStep], model: &[LoggedStep]) -> bool {
    let dated = |steps: &[LoggedStep]| span(steps).1 > DATE_THRESHOLD_NS;
    dated(source) == dated(model)
}

/// How long nothing was written between two logs; negative where they overlap.
pub fn gap(source: &[LoggedStep], model: &[LoggedStep]) -> i128 {
    let ((a, b), (c, d)) = (span(source), span(model));
    a.max(c) - b.min(d)
}

/// Whether two logs may be of one simulation.
pub fn may_belong(source: &[LoggedStep], model: &[LoggedStep]) -> bool {
    if one_clock(source, model) {
        let period = |steps| median_difference(steps, |step| step.began_ns);
        let apart = SECOND + 2 * period(source).max(period(model));
        if gap(source, model) > apart {
            return false;
        }
    }
    let ends = |steps: &[LoggedStep]| {
        let times = || steps.iter().map(|step| step.simulation_ns);
        (times().min().unwrap_or(0), times().max().unwrap_or(0))
    };
    let ((a, b), (c, d)) = (ends(source), ends(model));
    if (a == b && source.len() > 1) || (c == d && model.len() > 1) {
        // It stands still, and says nothing.
        return true;
    }
    let period = simulation_period(source, model).unwrap_or(SECOND);
    a.max(c) - b.min(d) <= 2 * period
}

/// The median of what lies between successive steps, where that is positive.
fn median_difference(steps: &[LoggedStep], of: fn(&LoggedStep) -> i128) -> i128 {
    let mut all: Vec<i128> =
        steps.windows(2).map(|pair| of(&pair[1]) - of(&pair[0])).filter(|ns| *ns > 0).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}

fn simulation_period(source: &[LoggedStep], model: &[LoggedStep]) -> Option<i128> {
    [source, model]
        .map(|steps| median_difference(steps, |step| step.simulation_ns))
        .into_iter()
        .filter(|period| *period > 0)
        .min()
}

/// Finds the steps that belong together. `grain` is the coarser of both
/// clocks' resolutions, in nanoseconds.
pub fn pair(source: &[LoggedStep], model: &[LoggedStep], grain: i128) -> Pairing {
    let one_clock = one_clock(source, model);
    let mut found: Vec<Pairing> = Vec::new();
    let mut add = |pairs: Vec<(usize, usize)>, how| {
        found.push(Pairing { pairs, how, contradicted: 0, one_clock });
    };
    let period = simulation_period(source, model);
    if let Some(period) = period {
        let with = |offset| by_simulation(source, model, offset, (period / 4).max(1));
        add(with(0), "by simulation time");
        add(
            with(period),
            "by simulation time, a step later in the model's log than in the source's",
        );
        add(
            with(-period),
            "by simulation time, a step later in the source's log than in the model's",
        );
    }
    if !one_clock {
        let in_order = || (0..source.len()).map(|at| (at, at)).collect();
        let best = found.into_iter().rev().max_by_key(|found| found.pairs.len());
        return match best.filter(|found| !found.pairs.is_empty()) {
            Some(best) => {
                Pairing { how: "by simulation time only, as they use different clocks", ..best }
            }
            None if source.len() == model.len() => Pairing {
                pairs: in_order(),
                how: "by their order only, as neither clocks nor simulation times agree",
                ..Pairing::default()
            },
            None => Pairing::default(),
        };
    }
    let in_turn = by_clock(source, model, grain);
    let near = |&(s, m): &(usize, usize)| -> bool {
        let apart = (model[m].simulation_ns - source[s].simulation_ns).abs();
        period.is_none_or(|period| 2 * apart <= 3 * period)
    };
    let still =
        [source, model].iter().any(|steps| median_difference(steps, |s| s.simulation_ns) == 0);
    if still || in_turn.iter().all(near) {
        found.push(Pairing { pairs: in_turn, how: "by the clock", contradicted: 0, one_clock });
    }
    let any = found.first().filter(|first| !first.pairs.is_empty()).cloned();
    for candidate in &mut found {
        let before = candidate.pairs.len();
        candidate.pairs.retain(|&(s, m)| !contradicts(source, model, s, m, grain));
        candidate.contradicted = before - candidate.pairs.len();
    }
    // The first of equals.
    let best = found.into_iter().rev().max_by_key(|found| found.pairs.len()).unwrap_or_default();
    match any {
        // Clocks that contradict everything are not the same.
        Some(any) if best.pairs.is_empty() => Pairing {
            how: "by simulation time only, as their clocks never agree with it",
            one_clock: false,
            ..any
        },
        _ => best,
    }
}

/// Steps whose simulation times are the same but for `offset`, to `tolerance`.
fn by_simulation(
    source: &[LoggedStep],
    model: &[LoggedStep],
    offset: i128,
    tolerance: i128,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut next = 0;
    for (at, step) in source.iter().enumerate() {
        let wanted = step.simulation_ns + offset;
        while model.get(next).is_some_and(|model| model.simulation_ns < wanted - tolerance) {
            next += 1;
        }
        if model.get(next).is_some_and(|model| model.simulation_ns <= wanted + tolerance) {
            pairs.push((at, next));
            next += 1;
        }
    }
    pairs
}

/// Each of the model's steps with the last of the source's that had ended when
/// it began.
fn by_clock(source: &[LoggedStep], model: &[LoggedStep], grain: i128) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut ended = 0;
    for (at, step) in model.iter().enumerate() {
        while source.get(ended).is_some_and(|source| source.ended_ns <= step.began_ns + grain) {
            ended += 1;
        }
        let Some(last) = ended.checked_sub(1) else { continue };
        if pairs.last().is_none_or(|&(used, _)| used < last) {
            pairs.push((last, at));
        }
    }
    pairs
}

/// Whether a model's step cannot have taken what a source's step made: it
/// began before that was there, or when the next was there already.
fn contradicts(
    source: &[LoggedStep],
    model: &[LoggedStep],
    s: usize,
    m: usize,
    grain: i128,
) -> bool {
    let began = model[m].began_ns;
    began + grain < source[s].ended_ns
        || source.get(s + 1).is_some_and(|next| next.ended_ns + grain < began)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i128 = 1_700_000_000_000_000_000;
    const MS: i128 = 1_000_000;

    /// Steps that begin and end at these times, with these simulation times.
    fn steps(of: impl IntoIterator<Item = (i128, i128, f64)>) -> Vec<LoggedStep> {
        let step = |(began, ended, simulation): (i128, i128, f64)| LoggedStep {
            simulation_ns: (simulation * 1e9).round() as i128,
            began_ns: began,
            ended_ns: ended,
            phases: Vec::new(),
            size: 0,
        };
        of.into_iter().map(step).collect()
    }

    /// A simulation of 20 ms a step whose logs write these times.
    fn logs(
        count: usize,
        source: impl Fn(usize) -> f64,
        model: impl Fn(usize) -> f64,
    ) -> [Vec<LoggedStep>; 2] {
        let at = |step: usize| START + step as i128 * 10 * MS;
        [
            steps((0..count).map(|k| (at(k), at(k) + 3 * MS, source(k)))),
            steps((0..count).map(|k| (at(k) + 4 * MS, at(k) + 9 * MS, model(k)))),
        ]
    }

    fn same(pairing: &Pairing) -> bool {
        pairing.pairs.iter().all(|(s, m)| s == m)
    }

    #[test]
    fn times_as_float_are_the_same_times() {
        let [source, model] = logs(300, |k| f64::from(k as f32 * 0.02_f32), |k| k as f64 * 0.02);
        let exact = source.iter().zip(&model).filter(|(s, m)| s.simulation_ns == m.simulation_ns);
        assert!(exact.count() < 100);
        let pairing = pair(&source, &model, 1);
        assert_eq!((pairing.pairs.len(), pairing.how), (300, "by simulation time"));
        assert!(same(&pairing) && pairing.contradicted == 0);
    }

    #[test]
    fn what_counts_from_the_other_end_is_found_by_the_clock() {
        for (source_end, model_end) in [(0, 1), (1, 0)] {
            let [source, model] =
                logs(50, |k| (k + source_end) as f64 * 0.02, |k| (k + model_end) as f64 * 0.02);
            let pairing = pair(&source, &model, 1);
            assert_eq!(pairing.pairs.len(), 50, "{}", pairing.how);
            assert!(same(&pairing), "{}", pairing.how);
            assert!(pairing.how.contains("a step later"));
        }
    }

    #[test]
    fn what_has_no_partner_has_none() {
        let [source, model] = logs(100, |k| k as f64 * 0.02, |k| k as f64 * 0.02);
        let fifth: Vec<LoggedStep> = model.iter().step_by(5).cloned().collect();
        let pairing = pair(&source, &fifth, 1);
        assert_eq!(pairing.pairs.len(), 20);
        assert!(pairing.pairs.iter().all(|(s, m)| *s == m * 5));
        let pairing = pair(&source[40..], &model, 1);
        assert_eq!(pairing.pairs.len(), 60);
        assert_eq!(pairing.pairs[0], (0, 40));
    }

    #[test]
    fn a_time_that_stands_still_leaves_the_clock() {
        let [source, model] = logs(10, |_| 0.5, |_| 0.5);
        let pairing = pair(&source, &model, 1);
        assert_eq!((pairing.pairs.len(), pairing.how), (10, "by the clock"));
        assert!(same(&pairing));
    }

    #[test]
    fn other_clocks_leave_the_simulation_time() {
        let [source, mut model] = logs(10, |k| k as f64 * 0.02, |k| k as f64 * 0.02);
        for step in &mut model {
            (step.began_ns, step.ended_ns) = (step.began_ns - START, step.ended_ns - START);
        }
        let pairing = pair(&source, &model, 1);
        assert_eq!(pairing.pairs.len(), 10);
        assert!(pairing.how.contains("different clocks") && may_belong(&source, &model));
        // Of two machines, one of which is minutes behind.
        let [source, mut model] = logs(10, |k| k as f64 * 0.02, |k| k as f64 * 0.02);
        for step in &mut model {
            step.began_ns += 200 * MS;
            step.ended_ns += 200 * MS;
        }
        let pairing = pair(&source, &model, 1);
        assert!(pairing.pairs.len() <= 1 || pairing.how.contains("never agree"), "{pairing:?}");
    }

    #[test]
    fn logs_hours_apart_are_of_two_simulations() {
        let [source, mut model] = logs(10, |k| k as f64 * 0.02, |k| k as f64 * 0.02);
        assert!(may_belong(&source, &model));
        for step in &mut model {
            step.began_ns += 3600 * SECOND;
            step.ended_ns += 3600 * SECOND;
        }
        assert!(!may_belong(&source, &model));
        // One step each.
        let [source, model] = logs(1, |_| 0.0, |_| 0.02);
        assert!(may_belong(&source, &model));
        assert_eq!(pair(&source, &model, 1).pairs, [(0, 0)]);
    }
}
