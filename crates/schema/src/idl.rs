//! Reader for OMG IDL: files of DDS, and what recordings carry, which are the files that `rosidl`
//! makes of messages of ROS 2, each behind a line of 80 `=` and one with `IDL: pkg/msg/Type`.
//!
//! Structs, enums, typedefs, sequences, arrays and strings are read. An array of several
//! dimensions becomes one of all their elements, as it is on the wire, `wstring` a string
//! whose wording says so. Unions, maps, lists of lists and what may be absent are refused.

mod definitions;
mod expression;
mod files;
mod parser;
mod preprocessor;
mod types;

use anyhow::{Context, Result};

use self::definitions::IdlDefinitions;
pub use self::files::{enums, messages, read_all, read_file};
use self::preprocessor::{Code, Preprocessor};
use crate::model::Schema;

/// Reads a definition. `name` is the root's type, `pkg/msg/Type` or `pkg::msg::Type`; `origin`
/// says in errors where the text is from.
///
/// # Errors
/// When it is no IDL, or has what is not read.
pub fn read_text(text: &str, name: &str, origin: &str) -> Result<Schema> {
    let (mut code, mut library) = (Code::default(), IdlDefinitions::default());
    // All that it includes is in the text.
    Preprocessor::default().read(text, origin, &mut code, &mut |_, _, _, _| Ok(()))?;
    parser::add_code(&code, &mut library)?;
    library.schema(name).with_context(|| origin.to_owned())
}
