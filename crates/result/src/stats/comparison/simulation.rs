//! Runs with noise of known kinds, to test the statistics against.

use crate::random::Random;
use crate::run::{Case, Measurement, Run, Settings, Subject, FORMAT, VERSION};
use crate::run_kind::RunKind;

/// How noisy the simulated machine is; standard deviations are relative.
#[derive(Clone, Debug)]
pub struct SimulatedNoise {
    pub processes: usize,
    pub rounds: usize,
    /// Of each process of each subject.
    pub offsets: f64,
    /// Of single samples.
    pub samples: f64,
    /// Of the walk that the whole machine makes from round to round.
    pub rounds_drift: f64,
    /// Of the whole machine from run to run.
    pub between_runs: f64,
    /// Share of samples that an interruption makes up to ten times longer.
    pub tails: f64,
    /// Processes fall into one of two layouts that differ by this.
    pub layouts: f64,
    /// Of each cell from run to run: pages, links and sockets that a run is
    /// given and keeps.
    pub shifts: f64,
    /// Share of processes that something makes up to half as long again.
    pub bursts: f64,
    /// Share of the machine that other processes took.
    pub others: f64,
    /// Whether there is a bound row.
    pub bounds: bool,
}

impl Default for SimulatedNoise {
    fn default() -> SimulatedNoise {
        SimulatedNoise {
            processes: 5,
            rounds: 12,
            offsets: 0.02,
            samples: 0.03,
            rounds_drift: 0.02,
            between_runs: 0.10,
            tails: 0.05,
            layouts: 0.0,
            shifts: 0.0,
            bursts: 0.0,
            others: 0.0,
            bounds: true,
        }
    }
}

/// A simulated run: one bound and eight subjects.
pub struct Simulation {
    seed: u64,
    noise: SimulatedNoise,
    slower: Vec<(String, f64)>,
    everything: f64,
    flat: bool,
}

impl Simulation {
    pub const METRICS: [&'static str; 3] = ["encode", "decode", "project"];
    const SUBJECTS: usize = 9;

    pub fn new(seed: u64, noise: SimulatedNoise) -> Simulation {
        Simulation { seed, noise, slower: Vec::new(), everything: 1.0, flat: false }
    }

    /// Makes one subject's times longer by a factor.
    pub fn slower(mut self, subject: &str, factor: f64) -> Simulation {
        self.slower.push((subject.to_owned(), factor));
        self
    }

    /// Makes all times longer by a factor, the bound's too.
    pub fn all_slower(mut self, factor: f64) -> Simulation {
        self.everything = factor;
        self
    }

    /// All subjects truly cost the same.
    pub fn flat(mut self) -> Simulation {
        self.flat = true;
        self
    }

    pub fn run(&self) -> Run {
        let mut random = Random::new(self.seed);
        let noise = &self.noise;
        let machine = self.everything * (noise.between_runs * normal(&mut random)).exp();
        // The walk of the machine, the same for all subjects: they take turns.
        let mut walk = 0.0;
        let drift: Vec<f64> = (0..noise.processes * noise.rounds)
            .map(|_| {
                walk = 0.9 * walk + noise.rounds_drift * normal(&mut random);
                machine * f64::exp(walk)
            })
            .collect();
        let mut measurements = Vec::new();
        for subject in 0..Self::SUBJECTS {
            let id = format!("s{subject}");
            if subject == 0 && !noise.bounds {
                continue;
            }
            let factor: f64 =
                self.slower.iter().filter(|(name, _)| *name == id).map(|(_, f)| f).product();
            for (m, metric) in Self::METRICS.iter().enumerate() {
                let cost = if self.flat { 1e4 } else { 1e3 * ((1 + subject) * (1 + m)) as f64 };
                let shift = noise.shifts * normal(&mut random);
                let mut process = |p: usize| {
                    let hit = uniform(&mut random) < noise.bursts;
                    let burst = if hit { 0.4 * uniform(&mut random) } else { 0.0 };
                    let kind = f64::from(u8::from(uniform(&mut random) < 0.5));
                    let offset =
                        noise.offsets * normal(&mut random) + noise.layouts * kind + shift + burst;
                    let mut round = |r: usize| {
                        let late = if uniform(&mut random) < noise.tails {
                            1.0 + 9.0 * uniform(&mut random)
                        } else {
                            1.0
                        };
                        let jitter = (offset + noise.samples * normal(&mut random)).exp();
                        Some(cost * factor * drift[p * noise.rounds + r] * jitter * late)
                    };
                    (0..noise.rounds).map(&mut round).collect()
                };
                measurements.push(Measurement {
                    case: "points=100".into(),
                    subject: id.clone(),
                    metric: (*metric).into(),
                    unit: "ns".into(),
                    iterations: vec![1_000; noise.processes],
                    samples: (0..noise.processes).map(&mut process).collect(),
                });
            }
        }
        let mut run = run(measurements);
        run.environment.activity.others = Some(noise.others);
        run
    }
}

fn run(measurements: Vec<Measurement>) -> Run {
    let subject = |i: usize| Subject {
        library: "none 1.0".into(),
        bound: i == 0,
        ..Subject::new(format!("s{i}"), format!("Subject {i}"), "Rust")
    };
    Run {
        format: FORMAT.into(),
        version: VERSION,
        title: "Simulated".into(),
        kind: RunKind::Codecs,
        command: vec!["wiregauge".into(), "codecs".into()],
        started: "2026-01-01T00:00:00Z".into(),
        seconds: 1.0,
        environment: Default::default(),
        warnings: Vec::new(),
        settings: Settings::default(),
        cases: vec![Case {
            canonical_bytes: 1_000.0,
            ..Case::new("points=100", "lidar.Points", "built in")
        }],
        subjects: (0..Simulation::SUBJECTS).map(subject).collect(),
        measurements,
        facts: Vec::new(),
        curves: Vec::new(),
        slowest: Vec::new(),
        explanations: Vec::new(),
        require: None,
        compared: None,
        reference: None,
    }
}

/// Between 0 and 1, both excluded.
pub fn uniform(random: &mut Random) -> f64 {
    ((random.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Of the standard normal distribution, by Box and Muller's method.
pub fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}
