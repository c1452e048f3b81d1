//! What a runner answers: lines of `key value`, and bytes behind them. What is
//! shown of it is made safe to show.

use std::collections::BTreeMap;

use wiregauge_system::text::escape_short;

/// What a runner said of itself.
#[derive(Clone, Debug, Default)]
pub struct Hello {
    /// Library and version.
    pub library: String,
    /// The experiments that it can do.
    pub experiments: Vec<String>,
    /// Whether decoding and the reading experiments trust the bytes.
    pub unchecked: bool,
    /// Whether its language has to warm up and collects garbage.
    pub managed: bool,
    /// Whether it compiles while it runs: then no two runs execute the same instructions.
    pub compiles: bool,
    /// Whether it writes and reads messages in memory that another process lends.
    pub in_place: bool,
}

/// How much of a run was the collection of garbage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Collections {
    /// Nanoseconds of all messages.
    pub ns: f64,
    /// Nanoseconds of them in which garbage was collected.
    pub collecting: f64,
}

/// What a run of an experiment brought.
#[derive(Clone, Debug, Default)]
pub struct Epoch {
    /// Nanoseconds of all messages.
    pub ns: f64,
    /// Sum of what came out.
    pub sum: f64,
    /// What the one more iteration read, where it was asked for.
    pub read: Option<NumberDigest>,
    /// The bytes that it encoded.
    pub encoded: Option<Vec<u8>>,
    /// The canonical form of what it decoded.
    pub decoded: Option<Vec<u8>>,
}

/// What a reading experiment finds in a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// The sum of the numbers as 64-bit floats, in any order.
    pub sum: f64,
    /// The numbers, exactly.
    pub numbers: NumberDigest,
}

/// Numbers that were read, by docs/runner-protocol.md's formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberDigest {
    /// How many, lengths of text and octets included.
    pub count: u64,
    /// Hash of all their bits, each in its own field.
    pub hash: u64,
}

/// How a reply begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyStatus {
    /// It was done.
    Ok,
    /// The codec refused.
    Error,
    /// The format cannot say the message.
    Rejected,
}

/// `ok 12`: what came of the request, and how many bytes follow the line.
pub fn parse_head(line: &str) -> Option<(ReplyStatus, u64)> {
    let (word, size) = line.trim_end().split_once(' ')?;
    let word = match word {
        "ok" => ReplyStatus::Ok,
        "error" => ReplyStatus::Error,
        "rejected" => ReplyStatus::Rejected,
        _ => return None,
    };
    Some((word, size.parse().ok()?))
}

/// Why the request was not done.
pub fn error_text(reply: &[u8]) -> String {
    escape_short(String::from_utf8_lossy(reply).trim())
}

/// The answer to `hello`.
///
/// # Errors
/// What it lacks.
pub fn hello(reply: &[u8]) -> Result<Hello, String> {
    let mut words = parse_pairs(reply);
    let missing = |what: &str| format!("its first line lacks '{what}'");
    Ok(Hello {
        library: escape_short(&words.remove("library").ok_or_else(|| missing("library"))?),
        experiments: words
            .remove("experiments")
            .ok_or_else(|| missing("experiments"))?
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        unchecked: words.remove("unchecked").is_some_and(|word| word == "yes"),
        managed: words.remove("managed").is_some_and(|word| word == "yes"),
        compiles: words.remove("compiles").is_some_and(|word| word == "yes"),
        in_place: words.remove("in-place").is_some_and(|word| word == "yes"),
    })
}

/// The answer to `values`: the full projection, the fixed field and the
/// element's field.
///
/// # Errors
/// The line that is none.
pub fn values(reply: &[u8]) -> Result<[Reading; 3], String> {
    let words = parse_pairs(reply);
    let read = |name: &str| {
        let line = words.get(name).map_or("", String::as_str);
        parse_reading(line)
            .ok_or_else(|| format!("'{name} {}', not SUM COUNT HASH,", escape_short(line)))
    };
    Ok([read("project")?, read("fixed")?, read("element")?])
}

/// The answer to `run`.
///
/// # Errors
/// What it lacks.
pub fn epoch(reply: &[u8]) -> Result<Epoch, String> {
    let head = reply.windows(2).position(|pair| pair == b"\n\n").map_or(reply.len(), |at| at + 1);
    let words = parse_pairs(&reply[..head]);
    let (ns, sum) = (number(&words, "ns")?, number(&words, "sum")?);
    let mut epoch = Epoch { ns, sum, ..Epoch::default() };
    let whole = |key: &str| words.get(key).and_then(|text| text.parse::<u64>().ok());
    if let (Some(count), Some(hash)) = (whole("count"), whole("hash")) {
        epoch.read = Some(NumberDigest { count, hash });
    }
    let mut rest = reply.get(head + 1..).unwrap_or_default();
    for (name, product) in [("encoded", &mut epoch.encoded), ("decoded", &mut epoch.decoded)] {
        let Some(size) = whole(name) else { continue };
        let Some((bytes, left)) = rest.split_at_checked(size as usize) else {
            let there = rest.len();
            return Err(format!("announced {size} bytes of '{name}' but sent {there},"));
        };
        *product = Some(bytes.to_vec());
        rest = left;
    }
    Ok(epoch)
}

/// The answer to `allocations`: how many per message, where the runner counts them, and
/// their bytes.
///
/// # Errors
/// The number that is missing.
pub fn allocations(reply: &[u8]) -> Result<(Option<f64>, f64), String> {
    let words = parse_pairs(reply);
    let count = match words.contains_key("allocations") {
        true => Some(number(&words, "allocations")?),
        false => None,
    };
    Ok((count, number(&words, "bytes")?))
}

/// The answer to `cold`: nanoseconds of the process's first encoding and decoding.
///
/// # Errors
/// The number that is missing.
pub fn cold(reply: &[u8]) -> Result<(f64, f64), String> {
    let words = parse_pairs(reply);
    Ok((number(&words, "encode")?, number(&words, "decode")?))
}

/// The answer to `collections`.
///
/// # Errors
/// The number that is missing, or that collecting took longer than all.
pub fn collections(reply: &[u8]) -> Result<Collections, String> {
    let words = parse_pairs(reply);
    let (ns, collecting) = (number(&words, "ns")?, number(&words, "collecting")?);
    match ns > 0.0 && (0.0..=ns).contains(&collecting) {
        true => Ok(Collections { ns, collecting }),
        false => Err(format!("collects garbage for {collecting:e} of {ns:e} ns")),
    }
}

/// Lines of `key value`.
fn parse_pairs(reply: &[u8]) -> BTreeMap<String, String> {
    String::from_utf8_lossy(reply)
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(key, value)| (key.to_owned(), value.trim().to_owned()))
        .collect()
}

fn number(words: &BTreeMap<String, String>, key: &str) -> Result<f64, String> {
    let number = words.get(key).and_then(|text| text.parse().ok());
    number.ok_or_else(|| format!("did not give the number '{key}'"))
}

/// `SUM COUNT HASH`.
fn parse_reading(line: &str) -> Option<Reading> {
    let mut words = line.split_whitespace();
    let sum = words.next()?.parse().ok()?;
    let numbers =
        NumberDigest { count: words.next()?.parse().ok()?, hash: words.next()?.parse().ok()? };
    Some(Reading { sum, numbers })
}
