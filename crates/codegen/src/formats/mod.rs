//! One module a format. A file put here is compiled in without further ado.

automod::dir!(pub "src/formats");
