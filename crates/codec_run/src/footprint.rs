//! What codecs add to a program: sections, stack and heap.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::Progress;
use wiregauge_child_process::child::ChildFailure;
use wiregauge_child_process::runner::Launch;
use wiregauge_footprint::{run, Cost, Sections, SharedLibraries};
use wiregauge_formats::build::footprint::{
    has_own_base, FootprintLevel, FootprintPart, FootprintProgram,
};
use wiregauge_formats::build::Variant;
use wiregauge_formats::footprint_base;
use wiregauge_gauge::runners::plan::{Entrant, Load};
use wiregauge_instructions::Emulator;
use wiregauge_result::run::{Fact, Status, Subject};
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::memory::format_bytes;

/// What is measured of a codec.
const PARTS: [FootprintPart; 3] =
    [FootprintPart::Encode, FootprintPart::Decode, FootprintPart::Both];

/// The rows whose programs are built: those of `variants`, and behind them the programs
/// without a codec that they are held against.
///
/// # Errors
/// When two rows need different programs without a codec under one name.
pub fn with_bases(variants: &[Variant]) -> Result<Vec<Variant>> {
    let rows = variants.iter().map(|row| Variant { is_footprint: true, ..row.clone() });
    let mut all: Vec<Variant> = rows.collect();
    for at in 0..variants.len() {
        let Some(base) = base_of(&all[at]) else { continue };
        match all[variants.len()..].iter().find(|other| other.id() == base.id()) {
            Some(other) => ensure!(
                other.flags() == base.flags(),
                "two rows have the label '{}' and different flags; give each a label of its own",
                base.label()
            ),
            None => all.push(base),
        }
    }
    Ok(all)
}

/// The program without a codec that a row is held against; none where it has its own, or
/// where none is built.
fn base_of(row: &Variant) -> Option<Variant> {
    let base = footprint_base::for_language(row.codec.language)?;
    let is_common = !has_own_base(row.codec);
    is_common.then(|| Variant { codec: base, release: None, is_footprint: true, ..row.clone() })
}

/// Measures the rows whose programs were built; `built` are the rows, and behind them the
/// programs without a codec, as [`with_bases`] orders them. Those of another architecture are
/// executed by an emulator.
///
/// # Errors
/// What concerns all rows, or an interruption; what concerns one row is its status.
pub fn measure(
    rows: &[Variant],
    mut built: Vec<Entrant>,
    cases: &[Load],
    emulator: Option<&Emulator>,
    patience: Duration,
    progress: Progress,
) -> Result<(Vec<Subject>, Vec<Fact>)> {
    let bases = built.split_off(rows.len());
    let bases: BTreeMap<String, Result<PathBuf, String>> =
        bases.into_iter().map(|base| (base.subject.id.clone(), programs(&base))).collect();
    let mut facts = Vec::new();
    let mut subjects = Vec::new();
    for (done, (row, entrant)) in rows.iter().zip(built).enumerate() {
        progress(&format!("measuring {}", entrant.subject.title), done, rows.len())?;
        let mut subject = entrant.subject.clone();
        if let Ok(folder) = programs(&entrant) {
            let base = match base_of(row) {
                None => Ok(folder.clone()),
                Some(base) => bases.get(&base.id()).context("each row has a base")?.clone(),
            };
            let weighed = base
                .map_err(|why| anyhow::anyhow!("the program without a codec: {why}"))
                .and_then(|base| {
                    let level = FootprintLevel::O2;
                    let programs = RowRun {
                        folder: &folder,
                        level,
                        is_bound: subject.bound,
                        emulator,
                        patience,
                    };
                    measure_row(row, &mut subject, &programs, &base, cases)
                });
            match weighed {
                Ok(own) => facts.extend(own),
                Err(error) if error.is::<Interrupted>() => bail!(error),
                Err(error) => {
                    subject.status = match error.downcast::<Unsayable>() {
                        Ok(Unsayable(why)) => Status::Rejected(why),
                        Err(error) => Status::Failed(format!("{error:#}")),
                    }
                }
            }
        }
        subjects.push(subject);
    }
    Ok((subjects, facts))
}

/// The folder of a row's programs, or why there is none.
fn programs(built: &Entrant) -> Result<PathBuf, String> {
    match (&built.subject.status, &built.runner) {
        (Status::Measured, Some(runner)) => Ok(runner.program.clone()),
        (status, _) => Err(status.absence().map_or("", |(_, why)| why).to_owned()),
    }
}

