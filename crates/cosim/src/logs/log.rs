//! Performance logs in SET Level's JSON format, as FMUs write them.
//!
//! Logs of other people's FMUs differ: event ids mean what that file's own
//! `EventTypes` say, the end may be missing because a simulation was aborted,
//! and times are seconds in one and microseconds in another.

use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_system::input;

use crate::logs::lenient_json::{self, Value};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The source begins to generate.
    StartSourceCalc,
    /// A message is serialized from here.
    StartOsiSerialize,
    /// Until here.
    StopOsiSerialize,
    /// A message is deserialized from here.
    StartOsiDeserialize,
    /// Until here.
    StopOsiDeserialize,
}

impl EventKind {
    fn from_name(name: &str) -> Option<EventKind> {
        Some(match name {
            "StartSourceCalc" => EventKind::StartSourceCalc,
            "StartOSISerialize" => EventKind::StartOsiSerialize,
            "StopOSISerialize" => EventKind::StopOsiSerialize,
            "StartOSIDeserialize" => EventKind::StartOsiDeserialize,
            "StopOSIDeserialize" => EventKind::StopOsiDeserialize,
            _ => return None,
        })
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEvent {
    /// What happened.
    pub kind: EventKind,
    /// When, on the machine's clock, in nanoseconds.
    pub global_ns: i128,
    /// When, in the simulation, in nanoseconds.
    pub simulation_ns: i128,
    /// Size of the message in bytes.
    pub size: u64,
}

/// What one FMU wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// Name of the model.
    pub identity: String,
    /// The version of OSI, where it is said.
    pub osi_version: Option<String>,
    /// The events as they stand there.
    pub events: Vec<LogEvent>,
    /// Smallest difference of times that the log can tell, in nanoseconds.
    pub resolution_ns: i128,
    /// What keeps it from being trusted.
    pub flaws: Vec<String>,
}

impl Log {
    /// Whether it is a source's.
    pub fn is_source(&self) -> bool {
        self.has(EventKind::StartSourceCalc)
    }

    /// Whether it is that of a model that makes no message.
    pub fn is_sink(&self) -> bool {
        !self.is_source()
            && !self.has(EventKind::StartOsiSerialize)
            && !self.has(EventKind::StopOsiSerialize)
    }

    fn has(&self, kind: EventKind) -> bool {
        self.events.iter().any(|event| event.kind == kind)
    }
}

/// Reads a file; it may hold the logs of several FMUs.
///
/// # Errors
/// Names the file, what is wrong with it, and what to do.
pub fn read(path: &Path) -> Result<Vec<Log>> {
    let shown = path.display();
    let bytes = input::read(path, LARGEST)?;
    // Whatever is not UTF-8 is in names, which matter little.
    let text = String::from_utf8_lossy(&bytes);
    parse(&text).with_context(|| format!("{shown} is not a performance log"))
}

/// The largest log that is read, in bytes: some five million events.
const LARGEST: u64 = 256 << 20;

/// Fields of an event where the log does not say which it has.
const FIELDS: [&str; 6] =
    ["EventId", "GlobalTime", "SimulationTime", "MessageId", "SizeValueReference", "MessageSize"];

/// Reads a text.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Log>> {
    let loose = lenient_json::parse(text.trim_start_matches('\u{feff}'))
        .map_err(anyhow::Error::msg)
        .context("it is not valid JSON; repair or remove that part")?;
    let header = loose
        .value
        .get("Header")
        .context("it has no \"Header\"; give a log in the format of the SET Level project")?;
    let kinds = event_kinds(header)?;
    let fields: Vec<&str> = header
        .get("EventFields")
        .map(|f| f.list().iter().filter_map(Value::text).collect())
        .filter(|fields: &Vec<&str>| !fields.is_empty())
        .unwrap_or(FIELDS.to_vec());
    let column = |name: &str| {
        fields.iter().position(|field| *field == name).with_context(|| {
            format!("its events have no {name}: EventFields are {}", fields.join(", "))
        })
    };
    let columns = Columns {
        count: fields.len(),
        id: column("EventId")?,
        global: column("GlobalTime")?,
        simulation: column("SimulationTime")?,
        size: column("MessageSize").ok(),
    };
    let (mut logs, mut held) = (Vec::new(), 0);
    for entry in loose.value.get("Data").map(Value::list).unwrap_or_default() {
        let instance = entry.get("Instance");
        let of_instance = |name| instance?.get(name)?.text().map(str::to_owned);
        let mut log = Log {
            identity: of_instance("ModelIdentity").unwrap_or_default(),
            osi_version: of_instance("OsiVersion"),
            events: Vec::new(),
            resolution_ns: 1,
            flaws: Vec::new(),
        };
        if loose.cut {
            log.flaws.push("the end of the file is missing".into());
        }
        let rows = entry.get("OsiEvents").map(Value::list).unwrap_or_default();
        held += rows.len();
        log.fill(rows, &columns, &kinds);
        logs.push(log);
    }
    if logs.iter().all(|log| log.events.is_empty()) {
        let flaws: Vec<&str> = logs.iter().flat_map(|log| &log.flaws).map(String::as_str).collect();
        ensure!(held > 0, "it has no events; was the simulation run?");
        bail!("none of its {held} events is usable: {}", flaws.join(", "));
    }
    logs.retain(|log| !log.events.is_empty());
    Ok(logs)
}

