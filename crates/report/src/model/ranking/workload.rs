//! Whether results are of the same messages: else their ratios say nothing of machines.

use anyhow::{bail, ensure, Result};
use wiregauge_result::run::Case;
use wiregauge_result::run_kind::RunKind;

use crate::model::number_format::format_bytes;
use crate::model::ranking::named_result::NamedResult;

/// Refuses results that cannot be ranked together.
///
/// # Errors
/// When one is no result of codecs, or when two are of different messages. The line names the
/// files, and what differs.
pub fn check_workloads(results: &[NamedResult]) -> Result<()> {
    for result in results {
        ensure!(
            result.run.kind == RunKind::Codecs,
            "{} is a result of {}, and only codecs are ranked",
            result.path.display(),
            result.run.kind
        );
    }
    for (at, result) in results.iter().enumerate() {
        for case in &result.run.cases {
            let earlier = results[..at].iter();
            let mut earlier = earlier.filter_map(|other| Some((other, other.run.case(&case.id)?)));
            if let Some((other, of_other)) = earlier.next() {
                if let Some(difference) = difference((other, of_other), (result, case)) {
                    bail!(
                        "{} and {} measured different messages ({}: {difference}); measure the \
                         same message with the same sizes and seed",
                        other.path.display(),
                        result.path.display(),
                        case.id,
                    );
                }
            }
        }
    }
    for result in results {
        let shares = |other: &&NamedResult| {
            !std::ptr::eq(*other, result)
                && result.run.cases.iter().any(|case| other.run.case(&case.id).is_some())
        };
        if !results.iter().any(|other| shares(&other)) {
            let describe = |one: &NamedResult| {
                let cases: Vec<&str> = one.run.cases.iter().map(|case| case.id.as_str()).collect();
                format!("{} ({})", one.path.display(), cases.join(", "))
            };
            let others = results.iter().filter(|other| !std::ptr::eq(*other, result));
            bail!(
                "{} and {} measured different messages; measure the same message with the same \
                 sizes and seed",
                describe(result),
                others.map(describe).collect::<Vec<_>>().join(", "),
            );
        }
    }
    Ok(())
}

/// In what two cases of one name are of different messages.
fn difference(
    (one, of_one): (&NamedResult, &Case),
    (other, of_other): (&NamedResult, &Case),
) -> Option<String> {
    let texts = [
        ("type", Some(&of_one.message), Some(&of_other.message)),
        ("number that fixed reads", of_one.fixed.as_ref(), of_other.fixed.as_ref()),
        ("number that element reads", of_one.element.as_ref(), of_other.element.as_ref()),
    ];
    for (what, a, b) in texts {
        if let (Some(a), Some(b)) = (a, b) {
            if a != b {
                return Some(format!("{what} {a} and {b}"));
            }
        }
    }
    if of_one.messages != of_other.messages {
        return Some(format!("{} and {} messages in turn", of_one.messages, of_other.messages));
    }
    if of_one.canonical_bytes != of_other.canonical_bytes {
        let [a, b] = [of_one, of_other].map(|case| format_bytes(case.canonical_bytes));
        return Some(format!("{a} and {b} in the canonical form"));
    }
    // Of recorded messages the seed changes only the order of turns.
    let recorded = |case: &Case| case.notes.iter().any(|note| note.contains("recorded"));
    let seeds = (one.run.settings.seed, other.run.settings.seed);
    (seeds.0 != seeds.1 && !(recorded(of_one) && recorded(of_other)))
        .then(|| format!("values from the seeds {} and {}", seeds.0, seeds.1))
}
