//! The environment, shown without knowing what is in it.

use serde_json::Value;
use wiregauge_result::environment::Environment;

use wiregauge_system::text::escape as clean;

/// The environment as lines of (path, value), such as `cpu.model` and its
/// name. Lists of plain values become one line; empty ones are left out.
pub fn lines(environment: &Environment) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    if let Ok(value) = serde_json::to_value(environment) {
        walk(String::new(), &value, &mut lines);
    }
    lines
}

/// The lines in which two environments differ: (path, base, new).
pub fn differences(base: &Environment, new: &Environment) -> Vec<(String, String, String)> {
    let (base, new) = (lines(base), lines(new));
    let find = |lines: &[(String, String)], path: &str| {
        lines.iter().find(|line| line.0 == path).map_or("-".to_owned(), |line| line.1.clone())
    };
    let mut paths: Vec<&String> = base.iter().chain(&new).map(|line| &line.0).collect();
    let mut seen = std::collections::HashSet::new();
    paths.retain(|path| seen.insert(*path));
    paths
        .into_iter()
        .map(|path| (path.clone(), find(&base, path), find(&new, path)))
        .filter(|(_, base, new)| base != new)
        .collect()
}

fn walk(path: String, value: &Value, lines: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                walk(format!("{path}{dot}{}", clean(name)), value, lines);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (i, item) in items.iter().enumerate() {
                walk(format!("{path}[{i}]"), item, lines);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            lines.push((path, items.join(", ")));
        }
        plain_value => lines.push((path, plain(plain_value))),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => clean(text),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_whatever_is_there() {
        let value = serde_json::json!({
            "cpu": {"model": "A \u{7}B", "cores": 2, "governor": null},
            "tools": [{"name": "gcc"}, {"name": "rustc"}],
            "flags": ["-O3", "-g"], "none": [], "virtual": true
        });
        let mut lines = Vec::new();
        walk(String::new(), &value, &mut lines);
        let shown: Vec<String> =
            lines.iter().map(|(path, text)| format!("{path}={text}")).collect();
        for line in [
            "cpu.cores=2",
            "cpu.model=A \\u{7}B",
            "tools[1].name=rustc",
            "flags=-O3, -g",
            "virtual=yes",
        ] {
            assert!(shown.iter().any(|shown| shown == line), "{line} is not in {shown:?}");
        }
        assert_eq!(lines.len(), 6);
    }
}
