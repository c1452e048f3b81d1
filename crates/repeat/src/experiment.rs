//! The published experiments, a file each.

automod::dir!(pub "src/experiment");
