//! The proof before any timing: what a codec is given, it gives back.

use std::time::{Duration, Instant};

use crate::runners::plan::{Deviation, Judge, Sample};
use wiregauge_child_process::reply::{Epoch, NumberDigest, Reading};
use wiregauge_child_process::runner::{Runner, RunnerError};
use wiregauge_result::run::Status;

/// Names of [`Sample::readings`].
const READINGS: [&str; 3] = ["all numbers", "the fixed field", "the element's field"];

/// What becomes of a subject whose runner has trouble.
pub fn status(trouble: RunnerError) -> Status {
    match trouble {
        RunnerError::Rejected(why) => Status::Rejected(why),
        trouble => Status::Failed(trouble.to_string()),
    }
}

/// What came of the messages of a case.
#[derive(Default)]
pub struct Proven {
    /// As they were encoded.
    pub encoded: Vec<Vec<u8>>,
    /// How far each was from what was sent, where there is a judge.
    pub deviations: Vec<Vec<Deviation>>,
    /// How long loading them took.
    pub loading: Duration,
}

/// Loads the messages into a runner and has each come back. Bounds carry nothing, so
/// nothing is asked of them but to live, unless there is a judge.
pub fn prove(
    runner: &mut Runner,
    samples: &[Sample],
    bound: bool,
    judge: Option<&Judge>,
) -> Result<Proven, RunnerError> {
    runner.reset()?;
    let mut proven = Proven::default();
    for (index, sample) in samples.iter().enumerate() {
        let began = Instant::now();
        let wire = runner.message(&sample.canonical)?;
        proven.loading += began.elapsed();
        if let Some(judge) = judge {
            let returned = runner.decode(&wire)?;
            let deviations = judge(&sample.canonical, &returned);
            proven.deviations.push(deviations.map_err(|why| refused(index, &why))?);
        } else if !bound {
            let returned = runner.decode(&wire)?;
            check_same(&sample.canonical, &returned).map_err(|why| refused(index, &why))?;
            let found = runner.values(index)?;
            for ((name, found), wanted) in READINGS.iter().zip(found).zip(sample.readings) {
                check_reading(&wanted, &found)
                    .map_err(|why| refused(index, &format!("{name}: {why}")))?;
            }
        }
        proven.encoded.push(wire);
    }
    Ok(proven)
}

/// What an experiment makes, and so can be held against the message.
enum ExperimentOutput {
    Bytes,
    Message,
    Both,
    /// What this of [`Sample::readings`] is.
    Numbers(usize),
    /// The bytes, and all numbers as they are read of them.
    BytesAndNumbers,
    Nothing,
}

impl ExperimentOutput {
    fn from_experiment(experiment: &str) -> ExperimentOutput {
        match experiment {
            "encode" | "encode/write" => ExperimentOutput::Bytes,
            "decode" | "decode/checked" | "decode/extract" => ExperimentOutput::Message,
            "roundtrip" => ExperimentOutput::Both,
            "client" => ExperimentOutput::BytesAndNumbers,
            "project" | "project/checked" => ExperimentOutput::Numbers(0),
            "fixed" => ExperimentOutput::Numbers(1),
            "element" => ExperimentOutput::Numbers(2),
            _ => ExperimentOutput::Nothing,
        }
    }

    /// Which of [`Sample::readings`] is read.
    fn reading(&self) -> Option<usize> {
        match self {
            ExperimentOutput::Numbers(which) => Some(*which),
            ExperimentOutput::BytesAndNumbers => Some(0),
            _ => None,
        }
    }
}

/// What a message must come back as.
#[derive(Clone, Copy)]
pub enum ExpectedMessage<'a> {
    /// As it was sent.
    Same,
    /// As far from it as in the proof.
    Judged(&'a Judge, &'a [Vec<Deviation>]),
}

impl ExpectedMessage<'_> {
    fn check(&self, index: usize, sent: &[u8], returned: &[u8]) -> Result<(), String> {
        let ExpectedMessage::Judged(judge, proven) = self else {
            return check_same(sent, returned);
        };
        if judge(sent, returned)? != proven[index] {
            return Err("differs from the message that was decoded before timing".into());
        }
        Ok(())
    }
}

