//! One file a language of runners. What is put here is compiled in and registers
//! itself.

automod::dir!(pub "src/build/languages");
