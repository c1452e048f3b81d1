//! From figures to pixels.

use std::cmp::Ordering;

/// An axis.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    kind: ScaleKind,
    low: f64,
    high: f64,
    pixels: (f64, f64),
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleKind {
    /// Linear from zero.
    Linear,
    /// Linear from where the values begin.
    Near,
    /// Logarithmic. Values must be positive.
    Log,
    /// Logarithmic with a zero, for counts.
    Counts,
    /// Shares below 1, each nine as far from the last: 90 %, 99 %, 99.9 %.
    Nines,
}

/// Largest figure that an axis tells from others.
const LARGEST: f64 = 1e280;

/// A ratio of largest to smallest beyond which small figures would be
/// invisible on a linear axis.
const LARGE_SPREAD: f64 = 12.0;

impl Scale {
    /// Linear from zero, or logarithmic where the spread is large and all
    /// values are positive.
    pub fn fitting(values: &[f64], pixels: (f64, f64)) -> Scale {
        Scale::new(ScaleKind::fitting(values), values, pixels)
    }

    /// An axis of a kind that holds the values, with a small margin.
    pub fn new(kind: ScaleKind, values: &[f64], pixels: (f64, f64)) -> Scale {
        let (low, high) = ends(values);
        let (low, high) = match kind {
            ScaleKind::Linear => (0.0, if high > 0.0 { high * 1.02 } else { 1.0 }),
            ScaleKind::Near => {
                // What differs by less is not worth to be told apart.
                let margin = (0.1 * (high - low)).max(0.01 * high.abs()).max(f64::MIN_POSITIVE);
                (low - margin, high + margin)
            }
            ScaleKind::Log => {
                let (low, high) = (low.clamp(1.0 / FAR, FAR), high.clamp(1.0 / FAR, FAR));
                let margin = ((high.ln() - low.ln()) * 0.03).exp().max(1.1);
                (low / margin, high * margin)
            }
            ScaleKind::Counts => (0.0, if high > 0.0 { high * 1.2 } else { 1.0 }),
            ScaleKind::Nines => (0.0, 1.0 - 0.8 * (1.0 - high.clamp(0.9, LAST_SHARE))),
        };
        // So far that their difference is still a number.
        Scale {
            kind,
            low: low.clamp(-LARGEST, LARGEST),
            high: high.clamp(-LARGEST, LARGEST),
            pixels,
        }
    }

    /// How it is divided.
    pub fn kind(&self) -> ScaleKind {
        self.kind
    }

