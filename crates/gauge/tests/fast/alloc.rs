//! `runners/alloc/alloc.c` counts what programs allocate and ends those that
//! want too much. Programs in several languages are compiled and run under it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// What a test works with: a folder of its own with the shared object in it,
/// so that no two tests write the same file.
struct Bench(TempDir);

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runners/alloc/alloc.c");
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]);
        cc.args(["-fno-builtin", "-fvisibility=hidden", "-o"]);
        must(cc.arg(folder.path().join("liballoc.so")).arg(source));
        Bench(folder)
    }

    /// Compiles a program in C, C++ or Rust, and returns where it is.
    fn compile(&self, name: &str, source: &str, compiler: &str, arguments: &[&str]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, source).unwrap();
        let program = self.0.path().join(format!("{name}.bin"));
        must(Command::new(compiler).arg(&path).arg("-o").arg(&program).args(arguments));
        program
    }

    fn preload<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("LD_PRELOAD", self.0.path().join("liballoc.so"))
    }

    fn limited(&self, command: &mut Command, bytes: u64) -> Output {
        self.preload(command).env("WIREGAUGE_ALLOC_LIMIT", bytes.to_string()).output().unwrap()
    }

    /// Runs a program that prints lines of a name and the counts that came with
    /// it: allocations, bytes requested, most bytes live above the start.
    fn counts(&self, command: &mut Command) -> Vec<(String, [u64; 3])> {
        let text = String::from_utf8(must(self.preload(command)).stdout).unwrap();
        text.lines()
            .map(|line| {
                let mut words = line.split(' ');
                let name = words.next().unwrap().to_owned();
                let mut number = || words.next().unwrap().parse().unwrap();
                (name, [number(), number(), number()])
            })
            .collect()
    }
}

fn must(command: &mut Command) -> Output {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}; run make setup"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

/// What C and C++ programs share. Results are stored in a volatile, since
/// compilers remove allocations that nobody looks at.
const PROLOGUE: &str = r#"
#ifndef __cplusplus
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*counts)(uint64_t out[3]);
static uint64_t before[3];
static void *volatile kept;

static void start(void) {
    *(void **)&counts = dlsym(RTLD_DEFAULT, "wiregauge_alloc_counts");
    if (!counts) exit(3);
    counts(before);
    counts(before);
}

static void stop(const char *name) {
    uint64_t after[3];
    counts(after);
    printf("%s %lu %lu %ld\n", name, (unsigned long)(after[0] - before[0]),
           (unsigned long)(after[1] - before[1]), (long)(after[2] - before[2]));
    fflush(stdout);
}
"#;

#[test]
fn counts_what_c_allocates() {
    let body = r#"
static void *work(void *unused) {
    for (int i = 0; i < 10000; i++) {
        void *block = malloc(32);
        *(volatile char *)block = 1;
        free(block);
    }
    return unused;
}

int main(void) {
    /* What printf and the linker allocate once is no part of it. */
    start(); stop("first");
    start(); stop("nothing");

    start();
    for (int i = 0; i < 10; i++) { kept = malloc(100); free(kept); }
    stop("malloc");

    start();
    kept = calloc(50, 20);
    int clean = 1;
    for (int i = 0; i < 1000; i++) clean &= ((char *)kept)[i] == 0;
    stop(clean ? "calloc" : "dirty");
    free(kept);

    start();
    kept = realloc(NULL, 100);
    kept = realloc(kept, 1000000);
    kept = realloc(kept, 0);
    stop("realloc");

    start();
    void *block;
    if (posix_memalign(&block, 64, 640) || (uintptr_t)block % 64) return 4;
    free(block);
    if (posix_memalign(&block, 3, 640) == 0) return 5;
    kept = aligned_alloc(4096, 8192);
    if ((uintptr_t)kept % 4096) return 6;
    free(kept);
    kept = memalign(128, 100);
    free(kept);
    stop("aligned");

    start();
    kept = reallocarray(NULL, 10, 10); free(kept);
    kept = strdup("twelve bytes"); free(kept);
    stop("indirect");

    start();
    kept = calloc(SIZE_MAX / 2, 3);
    if (kept) return 7;
    stop("overflow");

    pthread_t threads[4];
    start();
    stop("threads-begin");
    uint64_t begin[3], end[3];
    counts(begin);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    counts(end);
    /* A thread allocates a few blocks of its own. */
    printf("threads %d 0 0\n", end[0] - begin[0] >= 40000 && end[0] - begin[0] < 40100);
    return 0;
}
"#;
    let source = format!("{PROLOGUE}{body}");
    let bench = Bench::new();
    let program = bench.compile("counted.c", &source, "cc", &["-O2", "-pthread", "-ldl"]);
    let counts = bench.counts(&mut Command::new(program));
    let of = |wanted: &str| {
        let found = counts.iter().find(|(name, _)| name == wanted);
        found.unwrap_or_else(|| panic!("no {wanted} in {counts:?}")).1
    };
    assert_eq!(of("nothing"), [0, 0, 0]);
    assert_eq!(of("malloc")[..2], [10, 1000]);
    // One block at a time, with the allocator's rounding.
    assert!((100..200).contains(&of("malloc")[2]), "{counts:?}");
    assert_eq!(of("calloc")[..2], [1, 1000]);
    assert_eq!(of("realloc")[..2], [2, 1_000_100]);
    assert!((1_000_000..1_010_000).contains(&of("realloc")[2]), "{counts:?}");
    assert_eq!(of("aligned")[..2], [3, 640 + 8192 + 100]);
    assert_eq!(of("indirect")[..2], [2, 100 + 13]);
    assert_eq!(of("overflow"), [0, 0, 0]);
    assert_eq!(of("threads")[0], 1);
}

