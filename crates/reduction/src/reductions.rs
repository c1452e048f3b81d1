//! One file a reduction; each registers itself.

automod::dir!("src/reductions");
