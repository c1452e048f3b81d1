//! Seeds of random tests: each run takes the same, so that a change that passes once passes
//! again. With `WIREGAUGE_SEED=new` it takes others; one that fails is recorded in the tree, where
//! every later run takes it first.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::PathBuf;

/// Sets the one seed to be taken, or `new` for others than in the last run.
pub const VARIABLE: &str = "WIREGAUGE_SEED";

/// Sets how many random cases a test takes whose cases take long.
pub const CASES: &str = "WIREGAUGE_CASES";

/// What a file of seeds begins with.
const HEAD: &str = "# Seeds that failed once, a line each; every run takes them first.\n";

/// A random test of a package.
pub struct Seeds {
    /// Where those that failed are recorded.
    file: PathBuf,
    /// What repeats the test, but for its seed.
    command: String,
}

impl Seeds {
    /// Those of a test in `tests/` of a package, by `CARGO_MANIFEST_DIR`, its
    /// file without the ending, and its function. They are recorded in
    /// `tests/seeds/FUNCTION.txt`.
    pub fn new(package: &str, file: &str, function: &str) -> Seeds {
        Seeds {
            file: PathBuf::from(package).join("tests/seeds").join(format!("{function}.txt")),
            command: format!("cargo test --locked --workspace --test {file} {function}"),
        }
    }

    /// Tries those that failed once, and so many more; or what WIREGAUGE_SEED says. A seed
    /// fails where `test` panics: it is recorded, and said with the command that repeats it.
    ///
    /// # Panics
    /// Where the test does, or the seeds cannot be read.
    pub fn try_each(&self, more: usize, test: impl FnMut(u64)) {
        self.run(Wanted::from_environment(), more, test);
    }

    fn run(&self, wanted: Wanted, more: usize, mut test: impl FnMut(u64)) {
        let seeds: Vec<u64> = match wanted {
            Wanted::One(seed) => vec![seed],
            Wanted::Same => {
                let own = (0..more).map(|number| hash(&format!("{} {number}", self.command)));
                self.recorded().into_iter().chain(own).collect()
            }
            Wanted::New => self.recorded().into_iter().chain((0..more).map(|_| random())).collect(),
        };
        for seed in seeds {
            let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(seed))) else { continue };
            let file = self.file.display();
            match self.record(seed) {
                Ok(true) => eprintln!("seed {seed} fails and is recorded in {file}: commit it"),
                Ok(false) => eprintln!("seed {seed} of {file} fails"),
                Err(error) => eprintln!("seed {seed} fails; write it into {file}: {error}"),
            }
            eprintln!("again: {VARIABLE}={seed} {}", self.command);
            resume_unwind(panic);
        }
    }

    /// Those that failed once.
    ///
    /// # Panics
    /// Where they cannot be read.
    pub fn recorded(&self) -> Vec<u64> {
        let text = match fs::read_to_string(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            text => text.unwrap_or_else(|error| panic!("{}: {error}", self.file.display())),
        };
        let seed = |line: &str| {
            line.parse().unwrap_or_else(|_| panic!("{}: no seed: {line}", self.file.display()))
        };
        let words = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        words.filter(|line| !line.is_empty()).map(seed).collect()
    }

    /// Whether the next run takes a seed too, so that what was built for it can be kept.
    pub fn is_repeated(&self, seed: u64) -> bool {
        matches!(Wanted::from_environment(), Wanted::Same) || self.recorded().contains(&seed)
    }

    /// Whether it was not recorded before.
    fn record(&self, seed: u64) -> io::Result<bool> {
        if self.recorded().contains(&seed) {
            return Ok(false);
        }
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.file)?;
        if file.metadata()?.len() == 0 {
            file.write_all(HEAD.as_bytes())?;
        }
        writeln!(file, "{seed}")?;
        Ok(true)
    }
}

