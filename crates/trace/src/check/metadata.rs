//! The rules for what is said of the whole file.

use super::findings::Findings;
use super::message::MessageStats;
use super::rules;
use crate::channel::{Channel, CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION, OSI_TRACE};
use crate::mcap::Reader;
use crate::read::Reader as _;
use crate::version::{self, Version, VersionRange};

/// Holds the metadata against the rules, once all was read.
pub fn check(reader: &Reader, messages: &MessageStats, findings: &mut Findings) {
    let all = reader.metadata();
    let own: Vec<_> = all.iter().filter(|metadata| metadata.name == OSI_TRACE).collect();
    for metadata in all.iter().filter(|metadata| metadata.name != OSI_TRACE) {
        if metadata.name.starts_with("net.asam.osi") {
            let place = format!("the metadata at byte {}", metadata.at);
            findings.add(&rules::RESERVED, place, &format!("its name is {}", metadata.name));
        }
    }
    let [own] = own[..] else {
        let found = format!("there are {}", own.len());
        return findings.add(&rules::METADATA, "the file".into(), &found);
    };
    let place = || format!("the metadata at byte {}", own.at);
    let mut version = |key: &str| -> Option<Version> {
        match own.entries.get(key) {
            None => findings.add(&rules::METADATA_ENTRY, place(), &format!("no {key}")),
            Some(said) => match version::parse(said) {
                None => findings.add(&rules::VERSION_FORM, place(), &format!("{key} is '{said}'")),
                known => return known,
            },
        }
        None
    };
    version("version");
    let mut span = |what: &str| {
        Some((version(&format!("min_{what}_version"))?, version(&format!("max_{what}_version"))?))
    };
    let (osi, protobuf) = (span("osi"), span("protobuf"));
    let said_by_channels = |key: &str| {
        let mut range = VersionRange::default();
        let osi = reader.channels().values().filter(|channel: &&Channel| channel.is_osi());
        osi.filter_map(|channel| channel.metadata.get(key))
            .for_each(|said| range.include_text(said));
        range
    };
    for (what, span, seen) in [
        ("the messages have OSI", osi, messages.versions()),
        ("the channels have OSI", osi, said_by_channels(CHANNEL_OSI_VERSION)),
        ("the channels have Protobuf", protobuf, said_by_channels(CHANNEL_PROTOBUF_VERSION)),
    ] {
        let (Some((least, most)), Some((first, last))) = (span, seen.ends()) else { continue };
        if first < least || last > most {
            let found = format!(
                "it declares {} to {}, but {what} {} to {}",
                version::format_version(least),
                version::format_version(most),
                version::format_version(first),
                version::format_version(last)
            );
            findings.add(&rules::MESSAGE_VERSION, place(), &found);
        }
    }
    for key in ["zero_time", "creation_time"] {
        if let Some(said) = own.entries.get(key).filter(|said| !is_date(said)) {
            findings.add(&rules::TIME_FORM, place(), &format!("{key} is '{said}'"));
        }
    }
    for key in ["zero_time", "creation_time", "description", "authors", "data_sources"] {
        if !own.entries.contains_key(key) {
            findings.add(&rules::RECOMMENDED, place(), &format!("no {key}"));
        }
    }
}

/// Whether a text is a `dateTimeStamp` of XML Schema 1.1, by the expression that OSI gives:
/// a date, a time and a zone.
fn is_date(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let Some((date, time)) = text.split_once('T') else { return false };
    let date: Vec<&str> = date.split('-').collect();
    let [year, month, day] = date[..] else { return false };
    let is_year = year.len() >= 4 && digits(year) && (year.len() == 4 || !year.starts_with('0'));
    let (time, zone) = match time.strip_suffix('Z') {
        Some(time) => (time, "00:00"),
        None => match time.rfind(['+', '-']) {
            Some(at) => (&time[..at], &time[at + 1..]),
            None => return false,
        },
    };
    is_year && within(month, 1, 12) && within(day, 1, 31) && is_time(time) && is_zone(zone)
}

fn is_time(text: &str) -> bool {
    let (whole, part) = match text.split_once('.') {
        Some((whole, part)) => (whole, Some(part)),
        None => (text, None),
    };
    let parts: Vec<&str> = whole.split(':').collect();
    let [hour, minute, second] = parts[..] else { return false };
    let is_midnight =
        whole == "24:00:00" && part.is_none_or(|part| part.bytes().all(|b| b == b'0'));
    let is_plain = within(hour, 0, 23) && within(minute, 0, 59) && within(second, 0, 59);
    (is_plain || is_midnight) && part.is_none_or(|part| !part.is_empty() && digits(part))
}

fn is_zone(text: &str) -> bool {
    let Some((hour, minute)) = text.split_once(':') else { return false };
    text == "14:00" || within(hour, 0, 13) && within(minute, 0, 59)
}

fn digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a number of two digits from one to another.
fn within(text: &str, least: u32, most: u32) -> bool {
    let number = text.parse().ok().filter(|_| text.len() == 2 && digits(text));
    number.is_some_and(|number: u32| (least..=most).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn dates_are_those_of_xml_schema() {
        for date in [
            "2024-06-03T15:23:22.145000Z",
            "2024-06-03T15:23:22+02:00",
            "-0044-03-15T12:00:00-14:00",
            "12024-06-03T24:00:00.0Z",
        ] {
            assert!(is_date(date), "{date}");
        }
        for text in [
            "2024-06-03T15:23:22",
            "2024-06-03 15:23:22Z",
            "20240603T152322Z",
            "2024-13-03T15:23:22Z",
            "2024-06-03T25:00:00Z",
            "2024-06-03T15:23:22.Z",
            "2024-06-03T15:23:22+15:00",
            "02024-06-03T15:23:22Z",
            "",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }
}
