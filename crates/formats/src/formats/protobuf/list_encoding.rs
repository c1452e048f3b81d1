//! What another format that goes by Protobuf has in place of some lists of records.

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Field, TypeId};

use crate::flattened_field::FlattenedField;

/// Why a Rust library cannot carry a message.
pub const LOSES_SIGN: &str = "it loses the sign of zero: -0.0 is not written, as 0.0 is not";

/// What a format has in place of some lists of records, by statements as the glue has
/// them.
pub trait ListEncoding {
    /// Whether a record is a message.
    fn is_message(&self, _id: TypeId) -> bool {
        true
    }
    /// The headers or modules that it needs.
    fn extra_modules(&self) -> &'static [&'static str] {
        &[]
    }
    /// What Rust's libraries cannot say, for which filling with a check returns true.
    fn unsupported_values(&self) -> String {
        LOSES_SIGN.into()
    }
    /// Whether its statements of Rust that tally may fail.
    fn tally_may_fail(&self) -> bool {
        false
    }
    /// What the statements need.
    fn definitions(&self, _code: &mut SourceWriter) {}
    /// Fills a slot.
    fn fill(&self, _slot: &FlattenedField) -> Option<String> {
        None
    }
    /// Takes a slot.
    fn take(&self, _slot: &FlattenedField) -> Option<String> {
        None
    }
    /// Tallies a slot.
    fn tally(&self, _slot: &FlattenedField) -> Option<String> {
        None
    }
    /// Whether a slot of the root message can be written and read apart from the message's
    /// object, in place.
    fn stands_apart(&self, _slot: &FlattenedField) -> bool {
        false
    }
    /// What writes and reads those that can.
    fn write_apart(&self, _slots: &[FlattenedField], _code: &mut SourceWriter) {}
    /// Tallies the number that `rest` leads to from an element of the list that is in bytes:
    /// `*field` in C++, in Rust `at`, where it ends with a result.
    fn tally_number(
        &self,
        _list: &Field,
        _index: ElementIndex,
        _rest: &[PathStep],
    ) -> Option<String> {
        None
    }
}

/// Protobuf by itself.
pub struct PlainLists;

impl ListEncoding for PlainLists {}
