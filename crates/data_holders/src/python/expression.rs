//! Values as Python writes them.

use std::fmt::Write;

use wiregauge_schema::literal::Literal;

/// A value in Python.
pub fn value_literal(value: &Literal) -> String {
    match value {
        Literal::Bool(value) => if *value { "True" } else { "False" }.into(),
        Literal::Integer(value) => value.to_string(),
        Literal::Float(value) if value.is_finite() => format!("{value:?}"),
        Literal::Float(value) => format!("float(\"{value}\")"),
        Literal::Text(text) => quoted(text),
        Literal::List(values) => {
            let values: Vec<String> = values.iter().map(value_literal).collect();
            format!("[{}]", values.join(", "))
        }
    }
}

/// A text as a literal; a long one in a line each.
fn quoted(text: &str) -> String {
    let one = |text: &str| {
        let quote = if text.contains('"') && !text.contains('\'') { '\'' } else { '"' };
        let mut quoted = String::from(quote);
        for letter in text.chars() {
            match letter {
                '"' if quote == '"' => quoted.push_str("\\\""),
                '\\' => quoted.push_str("\\\\"),
                '\n' => quoted.push_str("\\n"),
                '\r' => quoted.push_str("\\r"),
                '\t' => quoted.push_str("\\t"),
                c if c.is_control() => write!(quoted, "\\U{:08x}", u32::from(c)).expect("text"),
                c => quoted.push(c),
            }
        }
        quoted.push(quote);
        quoted
    };
    match text.contains('\n') {
        false => one(text),
        true => {
            let lines: Vec<String> =
                text.split_inclusive('\n').map(|line| format!("    {}", one(line))).collect();
            format!("(\n{}\n)", lines.join("\n"))
        }
    }
}
