//! What callgrind writes: <https://valgrind.org/docs/manual/cl-format.html>.

use anyhow::{Context, Result};

/// All that was counted.
pub fn total(dump: &str) -> Result<u64> {
    let total = dump.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    let total = total.or_else(|| dump.lines().find_map(|line| line.strip_prefix("summary: ")));
    let total = total.context("callgrind wrote no sum")?;
    let first = total.split_whitespace().next().unwrap_or_default();
    first.parse().with_context(|| format!("callgrind counted '{total}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_a_dump() {
        let head = "events: Ir Bc\nsummary: 7 1\n\nfn=(1) main\n0 7 1\n";
        assert_eq!(total(head).unwrap(), 7);
        assert_eq!(total(&format!("{head}\ntotals: 8 1\n")).unwrap(), 8);
        assert!(total("events: Ir\n").is_err());
        assert!(total("summary: many\n").is_err());
    }
}
