//! Rates and speeds as people write them.

use anyhow::{bail, ensure, Context, Result};

/// How often something happens in a second: `10Hz`, `2 kHz`, or a plain number.
///
/// # Errors
/// No number, a unit that there is not, or what is no rate.
pub fn rate(text: &str) -> Result<f64> {
    let wants = "write a rate such as 10Hz";
    let rate = number(text, &[("khz", 1000.0), ("hz", 1.0), ("", 1.0)]).context(wants)?;
    ensure!(
        (1e-3..=1e9).contains(&rate),
        "'{text}' is not a rate from 0.001 to 1000000000 a second"
    );
    Ok(rate)
}

/// The speed of a vehicle in meters per second: `100km/h`, `60mph`, `30m/s`.
///
/// # Errors
/// No number, a unit that there is not or none, or what is not above 0.
pub fn speed(text: &str) -> Result<f64> {
    let wants = "write a speed such as 100km/h, 60mph or 30m/s";
    let units = [("km/h", 1.0 / 3.6), ("mph", 0.44704), ("m/s", 1.0)];
    let speed = number(text, &units).context(wants)?;
    ensure!(speed > 0.0 && speed.is_finite(), "'{text}' is not above 0");
    Ok(speed)
}

/// A number with one of these units; the first that fits.
fn number(text: &str, units: &[(&str, f64)]) -> Result<f64> {
    let text = text.trim().to_lowercase();
    for (unit, factor) in units {
        if let Some(number) = text.strip_suffix(unit) {
            return Ok(number.trim().parse::<f64>()? * factor);
        }
    }
    bail!("'{text}' has no known unit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_understood() {
        assert_eq!(rate("10Hz").unwrap(), 10.0);
        assert_eq!(rate("2 kHz").unwrap(), 2000.0);
        assert_eq!(rate("25").unwrap(), 25.0);
        assert!((speed("100km/h").unwrap() - 27.7778).abs() < 1e-4);
        assert!((speed("60mph").unwrap() - 26.8224).abs() < 1e-9);
        assert!(speed("100").is_err());
        assert!(speed("-3m/s").is_err());
        for text in ["0Hz", "-5", "1e10", "nan", "often"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
