//! Rows that are packed into a bundle, and measured from it on another machine.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::toolchain::Target;
use wiregauge_build_tools::{default_build_folder, Toolchain};
use wiregauge_bundle::{
    Board, BundleFiles, BundledCase, BundledReading, BundledRow, ElfFacts, Manifest, OpenedBundle,
    RemoteRun, ServedRun,
};
use wiregauge_child_process::reply::{NumberDigest, Reading};
use wiregauge_child_process::runner::Launch;
use wiregauge_footprint::SharedLibraries;
use wiregauge_formats::build::{build_allocation_counter, Variant};
use wiregauge_formats::Codec;
use wiregauge_gauge::rounds::Progress;
use wiregauge_gauge::runners::plan::{Entrant, Experiment, Load, Sample};
use wiregauge_result::run::{Run, Status, Subject};
use wiregauge_result::run_builder::{command_line, RunBuilder};
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::{file, interrupt};

use crate::codec_selection::{self, own_entrants, CodecEntrants, UserRunner};
use crate::compared_rows::{checked_pairs, library_pairs, ComparedRows};
use crate::libraries;
use crate::row_options::RowOptions;
use crate::row_plan::{RowPlan, Sampling};
use crate::workload::Workload;

/// The file of the schema in a bundle.
const SCHEMA: &str = "schema.json";
/// The C library's own, which every machine has, and which belongs to its kernel and loader.
const C_LIBRARY: [&str; 10] = [
    "ld-linux",
    "libc.so",
    "libm.so",
    "libmvec.so",
    "libdl.so",
    "librt.so",
    "libpthread.so",
    "libresolv.so",
    "libutil.so",
    "libanl.so",
];

/// What is packed.
pub struct BundleTask {
    /// One line that says what.
    pub title: String,
    /// The message and its values.
    pub workload: Workload,
    /// The seed that these are of.
    pub seed: u64,
    /// Who takes part.
    pub codecs: Vec<&'static Codec>,
    /// Runners of the user's own, built for the target.
    pub runners: Vec<UserRunner>,
    /// How rows are built.
    pub rows: RowOptions,
    /// The program for the target; none for this one.
    pub program: Option<PathBuf>,
}

/// The files of a bundle and what they are.
pub struct PackedRows {
    /// The files.
    pub files: BundleFiles,
    /// What they are.
    pub manifest: Manifest,
}

/// Builds the runners, and gathers all that a machine without compilers needs to measure them.
///
/// # Errors
/// What concerns all rows, as when there is no program for the target; what concerns one row
/// is its status.
pub fn pack_rows(mut task: BundleTask, show: Progress) -> Result<PackedRows> {
    let folder = default_build_folder()?;
    let stoppable = |what: &str, done: usize, total: usize| {
        show(what, done, total);
        interrupt::check().map_err(Into::into)
    };
    let machine = Target::machine();
    let target = task.rows.target.or(machine);
    let target = target.context("this machine's architecture is no target of bundles")?;
    let program = match &task.program {
        Some(program) => program.clone(),
        None if target.is_machine() => std::env::current_exe()?,
        None => bail!(
            "a bundle for {} needs a wiregauge for it; give one by --program FILE, from a \
             package or archive for {}",
            target.name,
            target.debian
        ),
    };
    let architecture = target.name.split('-').next().unwrap_or_default();
    let mut files = BundleFiles::new(architecture, &program)?;
    task.workload.set_small_array(task.rows.small_array);
    let mut variants = task.rows.libraries.variants(&task.codecs, &folder, &stoppable)?;
    let cross = match target.is_machine() {
        true => None,
        false => Some(libraries::cross_build(&mut variants, target, &folder, &stoppable)?),
    };
    let emulated = cross.is_some().then_some(target);
    let built = codec_selection::build(
        &task.workload,
        &variants,
        &task.runners,
        emulated,
        &folder,
        &stoppable,
    )?;
    let toolchain = cross.map_or(Toolchain::System, Toolchain::Cross);
    let counter = build_allocation_counter(&folder, &toolchain)?;
    files.add_program("allocations.so", &counter)?;
    let CodecEntrants { entrants, tools, libraries } = built;
    let mut rows = Vec::new();
    let total = entrants.len();
    for (done, entrant) in entrants.into_iter().enumerate() {
        stoppable(&format!("packing {}", entrant.subject.title), done, total)?;
        if let Some(launch) = entrant.runner.as_ref().filter(|_| !files.contains(SCHEMA)) {
            files.add_bytes(SCHEMA, launch.schema.clone())?;
        }
        rows.push(match variants.get(done) {
            Some(variant) => pack_row(&mut files, entrant, variant)?,
            None => pack_own_row(&mut files, entrant, &toolchain)?,
        });
    }
    if rows.iter().all(|row| row.program.is_none()) {
        let why = rows.iter().find_map(|row| row.subject.status.absence());
        bail!("no row can be packed: {}", why.map_or("none is chosen", |(_, why)| why));
    }
    let manifest = Manifest {
        target: target.name.into(),
        made: wiregauge_bundle::now(),
        title: task.title,
        seed: task.seed,
        tools,
        libraries,
        schema: SCHEMA.into(),
        rows,
        pairs: library_pairs(&variants),
        cases: pack_cases(&mut files, task.workload.loads()?)?,
        allocations: Some("allocations.so".into()),
        ..Manifest::new()
    };
    let manifest = files.describe(manifest);
    Ok(PackedRows { files, manifest })
}

