//! The project's FMUs as files, for masters of others.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::{default_build_folder, Progress};
use wiregauge_osi::fmus::{build, build_for_windows, Build, Encoding, Fmu, Model};
use wiregauge_system::file::Target;

use crate::fmu_entrants::encodings;

/// Builds all models in these encodings and all versions of FMI that they have, and writes them
/// into a folder. With Windows, each carries a library for it, too; of `all` encodings these are
/// those that are compiled for it. Returns the paths, a line each.
///
/// # Errors
/// When there is no such encoding, or one is not for Windows; when an FMU cannot be built or
/// written: the others are there then.
pub fn write_fmus(
    names: &[String],
    for_windows: bool,
    folder: &Path,
    progress: Progress,
) -> Result<String> {
    let mut chosen = encodings(names)?;
    if for_windows {
        let is_named = |encoding: &Encoding| names.iter().any(|name| name == encoding.name);
        let refused = chosen.iter().find(|one| is_named(one) && !one.is_for_windows());
        if let Some(refused) = refused {
            bail!(
                "{} links Protobuf's library, which there is not for Windows; leave it out, or \
                 --windows",
                refused.name
            );
        }
        chosen.retain(Encoding::is_for_windows);
    }
    let models = [Model::Source, Model::Sensor, Model::Pedestrian, Model::Player, Model::Recorder];
    let mut wanted = Vec::new();
    for encoding in chosen {
        for model in models {
            for fmi in [2, 3].into_iter().filter(|fmi| *fmi == 2 || encoding.fmi3) {
                wanted.push(Fmu { model, encoding, fmi, build: Build::Release });
            }
        }
    }
    let shown = folder.display();
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {shown}"))?;
    let make = if for_windows { build_for_windows } else { build };
    let written = write_built(&wanted, folder, |build| make(build, &wanted, progress));
    if written.is_err() {
        // Only where nothing is in it.
        let _ = fs::remove_dir(folder);
    }
    written
}

/// Has the FMUs built once it is sure that they can be written. Returns their paths, a line each.
fn write_built(
    wanted: &[Fmu],
    folder: &Path,
    make: impl FnOnce(&Path) -> Result<Vec<Result<PathBuf>>>,
) -> Result<String> {
    let targets = wanted.iter().map(|fmu| Target::open(&folder.join(fmu.file()), &[]));
    let targets: Vec<Target> = targets.collect::<Result<_>>()?;
    let (mut written, mut faults) = (String::new(), Vec::new());
    for (target, fmu) in targets.into_iter().zip(make(&default_build_folder()?)?) {
        match fmu {
            Ok(path) => {
                let name = target.display_name().to_owned();
                let bytes = fs::read(&path);
                target.write(&bytes.with_context(|| format!("cannot read {}", path.display()))?)?;
                written += &format!("{name}\n");
            }
            Err(error) => faults.push(format!("{error:#}")),
        }
    }
    ensure!(faults.is_empty(), "{} of the FMUs are not written: {}", faults.len(), faults[0]);
    Ok(written)
}
