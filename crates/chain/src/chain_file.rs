//! The file of a chain (TOML); docs/chain.md describes its keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, bail, ensure, Result};
use serde::Deserialize;
use toml::Spanned;
use wiregauge_bus::catalogue::{self, TransportEntry};
use wiregauge_bus::machines::party::Listen;
use wiregauge_bus::toml_file::{self, ErrorChain, Time, TomlError, WithPosition, Words};
use wiregauge_codec_run::codec_selection::select_codecs;
use wiregauge_participant::codec_process::CodecTask;
use wiregauge_system::quantity::{parse_rate, parse_speed};

use crate::chain::{Chain, Consider, Hop, MessageSource, Stage};

/// How long a chain is measured unless its file says so.
const DURATION: Duration = Duration::from_secs(30);
/// The speed unless the file says so, in meters per second: 100 km/h.
const SPEED: f64 = 100.0 / 3.6;
/// How many of the best changes are measured unless the file says so.
const CHECKED: usize = 2;
/// Most stages.
const MAX_STAGES: usize = 16;

impl Chain {
    /// Reads the file of a chain.
    ///
    /// # Errors
    /// A file that is not there, a key that there is not, a value that cannot be: the file,
    /// the line and what is known instead.
    pub fn read(path: &Path) -> Result<Chain> {
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        toml_file::read(path, |text| Chain::parse(text, &folder))
    }

    /// Of the text of a file in this folder.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str, folder: &Path) -> Result<Chain, TomlError> {
        let file: ChainFile = toml::from_str(text)?;
        let stages = stages(&file)?;
        let mut hops = Vec::new();
        for (place, hop) in file.hops.iter().enumerate() {
            let parse = || -> Result<Hop> {
                check_ends(hop.get_ref(), place, &stages)?;
                parse_hop(hop.get_ref(), folder)
            };
            hops.push(parse().with_position(hop)?);
        }
        let missing = (stages.len() - 1).saturating_sub(hops.len());
        if missing > 0 {
            let (from, to) = (&stages[hops.len()].name, &stages[hops.len() + 1].name);
            return Err(anyhow!("there is no [[hop]] from '{from}' to '{to}'; add one").into());
        }
        let consider = consider(file.consider, &hops)?;
        let chain = Chain {
            title: file.title,
            speed: file.vehicle_speed.0,
            duration: file.duration.0,
            seed: file.seed,
            stages,
            hops,
            consider,
            listen: file.listen.0,
        };
        chain.processes().map_err(TomlError::from)?;
        chain.with(None, None).map_err(TomlError::from)
    }
}

/// The stages, checked.
fn stages(file: &ChainFile) -> Result<Vec<Stage>, TomlError> {
    let mut stages: Vec<Stage> = Vec::new();
    for (place, written) in file.stages.iter().enumerate() {
        let parse = || -> Result<Stage> {
            let StageKeys { name, rate, work, offset, machine } = written.get_ref();
            ensure!(
                is_name(name),
                "'{name}' is not a valid name; use letters, digits, '-', '_' and '.'"
            );
            ensure!(
                !stages.iter().any(|other| other.name == *name),
                "the name '{name}' is given twice"
            );
            let first = file.stages.first().and_then(|first| first.get_ref().machine.as_ref());
            ensure!(
                machine.is_some() == first.is_some(),
                "some stages name a machine and some do not; name that of each, or none"
            );
            ensure!(
                machine.as_ref().is_none_or(|name| is_name(name)),
                "a machine's name has letters, digits, '-', '_' and '.'"
            );
            let period = rate.map_or(0, |Rate(rate)| (1e9 / rate).round() as u64);
            ensure!(
                place > 0 || period > 0,
                "the first stage needs a rate: how often does '{name}' take a sample?"
            );
            let offset = offset.map(|Time(offset)| offset.as_nanos() as u64);
            ensure!(
                offset.is_none_or(|offset| offset < period),
                "'offset' must be shorter than the cycle of the stage, which a 'rate' gives"
            );
            let work = work.map_or(0, |Time(work)| work.as_nanos() as u64);
            ensure!(
                period == 0 || work < period,
                "'{name}' works longer than its cycle, so that it is never in time"
            );
            Ok(Stage { name: name.clone(), period, offset, work, machine: machine.clone() })
        };
        stages.push(parse().with_position(written)?);
    }
    if !(2..=MAX_STAGES).contains(&stages.len()) {
        let what = format!(
            "a chain has 2 to {MAX_STAGES} stages, but there are {}; add a [[stage]] for each",
            stages.len()
        );
        return Err(anyhow!(what).into());
    }
    Ok(stages)
}