#[test]
fn counts_what_cpp_allocates() {
    let body = r#"
#include <string>
#include <vector>

struct alignas(64) Line { char bytes[64]; };

int main() {
    start(); stop("first");
    start();
    { int *numbers = new int[100]; kept = numbers; delete[] numbers; }
    { Line *line = new Line; kept = line; delete line; }
    { std::vector<double> values(1000); kept = values.data(); }
    { std::string text(200, 'x'); kept = &text[0]; }
    stop("new");
}
"#;
    let source = format!("{PROLOGUE}{body}");
    let bench = Bench::new();
    let program = bench.compile("counted.cpp", &source, "c++", &["-std=c++17", "-O2", "-ldl"]);
    let counts = bench.counts(&mut Command::new(program));
    assert_eq!(counts[1].1[..2], [4, 400 + 64 + 8000 + 201]);
}

#[test]
fn counts_what_rust_allocates() {
    let source = r#"
use std::ffi::{c_char, c_void};
use std::hint::black_box;

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn main() {
    let name = b"wiregauge_alloc_counts\0";
    // SAFETY: null is RTLD_DEFAULT, and the name ends with a zero.
    let found = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr().cast()) };
    assert!(!found.is_null());
    // SAFETY: not null, and a function of this type in alloc.c.
    let counts: extern "C" fn(*mut u64) = unsafe { std::mem::transmute(found) };
    let (mut before, mut after) = ([0_u64; 3], [0_u64; 3]);
    counts(before.as_mut_ptr());
    counts(before.as_mut_ptr());
    for _ in 0..5 {
        drop(black_box(Box::new([0_u64; 16])));
    }
    drop(black_box(Vec::<u8>::with_capacity(1000)));
    drop(black_box(vec![0_u8; 2000]));
    counts(after.as_mut_ptr());
    println!("rust {} {} {}", after[0] - before[0], after[1] - before[1], after[2] - before[2]);
}
"#;
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let bench = Bench::new();
    let program = bench.compile("counted.rs", source, &rustc, &["-O", "--edition=2021"]);
    let counts = bench.counts(&mut Command::new(program));
    assert_eq!(counts[0].1[..2], [7, 5 * 128 + 1000 + 2000]);
    assert!((2000..2100).contains(&counts[0].1[2]), "{counts:?}");
}

#[test]
fn counts_what_python_allocates() {
    let script = r#"
import ctypes
counts = ctypes.CDLL(None).wiregauge_alloc_counts
before, after = (ctypes.c_uint64 * 3)(), (ctypes.c_uint64 * 3)()
counts(before); counts(before)
block = bytes(10_000_000)
counts(after)
print("python", *(a - b for a, b in zip(after, before)))
"#;
    let bench = Bench::new();
    let mut python = Command::new("python3");
    let counts = bench.counts(python.args(["-c", script]).env("PYTHONMALLOC", "malloc"));
    let [allocations, bytes, _] = counts[0].1;
    assert!((1..100).contains(&allocations), "{counts:?}");
    assert!((10_000_000..10_100_000).contains(&bytes), "{counts:?}");
}

#[test]
fn a_program_without_it_notices() {
    let source = format!("{PROLOGUE}int main(void) {{ start(); }}");
    let bench = Bench::new();
    let program = bench.compile("absent.c", &source, "cc", &["-ldl"]);
    assert_eq!(Command::new(program).status().unwrap().code(), Some(3));
}

#[test]
fn more_than_the_limit_ends_the_program() {
    let body = r#"
int main(int count, char **arguments) {
    size_t blocks = strtoul(arguments[1], NULL, 10);
    size_t size = strtoul(arguments[2], NULL, 10);
    char mode = arguments[3][0];
    if (count != 4) return 2;
    for (size_t i = 0; i < blocks; i++) {
        if (mode == 'c') kept = calloc(size, 1);
        else if (mode == 'r') kept = realloc(kept, size * (i + 1));
        else kept = malloc(size);
        if (mode == 'f') free(kept);
    }
    puts("done");
    return 0;
}
"#;
    let (bench, source) = (Bench::new(), format!("{PROLOGUE}{body}"));
    let program = bench.compile("limited.c", &source, "cc", &["-O2", "-fno-builtin", "-ldl"]);
    let run = |blocks: &str, size: &str, mode: &str| {
        bench.limited(Command::new(&program).args([blocks, size, mode]), 10_000_000)
    };
    let exceeds = |blocks, size, mode, requested: &str| {
        let output = run(blocks, size, mode);
        assert_eq!(output.status.code(), Some(86), "{blocks} {size} {mode}: {output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let line = format!("wiregauge: allocation limit exceeded (requested {requested})\n");
        assert_eq!(said, line);
    };
    let passes = |blocks, size, mode| {
        let output = run(blocks, size, mode);
        assert!(output.status.success(), "{blocks} {size} {mode}: {output:?}");
    };
    // One request that is too large, also one that would wrap around.
    exceeds("1", "10000001", "m", "10000001");
    exceeds("1", "18446744073709551615", "m", "18446744073709551615");
    exceeds("1", "9223372036854775807", "c", "9223372036854775807");
    // Many that add up.
    exceeds("100", "1000000", "m", "1000000");
    exceeds("100", "1000000", "r", "11000000");
    // Nothing that is given back counts.
    passes("100", "9000000", "f");
    passes("9", "1000000", "m");
    passes("9", "1000000", "r");
}

#[test]
fn without_a_sensible_limit_there_is_none() {
    let bench = Bench::new();
    for limit in ["", "many", "-5", "99999999999999999999999"] {
        let mut command = Command::new("true");
        bench.preload(&mut command).env("WIREGAUGE_ALLOC_LIMIT", limit);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{limit}: {output:?}");
    }
}
