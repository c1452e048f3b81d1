//! Compilers and generators as programs that are run.

use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};

use crate::build_cache::default_build_folder;

/// A compiler at work, which does not go on when nobody waits for it.
pub struct CompilerProcess(pub std::process::Child);

impl Drop for CompilerProcess {
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

/// Whether this process may do what only root may.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// `rustc` as it is taken where programs are built: which one rustup takes depends on the folder,
/// and the working folder may have a `rust-toolchain.toml` of its own.
pub fn rustc() -> Command {
    let mut command = Command::new("rustc");
    let folder = default_build_folder().ok();
    let exists = |folder: &&Path| folder.is_dir();
    if let Some(folder) = folder.as_deref().and_then(|folder| folder.ancestors().find(exists)) {
        command.current_dir(folder);
    }
    command
}

/// Variables by which programs colour what they say though no terminal shows it.
const COLOURS: [&str; 2] = ["CLICOLOR_FORCE", "FORCE_COLOR"];

/// Has a program whose words are read here say them without colours.
pub(crate) fn without_colours(command: &mut Command) -> &mut Command {
    for name in COLOURS {
        command.env_remove(name);
    }
    command
}

/// Runs a program to its end; the error holds the first line that it wrote of
/// what went wrong.
pub fn run(command: &mut Command, name: &str) -> Result<String> {
    let output = without_colours(command)
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

/// The line that tells what is wrong, out of a tool's output: what it raised or panicked
/// for, else the first of an error, else the first that is no stack and no advice.
pub fn first_error(texts: &[&str]) -> String {
    let lines = || texts.iter().flat_map(|text| text.lines()).filter(|l| !l.trim().is_empty());
    // Of a traceback all but the last line is indented.
    let raised = || {
        let after = lines().skip_while(|line| !line.trim_start().starts_with("Traceback (most"));
        let told = after.skip(1).filter(|line| !line.starts_with(char::is_whitespace));
        told.last()
    };
    let panicked = || lines().skip_while(|line| !line.contains(" panicked at ")).nth(1);
    let thrown = || lines().find(|line| line.starts_with("Exception in thread "));
    let is_error = |line: &&str| {
        let mut signs = ["undefined reference to ", "cannot find -l"].into_iter();
        line.to_lowercase().contains("error") || signs.any(|sign| line.contains(sign))
    };
    let error = || lines().find(|line| is_error(line) && !is_advice(line));
    let line = raised().or_else(panicked).or_else(thrown).or_else(error);
    let line = line.or_else(|| lines().find(|line| !is_advice(line)));
    line.unwrap_or("it printed no reason").trim().to_owned()
}

/// Whether a line is of a stack, or of the advice that stands with one.
fn is_advice(line: &str) -> bool {
    let line = line.trim_start();
    let frame = line.split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    frame || ["note: ", "stack backtrace:", "at ", "File \""].iter().any(|b| line.starts_with(b))
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
pub fn shell_quoted(word: &impl ToString) -> String {
    format!("'{}'", word.to_string().replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rustc_is_that_of_the_build_folder() {
        let build = default_build_folder().unwrap();
        let command = rustc();
        let folder = command.get_current_dir().expect("a folder exists above the build folder");
        assert!(build.starts_with(folder) && folder.is_dir(), "{}", folder.display());
    }

    #[test]
    fn the_reason_is_told_and_not_the_advice() {
        for (said, wanted) in [
            (
                "thread 'main' (7) panicked at src/main.rs:2:5:\nno such type\nstack backtrace:\n   \
                 0: std::error::main\nnote: Some details are omitted, run with \
                 `RUST_BACKTRACE=full` for a verbose backtrace.\n",
                "no such type",
            ),
            (
                "error: failed to run custom build command for `a v0.1.0`\n\nCaused by:\n  --- \
                 stderr\n  thread 'main' panicked at build.rs:2:5:\n  no such type\n  note: run \
                 with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
                "no such type",
            ),
            ("note: Some errors are omitted\nmessage.proto:3:1: what is that\n", "message.proto:3:1: what is that"),
            ("In file a.cpp:\na.cpp:3:5: error: expected ';'\na.cpp:4: error: more\n", "a.cpp:3:5: error: expected ';'"),
            ("Traceback (most recent call last):\n  File \"error.py\"\nValueError: no\n  more\n\n", "ValueError: no"),
            (
                "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat \
                 Main.error(Main.java:3)\n",
                "Exception in thread \"main\" java.lang.IllegalStateException: no",
            ),
            ("/usr/bin/ld: a.cpp: undefined reference to `f()'\ncollect2: error: ld returned 1\n", "/usr/bin/ld: a.cpp: undefined reference to `f()'"),
            ("\n  \n", "it printed no reason"),
        ] {
            assert_eq!(first_error(&[said]), wanted);
        }
    }

    #[test]
    fn a_path_is_one_word() {
        let text = format!("printf %s {}", shell_quoted(&"a 'b' $c"));
        let said = run(Command::new("sh").arg("-c").arg(text), "sh").expect("there is a shell");
        assert_eq!(said, "a 'b' $c");
    }
}
