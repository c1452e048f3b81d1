//! What is emitted from.

use wiregauge_schema::{Projection, Schema};

/// What is compiled: a schema and the numbers that the field experiments read.
pub struct Unit<'a> {
    /// The message.
    pub schema: &'a Schema,
    /// The two numbers.
    pub projection: &'a Projection,
}
