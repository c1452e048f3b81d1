//! What a message of OSI says of itself: its version and its time, found by hopping over
//! its fields and not by parsing it.

use crate::read::Nanoseconds;
use crate::wire::{Content, Fields};

/// Version and time of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Major, minor and patch.
    pub version: Option<[u64; 3]>,
    /// Its time stamp.
    pub time: Option<Nanoseconds>,
}

/// The numbers of the fields `version` and `timestamp` in a type of OSI; nearly all types
/// have the same. Of an unknown type it is taken that it is one of these.
fn fields(type_name: &str) -> (u64, Option<u64>) {
    match type_name {
        "osi3.HostVehicleData" => (9, Some(10)),
        "osi3.SensorViewConfiguration" => (1, None),
        _ => (1, Some(2)),
    }
}

impl Stamp {
    /// Of the bytes of a message, or of its first ones: what comes later is not found.
    pub fn read(type_name: &str, message: &[u8]) -> Stamp {
        let (version, timestamp) = fields(type_name);
        let mut stamp = Stamp::default();
        for (number, content) in Fields(message) {
            let Content::Bytes(bytes) = content else { continue };
            if number == version {
                let [major, minor, patch] = numbers(bytes);
                // The fields are required in no version, and zero where they are absent.
                stamp.version = Some([major, minor, patch].map(|part| u64::from(part as u32)));
            } else if Some(number) == timestamp {
                let [seconds, nanos, _] = numbers(bytes);
                let seconds = Nanoseconds::from(seconds as i64);
                stamp.time = Some(seconds * 1_000_000_000 + Nanoseconds::from(nanos as u32));
            }
            if stamp.version.is_some() && stamp.time.is_some() {
                break;
            }
        }
        stamp
    }
}

/// The numbers in the first three fields of a message that has no others.
fn numbers(message: &[u8]) -> [u64; 3] {
    let mut found = [0; 3];
    for (number, content) in Fields(message) {
        if let (1..=3, Content::Number(value)) = (number, content) {
            found[number as usize - 1] = value;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_time_are_found_in_any_order() {
        let version = [0x0a, 6, 8, 3, 16, 8, 24, 1];
        let time = [0x12, 4, 8, 2, 16, 5];
        let other = [0x1a, 2, 1, 1];
        let wanted = Stamp { version: Some([3, 8, 1]), time: Some(2_000_000_005) };
        for message in
            [[&version[..], &time, &other].concat(), [&other[..], &time, &version].concat()]
        {
            assert_eq!(Stamp::read("osi3.GroundTruth", &message), wanted);
        }
        assert_eq!(Stamp::read("osi3.GroundTruth", &other), Stamp::default());
        // Field 10 is time here, and 9 is version.
        let vehicle = [&[0x4a, 2, 8, 3][..], &[0x52, 2, 8, 1]].concat();
        let wanted = Stamp { version: Some([3, 0, 0]), time: Some(1_000_000_000) };
        assert_eq!(Stamp::read("osi3.HostVehicleData", &vehicle), wanted);
    }

    #[test]
    fn a_time_before_zero_is_one() {
        let minus_one = [&[8][..], &[0xff; 9], &[1]].concat();
        let message = [&[0x12, minus_one.len() as u8][..], &minus_one].concat();
        assert_eq!(Stamp::read("osi3.SensorView", &message).time, Some(-1_000_000_000));
    }

    #[test]
    fn what_is_no_message_has_no_stamp() {
        for bytes in [&[0xff; 20][..], &[0x12, 200, 1], &[0x0b], &[], &[0x12, 0xff, 0xff]] {
            assert_eq!(Stamp::read("osi3.SensorView", bytes), Stamp::default());
        }
    }
}