fn is_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.chars().all(legal) && !name.is_empty()
}

/// Whether a hop leads from its stage to the next.
fn check_ends(hop: &HopKeys, place: usize, stages: &[Stage]) -> Result<()> {
    let Some([from, to]) = stages.get(place..place + 2) else {
        bail!("this is one [[hop]] too many: there is one from each stage to the next");
    };
    for (said, is, end) in [(&hop.from, from, "from"), (&hop.to, to, "to")] {
        let Some(said) = said else { continue };
        ensure!(
            *said == is.name,
            "{end} = \"{said}\", but this hop is from '{}' to '{}': hops stand in the order of \
             the stages, and a chain has no branches",
            from.name,
            to.name
        );
    }
    Ok(())
}

fn parse_hop(keys: &HopKeys, folder: &Path) -> Result<Hop> {
    let message = match (&keys.message, &keys.recording) {
        (Some(message), None) => {
            ensure!(keys.channel.is_none(), "'channel' is for a 'recording'");
            let lengths = keys.length.iter().map(|(path, length)| (path.clone(), *length));
            MessageSource::Definition(in_folder(message, folder), lengths.collect())
        }
        (None, Some(recording)) => {
            ensure!(keys.length.is_empty(), "'length' is for generated values of a 'message'");
            let path = PathBuf::from(in_folder(recording, folder));
            MessageSource::Recording(path, keys.channel.clone())
        }
        _ => bail!(
            "a hop carries a message = \"lidar\" or \"FILE[:TYPE]\", or the messages of a \
             recording = \"FILE\"; give one of them"
        ),
    };
    check_codec(&keys.codec)?;
    let transport = find_transport(&keys.transport)?;
    Ok(Hop { message, codec: keys.codec.clone(), transport, read: keys.read.task() })
}

/// A file as the chain names it, from the folder that the chain is in.
fn in_folder(name: &str, folder: &Path) -> String {
    match ["lidar", "rsb"].contains(&name) {
        true => name.into(),
        false => folder.join(name).display().to_string(),
    }
}

fn check_codec(name: &str) -> Result<()> {
    let found = select_codecs(&[name.to_owned()], &[])?;
    let is_choice = found.iter().any(|codec| codec.name == name && !codec.is_bound);
    ensure!(is_choice, "'{name}' is a bound and no codec to choose");
    Ok(())
}

fn find_transport(name: &str) -> Result<TransportEntry> {
    let found = catalogue::select(&[name.to_owned()])?;
    let found = found.into_iter().find(|entry| entry.id == name);
    found.ok_or_else(|| anyhow!("no transport '{name}'"))
}

fn consider(keys: ConsiderKeys, hops: &[Hop]) -> Result<Consider, TomlError> {
    let mut codecs: Vec<String> = Vec::new();
    match keys.codecs {
        Some(names) => {
            for name in names {
                check_codec(name.get_ref()).with_position(&name)?;
                codecs.push(name.into_inner());
            }
        }
        None => codecs.extend(hops.iter().map(|hop| hop.codec.clone())),
    }
    let mut transports: Vec<TransportEntry> = Vec::new();
    match keys.transports {
        Some(names) => {
            for name in names {
                transports.push(find_transport(name.get_ref()).with_position(&name)?);
            }
        }
        None => transports.extend(hops.iter().map(|hop| hop.transport)),
    }
    codecs.sort();
    codecs.dedup();
    transports.sort_by_key(|entry| entry.id);
    transports.dedup_by_key(|entry| entry.id);
    let faster = keys.faster.unwrap_or_else(|| vec![Spanned::new(0..0, 2.0)]);
    for factor in &faster {
        let check = || -> Result<()> {
            let factor = *factor.get_ref();
            ensure!(
                (1.0..=1000.0).contains(&factor) && factor > 1.0,
                "a stage may be 1 to 1000 times as fast, not {factor}"
            );
            Ok(())
        };
        check().with_position(factor)?;
    }
    let reads = keys.reads.unwrap_or_default().into_iter().map(Read::task).collect();
    Ok(Consider {
        codecs,
        transports,
        reads,
        faster: faster.into_iter().map(Spanned::into_inner).collect(),
        check: keys.check.unwrap_or(CHECKED),
    })
}

