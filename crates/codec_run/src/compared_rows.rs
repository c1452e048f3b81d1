//! Which rows of a run are compared with each other.

use std::path::PathBuf;

use anyhow::{ensure, Result};
use wiregauge_build_tools::Toolchain;
use wiregauge_formats::build::Variant;
use wiregauge_gauge::runners::plan::Entrant;
use wiregauge_gauge::runners::Measured;
use wiregauge_result::row_pairs::{RowPair, RowPairs};
use wiregauge_result::run::{Settings, Status};
use wiregauge_result::runner_files::RunnerFiles;

use crate::effort::Effort;
use crate::older_rows::{OlderRows, OlderRun};
use crate::runner_copies::RunnerCopies;

/// What is compared, and when it makes the command fail.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// An earlier result, whose runners are measured again beside today's.
    pub against: Option<PathBuf>,
    /// The slowdown that makes the command fail, if one is to.
    pub fail_above: Option<f64>,
}

/// The rows of a run, and which of them are compared.
pub struct ComparedRows {
    copies: RunnerCopies,
    /// What the runner of each row consists of.
    described: Vec<Option<RunnerFiles>>,
    older: Option<OlderRows>,
    /// Which rows are compared, if any are.
    pub pairs: Option<RowPairs>,
}

impl ComparedRows {
    /// Copies the runners, so that they can be measured again, and adds the older rows. Without
    /// an earlier result, rows of one codec with several libraries of the user's are compared.
    ///
    /// # Errors
    /// When nothing can be compared and something is to be.
    pub fn prepare(
        options: &CompareOptions,
        older: Option<&OlderRun>,
        variants: &[Variant],
        entrants: &mut Vec<Entrant>,
        mut copies: RunnerCopies,
    ) -> Result<ComparedRows> {
        let mut described = describe(entrants, &mut copies);
        let mut older = match older {
            Some(older) => Some(older.rows(entrants, &described, &mut copies)?),
            None => None,
        };
        let mut pairs = library_pairs(variants);
        if let Some(older) = &mut older {
            pairs.clone_from(&older.pairs);
            for entrant in older.entrants.drain(..) {
                described.push(entrant.runner.as_ref().map(|launch| copies.keep(launch)));
                entrants.push(entrant);
            }
        }
        let pairs = checked_pairs(pairs, options.fail_above)?;
        Ok(ComparedRows { copies, described, older, pairs })
    }

    /// The rows of a bundle, of which these are compared.
    ///
    /// # Errors
    /// When nothing is compared and something is to be.
    pub fn of_bundle(
        pairs: Vec<RowPair>,
        fail_above: Option<f64>,
        entrants: &[Entrant],
    ) -> Result<ComparedRows> {
        let mut copies = RunnerCopies::without_copies();
        let described = describe(entrants, &mut copies);
        let pairs = checked_pairs(pairs, fail_above)?;
        Ok(ComparedRows { copies, described, older: None, pairs })
    }

    /// Writes into each row what its runner consists of, and takes the figures from an older
    /// one that turned out to be another than it was.
    pub fn describe_runners(&mut self, measured: &mut Measured) {
        let loaded = std::mem::take(&mut measured.loaded);
        for ((subject, described), loaded) in
            measured.subjects.iter_mut().zip(&mut self.described).zip(loaded)
        {
            let Some(mut files) = described.take().filter(|_| !loaded.is_empty()) else { continue };
            self.copies.add_all(&mut files, &loaded);
            let older = self.older.as_ref();
            if let Some(why) = older.and_then(|rows| rows.explain_difference(&subject.id, &files)) {
                measured.measurements.retain(|one| one.subject != subject.id);
                measured.facts.retain(|one| one.subject != subject.id);
                subject.status = Status::Skipped(why);
            }
            subject.runner = Some(files);
        }
    }
}

/// What the runner of each row consists of.
fn describe(entrants: &[Entrant], copies: &mut RunnerCopies) -> Vec<Option<RunnerFiles>> {
    let mut keep = |entrant: &Entrant| {
        entrant.runner.as_ref().filter(|_| !entrant.subject.bound).map(|l| copies.keep(l))
    };
    entrants.iter().map(&mut keep).collect()
}

/// The pairs with the slowdown that makes the command fail; none where nothing is compared.
///
/// # Errors
/// When nothing is compared and something is to be.
pub(crate) fn checked_pairs(
    pairs: Vec<RowPair>,
    fail_above: Option<f64>,
) -> Result<Option<RowPairs>> {
    ensure!(
        !pairs.is_empty() || fail_above.is_none(),
        "--fail-above has no effect: nothing is compared; give --against, or two --library of \
         one codec"
    );
    Ok((!pairs.is_empty()).then_some(RowPairs { fail_above, pairs }))
}

/// Processes of each row, where rows are compared: more than elsewhere, as only these make
/// intervals narrower.
const PROCESSES: u32 = 20;

/// How rows are sampled that are compared.
pub fn compared_settings(settings: Settings, effort: &Effort) -> Settings {
    Settings { processes: effort.processes.unwrap_or(PROCESSES), ..settings }
}

/// The rows with libraries of the user's: the first of a codec with each of its others.
pub(crate) fn library_pairs(variants: &[Variant]) -> Vec<RowPair> {
    let is_own =
        |row: &&Variant| row.release.is_some() || matches!(*row.toolchain, Toolchain::Prefix(_));
    let own: Vec<&Variant> = variants.iter().filter(is_own).collect();
    let pair = |(at, new): (usize, &&Variant)| {
        let old = own[..at].iter().find(|old| old.codec.name == new.codec.name)?;
        Some(RowPair { old: old.id(), new: new.id() })
    };
    own.iter().enumerate().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wiregauge_formats::build::{CompilerFlags, CrateRelease};
    use wiregauge_formats::Codec;

    use super::*;

    #[test]
    fn libraries_of_one_codec_are_compared_with_its_first() {
        let plain = |name| Variant::from_codec(Codec::find(name).expect("there is one"));
        let release = |name, version: &str| {
            let release = CrateRelease::new(name, None, version).expect("a version");
            Variant { release: Some(Arc::new(release)), ..plain(name) }
        };
        let flags = CompilerFlags { label: "o3".into(), words: "-O3".into() };
        let variants = [
            plain("prost"),
            release("prost", "0.12.6"),
            Variant { flags: Some(Arc::new(flags)), ..plain("lcm") },
            release("bincode", "1.3.2"),
            release("prost", "0.13.5"),
            release("prost", "0.14.1"),
        ];
        let pairs: Vec<(String, String)> =
            library_pairs(&variants).into_iter().map(|pair| (pair.old, pair.new)).collect();
        let pair = |new: &str| ("prost@0.12.6".to_owned(), new.to_owned());
        assert_eq!(pairs, [pair("prost@0.13.5"), pair("prost@0.14.1")]);
        assert!(library_pairs(&variants[..4]).is_empty());
    }
}
