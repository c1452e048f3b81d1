//! A scenario: what is sent over which transports, and who takes part. It is
//! one file (TOML) that all machines share; docs/bus.md describes its keys.

pub mod participants;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{anyhow, ensure, Context, Result};
use serde::Deserialize;
use toml::Spanned;
use wiregauge_participant::control::{Mode, Role, DEFAULT_SILENCE_LIMIT};
use wiregauge_participant::realtime::Realtime;
use wiregauge_system::quantity::parse_bytes;

use crate::background::Background;
use crate::catalogue::{self, TransportEntry};
use crate::link_rate::Rate;
use crate::load::Load;
use crate::machines::party::{Listen, Party};
use crate::run_settings::transport_option::TransportOption;
use crate::run_settings::{RunSettings, DEFAULT_DURATION};
use crate::scenario::participants::{name_participants, Participant};
use crate::toml_file::{self, ErrorChain, Time, TomlError, WithPosition, Words};

/// What is sent over which transports, and who takes part.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Title of the result.
    pub title: String,
    /// Over what.
    pub entries: Vec<TransportEntry>,
    /// What is sent.
    pub loads: Vec<Load>,
    /// How.
    pub terms: RunSettings,
    /// Who takes part: senders, of which the first is the timing master, and receivers.
    pub participants: Vec<(String, Role)>,
    /// Where the machine that leads waits for the others.
    pub listen: SocketAddr,
    /// The job of a launcher whose processes take part. Those of another job may not join,
    /// though their scenario is the same.
    pub job: Option<String>,
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// # Errors
    /// A file that is not there, a key that there is not, a value that cannot
    /// be: the file, the line and what is known instead.
    pub fn read(path: &Path) -> Result<Scenario> {
        toml_file::read(path, Scenario::parse)
    }

    fn parse(text: &str) -> Result<Scenario, TomlError> {
        let file: ScenarioFile = toml::from_str(text)?;
        for name in &file.transports {
            catalogue::select(std::slice::from_ref(name.get_ref())).with_position(name)?;
        }
        let names: Vec<String> = file.transports.into_iter().map(Spanned::into_inner).collect();
        let entries = catalogue::select_or_built_in(&names)?;
        let participants = name_participants(file.participants)?;
        let sends = |one: &&(String, Role)| one.1 == Role::Sender;
        let senders = participants.iter().filter(sends).count();
        let receivers = participants.len() - senders;
        let mut loads: Vec<Load> = Vec::new();
        for sample in &file.loads {
            let &Sample { size: Size(size), cycle: Time(cycle), mode, fast, topics } =
                sample.get_ref();
            let load = Load { size, cycle, mode, fast, receivers, senders, topics };
            load.check().with_position(sample)?;
            if loads.iter().any(|other| other.id() == load.id()) {
                return Err(anyhow!("the load '{}' is given twice", load.id()))
                    .with_position(sample);
            }
            loads.push(load);
        }
        if loads.is_empty() {
            return Err(
                anyhow!("the scenario has no [[load]], so nothing would be sent; add one").into()
            );
        }
        let chosen = file.options.into_iter().flat_map(|(transport, options)| {
            options.into_iter().map(move |(name, Words(value))| TransportOption {
                transport: transport.clone(),
                name,
                value,
            })
        });
        let terms = RunSettings {
            duration: file.duration.0,
            window: file.window.0,
            patience: file.timeout.0,
            announced: file.announce,
            round_trips: file.round_trips,
            alive: file.alive_within.0,
            realtime: Realtime {
                priority: file.priority,
                processors: file.processors,
                locked: file.lock_memory,
            },
            background: match &file.background {
                None => Background::default(),
                Some(table) => {
                    let &BackgroundTable { processors, link } = table.get_ref();
                    Background::new(processors, link.map(|LinkRate(rate)| rate))
                        .with_position(table)?
                }
            },
            seed: file.seed,
            choices: chosen.collect(),
        };
        terms.check(&entries)?;
        let Listen(listen) = file.listen;
        Ok(Scenario { title: file.title, entries, loads, terms, participants, listen, job: None })
    }

    /// Name of the participant whose machine leads: the first sender, which is the timing master.
    pub fn timing_master(&self) -> &str {
        let sender = self.participants.iter().find(|(_, role)| *role == Role::Sender);
        sender.map_or("", |(name, _)| name)
    }

    /// The names by rank: first the senders, then the receivers, in their order.
    pub fn ranked(&self) -> Vec<&str> {
        let mut ranked: Vec<_> = self.participants.iter().collect();
        ranked.sort_by_key(|(_, role)| *role != Role::Sender);
        ranked.into_iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The participants of these names.
    ///
    /// # Errors
    /// A name that the scenario has not, or that is given twice.
    pub fn roles_of(&self, names: &[String]) -> Result<Vec<(String, Role)>> {
        let one = |name: &String| {
            let found = self.participants.iter().find(|(known, _)| known == name);
            found.cloned().with_context(|| {
                let known: Vec<&str> = self.participants.iter().map(|(n, _)| n.as_str()).collect();
                format!("the scenario has no participant '{name}'; it has {}", known.join(", "))
            })
        };
        for (number, name) in names.iter().enumerate() {
            ensure!(!names[..number].contains(name), "'{name}' is given twice");
        }
        names.iter().map(one).collect()
    }

    /// What the machines that share it agree on.
    pub fn party(&self) -> Party {
        Party {
            file: "scenario",
            names: self.ranked().into_iter().map(str::to_owned).collect(),
            content: self.content(),
            listen: self.listen,
            alive: self.terms.alive,
        }
    }

    /// All that it says, by key: two files with the same content are the same
    /// scenario, however they are written.
    pub fn content(&self) -> BTreeMap<String, String> {
        let RunSettings {
            duration,
            window,
            patience,
            announced,
            round_trips,
            alive,
            realtime,
            background,
            seed,
            choices,
        } = &self.terms;
        let entries: Vec<&str> = self.entries.iter().map(|entry| entry.id).collect();
        let loads: Vec<String> = self
            .loads
            .iter()
            .map(|Load { size, cycle, mode, fast, topics, .. }| {
                let fast = if *fast { ", fast" } else { "" };
                let topics = if *topics > 1 { &format!(", {topics} topics") } else { "" };
                format!("{size} B, {cycle:?}, {mode:?}{fast}{topics}")
            })
            .collect();
        let participants: Vec<String> =
            self.participants.iter().map(|(name, role)| format!("{name}: {role:?}")).collect();
        let choices: BTreeSet<String> = choices
            .iter()
            .map(|TransportOption { transport, name, value }| format!("{transport}.{name}={value}"))
            .collect();
        let content = [
            ("title", self.title.clone()),
            ("duration", format!("{duration:?}")),
            ("window", format!("{window:?}")),
            ("timeout", format!("{patience:?}")),
            ("announce", announced.to_string()),
            ("round_trips", round_trips.to_string()),
            ("alive_within", format!("{alive:?}")),
            ("priority, processors, lock_memory", realtime.to_string()),
            ("background", background.to_string()),
            ("seed", seed.to_string()),
            ("transports", entries.join(", ")),
            ("load", loads.join("; ")),
            ("participant", participants.join(", ")),
            ("option", choices.into_iter().collect::<Vec<_>>().join(", ")),
        ];
        let job = self.job.clone().map(|job| ("job", job));
        content.into_iter().chain(job).map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// The file's form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioFile {
    #[serde(default = "title")]
    title: String,
    #[serde(default = "duration")]
    duration: Time,
    #[serde(default = "window")]
    window: Time,
    #[serde(default = "timeout")]
    timeout: Time,
    #[serde(default = "seed")]
    seed: u64,
    #[serde(default)]
    announce: bool,
    #[serde(default = "round_trips")]
    round_trips: u64,
    #[serde(default = "alive_within")]
    alive_within: Time,
    priority: Option<i32>,
    #[serde(default)]
    processors: Vec<usize>,
    #[serde(default)]
    lock_memory: bool,
    background: Option<Spanned<BackgroundTable>>,
    #[serde(default)]
    transports: Vec<Spanned<String>>,
    #[serde(default)]
    listen: Listen,
    #[serde(default, rename = "load")]
    loads: Vec<Spanned<Sample>>,
    #[serde(default, rename = "participant")]
    participants: Vec<Spanned<Participant>>,
    #[serde(default, rename = "option")]
    options: BTreeMap<String, BTreeMap<String, Words>>,
}

fn title() -> String {
    "Samples over a bus".into()
}

fn duration() -> Time {
    Time(DEFAULT_DURATION)
}

fn window() -> Time {
    Time(Duration::from_secs(1))
}

fn timeout() -> Time {
    Time(Duration::from_secs(5))
}

fn round_trips() -> u64 {
    1000
}

fn alive_within() -> Time {
    Time(DEFAULT_SILENCE_LIMIT)
}

fn seed() -> u64 {
    1
}

/// A load as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    size: Size,
    cycle: Time,
    #[serde(default = "continuous")]
    mode: Mode,
    #[serde(default)]
    fast: bool,
    #[serde(default = "one_topic")]
    topics: usize,
}

