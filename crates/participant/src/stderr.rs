//! Standard error, whose reader may be gone. `wiregauge_system` has the same for what users read;
//! it is not compiled into the programs of engines.

use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line to standard error. It is no error that nobody reads it: who started this program
/// may have been killed, and `eprintln!` would panic then and keep the program from its end.
pub fn print_line(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
