//! What a counter wrote down of a runner, between the readings of its clock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use tempfile::TempDir;
use wiregauge_child_process::runner::Launch;

use crate::dump;
use crate::environment::{fixed_environment, locate};
use crate::profile::Profile;

/// How a counter writes down what it counted until a reading of the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// In a file a reading, as callgrind does: `counts.4711.3`.
    Dumps,
    /// In a line a reading of the file `counts`: the process, and the number.
    Lines,
}

/// A folder for what is counted.
pub(crate) fn count_folder() -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix("wiregauge-instructions-")
        .tempdir()
        .context("cannot make a folder for counts in the temporary folder; set TMPDIR to one")
}

/// The runner behind these words, in an environment of its own.
pub(crate) fn wrap_launch(launch: &Launch, words: Vec<String>) -> Launch {
    let mut arguments = fixed_environment();
    let path = launch.library_path();
    arguments.extend(path.map(|(name, path)| format!("{name}={}", path.to_string_lossy())));
    arguments.extend(words);
    arguments.push(locate(&launch.program).display().to_string());
    arguments.extend(launch.arguments.iter().cloned());
    Launch { program: "env".into(), arguments, libraries: Vec::new(), ..launch.clone() }
}

/// A runner whose instructions are counted.
#[derive(Debug)]
pub struct Count {
    folder: TempDir,
    /// How it is started.
    pub launch: Launch,
    form: Form,
    /// Readings of the clock that each request has besides.
    idle_readings: usize,
}

/// What a request took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Instructions of what was timed.
    pub timed: u64,
    /// Pairs of readings of the clock.
    pub pairs: u64,
    /// Instructions from the end of the request before to the last reading of the clock.
    pub all: u64,
}

/// What was counted in a process since the reading before.
type Reading = (u64, u64);

impl Counted {
    /// What readings count that belong together two and two.
    fn sum(readings: &[Reading]) -> Counted {
        let counts = || readings.iter().map(|(_, count)| count);
        Counted {
            timed: counts().skip(1).step_by(2).sum(),
            pairs: readings.len() as u64 / 2,
            all: counts().sum(),
        }
    }
}

impl Count {
    pub(crate) fn new(folder: TempDir, launch: Launch, form: Form) -> Count {
        Count { folder, launch, form, idle_readings: 0 }
    }

    /// Has the runner started in an environment of its own, behind the words that are made for
    /// the files in which readings of the clock leave what was counted: the beginning of their
    /// path, to which a process adds its number and that of the reading.
    ///
    /// # Errors
    /// When there is no room for them.
    pub(crate) fn prepare(
        launch: &Launch,
        form: Form,
        words: impl Fn(&str) -> Vec<String>,
    ) -> Result<Count> {
        let folder = count_folder()?;
        let launch =
            wrap_launch(launch, words(&folder.path().join("counts").display().to_string()));
        Ok(Count::new(folder, launch, form))
    }

    /// How often the runner reads the clock for a request in which nothing is timed, as some
    /// languages do to write and to wait. Call it after such a request.
    ///
    /// # Errors
    /// When what was written cannot be read.
    pub fn learn_idle_readings(&mut self) -> Result<()> {
        self.idle_readings = self.readings()?.len();
        Ok(())
    }

    /// Instructions between one reading of the clock and the next, for all pairs since the
    /// last call, and all instructions since then. The first reading begins a pair; those after
    /// the reply are left out.
    ///
    /// # Errors
    /// When the runner did not read its clock in pairs, or what was counted cannot be read.
    pub fn take(&self) -> Result<Counted> {
        Ok(Counted::sum(self.pairs(&self.readings()?)?))
    }

    /// The same of a counter that tells functions apart, and in which functions it was between
    /// the readings.
    ///
    /// # Errors
    /// As for [`Count::take`].
    pub fn take_profile(&self) -> Result<(Counted, Profile)> {
        let texts = self.read_dumps()?;
        let readings = texts.iter().map(|(process, text)| Ok((*process, dump::total(text)?)));
        let readings = readings.collect::<Result<Vec<Reading>>>()?;
        let pairs = self.pairs(&readings)?;
        let mut profile = Profile::default();
        for (_, dump) in texts[..pairs.len()].iter().skip(1).step_by(2) {
            profile.add(&Profile::parse(dump)?, 1)?;
        }
        Ok((Counted::sum(pairs), profile))
    }

