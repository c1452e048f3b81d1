//! The message that a user chose, and its values.

use std::path::PathBuf;

use anyhow::{bail, ensure, Result};
use indexmap::IndexMap;
use wiregauge_schema::{SchemaSource, Sizes};
#[cfg(feature = "clap")]
use wiregauge_system::quantity::parse_fraction;

use crate::workload::{Builtin, Sweep, Workload};

/// Messages that take turns unless the user says so.
const MESSAGES: u32 = 8;

/// The message that a user chose, and its values.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct MessageSelection {
    /// Measure this message with generated values: lidar, rsb, or a definition of
    /// yours.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME|FILE[:TYPE]", conflicts_with = "input")
    )]
    pub message: Option<String>,
    /// Measure the messages of this recording: .mcap, .bag (ROS 1), .db3 or its
    /// folder (ROS 2), or .osi.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub input: Option<PathBuf>,
    /// The channel of the recording. For an .osi file: the type, if the file's name
    /// does not say it.
    #[cfg_attr(feature = "clap", arg(long, value_name = "TOPIC", requires = "input"))]
    pub channel: Option<String>,
    /// Also look for definitions in this folder. Give it several times for several
    /// folders.
    #[cfg_attr(feature = "clap", arg(short = 'I', long, value_name = "FOLDER"))]
    pub include: Vec<PathBuf>,
    /// Keep fields that never occur in the recording.
    #[cfg_attr(feature = "clap", arg(long, requires = "input"))]
    pub whole_schema: bool,
    /// How many different messages take turns [default: 8].
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..)))]
    pub messages: Option<u32>,

    /// Length of a list, string or bytes field in generated values.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH=N", value_parser = crate::codec_selection::length))]
    pub length: Vec<(String, usize)>,
    /// Measure several lengths of a list.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH=N,N,…"))]
    pub sweep: Option<Sweep>,
    /// Share of optional fields that generated values have [default: 1].
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", value_parser = parse_fraction))]
    pub presence: Option<f64>,
    /// The number that the experiment 'fixed' reads.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH"))]
    pub fixed: Option<String>,
    /// The number that the experiment 'element' reads.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH"))]
    pub element: Option<String>,
}

impl MessageSelection {
    /// Refuses what would have no effect, where these experiments are measured; all where none
    /// is named.
    ///
    /// # Errors
    /// With the option and the reason.
    pub fn check(&self, experiments: &[String]) -> Result<()> {
        let given = [
            ("--length", !self.length.is_empty()),
            ("--sweep", self.sweep.is_some()),
            ("--presence", self.presence.is_some()),
            ("--channel", self.channel.is_some()),
            ("--whole-schema", self.whole_schema),
        ];
        let (why, useless): (&str, &[&str]) = match (&self.message, &self.input) {
            (_, Some(_)) => (
                "recorded messages are measured as they are",
                &["--length", "--sweep", "--presence"],
            ),
            (None, None) => ("the LiDAR message has no optional field", &["--presence"]),
            (Some(_), None) => ("it needs a recording (--input)", &["--channel", "--whole-schema"]),
        };
        if let Some((option, _)) =
            given.iter().find(|(option, given)| *given && useless.contains(option))
        {
            bail!("{option} has no effect: {why}");
        }
        for (option, given) in [("fixed", &self.fixed), ("element", &self.element)] {
            let measured = experiments.is_empty() || experiments.iter().any(|name| name == option);
            ensure!(
                given.is_none() || measured,
                "--{option} has no effect: --experiments leaves '{option}' out"
            );
        }
        let swept = self.sweep.iter().map(|sweep| &sweep.path);
        let mut paths: Vec<&String> =
            self.length.iter().map(|(path, _)| path).chain(swept).collect();
        paths.sort();
        if let Some(twice) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("{} has two lengths; give it one length, by --length or by --sweep", twice[0]);
        }
        Ok(())
    }

    /// The files that it is read from.
    pub fn files(&self) -> Vec<PathBuf> {
        let source = self.message.as_deref().map(SchemaSource::parse);
        let definition = source.filter(|source| Builtin::find(source).is_none());
        definition.map(|source| source.path).into_iter().chain(self.input.clone()).collect()
    }

    /// The message and its values; those that are generated are of this seed.
    ///
    /// # Errors
    /// When it cannot be read, or an option has no effect on it.
    pub fn workload(&self, seed: u64) -> Result<Workload> {
        let overrides: IndexMap<String, usize> = self.length.iter().cloned().collect();
        let sizes = Sizes { overrides, presence: self.presence.unwrap_or(1.0), ..Sizes::default() };
        let count = self.messages.unwrap_or(MESSAGES) as usize;
        let mut workload = match &self.input {
            Some(input) => {
                let channel = self.channel.as_deref();
                Workload::recording(input, channel, count, self.whole_schema, &self.include)?
            }
            None => {
                let source = SchemaSource::parse(self.message.as_deref().unwrap_or("lidar"));
                let source = source.with_folders(&self.include);
                Workload::message(&source, &sizes, self.sweep.as_ref(), count, seed)?
            }
        };
        ensure!(
            self.presence.is_none() || workload.schema.has_optional_field(),
            "--presence has no effect: {} has no optional field",
            workload.schema.root().name.original
        );
        workload.choose(self.fixed.as_deref(), self.element.as_deref())?;
        Ok(workload)
    }
}
