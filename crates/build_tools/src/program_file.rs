//! Files that are written to be executed.
//!
//! No process of ours writes one itself: what another thread starts meanwhile would inherit
//! the open file until its own exec, and Linux refuses to execute a file that is open for
//! writing ("Text file busy", ETXTBSY in execve(2)). install(1) has no such threads.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{ensure, Context, Result};

use crate::tool::first_error;

/// Copies a program. A running copy of an older one is not written to but replaced.
///
/// # Errors
/// When the one cannot be read or the other not be written.
pub fn copy_program(from: &Path, to: &Path) -> Result<()> {
    install(from.as_os_str(), b"", to)
}

/// Writes a script that can be executed, unless it is there already with this text.
///
/// # Errors
/// When it cannot be written.
pub fn write_script(path: &Path, text: &str) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    install(OsStr::new("/dev/stdin"), text.as_bytes(), path)
}

fn install(from: &OsStr, input: &[u8], to: &Path) -> Result<()> {
    let mut child = Command::new("install")
        .args(["-m", "755", "--"])
        .args([from, to.as_os_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start install; apt-get install coreutils")?;
    // A pipe that breaks is one that install no longer reads, and it says why.
    let _ = child.stdin.take().context("install's input is piped")?.write_all(input);
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cannot write {}: {}", to.display(), first_error(&[&said]));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Written by this process, some 1 in 100 of these is "busy".
    #[test]
    fn what_is_written_can_be_executed_while_others_are_started() {
        let folder = tempfile::tempdir().unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        Command::new("true").status().unwrap();
                    }
                });
            }
            let started = (0..100).try_for_each(|index| {
                let script = folder.path().join(format!("script-{index}"));
                write_script(&script, "#!/bin/sh\nexit 0\n")?;
                let program = folder.path().join(format!("program-{index}"));
                copy_program(Path::new("/bin/true"), &program)?;
                for file in [script, program] {
                    Command::new(&file).status().with_context(|| format!("{file:?}"))?;
                }
                anyhow::Ok(())
            });
            done.store(true, Ordering::Relaxed);
            started.unwrap();
        });
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("none/script");
        let error = write_script(&place, "#!/bin/sh\n").unwrap_err().to_string();
        assert!(error.contains("none/script"), "{error}");
        let error = copy_program(&place, &folder.path().join("copy")).unwrap_err().to_string();
        assert!(error.contains("No such file"), "{error}");
    }
}