/// Builds the runners, and leaves them in the build folder: for packages that carry them to
/// machines without compilers.
///
/// # Errors
/// When one cannot be built.
pub fn build_runners(mut task: BundleTask, show: Progress) -> Result<()> {
    let folder = default_build_folder()?;
    let stoppable = |what: &str, done: usize, total: usize| {
        show(what, done, total);
        interrupt::check().map_err(Into::into)
    };
    task.workload.set_small_array(task.rows.small_array);
    let variants = task.rows.libraries.variants(&task.codecs, &folder, &stoppable)?;
    let built = codec_selection::build(&task.workload, &variants, &[], None, &folder, &stoppable)?;
    for row in built.entrants.iter().map(|entrant| &entrant.subject) {
        if let Some((_, why)) = row.status.absence() {
            bail!("{} is not built: {why}", row.title);
        }
    }
    Ok(())
}

/// Packs a row's runner with the shared libraries that it loads.
fn pack_row(files: &mut BundleFiles, entrant: Entrant, variant: &Variant) -> Result<BundledRow> {
    let Entrant { mut subject, runner, .. } = entrant;
    let Some(Launch { program, .. }) = runner else {
        return Ok(BundledRow { subject, program: None, libraries: Vec::new() });
    };
    let language = variant.codec.language.name;
    let refused = match ElfFacts::read(&program)? {
        None => Some(format!(
            "it is not in the bundle: its runner is a script that starts the {language} of the \
             machine that built it"
        )),
        Some(ElfFacts { loader: Some(loader), .. }) if !loader.starts_with("/lib") => Some(
            "it is not in the bundle: it is linked with the C library of another release".into(),
        ),
        Some(_) => None,
    };
    if let Some(why) = refused {
        subject.status = Status::Skipped(why);
        return Ok(BundledRow { subject, program: None, libraries: Vec::new() });
    }
    pack_program(files, subject, &program, &variant.toolchain)
}

/// Packs a runner of the user's own. What cannot be packed is an error: it was asked for by name.
fn pack_own_row(
    files: &mut BundleFiles,
    entrant: Entrant,
    toolchain: &Toolchain,
) -> Result<BundledRow> {
    let Entrant { subject, runner, .. } = entrant;
    let Launch { program, arguments, .. } =
        runner.context("a runner of one's own has a program")?;
    let name = &subject.id;
    let shown = program.display();
    let facts = ElfFacts::read(&program)
        .with_context(|| format!("the runner {name} cannot be read; give the path of a program"))?;
    ensure!(
        arguments.is_empty() && facts.is_some(),
        "the runner {name} is no program alone; a bundle takes programs without arguments that \
         need no interpreter"
    );
    pack_program(files, subject, &program, toolchain)
        .with_context(|| format!("the runner {shown} cannot be packed"))
}

