//! Statistics as comma-separated values, RFC 4180.

use serde_json::Value;
use wiregauge_result::run::Run;

use crate::model::statistic::{statistics, COLUMNS};
use crate::text::plain_text::clean;

/// One line per case, subject and metric of each run, under a header line.
/// Numbers are unrounded and in the unit that the column `unit` names.
pub fn render(runs: &[Run]) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for (i, run) in runs.iter().enumerate() {
        for statistic in statistics(i + 1, run) {
            // A statistic is a flat record: it always becomes an object.
            let value = serde_json::to_value(&statistic).unwrap_or_default();
            let fields: Vec<String> = COLUMNS.iter().map(|name| field(&value[*name])).collect();
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

fn field(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        // A table is shown on a terminal, too.
        Value::String(text) => clean(text),
        other => other.to_string(),
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must() {
        assert_eq!(field(&Value::String("a, \"b\"".into())), "\"a, \"\"b\"\"\"");
        assert_eq!(field(&Value::Null), "");
        assert_eq!(field(&Value::Bool(true)), "true");
    }
}
