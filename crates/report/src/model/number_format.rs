//! Numbers as people read them.

/// A quantity in its unit: `135 µs` for 135,000 `ns`, `160,024 B` for `B`,
/// `3` for `1`, `12.3%`, `1,000/s` for `1/s`; other units are put after three significant digits.
pub fn format_quantity(value: f64, unit: &str) -> String {
    match unit {
        "ns" => format_time(value),
        "B" => format_bytes(value),
        "1" => format_count(value),
        "%" | "1/s" => format!("{}{}", format_significant(value), unit.trim_start_matches('1')),
        _ => format!("{} {}", format_significant(value), symbol(unit)),
    }
}

/// A unit as it may stand in any form. Results of others may say anything.
fn symbol(unit: &str) -> String {
    let plain = |c: &char| c.is_alphanumeric() || "/%·^-²³() ".contains(*c);
    unit.chars().filter(plain).take(16).collect()
}

/// One of a thing, or several: `1 process`, `5 processes`.
pub fn count_noun(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(&number.to_string()), if number == 1 { one } else { many })
}

/// Numbers of this size are written with an exponent.
const HUGE: f64 = 1e15;

/// Nanoseconds in ns, µs, ms or s with three significant digits: `1.35 µs`.
/// Less than half a picosecond is nothing.
pub fn format_time(nanoseconds: f64) -> String {
    if nanoseconds.abs() < 0.0005 {
        return "0 ns".to_owned();
    }
    // 999.5 already reads 1000 with three digits, and so belongs to the next.
    let (scale, unit) = match nanoseconds.abs() {
        ns if ns < 999.5 => (1.0, "ns"),
        ns if ns < 999.5e3 => (1e3, "µs"),
        ns if ns < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", format_significant(nanoseconds / scale))
}

/// A number on an axis, as short as it can be: `200 ns`, `1 µs`, `20 kB`. A
/// `share` is a percentage with all its nines: `99.99%`.
pub fn format_tick(value: f64, unit: &str) -> String {
    let (value, unit) = if unit == "share" { (100.0 * value, "%") } else { (value, unit) };
    let steps: &[(f64, &str)] = match unit {
        "ns" => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")],
        "B" => &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")],
        "MB/s" => &[(1e3, "GB/s"), (1.0, "MB/s")],
        _ => &[(1.0, unit)],
    };
    if value.abs() >= HUGE {
        return format!("{} {}", format_significant(value), symbol(unit));
    }
    let last = steps[steps.len() - 1];
    let &(scale, unit) =
        steps.iter().find(|step| value.abs() >= step.0 * 0.999_999).unwrap_or(&last);
    let number = format!("{:.6}", value / scale);
    let number = number.trim_end_matches('0').trim_end_matches('.');
    let (whole, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    let unit = match unit {
        "1" => String::new(),
        "%" => unit.to_owned(),
        "1/s" => "/s".to_owned(),
        unit => format!(" {}", symbol(unit)),
    };
    format!("{}{fraction}{unit}", grouped(whole))
}

/// Bytes, whole and exact where they are: `160,024 B`. A mean over messages of
/// different sizes is rounded to a tenth.
pub fn format_bytes(bytes: f64) -> String {
    format!("{} B", format_count(bytes))
}

/// A count with commas between thousands; fractions are rounded to a tenth.
pub fn format_count(value: f64) -> String {
    if value.abs() >= HUGE {
        return format_significant(value);
    }
    if value.fract().abs() < 0.05 || !value.is_finite() {
        return grouped(&format!("{value:.0}"));
    }
    let text = format!("{value:.1}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    format!("{}.{fraction}", grouped(whole))
}

/// A ratio with three significant digits: `1.00×`, `12.3×`, `1.31M×`.
pub fn format_ratio(value: f64) -> String {
    if value.abs() >= HUGE {
        return format!("{}×", format_significant(value));
    }
    let (scale, suffix) = match value.abs() {
        v if v < 9_995.0 => (1.0, ""),
        v if v < 999_500.0 => (1e3, "k"),
        _ => (1e6, "M"),
    };
    let value = value / scale;
    let digits = match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{}{suffix}×", grouped(&format!("{value:.digits$}")))
}

/// A share as a percentage with two significant digits: `0.31%`, `12%`.
pub fn format_percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() >= HUGE {
        return format!("{}%", format_significant(percent));
    }
    let digits = match percent.abs() {
        p if p == 0.0 || p >= 9.95 => 0,
        p if p >= 0.995 => 1,
        p if p >= 0.0995 => 2,
        _ => 3,
    };
    format!("{percent:.digits$}%")
}

/// How far the true figure may lie from the one that is told: `±1.2%`. Beyond
/// `±>999%` it only says that nothing is known.
pub fn format_margin(share: f64) -> String {
    match share {
        s if s > 9.995 => "±>999%".to_owned(),
        s => format!("±{}", format_percent(s)),
    }
}

/// A relative change with its sign: `+12%`, `−3.1%`.
pub fn format_change(ratio: f64) -> String {
    let change = ratio - 1.0;
    match format_percent(change.abs()) {
        text if change < 0.0 => format!("−{text}"),
        text => format!("+{text}"),
    }
}

/// A duration in seconds as people say it: `4 min 12 s`.
pub fn format_duration(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{} s", format_significant(s)),
        s if s >= 1e9 => format!("{} s", format_significant(s)),
        s if s < 3_600.0 => format!("{:.0} min {:.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s => format!("{:.0} h {:.0} min", (s / 3_600.0).floor(), (s % 3_600.0 / 60.0).floor()),
    }
}

/// Three significant digits; with an exponent below a millionth and from a
/// million billions on.
pub fn format_significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor() as i32;
    if magnitude < -6 || value.abs() >= HUGE {
        return format!("{value:.2e}").replace('-', "−");
    }
    // Rounding may carry over into one digit more: 9.996 is 10.0.
    let carried = (value.abs() / 10f64.powi(magnitude - 2)).round() >= 1_000.0;
    let digits = (2 - magnitude - i32::from(carried)).clamp(0, 9) as usize;
    grouped(&format!("{value:.digits$}"))
}

/// Commas between the thousands of a decimal number's whole part.
fn grouped(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("−", rest));
    let (whole, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 && digit.is_ascii_digit() {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// How much more there is, with its sign.
pub fn format_difference(value: f64) -> String {
    match value {
        v if v > 0.0 => format!("+{}", format_count(v)),
        v if v < 0.0 => format!("−{}", format_count(-v)),
        _ => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_fitting_unit() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (0.0512, "0.0512 ns"),
            (7.604, "7.60 ns"),
            (9.996, "10.0 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (135_700.0, "136 µs"),
            (11_452_800.0, "11.5 ms"),
            (2.5e9, "2.50 s"),
            (-250.4, "−250 ns"),
        ] {
            assert_eq!(format_time(ns), text);
        }
    }

    #[test]
    fn the_very_small_has_an_exponent() {
        assert_eq!(format_significant(0.0000123), "0.0000123");
        assert_eq!(format_significant(2.5e-11), "2.50e−11");
        for text in [
            format_significant(1e300),
            format_count(1e300),
            format_ratio(1e300),
            format_percent(1e300),
            format_time(1e300),
        ] {
            assert!(text.len() < 16, "{text}");
        }
        assert_eq!(format_quantity(1.0, "<b>\u{1b}[1m"), "1.00 b1m");
        assert_eq!(count_noun(1, "process", "processes"), "1 process");
    }

    #[test]
    fn ticks_are_short() {
        for (value, unit, text) in [
            (0.0, "ns", "0 ns"),
            (0.5, "ns", "0.5 ns"),
            (1e3, "ns", "1 µs"),
            (2.5e6, "ns", "2.5 ms"),
            (20_000.0, "B", "20 kB"),
            (10_000.0, "1", "10,000"),
            (10_000.0, "1/s", "10,000/s"),
            (0.02, "MB/s", "0.02 MB/s"),
            (12_000.0, "MB/s", "12 GB/s"),
            (0.5, "share", "50%"),
            (0.999_99, "share", "99.999%"),
        ] {
            assert_eq!(format_tick(value, unit), text);
        }
    }

    #[test]
    fn bytes_are_exact() {
        assert_eq!(format_bytes(23_226_752.0), "23,226,752 B");
        assert_eq!(format_bytes(55.0), "55 B");
        assert_eq!(format_bytes(1_234.56), "1,234.6 B");
    }

    #[test]
    fn ratios_and_shares() {
        assert_eq!(format_ratio(1.0), "1.00×");
        assert_eq!(format_ratio(12.345), "12.3×");
        assert_eq!(format_ratio(1_234.5), "1,234×");
        assert_eq!(format_ratio(13_314.0), "13.3k×");
        assert_eq!(format_ratio(999_600.0), "1.00M×");
        assert_eq!(format_percent(0.1234), "12%");
        assert_eq!(format_percent(0.0031), "0.31%");
        assert_eq!(
            (format_margin(0.012).as_str(), format_margin(31.0).as_str()),
            ("±1.2%", "±>999%")
        );
        assert_eq!(format_change(1.2), "+20%");
        assert_eq!(format_change(0.969), "−3.1%");
        assert_eq!(format_duration(252.4), "4 min 12 s");
        assert_eq!(format_duration(12.34), "12.3 s");
        assert_eq!(format_quantity(3.0, "MB/s"), "3.00 MB/s");
        assert_eq!(format_quantity(1_000.4, "1/s"), "1,000/s");
        assert_eq!(format_quantity(2.345, "%"), "2.35%");
    }
}
