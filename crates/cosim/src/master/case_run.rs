//! One subject on one case of a co-simulation.

use crate::master::record::StepRecord;
use crate::master::tally::StepTally;

/// One subject on one case.
pub struct CaseRun {
    /// Which case of the plan.
    pub case: usize,
    /// Sizes of the source's and of the model's message.
    pub sizes: [u64; 2],
    /// Steps of an epoch.
    pub steps: u64,
    /// Steps of each process that are not counted.
    pub warm_up: u64,
    /// Most rounds that a process has steps for, and why; none where it has no
    /// end.
    pub most: Option<(u64, String)>,
    /// What an epoch takes in calibration, in nanoseconds.
    pub epoch_ns: f64,
    /// What a start takes, in nanoseconds.
    pub start_ns: f64,
    /// One for each metric: `samples[process][round]`.
    pub samples: Vec<Vec<Vec<Option<f64>>>>,
    /// What each measured step took, for each of `metric::DISTRIBUTED`.
    pub times: [Vec<f64>; 2],
    /// What went wrong when the FMUs were ended after the proof, which says nothing against
    /// what they did before.
    pub ending: Option<String>,
    /// The steps of the process that runs.
    pub record: Option<StepRecord>,
    /// What those of all processes come to.
    pub tally: StepTally,
}

impl CaseRun {
    /// One that is not calibrated yet.
    pub fn new(case: usize, sizes: [u64; 2], warm_up: u64, start_ns: f64) -> CaseRun {
        CaseRun {
            case,
            sizes,
            steps: 1,
            warm_up,
            most: None,
            epoch_ns: 0.0,
            start_ns,
            samples: Vec::new(),
            times: Default::default(),
            ending: None,
            record: None,
            tally: StepTally::default(),
        }
    }

    /// Whether there is any sample.
    pub fn has_figures(&self) -> bool {
        self.samples.iter().flatten().flatten().any(Option::is_some)
    }

    /// Samples of a round, by their metrics.
    pub fn add_samples(&mut self, process: usize, round: usize, values: Vec<(usize, f64)>) {
        for (metric, value) in values {
            self.samples[metric][process][round] = Some(value);
        }
    }
}