/// The file's form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChainFile {
    #[serde(default = "title")]
    title: String,
    #[serde(default = "vehicle_speed")]
    vehicle_speed: Speed,
    #[serde(default = "duration")]
    duration: Time,
    #[serde(default = "seed")]
    seed: u64,
    #[serde(default)]
    listen: Listen,
    #[serde(default, rename = "stage")]
    stages: Vec<Spanned<StageKeys>>,
    #[serde(default, rename = "hop")]
    hops: Vec<Spanned<HopKeys>>,
    #[serde(default)]
    consider: ConsiderKeys,
}

fn title() -> String {
    "A chain from the sensor to the actuator".into()
}

fn vehicle_speed() -> Speed {
    Speed(SPEED)
}

fn duration() -> Time {
    Time(DURATION)
}

fn seed() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StageKeys {
    name: String,
    rate: Option<Rate>,
    work: Option<Time>,
    offset: Option<Time>,
    machine: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HopKeys {
    from: Option<String>,
    to: Option<String>,
    message: Option<String>,
    recording: Option<String>,
    channel: Option<String>,
    #[serde(default)]
    length: BTreeMap<String, usize>,
    codec: String,
    transport: String,
    #[serde(default)]
    read: Read,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConsiderKeys {
    codecs: Option<Vec<Spanned<String>>>,
    transports: Option<Vec<Spanned<String>>>,
    reads: Option<Vec<Read>>,
    faster: Option<Vec<Spanned<f64>>>,
    check: Option<usize>,
}

/// What the receiver does with the bytes.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Read {
    #[default]
    Decode,
    Project,
    Fixed,
}

impl Read {
    fn task(self) -> CodecTask {
        match self {
            Read::Decode => CodecTask::Decode,
            Read::Project => CodecTask::Project,
            Read::Fixed => CodecTask::Fixed,
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "Words")]
struct Rate(f64);

impl TryFrom<Words> for Rate {
    type Error = ErrorChain;
    fn try_from(Words(text): Words) -> Result<Rate, ErrorChain> {
        parse_rate(&text).map(Rate).map_err(ErrorChain)
    }
}

#[derive(Deserialize)]
#[serde(try_from = "Words")]
struct Speed(f64);

impl TryFrom<Words> for Speed {
    type Error = ErrorChain;
    fn try_from(Words(text): Words) -> Result<Speed, ErrorChain> {
        parse_speed(&text).map(Speed).map_err(ErrorChain)
    }
}

/// Chains for tests.
#[cfg(test)]
pub mod tests_support {
    use super::*;

    /// A chain of stages with these cycles in milliseconds, over TCP.
    pub fn chain(periods: &[u64]) -> Chain {
        let mut text = String::new();
        for (place, period) in periods.iter().enumerate() {
            text += &format!("[[stage]]\nname = \"s{place}\"\n");
            if *period > 0 {
                text += &format!("rate = {}\n", 1000.0 / *period as f64);
            }
        }
        let hop = "[[hop]]\nmessage = \"lidar\"\ncodec = \"prost\"\ntransport = \"tcp\"\n";
        text += &hop.repeat(periods.len() - 1);
        Chain::parse(&text, Path::new("")).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGES: &str =
        "[[stage]]\nname = \"lidar\"\nrate = \"10Hz\"\n[[stage]]\nname = \"fusion\"\n";
    const HOP: &str = "[[hop]]\nmessage = \"lidar\"\ncodec = \"prost\"\ntransport = \"tcp\"\n";

    fn read(text: &str) -> Result<Chain> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.toml");
        std::fs::write(&path, text).unwrap();
        Chain::read(&path)
    }

    #[test]
    fn the_least_is_enough() {
        let chain = read(&format!("{STAGES}{HOP}")).unwrap();
        assert_eq!((chain.stages[0].period, chain.stages[1].period), (100_000_000, 0));
        assert_eq!(chain.hops[0].read, CodecTask::Decode);
        assert!((chain.speed - 27.78).abs() < 0.01);
        assert_eq!(
            (chain.hop_title(0).as_str(), chain.period_at(1)),
            ("lidar to fusion", 100_000_000)
        );
    }

    #[test]
    fn the_example_is_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/chain.toml");
        let chain = Chain::read(&path).unwrap();
        assert_eq!((chain.stages.len(), chain.hops.len()), (4, 3));
        assert_eq!(chain.consider.reads, [CodecTask::Fixed]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_line() {
        let hop = |extra: &str| format!("{STAGES}{HOP}{extra}");
        let apart = |second: &str, transport: &str| {
            let stages = STAGES.replace("\"10Hz\"\n", "10\nmachine = \"front\"\n");
            let hop = HOP.replace("tcp", transport);
            format!("{stages}machine = \"{second}\"\n{hop}")
        };
        for (text, words) in [
            ("", "2 to 16 stages"),
            (STAGES, "no [[hop]] from 'lidar' to 'fusion'"),
            (&hop(HOP), "chain.toml:10: this is one [[hop]] too many"),
            (&hop("to = \"planner\"\n"), "chain.toml:6: to = \"planner\""),
            (&hop("color = 3\n"), "unknown key `color`"),
            (&hop("read = \"all\"\n"), "chain.toml:10: "),
            (&hop("channel = \"/a\"\n"), "'channel' is for a 'recording'"),
            (&hop("recording = \"a.mcap\"\n"), "give one of them"),
            (&hop("").replace("prost", "semaphore"), "unknown codec 'semaphore'"),
            (&hop("").replace("tcp", "pigeon"), "unknown transport 'pigeon'"),
            (&hop("").replace("prost", "noop"), "is a bound"),
            (&hop("").replace("10Hz", "often"), "chain.toml:3: 'often' is not a rate"),
            (&hop("").replace("rate = \"10Hz\"\n", ""), "the first stage needs a rate"),
            (&hop("").replace("\"10Hz\"\n", "10\nwork = \"1s\"\n"), "works longer than its cycle"),
            (&hop("").replace("\"10Hz\"\n", "10\noffset = \"1s\"\n"), "'offset' must be shorter"),
            (&hop("").replace("fusion", "lidar"), "the name 'lidar' is given twice"),
            (&hop("").replace("\"10Hz\"\n", "10\nmachine = \"a\"\n"), "some stages name a machine"),
            (&apart("a b", "tcp"), "a machine's name has letters"),
            (
                &apart("rear", "iceoryx2"),
                "are on two machines, but iceoryx2 works within one machine",
            ),
            (&apart("rear", "memory"), "works within one process only"),
            (&format!("listen = 7\n{}", hop("")), "chain.toml:1: '7' is not ADDRESS:PORT"),
            (&format!("duration = \"1ms\"\n{STAGES}{HOP}"), "too short"),
            (
                &format!("vehicle_speed = \"fast\"\n{STAGES}{HOP}"),
                "chain.toml:1: 'fast' is not a speed",
            ),
            (&hop("[consider]\nfaster = [1]\n"), "chain.toml:11: a stage may be"),
            (&hop("[consider]\ncodecs = [\"x\"]\n"), "chain.toml:11: unknown codec 'x'"),
        ] {
            let error = format!("{:#}", read(text).expect_err(words));
            assert!(error.contains(words) && !error.contains('\n'), "{words}: {error}");
        }
    }

    #[test]
    fn stages_run_on_the_machines_that_the_file_names() {
        let stage = |name: &str, machine: &str| {
            format!("[[stage]]\nname = \"{name}\"\nrate = 10\nmachine = \"{machine}\"\n")
        };
        let stages = [("a", "front"), ("b", "rear"), ("c", "rear"), ("d", "front")];
        let stages: String = stages.iter().map(|(name, machine)| stage(name, machine)).collect();
        let chain = read(&format!("{stages}{}", HOP.repeat(3))).unwrap();
        assert!(chain.has_several_machines());
        assert_eq!(
            (chain.machines(), chain.stages_on("rear")),
            (vec!["front", "rear"], vec!["b".to_owned(), "c".to_owned()])
        );
        assert_eq!(chain.listen, "0.0.0.0:7300".parse().unwrap());
        let one = read(&format!("{}{HOP}", stage("a", "x") + &stage("b", "x"))).unwrap();
        assert!(!one.has_several_machines());
    }

    #[test]
    fn a_process_has_one_engine() {
        let three = format!("{STAGES}[[stage]]\nname = \"planner\"\n{HOP}{HOP}");
        let over = |first: &str, second: &str| {
            let text = three.replacen("\"tcp\"", &format!("\"{first}\""), 1);
            read(&text.replacen("\"tcp\"", &format!("\"{second}\""), 1))
        };
        let processes = |chain: Chain| {
            let plans = chain.processes().unwrap().into_iter();
            plans.map(|plan| plan.stages.len()).collect::<Vec<_>>()
        };
        assert_eq!(processes(over("memory", "tcp").unwrap()), [2, 1]);
        assert_eq!(processes(over("memory", "memory").unwrap()), [3]);
        assert_eq!(processes(over("iceoryx2", "iceoryx2").unwrap()), [1, 1, 1]);
        for (first, second) in [("zenoh", "iceoryx2"), ("memory", "iceoryx2")] {
            let error = format!("{:#}", over(first, second).unwrap_err());
            assert!(error.contains("in one process"), "{error}");
        }
    }
}
