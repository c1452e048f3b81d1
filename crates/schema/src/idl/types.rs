//! What a file of OMG IDL says, as it is spelled.

use crate::model::Scalar;

/// Deepest nesting of modules, types and names for names that is followed.
pub(super) const DEEPEST: usize = 32;

/// An expression as it is spelled, and the module that it is in. Its names are looked up when all
/// is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expression {
    pub(super) words: Vec<String>,
    pub(super) scope: Vec<String>,
}

/// A type as it is spelled.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum IdlType {
    Scalar(Scalar),
    Text,
    WideText,
    Named(String, Vec<String>),
    List(Box<IdlType>, Option<Expression>),
    /// What is not read.
    Other(&'static str),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct IdlMember {
    pub(super) kind: IdlType,
    pub(super) name: String,
    /// The lengths of its dimensions.
    pub(super) sizes: Vec<Expression>,
    pub(super) is_optional: bool,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum IdlDefinition {
    Struct { base: Option<IdlType>, members: Vec<IdlMember>, is_mutable: bool },
    Enum { bits: u32, values: Vec<(String, i64)> },
    Alias(IdlType, Vec<Expression>),
    Number(i128),
    Other(&'static str),
}

/// A name without the `_` before it, by which a word of IDL is meant as a name (OMG IDL 4.2,
/// 7.2.3.2).
pub(super) fn unescape(name: &str) -> &str {
    name.strip_prefix('_').filter(|rest| !rest.is_empty()).unwrap_or(name)
}
