//! Files that are read whole: no larger than they can sensibly be, and never so
//! that the user cannot stop it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};

use crate::interrupt;

/// How long to wait for someone to write to a pipe.
const PATIENCE: Duration = Duration::from_secs(10);
/// From one look at a pipe to the next.
const LOOK: Duration = Duration::from_millis(20);

/// Reads a file whole, which may be a pipe.
///
/// # Errors
/// One that cannot be read, is larger than `most` bytes, or is a pipe that
/// nobody writes to; that the user asks to stop.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let shown = path.display();
    // Opening a pipe would wait for its writer, whatever the user says.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .with_context(|| format!("cannot read {shown}"))?;
    let kind = file.metadata().with_context(|| format!("cannot read {shown}"))?.file_type();
    ensure!(!kind.is_dir(), "{shown} is a folder and no file");
    let waits = !kind.is_file();
    let deadline = Instant::now() + PATIENCE;
    let (mut bytes, mut block) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        interrupt::check()?;
        match file.read(&mut block) {
            Ok(0) if !waits || !bytes.is_empty() => return Ok(bytes),
            Ok(count) if count > 0 => bytes.extend_from_slice(&block[..count]),
            Err(error) if error.kind() != ErrorKind::WouldBlock => {
                return Err(error).with_context(|| format!("cannot read {shown}"));
            }
            // A pipe that is empty, or that nobody has opened yet.
            _ if Instant::now() < deadline => thread::sleep(LOOK),
            _ => bail!(
                "nobody wrote to {shown} within {} s; is it the right file?",
                PATIENCE.as_secs()
            ),
        }
        ensure!(
            bytes.len() as u64 <= most,
            "{shown} is larger than {most} bytes, which no such file is"
        );
    }
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
}
