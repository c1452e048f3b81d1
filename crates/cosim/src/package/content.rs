//! Whether a message looks like what its MIME type declares, by its first
//! bytes. Whoever wants to know more must decode it.

use crate::package::mime::Mime;

/// Says what a message of that size, of which these are the first bytes, is instead
/// of what it is declared to be. The version that it carries must be the declared one
/// unless `any_version`.
///
/// # Errors
/// Says how the two differ.
pub fn check_head(mime: &Mime, size: u64, head: &[u8], any_version: bool) -> Result<(), String> {
    if !mime.is_osi() || size == 0 {
        return Ok(());
    }
    let encoding = mime.encoding();
    if encoding.starts_with("flatbuffers") {
        // The root's place in the buffer comes first.
        let root = head.first_chunk().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
        return match root {
            Some(root) if root >= 4 && root + 4 <= size => Ok(()),
            _ => Err(format!(
                "declares the encoding {encoding}, but its message is not a FlatBuffer"
            )),
        };
    }
    if encoding != "protobuf" && encoding != "packed" {
        return Ok(());
    }
    let no_protobuf =
        || format!("declares the encoding {encoding}, but its message is not Protobuf");
    let mut bytes = head;
    let tag = varint(&mut bytes).ok_or_else(no_protobuf)?;
    if tag >> 3 == 0 || ![0, 1, 2, 5].contains(&(tag & 7)) {
        return Err(no_protobuf());
    }
    // What lies behind the first tag must fit into the message.
    let mut value = bytes;
    let wanted = match tag & 7 {
        0 => varint(&mut value).map(|_| 0),
        1 => Some(8),
        2 => varint(&mut value),
        _ => Some(4),
    };
    let behind = value.len() as u64 + size.saturating_sub(head.len() as u64);
    if wanted.is_none_or(|wanted| wanted > behind) {
        return Err(no_protobuf());
    }
    // OSI's messages have their version in field 1.
    if tag == 0x0a {
        let version = varint(&mut bytes)
            .and_then(|length| bytes.get(..usize::try_from(length).ok()?))
            .and_then(version);
        if let (Some(version), Some(declared), false) = (version, &mime.version, any_version) {
            if version != *declared {
                return Err(format!(
                    "declares OSI {declared}, but its message says {version} (--any-version \
                     accepts that)"
                ));
            }
        }
    }
    Ok(())
}

/// The same of a whole message.
///
/// # Errors
/// Says how the two differ.
pub fn check_message(mime: &Mime, bytes: &[u8], any_version: bool) -> Result<(), String> {
    check_head(mime, bytes.len() as u64, bytes, any_version)
}

/// The message InterfaceVersion: `3.8.0`.
fn version(mut bytes: &[u8]) -> Option<String> {
    let mut numbers = [0; 3];
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let place = usize::try_from(tag >> 3).ok()?.checked_sub(1)?;
        (tag & 7 == 0).then_some(())?;
        *numbers.get_mut(place)? = varint(&mut bytes)?;
    }
    let [major, minor, patch] = numbers;
    Some(format!("{major}.{minor}.{patch}"))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(encoding: &str, head: &[u8], any_version: bool) -> Result<(), String> {
        let mime = format!(
            "application/x-open-simulation-interface; type=SensorView; version=3.8.0; \
             encoding={encoding}"
        );
        check_message(&Mime::parse(&mime).unwrap(), head, any_version)
    }

    #[test]
    fn versions_are_held_against_the_declaration() {
        let good = [0x0a, 6, 8, 3, 16, 8, 24, 0, 0x12, 0];
        assert_eq!(checked("protobuf", &good, false), Ok(()));
        let mut old = good;
        old[5] = 7;
        let error = checked("packed", &old, false).unwrap_err();
        assert!(error.contains("3.8.0") && error.contains("3.7.0"), "{error}");
        assert_eq!(checked("packed", &old, true), Ok(()));
        // Another message has something else there, and no version is fine.
        assert_eq!(checked("protobuf", &[0x0a, 1, b'x'], false), Ok(()));
        assert_eq!(checked("protobuf", &[0x12, 0], false), Ok(()));
    }

    #[test]
    fn encodings_are_told_apart() {
        for bytes in [&[0, 0, 0, 0][..], b"\n\n\n", &[0x0a], &[0x08], &[0x09, 1], &[0x12, 1]] {
            assert!(checked("protobuf", bytes, false).is_err(), "{bytes:?}");
        }
        // All of a large message is not in its head.
        let mime = Mime::parse("application/x-open-simulation-interface; type=SensorView").unwrap();
        let large = [0x12, 0x80, 1];
        assert_eq!(check_head(&mime, 131, &large, false), Ok(()));
        assert!(check_head(&mime, 130, &large, false).is_err());
        assert!(checked("flatbuffers-tables", &[0x0a, 6, 8, 3, 16, 8, 24, 0], false).is_err());
        let mut buffer = [0; 24];
        buffer[0] = 16;
        assert_eq!(checked("flatbuffers-tables", &buffer, false), Ok(()));
        assert_eq!(checked("a-private-one", &[9, 9], false), Ok(()));
    }
}
