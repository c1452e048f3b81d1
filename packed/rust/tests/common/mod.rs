//! What several tests need.
#![allow(dead_code)]

pub mod tools;

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use wiregauge_packed::{
    find, pack, unpack, Element, Encoding, Error, Kind, PackOptions, Precision, Reduction, Root,
    UnpackOptions, View,
};

/// The crate's folder.
pub const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Messages of `golden/`, each with the encodings of its narrow form.
pub const GOLDEN: [(&str, &[&str]); 4] = [
    ("SensorView.full", &["doppler_shift=f16", "signal_strength=i16,0,0.125"]),
    ("SensorView.sparse", &["time_of_flight=f64", "object_id=u16"]),
    ("SensorView.regular", &["signal_strength=u16,-60,0.001", "time_of_flight=f32"]),
    (
        "SensorData.detections",
        &["position.azimuth=f16", "position.distance=u8,0,0.1", "classification=u8", "height=f32"],
    ),
];

pub fn golden(name: &str) -> PathBuf {
    Path::new(HERE).join("tests/golden").join(name)
}

/// Whether golden files are to be written anew.
pub fn blessing() -> bool {
    std::env::var_os("WIREGAUGE_BLESS").is_some_and(|value| value == "1")
}

/// Compares with a golden file, or writes it.
pub fn compare(name: &str, bytes: &[u8]) {
    if blessing() {
        fs::write(golden(name), bytes).expect("writable");
    }
    let expected = fs::read(golden(name)).expect("a golden file; WIREGAUGE_BLESS=1 writes it");
    assert!(bytes == expected, "{name} differs; WIREGAUGE_BLESS=1 writes it anew");
}

/// The root message that a golden file's name begins with.
pub fn root(name: &str) -> Root {
    if name.starts_with("SensorView") {
        Root::SensorView
    } else {
        Root::SensorData
    }
}

pub fn build_folder() -> PathBuf {
    let here = Path::new(HERE).join("../../build");
    std::env::var_os("WIREGAUGE_BUILD").map_or(here, PathBuf::from)
}