fn one_topic() -> usize {
    1
}

fn continuous() -> Mode {
    Mode::Continuous
}

/// What loads the hosts, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BackgroundTable {
    processors: Option<usize>,
    link: Option<LinkRate>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "Words")]
struct LinkRate(Rate);

impl TryFrom<Words> for LinkRate {
    type Error = ErrorChain;
    fn try_from(Words(text): Words) -> Result<LinkRate, ErrorChain> {
        text.parse().map(LinkRate).map_err(ErrorChain)
    }
}

#[derive(Deserialize)]
#[serde(try_from = "Words")]
struct Size(usize);

impl TryFrom<Words> for Size {
    type Error = ErrorChain;
    fn try_from(Words(text): Words) -> Result<Size, ErrorChain> {
        parse_bytes(&text).map(Size).map_err(ErrorChain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const LEAST: &str = "\
[[load]]
size = 500
cycle = \"1ms\"

[[participant]]
name = \"a\"
role = \"sender\"

[[participant]]
name = \"b\"
role = \"receiver\"
";

    fn refused(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.toml");
        fs::write(&path, text).unwrap();
        let error = format!("{:#}", Scenario::read(&path).unwrap_err());
        assert_eq!(error.lines().count(), 1, "{error}");
        error.split_once("two.toml:").expect("the file is named").1.to_owned()
    }

    #[test]
    fn the_documented_one_is_one() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/two_hosts.toml");
        let scenario = Scenario::read(&path).unwrap();
        let says = |key: &str| scenario.content()[key].clone();
        assert_eq!(says("transports"), "tcp, dds");
        assert_eq!(says("participant"), "sender: Sender, receiver: Receiver");
        assert_eq!(says("option"), "dds.domain=7");
        assert!(says("load").ends_with("10000000 B, 100ms, Discrete"));
        // And it is whole in the documentation.
        let text = fs::read_to_string(path).unwrap();
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bus.md");
        assert!(fs::read_to_string(docs).unwrap().contains(&text), "docs/bus.md is out of date");
    }

    #[test]
    fn large_clouds_differ_by_library_and_quality_of_service() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/large_clouds.toml");
        let scenario = Scenario::read(&path).unwrap();
        let lossy: Vec<&str> =
            scenario.entries.iter().filter(|row| row.drops).map(|row| row.id).collect();
        let quality = "reliability=best-effort:history=5";
        let [dds, fastdds] = ["dds", "fastdds"].map(|library| format!("{library}:{quality}"));
        assert_eq!(lossy, [&dds, &fastdds, "zenoh-drop", "dds-memory"]);
        assert_eq!((scenario.entries.len(), scenario.loads.len()), (11, 3));
    }

