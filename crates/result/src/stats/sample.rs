//! Order statistics of plain numbers.

/// Factor that makes the median absolute deviation of normally distributed
/// numbers equal to their standard deviation: 1 / Φ⁻¹(3/4).
pub(super) const MAD_TO_DEVIATION: f64 = 1.482_602_218_505_602;

/// The finite numbers in ascending order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The quantile `q` (0 to 1) of ascending numbers by linear interpolation,
/// type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The
/// American Statistician 50 (1996). `None` of no numbers.
pub fn quantile(ascending: &[f64], q: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = place.ceil() as usize;
    let share = place - below as f64;
    Some(ascending[below] + share * (ascending[above] - ascending[below]))
}

/// The median of numbers in any order. `None` of no numbers.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

/// The arithmetic mean. `None` of no numbers.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The variance with Bessel's correction. `None` of fewer than two numbers.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// The standard deviation that the middle of the numbers suggests, which
/// single large numbers do not move: the scaled median absolute deviation, or
/// where more than half of the numbers are equal, the scaled mean absolute
/// deviation (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993).
pub(super) fn robust_deviation(values: &[f64]) -> Option<f64> {
    let middle = median(values.iter().copied())?;
    let distances = || values.iter().map(|v| (v - middle).abs());
    let by_median = MAD_TO_DEVIATION * median(distances())?;
    if by_median > 0.0 {
        return Some(by_median);
    }
    let by_mean = distances().sum::<f64>() / values.len() as f64;
    Some((std::f64::consts::PI / 2.0).sqrt() * by_mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let numbers = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&numbers, 0.0), Some(1.0));
        assert_eq!(quantile(&numbers, 0.25), Some(1.75));
        assert_eq!(quantile(&numbers, 0.5), Some(2.5));
        assert_eq!(quantile(&numbers, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(median([f64::NAN, 3.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn one_wild_number_does_not_move_the_robust_deviation() {
        let calm = robust_deviation(&[9.0, 10.0, 10.0, 11.0, 12.0]).unwrap();
        let wild = robust_deviation(&[9.0, 10.0, 10.0, 11.0, 12_000.0]).unwrap();
        assert_eq!(calm, wild);
    }

    #[test]
    fn many_equal_numbers_still_have_a_deviation() {
        assert!(robust_deviation(&[5.0, 5.0, 5.0, 5.0, 6.0]).unwrap() > 0.0);
        assert_eq!(robust_deviation(&[5.0, 5.0]), Some(0.0));
    }
}