/// Holds an epoch of `iterations` messages against what the messages hold: the
/// sums of the reading experiments, and what one more iteration on the message
/// `proven` made by the same code on what the epoch left behind.
pub fn check_epoch(
    runner: &mut Runner,
    samples: &[Sample],
    wanted: &ExpectedMessage,
    (experiment, iterations): (&str, u64),
    epoch: &Epoch,
    proven: Option<usize>,
) -> Result<(), RunnerError> {
    let makes = match wanted {
        ExpectedMessage::Judged(..)
            if ExperimentOutput::from_experiment(experiment).reading().is_some() =>
        {
            ExperimentOutput::Nothing
        }
        _ => ExperimentOutput::from_experiment(experiment),
    };
    if let Some(which) = makes.reading() {
        let each: f64 = samples.iter().map(|sample| sample.readings[which].sum).sum();
        let sum = each * (iterations / samples.len() as u64) as f64;
        if !is_close(epoch.sum, sum) {
            return Err(RunnerError::Refused(format!(
                "{experiment}: the sum over {iterations} messages is {sum:e}, but the codec reads \
                 {:e}",
                epoch.sum
            )));
        }
    }
    let Some(index) = proven else { return Ok(()) };
    let sample = &samples[index];
    let fault = |why: String| refused(index, &format!("after an epoch of {experiment}: {why}"));
    let lacks = |what: &str| {
        fault(format!("the runner did not answer with {what}, which it was asked for"))
    };
    if let Some(which) = makes.reading() {
        let found = epoch.read.ok_or_else(|| lacks("the numbers"))?;
        check_numbers(&sample.readings[which].numbers, &found).map_err(fault)?;
    }
    if let ExperimentOutput::Message | ExperimentOutput::Both = makes {
        let decoded = epoch.decoded.as_ref().ok_or_else(|| lacks("the decoded message"))?;
        wanted.check(index, &sample.canonical, decoded).map_err(fault)?;
    }
    if let ExperimentOutput::Bytes | ExperimentOutput::Both | ExperimentOutput::BytesAndNumbers =
        makes
    {
        let encoded = epoch.encoded.as_ref().ok_or_else(|| lacks("the encoded bytes"))?;
        let returned = runner.decode(encoded)?;
        wanted.check(index, &sample.canonical, &returned).map_err(fault)?;
    }
    Ok(())
}

fn refused(message: usize, why: &str) -> RunnerError {
    RunnerError::Refused(format!("message {message} {why}"))
}

/// Whether a message came back; the error says where not.
fn check_same(sent: &[u8], returned: &[u8]) -> Result<(), String> {
    match difference(sent, returned) {
        None => Ok(()),
        Some(at) => Err(format!(
            "comes back changed: {} canonical bytes went in, {} came out, they differ from byte \
             {at}",
            sent.len(),
            returned.len()
        )),
    }
}

fn check_reading(wanted: &Reading, found: &Reading) -> Result<(), String> {
    if !is_close(found.sum, wanted.sum) {
        return Err(format!("the sum is {:e}, but the codec reads {:e}", wanted.sum, found.sum));
    }
    check_numbers(&wanted.numbers, &found.numbers)
}

fn check_numbers(wanted: &NumberDigest, found: &NumberDigest) -> Result<(), String> {
    if wanted.count != found.count {
        return Err(format!(
            "the message has {} numbers, but the codec reads {}",
            wanted.count, found.count
        ));
    }
    if wanted.hash != found.hash {
        return Err("the codec reads other numbers than the message has".into());
    }
    Ok(())
}

/// Whether two sums agree but for the order in which they were added.
fn is_close(found: f64, wanted: f64) -> bool {
    if wanted.is_nan() || wanted.is_infinite() {
        return found.is_nan() == wanted.is_nan() && (found == wanted || wanted.is_nan());
    }
    (found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0)
}

fn difference(a: &[u8], b: &[u8]) -> Option<usize> {
    if a == b {
        return None;
    }
    Some(a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_within_rounding_only() {
        assert!(is_close(1.0 + 1e-9, 1.0));
        assert!(!is_close(1.001, 1.0));
        assert!(is_close(f64::NAN, f64::NAN));
        assert!(!is_close(1.0, f64::NAN));
        assert!(!is_close(f64::NAN, 1.0));
        assert!(is_close(f64::INFINITY, f64::INFINITY));
        assert!(!is_close(f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn a_difference_is_found_where_it_is() {
        assert_eq!(difference(b"abc", b"abc"), None);
        assert_eq!(difference(b"abc", b"axc"), Some(1));
        assert_eq!(difference(b"abc", b"ab"), Some(2));
    }
}
