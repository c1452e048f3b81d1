//! One file a transport, or a folder. What is put here is compiled in and
//! registers itself in the [`catalogue`](crate::catalogue).
//!
//! A transport that needs nothing is whole in its file; raw TCP is in the crate
//! `wiregauge-participant`, as stages of chains have it in every program. Of one whose library is
//! heavy to build, the file says what its program needs; the program is in
//! `engines`.

automod::dir!(pub "src/transports");