    /// The readings of which two and two belong together: those after the reply are left out.
    fn pairs<'a>(&self, all: &'a [Reading]) -> Result<&'a [Reading]> {
        let readings = &all[..all.len().saturating_sub(self.idle_readings)];
        ensure!(
            !readings.is_empty(),
            "the runner does not read its clock by clock_gettime of a shared C library"
        );
        let processes: BTreeSet<u64> = all.iter().map(|(process, _)| *process).collect();
        ensure!(processes.len() == 1, "more than one process of the runner reads the clock");
        ensure!(
            readings.len().is_multiple_of(2),
            "the runner reads its clock {} times for a loop, and not in pairs",
            readings.len()
        );
        Ok(readings)
    }

    /// Forgets what was counted until now; many dumps would fill the disk.
    ///
    /// # Errors
    /// When their folder cannot be read.
    pub fn skip(&self) -> Result<()> {
        match self.form {
            Form::Dumps => {
                for path in self.dumps()?.values() {
                    let _ = fs::remove_file(path);
                }
                Ok(())
            }
            Form::Lines => self.lines().map(drop),
        }
    }

    /// What was written since the last time, by process and in order.
    fn readings(&self) -> Result<Vec<Reading>> {
        if let Form::Lines = self.form {
            let path = self.folder.path().join("counts");
            return self.lines()?.lines().map(|line| reading(line, &path)).collect();
        }
        let total = |(process, text): (u64, String)| Ok((process, dump::total(&text)?));
        self.read_dumps()?.into_iter().map(total).collect()
    }

    /// The dumps that were written since the last time, by process and in order.
    fn read_dumps(&self) -> Result<Vec<(u64, String)>> {
        let mut dumps = Vec::new();
        for ((process, _), path) in self.dumps()? {
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            dumps.push((process, text));
            let _ = fs::remove_file(path);
        }
        Ok(dumps)
    }

    /// The files of callgrind.
    fn dumps(&self) -> Result<BTreeMap<(u64, u64), PathBuf>> {
        let folder = self.folder.path();
        let entries = fs::read_dir(folder);
        let entries = entries.with_context(|| format!("cannot read {}", folder.display()))?;
        let dump = |path: PathBuf| {
            let name = path.file_name()?.to_str()?.strip_prefix("counts.")?;
            let (process, number) = name.split_once('.')?;
            Some(((process.parse().ok()?, number.parse().ok()?), path))
        };
        Ok(entries.flatten().filter_map(|entry| dump(entry.path())).collect())
    }

    /// The lines of the emulator, which go on at the beginning of the file.
    fn lines(&self) -> Result<String> {
        let path = self.folder.path().join("counts");
        let cannot = || format!("cannot read {}", path.display());
        if !path.exists() {
            return Ok(String::new());
        }
        let text = fs::read_to_string(&path).with_context(cannot)?;
        fs::File::options().write(true).truncate(true).open(&path).with_context(cannot)?;
        Ok(text)
    }
}

/// `4711 1000`.
fn reading(line: &str, path: &Path) -> Result<Reading> {
    let parts = line.split_once(' ');
    let parts =
        parts.and_then(|(process, count)| Some((process.parse().ok()?, count.parse().ok()?)));
    parts.with_context(|| format!("the emulator wrote '{line}' into {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(idle_readings: usize, text: &str) -> Count {
        let folder = count_folder().unwrap();
        fs::write(folder.path().join("counts"), text).unwrap();
        let launch = Launch::default();
        Count { idle_readings, ..Count::new(folder, launch, Form::Lines) }
    }

    #[test]
    fn pairs_of_readings_are_summed() {
        let count = count(1, "7 100\n7 20\n7 300\n7 40\n7 9\n");
        assert_eq!(count.take().unwrap(), Counted { timed: 60, pairs: 2, all: 460 });
        assert!(count.take().unwrap_err().to_string().contains("clock_gettime"));
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        for (text, why) in [
            ("7 1\n7 2\n7 3\n", "3 times"),
            ("7 1\n8 2\n", "more than one process"),
            ("7 1\n7 x\n", "'7 x'"),
        ] {
            let error = count(0, text).take().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
