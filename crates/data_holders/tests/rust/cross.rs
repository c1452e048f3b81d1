//! Reads messages of one wire and writes them on the other, and refuses what is no
//! message: cross FOLDER, which has NNNN.type, NNNN.cdr, NNNN.xcdr2 and NNNN.ros_msg,
//! maybe NNNN.someip, and the same of badNNNN.

use std::fmt::Debug;
use std::fs;

use crate::types;
use crate::wiregauge::{
    self, Cdr, CdrWithHeader, Error, RosMsg, SomeIp, Value, Wire, Xcdr2, Xcdr2WithHeader,
};

/// A type of which there may be views, too.
pub trait Held: Value + PartialEq + Debug {
    /// Holds the view of a message against what was read of it.
    fn hold<W: Wire>(_: &[u8], _: &Result<Self, Error>) {}
}

fn read<W: Wire, T: Held>(bytes: &[u8]) -> Result<T, Error> {
    let read = wiregauge::deserialize::<W, T>(bytes);
    T::hold::<W>(bytes, &read);
    read
}

fn endured<W: Wire, T: Held>(bytes: &[u8], name: &str) {
    endured_by::<W, T>(bytes, name, read::<W, T>);
}

fn endured_by<W: Wire, T: Held>(
    bytes: &[u8],
    name: &str,
    read: impl Fn(&[u8]) -> Result<T, Error>,
) {
    for cut in 0..bytes.len().min(400) {
        assert!(read(&bytes[..cut]).is_err(), "{name}: {cut} bytes are taken for a message");
    }
    for at in 0..bytes.len().min(400) {
        let bad = [!bytes[at], 0, bytes[at].wrapping_add(1)];
        // Of a long message each byte becomes one of them.
        let one = at % bad.len();
        for byte in if bytes.len() < 100 { &bad[..] } else { &bad[one..=one] } {
            let mut damaged = bytes.to_vec();
            damaged[at] = *byte;
            if let Ok(message) = read(&damaged) {
                wiregauge::serialize::<W, T>(&message, &mut damaged)
                    .expect("what was read is written");
            }
        }
    }
}

fn written<W: Wire, T: Value>(message: &T) -> Vec<u8> {
    let mut out = vec![7];
    wiregauge::serialize::<W, T>(message, &mut out).expect("it can be written");
    assert_eq!(wiregauge::size::<W, T>(message), Ok(out.len()));
    out
}

/// Of one message: whether it is one, or is refused on all wires.
pub fn check<T: Held>(name: &str, bad: bool) {
    let cdr = fs::read(format!("{name}.cdr")).expect("CDR");
    let xcdr2 = fs::read(format!("{name}.xcdr2")).expect("XCDR2");
    let ros = fs::read(format!("{name}.ros_msg")).expect("ROS MSG");
    let from_cdr = read::<Cdr, T>(&cdr);
    let from_xcdr2 = read::<Xcdr2, T>(&xcdr2);
    let from_ros = read::<RosMsg, T>(&ros);
    // There are no views of it.
    let someip = fs::read(format!("{name}.someip")).ok();
    let read_someip = wiregauge::deserialize::<SomeIp, T>;
    if bad {
        if let Some(someip) = someip {
            assert!(read_someip(&someip).is_err(), "{name}.someip is taken for a message");
        }
        assert!(
            from_cdr.is_err() && from_xcdr2.is_err() && from_ros.is_err(),
            "{name} is taken for a message"
        );
        return;
    }
    let (from_cdr, from_ros) = (from_cdr.expect("a message"), from_ros.expect("a message"));
    assert_eq!(from_cdr, from_ros, "{name}");
    assert_eq!(from_xcdr2.expect("a message"), from_ros, "{name}");
    assert_eq!(written::<Xcdr2, T>(&from_ros), xcdr2, "{name}");
    let behind = [&[0, 7, 0, 0], xcdr2.as_slice()].concat();
    assert_eq!(written::<Xcdr2WithHeader, T>(&from_ros), behind, "{name}");
    assert_eq!(written::<RosMsg, T>(&from_cdr), ros, "{name}");
    assert_eq!(written::<Cdr, T>(&from_ros), cdr, "{name}");
    let headed = [&[0, 1, 0, 0], cdr.as_slice()].concat();
    assert_eq!(written::<CdrWithHeader, T>(&from_ros), headed, "{name}");
    let other = read::<CdrWithHeader, T>(&[&[0, 0], &headed[2..]].concat());
    assert_eq!(other.err(), Some(Error::NoHeader), "{name}: the other byte order");
    // An object that held another message is used again.
    let mut again = T::default();
    let empty = written::<Cdr, T>(&again);
    for bytes in [&cdr, &empty, &cdr] {
        wiregauge::deserialize_into::<Cdr, T>(bytes, &mut again).expect("a message");
        assert_eq!(&written::<Cdr, T>(&again), bytes, "{name}");
    }
    let empty = written::<Xcdr2WithHeader, T>(&T::default());
    for bytes in [&behind, &empty, &behind] {
        wiregauge::deserialize_into::<Xcdr2WithHeader, T>(bytes, &mut again).expect("a message");
        assert_eq!(&written::<Xcdr2WithHeader, T>(&again), bytes, "{name}");
    }
    let other = read::<Xcdr2WithHeader, T>(&headed);
    assert_eq!(other.err(), Some(Error::NoHeader), "{name}: the header of CDR");
    endured::<Xcdr2, T>(&xcdr2, name);
    endured::<Cdr, T>(&cdr, name);
    endured::<CdrWithHeader, T>(&headed, name);
    endured::<RosMsg, T>(&ros, name);
    let Some(someip) = someip else { return };
    assert_eq!(read_someip(&someip).expect("a message"), from_ros, "{name}.someip");
    assert_eq!(written::<SomeIp, T>(&from_ros), someip, "{name}.someip");
    let empty = written::<SomeIp, T>(&T::default());
    for bytes in [&someip, &empty, &someip] {
        wiregauge::deserialize_into::<SomeIp, T>(bytes, &mut again).expect("a message");
        assert_eq!(&written::<SomeIp, T>(&again), bytes, "{name}.someip");
    }
    endured_by::<SomeIp, T>(&someip, name, read_someip);
}

fn each(folder: &str, bad: bool) -> usize {
    let stem = |at: usize| format!("{folder}/{}{at:04}", if bad { "bad" } else { "" });
    let names = (0..).map(stem).map_while(|name| {
        let kind = fs::read_to_string(format!("{name}.type")).ok()?;
        types::dispatch(&kind, &name, bad);
        Some(())
    });
    names.count()
}

/// Deals with all messages of the folder that the program is called with.
pub fn run() {
    let folder = std::env::args().nth(1).expect("a folder");
    each(&folder, true);
    println!("{}", each(&folder, false));
}
