//! Recordings where archives lie: `s3://`, `gs://`, `az://`, `https://` and `http://`.
//!
//! The network is the business of a program apart (the folder `archive` of the tree), which is
//! found beside the installed program or built on first use. Here it is started and asked for
//! parts of files, and the crate that reads recordings is told to ask here.

mod archive_program;
mod conversation;
mod ranges;
pub mod signed_address;

use std::path::PathBuf;

use wiregauge_trace::remote_file;

use crate::ranges::ArchiveRanges;

/// For a command: recordings are read from archives, too, and one that becomes another one
/// while the command runs is an error.
pub fn install_for_command() {
    install(Vec::new());
    remote_file::keep_versions();
}

/// From now on recordings are read from archives, too. `prefixes` are folders below which the
/// program may be installed, beside that of the program that runs.
pub fn install(prefixes: Vec<PathBuf>) {
    remote_file::set_opener(move |shown| {
        let program = archive_program::find_or_build(&prefixes)?;
        Ok(Box::new(ArchiveRanges::new(program, signed_address::full_address(shown))))
    });
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;

    use anyhow::Result;
    use wiregauge_trace::remote_file::{self, FetchedRange, RangeSource};

    /// What the archive calls the version of its only file.
    static VERSION: Mutex<&str> = Mutex::new("one");

    #[derive(Debug)]
    struct OneFile;

    impl RangeSource for OneFile {
        fn fetch(&self, _: u64, _: u64) -> Result<FetchedRange> {
            let version = VERSION.lock().unwrap().to_string();
            Ok(FetchedRange { bytes: vec![0; 9], size: 9, version })
        }
    }

    #[test]
    fn a_command_does_not_read_two_files_as_one() {
        remote_file::set_opener(|_| Ok(Box::new(OneFile)));
        super::install_for_command();
        let path = Path::new("s3://bucket/drive.mcap");
        for _ in 0..2 {
            assert_eq!(remote_file::identify(path).unwrap(), (9, "one".to_owned()));
        }
        *VERSION.lock().unwrap() = "two";
        let error = remote_file::identify(path).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "cannot read s3://bucket/drive.mcap: it was changed while it was read; run the \
             command again"
        );
    }
}
