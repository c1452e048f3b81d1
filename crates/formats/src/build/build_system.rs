//! What compiles the runners of a language.

use std::path::PathBuf;

use anyhow::Result;
use wiregauge_build_tools::Progress;
use wiregauge_normalized::Unit;

use super::runner_build::{BuildFolders, RunnerBuild};
use crate::runner_language::RunnerLanguage;

/// What compiles the runners of a language. The language's file submits it.
pub(super) struct BuildSystem {
    /// The language.
    pub(super) language: &'static RunnerLanguage,
    /// How.
    pub(super) compile: Compile,
    /// How programs are compiled that show what codecs add; none where that is not measured.
    pub(super) compile_footprints: Option<Compile>,
}

/// How runners are compiled together: an outcome for each, in order, or what
/// befell all.
type Compile = fn(&BuildFolders, &Unit, &[&RunnerBuild], Progress) -> Result<Vec<Result<PathBuf>>>;

inventory::collect!(BuildSystem);

impl BuildSystem {
    /// That of a language.
    pub(super) fn for_language(language: &RunnerLanguage) -> &'static BuildSystem {
        let mut all = inventory::iter::<BuildSystem>();
        all.find(|system| system.language == language).expect("a language's file has both")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Codec;

    #[test]
    fn the_runners_of_every_codec_can_be_compiled() {
        for codec in Codec::all() {
            assert_eq!(
                BuildSystem::for_language(codec.language).language.name,
                codec.language.name
            );
        }
    }
}
