//! What may be concluded of the order of codecs, in a sentence.

use crate::model::number_format::count_noun;
use crate::model::ranking::experiment_ranking::ExperimentRanking;
use crate::model::ranking::pair::ExchangedPair;

/// Pairs that a sentence names; of more it says how many codecs they are of.
const MOST_PAIRS: usize = 3;

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
    let names = match pairs.exchanged.len() {
        count if count > MOST_PAIRS => format!("{exchanged} change places with others"),
        _ => format!("{} change places", name_pairs(experiment, &pairs.exchanged)),
    };
    match rows - exchanged {
        0 | 1 => format!("The order does not hold {everywhere}: {names}{doubt}."),
        holding => {
            format!("The order of {holding} of {rows} codecs holds {everywhere}; {names}{doubt}.")
        }
    }
}

/// `A and B, C and D`.
fn name_pairs(experiment: &ExperimentRanking, pairs: &[ExchangedPair]) -> String {
    let name = |pair: &ExchangedPair| {
        format!("{} and {}", experiment.title(&pair.first), experiment.title(&pair.second))
    };
    pairs.iter().map(name).collect::<Vec<_>>().join(", ")
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
