//! What doc comments say in each language that has them line by line.

use wiregauge_schema::{Cardinality, Field};

/// The lines of a comment, without what a compiler or a terminal would obey.
pub fn lines(text: &str) -> impl Iterator<Item = String> + '_ {
    text.trim_end().lines().map(printable_line)
}

/// A line without letters that a terminal would obey, or that turn the direction of what
/// stands behind them, which compilers refuse.
pub fn printable_line(line: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    line.chars().filter(|c| !c.is_control() && !turns(*c)).collect()
}

/// What a name was, where it is another one now.
pub fn renamed_note(name: &str, original: &str) -> Option<String> {
    (name != original).then(|| format!("Called '{}' in the definition.", original.escape_debug()))
}

/// What of a field its type does not say.
pub fn field_notes(field: &Field) -> Vec<String> {
    let mut unsaid = Vec::new();
    if let Cardinality::List { bound: Some(bound) } = field.cardinality {
        unsaid.push(format!("{bound} elements at most."));
    }
    if let Some(union) = &field.union {
        unsaid.push(format!("At most one member of '{union}' is set."));
    }
    if let (Cardinality::Optional, Some(default)) = (field.cardinality, &field.default) {
        unsaid.push(format!("Stands for {default} where it is absent."));
    }
    unsaid
}
