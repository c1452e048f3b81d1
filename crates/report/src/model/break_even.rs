//! The rate of a link below which it pays to make points small.
//!
//! A message is encoded, sent and decoded, one after the other: it takes `encode + bytes / rate
//! + decode`. Where that of a row equals that of the columns as they are lies the rate
//! `(bytes0 - bytes) / (encode + decode - encode0 - decode0)`.

use wiregauge_result::run::{Case, Run, Subject};
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::stats::Summary;

use crate::model::number_format::format_significant;

/// What the figures are.
pub const BREAK_EVEN_NOTE: &str =
    "pays below: on a link slower than this, encode + send + decode take less time than with \
     columns as they are";

/// The key of the row that sends columns as they are.
const PLAIN_ROW: &str = "columns";

/// Where a row pays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BreakEven {
    /// It is smaller and takes no longer.
    Anywhere,
    /// It is no smaller, and takes longer.
    Nowhere,
    /// It is smaller and takes longer. In Gbit/s, with its interval where both rows have one;
    /// without an upper end it may take no longer.
    Below(f64, Option<(f64, Option<f64>)>),
    /// It is larger and takes less, in Gbit/s.
    Above(f64),
}

impl BreakEven {
    /// Of a row of points and the one with columns as they are; none where either has no
    /// figures, or is the same.
    pub fn from_run(run: &Run, case: &Case, subject: &Subject) -> Option<BreakEven> {
        run.fact(&case.id, &subject.id, "points")?;
        let plain = plain_row_id(run, subject)?;
        let own = Cost::from_run(run, case, &subject.id)?;
        Some(BreakEven::compare(&Cost::from_run(run, case, &plain)?, &own))
    }

    fn compare(plain: &Cost, own: &Cost) -> BreakEven {
        let saved = plain.bytes - own.bytes;
        let longer = own.time - plain.time;
        // Bits in a nanosecond are gigabits in a second.
        let rate = |longer: f64| 8.0 * saved / longer;
        match (saved > 0.0, longer > 0.0) {
            (true, false) => BreakEven::Anywhere,
            (true, true) => {
                let ends = own.ends.zip(plain.ends).map(|(own, plain)| {
                    let (least, most) = (own.0 - plain.1, own.1 - plain.0);
                    (rate(most), (least > 0.0).then(|| rate(least)))
                });
                BreakEven::Below(rate(longer), ends)
            }
            (false, true) => BreakEven::Nowhere,
            (false, false) if saved == 0.0 || longer == 0.0 => BreakEven::Nowhere,
            (false, false) => BreakEven::Above(rate(longer)),
        }
    }

    /// As a cell below `pays below` has it.
    pub fn format_cell(self) -> String {
        match self {
            BreakEven::Anywhere => "any rate".into(),
            BreakEven::Nowhere => "no rate".into(),
            BreakEven::Below(rate, _) => format!("{} Gbit/s", format_significant(rate)),
            BreakEven::Above(rate) => format!("above {} Gbit/s", format_significant(rate)),
        }
    }

    /// In words, with its interval.
    fn describe(self) -> String {
        match self {
            BreakEven::Anywhere => "pays at any link rate".into(),
            BreakEven::Nowhere => "pays at no link rate".into(),
            BreakEven::Above(_) => format!("pays {}", self.format_cell()),
            BreakEven::Below(_, ends) => {
                let ends = ends.map_or(String::new(), |(low, high)| match high {
                    Some(high) => {
                        format!(" ({} to {})", format_significant(low), format_significant(high))
                    }
                    None => format!(" ({} or more)", format_significant(low)),
                });
                format!("pays below {}{ends}", self.format_cell())
            }
        }
    }
}

/// What each row of points on a bus has to say of it.
pub fn describe_rows(run: &Run, case: &Case) -> Vec<String> {
    let pays = |subject| Some((subject, BreakEven::from_run(run, case, subject)?));
    let found: Vec<(&Subject, BreakEven)> = match run.kind {
        RunKind::Bus => run.subjects.iter().filter_map(pays).collect(),
        _ => Vec::new(),
    };
    found.iter().map(|(subject, pays)| format!("{}: {}", subject.title, pays.describe())).collect()
}

/// The row that a row is held against: over the same transport, where there is one.
fn plain_row_id(run: &Run, subject: &Subject) -> Option<String> {
    let key = match (&run.kind, subject.id.split_once('+')) {
        (RunKind::Bus, Some((transport, _))) => format!("{transport}+{PLAIN_ROW}"),
        _ => PLAIN_ROW.into(),
    };
    (key != subject.id).then_some(key)
}

/// What a row costs, but for its way.
struct Cost {
    bytes: f64,
    /// Encode and decode in nanoseconds.
    time: f64,
    /// Between which it lies.
    ends: Option<(f64, f64)>,
}

impl Cost {
    fn from_run(run: &Run, case: &Case, subject: &str) -> Option<Cost> {
        let metrics = match run.kind {
            RunKind::Bus => ["cycle/encode", "cycle/decode"],
            _ => ["encode", "decode"],
        };
        let bytes = run.fact(&case.id, subject, "size")?;
        let [encode, decode] = metrics
            .map(|metric| Summary::from_measurement(run.measurement(&case.id, subject, metric)?));
        let (encode, decode) = (encode?, decode?);
        let ends = encode.interval.zip(decode.interval);
        Some(Cost {
            bytes,
            time: encode.median + decode.median,
            ends: ends.map(|(encode, decode)| (encode.low + decode.low, encode.high + decode.high)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(bytes: f64, time: f64, off: f64) -> Cost {
        Cost { bytes, time, ends: Some((time - off, time + off)) }
    }

    #[test]
    fn both_ways_take_the_same_at_the_rate() {
        let (plain, own) = (cost(16_000.0, 1_000.0, 10.0), cost(2_000.0, 21_000.0, 190.0));
        let BreakEven::Below(rate, Some((low, Some(high)))) = BreakEven::compare(&plain, &own)
        else {
            panic!("it pays below a rate");
        };
        let takes = |cost: &Cost| cost.time + 8.0 * cost.bytes / rate;
        assert!((takes(&plain) - takes(&own)).abs() < 1e-6);
        assert!((rate - 5.6).abs() < 1e-9 && low < rate && rate < high, "{low} {rate} {high}");
        assert_eq!(
            BreakEven::compare(&plain, &own).describe(),
            "pays below 5.60 Gbit/s (5.54 to 5.66)"
        );
    }

    #[test]
    fn what_is_not_worse_in_one_pays_everywhere_or_nowhere() {
        let plain = cost(16.0, 100.0, 10.0);
        assert_eq!(BreakEven::compare(&plain, &cost(8.0, 90.0, 1.0)), BreakEven::Anywhere);
        assert_eq!(BreakEven::compare(&plain, &cost(16.0, 110.0, 1.0)), BreakEven::Nowhere);
        assert_eq!(BreakEven::compare(&plain, &cost(16.0, 90.0, 1.0)), BreakEven::Nowhere);
        assert_eq!(BreakEven::compare(&plain, &cost(32.0, 36.0, 1.0)), BreakEven::Above(2.0));
        // Their intervals meet: it may take no longer.
        let BreakEven::Below(_, Some((_, None))) =
            BreakEven::compare(&plain, &cost(8.0, 105.0, 1.0))
        else {
            panic!("it pays below a rate that may be any");
        };
    }
}
