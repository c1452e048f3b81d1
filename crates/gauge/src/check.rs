//! The proof before any timing: what a codec is given, it gives back.

use crate::plan::Sample;
use crate::runner::{Runner, Trouble};

/// Names of [`Sample::values`].
const VALUES: [&str; 3] = ["the sum of all numbers", "the fixed field", "the element's field"];

/// Loads the messages into a runner and has each come back. Returns the
/// encoded messages. Bounds carry nothing, so nothing is asked of them but to
/// live.
pub fn prove(
    runner: &mut Runner,
    samples: &[Sample],
    bound: bool,
) -> Result<Vec<Vec<u8>>, Trouble> {
    runner.reset()?;
    let mut encoded = Vec::with_capacity(samples.len());
    for (index, sample) in samples.iter().enumerate() {
        let wire = runner.message(&sample.canonical)?;
        if !bound {
            let returned = runner.decode(&wire)?;
            if let Some(at) = difference(&sample.canonical, &returned) {
                return Err(Trouble::Refused(format!(
                    "message {index} does not survive: {} canonical bytes went in, {} came out, \
                     they differ from byte {at}",
                    sample.canonical.len(),
                    returned.len()
                )));
            }
            let found = runner.values(index)?;
            for ((name, found), wanted) in VALUES.iter().zip(found).zip(sample.values) {
                if !agree(found, wanted) {
                    return Err(Trouble::Refused(format!(
                        "message {index}: {name} is {wanted:e}, it reads {found:e}"
                    )));
                }
            }
        }
        encoded.push(wire);
    }
    Ok(encoded)
}

/// Whether two sums agree but for the order in which they were added.
pub fn agree(found: f64, wanted: f64) -> bool {
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
        assert!(agree(1.0 + 1e-9, 1.0));
        assert!(!agree(1.001, 1.0));
        assert!(agree(f64::NAN, f64::NAN));
        assert!(!agree(1.0, f64::NAN));
        assert!(!agree(f64::NAN, 1.0));
        assert!(agree(f64::INFINITY, f64::INFINITY));
        assert!(!agree(f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn a_difference_is_found_where_it_is() {
        assert_eq!(difference(b"abc", b"abc"), None);
        assert_eq!(difference(b"abc", b"axc"), Some(1));
        assert_eq!(difference(b"abc", b"ab"), Some(2));
    }
}
