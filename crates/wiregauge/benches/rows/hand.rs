//! The LiDAR message as a user has it, and what times a program that is written by hand: it
//! does what docs/runner-protocol.md asks for. A call that is not known ahead costs some
//! nanoseconds a message, of which each takes ten microseconds or more.

use std::hint::black_box;
use std::io::{stdin, stdout, BufRead, Read, Write};
use std::time::Instant;

/// What the message says of itself.
#[derive(
    Clone,
    Default,
    bincode::Encode,
    bincode::Decode,
    serde::Serialize,
    serde::Deserialize,
    minicbor::Encode,
    minicbor::Decode,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct Info {
    #[n(0)]
    pub kind: u64,
    #[n(1)]
    pub timestamp: u64,
    #[n(2)]
    pub guid: u64,
}

/// A point, as it lies in FlatBuffers too.
#[repr(C)]
#[derive(
    Clone,
    Default,
    bincode::Encode,
    bincode::Decode,
    serde::Serialize,
    serde::Deserialize,
    minicbor::Encode,
    minicbor::Decode,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct Point {
    #[n(0)]
    pub position: [f32; 3],
    #[n(1)]
    pub intensity: u8,
}

/// The message.
#[derive(
    Clone,
    Default,
    bincode::Encode,
    bincode::Decode,
    serde::Serialize,
    serde::Deserialize,
    minicbor::Encode,
    minicbor::Decode,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct Lidar {
    #[n(0)]
    pub info: Info,
    #[n(1)]
    pub points: Vec<Point>,
}

/// A library, as it is used by hand.
pub trait ByHand {
    /// The library's name.
    const LIBRARY: &'static str;
    /// The library's own form of a message, where it has one.
    type Object: Sized;
    /// Whether it has one: writing and parsing it are then timed too.
    const HAS_OBJECT: bool = false;
    /// A message in the output, which is empty.
    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>);
    /// The bytes in up to two pieces, where the library keeps them.
    fn written<'a>(&'a self, out: &'a [u8]) -> [&'a [u8]; 2] {
        [out, &[]]
    }
    /// A message of bytes.
    fn decode(&mut self, wire: &[u8]) -> Lidar;
    /// The library's form of a message.
    fn fill(_message: &Lidar) -> Self::Object {
        unreachable!("it has an object")
    }
    /// That in the output, which is empty.
    fn write(_object: &Self::Object, _out: &mut Vec<u8>) {}
    /// That of bytes.
    fn parse(_wire: &[u8]) -> Self::Object {
        unreachable!("it has an object")
    }
}

/// Answers until there is no more to answer.
pub fn serve<L: ByHand>(mut library: L) {
    let (mut messages, mut wires, mut out) = (Vec::new(), Vec::new(), Vec::new());
    let mut input = stdin().lock();
    let mut line = String::new();
    while input.read_line(&mut line).expect("input can be read") > 0 {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut payload = Vec::new();
        if matches!(words[0], "schema" | "message" | "decode") {
            payload.resize(words[1].parse().expect("a size"), 0);
            input.read_exact(&mut payload).expect("the payload is there");
        }
        let mut word = "ok";
        let reply = match words[0] {
            "hello" => {
                let parts = if L::HAS_OBJECT { " encode/write decode/parse" } else { "" };
                let library = L::LIBRARY;
                format!("library {library}\nexperiments encode decode{parts}\n").into_bytes()
            }
            "reset" => {
                messages.clear();
                wires.clear();
                Vec::new()
            }
            "schema" => Vec::new(),
            "message" => {
                messages.push(of_canonical(&payload));
                out.clear();
                library.encode(&messages[messages.len() - 1], &mut out);
                wires.push(library.written(&out).concat());
                wires[wires.len() - 1].clone()
            }
            "decode" => canonical(&library.decode(&payload)),
            "values" => {
                values(&library.decode(&wires[words[1].parse::<usize>().expect("a number")]))
            }
            "run" => {
                let times = words[2].parse().expect("a number");
                let (ns, sum) = run(&mut library, words[1], times, &messages, &wires, &mut out);
                let mut reply = format!("ns {ns}\nsum {sum}\n").into_bytes();
                if let Ok(index) = words[words.len() - 1].replace("prove=", "").parse::<usize>() {
                    out.clear();
                    let (name, product) = match words[1] {
                        "encode" | "encode/write" => {
                            library.encode(&messages[index], &mut out);
                            ("encoded", library.written(&out).concat())
                        }
                        _ => ("decoded", canonical(&library.decode(&wires[index]))),
                    };
                    reply.extend(format!("{name} {}\n\n", product.len()).bytes());
                    reply.extend(product);
                }
                reply
            }
            "quit" => return,
            other => {
                word = "error";
                format!("does not answer '{other}'").into_bytes()
            }
        };
        let mut output = stdout().lock();
        write!(output, "{word} {}\n", reply.len()).expect("output can be written");
        output.write_all(&reply).expect("output can be written");
        output.flush().expect("output can be written");
        line.clear();
    }
}