fn measure_row(
    row: &Variant,
    subject: &mut Subject,
    programs: &RowRun,
    base: &Path,
    cases: &[Load],
) -> Result<Vec<Fact>> {
    let folder = programs.folder;
    let mut figures = Vec::new();
    for level in FootprintLevel::ALL {
        let program = |part| FootprintProgram { part, level, is_shared_base: false };
        let whole = folder.join(program(FootprintPart::Both).file_name());
        let libraries = SharedLibraries::find(&whole, &row.toolchain)?;
        let is_shared = !libraries.0.is_empty();
        let is_common = base != folder;
        let nothing = FootprintProgram {
            is_shared_base: is_shared && is_common,
            ..program(FootprintPart::Nothing)
        };
        let without = Sections::read(&base.join(nothing.file_name()))?;
        let shared = libraries.beyond_language();
        for part in PARTS {
            let own = Sections::read(&folder.join(program(part).file_name()))?;
            let added = own.beyond(&without) + shared;
            let named = added.named().into_iter();
            figures.extend(named.map(|(name, bytes)| (metric(name, level, part), bytes)));
        }
        if level == FootprintLevel::O2 {
            subject.built = describe_linking(&subject.built, &libraries);
            let named = shared.named().into_iter().filter(|_| is_shared);
            figures.extend(named.map(|(name, bytes)| (format!("libraries/{name}"), bytes)));
        }
    }
    let mut facts = Vec::new();
    for load in cases {
        let fact = |metric: &str, unit: &str, value: f64| Fact {
            case: load.case.id.clone(),
            subject: subject.id.clone(),
            metric: metric.into(),
            unit: unit.into(),
            value,
        };
        facts.extend(figures.iter().map(|(metric, bytes)| fact(metric, "B", *bytes as f64)));
        for level in FootprintLevel::ALL {
            let (costs, size) = RowRun { level, ..*programs }.largest(load)?;
            for (part, cost) in [FootprintPart::Encode, FootprintPart::Decode].iter().zip(costs) {
                facts.push(fact(&metric("stack", level, *part), "B", cost.stack as f64));
                if level == FootprintLevel::O2 {
                    let name = |name: &str| metric(name, level, *part);
                    facts.push(fact(&name("heap-peak"), "B", cost.heap_peak as f64));
                    facts.push(fact(&name("first-allocations"), "1", cost.allocations as f64));
                }
            }
            if level == FootprintLevel::O2 {
                facts.push(fact("size", "B", size));
            }
        }
    }
    Ok(facts)
}

/// `text/encode`, and where it is optimized for size `text-Os/encode`.
fn metric(name: &str, level: FootprintLevel, part: FootprintPart) -> String {
    match level {
        FootprintLevel::O2 => format!("{name}/{}", part.name()),
        FootprintLevel::Os => format!("{name}-{}/{}", level.name(), part.name()),
    }
}

/// How a library was built, and how the programs are linked with it.
fn describe_linking(built: &str, libraries: &SharedLibraries) -> String {
    let size = |sections: Sections| {
        let bytes: u64 = sections.named().iter().map(|(_, bytes)| bytes).sum();
        format_bytes(bytes.into())
    };
    if libraries.0.is_empty() {
        return format!("{built}; linked statically");
    }
    let (language, others): (Vec<_>, Vec<_>) =
        libraries.0.iter().partition(|library| library.is_of_language);
    let named = |library: &&wiregauge_footprint::SharedLibrary| {
        format!("{} ({})", library.name, size(library.sections))
    };
    let others: Vec<String> = others.iter().map(named).collect();
    let language = size(language.iter().map(|library| library.sections).sum());
    format!(
        "{built}; no archive of it is there, so these shared libraries count as a whole: {}; not \
         counted are those of the language ({language})",
        others.join(", ")
    )
}

/// The exit status of a program whose format cannot say the message.
const UNSAYABLE: i32 = 2;

/// That the format cannot say a message, and why.
#[derive(Debug)]
struct Unsayable(String);

impl std::fmt::Display for Unsayable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsayable {}

/// A row's programs of one level.
struct RowRun<'a> {
    folder: &'a Path,
    level: FootprintLevel,
    is_bound: bool,
    emulator: Option<&'a Emulator>,
    patience: Duration,
}

impl RowRun<'_> {
    /// The most that encoding and decoding take for any message of a case, and the mean of
    /// the encoded sizes. Each message must come back as it was.
    fn largest(&self, load: &Load) -> Result<([Cost; 2], f64)> {
        let mut costs = [Cost::default(); 2];
        let mut size = 0;
        for sample in &load.samples {
            let canonical = &sample.canonical;
            let both = self.run(FootprintPart::Both, canonical, &[])?;
            self.compare("both", canonical, &both.canonical)?;
            let encode = self.run(FootprintPart::Encode, canonical, &both.encoded)?;
            let decode = self.run(FootprintPart::Decode, canonical, &encode.encoded)?;
            self.compare("decode", canonical, &decode.canonical)?;
            size += encode.encoded.len();
            for (most, cost) in costs.iter_mut().zip([encode.encode, decode.decode]) {
                *most = Cost {
                    stack: most.stack.max(cost.stack),
                    heap_peak: most.heap_peak.max(cost.heap_peak),
                    allocations: most.allocations.max(cost.allocations),
                };
            }
        }
        Ok((costs, size as f64 / load.samples.len().max(1) as f64))
    }

    fn run(
        &self,
        part: FootprintPart,
        canonical: &[u8],
        encoded: &[u8],
    ) -> Result<wiregauge_footprint::Outcome> {
        let program = FootprintProgram { part, level: self.level, is_shared_base: false };
        let name = program.file_name();
        match run(self.command(self.folder.join(&name)), canonical, encoded, self.patience) {
            Ok(outcome) => Ok(outcome),
            Err(ChildFailure::Interrupted) => bail!(Interrupted),
            Err(ChildFailure::Died(death))
                if death.status.and_then(|status| status.code()) == Some(UNSAYABLE) =>
            {
                bail!(Unsayable(death.stderr.trim().to_owned()))
            }
            Err(why) => bail!("the program {name} {why}"),
        }
    }

    /// How a program is started.
    fn command(&self, program: PathBuf) -> Command {
        let Some(emulator) = self.emulator else { return Command::new(program) };
        let emulated = emulator.emulate(&Launch { program, ..Launch::default() });
        let mut command = Command::new(emulated.program);
        command.args(emulated.arguments);
        command
    }

    /// Bounds carry nothing.
    fn compare(&self, part: &str, sent: &[u8], came: &[u8]) -> Result<()> {
        ensure!(
            self.is_bound || sent == came,
            "the program {part}-{} makes another message of it",
            self.level.name()
        );
        Ok(())
    }
}