/// Where what stands in an event.
struct Columns {
    count: usize,
    id: usize,
    global: usize,
    simulation: usize,
    size: Option<usize>,
}

/// What the event ids mean: a list of names, or names with their ids.
fn event_kinds(header: &Value) -> Result<Vec<(i128, Option<EventKind>)>> {
    let types = header.get("EventTypes").context("its header has no \"EventTypes\"")?;
    let kinds: Vec<(i128, Option<EventKind>)> = match types {
        Value::Map(fields) => fields
            .iter()
            .filter_map(|(name, id)| {
                Some((Decimal::parse(id.number()?)?.scaled(0)?, EventKind::from_name(name)))
            })
            .collect(),
        _ => types
            .list()
            .iter()
            .enumerate()
            .map(|(id, name)| (id as i128, name.text().and_then(EventKind::from_name)))
            .collect(),
    };
    ensure!(
        kinds.iter().any(|(_, kind)| kind.is_some()),
        "its \"EventTypes\" name no known event, such as StartOSISerialize"
    );
    Ok(kinds)
}

impl Log {
    fn fill(&mut self, rows: &[Value], columns: &Columns, kinds: &[(i128, Option<EventKind>)]) {
        let mut raw = Vec::with_capacity(rows.len());
        let (mut damaged, mut unknown) = (0, 0);
        for row in rows {
            let row = row.list();
            // The last one may have been cut off.
            if row.len() < columns.count {
                damaged += 1;
                continue;
            }
            let number = |at: usize| row[at].number().and_then(Decimal::parse);
            let fields = (number(columns.id), number(columns.global), number(columns.simulation));
            let (Some(id), Some(global), Some(simulation)) = fields else {
                damaged += 1;
                continue;
            };
            let size = match columns.size.map(number) {
                Some(Some(size)) => size.scaled(0).unwrap_or(0),
                Some(None) => {
                    damaged += 1;
                    continue;
                }
                None => 0,
            };
            let id = id.scaled(0);
            match kinds.iter().find(|(known, _)| Some(*known) == id) {
                Some((_, Some(kind))) => raw.push((*kind, global, simulation, size)),
                // Another project's event.
                Some((_, None)) => {}
                None => unknown += 1,
            }
        }
        if damaged > 0 {
            self.flaws.push(format!("{damaged} of {} events are damaged", rows.len()));
        }
        if unknown > 0 {
            self.flaws.push(format!("{unknown} events have ids that are not in its EventTypes"));
        }
        let unit = unit(raw.iter().map(|(_, global, _, _)| global));
        let digits =
            raw.iter().map(|(_, global, ..)| global.decimal_places() - unit).max().unwrap_or(9);
        self.resolution_ns = 10i128.pow((9 - digits).clamp(0, 18) as u32);
        let mut insane = 0;
        for (kind, global, simulation, size) in raw {
            let times = global.scaled(9 + unit).zip(simulation.scaled(9));
            let sane = |ns: &i128| (-MOST_NS..=MOST_NS).contains(ns);
            let times = times.filter(|(global, simulation)| sane(global) && sane(simulation));
            let Some((global_ns, simulation_ns)) = times else {
                insane += 1;
                continue;
            };
            let size = u64::try_from(size).unwrap_or(0);
            self.events.push(LogEvent { kind, global_ns, simulation_ns, size });
        }
        if insane > 0 {
            self.flaws.push(format!("{insane} events have impossible times"));
        }
        self.find_flaws();
    }

