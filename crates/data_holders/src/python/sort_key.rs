//! The order in which linters want names.

/// A part of a name: digits go by their value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortPart {
    Number(u128),
    Letter(char),
}

/// Where a name stands among others: `a2` before `a10`.
pub fn natural_key(name: &str) -> Vec<SortPart> {
    let mut parts = Vec::new();
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(mut number) = letter.to_digit(10).map(u128::from) else {
            parts.push(SortPart::Letter(letter));
            continue;
        };
        while let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(digit.into());
            letters.next();
        }
        parts.push(SortPart::Number(number));
    }
    parts
}

/// Where a name stands in `__all__`: those that look like constants, classes, others.
pub fn export_key(name: &str) -> (u8, Vec<SortPart>) {
    let is_upper = !name.chars().any(|c| c.is_ascii_lowercase());
    let kind = match name.chars().next() {
        Some(_) if is_upper && name.len() > 1 => 0,
        Some(c) if c.is_ascii_uppercase() => 1,
        _ => 2,
    };
    (kind, natural_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_go_by_their_value() {
        let mut names = ["a10", "a2", "A", "a"];
        names.sort_by_key(|name| natural_key(name));
        assert_eq!(names, ["A", "a", "a2", "a10"]);
        let mut names = ["Int16", "Int8", "IMU"];
        names.sort_by_key(|name| export_key(name));
        assert_eq!(names, ["IMU", "Int8", "Int16"]);
    }
}
