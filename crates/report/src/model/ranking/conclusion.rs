//! What may be concluded of the order of codecs, in a sentence.

use crate::model::number_format::count_noun;
use crate::model::ranking::experiment_ranking::ExperimentRanking;
use crate::model::ranking::pair::ExchangedPair;

/// Codecs whose pairs a sentence names; of the other pairs it says how many there are.
const MOST_NAMES: usize = 4;

/// `on both machines`, `on all 3 machines`; where several results are of one, `in both results`.
pub fn name_everywhere(results: usize, machines: usize) -> String {
    let (place, noun) = if machines == results { ("on", "machines") } else { ("in", "results") };
    match results {
        2 => format!("{place} both {noun}"),
        count => format!("{place} all {count} {noun}"),
    }
}

/// What may be concluded of one experiment.
pub fn conclude_experiment(experiment: &ExperimentRanking, everywhere: &str) -> String {
    let (rows, pairs) = (experiment.rows.len(), &experiment.pairs);
    let all = count_noun(pairs.all as u64, "pair", "pairs");
    let doubt = match pairs.open {
        0 => String::new(),
        open => format!("; {open} of {all} cannot be told apart in one result at least"),
    };
    let exchanged = experiment.exchanged_rows();
    if exchanged == 0 {
        return match pairs.same {
            0 => format!(
                "Nothing can be concluded of the order of these {rows} codecs: no two of them are \
                 told apart {everywhere}."
            ),
            _ if rows == 2 => format!("The order of both codecs holds {everywhere}."),
            _ => format!("The order of all {rows} codecs holds {everywhere}{doubt}."),
        };
    }
    let names = match pairs.exchanged.as_slice() {
        [pair] => {
            let [first, second] = [&pair.first, &pair.second].map(|id| experiment.title(id));
            format!("{first} and {second} change places")
        }
        all => format!("{exchanged} change places ({})", name_pairs(experiment, all)),
    };
    match rows - exchanged {
        0 | 1 => format!("The order does not hold {everywhere}: {names}{doubt}."),
        holding => {
            format!("The order of {holding} of {rows} codecs holds {everywhere}; {names}{doubt}.")
        }
    }
}

/// `A with 5 others, B with C`: each pair stands with the one of the two that has more pairs.
fn name_pairs(experiment: &ExperimentRanking, pairs: &[ExchangedPair]) -> String {
    let mut left: Vec<[&str; 2]> =
        pairs.iter().map(|pair| [pair.first.as_str(), pair.second.as_str()]).collect();
    let mut parts = Vec::new();
    while parts.len() < MOST_NAMES {
        let count = |id: &str| left.iter().filter(|pair| pair.contains(&id)).count();
        // Of equals the first, as the pairs that are farthest apart come first.
        let ids = left.iter().flatten().rev().copied();
        let Some(most) = ids.max_by_key(|id| count(id)) else { break };
        let of = left.iter().filter(|pair| pair.contains(&most));
        let others: Vec<&str> = of.flatten().copied().filter(|id| *id != most).collect();
        parts.push(match others.as_slice() {
            [other] => format!("{} with {}", experiment.title(most), experiment.title(other)),
            others => format!("{} with {} others", experiment.title(most), others.len()),
        });
        left.retain(|pair| !pair.contains(&most));
    }
    if !left.is_empty() {
        parts.push(count_noun(left.len() as u64, "pair more", "pairs more"));
    }
    parts.join(", ")
}

/// What may be concluded of all of them; `everywhere` where all results have each.
pub fn conclude(experiments: &[ExperimentRanking], everywhere: Option<&str>) -> String {
    let everywhere = everywhere.map_or(String::new(), |text| format!(" {text}"));
    let several_cases = experiments.iter().any(|one| one.case != experiments[0].case);
    let name = |experiment: &ExperimentRanking| match several_cases {
        true => format!("{} at {}", experiment.metric, experiment.case),
        false => experiment.metric.clone(),
    };
    let (mut held, mut broken, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for experiment in experiments {
        let (exchanged, rows) = (experiment.exchanged_rows(), experiment.rows.len());
        match exchanged {
            0 if experiment.pairs.same > 0 => held.push(name(experiment)),
            0 => unknown.push(name(experiment)),
            _ => broken.push(format!("{} ({exchanged} of {rows})", name(experiment))),
        }
    }
    let mut sentences = Vec::new();
    if broken.is_empty() && unknown.is_empty() {
        sentences.push(format!("The ranking holds{everywhere}: no two codecs change places."));
    } else if !held.is_empty() {
        sentences.push(format!("The ranking holds{everywhere} in {}.", held.join(", ")));
    }
    if !broken.is_empty() {
        sentences.push(format!("Codecs change places in {}.", broken.join(", ")));
    }
    if !unknown.is_empty() {
        sentences.push(format!("Nothing can be concluded of {}.", unknown.join(", ")));
    }
    sentences.join(" ")
}