/// How many cases WIREGAUGE_CASES says, if it is set.
///
/// # Panics
/// Where that is no number.
pub fn cases() -> Option<usize> {
    let text = std::env::var(CASES).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{CASES} is a number, not {text}")))
}

/// Which seeds a run takes.
#[derive(Clone, Copy)]
enum Wanted {
    /// Those of every run. Other tests have others: what one builds is not what another one uses.
    Same,
    /// Others than in the last run.
    New,
    One(u64),
}

impl Wanted {
    fn from_environment() -> Wanted {
        match std::env::var(VARIABLE).as_deref() {
            Err(_) => Wanted::Same,
            Ok("new") => Wanted::New,
            Ok(text) => Wanted::One(text.parse().unwrap_or_else(|_| {
                panic!("{VARIABLE} is `new` or a number below 2^64, not {text}")
            })),
        }
    }
}

/// A seed for a test that keeps what fails in another way: 1, or what WIREGAUGE_SEED says.
///
/// # Panics
/// Where that is no number and not `new`.
pub fn seed() -> u64 {
    match Wanted::from_environment() {
        Wanted::Same => 1,
        Wanted::New => random(),
        Wanted::One(seed) => seed,
    }
}

/// A number of a text, the same everywhere: FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A number that the system made up: the standard library seeds its maps so.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seeds of a package that is nowhere else, and what a test took.
    fn seeds_tried(folder: &str, wanted: Wanted, fails: impl Fn(u64) -> bool) -> (bool, Vec<u64>) {
        let mut taken = Vec::new();
        let seeds = Seeds::new(folder, "some", "of_them");
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            seeds.run(wanted, 3, |seed| {
                taken.push(seed);
                assert!(!fails(seed), "it fails");
            });
        }));
        (outcome.is_ok(), taken)
    }

    #[test]
    fn every_run_takes_the_same_unless_it_is_to_take_others() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().to_str().unwrap();
        let [first, second] = [(); 2].map(|()| seeds_tried(folder, Wanted::Same, |_| false));
        assert_eq!((first.0, first.1.len()), (true, 3));
        assert_eq!(first, second);
        let mut others = Vec::new();
        Seeds::new(folder, "some", "other").run(Wanted::Same, 3, |seed| others.push(seed));
        assert!(others.iter().all(|seed| !first.1.contains(seed)), "{others:?} {first:?}");
        let [first, second] = [(); 2].map(|()| seeds_tried(folder, Wanted::New, |_| false));
        assert_eq!((first.0, first.1.len(), second.1.len()), (true, 3, 3));
        assert!(first.1.iter().all(|seed| !second.1.contains(seed)), "{first:?} {second:?}");
        assert_eq!(seeds_tried(folder, Wanted::One(7), |_| false), (true, vec![7]));
    }

    #[test]
    fn what_failed_is_taken_first_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        for _ in 0..2 {
            assert_eq!(seeds_tried(path, Wanted::One(7), |seed| seed == 7), (false, vec![7]));
        }
        let text = fs::read_to_string(folder.path().join("tests/seeds/of_them.txt")).unwrap();
        assert_eq!(text, format!("{HEAD}7\n"));
        let (passed, seeds) = seeds_tried(path, Wanted::Same, |_| false);
        assert!(passed);
        assert_eq!((seeds[0], seeds.len()), (7, 4));
        // It ends at the first that fails.
        assert_eq!(seeds_tried(path, Wanted::Same, |seed| seed == 7), (false, vec![7]));
    }

    #[test]
    fn what_is_no_seed_is_said() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("tests/seeds")).unwrap();
        let file = folder.path().join("tests/seeds/of_them.txt");
        fs::write(&file, "1 # one\n\nx\n").unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(seeds_tried(path, Wanted::Same, |_| false), (false, vec![]));
        fs::write(&file, "1 # one\n\n").unwrap();
        assert_eq!(seeds_tried(path, Wanted::Same, |_| false).1[0], 1);
    }
}
