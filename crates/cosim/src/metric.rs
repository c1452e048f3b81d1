//! The metrics of a co-simulation, in the order of its tables.

/// The metrics of a run, in the order of its tables.
pub const METRICS: [&str; 13] = [
    "step",
    "step/source generation",
    "step/source serialization",
    "step/model deserialization",
    "step/model calculation",
    "step/model serialization",
    "source",
    "model",
    "exchange",
    "exchange/source do-step",
    "exchange/get",
    "exchange/set",
    "exchange/model do-step",
];
/// Where the metrics begin that the master measures by itself.
pub const EXCHANGE: usize = 8;

/// The metrics of which each step is kept, for percentiles.
pub const DISTRIBUTED: [&str; 2] = ["step", "exchange"];

/// The phases that are there as metrics, with the sums that are whole.
pub fn phase_values(phases: [Option<f64>; 5]) -> Vec<(usize, f64)> {
    let sum = |range: std::ops::Range<usize>| phases[range].iter().copied().sum::<Option<f64>>();
    [(0, sum(0..5)), (6, sum(0..2)), (7, sum(2..5))]
        .into_iter()
        .chain((1..).zip(phases))
        .filter_map(|(metric, ns)| Some((metric, ns?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_that_are_missing_leave_their_sums_out() {
        let metrics = |phases| -> Vec<&str> {
            phase_values(phases).into_iter().map(|(metric, _)| METRICS[metric]).collect()
        };
        assert_eq!(metrics([Some(1.0); 5]).len(), 8);
        let source = [Some(1.0), Some(2.0), None, None, None];
        assert_eq!(
            metrics(source),
            ["source", "step/source generation", "step/source serialization"]
        );
        let sink = [Some(1.0), Some(2.0), Some(3.0), None, None];
        assert!(metrics(sink).contains(&"step/model deserialization"));
        assert!(!metrics(sink).contains(&"model") && !metrics(sink).contains(&"step"));
    }
}
