//! To how many: the numbers of participants that are measured one after
//! another.

use std::str::FromStr;

use anyhow::{ensure, Context, Result};

use crate::load::MAX_PARTICIPANTS;

/// Fewest participants: one sends, one receives.
const MIN_PARTICIPANTS: usize = 2;

/// Numbers of participants, ascending and each once: `4`, `2,4,8`, or `2..64`
/// for the powers of two from one number to the other, and both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FanOut(Vec<usize>);

impl FanOut {
    /// How many receive in each: all but the one that sends.
    pub fn receivers(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|participants| participants - 1)
    }
}

/// How many send and how many receive: each of these numbers of senders with each number of
/// participants, or with one receiver where the user says none.
///
/// # Errors
/// Nobody who sends, or nobody who receives.
pub fn senders_and_receivers(
    participants: Option<&FanOut>,
    senders: &[usize],
) -> Result<Vec<(usize, usize)>> {
    let mut pairs = Vec::new();
    for &senders in senders {
        ensure!(
            (1..MAX_PARTICIPANTS).contains(&senders),
            "{senders} senders cannot be measured; give 1 to {}",
            MAX_PARTICIPANTS - 1
        );
        let all = participants.map_or(vec![senders + 1], |participants| participants.0.clone());
        for all in all {
            ensure!(
                all > senders,
                "of {all} participants {senders} send, and none receives; give --participants {} \
                 or more",
                senders + 1
            );
            pairs.push((senders, all - senders));
        }
    }
    Ok(pairs)
}

impl FromStr for FanOut {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<FanOut> {
        let mut numbers = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                Some((first, last)) => {
                    let (first, last) = (number(first)?, number(last)?);
                    ensure!(first <= last, "'{part}' is not a range: {first} is more than {last}");
                    let powers = (1..).map(|power| 1 << power).take_while(|power| *power < last);
                    numbers.push(first);
                    numbers.extend(powers.filter(|power| *power > first));
                    numbers.push(last);
                }
                None => numbers.push(number(part)?),
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(FanOut(numbers))
    }
}

fn number(text: &str) -> Result<usize> {
    let number =
        text.parse().with_context(|| format!("'{text}' is not a number of participants"))?;
    let possible = (MIN_PARTICIPANTS..=MAX_PARTICIPANTS).contains(&number);
    ensure!(
        possible,
        "{number} participants cannot be measured; give {MIN_PARTICIPANTS} to {MAX_PARTICIPANTS}"
    );
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_numbers_lists_and_ranges() {
        for (text, participants) in [
            ("2", vec![2]),
            ("8,2,4,2", vec![2, 4, 8]),
            ("2..64", vec![2, 4, 8, 16, 32, 64]),
            ("2..63", vec![2, 4, 8, 16, 32, 63]),
            ("3..17", vec![3, 4, 8, 16, 17]),
            ("5..5", vec![5]),
            ("2..8,12", vec![2, 4, 8, 12]),
        ] {
            let fan_out: FanOut = text.parse().unwrap();
            assert_eq!(fan_out.0, participants, "{text}");
            let receivers: Vec<usize> = participants.iter().map(|n| n - 1).collect();
            assert_eq!(fan_out.receivers().collect::<Vec<_>>(), receivers);
        }
    }

    #[test]
    fn who_does_not_send_receives() {
        let split = |participants: Option<&str>, senders: &[usize]| {
            let participants = participants.map(|text| text.parse().unwrap());
            senders_and_receivers(participants.as_ref(), senders).map_err(|e| e.to_string())
        };
        assert_eq!(split(None, &[1, 4]), Ok(vec![(1, 1), (4, 1)]));
        assert_eq!(split(Some("3,8"), &[1, 2]), Ok(vec![(1, 2), (1, 7), (2, 1), (2, 6)]));
        for (participants, senders, words) in [
            (None, 0, "0 senders cannot be measured; give 1 to 255"),
            (None, 256, "256 senders"),
            (Some("2,4"), 2, "of 2 participants 2 send, and none receives; give --participants 3"),
        ] {
            let error = split(participants, &[senders]).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn what_is_no_number_of_participants_is_named() {
        for (text, words) in [
            ("1", "1 participants"),
            ("257", "257 participants"),
            ("2..257", "257 participants"),
            ("8..2", "8 is more than 2"),
            ("2,", "'' is not a number"),
            ("2..", "'' is not a number"),
            ("many", "'many' is not a number"),
            ("-3", "'-3' is not a number"),
        ] {
            let error = format!("{:#}", text.parse::<FanOut>().unwrap_err());
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
