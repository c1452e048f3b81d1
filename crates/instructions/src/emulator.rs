//! A runner under an emulator, of this or of another architecture.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_build_tools::toolchain::{EmulatorProgram, Target};
use wiregauge_build_tools::{compile_shared_object, Progress, Toolchain};
use wiregauge_child_process::runner::Launch;

use crate::count::{count_folder, Count, Form};
use crate::environment::{fixed_environment, locate};

/// The plugin that counts.
const PLUGIN: &str = include_str!("count.c");
/// The variable by which the emulator learns of a plugin; the runner does not see it.
const PLUGIN_VARIABLE: &str = "QEMU_PLUGIN";

/// Executes programs of a target's architecture, and counts what they execute.
#[derive(Clone, Debug)]
pub struct Emulator {
    target: &'static Target,
    program: EmulatorProgram,
    plugin: PathBuf,
    /// Where the target's libraries are; none where they are the machine's.
    sysroot: Option<PathBuf>,
}

impl Emulator {
    /// The emulator of a target, unpacked into the build folder where it is not there yet. Its
    /// programs load the libraries of `sysroot`, or the machine's own.
    ///
    /// # Errors
    /// When it cannot be had, or its plugin not be compiled: one line, with what to do.
    pub fn open_or_create(
        build: &Path,
        target: &'static Target,
        sysroot: Option<PathBuf>,
        progress: Progress,
    ) -> Result<Emulator> {
        let program = EmulatorProgram::open_or_create(build, target, progress)?;
        let plugin =
            compile_shared_object(build, "plugin", PLUGIN.as_bytes(), &[], &Toolchain::System)?;
        Ok(Emulator { target, program, plugin, sysroot })
    }

    /// As it says it itself.
    pub fn version(&self) -> &str {
        &self.program.version
    }

    /// How a runner is started under it, always in the same environment.
    pub fn emulate(&self, launch: &Launch) -> Launch {
        let mut arguments = fixed_environment();
        arguments.extend(self.program.words.iter().cloned());
        // The C library takes random numbers from it; and not what the plugin is told.
        arguments.extend(["-seed", "1", "-U", PLUGIN_VARIABLE].map(str::to_owned));
        arguments.extend(["-cpu".to_owned(), self.target.processor.to_owned()]);
        if let Some(sysroot) = &self.sysroot {
            arguments.extend(["-L".to_owned(), sysroot.display().to_string()]);
        }
        arguments.push(locate(&launch.program).display().to_string());
        arguments.extend(launch.arguments.iter().cloned());
        Launch { program: "env".into(), arguments, ..launch.clone() }
    }

    /// Prepares to count what an emulated runner executes.
    pub(crate) fn count(&self, emulated: &Launch) -> Result<Count> {
        let folder = count_folder()?;
        let mut launch = emulated.clone();
        let mut plugin = format!("{PLUGIN_VARIABLE}=file={}", option(&self.plugin));
        plugin += &format!(",counts={}", option(&folder.path().join("counts")));
        for call in self.target.clock_calls {
            plugin += &format!(",clock={call}");
        }
        // Behind the flag that begins the environment.
        launch.arguments.insert(1, plugin);
        Ok(Count::new(folder, launch, Form::Lines))
    }
}

/// A path as a value of the emulator's options, which commas part.
fn option(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_in_a_path_parts_no_options() {
        assert_eq!(option(Path::new("/a,b/c")), "/a,,b/c");
    }
}
