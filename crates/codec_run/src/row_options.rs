//! How rows are built.

use wiregauge_build_tools::toolchain::Target;

use crate::libraries::LibraryOptions;

/// How rows are built.
pub struct RowOptions {
    /// With which libraries.
    pub libraries: LibraryOptions,
    /// Up to which length a fixed array is so many fields where a format has no arrays; 0 for
    /// lists throughout.
    pub small_array: u32,
    /// What they are built for; none for this machine.
    pub target: Option<&'static Target>,
}
