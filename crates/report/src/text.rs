//! Results as text, a file a form.

pub mod budget;
pub mod compare;
pub mod csv;
pub mod json;
pub mod junit;
pub mod markdown;
pub(crate) mod plain_text;
pub mod terminal;
