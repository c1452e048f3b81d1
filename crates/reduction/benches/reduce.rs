//! What reducing costs and saves, as ratios within one run.
//!
//!     cargo bench -p wiregauge-reduction --bench reduce                    a generated scene
//!     cargo bench -p wiregauge-reduction --bench reduce -- FILE [CHANNEL]  points of a file, as reflections
//!
//! All take turns; the median of the turns counts. `varints` is the plainest delta
//! coder that there is, in place of peers: differences of the same steps, zigzag,
//! as varints, both columns of a row behind one another.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{bail, Context, Result};
use wiregauge_packed::{Column, Layout, Plan, Reduced, Reduction, View};
use wiregauge_points::Values;
use wiregauge_reduction::load::{load_file, load_scene, LoadOptions, TableSeries};

const TURNS: usize = 31;
/// 1 mm there and back, in s.
const TIME: f64 = 6.67e-12;
/// dB.
const SIGNAL: f64 = 0.1;

/// A scan's columns: time of flight in s, signal strength in dB.
struct Scan {
    time: Vec<f64>,
    signal: Vec<f64>,
}

fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    match scan(&words) {
        Ok(scan) => {
            report(&scan);
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why:#}");
            ExitCode::FAILURE
        }
    }
}

/// The first points of what is wanted, as reflections.
fn scan(words: &[String]) -> Result<Scan> {
    let plan = Plan::default();
    let wish = LoadOptions {
        channels: words.get(1..).unwrap_or_default(),
        columns: &[],
        messages: 1,
        reflections: true,
        plan: &plan,
    };
    let loads: Vec<TableSeries> = match words.first() {
        None => vec![load_scene(&wish, 1)?],
        Some(file) => load_file(file.as_ref(), &wish)?,
    };
    let table =
        loads.first().and_then(|load| load.tables.first()).context("there are no points")?;
    let column = |name: &str| match table.columns.iter().find(|column| column.name == name) {
        Some(column) => match &column.values {
            Values::F64(values) => Ok(values.clone()),
            _ => bail!("{name} is no f64"),
        },
        None => bail!("there is no {name}"),
    };
    Ok(Scan { time: column("time_of_flight")?, signal: column("signal_strength")? })
}

/// One way of keeping the two columns.
struct Method {
    name: &'static str,
    size: usize,
    compressed: usize,
    error: [f64; 2],
    encode: Vec<f64>,
    decode: Vec<f64>,
}

fn report(scan: &Scan) {
    let rows = scan.time.len();
    let f64s = 16.0 * rows as f64;
    let resolution = [TIME, SIGNAL].map(Reduction::resolution);
    let whole = resolution.map(Reduction::in_whole_bytes);
    let reductions =
        [("steps", resolution), ("steps, whole bytes", whole), ("exact", [Reduction::exact(); 2])];
    let mut ways: Vec<Method> = ["memcpy", "varints"]
        .into_iter()
        .chain(reductions.iter().map(|(name, _)| *name))
        .map(|name| Method {
            name,
            size: 0,
            compressed: 0,
            error: [0.0; 2],
            encode: Vec::new(),
            decode: Vec::new(),
        })
        .collect();
    let mut out = [vec![0.0; rows], vec![0.0; rows]];
    for turn in 0..TURNS {
        for at in 0..ways.len() {
            let at = (at + turn) % ways.len();
            let way = &mut ways[at];
            let bytes = match at {
                0 => copy(scan, &mut out, way),
                1 => varints(scan, &mut out, way),
                _ => reduce(scan, &reductions[at - 2].1, &mut out, way),
            };
            if turn == 0 {
                way.size = bytes.len();
                way.compressed = zstd::bulk::compress(&bytes, 1).map_or(0, |bytes| bytes.len());
                way.error = [largest(&scan.time, &out[0]), largest(&scan.signal, &out[1])];
            }
        }
    }
    let copied = median(&ways[0].decode);
    let plain = (ways[1].size as f64, ways[1].compressed as f64);
    println!("{rows} rows of time of flight and signal strength, {TIME:e} s and {SIGNAL} dB");
    println!(
        "{:20} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>9} {:>9}",
        "",
        "B/row",
        "of f64",
        "varints",
        "+zstd",
        "varints",
        "enc GB/s",
        "dec",
        "memcpy",
        "err s",
        "err dB"
    );
    for way in &ways {
        let (encode, decode) = (median(&way.encode), median(&way.decode));
        println!(
            "{:20} {:7.3} {:7.2}x {:8.2} {:8.3} {:8.2} {:8.2} {:7.2} {:7.2} {:9.2e} {:9.2e}",
            way.name,
            way.size as f64 / rows as f64,
            f64s / way.size as f64,
            way.size as f64 / plain.0,
            way.compressed as f64 / rows as f64,
            way.compressed as f64 / plain.1,
            f64s * 1e-9 / encode,
            f64s * 1e-9 / decode,
            copied / decode,
            way.error[0],
            way.error[1],
        );
    }
}

