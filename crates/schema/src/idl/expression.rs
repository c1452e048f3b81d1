//! Constant expressions of integers, by the grammar of OMG IDL 4.2, 7.4.1.4.3.

use anyhow::{bail, ensure, Context, Result};

use super::types::{unescape, Expression, DEEPEST};

/// The value of an expression, whose names stand for what `find` says.
///
/// # Errors
/// When it is none of integers, or too large.
pub(super) fn evaluate(
    expression: &Expression,
    find: &dyn Fn(&str) -> Result<i128>,
) -> Result<i128> {
    let mut reader = Reader { words: &expression.words, find, at: 0, depth: 0 };
    let value = reader.binary(0).and_then(|value| match reader.peek() {
        "" => Ok(value),
        word => bail!("'{word}' is not expected here"),
    });
    value.with_context(|| format!("the expression '{}'", expression.words.join(" ")))
}

/// Operators of two operands, those that bind least first.
const OPERATORS: [&[&str]; 6] =
    [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

struct Reader<'a> {
    words: &'a [String],
    find: &'a dyn Fn(&str) -> Result<i128>,
    at: usize,
    /// How many brackets and signs are open.
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.words.get(self.at).map_or("", String::as_str)
    }

    /// Passes over an operator, each of whose letters is a word.
    fn accept(&mut self, operator: &str) -> bool {
        let words = &self.words[self.at..];
        let is_there = words.len() >= operator.len()
            && words
                .iter()
                .zip(operator.split("").filter(|one| !one.is_empty()))
                .all(|(a, b)| a == b);
        self.at += if is_there { operator.len() } else { 0 };
        is_there
    }

    fn binary(&mut self, level: usize) -> Result<i128> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.accept(operator)) {
            let right = self.binary(level + 1)?;
            left = apply(operator, left, right).context("it has no value that fits")?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i128> {
        ensure!(self.depth < DEEPEST, "it is nested too deeply");
        self.depth += 1;
        let value = if self.accept("-") {
            self.unary()?.checked_neg().context("it has no value that fits")?
        } else if self.accept("+") {
            self.unary()?
        } else if self.accept("~") {
            !self.unary()?
        } else if self.accept("(") {
            let inner = self.binary(0)?;
            ensure!(self.accept(")"), "a bracket is not closed");
            inner
        } else {
            self.operand()?
        };
        self.depth -= 1;
        Ok(value)
    }

    /// A number, or the name of one.
    fn operand(&mut self) -> Result<i128> {
        let mut word = String::new();
        while self.peek() == "::" || word.is_empty() || word.ends_with("::") {
            ensure!(!self.peek().is_empty(), "it ends too early");
            word += unescape(self.peek());
            self.at += 1;
        }
        if !word.starts_with(|letter: char| letter.is_ascii_digit()) {
            return (self.find)(&word);
        }
        let hexadecimal = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
        let number = match (hexadecimal, word.strip_prefix('0')) {
            (Some(digits), _) => u64::from_str_radix(digits, 16),
            (None, Some(digits)) if !digits.is_empty() => u64::from_str_radix(digits, 8),
            _ => word.parse(),
        };
        let number = number.with_context(|| format!("'{word}' is not an integer"))?;
        Ok(number.into())
    }
}

/// What an operator makes of two numbers; none where that has no value, or one of more than 64 bits
/// and a sign.
fn apply(operator: &str, left: i128, right: i128) -> Option<i128> {
    let shift = || u32::try_from(right).ok().filter(|bits| *bits < 64);
    let value = match operator {
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "<<" => left.checked_mul(1 << shift()?)?,
        ">>" => left >> shift()?,
        "+" => left + right,
        "-" => left - right,
        "*" => left.checked_mul(right)?,
        "/" => left.checked_div(right)?,
        _ => left.checked_rem(right)?,
    };
    let largest = i128::from(u64::MAX);
    (-largest..=largest).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(text: &str) -> Result<i128> {
        let words = text.split_whitespace().map(str::to_owned).collect();
        let find = |name: &str| match name {
            "N" | "m::N" | "::m::N" => Ok(12),
            _ => bail!("there is no definition of {name}"),
        };
        evaluate(&Expression { words, scope: Vec::new() }, &find)
    }

    #[test]
    fn values_are_those_of_the_grammar() {
        for (text, value) in [
            ("7", 7),
            ("0x1F", 31),
            ("010", 8),
            ("0", 0),
            ("1 + 2 * 3", 7),
            ("( 1 + 2 ) * 3", 9),
            ("10 - 3 - 2", 5),
            ("- 3 + - ( 2 )", -5),
            ("7 / 2 % 2", 1),
            ("1 | 6 ^ 2 & 3", 5),
            ("1 < < 3 + 1", 16),
            ("0xF0 > > 4", 15),
            ("~ 0 & 255", 255),
            ("N * 2", 24),
            ("m :: N - :: m :: N", 0),
        ] {
            assert_eq!(value_of(text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_refused() {
        let deep = "( ".repeat(100_000);
        let signs = "- ".repeat(100_000);
        let large = "18446744073709551615 * 18446744073709551615";
        for (text, words) in [
            ("", "ends too early"),
            ("1 +", "ends too early"),
            ("( 1", "not closed"),
            ("1 2", "'2' is not expected"),
            ("1.5", "'1.5' is not an integer"),
            ("0x", "not an integer"),
            ("M", "no definition of M"),
            ("1 / 0", "no value that fits"),
            ("1 % 0", "no value that fits"),
            ("1 < < 64", "no value that fits"),
            (large, "no value that fits"),
            (&deep, "nested too deeply"),
            (&signs, "nested too deeply"),
        ] {
            let error = format!("{:#}", value_of(text).unwrap_err());
            assert!(error.contains(words), "{error:.200}");
        }
    }
}
