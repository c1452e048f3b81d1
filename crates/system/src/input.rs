//! What may be read, and how: regular files, and pipes where a whole text is read.
//!
//! A device or a file of the kernel need not end or answer, so it is refused. What is
//! read whole is no larger than it can sensibly be, and the user can stop it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Seek};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;

use crate::interrupt;

/// How long a named pipe may be without anyone at its other end.
const PATIENCE: Duration = Duration::from_secs(5);
/// From one look at a pipe to the next, and whether the user wants to stop.
const PAUSE: Duration = Duration::from_millis(50);
/// Where a file without a size has not ended by then, it need not end.
const PROBE: usize = 1 << 20;
/// How Git LFS begins a file that it has not fetched (its specification, "The Pointer").
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
/// What is said of such a file behind its name.
const LFS_ADVICE: &str =
    "is only a pointer of Git LFS to the file; fetch the file by 'git lfs pull'";

/// Opens a regular file, or what a link to one leads to.
///
/// # Errors
/// When it cannot be read, or is anything else. The error names the file, and says
/// what it is.
pub fn open_regular(path: &Path) -> Result<File> {
    let shown = path.display();
    let (mut file, about) = open(path, "give a regular file")?;
    ensure!(!about.file_type().is_fifo(), "{shown} is a pipe; give a regular file");
    // One without a size may be the kernel's, such as /proc/kmsg: it ends, or keeps
    // who reads it waiting.
    if about.len() == 0 {
        let mut probe = vec![0; 1 << 16];
        let mut left = PROBE;
        loop {
            match file.read(&mut probe) {
                Ok(0) => break,
                Ok(count) if count <= left => left -= count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() != ErrorKind::WouldBlock => {
                    return Err(error).with_context(|| format!("cannot read {shown}"));
                }
                _ => bail!(endless(path)),
            }
        }
        file.rewind().with_context(|| endless(path))?;
    }
    ensure!(!is_lfs_pointer(&mut file)?, "{shown} {LFS_ADVICE}");
    Ok(file)
}

/// Whether Git LFS has not fetched a file, of which nothing is read yet.
///
/// # Errors
/// When it cannot be read.
fn is_lfs_pointer(file: &mut File) -> Result<bool> {
    let mut head = Vec::new();
    let read = file.by_ref().take(LFS_POINTER.len() as u64).read_to_end(&mut head);
    read.and_then(|_| file.rewind()).context("cannot read it")?;
    Ok(head == LFS_POINTER)
}

/// Opens what ends. Of anything else it says what to do `instead`.
fn open(path: &Path, instead: &str) -> Result<(File, Metadata)> {
    let shown = path.display();
    let cannot = || format!("cannot read {shown}");
    // Before it is opened: to open a device may do something to it.
    let kind = fs::metadata(path).with_context(cannot)?.file_type();
    ensure!(!kind.is_dir(), "{shown} is a folder; {instead}");
    ensure!(!kind.is_socket(), "{shown} is a socket; {instead}");
    ensure!(!is_device(&kind), "{shown} is a device, which may have no end; {instead}");
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .with_context(cannot)?;
    let about = file.metadata().with_context(cannot)?;
    Ok((file, about))
}

fn is_device(kind: &fs::FileType) -> bool {
    kind.is_char_device() || kind.is_block_device()
}

fn endless(path: &Path) -> String {
    format!(
        "{} is a file of the kernel, which may have no end; copy its content into a file",
        path.display()
    )
}

