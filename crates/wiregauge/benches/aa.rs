//! The same binary against itself: what `wiregauge compare` says where there is
//! nothing to say. `make bench-aa` runs it quiet and beside a load on all
//! processors and prints the table of docs/methodology.md.
//!
//! `RUNS=10` sets how many comparisons a half makes, `AA='--codecs prost'` what
//! is measured; the argument `quiet` or `loaded` restricts it to one half.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Measured unless `AA` says otherwise.
const MEASURED: &str = "--quick --processes 10";
/// Comparisons of each half unless `RUNS` says otherwise.
const RUNS: usize = 10;

/// What all comparisons of a half said.
#[derive(Default)]
struct Tally {
    comparisons: usize,
    cells: usize,
    slower: usize,
    faster: usize,
    same: usize,
    open: usize,
    busy: usize,
}

/// Work for every processor until it is dropped.
struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn start() -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = |_| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                // Memory as well as arithmetic, as other programs have it.
                let mut block = vec![1u64; 1 << 20];
                while !stop.load(Ordering::Relaxed) {
                    block.iter_mut().for_each(|word| *word = word.wrapping_mul(3).rotate_left(7));
                    std::hint::black_box(&block);
                }
            })
        };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Load { threads: (0..processors).map(spin).collect(), stop }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn main() {
    let runs: usize = std::env::var("RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(RUNS);
    // Cargo adds --bench.
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let wanted = |half: &&str| only.is_empty() || only.iter().any(|name| name == half);
    let halves: Vec<&str> = ["quiet", "loaded"].into_iter().filter(wanted).collect();
    let total = halves.len() * (runs + 1);
    let (began, mut done) = (Instant::now(), 0);
    println!("| machine | comparisons | cells | slower | faster | no difference | cannot tell | busy | false alarms |");
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    for half in halves {
        let folder = tempfile::tempdir().expect("a folder for the results");
        let load = (half == "loaded").then(Load::start);
        let mut tally = Tally::default();
        let mut last: Option<PathBuf> = None;
        for run in 0..=runs {
            let file = folder.path().join(format!("{run}.json"));
            measure(&file);
            done += 1;
            let left = began.elapsed().as_secs_f64() / done as f64 * (total - done) as f64;
            eprintln!("{half}: run {} of {}, about {:.0} min left", run + 1, runs + 1, left / 60.0);
            if let Some(last) = last.replace(file.clone()) {
                tally.add(&last, &file);
            }
        }
        drop(load);
        println!("{}", tally.row(half));
    }
}

fn wiregauge() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiregauge"));
    command.stdin(Stdio::null());
    command
}

fn measure(file: &Path) {
    let options = std::env::var("AA").unwrap_or_else(|_| MEASURED.into());
    let measured = wiregauge()
        .arg("codecs")
        .args(options.split_whitespace())
        .arg("-o")
        .arg(file)
        .stdout(Stdio::null())
        .status()
        .expect("wiregauge starts");
    assert!(measured.success(), "the measurement failed: {measured}");
}

impl Tally {
    fn add(&mut self, base: &Path, new: &Path) {
        let said = wiregauge()
            .args(["compare", "--format", "json"])
            .args([base, new])
            .stderr(Stdio::inherit())
            .output()
            .expect("wiregauge starts");
        let said: serde_json::Value =
            serde_json::from_slice(&said.stdout).expect("a comparison is JSON");
        let comparison = &said["comparison"];
        for cell in comparison["cells"].as_array().expect("cells") {
            let verdict = cell["verdict"].as_str().unwrap_or_default();
            self.cells += 1;
            match verdict {
                "slower" => self.slower += 1,
                "faster" => self.faster += 1,
                "no_difference" => self.same += 1,
                _ => self.open += 1,
            }
            if ["slower", "faster"].contains(&verdict) {
                eprintln!("  {verdict}: {} {}", cell["subject"], cell["metric"]);
            }
        }
        self.comparisons += 1;
        self.busy += usize::from(comparison["busy"] == true);
    }

    fn row(&self, half: &str) -> String {
        let Tally { comparisons, cells, slower, faster, same, open, busy } = self;
        let share = 100.0 * (slower + faster) as f64 / (*cells).max(1) as f64;
        format!(
            "| {half} | {comparisons} | {cells} | {slower} | {faster} | {same} | {open} | {busy} \
             | {share:.2} % |"
        )
    }
}
