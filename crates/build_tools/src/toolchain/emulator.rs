//! The emulator of other architectures' programs: qemu, of the last release of Debian whose
//! qemu takes plugins.

use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};

use super::target::Target;
use super::unpacked::{Selection, Unpacked};
use crate::progress::Progress;
use crate::tool::first_line;

/// Debian 13's is linked statically, and such a program loads no plugins.
const SUITE: &str = "bookworm";

/// How the emulator is started.
#[derive(Clone, Debug)]
pub struct EmulatorProgram {
    /// The words before those for the emulator: it runs by its own root's loader and libraries.
    pub words: Vec<String>,
    /// As it says it itself.
    pub version: String,
}

impl EmulatorProgram {
    /// The emulator of a target, unpacked into the build folder where it is not there yet.
    ///
    /// # Errors
    /// When it cannot be had: one line, with what to do.
    pub fn open_or_create(
        build: &Path,
        target: &Target,
        progress: Progress,
    ) -> Result<EmulatorProgram> {
        let machine = Target::machine().context("there is no emulator for this machine")?;
        let selection = Selection {
            name: "emulator",
            what: "the emulator",
            suites: &[SUITE],
            packages: vec!["qemu-user"],
            ..Selection::default()
        };
        let unpacked = Unpacked::open_or_create(build, &selection, progress)?;
        let path = |below: &str| unpacked.root().join(below).display().to_string();
        let words = vec![
            path(&machine.loader()),
            "--inhibit-cache".into(),
            "--library-path".into(),
            path(&machine.libraries()),
            path(&format!("usr/bin/qemu-{}", target.emulator)),
        ];
        let version = first_line(Command::new(&words[0]).args(&words[1..]));
        ensure!(
            version.starts_with("qemu"),
            "{} does not start; remove {} and run the command again",
            words[4],
            unpacked.folder.display()
        );
        Ok(EmulatorProgram { words, version })
    }
}
