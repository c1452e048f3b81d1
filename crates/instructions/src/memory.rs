//! A runner whose allocations and copies are counted, at full speed.

use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};
use wiregauge_build_tools::{compile_shared_object, Toolchain};
use wiregauge_child_process::runner::Launch;

use crate::count::{Count, Form};

/// What stands in front of memcpy and its kin, and of the clock.
const COPIES: &str = include_str!("memory/copies.c");

/// What counts allocations and copies: shared objects that stand in front of the C library's
/// functions in a runner.
#[derive(Clone, Debug)]
pub struct MemoryCounter {
    objects: Vec<PathBuf>,
}

/// What a [`MemoryCounter`] counts, in the order of its profiles.
pub const MEMORY_EVENTS: [&str; 4] = ["Copied", "Copies", "Allocations", "Allocated"];

impl MemoryCounter {
    /// By the counter of copies, which is compiled below the build folder, and by the counter of
    /// allocations that is there.
    ///
    /// # Errors
    /// When there is no C compiler, or the dynamic linker could not find them by such a path.
    pub fn build(folder: &Path, allocations: &Path) -> Result<MemoryCounter> {
        let flags = ["-fno-builtin"];
        let object =
            compile_shared_object(folder, "copies", COPIES.as_bytes(), &flags, &Toolchain::System)?;
        MemoryCounter::new(vec![object, allocations.to_owned()])
    }

    fn new(objects: Vec<PathBuf>) -> Result<MemoryCounter> {
        for object in &objects {
            let path = object.to_string_lossy();
            ensure!(
                !path.contains([' ', ':']),
                "{path} cannot be preloaded, as it has a space or a colon; set WIREGAUGE_BUILD to \
                 a folder without"
            );
        }
        Ok(MemoryCounter { objects })
    }

    /// Prepares to count what this runner copies and allocates.
    ///
    /// # Errors
    /// When there is no room for what is counted.
    pub fn count(&self, launch: &Launch) -> Result<Count> {
        let objects: Vec<String> =
            self.objects.iter().map(|object| object.display().to_string()).collect();
        Count::prepare(launch, Form::Dumps, |counts| {
            vec![format!("LD_PRELOAD={}", objects.join(":")), format!("WIREGAUGE_COUNTS={counts}")]
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::{Command, Stdio};

    use wiregauge_build_tools::run;

    use super::*;
    use crate::profile::Profile;

    /// Copies known numbers of bytes between readings of the clock: ten times 1,000 by memcpy,
    /// 500 by memmove over each other, and a block of 104 usable bytes that realloc moves.
    const KNOWN: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(void) {
  struct timespec now;
  char *from = malloc(1000), *to = malloc(2000);
  memset(from, 1, 1000);
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (int turn = 0; turn < 10; turn++) {
    memcpy(to, from, 1000);
    memmove(to + 1, to, 500);
    char *block = malloc(100), *behind = malloc(64);
    block = realloc(block, 5000);
    free(block);
    free(behind);
  }
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (int at = 0; at < 1000; at++)
    if (to[at] != 1) return 1;
  return 0;
}
"#;

    #[test]
    fn known_copies_are_counted_to_the_byte() {
        let folder = tempfile::tempdir().unwrap();
        let in_folder = |name: &str| folder.path().join(name);
        fs::write(in_folder("known.c"), KNOWN).unwrap();
        // Without builtins the compiler leaves all calls as they are.
        let mut compiler = Command::new("cc");
        compiler
            .args(["-O2", "-fno-builtin", "-o"])
            .args([in_folder("known"), in_folder("known.c")]);
        run(&mut compiler, "cc").unwrap();
        let counter = MemoryCounter::build(folder.path(), Path::new("/none")).unwrap();
        let status = Command::new(in_folder("known"))
            .env("LD_PRELOAD", &counter.objects[0])
            .env("WIREGAUGE_COUNTS", in_folder("counts"))
            .stdin(Stdio::null())
            .status();
        assert!(status.unwrap().success());
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("counts."));
        assert_eq!(files.len(), 2, "{files:?}");
        files.sort();
        let profile = Profile::parse(&fs::read_to_string(&files[1]).unwrap()).unwrap();
        assert_eq!(profile.events, MEMORY_EVENTS);
        assert_eq!(profile.totals(), [16_040, 30, 0, 0]);
    }
}