    fn find_flaws(&mut self) {
        if self.resolution_ns > 1000 {
            self.flaws.push(format!(
                "its times are multiples of {} µs; make the FMU write microseconds or finer",
                self.resolution_ns / 1000
            ));
        }
        let sizes = || self.events.iter().map(|event| event.size);
        let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        if most == 0 {
            self.flaws.push("it has no message sizes".into());
        } else if least == most && most <= MAX_OBJECT_SIZE {
            self.flaws.push(format!(
                "every message size is {most} B; the FMU probably writes the sizeof of an object"
            ));
        }
        let starts = self.events.iter().map(|event| event.simulation_ns);
        if self.events.len() > 9 && starts.clone().min() == starts.max() {
            self.flaws.push("its simulation time never changes".into());
        }
    }
}

/// Times beyond that, some millions of years, are damage.
const MOST_NS: i128 = 10i128.pow(24);
/// Sizes up to here are those of C++ objects (a pointer, a string, a vector)
/// rather than of messages, if they never change.
const MAX_OBJECT_SIZE: u64 = 64;

/// The unit of times, as a power of ten: 0 for seconds, -6 for microseconds.
///
/// Clocks that count from 1970 tell by their magnitude. Others are taken for
/// seconds where there is a fraction of one, and for microseconds where not.
fn unit<'a>(times: impl Iterator<Item = &'a Decimal> + Clone) -> i32 {
    let most = times.clone().filter_map(|time| time.scaled(0)).map(i128::abs).max().unwrap_or(0);
    match most {
        100_000_000_000_000_000.. => -9,
        100_000_000_000_000.. => -6,
        100_000_000_000.. => -3,
        _ => {
            let whole = times.clone().all(|time| time.is_whole());
            let moves = times.clone().min_by_key(|t| t.scaled(9))
                != times.clone().max_by_key(|t| t.scaled(9));
            if whole && moves && most >= 10_000 {
                -6
            } else {
                0
            }
        }
    }
}

/// A decimal number, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Its digits, as a number.
    digits: i128,
    /// Power of ten by which they are multiplied.
    exponent: i32,
}

