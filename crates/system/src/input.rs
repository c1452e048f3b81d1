//! Files that are read whole: no larger than they can sensibly be, and never so
//! that the user cannot stop it.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;

use crate::interrupt;

/// How long a named pipe may be without anyone at its other end.
const PATIENCE: Duration = Duration::from_secs(5);
/// From one look at a pipe to the next, and whether the user wants to stop.
const PAUSE: Duration = Duration::from_millis(50);

/// Reads a file of at most so many bytes. A pipe is waited for as long as it
/// has a writer, or until the user interrupts.
///
/// # Errors
/// When it cannot be read, is larger, is a folder, or a pipe that nobody writes
/// into. The error names the file.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let shown = path.display();
    let cannot = || format!("cannot read {shown}");
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .with_context(cannot)?;
    let about = file.metadata().with_context(cannot)?;
    ensure!(!about.is_dir(), "{shown} is a folder; name a file in it");
    let fits = |length: u64| {
        let limit = match most >> 20 {
            0 => format!("{most} bytes"),
            mebibytes => format!("{mebibytes} MiB"),
        };
        ensure!(length <= most, "{shown} is larger than {limit}, the most that is read of it");
        Ok(())
    };
    fits(about.len())?;
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    let (began, mut met) = (Instant::now(), !about.file_type().is_fifo());
    loop {
        interrupt::check()?;
        match file.read(&mut chunk) {
            Ok(0) if !met && !has_ended(&file) => {
                ensure!(
                    began.elapsed() < PATIENCE,
                    "{shown} is a pipe that nobody writes into; is it the right file?"
                );
                thread::sleep(PAUSE);
            }
            Ok(0) => return Ok(bytes),
            Ok(count) => {
                met = true;
                bytes.extend_from_slice(&chunk[..count]);
                fits(bytes.len() as u64)?;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                met = true;
                wait(&file, PAUSE);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(cannot),
        }
    }
}

/// Whether a pipe had a writer that has gone.
fn has_ended(file: &File) -> bool {
    wait(file, Duration::ZERO).contains(PollFlags::HUP)
}

/// Waits until there is something to read; what there is.
fn wait(file: &File, pause: Duration) -> PollFlags {
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    let pause = Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() };
    // Whoever is interrupted here looks again.
    let _ = poll(&mut fds, Some(&pause));
    fds[0].revents()
}

/// Reads a text whole.
///
/// # Errors
/// As [`read`], and one that is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    let bytes = read(path, most)?;
    String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8 text", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_read_and_one_without_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        for text in ["", "seed = 1"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read_text(&path, 8).unwrap(), text);
        }
        let error = read(&path, 7).unwrap_err().to_string();
        assert!(error.contains("a.toml is larger than 7 bytes"), "{error}");
        let error = read(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string();
        assert!(error.contains("/dev/zero is larger"), "{error}");
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path, 8).unwrap_err().to_string().contains("not UTF-8"));
        let error = read(folder.path(), 8).unwrap_err().to_string();
        assert!(error.contains("is a folder"), "{error}");
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let writes = path.clone();
        let writer = thread::spawn(move || {
            let mut pipe = OpenOptions::new().write(true).open(writes).unwrap();
            pipe.write_all(b"seed").unwrap();
            thread::sleep(Duration::from_millis(50));
            pipe.write_all(b" = 1").unwrap();
        });
        assert_eq!(read_text(&path, 100).unwrap(), "seed = 1");
        writer.join().unwrap();
    }

    #[test]
    fn what_never_ends_is_read_up_to_a_limit() {
        let error = read(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string();
        assert!(error.contains("/dev/zero") && error.contains("1 MiB"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let error = read(folder.path(), 10).unwrap_err().to_string();
        assert!(error.contains("is a folder"), "{error}");
    }

    #[test]
    fn a_pipe_is_read_where_someone_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = read(&path, 10).unwrap_err().to_string();
        assert!(error.contains("nobody writes"), "{error}");
        let writer = path.clone();
        let writer = thread::spawn(move || std::fs::write(writer, "hello"));
        assert_eq!(read(&path, 10).unwrap(), b"hello");
        writer.join().unwrap().unwrap();
    }
}
