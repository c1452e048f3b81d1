//! How the programs are compiled that show what codecs add, a file each language.

pub(super) mod cpp;
pub(super) mod rust;