/// Packs a program with the shared libraries that it loads.
fn pack_program(
    files: &mut BundleFiles,
    subject: Subject,
    program: &Path,
    toolchain: &Toolchain,
) -> Result<BundledRow> {
    let mut row_libraries = Vec::new();
    for library in SharedLibraries::find(program, toolchain)?.0 {
        if !C_LIBRARY.iter().any(|name| library.name.starts_with(name)) {
            row_libraries.push(files.add_library(&library.name, &library.path)?);
        }
    }
    let path = format!("runners/{}", subject.id);
    files.add_program(&path, program)?;
    Ok(BundledRow { subject, program: Some(path), libraries: row_libraries })
}

fn pack_cases(files: &mut BundleFiles, loads: Vec<Load>) -> Result<Vec<BundledCase>> {
    let mut cases = Vec::new();
    for (number, Load { case, samples }) in loads.into_iter().enumerate() {
        let mut messages = Vec::new();
        let mut readings = Vec::new();
        for (at, sample) in samples.into_iter().enumerate() {
            let path = format!("messages/{number}/{at}");
            files.add_bytes(&path, sample.canonical)?;
            messages.push(path);
            readings.push(sample.readings.map(|reading| BundledReading {
                sum: reading.sum.to_bits(),
                count: reading.numbers.count,
                hash: reading.numbers.hash,
            }));
        }
        cases.push(BundledCase { case, messages, readings });
    }
    Ok(cases)
}

/// What is measured of a bundle.
pub struct BundleRun {
    /// Codecs of its rows; all where none is named. Bounds take part in any case.
    pub codecs: Vec<String>,
    /// Runners of the user's own, on the machine that measures.
    pub runners: Vec<UserRunner>,
    /// What is measured of each.
    pub experiments: Vec<Experiment>,
    /// The slowdown that makes the command fail, if one is to.
    pub fail_above: Option<f64>,
    /// How samples are taken.
    pub sampling: Sampling,
}

impl BundleRun {
    /// Measures the rows of a bundle, which is a folder or a file. The seed is the one that it
    /// was made with.
    ///
    /// # Errors
    /// When it is no whole bundle that this machine can measure; what concerns all rows, or an
    /// interruption before anything was measured.
    pub fn measure(self, path: &Path, builder: RunBuilder, show: Progress) -> Result<Run> {
        show("checking the bundle", 0, 0);
        let bundle = OpenedBundle::open(path)?;
        let BundleRun { codecs, runners, experiments, fail_above, mut sampling } = self;
        let manifest = &bundle.manifest;
        let schema = bundle.read(&manifest.schema)?;
        let of = |row: &BundledRow| row.subject.id.split('@').next().unwrap_or_default().to_owned();
        for name in &codecs {
            let known: Vec<String> = manifest.rows.iter().map(of).collect();
            ensure!(
                known.contains(name),
                "the bundle has no row of '{name}'; choose from {}",
                known.join(", ")
            );
        }
        let is_wanted =
            |row: &&BundledRow| row.subject.bound || codecs.is_empty() || codecs.contains(&of(row));
        let rows = manifest.rows.iter().filter(is_wanted);
        let mut entrants: Vec<Entrant> =
            rows.map(|row| bundled_entrant(&bundle, row, &schema)).collect();
        let is_there = |id: &str| entrants.iter().any(|entrant| entrant.subject.id == id);
        let pairs = manifest.pairs.iter().filter(|pair| is_there(&pair.old) && is_there(&pair.new));
        let pairs = pairs.cloned().collect();
        entrants.extend(own_entrants(&runners, &schema)?);
        let cases = manifest.cases.iter().map(|case| unpack_case(&bundle, case));
        let cases = cases.collect::<Result<_>>()?;
        let compared = ComparedRows::of_bundle(pairs, fail_above, &entrants)?;
        let (tools, libraries) = (manifest.tools.clone(), manifest.libraries.clone());
        let built = CodecEntrants { entrants, tools, libraries };
        let mut plan = RowPlan::new(manifest.title.clone(), cases, built, experiments);
        plan.compare_bundled(compared);
        if let Some(counter) = &manifest.allocations {
            plan.count_allocations(bundle.path(counter));
        }
        sampling.effort.seed = manifest.seed;
        sampling.settings.seed = manifest.seed;
        plan.measure(sampling, builder, show, |_| {})
    }

