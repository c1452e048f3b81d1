//! What benchmarks of the bus share. Each is the program of its participants, too.

use std::process::ExitCode;

use anyhow::{Context, Result};
use wiregauge_bus::catalogue::built_in;
use wiregauge_participant::participant::run_in_threads;

/// Does what a conductor started this program for.
pub fn take_part(words: &[&str]) -> Result<()> {
    let after = |name: &'static str| {
        words.chunks(2).filter(move |pair| pair[0] == name).filter_map(|pair| pair.get(1))
    };
    let control = after("--control").next().context("a participant needs --control")?;
    let names: Vec<String> = after("--name").map(|name| name.to_string()).collect();
    run_in_threads(control.parse()?, &names, &built_in())
}

/// How the program ends, with the reason if it failed.
pub fn ended(outcome: Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// That in the middle, or between the two there.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match (values.get(values.len().saturating_sub(1) / 2), values.get(values.len() / 2)) {
        (Some(low), Some(high)) => f64::midpoint(*low, *high),
        _ => f64::NAN,
    }
}
