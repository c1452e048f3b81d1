//! The codecs that take part, built beside a bar.

use std::path::Path;

use anyhow::Result;
use wiregauge_codec_run::codec_selection;
pub use wiregauge_codec_run::codec_selection::{length, select_codecs, CodecEntrants, UserRunner};
use wiregauge_formats::build::Variant;

use crate::progress::Progress;
use crate::workload::Workload;

/// Builds the runners of `variants` for the workload.
pub fn build(
    workload: &Workload,
    variants: &[Variant],
    own: &[UserRunner],
    folder: &Path,
    progress: &Progress,
) -> Result<CodecEntrants> {
    codec_selection::build(workload, variants, own, folder, &progress.stoppable())
}
