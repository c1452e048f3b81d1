//! Round trips by the plainest programs there can be over a library that the bus
//! measures, which are compiled here; and what they need.

pub mod tcp;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_participant::daemon::terminate;

/// Round trips of one measurement.
const TRIPS: u32 = 2000;

/// Where engines and bare loops are built.
pub fn build_folder() -> Result<PathBuf> {
    let folder = std::env::var_os("WIREGAUGE_BUILD").context("WIREGAUGE_BUILD is not set")?;
    Ok(folder.into())
}

/// A program of two sides.
pub struct BareLoop {
    program: PathBuf,
}

impl BareLoop {
    /// Compiles one of the sources beside this file with these words.
    pub fn compile(source: &str, words: &[&str]) -> Result<BareLoop> {
        let folder = build_folder()?.join("bare");
        std::fs::create_dir_all(&folder)?;
        let program = folder.join(source.split('.').next().unwrap_or(source));
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut compiler = Command::new("c++");
        compiler.args(["-O3", "-std=gnu++17", "-o"]).arg(&program);
        compiler.arg("-I").arg(here.join("../../engines/fastdds"));
        compiler.arg(here.join("benches/peers").join(source)).args(words);
        ensure!(compiler.status().context("c++ is not installed")?.success(), "{source}");
        Ok(BareLoop { program })
    }

    /// Builds one of the examples of the engines, with the library that this engine has.
    pub fn build(example: &str, engine: &str) -> Result<BareLoop> {
        let target = build_folder()?.join("engines/target");
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/Cargo.toml");
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--locked", "--release", "--example", example, "--features", engine]);
        cargo.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&target);
        ensure!(cargo.status().context("cargo is not installed")?.success(), "{example}");
        Ok(BareLoop { program: target.join("release/examples").join(example) })
    }

    /// The last of these participants of SIL Kit's virtual time, with these words to all: steps a
    /// second, a hash of which samples came in which step, and one of their order.
    pub fn steps(&self, words: &[&str], senders: usize) -> Result<(f64, [String; 2])> {
        let participant = |own: usize| {
            let mut command = Command::new(&self.program);
            command.arg("step").args(words).args([senders.to_string(), own.to_string()]);
            command.stdout(Stdio::piped());
            command
        };
        let others = (0..senders).map(|own| participant(own).spawn());
        let others = others.collect::<Result<Vec<Child>, _>>()?;
        let said = participant(senders).output()?;
        for mut other in others {
            other.wait()?;
        }
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        let [steps, _, all, order] = words[..] else { bail!("{} {text:?}", said.status) };
        Ok((steps.parse()?, [all, order].map(str::to_owned)))
    }

    /// The median of its round trips, in nanoseconds, with these words to both sides.
    pub fn median(&self, words: &[&str]) -> Result<f64> {
        let side = |name: &str, more: &[&str]| {
            let mut command = Command::new(&self.program);
            command.arg(name).args(words).args(more).stdout(Stdio::piped());
            command
        };
        let mut pong = side("pong", &[]).spawn()?;
        thread::sleep(Duration::from_millis(200));
        let said = side("ping", &[&TRIPS.to_string()]).output()?;
        // It ends by itself once nobody sends any more.
        let ended = pong.wait()?;
        let text = String::from_utf8_lossy(&said.stdout);
        if !said.status.success() || !ended.success() {
            bail!("{}: {}, {ended}", self.program.display(), said.status);
        }
        text.trim().parse().with_context(|| format!("{} says {text:?}", self.program.display()))
    }
}

/// SIL Kit's library, which a variable names, and a registry.
pub struct SilKit {
    /// Where the library is.
    pub library: String,
    /// Where the registry is.
    pub uri: String,
    registry: Child,
}

impl SilKit {
    /// Starts the registry that comes with the library.
    pub fn start() -> Result<SilKit> {
        let library = std::env::var("SILKIT_LIBRARY").context("SILKIT_LIBRARY names no library")?;
        let program = Path::new(&library).with_file_name("bin").join("sil-kit-registry");
        let mut registry = Command::new(&program)
            .args(["--listen-uri", "silkit://127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut lines = BufReader::new(registry.stdout.take().context("no output")?).lines();
        let uri = lines.find_map(|line| {
            line.ok()?.split_once("listening on ").map(|(_, uri)| uri.trim().to_owned())
        });
        // Its pipe stays open.
        std::mem::forget(lines);
        Ok(SilKit { library, uri: uri.context("the registry does not listen")?, registry })
    }
}

/// iceoryx's daemon, with memory for a bare loop.
pub struct RouDi(Child);

impl RouDi {
    /// Starts it.
    pub fn start() -> Result<RouDi> {
        let folder = build_folder()?.join("bare");
        std::fs::create_dir_all(&folder)?;
        let configuration = folder.join("roudi.toml");
        let pools =
            "[general]\nversion = 1\n[[segment]]\n[[segment.mempool]]\nsize = 1024\ncount = 1000\n";
        std::fs::write(&configuration, pools)?;
        let mut daemon = Command::new("iox-roudi");
        let daemon = daemon.arg("-c").arg(&configuration);
        let daemon = daemon.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut roudi = RouDi(daemon.context("apt-get install iceoryx")?);
        let mut lines = BufReader::new(roudi.0.stdout.take().context("no output")?).lines();
        let is_ready =
            |line: std::io::Result<String>| line.is_ok_and(|line| line.contains("ready"));
        ensure!(lines.any(is_ready), "iox-roudi does not start");
        // Its pipe stays open.
        std::mem::forget(lines);
        Ok(roudi)
    }
}

impl Drop for RouDi {
    fn drop(&mut self) {
        let _ = terminate(&mut self.0, Duration::from_secs(10));
    }
}

impl Drop for SilKit {
    fn drop(&mut self) {
        let _ = self.registry.kill();
        let _ = self.registry.wait();
    }
}