/// What so many messages in turn take, and the bytes of them.
fn run<L: ByHand>(
    library: &mut L,
    experiment: &str,
    times: usize,
    messages: &[Lidar],
    wires: &[Vec<u8>],
    out: &mut Vec<u8>,
) -> (u128, usize) {
    let count = messages.len();
    let mut sum = 0;
    let objects: Vec<L::Object> = match experiment {
        "encode/write" => messages.iter().map(L::fill).collect(),
        _ => Vec::new(),
    };
    let began = Instant::now();
    match experiment {
        "encode" => {
            for n in 0..times {
                out.clear();
                library.encode(black_box(&messages[n % count]), out);
                sum += black_box(library.written(out)).map(<[u8]>::len).iter().sum::<usize>();
            }
        }
        "encode/write" => {
            for n in 0..times {
                out.clear();
                L::write(black_box(&objects[n % count]), out);
                sum += black_box(&out).len();
            }
        }
        "decode" => {
            for n in 0..times {
                black_box(library.decode(black_box(&wires[n % count])));
            }
        }
        _ => {
            for n in 0..times {
                black_box(L::parse(black_box(&wires[n % count])));
            }
        }
    }
    (began.elapsed().as_nanos(), sum)
}

fn of_canonical(bytes: &[u8]) -> Lidar {
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let info = Info { kind: long(0), timestamp: long(8), guid: long(16) };
    let float = |b: &[u8]| f32::from_le_bytes(b.try_into().expect("four bytes"));
    let points = bytes[28..].chunks_exact(13).map(|b| Point {
        position: [float(&b[..4]), float(&b[4..8]), float(&b[8..12])],
        intensity: b[12],
    });
    Lidar { info, points: points.collect() }
}

fn canonical(message: &Lidar) -> Vec<u8> {
    let info = &message.info;
    let mut out = [info.kind, info.timestamp, info.guid].map(u64::to_le_bytes).concat();
    out.extend((message.points.len() as u32).to_le_bytes());
    for point in &message.points {
        out.extend(point.position.map(f32::to_le_bytes).concat());
        out.push(point.intensity);
    }
    out
}

/// All numbers of a message, its guid, and a number of its middle point: each by its sum,
/// count and hash.
fn values(message: &Lidar) -> Vec<u8> {
    let mix = |place: u64, bits: u64| {
        let x = bits.wrapping_add((place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    let Lidar { info, points } = message;
    let all = [info.kind, info.timestamp, info.guid];
    let mut sum: f64 = all.iter().map(|number| *number as f64).sum();
    let inner = (0..).zip(all).fold(0u64, |hash, (place, n)| hash.wrapping_add(mix(place, n)));
    let mut hash = mix(0, inner);
    for point in points {
        let mut inner = mix(1, point.intensity.into());
        for number in point.position {
            sum += f64::from(number);
            inner = inner.wrapping_add(mix(0, number.to_bits().into()));
        }
        sum += f64::from(point.intensity);
        hash = hash.wrapping_add(mix(1, inner));
    }
    let count = 3 + 4 * points.len();
    let mut reply = format!("project {sum} {count} {hash}\n");
    reply += &format!("fixed {} 1 {}\n", info.guid as f64, mix(0, info.guid));
    reply += &match points.get(points.len() / 2) {
        None => "element 0 0 0\n".into(),
        Some(point) => {
            let number = point.position[1];
            format!("element {number} 1 {}\n", mix(0, number.to_bits().into()))
        }
    };
    reply.into_bytes()
}
