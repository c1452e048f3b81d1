//! What the change was for: the weight of a program that sends and reads a Notification,
//! with Protobuf's library and with what `wiregauge generate` writes.

mod cpp;
mod java;
mod program;
mod python;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::{first_error, Need};
use wiregauge_codec_run::workload::Builtin;
use wiregauge_result::run::{Case, Fact, Measurement, Origin, Status, Subject};

use self::program::{compile_time, Parts, Program, Sources};
use crate::weighing::{Weighing, Weights};

/// What the programs print of the Notification that they are given.
const TEXT: &str = "/a/b data self 1\nsome info\n";
/// Name of the only case.
const CASE: &str = "a program that sends and reads a Notification";

/// Weighs the programs of these languages, compiling each so many times in turns.
///
/// # Errors
/// When the folder cannot be written, or on an interruption. What concerns a program
/// alone is its status.
pub fn weigh(weighing: &Weighing) -> Result<Weights> {
    let mut programs = cpp::programs();
    programs.extend(java::programs());
    programs.extend(python::programs());
    for name in weighing.only {
        if !programs.iter().any(|program| program.id == name) {
            bail!("unknown program '{name}'; leave --codecs out to weigh all programs");
        }
    }
    let languages: Vec<&str> = match (weighing.languages, weighing.only) {
        ([], []) => programs.iter().map(|program| program.key).collect(),
        ([], only) => {
            let named = programs.iter().filter(|program| only.iter().any(|id| id == program.id));
            named.map(|program| program.key).collect()
        }
        (some, _) => some.to_vec(),
    };
    programs.retain(|program| {
        let is_named = weighing.only.is_empty() || weighing.only.iter().any(|id| id == program.id);
        languages.contains(&program.key) && (is_named || program.message.is_none())
    });
    // What is fetched from Maven Central is kept beside the messages.
    fs::create_dir_all(weighing.build.join("messages"))
        .with_context(|| format!("cannot write into {}", weighing.build.display()))?;
    let folder = tempfile::Builder::new().prefix("weight-").tempdir_in(weighing.build)?;
    let mut all: Vec<ProgramWeight> = Vec::new();
    for (done, program) in programs.iter().enumerate() {
        (weighing.show)(&format!("building {}", program.title), done, programs.len())?;
        let own = folder.path().join(program.id);
        all.push(ProgramWeight::new(program, own));
    }
    for turn in 0..weighing.turns {
        for at in 0..all.len() {
            let place = (at + turn as usize) % all.len();
            let (done, of) = (turn as usize * all.len() + at, weighing.turns as usize * all.len());
            (weighing.show)(&format!("compiling {}", all[place].program.title), done, of)?;
            all[place].compile();
        }
    }
    let facts = all.iter().flat_map(|weighed| weighed.facts(&all)).collect();
    Ok(Weights {
        case: Case {
            notes: NOTES.iter().map(|note| (*note).to_owned()).collect(),
            ..Case::new(CASE, "rsb.Notification", Builtin::Rsb.source())
        },
        measurements: all.iter().filter_map(ProgramWeight::measurement).collect(),
        subjects: all.into_iter().map(ProgramWeight::subject).collect(),
        facts,
    })
}

const NOTES: [&str; 5] = [
    "weight: bytes of the program and of the libraries that it loads and a program of the language \
     without a message does not; weight/program and weight/libraries are the two",
    "libraries: all that it loads, as ldd counts files, jars in Java, packages in Python",
    "compile: from the program's and the generated sources to the program, generating them not \
     included; all take turns, and its ratios are of the same turn",
    "lines are neither blank nor a comment alone; those of generated code are what the program \
     includes, in Java all",
    "each program has sent a message of the published size and read it again",
];

/// A program while it is weighed.
struct ProgramWeight<'a> {
    program: &'a Program,
    folder: PathBuf,
    sources: Sources,
    parts: Option<Parts>,
    library: String,
    origin: Option<Origin>,
    /// Nanoseconds of each turn.
    turns: Vec<Option<f64>>,
    status: Status,
}

