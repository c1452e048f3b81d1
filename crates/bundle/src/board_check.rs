//! Whether a machine can start what is in a bundle.

use std::ffi::CStr;
use std::time::{Duration, SystemTime};

use anyhow::{bail, ensure, Context, Result};

use crate::elf::parse_version;
use crate::manifest::Manifest;

/// How far two clocks may be apart: the time stands in the result.
const CLOCK: Duration = Duration::from_secs(60);

/// What a machine says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardFacts {
    /// What its processors are: `aarch64`, or `armv7l`.
    pub machine: String,
    /// Its C library and the version: `glibc 2.36`.
    pub libc: String,
    /// Its time, in seconds of Unix time.
    pub clock: u64,
    /// What is free where the bundle goes, in bytes; none where it is there already.
    pub free: Option<u64>,
}

impl BoardFacts {
    /// Those of this machine.
    pub fn of_this_machine() -> BoardFacts {
        BoardFacts {
            machine: std::env::consts::ARCH.into(),
            libc: format!("glibc {}", glibc_version()),
            clock: now(),
            free: None,
        }
    }

    /// Refuses a machine that cannot measure a bundle; `shown` is what the user calls it. The
    /// clock is held against that of who asks, or else against the time when the bundle was
    /// made.
    ///
    /// # Errors
    /// With the reason and the remedy.
    pub fn check(&self, manifest: &Manifest, shown: &str, asked: Option<u64>) -> Result<()> {
        let wanted = manifest.target.split('-').next().unwrap_or_default();
        let machine = if self.machine.starts_with("armv") { "arm" } else { &self.machine };
        ensure!(
            machine == wanted,
            "{shown} is a machine of {}, and the bundle is for {}; make one for it by --target",
            self.machine,
            manifest.target
        );
        let is_glibc = self.libc.to_ascii_lowercase().contains("glibc");
        ensure!(
            is_glibc || self.libc.contains("GNU"),
            "{shown} has no glibc but '{}'; the rows are built for glibc {} or newer",
            self.libc,
            manifest.glibc
        );
        let version = self.libc.split_whitespace().next_back().and_then(parse_version);
        let version =
            version.with_context(|| format!("{shown} says '{}' of its C library", self.libc))?;
        ensure!(
            Some(version) >= parse_version(&manifest.glibc),
            "{shown} has glibc {}.{}, and the bundle needs {} or newer; make it on a machine, or \
             by a --program, of an older release",
            version.0,
            version.1,
            manifest.glibc
        );
        let remedy = "set it (date -s, or a time service) and run the command again";
        let difference = match asked {
            Some(time) => self.clock.abs_diff(time),
            None => manifest.made.saturating_sub(self.clock),
        };
        if Duration::from_secs(difference) > CLOCK {
            let apart = humantime_words(difference);
            match asked {
                Some(_) => bail!("the clock of {shown} is {apart} off this machine's; {remedy}"),
                None => {
                    bail!("the clock of {shown} is {apart} before the bundle was made; {remedy}")
                }
            }
        }
        // The result, and what is written while it is measured.
        let needed = manifest.bytes() + (16 << 20);
        if let Some(free) = self.free.filter(|free| *free < needed) {
            let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
            bail!(
                "{shown} has no space: {} MB are free and {} MB needed; name a folder with more: \
                 --on HOST:/FOLDER",
                megabytes(free),
                megabytes(needed)
            );
        }
        Ok(())
    }
}

/// The time now, in seconds of Unix time.
pub fn now() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    time.map_or(0, |time| time.as_secs())
}

/// A time in its largest unit.
fn humantime_words(seconds: u64) -> String {
    let units = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    let unit = units.iter().find(|(length, _)| seconds >= 2 * length);
    unit.map_or_else(
        || format!("{seconds} s"),
        |(length, name)| format!("{} {name}", seconds / length),
    )
}

/// The version of the C library that this program runs with.
fn glibc_version() -> String {
    // SAFETY: it returns a static text that ends with zero.
    let text = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_lacks_is_said_with_the_remedy() {
        let manifest = Manifest {
            target: "arm-linux-gnueabihf".into(),
            glibc: "2.34".into(),
            made: 1_000_000,
            ..Manifest::new()
        };
        let good = BoardFacts {
            machine: "armv7l".into(),
            libc: "glibc 2.36".into(),
            clock: 1_000_030,
            free: Some(1 << 30),
        };
        let check = |facts: BoardFacts, asked| facts.check(&manifest, "board", asked);
        check(good.clone(), Some(1_000_000)).unwrap();
        check(good.clone(), None).unwrap();
        let debian = "ldd (Debian GLIBC 2.36-9+deb12u14) 2.36";
        check(BoardFacts { libc: debian.into(), ..good.clone() }, None).unwrap();
        let machine = BoardFacts { machine: "x86_64".into(), ..good.clone() };
        let old = BoardFacts { libc: "glibc 2.31".into(), ..good.clone() };
        let musl = BoardFacts { libc: "musl libc (armhf)".into(), ..good.clone() };
        let early = BoardFacts { clock: 30, ..good.clone() };
        let full = BoardFacts { free: Some(1000), ..good.clone() };
        for (facts, asked, words) in [
            (machine, None, ["a machine of x86_64", "--target"]),
            (old, None, ["glibc 2.31", "2.34 or newer"]),
            (musl, None, ["no glibc", "musl"]),
            (early.clone(), None, ["11 days before", "set it"]),
            (early, Some(1_000_000), ["11 days off", "set it"]),
            (full, None, ["no space", "--on HOST:/FOLDER"]),
        ] {
            let error = check(facts, asked).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
            assert!(error.starts_with("board") || error.contains("of board"), "{error}");
        }
    }

    #[test]
    fn this_machine_says_its_glibc() {
        assert!(parse_version(&glibc_version()) > Some((2, 17)));
    }
}