    /// Measures a bundle on behalf of another machine, which is told what goes on, and has the
    /// result.
    ///
    /// # Errors
    /// As [`BundleRun::measure`], and when the other machine is gone.
    pub fn serve(self, path: &Path) -> Result<()> {
        let served = ServedRun::begin()?;
        let builder = RunBuilder::begin(RunKind::Codecs);
        let show = |what: &str, done: usize, total: usize| served.show(what, done, total);
        let run = self.measure(path, builder, &show)?;
        served.finish(&run.text()?)
    }
}

/// Builds the runners, and writes a bundle of them. Returns what it is, in a line.
///
/// # Errors
/// Those of [`pack_rows`], and when it cannot be written; then nothing is left.
pub fn write_bundle(task: BundleTask, target: file::Target, show: Progress) -> Result<String> {
    let shown = target.display_name().to_owned();
    let PackedRows { files, manifest } = pack_rows(task, show)?;
    show("compressing", 0, 0);
    let mut draft = target.start_draft()?;
    files.pack(&manifest, &mut draft)?;
    draft.finish()?;
    let (packed, all) = (manifest.rows.iter().filter(|r| r.program.is_some()), &manifest.rows);
    let mut said = format!(
        "bundle written to {shown}: {} of {} rows for {}, glibc {} or newer; docs/targets.md says \
         how to measure it",
        packed.count(),
        all.len(),
        manifest.target,
        manifest.glibc
    );
    for BundledRow { subject, .. } in all {
        if let Some((_, why)) = subject.status.absence() {
            said += &format!("\n{}: {why}", subject.title);
        }
    }
    Ok(said)
}

/// Builds the runners, and measures them on another machine; `words` say how.
///
/// # Errors
/// Those of [`pack_rows`], and when the machine cannot be reached or cannot measure them.
pub fn measure_on(
    board: &Board,
    task: BundleTask,
    words: &[String],
    fail_above: Option<f64>,
    show: Progress,
) -> Result<Run> {
    let PackedRows { files, manifest } = pack_rows(task, show)?;
    checked_pairs(manifest.pairs.clone(), fail_above)?;
    let run = RemoteRun { board, files: &files, manifest: &manifest, arguments: words };
    let result = run.measure(show)?;
    let mut run = Run::parse(&result, &format!("the result of {board}"))?;
    run.command = command_line();
    if let Some(compared) = &mut run.compared {
        compared.fail_above = fail_above;
    }
    Ok(run)
}

fn bundled_entrant(bundle: &OpenedBundle, row: &BundledRow, schema: &[u8]) -> Entrant {
    let folder = |library: &String| bundle.path(library).parent().map(Path::to_owned);
    let runner = row.program.as_ref().map(|program| Launch {
        id: row.subject.id.clone(),
        program: bundle.path(program),
        schema: schema.to_vec(),
        libraries: row.libraries.iter().filter_map(folder).collect(),
        ..Launch::default()
    });
    Entrant { subject: row.subject.clone(), runner, judge: None }
}

fn unpack_case(bundle: &OpenedBundle, packed: &BundledCase) -> Result<Load> {
    let BundledCase { case, messages, readings } = packed;
    let sample = |(message, readings): (&String, &[BundledReading; 3])| {
        let reading = |reading: &BundledReading| Reading {
            sum: f64::from_bits(reading.sum),
            numbers: NumberDigest { count: reading.count, hash: reading.hash },
        };
        let readings = [&readings[0], &readings[1], &readings[2]].map(reading);
        Ok(Sample { canonical: bundle.read(message)?, readings })
    };
    let samples = messages.iter().zip(readings).map(sample).collect::<Result<_>>()?;
    Ok(Load { case: case.clone(), samples })
}
