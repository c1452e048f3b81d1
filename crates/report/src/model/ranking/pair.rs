//! Two codecs of one experiment, held against each other in each result.

use std::cmp::Ordering;

use serde::Serialize;
use wiregauge_result::run::Measurement;
use wiregauge_result::stats::{Basis, Interval, Ratio};

/// Counted figures that differ by less are not told apart: how the heap happens to lie moves
/// them by some thousandths.
pub const COUNT_MARGIN: f64 = 0.01;

/// A figure of a codec in one result.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'a> {
    /// The median of the processes' medians in nanoseconds, or what was counted; positive.
    pub value: f64,
    /// The samples; none of what was counted.
    pub samples: Option<&'a Measurement>,
    /// Whether it cannot be told from what the harness itself costs.
    pub at_floor: bool,
}

/// How many times longer one codec takes than another in one result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairRatio {
    /// The ratio.
    pub ratio: f64,
    /// Lower end of the interval that holds the true one; none of counted figures.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Whether the first is faster (`Less`) or slower beyond doubt; none where it cannot be
    /// told.
    #[serde(skip)]
    pub order: Option<Ordering>,
}

impl PairRatio {
    /// The ratio of `first` to `second`, as one of `comparisons` that are to hold together.
    pub fn between(first: &Figure, second: &Figure, comparisons: usize) -> PairRatio {
        let plain =
            PairRatio { ratio: first.value / second.value, low: None, high: None, order: None };
        let compared = match (first.samples, second.samples) {
            (Some(one), Some(other)) => match Ratio::between(one, other, comparisons) {
                Some(ratio) => PairRatio {
                    ratio: ratio.median,
                    low: ratio.interval.map(|interval| interval.low),
                    high: ratio.interval.map(|interval| interval.high),
                    order: ratio.interval.and_then(decide),
                },
                None => plain,
            },
            (None, None) => PairRatio { order: decide_count(plain.ratio), ..plain },
            _ => plain,
        };
        // What is not told from the harness may take any time below: it is not the slower one.
        let slower = match compared.order {
            Some(Ordering::Less) => second,
            _ => first,
        };
        PairRatio { order: compared.order.filter(|_| !slower.at_floor), ..compared }
    }
}

/// Which is faster, where the interval of their ratio leaves no doubt. One process says nothing
/// of another layout of memory.
fn decide(interval: Interval) -> Option<Ordering> {
    let sure = interval.basis != Basis::Rounds && !interval.contains(1.0);
    sure.then_some(if interval.high < 1.0 { Ordering::Less } else { Ordering::Greater })
}

fn decide_count(ratio: f64) -> Option<Ordering> {
    let apart = ratio > 0.0 && ratio.is_finite() && ratio.ln().abs() > COUNT_MARGIN.ln_1p();
    apart.then_some(if ratio < 1.0 { Ordering::Less } else { Ordering::Greater })
}

/// The pairs of an experiment that several results have.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pairs {
    /// How many there are.
    pub all: usize,
    /// Those that are told apart in each of these results, always in the same order.
    pub same: usize,
    /// Those that are not told apart in one of them at least, and rank differently in no two.
    pub open: usize,
    /// Those that rank differently beyond doubt, the farthest first.
    pub exchanged: Vec<ExchangedPair>,
}

/// Two codecs that rank differently beyond doubt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExchangedPair {
    /// [`Subject::id`](wiregauge_result::run::Subject::id) of the one that is faster in the
    /// first result that tells.
    pub first: String,
    /// That of the other.
    pub second: String,
    /// First to second, by the experiment's results; none where a result lacks one of them.
    pub ratios: Vec<Option<PairRatio>>,
}

impl ExchangedPair {
    /// How far its ratios are from each other, as a logarithm.
    fn distance(&self) -> f64 {
        let logs = || self.ratios.iter().flatten().map(|ratio| ratio.ratio.ln());
        logs().fold(f64::NEG_INFINITY, f64::max) - logs().fold(f64::INFINITY, f64::min)
    }
}

impl Pairs {
    /// Holds all codecs against each other. A row has a subject's id and its figures, one for
    /// each result.
    pub fn from_rows(rows: &[(&str, &[Option<Figure>])]) -> Pairs {
        let results = rows.iter().map(|row| row.1.len()).max().unwrap_or(0);
        let comparisons = results * rows.len() * rows.len().saturating_sub(1) / 2;
        let mut pairs = Pairs::default();
        for (i, (first, of_first)) in rows.iter().enumerate() {
            for (second, of_second) in &rows[i + 1..] {
                let ratio = |(one, other): (&Option<Figure>, &Option<Figure>)| {
                    Some(PairRatio::between(one.as_ref()?, other.as_ref()?, comparisons))
                };
                let ratios: Vec<Option<PairRatio>> =
                    of_first.iter().zip(of_second.iter()).map(ratio).collect();
                pairs.add(first, second, ratios);
            }
        }
        pairs.exchanged.sort_by(|a, b| b.distance().total_cmp(&a.distance()));
        pairs
    }

    fn add(&mut self, first: &str, second: &str, ratios: Vec<Option<PairRatio>>) {
        let orders: Vec<Option<Ordering>> =
            ratios.iter().flatten().map(|ratio| ratio.order).collect();
        if orders.len() < 2 {
            return;
        }
        self.all += 1;
        let has = |order: Ordering| orders.contains(&Some(order));
        if has(Ordering::Less) && has(Ordering::Greater) {
            let (first, second) = (first.to_owned(), second.to_owned());
            let begins = orders.iter().flatten().next() == Some(&Ordering::Less);
            self.exchanged.push(match begins {
                true => ExchangedPair { first, second, ratios },
                false => {
                    let turned = ratios.into_iter().map(|ratio| ratio.map(turn)).collect();
                    ExchangedPair { first: second, second: first, ratios: turned }
                }
            });
        } else if orders.contains(&None) {
            self.open += 1;
        } else {
            self.same += 1;
        }
    }
}

/// The ratio of the second to the first.
fn turn(ratio: PairRatio) -> PairRatio {
    PairRatio {
        ratio: 1.0 / ratio.ratio,
        low: ratio.high.map(|high| 1.0 / high),
        high: ratio.low.map(|low| 1.0 / low),
        order: ratio.order.map(Ordering::reverse),
    }
}
