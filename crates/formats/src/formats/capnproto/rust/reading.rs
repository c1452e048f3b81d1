//! What reading takes besides the generated accessors.

use capnp::message::ReaderOptions;
use wiregauge_runner::Error;

use crate::glue;

pub fn take_text(from: capnp::text::Reader<'_>, to: &mut String) -> Result<(), Error> {
    to.clear();
    to.push_str(from.to_str()?);
    Ok(())
}

pub fn take_data(from: &[u8], to: &mut Vec<u8>) {
    to.clear();
    to.extend_from_slice(from);
}

/// Own messages may be larger than the default limit, and must then be read.
pub fn options(limit_in_words: usize) -> ReaderOptions {
    let mut options = ReaderOptions::new();
    let default = options.traversal_limit_in_words.unwrap_or(0);
    options
        .traversal_limit_in_words(Some(limit_in_words.max(default)))
        .nesting_limit(glue::NESTING);
    options
}
