//! Files that are read: regular ones, of a size that a definition can have.
//!
//! A pipe would keep its reader waiting for ever, and a device need not end.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_system::input;

/// Largest definition in bytes that is read: 64 MiB. All of OSI takes 0.3.
pub const MAX_BYTES: u64 = 64 << 20;

/// Opens a regular file, or what a link to one leads to. Fails on anything else,
/// and says what it is.
pub fn open(path: &Path) -> Result<File> {
    input::open_regular(path)
}

/// The bytes of a definition. Fails like [`open`], and beyond [`MAX_BYTES`].
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let origin = path.display();
    let mut bytes = Vec::new();
    let file = open(path)?;
    // A file under /proc has no size that could be asked for.
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {origin}"))?;
    ensure!(
        bytes.len() as u64 <= MAX_BYTES,
        "{origin} is larger than {} MiB, too large for a definition; is it the right file?",
        MAX_BYTES >> 20
    );
    Ok(bytes)
}

/// The text of a definition, without the byte order mark that some editors put
/// at its start. Fails like [`read_bytes`], and on what is not UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read_bytes(path)?;
    let text = String::from_utf8(bytes)
        .with_context(|| format!("{} is not UTF-8 text; save it as UTF-8", path.display()))?;
    check_lines(&text, &path.display().to_string())?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Fails where a line ends in CR alone: whoever takes LF for the end of a line
/// would take what follows for the rest of it, and leave it out behind a comment.
pub fn check_lines(text: &str, origin: &str) -> Result<()> {
    let ends_alone =
        |(at, _): &(usize, &str)| !text[*at..].trim_start_matches('\r').starts_with('\n');
    if let Some((at, _)) = text.match_indices('\r').find(ends_alone) {
        let line = text[..at].matches('\n').count() + 1;
        bail!(
            "{origin}:{line}: the line ends with CR only; save the file with LF at the ends of \
             lines"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn error<T>(result: Result<T>) -> String {
        format!("{:#}", result.err().expect("an error"))
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(error(read_text(folder.path())).contains("is a folder; give a regular file"));
        #[cfg(unix)]
        {
            let pipe = folder.path().join("pipe.msg");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
            assert!(made.success());
            assert!(error(read_text(&pipe)).contains("pipe.msg is a pipe"));
            assert!(error(read_bytes(Path::new("/dev/zero"))).contains("is a device"));
            let link = folder.path().join("link.msg");
            fs::write(folder.path().join("a.msg"), "int32 x").unwrap();
            std::os::unix::fs::symlink("a.msg", &link).unwrap();
            assert_eq!(read_text(&link).unwrap(), "int32 x");
        }
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.msg");
        // Sparse: it takes no room.
        File::create(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert!(error(read_bytes(&path)).contains("larger than 64 MiB"));
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.msg");
        fs::write(&path, "\u{feff}int32 x").unwrap();
        assert_eq!(read_text(&path).unwrap(), "int32 x");
        fs::write(&path, [0xff, 0xfe, b'i', 0]).unwrap();
        assert!(error(read_text(&path)).contains("save it as UTF-8"));
    }
}
