//! Which rows take part, and how they are built, as a user chose.

use std::path::PathBuf;

use anyhow::Result;
use wiregauge_build_tools::toolchain::Target;
use wiregauge_formats::RunnerLanguage;
use wiregauge_schema::small_arrays::SmallArrays;

use crate::bundled_rows::BundleTask;
#[cfg(feature = "clap")]
use crate::codec_selection::parse_languages;
use crate::codec_selection::{select_codecs, UserRunner};
use crate::libraries::LibraryOptions;
use crate::row_options::RowOptions;
use crate::workload::Workload;

/// Which rows take part, and how they are built.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RowSelection {
    /// Measure only these codecs, and the bounds.
    #[cfg_attr(feature = "clap", arg(long, value_delimiter = ',', value_name = "NAME,…"))]
    pub codecs: Vec<String>,
    /// Measure only codecs in these languages: rust, cpp, python, java, or all. By
    /// default: those of the named codecs, or rust and cpp without the code that
    /// wiregauge generates.
    #[cfg_attr(feature = "clap", arg(long, value_delimiter = ',', value_name = "NAME,…", value_parser = parse_languages))]
    pub language: Vec<Languages>,
    /// Also measure a runner of yours (docs/runner-protocol.md).
    #[cfg_attr(feature = "clap", arg(long = "runner", value_name = "NAME=COMMAND"))]
    pub runners: Vec<UserRunner>,
    /// With which libraries.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub libraries: LibraryOptions,
    /// Build for this architecture: aarch64-linux-gnu, arm-linux-gnueabihf,
    /// riscv64-linux-gnu or x86_64-linux-gnu. Here an emulator counts the instructions
    /// of its programs (docs/targets.md).
    #[cfg_attr(feature = "clap", arg(long, value_name = "TARGET"))]
    pub target: Option<String>,
    /// How formats without fixed arrays write those of up to four numbers.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, value_name = "FORM", default_value = "fields")
    )]
    pub small_arrays: SmallArrays,
    /// Seed of generated values, damage and the order of turns.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = 1))]
    pub seed: u64,
}

/// What a word of --language stands for.
pub type Languages = Vec<&'static RunnerLanguage>;

impl RowSelection {
    /// The languages that are named.
    pub fn languages(&self) -> Vec<&'static RunnerLanguage> {
        self.language.concat()
    }

    /// How they are built.
    ///
    /// # Errors
    /// When there is no such target.
    pub fn options(&self) -> Result<RowOptions> {
        Ok(RowOptions {
            libraries: self.libraries.clone(),
            small_array: self.small_arrays.longest(),
            target: self.target.as_deref().map(Target::find).transpose()?,
        })
    }

    /// What of it is packed, with a message and the program for the target.
    ///
    /// # Errors
    /// When there is no such codec or target.
    pub fn bundle(&self, workload: Workload, program: Option<PathBuf>) -> Result<BundleTask> {
        Ok(BundleTask {
            title: workload.title(),
            workload,
            seed: self.seed,
            codecs: select_codecs(&self.codecs, &self.languages())?,
            runners: self.runners.clone(),
            rows: self.options()?,
            program,
        })
    }
}