impl<'a> ProgramWeight<'a> {
    /// Builds a program once, and has it show that it is right.
    fn new(program: &'a Program, folder: PathBuf) -> ProgramWeight<'a> {
        let mut weighed = ProgramWeight {
            program,
            folder,
            sources: Sources { program: 0, generated: 0 },
            parts: None,
            library: String::new(),
            origin: None,
            turns: Vec::new(),
            status: Status::Measured,
        };
        if let Some(lack) = program.needs.iter().find_map(Need::explain_missing) {
            weighed.status = Status::Skipped(lack);
        } else if let Err(error) = weighed.build() {
            weighed.status = Status::Failed(format!("{error:#}"));
        }
        weighed
    }

    fn build(&mut self) -> Result<()> {
        let (making, folder) = (&self.program.making, &self.folder);
        fs::create_dir_all(folder)?;
        self.sources = making.write(folder)?;
        if let Some(command) = making.compile(folder)? {
            compile_time(command)?;
        }
        self.prove()?;
        self.parts = Some(making.parts(folder)?);
        let (library, origin) = making.origin(folder);
        (self.library, self.origin) = (library, Some(origin));
        Ok(())
    }

    /// It sends what it should, and reads it.
    fn prove(&self) -> Result<()> {
        let start = || self.program.making.start(&self.folder);
        let Some(message) = self.program.message else {
            let back = answer(start()?, TEXT.as_bytes())?;
            ensure!(back == TEXT.as_bytes(), "does not return the message that it gets");
            return Ok(());
        };
        let sent = answer(start()?, &[])?;
        let (size, wanted) = (sent.len(), message.size());
        ensure!(size as f64 == wanted, "sends {size} bytes, but the message has {wanted}");
        let mut reading = start()?;
        reading.arg("read");
        let read = answer(reading, &sent)?;
        let read = String::from_utf8_lossy(&read);
        ensure!(read == TEXT, "reads '{}'", read.trim_end().replace('\n', "', '"));
        Ok(())
    }

    /// Compiles it once more.
    fn compile(&mut self) {
        if self.status != Status::Measured {
            return;
        }
        let command = self.program.making.compile(&self.folder);
        match command.and_then(|command| command.map(compile_time).transpose()) {
            Ok(ns) => self.turns.extend(ns.map(Some)),
            Err(error) => self.status = Status::Failed(format!("{error:#}")),
        }
    }

    fn measurement(&self) -> Option<Measurement> {
        (self.status == Status::Measured && !self.turns.is_empty()).then(|| Measurement {
            case: CASE.into(),
            subject: self.program.id.into(),
            metric: "compile".into(),
            unit: "ns".into(),
            iterations: vec![1; self.turns.len()],
            samples: self.turns.iter().map(|ns| vec![*ns]).collect(),
        })
    }

    /// What is counted of it; beside the others, as one of its language has no message.
    fn facts(&self, all: &[ProgramWeight]) -> Vec<Fact> {
        let (Status::Measured, Some(parts)) = (&self.status, &self.parts) else {
            return Vec::new();
        };
        let without = |other: &&ProgramWeight| {
            other.program.key == self.program.key && other.program.message.is_none()
        };
        let without = all.iter().find(without).and_then(|other| other.parts.as_ref());
        let is_own = |library: &&(String, u64)| {
            without.is_none_or(|parts| !parts.libraries.contains(library))
        };
        let libraries: u64 = parts.libraries.iter().filter(is_own).map(|(_, bytes)| bytes).sum();
        let figures = [
            ("weight", "B", parts.program + libraries),
            ("weight/program", "B", parts.program),
            ("weight/libraries", "B", libraries),
            ("libraries", "1", parts.libraries.len() as u64),
            ("lines/program", "1", self.sources.program as u64),
            ("lines/generated", "1", self.sources.generated as u64),
        ];
        let fact = |(metric, unit, value): (&str, &str, u64)| Fact {
            case: CASE.into(),
            subject: self.program.id.into(),
            metric: metric.into(),
            unit: unit.into(),
            value: value as f64,
        };
        figures.into_iter().map(fact).collect()
    }

    fn subject(self) -> Subject {
        let Program { id, title, language, built, options, message, .. } = self.program;
        Subject {
            library: self.library,
            built: (*built).into(),
            origin: self.origin,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            bound: message.is_none(),
            status: self.status,
            ..Subject::new(*id, *title, language)
        }
    }
}

/// What a program answers.
fn answer(mut command: Command, input: &[u8]) -> Result<Vec<u8>> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the program")?;
    // A message fits into the pipe; one that does not read it is found by what it says.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "fails: {} {}", output.status, first_error(&[&said]));
    Ok(output.stdout)
}
