//! A recording copied by what packs or unpacks its messages.

use std::path::Path;

use anyhow::Result;
use wiregauge_system::notice::print_notices;
use wiregauge_system::progress::byte_progress;
use wiregauge_trace::write::Writer;
use wiregauge_trace_edit::copy_job::CopyInput;

use super::super::trace::output_args::OutputArgs;
use super::super::trace::selection_args::SelectionArgs;

/// Copies what is selected through a writer, beside a bar, and prints what there is to say.
///
/// # Errors
/// When the input is damaged, nothing is selected, or the output cannot be written.
pub fn copy_through(
    input: &Path,
    output: &Path,
    selecting: &SelectionArgs,
    putting: &OutputArgs,
    wrap: impl FnOnce(Box<dyn Writer>) -> Box<dyn Writer>,
) -> Result<()> {
    let (files, filter) = ([input.to_owned()], selecting.filter());
    let mut news = byte_progress("copying");
    let input = CopyInput::new(&files, &filter);
    let copied = putting.options().copy_through(&input, output, &mut news, wrap)?;
    drop(news);
    print_notices(&copied.conversion_notices(output));
    Ok(())
}