    /// Where a value lies, in pixels; values beyond the ends lie at the ends.
    pub fn place(&self, value: f64) -> f64 {
        let [value, low, high] =
            [value.clamp(self.low, self.high), self.low, self.high].map(|v| self.kind.transform(v));
        let share = Some((value - low) / (high - low)).filter(|share| share.is_finite());
        let share = share.unwrap_or(0.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// On which side of the axis a value lies; `Equal` is on it.
    pub fn side(&self, value: f64) -> Ordering {
        match value {
            v if v < self.low => Ordering::Less,
            v if v > self.high => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    /// Round values along the axis, about half a dozen.
    pub fn ticks(&self) -> Vec<f64> {
        let within = |value: &f64| (self.low..=self.high).contains(value);
        match self.kind {
            ScaleKind::Linear | ScaleKind::Near => {
                let rough = (self.high - self.low) / 5.0;
                let decade = 10f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * decade);
                let step = step.into_iter().find(|step| *step >= rough).unwrap_or(rough);
                let first = (self.low / step).ceil();
                (0..=5).map(|i| (first + f64::from(i)) * step).filter(within).collect()
            }
            ScaleKind::Log => decades(self.low, self.high),
            ScaleKind::Counts => {
                let mut ticks = vec![0.0];
                ticks.extend(decades(1.0, self.high.max(1.0)));
                ticks
            }
            ScaleKind::Nines => std::iter::once(0.5)
                .chain((1..=6).map(|nines| 1.0 - 10f64.powi(-nines)))
                .filter(within)
                .collect(),
        }
    }
}

/// Figures beyond this, or below one by it, lie at the ends of a logarithmic axis.
const FAR: f64 = 1e250;

/// The last share that is shown: further ones take weeks to measure.
const LAST_SHARE: f64 = 0.999_999_9;

impl ScaleKind {
    /// Linear from zero, or logarithmic where the spread is large and all
    /// values are positive.
    pub fn fitting(values: &[f64]) -> ScaleKind {
        match ends(values) {
            (low, high) if low > 0.0 && high / low > LARGE_SPREAD => ScaleKind::Log,
            _ => ScaleKind::Linear,
        }
    }

    /// A value where equal distances mean what the axis is to show.
    fn transform(self, value: f64) -> f64 {
        match self {
            ScaleKind::Linear | ScaleKind::Near => value,
            ScaleKind::Log => value.ln(),
            ScaleKind::Counts => value.ln_1p(),
            ScaleKind::Nines => -(-value).ln_1p(),
        }
    }
}

/// Powers of ten between two positive values, or 1, 2 and 5 of each where there
/// are few, or some of them where there are many.
fn decades(low: f64, high: f64) -> Vec<f64> {
    // Those of all numbers but zero, however the ends came about.
    let exponent = |value: f64| value.log10().clamp(-324.0, 309.0);
    let (first, last) = (exponent(low).floor() as i32, exponent(high).ceil() as i32);
    let within = |value: &f64| (low..=high).contains(value);
    let decades: Vec<f64> =
        (first..=last).map(|exponent| 10f64.powi(exponent)).filter(within).collect();
    match decades.len() {
        0..=3 => (first..=last)
            .flat_map(|exponent| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(exponent)))
            .filter(within)
            .collect(),
        4..=7 => decades,
        many => decades.into_iter().step_by(many.div_ceil(7)).collect(),
    }
}

fn ends(values: &[f64]) -> (f64, f64) {
    // Beyond, margins and decades would be no numbers any more.
    let sane = |value: &f64| match *value {
        v if v > 0.0 => v.clamp(1.0 / LARGEST, LARGEST),
        v => v.max(-LARGEST),
    };
    let values = || values.iter().filter(|value| value.is_finite()).map(sane);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    if low.is_finite() && high.is_finite() {
        (low, high)
    } else {
        (1.0, 1.0)
    }
}

/// The axis that shows how values differ, and what is to be said of it.
pub fn fitting(values: &[f64]) -> (ScaleKind, &'static str) {
    match ScaleKind::fitting(values) {
        ScaleKind::Linear if are_close(values) => {
            (ScaleKind::Near, " The axis does not begin at zero.")
        }
        ScaleKind::Log => (ScaleKind::Log, " The axis is logarithmic."),
        kind => (kind, ""),
    }
}

/// Whether values differ too little to be told apart beside a zero.
fn are_close(values: &[f64]) -> bool {
    let most = values.iter().copied().fold(0.0, f64::max);
    values.iter().all(|value| *value > most / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_spread_is_logarithmic() {
        let scale = Scale::fitting(&[1.0, 1_000.0], (0.0, 300.0));
        assert_eq!(scale.kind(), ScaleKind::Log);
        assert!((scale.place(1_000f64.sqrt()) - 150.0).abs() < 1e-6);
        assert_eq!(scale.ticks().first(), Some(&1.0));
        assert_eq!(ScaleKind::fitting(&[5.0, 10.0]), ScaleKind::Linear);
        assert_eq!(ScaleKind::fitting(&[0.0, 1e9]), ScaleKind::Linear);
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            Scale::new(ScaleKind::Linear, &[9.0], (0.0, 1.0)).ticks(),
            [0.0, 2.0, 4.0, 6.0, 8.0]
        );
        for decades in 1..12 {
            let scale = Scale::new(ScaleKind::Log, &[1.0, 10f64.powi(decades)], (0.0, 1.0));
            assert!((2..=10).contains(&scale.ticks().len()), "{:?}", scale.ticks());
        }
        assert!(Scale::new(ScaleKind::Linear, &[], (0.0, 1.0)).place(0.5).is_finite());
    }

    #[test]
    fn no_figure_is_too_large_for_an_axis() {
        let all = [f64::MIN_POSITIVE / 2.0, 1.0, 1e308, f64::INFINITY, f64::NAN];
        for kind in [
            ScaleKind::Linear,
            ScaleKind::Near,
            ScaleKind::Log,
            ScaleKind::Counts,
            ScaleKind::Nines,
        ] {
            let scale = Scale::new(kind, &all, (0.0, 300.0));
            let ticks = scale.ticks();
            assert!(ticks.len() < 20 && ticks.iter().all(|tick| tick.is_finite()), "{kind:?}");
            assert!(all[..3].iter().all(|v| scale.place(*v).is_finite()), "{kind:?}");
        }
    }

    #[test]
    fn each_nine_is_as_far_from_the_last() {
        let scale = Scale::new(ScaleKind::Nines, &[0.5, 0.99999], (0.0, 500.0));
        let ticks = scale.ticks();
        assert_eq!(ticks.len(), 6);
        let places: Vec<f64> = ticks[1..].iter().map(|tick| scale.place(*tick)).collect();
        let step = places[1] - places[0];
        assert!(step > 50.0 && places.windows(2).all(|p| (p[1] - p[0] - step).abs() < 1e-6));
        assert!(scale.place(0.0) == 0.0 && scale.place(0.9999999).is_finite());
    }

    #[test]
    fn a_single_loss_is_seen_beside_many() {
        let scale = Scale::new(ScaleKind::Counts, &[0.0, 1.0, 100_000.0], (0.0, 300.0));
        assert_eq!(scale.place(0.0), 0.0);
        assert!(scale.place(1.0) > 10.0);
        assert_eq!(scale.ticks()[..2], [0.0, 1.0]);
        assert!(Scale::new(ScaleKind::Counts, &[0.0], (0.0, 1.0)).place(0.0).is_finite());
    }

    #[test]
    fn what_hardly_differs_is_not_blown_up() {
        let scale = Scale::new(ScaleKind::Near, &[100.0, 100.001], (0.0, 300.0));
        assert!((scale.place(100.0) - scale.place(100.001)).abs() < 1.0);
        assert!(scale.ticks().len() >= 2, "{:?}", scale.ticks());
    }
}
