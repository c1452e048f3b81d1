//! What the user says of files that do not say it themselves, and how their channels are
//! described with it.

use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};
use wiregauge_osi::descriptors::osi_definitions;
use wiregauge_trace::channel::{Channel, CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION};
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::osi::{self, Stamp};
use wiregauge_trace::parser;
use wiregauge_trace::read::Reader;
use wiregauge_trace::version::{self, Version};
use wiregauge_trace::write::OutputFormat;

/// What the user says of files that do not say it themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelHints {
    /// The type of the messages of an `.osi` file whose name does not say it: `sv`,
    /// `SensorView`.
    pub osi_type: Option<String>,
    /// What the channel of an `.osi` file is called.
    pub channel_name: Option<String>,
    /// The version of the Protobuf library that wrote an `.osi` file.
    pub protobuf_version: Option<Version>,
    /// The version of OSI of an `.osi` file.
    pub osi_version: Option<Version>,
}

impl ChannelHints {
    /// What a reader is told.
    pub fn open_hints(&self) -> OpenHints {
        OpenHints { osi_type: self.osi_type.clone() }
    }

    /// What the channels of `.osi` files are called: what the user says, or where several are
    /// of one type by their files, as there may be a left one and a right one.
    pub fn channel_names(&self, inputs: &[PathBuf]) -> Vec<Option<String>> {
        let kind = |path: &Path| osi::OsiFileName::parse(path).map(|name| name.code);
        let is_alone =
            |path: &Path| inputs.iter().filter(|other| kind(other) == kind(path)).count() < 2;
        let name = |path: &PathBuf| match &self.channel_name {
            Some(topic) => Some(topic.clone()),
            None if is_alone(path) => None,
            None => path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        };
        inputs.iter().map(name).collect()
    }

    /// A channel of a file as a container describes it: what comes out of an `.osi` file gets
    /// its definition, its versions and this topic.
    ///
    /// # Errors
    /// When OSI does not define the type of its messages.
    pub fn describe(
        &self,
        path: &Path,
        topic: Option<&str>,
        channel: &Channel,
        form: OutputFormat,
    ) -> Result<Channel> {
        let mut channel = channel.clone();
        if !has_types(form) || channel.message_encoding != "protobuf" {
            return Ok(channel);
        }
        if channel.is_osi() && channel.definition.data.is_empty() {
            let definitions = osi_definitions()?;
            let definition = parser::extract_definition(&definitions, &channel.definition.name)?;
            channel.definition = definition.into();
            if let Some(topic) = topic {
                channel.topic = topic.to_owned();
            }
        }
        if form == OutputFormat::Mcap && channel.is_osi() {
            self.add_versions(path, &mut channel)?;
        }
        Ok(channel)
    }

    /// Adds the versions that a channel of OSI must say and does not, where they are known.
    fn add_versions(&self, path: &Path, channel: &mut Channel) -> Result<()> {
        for key in missing_versions(channel) {
            let version = match key {
                CHANNEL_OSI_VERSION => self.osi_version(path, &channel.definition.name)?,
                _ => self.protobuf_version,
            };
            if let Some(version) = version {
                channel.metadata.insert(key.to_owned(), version::format_version(version));
            }
        }
        Ok(())
    }

    /// The version of OSI of a file: what the user says, its first message or its name.
    fn osi_version(&self, path: &Path, type_name: &str) -> Result<Option<Version>> {
        if self.osi_version.is_some() {
            return Ok(self.osi_version);
        }
        let said = first_message_version(path, &self.open_hints(), type_name)?;
        let named = osi::OsiFileName::parse(path).and_then(|name| name.osi_version);
        Ok(said.or(named.and_then(|named| version::parse(&named))))
    }
}

/// Whether a container says what types its messages have.
pub(crate) fn has_types(form: OutputFormat) -> bool {
    !matches!(form, OutputFormat::Osi | OutputFormat::LengthPrefixed)
}

/// Fails where neither a file nor the user says what type its messages have: an `.osi` file.
///
/// # Errors
/// As said.
pub fn ensure_types(path: &Path, reader: &dyn Reader) -> Result<()> {
    // Only a file that has neither topics nor types lacks both; in MCAP a channel of JSON may.
    let is_untyped = |channel: &Channel| {
        channel.message_encoding == "protobuf"
            && channel.topic.is_empty()
            && channel.definition.name.is_empty()
    };
    ensure!(!reader.channels().values().any(is_untyped), osi::missing_type_message(path));
    Ok(())
}

/// The versions that a channel of OSI must say and does not.
pub fn missing_versions(channel: &Channel) -> Vec<&'static str> {
    let said = |key: &str| channel.metadata.get(key).and_then(|said| version::parse(said));
    let keys = [CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION];
    keys.into_iter().filter(|key| channel.is_osi() && said(key).is_none()).collect()
}

/// The version of OSI that the first message of a type in a file says.
fn first_message_version(
    path: &Path,
    hints: &OpenHints,
    type_name: &str,
) -> Result<Option<Version>> {
    let mut reader = open::open_with(path, hints, &osi_definitions)?;
    reader.salvage();
    while let Some(head) = reader.next()? {
        if reader.channels()[&head.channel].definition.name == type_name {
            return Ok(Stamp::read(type_name, reader.data()?).version);
        }
    }
    Ok(None)
}
