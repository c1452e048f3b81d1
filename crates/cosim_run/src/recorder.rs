//! From the variables of FMUs to the channels of a trace file.

use std::cell::LazyCell;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{anyhow, ensure, Context, Error, Result};
use wiregauge_cosim::package::content;
use wiregauge_cosim::package::mime::Mime;
use wiregauge_cosim::recording::{RecordedVariable, Recording};
use wiregauge_osi::descriptors::osi_definitions;
use wiregauge_system::file::Target;
use wiregauge_system::notice::print_notice;
use wiregauge_system::progress::ProgressDisplay;
use wiregauge_system::text::escape_short;
use wiregauge_trace::channel::{
    explain_missing_version, Channel, Definition, CHANNEL_DESCRIPTION, CHANNEL_OSI_VERSION,
    CHANNEL_PROTOBUF_VERSION, OSI_TRACE,
};
use wiregauge_trace::osi::Stamp;
use wiregauge_trace::parser::{self, Parser};
use wiregauge_trace::read::{MessageInfo, MessagePosition, Nanoseconds};
use wiregauge_trace::version::{self, Version};
use wiregauge_trace::write::{ChunkOptions, OutputFormat, Writer};

use crate::host::host;

/// What is written, and where.
pub struct Recorder<'a> {
    /// The file.
    pub output: &'a Path,
    /// Files that are not to be replaced by it.
    pub inputs: &'a [&'a Path],
    /// How MCAP is packed.
    pub packing: ChunkOptions,
    /// The version of the Protobuf library that the FMUs are linked with.
    pub protobuf_version: Option<Version>,
    /// How long a step may take.
    pub patience: Duration,
}

/// How many steps are recorded in this time of the simulation, or to the end that the FMUs
/// propose. `source` names them in an error.
///
/// # Errors
/// When no time is given and they propose none.
pub fn count_steps(
    recording: &Recording,
    duration: Option<Duration>,
    source: &Path,
) -> Result<u64> {
    let seconds = duration.map(|duration| duration.as_secs_f64());
    let seconds = seconds.or(recording.proposed_duration()).with_context(|| {
        format!("{} proposes no stopTime; give --duration TIME or --steps N", source.display())
    })?;
    Ok((seconds / recording.step).round().max(1.0) as u64)
}

/// One variable while it is recorded.
struct VariableTrack {
    channel: Channel,
    /// What the variable says that it carries.
    mime: Mime,
    /// What its messages are held against; none where nothing defines them.
    parser: Option<Parser>,
    /// Its number in the file, once it had a message.
    number: Option<u16>,
    messages: u32,
    /// Messages that are not what it says.
    wrong: WrongMessages,
}

/// Messages that are not what their channel says: how many, and what the first one is.
#[derive(Default)]
struct WrongMessages {
    count: u32,
    first: String,
}

impl WrongMessages {
    fn add(&mut self, number: u32, at: Nanoseconds, what: &str) {
        self.count += 1;
        if self.count == 1 {
            self.first = format!("message {number}, at {} s: {what}", at as f64 / 1e9);
        }
    }
}

impl VariableTrack {
    /// Holds a message against what the variable says.
    fn check(&mut self, at: Nanoseconds, bytes: &[u8], any_version: bool) {
        let what = match self.parser.as_ref().map(|parser| parser.check(bytes)) {
            Some(Err(error)) => Some(format!("no {}: {error:#}", self.channel.definition.name)),
            Some(Ok(())) if any_version => None,
            Some(Ok(())) => self.other_version(bytes),
            None => content::check_message(&self.mime, bytes, any_version).err(),
        };
        if let Some(what) = what {
            self.wrong.add(self.messages, at, &what);
        }
    }

    /// What version a message says, if that is not the declared one.
    fn other_version(&self, bytes: &[u8]) -> Option<String> {
        let declared = version::parse(self.mime.version.as_deref()?)?;
        let said = Stamp::read(&self.channel.definition.name, bytes).version?;
        let [declared, own] = [declared, said].map(version::format_version);
        (own != declared).then(|| format!("declares OSI {declared}, but its message has {own}"))
    }
}

/// A file while it is recorded.
pub struct TraceRecording<'a> {
    recorder: &'a Recorder<'a>,
    form: OutputFormat,
    writer: Box<dyn Writer>,
    tracks: Vec<VariableTrack>,
    /// Whether messages may say another version of OSI than is declared.
    any_version: bool,
    messages: u64,
    bytes: u64,
}

