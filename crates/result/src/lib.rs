//! The result file `run.json`: its form, the statistics of its samples, and the warnings about
//! its figures. The crate also compares two results, and checks requirements. It measures
//! nothing.
//!
//! ```
//! use wiregauge_result::requirement::Requirements;
//! use wiregauge_result::run::Measurement;
//! use wiregauge_result::stats::Summary;
//!
//! // Two processes with six rounds each.
//! let rounds = [10.0, 11.0, 12.0, 12.0, 13.0, 14.0].map(Some).to_vec();
//! let measurement = Measurement {
//!     case: "points=10000".into(),
//!     subject: "prost".into(),
//!     metric: "encode".into(),
//!     unit: "ns".into(),
//!     iterations: vec![1000, 1000],
//!     samples: vec![rounds.clone(), rounds],
//! };
//! let summary = Summary::from_measurement(&measurement).expect("there are samples");
//! assert_eq!(summary.median, 12.0);
//!
//! let requirements: Requirements = "encode of prost < 2ms, lost = 0".parse()?;
//! assert_eq!(requirements.all().len(), 2);
//! # Ok::<(), anyhow::Error>(())
//! ```

pub mod cautions;
pub mod doctor;
pub mod environment;
pub mod explanation;
pub mod random;
pub mod requirement;
pub mod row_pairs;
pub mod run;
pub mod run_builder;
pub mod run_kind;
pub mod runner_files;
pub mod stats;
pub mod verdict;
pub mod warning;
