//! The proof before any timing: what a codec is given, it gives back.

use std::time::{Duration, Instant};

use crate::runners::plan::Sample;
use wiregauge_conversation::reply::{Epoch, Numbers, Reading};
use wiregauge_conversation::runner::{Runner, Trouble};
use wiregauge_result::run::Status;

/// Names of [`Sample::readings`].
const READINGS: [&str; 3] = ["all numbers", "the fixed field", "the element's field"];

/// What becomes of a subject whose runner has trouble.
pub fn status(trouble: Trouble) -> Status {
    match trouble {
        Trouble::Rejected(why) => Status::Rejected(why),
        trouble => Status::Failed(trouble.to_string()),
    }
}

/// Loads the messages into a runner and has each come back. Returns the
/// encoded messages, and how long loading them took. Bounds carry nothing, so
/// nothing is asked of them but to live.
pub fn prove(
    runner: &mut Runner,
    samples: &[Sample],
    bound: bool,
) -> Result<(Vec<Vec<u8>>, Duration), Trouble> {
    runner.reset()?;
    let mut encoded = Vec::with_capacity(samples.len());
    let mut loading = Duration::ZERO;
    for (index, sample) in samples.iter().enumerate() {
        let began = Instant::now();
        let wire = runner.message(&sample.canonical)?;
        loading += began.elapsed();
        if !bound {
            let returned = runner.decode(&wire)?;
            same(&sample.canonical, &returned).map_err(|why| refused(index, &why))?;
            let found = runner.values(index)?;
            for ((name, found), wanted) in READINGS.iter().zip(found).zip(sample.readings) {
                agree(&wanted, &found).map_err(|why| refused(index, &format!("{name}: {why}")))?;
            }
        }
        encoded.push(wire);
    }
    Ok((encoded, loading))
}

/// What an experiment makes, and so can be held against the message.
enum Makes {
    Bytes,
    Message,
    Both,
    /// What this of [`Sample::readings`] is.
    Numbers(usize),
    Nothing,
}

impl Makes {
    fn of(experiment: &str) -> Makes {
        match experiment {
            "encode" | "encode/write" => Makes::Bytes,
            "decode" | "decode/checked" | "decode/extract" => Makes::Message,
            "roundtrip" => Makes::Both,
            "project" | "project/checked" => Makes::Numbers(0),
            "fixed" => Makes::Numbers(1),
            "element" => Makes::Numbers(2),
            _ => Makes::Nothing,
        }
    }
}

/// Holds an epoch of `iterations` messages against what the messages hold: the
/// sums of the reading experiments, and what one more iteration on the message
/// `proven` made by the same code on what the epoch left behind.
pub fn epoch(
    runner: &mut Runner,
    samples: &[Sample],
    experiment: &str,
    iterations: u64,
    epoch: &Epoch,
    proven: Option<usize>,
) -> Result<(), Trouble> {
    let makes = Makes::of(experiment);
    if let Makes::Numbers(which) = makes {
        let each: f64 = samples.iter().map(|sample| sample.readings[which].sum).sum();
        let wanted = each * (iterations / samples.len() as u64) as f64;
        if !close(epoch.sum, wanted) {
            return Err(Trouble::Refused(format!(
                "{experiment}: {iterations} messages add up to {wanted:e}, it reads {:e}",
                epoch.sum
            )));
        }
    }
    let Some(index) = proven else { return Ok(()) };
    let sample = &samples[index];
    let fault = |why: String| refused(index, &format!("after an epoch of {experiment}: {why}"));
    let lacks =
        |what: &str| fault(format!("the runner does not tell {what} that it was asked for"));
    if let Makes::Numbers(which) = makes {
        let found = epoch.read.ok_or_else(|| lacks("the numbers"))?;
        exact(&sample.readings[which].numbers, &found).map_err(fault)?;
    }
    if let Makes::Message | Makes::Both = makes {
        let decoded = epoch.decoded.as_ref().ok_or_else(|| lacks("the decoded message"))?;
        same(&sample.canonical, decoded).map_err(fault)?;
    }
    if let Makes::Bytes | Makes::Both = makes {
        let encoded = epoch.encoded.as_ref().ok_or_else(|| lacks("the encoded bytes"))?;
        let returned = runner.decode(encoded)?;
        same(&sample.canonical, &returned).map_err(fault)?;
    }
    Ok(())
}

fn refused(message: usize, why: &str) -> Trouble {
    Trouble::Refused(format!("message {message} {why}"))
}

/// Whether a message came back; the error says where not.
fn same(sent: &[u8], returned: &[u8]) -> Result<(), String> {
    match difference(sent, returned) {
        None => Ok(()),
        Some(at) => Err(format!(
            "does not survive: {} canonical bytes went in, {} came out, they differ from byte {at}",
            sent.len(),
            returned.len()
        )),
    }
}

fn agree(wanted: &Reading, found: &Reading) -> Result<(), String> {
    if !close(found.sum, wanted.sum) {
        return Err(format!("the sum is {:e}, it reads {:e}", wanted.sum, found.sum));
    }
    exact(&wanted.numbers, &found.numbers)
}

fn exact(wanted: &Numbers, found: &Numbers) -> Result<(), String> {
    if wanted.count != found.count {
        return Err(format!("there are {} numbers, it reads {}", wanted.count, found.count));
    }
    if wanted.hash != found.hash {
        return Err("the numbers that it reads are not those of the message".into());
    }
    Ok(())
}

/// Whether two sums agree but for the order in which they were added.
fn close(found: f64, wanted: f64) -> bool {
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
        assert!(close(1.0 + 1e-9, 1.0));
        assert!(!close(1.001, 1.0));
        assert!(close(f64::NAN, f64::NAN));
        assert!(!close(1.0, f64::NAN));
        assert!(!close(f64::NAN, 1.0));
        assert!(close(f64::INFINITY, f64::INFINITY));
        assert!(!close(f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn a_difference_is_found_where_it_is() {
        assert_eq!(difference(b"abc", b"abc"), None);
        assert_eq!(difference(b"abc", b"axc"), Some(1));
        assert_eq!(difference(b"abc", b"ab"), Some(2));
    }
}