impl<'a> Recorder<'a> {
    /// What writes everything there, packed as usual, of FMUs that may take so long for a
    /// step.
    pub fn new(output: &'a Path, inputs: &'a [&'a Path], patience: Duration) -> Recorder<'a> {
        let packing = ChunkOptions::default();
        Recorder { output, inputs, packing, protobuf_version: None, patience }
    }

    /// Steps the FMUs so many times and writes what came out. Where an FMU fails, what came
    /// before is kept. Whether all messages are what they are said to be. `show` gets what is
    /// going on, and is dropped when that is over.
    ///
    /// # Errors
    /// An FMU that failed, or a file that cannot be written.
    pub fn record(
        &self,
        recording: &Recording,
        steps: u64,
        show: impl Fn(&str, usize, usize),
    ) -> Result<bool> {
        let about = format!("recorded in steps of {} s", recording.step);
        let mut tape = self.begin(&recording.variables(), about)?;
        tape.any_version = recording.any_version;
        show("recording", 0, steps as usize);
        let ended = recording.run(&host()?, self.patience, steps, &mut |message| {
            show("recording", message.step as usize, steps as usize);
            let time = (message.time * 1e9).round() as Nanoseconds;
            tape.take(message.variable, time, message.bytes)
        })?;
        drop(show);
        if let Some(why) = ended.early {
            print_notice(&escape_short(&format!("the simulation ended early: {why}")));
        }
        tape.finish(ended.failed)
    }

    /// Records as [`Recorder::record`] does, and shows progress.
    ///
    /// # Errors
    /// Those of [`Recorder::record`].
    pub fn record_with_progress(&self, recording: &Recording, steps: u64) -> Result<bool> {
        // Made when there is news: a bar would stand among the notices of the file's beginning.
        let progress = LazyCell::new(ProgressDisplay::new);
        self.record(recording, steps, move |what, done, total| progress.show(what, done, total))
    }

    /// Begins a file of these variables.
    pub fn begin(
        &self,
        variables: &[RecordedVariable],
        about: String,
    ) -> Result<TraceRecording<'_>> {
        let form = OutputFormat::from_path(self.output)?;
        let tracks = self.tracks(variables, form)?;
        let draft = Target::open(self.output, self.inputs)?.start_draft()?;
        let mut writer = form.begin(draft, self.packing)?;
        if writer.has_room() && tracks.iter().any(|track| track.channel.is_osi()) {
            let mut sources: Vec<&str> = variables.iter().map(|one| one.fmu).collect();
            sources.dedup();
            let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
            let entries = [
                ("creation_time", now),
                ("data_sources", sources.join(", ")),
                ("description", about),
            ];
            let entries = entries.map(|(key, value)| (key.to_owned(), value)).into();
            writer.write_metadata(OSI_TRACE, &entries)?;
        }
        let any_version = false;
        Ok(TraceRecording {
            recorder: self,
            form,
            writer,
            tracks,
            any_version,
            messages: 0,
            bytes: 0,
        })
    }

    /// A track for each variable.
    fn tracks(
        &self,
        variables: &[RecordedVariable],
        form: OutputFormat,
    ) -> Result<Vec<VariableTrack>> {
        let topics: Vec<String> = variables.iter().map(RecordedVariable::topic).collect();
        ensure!(
            topics.len() < 2 || !matches!(form, OutputFormat::Osi | OutputFormat::LengthPrefixed),
            "{} can hold one variable, but there are {}; end its name in .mcap, or choose one by \
             --variable of 'trace record'",
            self.output.display(),
            topics.join(", ")
        );
        let track = |recorded: &RecordedVariable| {
            let (channel, mime) = (self.channel(recorded, form)?, recorded.binary.mime.clone());
            let (parser, wrong) = (self.parser(&channel), WrongMessages::default());
            Ok(VariableTrack { channel, mime, parser, number: None, messages: 0, wrong })
        };
        variables.iter().map(track).collect()
    }

    /// What holds the messages of a channel against their definition, which a file of one
    /// type does not carry.
    fn parser(&self, channel: &Channel) -> Option<Parser> {
        let name = &channel.definition.name;
        if channel.message_encoding != "protobuf" || name.is_empty() {
            return None;
        }
        let made = || {
            let mut defined = channel.clone();
            if defined.definition.data.is_empty() {
                defined.definition = parser::extract_definition(&osi_definitions()?, name)?.into();
            }
            Parser::from_channel(&defined)
        };
        match made() {
            Ok(parser) => Some(parser),
            Err(error) => {
                let topic = &channel.topic;
                print_notice(&escape_short(&format!(
                    "channel {topic}: messages are not checked: {error:#}"
                )));
                None
            }
        }
    }

    /// The channel of a variable.
    fn channel(&self, recorded: &RecordedVariable, form: OutputFormat) -> Result<Channel> {
        let RecordedVariable { fmu, binary } = recorded;
        let mut channel = Channel { topic: recorded.topic(), ..Channel::default() };
        let Mime { message, version, .. } = &binary.mime;
        channel.message_encoding = match binary.mime.encoding() {
            "protobuf" | "packed" => "protobuf".into(),
            other if other.starts_with("flatbuffers") => "flatbuffer".into(),
            other => other.to_owned(),
        };
        let (Some(message), true) = (message, binary.mime.is_osi()) else { return Ok(channel) };
        let name = format!("osi3.{message}");
        if channel.message_encoding != "protobuf" {
            ensure!(
                matches!(form, OutputFormat::Mcap | OutputFormat::LengthPrefixed),
                "{}: messages of {} are in {}; end the file name in .mcap or .bin",
                self.output.display(),
                channel.topic,
                binary.mime.encoding()
            );
            return Ok(channel);
        }
        channel.definition = match form {
            OutputFormat::Osi | OutputFormat::LengthPrefixed => {
                Definition { name, ..Definition::default() }.into()
            }
            _ => parser::extract_definition(&osi_definitions()?, &name)
                .with_context(|| format!("{fmu}: {}", binary.name))?
                .into(),
        };
        if form == OutputFormat::Mcap {
            let version = version.as_deref().and_then(version::parse);
            let said = [
                (CHANNEL_OSI_VERSION, version.map(version::format_version)),
                (CHANNEL_PROTOBUF_VERSION, self.protobuf_version.map(version::format_version)),
                (CHANNEL_DESCRIPTION, Some(format!("{} of {fmu}", binary.name))),
            ];
            let said = said.into_iter().filter_map(|(key, said)| Some((key.to_owned(), said?)));
            channel.metadata.extend(said);
        }
        Ok(channel)
    }
}

impl TraceRecording<'_> {
    /// Writes a message of a variable, that came at a time of the simulation.
    pub fn take(&mut self, variable: usize, at: Nanoseconds, bytes: &[u8]) -> Result<()> {
        let any_version = self.any_version;
        let track = &mut self.tracks[variable];
        track.messages += 1;
        track.check(at, bytes, any_version);
        let channel = &track.channel;
        let said = match channel.message_encoding.as_str() {
            "protobuf" => Stamp::read(&channel.definition.name, bytes).time,
            _ => None,
        };
        let time = said.or(Some(at));
        let number = match track.number {
            Some(number) => number,
            None => *track.number.insert(self.writer.add_channel(channel)?),
        };
        self.messages += 1;
        self.bytes += bytes.len() as u64;
        let head = MessageInfo {
            channel: number,
            sequence: track.messages,
            time,
            publish_time: time,
            size: bytes.len() as u64,
            place: MessagePosition { at: 0, within: None },
        };
        self.writer.write_message(number, &head, bytes)
    }