impl Decimal {
    /// Reads a number: `1648482698.771`, `1.648e+15`, `-3`.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let negative = mantissa.starts_with('-');
        let mantissa = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut digits: i128 = 0;
        let mut places = 0;
        for (at, digit) in whole.chars().chain(fraction.chars()).enumerate() {
            let digit = i128::from(digit.to_digit(10)?);
            // More than that no clock has; further places are cut off.
            if digits < 10i128.pow(30) {
                digits = digits * 10 + digit;
                places += i32::from(at >= whole.len());
            } else if at < whole.len() {
                return None;
            }
        }
        let exponent = exponent.checked_sub(places)?;
        // No clock is that large or that fine.
        if !(-1000..=1000).contains(&exponent) {
            return None;
        }
        Some(Decimal { digits: if negative { -digits } else { digits }, exponent })
    }

    /// The number times ten to this power, without its fraction.
    pub fn scaled(&self, power: i32) -> Option<i128> {
        if self.digits == 0 {
            return Some(0);
        }
        let exponent = self.exponent.checked_add(power)?;
        match exponent {
            0.. => self.digits.checked_mul(10i128.checked_pow(exponent as u32)?),
            _ => Some(10i128.checked_pow(exponent.unsigned_abs()).map_or(0, |p| self.digits / p)),
        }
    }

    /// Places behind the point that it was written with; negative where not
    /// even the last digit before it was.
    fn decimal_places(&self) -> i32 {
        -self.exponent
    }

    fn is_whole(&self) -> bool {
        self.exponent >= 0
            || 10i128
                .checked_pow(self.exponent.unsigned_abs())
                .is_some_and(|p| self.digits % p == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The excerpt in the report that the format became known by.
    const REPORT: &str = r#"{
  "Header": {
    "OsiMessages": ["osi3::SensorView", "osi3::SensorData"],
    "EventFields": ["EventId", "GlobalTime", "SimulationTime", "MessageId",
          "SizeValueReference", "MessageSize"],
    "EventTypes": ["StartSourceCalc", "StartOSISerialize",
          "StopOSISerialize", "StartOSIDeserialize", "StopOSIDeserialize"],
    "FormatVersion": { "Major": 1, "Minor": 0, "Patch": 0, "PreRelease": "beta" }
  },
  "Data": [
    {
      "Instance": { "ModelIdentity": "OSMPDummySource Flatbuf" },
      "OsiEvents": [
        [0, 1648482698.771, 0.1, 0, 5, 23226752],
        [1, 1648482698.817, 0.1, 0, 5, 23226752],
        [2, 1648482698.83, 0.1, 0, 5, 23226752],
        [0, 1648482698.841, 0.2, 0, 5, 23226752],
        [1, 1648482698.882, 0.2, 0, 5, 23226752],
        [2, 1648482698.891, 0.2, 0, 5, 23226752]
      ]
    }
  ]
}"#;

    #[test]
    fn the_reports_own_log() {
        let [log] = parse(REPORT).unwrap().try_into().unwrap();
        assert_eq!(log.identity, "OSMPDummySource Flatbuf");
        assert!(log.is_source());
        assert_eq!(log.events.len(), 6);
        assert_eq!(
            log.events[2],
            LogEvent {
                kind: EventKind::StopOsiSerialize,
                global_ns: 1_648_482_698_830_000_000,
                simulation_ns: 100_000_000,
                size: 23_226_752,
            }
        );
        assert_eq!(log.resolution_ns, 1_000_000);
        assert_eq!(log.flaws.len(), 1, "{:?}", log.flaws);
    }

    #[test]
    fn a_cut_log_gives_what_it_has() {
        for end in 0..REPORT.len() {
            let Ok(logs) = parse(&REPORT[..end]) else { continue };
            let whole = parse(REPORT).unwrap();
            let events = &logs[0].events;
            assert_eq!(*events, whole[0].events[..events.len()], "{}", &REPORT[..end]);
            assert!(logs[0]
                .flaws
                .iter()
                .any(|flaw| flaw.contains("the end of the file is missing")));
        }
        let cut = &REPORT[..REPORT.find("[1, 1648482698.882").unwrap() + 18];
        assert_eq!(parse(cut).unwrap()[0].events.len(), 4);
    }

    proptest::proptest! {
        #[test]
        fn no_damage_makes_it_panic(
            at in 0..REPORT.len(),
            count in 0..40usize,
            put in "[-0-9eE.,:{}\\[\\]\"\\\\ a-zü]{0,12}",
        ) {
            let mut text = REPORT.to_owned();
            text.replace_range(at..(at + count).min(REPORT.len()), &put);
            if let Ok(logs) = parse(&text) {
                for log in logs {
                    crate::logs::phase::align_steps(crate::logs::phase::steps(&log).0, 3, 0.0, 0.1);
                }
            }
        }
    }

    /// A log of one instance in another dialect.
    fn dialect(types: &str, events: &str) -> Vec<LogEvent> {
        let text = format!(
            r#"{{"Header": {{"EventTypes": {types}}}, "Data": [{{"OsiEvents": [{events}]}}]}}"#
        );
        parse(&text).unwrap().remove(0).events
    }

    #[test]
    fn ids_mean_what_the_file_says() {
        let events = "[0,1.5,0.1,0,0,9],[1,1.6,0.1,0,0,9],";
        let kinds = |types| dialect(types, events).iter().map(|e| e.kind).collect::<Vec<_>>();
        assert_eq!(
            kinds(r#"["StartOSISerialize", "StopOSISerialize"]"#),
            [EventKind::StartOsiSerialize, EventKind::StopOsiSerialize]
        );
        assert_eq!(
            kinds(r#"["StopOSIDeserialize", "SomethingElse"]"#),
            [EventKind::StopOsiDeserialize]
        );
        assert_eq!(
            kinds(r#"{"StartOSIDeserialize": 1, "StartSourceCalc": 0}"#),
            [EventKind::StartSourceCalc, EventKind::StartOsiDeserialize]
        );
    }

    #[test]
    fn units_are_told_by_magnitude() {
        let times = |a: &str, b: &str| {
            let events = format!("[0,{a},0.1,0,0,9],[0,{b},0.2,0,0,9]");
            let events = dialect(r#"["StartSourceCalc"]"#, &events);
            (events[0].global_ns, events[1].global_ns - events[0].global_ns)
        };
        let start = 1_648_482_698_771_123_000;
        assert_eq!(times("1648482698.771123", "1648482698.771124"), (start, 1000));
        assert_eq!(times("1648482698771123.0", "1648482698771124.0"), (start, 1000));
        assert_eq!(times("1.648482698771123e+15", "1648482698771124"), (start, 1000));
        assert_eq!(times("1648482698771123456", "1648482698771123457"), (start + 456, 1));
        assert_eq!(times("1648482698.771123456", "1648482698.771123457"), (start + 456, 1));
        // Clocks that do not count from 1970.
        assert_eq!(times("71.5", "72.0"), (71_500_000_000, 500_000_000));
        assert_eq!(times("7100000.0", "7100005.0"), (7_100_000_000, 5000));
    }

    #[test]
    fn fields_may_stand_in_another_order() {
        let text = r#"{"Header": {"EventTypes": ["StartSourceCalc"],
            "EventFields": ["SimulationTime", "EventId", "MessageSize", "GlobalTime"]},
            "Data": [{"OsiEvents": [[0.1, 0, 77, 5.25]]}]}"#;
        let event = parse(text).unwrap()[0].events[0];
        assert_eq!((event.size, event.global_ns), (77, 5_250_000_000));
    }

    #[test]
    fn known_flaws_are_named() {
        let text = |size: &str| {
            format!(
                r#"{{"Header": {{"EventTypes": ["StartSourceCalc"]}}, "Data": [{{"OsiEvents":
                [[0,1.000001,0.1,0,0,{size}],[0,1.000002,0.2,0,0,{size}],[9,1.0,0.2,0,0,1],[0,1.1]]
                }}]}}"#
            )
        };
        let flaws = |size| parse(&text(size)).unwrap()[0].flaws.join("\n");
        assert!(flaws("8").contains("sizeof"), "{}", flaws("8"));
        assert!(flaws("0").contains("no message sizes"));
        assert!(!flaws("50000").contains("size"));
        assert!(flaws("50000").contains("1 of 4 events are damaged"));
        assert!(flaws("50000").contains("are not in its EventTypes"));
    }

    #[test]
    fn what_is_no_log_is_refused() {
        for (text, word) in [
            ("", "Header"),
            ("[]", "Header"),
            ("hello there", "JSON"),
            (r#"{"Header": {}}"#, "EventTypes"),
            (r#"{"Header": {"EventTypes": ["Lunch"]}}"#, "known"),
            (r#"{"Header": {"EventTypes": ["StartSourceCalc"]}, "Data": []}"#, "no events"),
            (
                r#"{"Header": {"EventTypes": ["StartSourceCalc"]},
                    "Data": [{"OsiEvents": [[0], [0, "x", 1, 2, 3, 4]]}]}"#,
                "none of its 2 events is usable: 2 of 2 events are damaged",
            ),
            (
                r#"{"Header": {"EventTypes": ["StartSourceCalc"], "EventFields": ["EventId"]}}"#,
                "GlobalTime",
            ),
        ] {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn decimals_are_exact() {
        let ns = |text| Decimal::parse(text).and_then(|d| d.scaled(9));
        assert_eq!(ns("0.1"), Some(100_000_000));
        assert_eq!(ns("-1.5"), Some(-1_500_000_000));
        assert_eq!(ns("1e-9"), Some(1));
        assert_eq!(ns("1.0000000000000000000000000000000000000000001"), Some(1_000_000_000));
        assert_eq!(ns("0e99"), Some(0));
        for text in ["", "-", ".", "1e", "x", "1.x", "1e99999999999", "1e-2147483648", "1e1001"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(ns("1e40"), None);
    }
}
