//! Times as the user reads them.

use wiregauge_timing::latency::Distribution;

/// The median, the 99th percentile and the largest of times in nanoseconds: `1.0 µs (median), 2.0 µs (99 %), 3.0 µs (most)`.
pub fn format_shares([half, tail, most]: [u64; 3]) -> String {
    let [half, tail, most] =
        [half, tail, most].map(|nanos| format!("{:.1} µs", nanos as f64 / 1e3));
    format!("{half} (median), {tail} (99 %), {most} (most)")
}

/// The same of a distribution of times in nanoseconds; none of an empty one.
pub fn format_distribution(times: &Distribution) -> Option<String> {
    let half = times.quantile(0.5)?;
    Some(format_shares([half, times.quantile(0.99).unwrap_or(times.most), times.most]))
}
