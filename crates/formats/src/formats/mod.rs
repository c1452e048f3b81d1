//! One module a format. A file put here is compiled in without further ado.
//!
//! The folder beside a format holds what it is further made of: modules of its own,
//! and the fixed part of its runners, which the format takes by `include_str!` and
//! which is compiled with a runner only. `main.cpp` and headers are of C++ runners,
//! `codec.rs` and what it names by `crate::` of Rust runners.

automod::dir!(pub "src/formats");
