//! From figures to pixels.

/// An axis, linear from zero or logarithmic.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
    pixels: (f64, f64),
}

/// A ratio of largest to smallest beyond which small figures would be
/// invisible on a linear axis.
const LARGE_SPREAD: f64 = 12.0;

impl Scale {
    /// Linear from zero, or logarithmic where the spread is large and all
    /// values are positive.
    pub fn fitting(values: &[f64], pixels: (f64, f64)) -> Scale {
        let (low, high) = ends(values);
        if low > 0.0 && high / low > LARGE_SPREAD {
            return Scale::log(values, pixels);
        }
        Scale::linear(values, pixels)
    }

    /// Linear from zero.
    pub fn linear(values: &[f64], pixels: (f64, f64)) -> Scale {
        let (_, high) = ends(values);
        let high = if high > 0.0 { high * 1.02 } else { 1.0 };
        Scale { low: 0.0, high, log: false, pixels }
    }

    /// Logarithmic with a small margin. Values must be positive.
    pub fn log(values: &[f64], pixels: (f64, f64)) -> Scale {
        let (low, high) = ends(values);
        let margin = (high / low).powf(0.03).max(1.1);
        Scale { low: low / margin, high: high * margin, log: true, pixels }
    }

    /// Whether it is logarithmic.
    pub fn is_log(&self) -> bool {
        self.log
    }

    /// Where a value lies, in pixels; values beyond the ends lie at the ends.
    pub fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = match self.log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// On which side of the axis a value lies; `Equal` is on it.
    pub fn side(&self, value: f64) -> std::cmp::Ordering {
        match value {
            v if v < self.low => std::cmp::Ordering::Less,
            v if v > self.high => std::cmp::Ordering::Greater,
            _ => std::cmp::Ordering::Equal,
        }
    }

    /// Round values along the axis, about half a dozen.
    pub fn ticks(&self) -> Vec<f64> {
        if !self.log {
            let rough = self.high / 5.0;
            let decade = 10f64.powf(rough.log10().floor());
            let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * decade);
            let step = step.into_iter().find(|step| *step >= rough).unwrap_or(rough);
            return (0..=5).map(|i| f64::from(i) * step).filter(|v| *v <= self.high).collect();
        }
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let within = |value: &f64| (self.low..=self.high).contains(value);
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
}

fn ends(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low.is_finite() && high.is_finite() {
        (low, high)
    } else {
        (1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_spread_is_logarithmic() {
        let scale = Scale::fitting(&[1.0, 1_000.0], (0.0, 300.0));
        assert!(scale.is_log());
        assert!((scale.place(1_000f64.sqrt()) - 150.0).abs() < 1e-6);
        assert_eq!(scale.ticks().first(), Some(&1.0));
        assert!(!Scale::fitting(&[5.0, 10.0], (0.0, 1.0)).is_log());
        assert!(!Scale::fitting(&[0.0, 1e9], (0.0, 1.0)).is_log());
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(Scale::linear(&[9.0], (0.0, 1.0)).ticks(), [0.0, 2.0, 4.0, 6.0, 8.0]);
        for decades in 1..12 {
            let scale = Scale::log(&[1.0, 10f64.powi(decades)], (0.0, 1.0));
            assert!((2..=10).contains(&scale.ticks().len()), "{:?}", scale.ticks());
        }
        assert!(Scale::linear(&[], (0.0, 1.0)).place(0.5).is_finite());
    }
}
