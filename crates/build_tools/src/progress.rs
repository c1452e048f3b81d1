//! What a build tells while it is at work.

/// What a build tells of its progress: a short word on what it does, and how
/// much of how much is done. An error that it returns, such as the user's wish
/// to stop, ends the build.
pub type Progress<'a> = &'a dyn Fn(&str, usize, usize) -> anyhow::Result<()>;
