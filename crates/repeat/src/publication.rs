//! What is repeated.

/// What is repeated.
#[derive(Clone, Copy)]
pub struct Publication {
    /// Its name on the command line: `polysync`.
    pub name: &'static str,
    /// What it measures, in a line.
    pub about: &'static str,
    /// Whose it is, and what it is called.
    pub source: &'static str,
    /// When it was published.
    pub year: &'static str,
}
