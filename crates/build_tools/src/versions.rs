//! Versions of the programs that are on the machine.

use std::process::{Command, Stdio};

use crate::tool::rustc;

/// Flags that C++ is compiled with.
pub const CPP_FLAGS: &str = "CMake Release: -O3 -DNDEBUG";

/// Those of these programs that are there, each with the first line that it prints of its
/// version.
pub fn installed_versions(programs: &[&str]) -> Vec<(String, String)> {
    programs.iter().filter_map(|program| Some(((*program).to_owned(), version(program)?))).collect()
}

/// The first line that a program prints of its version.
fn version(program: &str) -> Option<String> {
    let mut command = if program == "rustc" { rustc() } else { Command::new(program) };
    let output =
        command.arg("--version").stdin(Stdio::null()).stderr(Stdio::piped()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    first_line(&String::from_utf8_lossy(&output.stdout))
}

/// The first line that says something, as plain text: Maven prints it bold, also into a pipe.
fn first_line(text: &str) -> Option<String> {
    let text = console::strip_ansi_codes(text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(80).collect())
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn a_version_is_plain_text() {
        let said = first_line("\n\u{1b}[1mApache Maven 3.8.7\u{1b}[m\nMaven home: /usr\n");
        assert_eq!(said.as_deref(), Some("Apache Maven 3.8.7"));
    }
}
