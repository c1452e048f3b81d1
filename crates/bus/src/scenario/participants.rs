//! Who takes part in a scenario: who sends, who receives, and several may be written once.

use std::collections::BTreeSet;

use anyhow::{anyhow, ensure, Result};
use serde::Deserialize;
use toml::Spanned;
use wiregauge_participant::control::Role;

use crate::load::MAX_PARTICIPANTS;
use crate::toml_file::{TomlError, WithPosition};

/// A participant as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Participant {
    name: String,
    role: Role,
    /// How many of them, with numbers from 0 behind the name.
    count: Option<usize>,
}

/// Senders and receivers, each with a name of its own.
///
/// # Errors
/// A name that cannot be or is there already, no receiver, no sender, too many.
pub fn name_participants(all: Vec<Spanned<Participant>>) -> Result<Vec<(String, Role)>, TomlError> {
    let mut known: Vec<(String, Role)> = Vec::new();
    let mut names = BTreeSet::new();
    for participant in all {
        let Participant { name, role, count } = participant.get_ref();
        let mut add = |name: String| -> Result<()> {
            ensure!(names.insert(name.clone()), "the name '{name}' is given twice");
            known.push((name, *role));
            ensure!(
                known.len() <= MAX_PARTICIPANTS,
                "a scenario can have at most {MAX_PARTICIPANTS} participants; give a smaller count"
            );
            Ok(())
        };
        let legal = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let mut check = || -> Result<()> {
            ensure!(
                name.chars().all(legal) && name.starts_with(|c: char| c.is_ascii_alphanumeric()),
                "'{name}' is not a valid name; use letters, digits, '-', '_' and '.'"
            );
            ensure!(
                *count != Some(0),
                "count = 0 makes no participant; give 1 or more, or remove '{name}'"
            );
            match count {
                None => add(name.clone()),
                Some(count) => (0..*count).try_for_each(|number| add(format!("{name}-{number}"))),
            }
        };
        check().with_position(&participant)?;
    }
    for (wanted, text) in [(Role::Sender, "sends"), (Role::Receiver, "receives")] {
        if !known.iter().any(|(_, role)| *role == wanted) {
            let role = format!("{wanted:?}").to_lowercase();
            let what = format!("nobody {text}; add a [[participant]] with role = \"{role}\"");
            return Err(anyhow!(what).into());
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct File {
        participant: Vec<Spanned<Participant>>,
    }

    fn names(text: &str) -> Result<Vec<String>, String> {
        let file: File = toml::from_str(text).unwrap();
        let all = name_participants(file.participant).map_err(|error| format!("{error:?}"))?;
        Ok(all.into_iter().map(|(name, _)| name).collect())
    }

    const SENDER: &str = "[[participant]]\nname = \"a\"\nrole = \"sender\"\n";

    fn receivers(name: &str, count: usize) -> String {
        format!("[[participant]]\nname = \"{name}\"\nrole = \"receiver\"\ncount = {count}\n")
    }

    #[test]
    fn a_count_makes_as_many() {
        let made = names(&format!("{}{SENDER}{}", receivers("b", 1), receivers("c", 64))).unwrap();
        assert_eq!(
            (made.len(), &made[..3], &*made[65]),
            (66, &["b-0", "a", "c-0"].map(String::from)[..], "c-63")
        );
    }

    #[test]
    fn a_count_that_cannot_be_is_refused() {
        for (more, words) in [
            (receivers("b", 0), "makes no participant"),
            (receivers("b", MAX_PARTICIPANTS), "at most 256 participants"),
            (receivers("b", usize::MAX >> 1), "at most 256 participants"),
            (receivers("b", 2) + &receivers("b", 3), "'b-0' is given twice"),
            (receivers("b", 2).replace("receiver", "sender"), "nobody receives"),
        ] {
            let error = names(&format!("{SENDER}{more}")).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
