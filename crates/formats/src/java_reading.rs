//! What generated code in Java makes of a message's numbers as it walks through it: what
//! is timed and what is proven, from the same expressions.

use crate::java_number::Number;

/// What is made of values as they are read.
#[derive(Clone, Copy, PartialEq)]
pub enum Reading {
    /// A sum of floats.
    Sum,
    /// What is proven of it.
    Exact,
}

impl Reading {
    /// Both.
    pub const ALL: [Reading; 2] = [Reading::Sum, Reading::Exact];

    /// What methods that do so begin with.
    pub fn word(self) -> &'static str {
        match self {
            Reading::Sum => "sum",
            Reading::Exact => "exact",
        }
    }

    /// What the method is called that does so with the number of this name.
    pub fn method(self, name: &str) -> String {
        match self {
            Reading::Sum => name.to_owned(),
            Reading::Exact => format!("exact{}{}", name[..1].to_uppercase(), &name[1..]),
        }
    }

    /// The type of what is made.
    pub fn kind(self) -> &'static str {
        match self {
            Reading::Sum => "double",
            Reading::Exact => "Tally",
        }
    }

    /// Begins it.
    pub fn begin(self) -> &'static str {
        match self {
            Reading::Sum => "double s = 0;",
            Reading::Exact => "Tally t = new Tally();",
        }
    }

    /// Returns it.
    pub fn end(self) -> &'static str {
        match self {
            Reading::Sum => "return s;",
            Reading::Exact => "return t;",
        }
    }

    /// Returns it of nothing.
    pub fn nothing(self) -> &'static str {
        match self {
            Reading::Sum => "return 0;",
            Reading::Exact => "return new Tally();",
        }
    }

    /// Adds the number of a field by the expression of it.
    pub fn number(self, place: usize, number: Number, value: &str) -> String {
        match self {
            Reading::Sum => format!("s += {};", number.counted(value, false)),
            Reading::Exact => format!("t.number({place}, {});", number.word(value)),
        }
    }

    /// Adds the length of a field.
    pub fn length(self, place: usize, value: &str) -> String {
        match self {
            Reading::Sum => format!("s += {value};"),
            Reading::Exact => format!("t.number({place}, {value});"),
        }
    }

    /// Adds a record, which the method of this name reads.
    pub fn record(self, place: usize, name: &str, from: &str) -> String {
        match self {
            Reading::Sum => format!("s += sum_{name}({from});"),
            Reading::Exact => format!("t.record({place}, exact_{name}({from}));"),
        }
    }
}