    #[test]
    fn what_is_not_said_is_as_on_the_command_line() {
        let scenario = Scenario::parse(LEAST).ok().unwrap();
        assert_eq!(scenario.loads[0].id(), "500 B, 1 ms, continuous");
        assert_eq!(scenario.content()["transports"], "tcp, memory");
        assert_eq!(scenario.terms.duration, DEFAULT_DURATION);
        assert_eq!(scenario.listen.to_string(), "0.0.0.0:7300");
        assert_eq!(scenario.timing_master(), "a");
    }

    #[test]
    fn several_send_on_several_topics() {
        let several = LEAST
            .replace("cycle", "topics = 10\ncycle")
            .replace("role = \"sender\"", "role = \"sender\"\ncount = 4");
        let scenario = Scenario::parse(&several).ok().unwrap();
        let [load] = scenario.loads[..] else { panic!("{:?}", scenario.loads) };
        assert_eq!((load.senders, load.receivers, load.topics), (4, 1, 10));
        assert_eq!(scenario.ranked(), ["a-0", "a-1", "a-2", "a-3", "b"]);
        let discrete = several.replace("topics = 10", "mode = \"discrete\"");
        assert_eq!(Scenario::parse(&discrete).ok().unwrap().loads[0].senders, 4);
        assert_eq!(scenario.content()["load"], "500 B, 1ms, Continuous, 10 topics");
        assert_eq!(
            Scenario::parse(LEAST).ok().unwrap().content()["load"],
            "500 B, 1ms, Continuous"
        );
        for (from, to, words) in [
            ("topics = 10", "topics = 0", "1 or more topics"),
            ("topics = 10", "topics = 65", "260 topics cannot be measured"),
            ("count = 4", "count = 256", "at most 256 participants"),
        ] {
            let error = refused(&several.replace(from, to));
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn the_same_content_is_the_same_scenario() {
        let content = |text: &str| Scenario::parse(text).ok().unwrap().content();
        let written = LEAST.replace("500", "\"500 B\"").replace("1ms", "1000us");
        assert_eq!(content(LEAST), content(&format!("# a remark\nseed = 1\n{written}")));
        let other = content(&format!("seed = 2\n{LEAST}"));
        assert_ne!(content(LEAST), other);
    }

    #[test]
    fn a_background_is_read_and_what_cannot_be_is_refused_at_its_line() {
        let table = "[background]\nprocessors = 2\nlink = \"200 Mbit/s\"\n";
        let scenario = Scenario::parse(&format!("{table}{LEAST}")).ok().unwrap();
        let Background { processors, link } = scenario.terms.background;
        assert_eq!((processors, link.unwrap().bits), (2, 200_000_000));
        assert!(scenario.content()["background"].starts_with("2 busy loops"));
        let plain = Scenario::parse(LEAST).ok().unwrap();
        assert!(plain.terms.background.is_none());
        assert_ne!(plain.content(), scenario.content());
        for (table, line, words) in [
            ("[background]\n", "1", "needs processors, such as 2, or link"),
            ("[background]\nprocessors = 0\n", "1", "1 to 256 busy loops"),
            ("[background]\nprocessors = -1\n", "2", "invalid value"),
            ("[background]\nlink = \"fast\"\n", "2", "'fast' is not a rate"),
            ("[background]\nnetwork = 1\n", "2", "unknown key `network`"),
        ] {
            let error = refused(&format!("{table}{LEAST}"));
            assert!(error.starts_with(&format!("{line}: ")) && error.contains(words), "{error}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_what_there_is() {
        let error = refused(&format!("title = \"x\"\nduraton = \"1s\"\n{LEAST}"));
        assert!(error.starts_with("2: unknown key `duraton`"), "{error}");
        assert!(error.contains("`duration`") && error.contains("`transports`"), "{error}");
        let error = refused(&LEAST.replace("cycle =", "cicle ="));
        assert!(
            error.starts_with("3: unknown key `cicle`") && error.contains("`cycle`"),
            "{error}"
        );
        let error = refused(&LEAST.replace("role = \"receiver\"", "task = \"receiver\""));
        assert!(error.starts_with("11: unknown key `task`") && error.contains("`role`"), "{error}");
    }

    #[test]
    fn what_it_asks_of_the_system_is_not_tried_by_who_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.toml");
        let asks = "priority = 99\nprocessors = [123456]\nlock_memory = true\n";
        fs::write(&path, format!("{asks}{LEAST}")).unwrap();
        let realtime = Scenario::read(&path).unwrap().terms.realtime;
        assert_eq!(realtime.to_string(), "SCHED_FIFO 99, processors 123456, memory locked");
        let error = format!("{:#}", realtime.check_permissions().unwrap_err());
        assert!(!error.is_empty() && error.lines().count() == 1, "{error}");
        assert!(refused(&format!("priority = 100\n{LEAST}")).contains("1 to 99"));
    }

    #[test]
    fn what_cannot_be_is_refused_at_its_line() {
        for (from, to, line, words) in [
            ("\"1ms\"", "\"soon\"", "3", "'soon' is not a time"),
            ("500", "\"5 parsecs\"", "2", "'parsecs' is not a unit"),
            ("500", "9", "1", "give 10 B or more"),
            ("cycle = \"1ms\"\n", "", "1", "missing key `cycle`"),
            ("\"receiver\"", "\"judge\"", "11", "unknown variant `judge`"),
            ("\"b\"", "\"a\"", "9", "the name 'a' is given twice"),
            ("\"b\"", "\"--b\"", "9", "'--b' is not a valid name"),
            ("[[load]]", "[[load]", "1", ""),
        ] {
            let error = refused(&LEAST.replace(from, to));
            assert!(error.starts_with(&format!("{line}: ")) && error.contains(words), "{error}");
        }
        for (first, line, words) in [
            ("transports = [\"tcp\",\n\"pigeon\"]", "2", "unknown transport 'pigeon'"),
            ("listen = 7300", "1", "'7300' is not ADDRESS:PORT"),
            ("[[load]]\nsize = 500\ncycle = \"1ms\"", "4", "is given twice"),
        ] {
            let error = refused(&format!("{first}\n{LEAST}"));
            assert!(error.starts_with(&format!("{line}: ")) && error.contains(words), "{error}");
        }
        let alone = LEAST.split("[[participant]]").next().unwrap();
        assert!(refused(alone).contains("nobody sends"));
        let sender = LEAST.rsplit_once("[[participant]]").unwrap().0;
        assert!(refused(sender).contains("nobody receives"));
        let silent = LEAST.split_once("\n\n").unwrap().1;
        assert!(refused(silent).contains("no [[load]]"));
        assert!(refused(&format!("duration = \"3s\"\n{LEAST}")).contains("5 windows"));
        assert!(refused(&format!("option.dds.domain = 7\n{LEAST}")).contains("'dds'"));
    }
}
