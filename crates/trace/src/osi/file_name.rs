//! The name of a trace file, which tells what the file itself cannot.

use std::path::Path;

use super::types::type_from_code;

/// What a name tells:
/// `<timestamp>_<type>_<osi-version>_<protobuf-version>_<frames>_<custom>.osi`, as OSI 3.8
/// has it. Of names that are made another way the type is told where one part is its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsiFileName {
    /// When it was recorded, as `20210818T150542Z`.
    pub timestamp: Option<String>,
    /// The code of the type: `sv`, or `multi` for MCAP with several.
    pub code: String,
    /// The version of OSI, `3.8.0` of `380`; none where its digits do not tell it.
    pub osi_version: Option<String>,
    /// The digits of the version of Protobuf: `32112` is 3.21.12, and `244` may be 24.4 or
    /// 2.4.4.
    pub protobuf_version: Option<String>,
    /// How many messages it says there are.
    pub frames: Option<u64>,
    /// The last part.
    pub custom: Option<String>,
}

impl OsiFileName {
    /// What the name of a file tells; none where no part of it is the code of a type.
    pub fn parse(path: &Path) -> Option<OsiFileName> {
        let stem = stem(path);
        let parts: Vec<&str> = stem.split('_').collect();
        let is_code = |part: &&str| is_code(&part.to_ascii_lowercase());
        let at = parts.iter().position(is_code)?;
        let digits = |at: usize| {
            let part = parts.get(at)?;
            (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())).then_some(*part)
        };
        let timestamp = at.checked_sub(1).map(|at| parts[at]).filter(|part| is_timestamp(part));
        Some(OsiFileName {
            timestamp: timestamp.map(str::to_owned),
            code: parts[at].to_ascii_lowercase(),
            osi_version: digits(at + 1).and_then(dotted),
            protobuf_version: digits(at + 2).map(str::to_owned),
            frames: digits(at + 3).and_then(|digits| digits.parse().ok()),
            custom: (parts.len() > at + 4).then(|| parts[at + 4..].join("_")),
        })
    }

    /// The type of the messages; none where there are several.
    pub fn type_name(&self) -> Option<&'static str> {
        type_from_code(&self.code)
    }
}

/// What a file is called, without what tells its container and packing.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let packed =
        [".gz", ".xz", ".zst", ".zstd", ".lzma"].iter().find_map(|end| name.strip_suffix(end));
    let name = packed.unwrap_or(&name);
    let plain = [".osi", ".mcap", ".txth"].iter().find_map(|end| name.strip_suffix(end));
    plain.unwrap_or(name).to_owned()
}

fn is_code(part: &str) -> bool {
    part == "multi" || type_from_code(part).is_some()
}

/// `20210818T150542Z`, perhaps with a fraction of a second.
fn is_timestamp(part: &str) -> bool {
    let shape: String = part.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let whole = shape.split('.').next().unwrap_or_default().trim_end_matches('Z');
    whole == "00000000T000000" && shape.ends_with('Z')
}

/// `3.8.0` of `380`, where each part has one digit.
fn dotted(digits: &str) -> Option<String> {
    let parts: Vec<String> = digits.chars().map(String::from).collect();
    (parts.len() == 3).then(|| parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<OsiFileName> {
        OsiFileName::parse(Path::new(text))
    }

    #[test]
    fn the_names_of_the_standard_are_told() {
        let wanted = OsiFileName {
            timestamp: Some("20210818T150542Z".into()),
            code: "sv".into(),
            osi_version: Some("3.1.2".into()),
            protobuf_version: Some("300".into()),
            frames: Some(1523),
            custom: Some("high_way".into()),
        };
        for end in [".osi", ".osi.xz", ".mcap", ""] {
            let text = format!("drives/20210818T150542Z_sv_312_300_1523_high_way{end}");
            assert_eq!(name(&text), Some(wanted.clone()));
        }
        assert_eq!(wanted.type_name(), Some("osi3.SensorView"));
        assert_eq!(name("20240101T000000Z_multi_380_3_5_x.mcap").unwrap().type_name(), None);
    }

    #[test]
    fn other_names_tell_what_they_do() {
        let short = name("highway_gt.osi").unwrap();
        assert_eq!(short.type_name(), Some("osi3.GroundTruth"));
        assert_eq!((short.timestamp, short.osi_version, short.custom), (None, None, None));
        let old = name("20240618T122540Z_SV_340_300_0000_protoBin.osi").unwrap();
        assert_eq!((old.code.as_str(), old.frames), ("sv", Some(0)));
        assert_eq!(name("highway.osi"), None);
    }
}