    /// Keeps what was recorded, and fails if that ended in an error. Whether all messages
    /// are what they are said to be.
    pub fn finish(self, failed: Option<Error>) -> Result<bool> {
        let TraceRecording { recorder, form, writer, tracks, messages, bytes, .. } = self;
        if messages == 0 {
            return Err(failed.unwrap_or(anyhow!("no step had a message, so nothing was recorded")));
        }
        writer.finish()?;
        for channel in tracks.iter().map(|track| &track.channel) {
            let lacks = !channel.metadata.contains_key(CHANNEL_PROTOBUF_VERSION);
            if form == OutputFormat::Mcap && channel.is_osi() && lacks {
                print_notice(&explain_missing_version(&channel.topic, CHANNEL_PROTOBUF_VERSION));
            }
        }
        let wrong: Vec<&VariableTrack> =
            tracks.iter().filter(|track| track.wrong.count > 0).collect();
        for VariableTrack { channel, wrong, messages, .. } in &wrong {
            print_notice(&escape_short(&format!(
                "channel {}: {} of {messages} messages differ from its declaration; the first is \
                 {}",
                channel.topic, wrong.count, wrong.first
            )));
        }
        print_notice(&format!(
            "{messages} messages of {bytes} bytes in {}",
            recorder.output.display()
        ));
        match failed {
            Some(error) => Err(error.context("the file has everything before that")),
            None => Ok(wrong.is_empty()),
        }
    }
}
