//! Each fuzz target on a stable compiler: over its corpus, and over what comes
//! of damaging that, by the seed of the tests.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use wiregauge_result::random::Random;

use crate::generated_holders::write_headers;

/// A reader's name, and what feeds it bytes.
type Target = (&'static str, fn(&[u8]));

include!(concat!(env!("OUT_DIR"), "/targets.rs"));

/// How long damaged inputs are tried, for each target: they are the same in each run of the tests.
/// `cargo fuzz` tries others for longer.
const LONG: Duration = Duration::from_millis(400);
/// Most damaged inputs, for each target.
const MOST: usize = 20_000;

/// Most that is reserved at once, in bytes: readers stop at 256 MiB.
const LARGEST: usize = 300 << 20;

/// Knows the most that was reserved at once.
struct Watched(AtomicUsize);

#[global_allocator]
static WATCHED: Watched = Watched(AtomicUsize::new(0));

// SAFETY: the system's allocator does it all; a count beside it allocates nothing.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the layout is not empty, as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory is the system's with this layout: `alloc` gave it.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The inputs of a target's corpus, in the order of their names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = fuzz().join("corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|_| panic!("no {}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn targets_stand_their_corpus_and_what_is_like_it() {
    let mut failed = Vec::new();
    let seed = wiregauge_testkit::seeds::seed();
    for (name, read) in TARGETS {
        let corpus = corpus(name);
        assert!(!corpus.is_empty(), "the corpus of {name} is lost");
        let mut random = Random::new(seed);
        let start = Instant::now();
        let damaged = (0..MOST).take_while(|_| start.elapsed() < LONG);
        let damaged = damaged.map(|_| damage(&corpus, &mut random));
        for input in corpus.iter().cloned().chain(damaged) {
            let refused = || {
                read(&input);
                let most = WATCHED.0.swap(0, Ordering::Relaxed);
                assert!(most < LARGEST, "{most} bytes for {} of input", input.len());
            };
            if catch_unwind(AssertUnwindSafe(refused)).is_err() {
                // Every later run begins with it.
                let path = fuzz().join("corpus").join(name).join(format!("seed-{seed}"));
                fs::write(&path, &input).unwrap();
                failed.push(format!("{name} fails on {}", path.display()));
                break;
            }
        }
    }
    let again = format!("{}={seed}", wiregauge_testkit::seeds::VARIABLE);
    assert!(failed.is_empty(), "{}; that of {again}", failed.join("; "));
}

/// The target of holders in C++, with sanitizers.
#[test]
fn holders_in_cpp_stand_the_corpus_and_what_is_like_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("holders");
    let flags = "-std=c++17 -O0 -Wall -Wextra -Werror -fsanitize=address,undefined \
                 -fno-sanitize-recover=all -I";
    let sources = [fuzz().join("cpp/holders.cpp"), fuzz().join("../packed/fuzz/corpus.cpp")];
    write_headers(folder.path());
    let mut compiler = Command::new("g++");
    compiler.args(flags.split_whitespace()).arg(folder.path());
    let built = compiler.args(sources).arg("-o").arg(&program).output().expect("g++ starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let (corpus, seed) = (corpus("holders"), wiregauge_testkit::seeds::seed());
    let mut random = Random::new(seed);
    let damaged = (0..2_000).map(|_| damage(&corpus, &mut random));
    let mut run = Command::new(program);
    for (at, input) in corpus.iter().cloned().chain(damaged).enumerate() {
        let path = folder.path().join(at.to_string());
        fs::write(&path, input).unwrap();
        run.arg(path);
    }
    let done = run.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}={seed}: {said}", wiregauge_testkit::seeds::VARIABLE);
}

#[test]
fn each_target_can_be_run_and_is_documented() {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let docs = fs::read_to_string(fuzz().join("../docs/security.md")).unwrap();
    for (name, _) in TARGETS {
        let path = format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        assert!(manifest.contains(&path), "fuzz/Cargo.toml does not have {name}");
        assert!(docs.contains(&format!("| `{name}` |")), "docs/security.md does not have {name}");
    }
}

/// One of these, damaged a few times.
fn damage(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    const WORTHY: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'"', b'9', b'\n'];
    let mut bytes = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len().max(1));
        let end = (at + 1 + random.below(8)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.insert(at, WORTHY[random.below(WORTHY.len())]),
            3 => bytes[at..end].fill(WORTHY[random.below(WORTHY.len())]),
            4 => bytes[at..end].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1)),
            _ => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len().max(1));
                bytes.splice(at..end, other[from..].iter().take(64).copied());
            }
        }
    }
    bytes
}
