//! Compilers and generators as programs that are run.

use std::process::Command;

use anyhow::{bail, Context, Result};

/// A compiler at work, which does not go on when nobody waits for it.
pub struct Compiler(pub std::process::Child);

impl Drop for Compiler {
    fn drop(&mut self) {
        // SIGTERM: cargo and ninja end their own children.
        if let (Ok(None), Ok(id)) = (self.0.try_wait(), i32::try_from(self.0.id())) {
            if let Some(id) = rustix::process::Pid::from_raw(id) {
                let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
            }
            let _ = self.0.wait();
        }
    }
}

/// Runs a program to its end; the error holds the first line that it wrote of
/// what went wrong.
pub fn run(command: &mut Command, name: &str) -> Result<String> {
    let output = command
        .stdin(std::process::Stdio::null())
        .output()
        .with_context(|| format!("cannot start {name}; is it installed?"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("{name} failed: {}", first_error(&[&errors, &text]));
    }
    Ok(text)
}

/// The line that tells what is wrong, out of a tool's output.
pub fn first_error(texts: &[&str]) -> String {
    let lines = || texts.iter().flat_map(|text| text.lines()).map(str::trim);
    lines()
        .find(|line| line.to_lowercase().contains("error"))
        .or_else(|| lines().find(|line| !line.is_empty()))
        .unwrap_or("it says nothing")
        .to_string()
}

/// The first line that a program prints of its version; nothing where it cannot
/// be run.
pub fn first_line(command: &mut Command) -> String {
    let output = command
        .arg("--version")
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned()
}

/// A word of a shell.
pub fn quoted(word: &impl ToString) -> String {
    format!("'{}'", word.to_string().replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word() {
        let text = format!("printf %s {}", quoted(&"a 'b' $c"));
        let said = run(Command::new("sh").arg("-c").arg(text), "sh").expect("there is a shell");
        assert_eq!(said, "a 'b' $c");
    }
}
