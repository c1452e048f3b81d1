//! Rows of an earlier result that are measured again beside today's.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure, Context, Result};
use indexmap::IndexMap;
use wiregauge_child_process::runner::Launch;
use wiregauge_gauge::runners::plan::Entrant;
use wiregauge_result::row_pairs::RowPair;
use wiregauge_result::run::{Run, Status, Subject};
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::runner_files::RunnerFiles;

use crate::runner_copies::{is_executable_format, is_of_system, RunnerCopies};

/// What marks an older row.
const LABEL: &str = "before";

/// An earlier result, whose runners are to be measured again.
pub struct OlderRun {
    path: PathBuf,
    run: Run,
}

/// What takes part of an earlier result.
pub struct OlderRows {
    /// A row each; those that cannot be measured say why.
    pub entrants: Vec<Entrant>,
    /// Which row they are compared with.
    pub pairs: Vec<RowPair>,
    /// What their runners consisted of, by row.
    files: IndexMap<String, RunnerFiles>,
}

impl OlderRun {
    /// Reads the result of a run of codecs on a message of this name.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(path: &Path, message: &str) -> Result<OlderRun> {
        let (run, shown) = (Run::read(path)?, path.display());
        ensure!(
            run.kind == RunKind::Codecs,
            "{shown} is a result of {}; --against takes one of 'wiregauge codecs'",
            run.kind.name()
        );
        let measured = run.cases.first().map_or("nothing", |case| &case.message);
        ensure!(
            measured == message,
            "{shown} measured {measured}, and this command measures {message}; give the --message \
             that {shown} has"
        );
        Ok(OlderRun { path: path.into(), run })
    }

    /// The rows of it that correspond to these. A row corresponds to that of the same name, or
    /// else to the only one of the same codec.
    ///
    /// # Errors
    /// When no row can be measured again.
    pub fn rows(
        &self,
        entrants: &[Entrant],
        described: &[Option<RunnerFiles>],
        copies: &mut RunnerCopies,
    ) -> Result<OlderRows> {
        let mut rows =
            OlderRows { entrants: Vec::new(), pairs: Vec::new(), files: IndexMap::new() };
        for (entrant, now) in entrants.iter().zip(described) {
            let Some((launch, now)) = entrant.runner.as_ref().zip(now.as_ref()) else { continue };
            let Some(old) = self.find_row(&entrant.subject) else { continue };
            let id = format!("{}@{LABEL}", old.id);
            ensure!(
                entrants.iter().all(|other| other.subject.id != id),
                "two rows have the name '{id}'; give the row another label than '{LABEL}'"
            );
            rows.pairs.push(RowPair { old: id.clone(), new: entrant.subject.id.clone() });
            if rows.entrants.iter().any(|other| other.subject.id == id) {
                continue;
            }
            let (status, runner) = match self.launch(old, launch, now, copies) {
                Ok(runner) => (Status::Measured, Some(Launch { id: id.clone(), ..runner })),
                Err(why) => (Status::Skipped(format!("{why:#}")), None),
            };
            rows.files.extend(old.runner.clone().map(|files| (id.clone(), files)));
            let title = format!("{} @{LABEL}", old.title);
            let subject = Subject { id, title, status, not_counted: String::new(), ..old.clone() };
            rows.entrants.push(Entrant { subject, runner, judge: None });
        }
        let shown = self.path.display();
        let absent = rows.entrants.iter().find_map(|entrant| {
            Some(format!("{}: {}", entrant.subject.title, entrant.subject.status.absence()?.1))
        });
        match absent {
            _ if rows.entrants.iter().any(|entrant| entrant.runner.is_some()) => Ok(rows),
            Some(why) => bail!("no row of {shown} can be measured again: {why}"),
            None => bail!(
                "{shown} has no row that is measured now; give the --codecs, --language \
                           or --runner that {shown} has"
            ),
        }
    }

    fn find_row(&self, now: &Subject) -> Option<&Subject> {
        let of = |id: &str| id.split('@').next().unwrap_or_default().to_owned();
        let is_older = |row: &&Subject| row.id.ends_with(&format!("@{LABEL}"));
        let rows = || self.run.subjects.iter().filter(|row| !row.bound && !is_older(row));
        let mut same_codec = rows().filter(|row| of(&row.id) == of(&now.id));
        rows()
            .find(|row| row.id == now.id)
            .or_else(|| same_codec.next().filter(|_| same_codec.next().is_none()))
            .filter(|_| !now.bound)
    }

    /// How the runner of an older row is started, beside the one that is there now.
    fn launch(
        &self,
        old: &Subject,
        launch: &Launch,
        now: &RunnerFiles,
        copies: &mut RunnerCopies,
    ) -> Result<Launch> {
        let shown = self.path.display();
        if let Some((_, why)) = old.status.absence() {
            bail!("{shown} has no figures of it: {why}");
        }
        let files = old.runner.as_ref().with_context(|| {
            format!("{shown} does not say which runner it measured; measure it anew")
        })?;
        let is_own = old.origin.is_none();
        let program = files.command.first().map(PathBuf::from).unwrap_or_default();
        ensure!(
            is_own || message_folder(&program) == message_folder(&launch.program),
            "the message's definition has changed since; a runner of a built-in codec is \
             compiled for one definition"
        );
        let remedy = match is_own {
            true => {
                "keep the older runner and its libraries in a folder of their own, and measure it \
                 from there"
            }
            false => "measure both in one run, by --library where the codec takes it",
        };
        ensure!(
            !is_own || files.command != now.command || is_self_contained(&files.command),
            "its command is the same as then, and what a script loads besides cannot be seen; \
             {remedy}"
        );
        let command = copies.find(files).map_err(|why| anyhow!("{why}; {remedy}"))?;
        let (program, arguments) = command.split_first().context("its command is empty")?;
        Ok(Launch {
            program: program.into(),
            arguments: arguments.to_vec(),
            schema: launch.schema.clone(),
            ..Launch::default()
        })
    }
}

impl OlderRows {
    /// Why a runner that was measured is not the one that it was then; none where it is.
    pub fn explain_difference(&self, id: &str, now: &RunnerFiles) -> Option<String> {
        let path = RunnerCopies::find_missing(self.files.get(id)?, now)?;
        Some(format!("its runner loaded {path} then, and now another file"))
    }
}

/// The folder of the message that a built-in runner is compiled for, by its name.
fn message_folder(program: &Path) -> Option<&std::ffi::OsStr> {
    program.parent()?.parent()?.file_name()
}

/// Whether all that a command executes is in its program and the libraries of that: a file
/// among its arguments may be a script.
fn is_self_contained(command: &[String]) -> bool {
    let is_program = |path: &Path| is_executable_format(path) && !is_of_system(path);
    let mut words = command.iter().map(Path::new);
    words.next().is_some_and(is_program)
        && words.filter(|word| word.is_file()).all(is_executable_format)
}
