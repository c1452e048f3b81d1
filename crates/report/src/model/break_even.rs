//! The rate of a link below which it pays to make points small.
//!
//! A message is encoded, sent and decoded, one after the other: it takes `encode + bytes / rate
//! + decode`. Where that of a row equals that of the columns as they are lies the rate
//! `(bytes0 - bytes) / (encode + decode - encode0 - decode0)`.

use wiregauge_result::kind::Kind;
use wiregauge_result::run::{Case, Run, Subject};
use wiregauge_result::stats::Summary;

use crate::model::unit::significant;

/// What the figures are.
pub const PAYS: &str = "pays below: the rate of a link below which to encode, send and decode a \
                        message, one after the other, takes less than with columns as they are";

/// The key of the row that sends columns as they are.
const AS_THEY_ARE: &str = "columns";

/// Where a row pays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pays {
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

impl Pays {
    /// Of a row of points and the one with columns as they are; none where either has no
    /// figures, or is the same.
    pub fn of(run: &Run, case: &Case, subject: &Subject) -> Option<Pays> {
        run.fact(&case.id, &subject.id, "points")?;
        let plain = as_they_are(run, subject)?;
        let own = Cost::of(run, case, &subject.id)?;
        Some(Pays::between(&Cost::of(run, case, &plain)?, &own))
    }

    fn between(plain: &Cost, own: &Cost) -> Pays {
        let saved = plain.bytes - own.bytes;
        let longer = own.time - plain.time;
        // Bits in a nanosecond are gigabits in a second.
        let rate = |longer: f64| 8.0 * saved / longer;
        match (saved > 0.0, longer > 0.0) {
            (true, false) => Pays::Anywhere,
            (true, true) => {
                let ends = own.ends.zip(plain.ends).map(|(own, plain)| {
                    let (least, most) = (own.0 - plain.1, own.1 - plain.0);
                    (rate(most), (least > 0.0).then(|| rate(least)))
                });
                Pays::Below(rate(longer), ends)
            }
            (false, true) => Pays::Nowhere,
            (false, false) if saved == 0.0 || longer == 0.0 => Pays::Nowhere,
            (false, false) => Pays::Above(rate(longer)),
        }
    }

    /// As a cell below `pays below` has it.
    pub fn cell(self) -> String {
        match self {
            Pays::Anywhere => "any rate".into(),
            Pays::Nowhere => "no rate".into(),
            Pays::Below(rate, _) => format!("{} Gbit/s", significant(rate)),
            Pays::Above(rate) => format!("above {} Gbit/s", significant(rate)),
        }
    }

    /// In words, with its interval.
    fn words(self) -> String {
        match self {
            Pays::Anywhere => "pays at any rate of a link".into(),
            Pays::Nowhere => "pays at no rate of a link".into(),
            Pays::Above(_) => format!("pays {}", self.cell()),
            Pays::Below(_, ends) => {
                let ends = ends.map_or(String::new(), |(low, high)| match high {
                    Some(high) => format!(" ({} to {})", significant(low), significant(high)),
                    None => format!(" ({} or more)", significant(low)),
                });
                format!("pays below {}{ends}", self.cell())
            }
        }
    }
}

/// What each row of points on a bus has to say of it.
pub fn lines(run: &Run, case: &Case) -> Vec<String> {
    let pays = |subject| Some((subject, Pays::of(run, case, subject)?));
    let found: Vec<(&Subject, Pays)> = match run.kind {
        Kind::Bus => run.subjects.iter().filter_map(pays).collect(),
        _ => Vec::new(),
    };
    found.iter().map(|(subject, pays)| format!("{}: {}", subject.title, pays.words())).collect()
}

/// The row that a row is held against: over the same transport, where there is one.
fn as_they_are(run: &Run, subject: &Subject) -> Option<String> {
    let key = match (&run.kind, subject.id.split_once('+')) {
        (Kind::Bus, Some((transport, _))) => format!("{transport}+{AS_THEY_ARE}"),
        _ => AS_THEY_ARE.into(),
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
    fn of(run: &Run, case: &Case, subject: &str) -> Option<Cost> {
        let metrics = match run.kind {
            Kind::Bus => ["cycle/encode", "cycle/decode"],
            _ => ["encode", "decode"],
        };
        let bytes = run.fact(&case.id, subject, "size")?;
        let [encode, decode] =
            metrics.map(|metric| Summary::of(run.measurement(&case.id, subject, metric)?));
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
        let Pays::Below(rate, Some((low, Some(high)))) = Pays::between(&plain, &own) else {
            panic!("it pays below a rate");
        };
        let takes = |cost: &Cost| cost.time + 8.0 * cost.bytes / rate;
        assert!((takes(&plain) - takes(&own)).abs() < 1e-6);
        assert!((rate - 5.6).abs() < 1e-9 && low < rate && rate < high, "{low} {rate} {high}");
        assert_eq!(Pays::between(&plain, &own).words(), "pays below 5.60 Gbit/s (5.54 to 5.66)");
    }

    #[test]
    fn what_is_not_worse_in_one_pays_everywhere_or_nowhere() {
        let plain = cost(16.0, 100.0, 10.0);
        assert_eq!(Pays::between(&plain, &cost(8.0, 90.0, 1.0)), Pays::Anywhere);
        assert_eq!(Pays::between(&plain, &cost(16.0, 110.0, 1.0)), Pays::Nowhere);
        assert_eq!(Pays::between(&plain, &cost(16.0, 90.0, 1.0)), Pays::Nowhere);
        assert_eq!(Pays::between(&plain, &cost(32.0, 36.0, 1.0)), Pays::Above(2.0));
        // Their intervals meet: it may take no longer.
        let Pays::Below(_, Some((_, None))) = Pays::between(&plain, &cost(8.0, 105.0, 1.0)) else {
            panic!("it pays below a rate that may be any");
        };
    }
}
