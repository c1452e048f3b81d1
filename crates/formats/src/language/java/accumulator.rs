//! What generated code in Java makes of a message's numbers as it walks through it: what
//! is timed and what is proven, from the same expressions.

use crate::language::java::number::JavaNumber;

/// What is made of values as they are read.
#[derive(Clone, Copy, PartialEq)]
pub enum Accumulator {
    /// A sum of floats.
    Sum,
    /// What is proven of it.
    Exact,
}

impl Accumulator {
    /// Both.
    pub const ALL: [Accumulator; 2] = [Accumulator::Sum, Accumulator::Exact];

    /// What methods that do so begin with.
    pub fn method_prefix(self) -> &'static str {
        match self {
            Accumulator::Sum => "sum",
            Accumulator::Exact => "exact",
        }
    }

    /// What the method is called that does so with the number of this name.
    pub fn method_name(self, name: &str) -> String {
        match self {
            Accumulator::Sum => name.to_owned(),
            Accumulator::Exact => format!("exact{}{}", name[..1].to_uppercase(), &name[1..]),
        }
    }

    /// The type of what is made.
    pub fn result_type(self) -> &'static str {
        match self {
            Accumulator::Sum => "double",
            Accumulator::Exact => "Tally",
        }
    }

    /// Begins it.
    pub fn declaration(self) -> &'static str {
        match self {
            Accumulator::Sum => "double s = 0;",
            Accumulator::Exact => "Tally t = new Tally();",
        }
    }

    /// Returns it.
    pub fn return_statement(self) -> &'static str {
        match self {
            Accumulator::Sum => "return s;",
            Accumulator::Exact => "return t;",
        }
    }

    /// Returns it of nothing.
    pub fn return_empty(self) -> &'static str {
        match self {
            Accumulator::Sum => "return 0;",
            Accumulator::Exact => "return new Tally();",
        }
    }

    /// Adds the number of a field by the expression of it.
    pub fn add_number(self, place: usize, number: JavaNumber, value: &str) -> String {
        match self {
            Accumulator::Sum => format!("s += {};", number.sum_term(value, false)),
            Accumulator::Exact => format!("t.number({place}, {});", number.bits(value)),
        }
    }

    /// Adds the length of a field.
    pub fn add_length(self, place: usize, value: &str) -> String {
        match self {
            Accumulator::Sum => format!("s += {value};"),
            Accumulator::Exact => format!("t.number({place}, {value});"),
        }
    }

    /// Adds a record, which the method of this name reads.
    pub fn add_record(self, place: usize, name: &str, from: &str) -> String {
        match self {
            Accumulator::Sum => format!("s += sum_{name}({from});"),
            Accumulator::Exact => format!("t.record({place}, exact_{name}({from}));"),
        }
    }
}