/// Reads a file of at most so many bytes. A pipe is waited for as long as it
/// has a writer, or until the user interrupts.
///
/// # Errors
/// When it cannot be read, is larger, is a folder, a device, a socket, or a pipe that
/// nobody writes into. The error names the file.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let shown = path.display();
    let cannot = || format!("cannot read {shown}");
    let (mut file, about) = open(path, "name a file")?;
    let fits = |length: u64| {
        let limit = match most >> 20 {
            0 => format!("{most} bytes"),
            mebibytes => format!("{mebibytes} MiB"),
        };
        ensure!(length <= most, "{shown} is larger than {limit}, the limit for this file");
        Ok(())
    };
    fits(about.len())?;
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    let is_pipe = about.file_type().is_fifo();
    let (began, mut met) = (Instant::now(), !is_pipe);
    loop {
        interrupt::check()?;
        match file.read(&mut chunk) {
            Ok(0) if !met && !has_ended(&file) => {
                ensure!(
                    began.elapsed() < PATIENCE,
                    "{shown} is a pipe without a writer; is it the right file?"
                );
                thread::sleep(PAUSE);
            }
            Ok(0) => {
                ensure!(!bytes.starts_with(LFS_POINTER), "{shown} {LFS_ADVICE}");
                return Ok(bytes);
            }
            Ok(count) => {
                met = true;
                bytes.extend_from_slice(&chunk[..count]);
                fits(bytes.len() as u64)?;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                ensure!(is_pipe, endless(path));
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
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path, 8).unwrap_err().to_string().contains("not UTF-8"));
        let error = read(folder.path(), 8).unwrap_err().to_string();
        assert!(error.contains("is a folder"), "{error}");
    }

    #[test]
    fn a_file_that_git_has_not_fetched_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.bag");
        let text = "version https://git-lfs.github.com/spec/v1\noid sha256:6f8b\nsize 868400\n";
        std::fs::write(&path, text).unwrap();
        for error in [read(&path, 1000).map(drop), open_regular(&path).map(drop)] {
            let error = error.unwrap_err().to_string();
            assert!(error.ends_with("fetch the file by 'git lfs pull'"), "{error}");
        }
        std::fs::write(&path, &text[..20]).unwrap();
        let mut whole = String::new();
        open_regular(&path).unwrap().read_to_string(&mut whole).unwrap();
        assert_eq!(whole, text[..20]);
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
    fn what_need_not_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let absent = folder.path().join("absent");
        let refused = [
            (Path::new("/dev/zero"), "/dev/zero is a device"),
            (Path::new("/dev/null"), "/dev/null is a device"),
            (Path::new("/dev/tty"), "/dev/tty is a device"),
            (folder.path(), "is a folder"),
            (socket.as_path(), "is a socket"),
            (absent.as_path(), "cannot read"),
        ];
        for (path, why) in refused {
            for error in [read(path, u64::MAX).map(drop), open_regular(path).map(drop)] {
                let error = error.unwrap_err().to_string();
                assert!(error.contains(why), "{error}");
            }
        }
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(open_regular(&pipe).unwrap_err().to_string().contains("is a pipe"));
        // The kernel's log is a regular file by its kind, and waits for more. Who is not
        // root may not read it, where there is one.
        let log = Path::new("/proc/kmsg");
        for error in [read(log, u64::MAX).map(drop), open_regular(log).map(drop)] {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("of the kernel") || error.contains("cannot read"), "{error}");
        }
        // One of the kernel's that ends has no size either.
        assert!(!read(Path::new("/proc/self/status"), 1 << 20).unwrap().is_empty());
        let mut text = String::new();
        open_regular(Path::new("/proc/self/status")).unwrap().read_to_string(&mut text).unwrap();
        assert!(text.starts_with("Name:"), "{text}");
        std::fs::write(folder.path().join("empty"), "").unwrap();
        assert!(open_regular(&folder.path().join("empty")).is_ok());
    }

    #[test]
    fn a_pipe_is_read_where_someone_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = read(&path, 10).unwrap_err().to_string();
        assert!(error.contains("without a writer"), "{error}");
        let writer = path.clone();
        let writer = thread::spawn(move || std::fs::write(writer, "hello"));
        assert_eq!(read(&path, 10).unwrap(), b"hello");
        writer.join().unwrap().unwrap();
    }
}