fn largest(given: &[f64], back: &[f64]) -> f64 {
    given.iter().zip(back).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn median(samples: &[f64]) -> f64 {
    let mut samples = samples.to_vec();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn copy(scan: &Scan, out: &mut [Vec<f64>; 2], way: &mut Method) -> Vec<u8> {
    for times in [&mut way.encode, &mut way.decode] {
        let begin = Instant::now();
        out[0].copy_from_slice(black_box(&scan.time));
        out[1].copy_from_slice(black_box(&scan.signal));
        times.push(begin.elapsed().as_secs_f64());
        black_box(&out);
    }
    scan.time.iter().chain(&scan.signal).flat_map(|value| value.to_le_bytes()).collect()
}

fn reduce(scan: &Scan, how: &[Reduction; 2], out: &mut [Vec<f64>; 2], way: &mut Method) -> Vec<u8> {
    let begin = Instant::now();
    let columns =
        [("time_of_flight", &scan.time, how[0]), ("signal_strength", &scan.signal, how[1])].map(
            |(name, values, how)| (name, Reduced::new(name, values, None, &how).expect("sound")),
        );
    let planned = columns.each_ref().map(|(name, reduced)| Column::reduced(name, reduced));
    let layout = Layout::plan(&planned, scan.time.len() as u64, 0, 64).expect("two columns");
    let mut field = vec![0; layout.size()];
    let mut table = layout.write(&mut field).expect("of its size");
    for (place, (_, reduced)) in table.columns().iter_mut().zip(&columns) {
        place.put(reduced).expect("of its size");
    }
    way.encode.push(begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let view = View::open(black_box(&field)).expect("what was written");
    for (values, out) in view.columns().iter().zip(&mut *out) {
        assert!(values.read(0, out));
    }
    way.decode.push(begin.elapsed().as_secs_f64());
    field
}

fn varints(scan: &Scan, out: &mut [Vec<f64>; 2], way: &mut Method) -> Vec<u8> {
    let begin = Instant::now();
    let mut bytes = Vec::with_capacity(4 * scan.time.len());
    let mut before = [0i64; 2];
    for (&time, &signal) in scan.time.iter().zip(&scan.signal) {
        for (before, value) in before.iter_mut().zip([time / TIME, signal / SIGNAL]) {
            let number = value.round_ties_even() as i64;
            let difference = number - *before;
            *before = number;
            let mut code = ((difference << 1) ^ (difference >> 63)) as u64;
            while code >= 0x80 {
                bytes.push(code as u8 | 0x80);
                code >>= 7;
            }
            bytes.push(code as u8);
        }
    }
    way.encode.push(begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let (mut time_before, mut signal_before) = (0i64, 0i64);
    let mut rest = black_box(&bytes[..]);
    let [times, signals] = out;
    for (time, signal) in times.iter_mut().zip(signals) {
        for (value, before, step) in
            [(time, &mut time_before, TIME), (signal, &mut signal_before, SIGNAL)]
        {
            let mut code = 0u64;
            let mut shift = 0;
            while let Some((&byte, behind)) = rest.split_first() {
                rest = behind;
                code |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            *before += (code >> 1) as i64 ^ -((code & 1) as i64);
            *value = *before as f64 * step;
        }
    }
    way.decode.push(begin.elapsed().as_secs_f64());
    bytes
}