/// Compiles a C++ program with sanitizers, unless it is there already.
pub fn compile(name: &str, sources: &[&str]) -> PathBuf {
    let tree = Path::new(HERE).join("../..");
    let mut hasher = DefaultHasher::new();
    let headers = ["packed/include/wiregauge/packed.hpp", "packed/fuzz/check.hpp"];
    let others = ["arrow", "codes", "convert", "preset", "reduce"]
        .map(|name| format!("packed/include/wiregauge/packed_{name}.hpp"));
    let others = others.each_ref().map(String::as_str);
    for path in sources.iter().chain(&headers).chain(&others) {
        fs::read(tree.join(path)).expect("a source").hash(&mut hasher);
    }
    let folder = build_folder().join("packed");
    fs::create_dir_all(&folder).expect("a build folder");
    let program = folder.join(format!("{name}-{:016x}", hasher.finish()));
    if !program.exists() {
        // Moved into place when complete: tests run side by side.
        let partial = program.with_extension(std::process::id().to_string());
        let status = Command::new("g++")
            // Optimizing what sanitizers add takes three times as long, and shows nothing more.
            .args(["-std=c++17", "-O0", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion"])
            .args(["-Wsign-conversion", "-Wshadow", "-Werror"])
            .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
            .arg("-I")
            .arg(tree.join("packed/include"))
            .args(sources.iter().map(|source| tree.join(source)))
            .arg("-o")
            .arg(&partial)
            .status()
            .expect("g++");
        assert!(status.success(), "g++ refuses {name}");
        fs::rename(&partial, &program).expect("renamed");
    }
    program
}

/// Runs a program; gives what it prints.
pub fn run(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::LidarReflections => "lidar_reflections",
        Kind::RadarReflections => "radar_reflections",
        Kind::LidarDetections => "lidar_detections",
        Kind::RadarDetections => "radar_detections",
    }
}

pub fn element_name(element: Element) -> String {
    format!("{element:?}").to_lowercase()
}

/// An encoding, as arguments of the tools say it.
pub fn encoding(text: &str) -> Encoding {
    let (name, rest) = text.split_once('=').unwrap();
    let (rest, reduction) = rest.split_once('@').map_or((rest, None), |(rest, how)| {
        let resolution = (how != "exact").then(|| how.parse().unwrap());
        (rest, Some(Reduction { resolution, ..Reduction::exact() }))
    });
    let parts: Vec<&str> = rest.split(',').collect();
    let all = [
        Element::None,
        Element::F64,
        Element::F32,
        Element::F16,
        Element::U64,
        Element::U32,
        Element::U16,
    ]
    .into_iter()
    .chain([Element::U8, Element::I64, Element::I32, Element::I16, Element::I8]);
    let element = all.into_iter().find(|element| element_name(*element) == parts[0]).unwrap();
    let scale = (parts.len() == 3).then(|| (parts[1].parse().unwrap(), parts[2].parse().unwrap()));
    Encoding { name: name.into(), element, scale, reduction }
}

/// What packing has cost, in the words of `tool.cpp` and `tool.py`.
pub fn format_precision(precision: &[Precision]) -> String {
    let lines = precision.iter().map(|Precision { kind, name, element, error, bytes, .. }| {
        let kind = kind.expect("rows of OSI");
        let element = element_name(*element);
        format!("{} {name} {element} {:016x} {bytes}\n", kind_name(kind), error.to_bits())
    });
    lines.collect()
}

/// Everything that a message's packed fields say, a line each: numbers by their
/// bits, so that two readers can be compared.
pub fn dump(root: Root, data: &[u8]) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    for found in find(root, data).expect("a message") {
        line(format!("{} rows {}", kind_name(found.kind), found.rows));
        let Some(field) = found.field else { continue };
        let view = View::open(field).expect("a packed field");
        line(format!("packed rows {}", view.rows()));
        for values in view.columns() {
            let bits = |value: f64| format!("{:016x}", value.to_bits());
            let scale = values
                .scale
                .map_or("-".into(), |(offset, scale)| format!("{} {}", bits(offset), bits(scale)));
            let element = values.element.map_or("?".into(), element_name);
            let optional = if values.bitmap.is_some() { " optional" } else { "" };
            line(format!("column {} {element} {scale}{optional}", values.name));
            for row in 0..values.element.map_or(0, |_| view.rows()) {
                let shown = match values.element {
                    _ if !values.present(row) => "absent".into(),
                    Some(Element::None) => "-".into(),
                    _ => bits(values.value(row)),
                };
                line(format!("  {shown}"));
            }
        }
    }
    out
}

pub fn hash(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |value, &byte| {
        (value ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

pub fn verdict(what: &str, result: Result<Vec<u8>, Error>) -> String {
    match result {
        Ok(bytes) => format!("{what} {} {}\n", bytes.len(), hash(&bytes)),
        Err(Error { fault, number, name }) => {
            format!("{what} {} {number} {name}\n", format!("{fault:?}").to_lowercase())
        }
    }
}

/// What becomes of a message, in the words of `tool.cpp` and `tool.py`.
pub fn verdicts(root: Root, data: &[u8]) -> String {
    let found = find(root, data);
    let mut out = String::new();
    for field in found.iter().flatten().filter_map(|found| found.field) {
        out += &verdict("open", View::open(field).map(|_| Vec::new()));
    }
    out += &verdict("find", found.map(|found| vec![0; found.len()]));
    out += &verdict("pack", pack(root, data, &PackOptions::default()).map(|(bytes, _)| bytes));
    let options = UnpackOptions { limit: 1 << 20, ..UnpackOptions::default() };
    out + &verdict("unpack", unpack(root, data, &options))
}

/// Random numbers of a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// A damaged copy: bits, bytes, words and ends.
pub fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if random.below(4) == 0 {
        out.truncate(random.below(out.len()));
    }
    for _ in 0..=random.below(3) {
        if out.is_empty() {
            break;
        }
        // The heads are where the sense is.
        let end = if random.below(2) == 0 { out.len() } else { out.len().min(400) };
        let at = random.below(end);
        match random.below(4) {
            0 => out[at] ^= 1 << random.below(8),
            1 => out[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            2 => {
                let word = [0, 1, 1 << 31, u32::MAX as u64, 1 << 63, u64::MAX][random.below(6)];
                let size = (out.len() - at).min(8);
                out[at..at + size].copy_from_slice(&word.to_le_bytes()[..size]);
            }
            _ => {
                out.remove(at);
            }
        }
    }
    out
}
