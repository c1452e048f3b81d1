//! The codecs that take part, and a runner for each that can.

use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use indexmap::IndexMap;
use wiregauge_build_tools::toolchain::Target;
use wiregauge_build_tools::{Need, Progress};
use wiregauge_child_process::runner::Launch;
use wiregauge_formats::build::{self, Variant};
use wiregauge_formats::{packaged_library, Codec, RunnerLanguage, Support};
use wiregauge_gauge::runners::plan::Entrant;
use wiregauge_result::run::{Origin, Status, Subject};

use crate::tools;
use crate::workload::{self, Workload};

/// A runner of the user's own: `--runner NAME=COMMAND`.
#[derive(Clone, Debug, PartialEq)]
pub struct UserRunner {
    name: String,
    command: Vec<String>,
}

impl UserRunner {
    /// How its row is called.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl std::str::FromStr for UserRunner {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<UserRunner> {
        let (name, command) = text.split_once('=').context("write NAME=COMMAND")?;
        let command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        ensure!(!name.is_empty() && !command.is_empty(), "write NAME=COMMAND");
        ensure!(
            Codec::find(name).is_none(),
            "{name} is the name of a built-in codec; give another name"
        );
        Ok(UserRunner { name: name.into(), command })
    }
}

/// A field's length: `PATH=N`.
pub fn length(text: &str) -> Result<(String, usize)> {
    let (path, length) = text.split_once('=').context("write PATH=N")?;
    Ok((path.into(), workload::parse_length(length)?))
}

/// A language of runners by its key; `all` for every one.
pub fn parse_languages(text: &str) -> Result<Vec<&'static RunnerLanguage>> {
    let mut all: Vec<_> = Codec::all().into_iter().map(|codec| codec.language).collect();
    all.sort_by_key(|language| language.key);
    all.dedup();
    let known: Vec<&str> = all.iter().map(|language| language.key).collect();
    match all.iter().find(|language| language.key == text) {
        Some(language) => Ok(vec![*language]),
        None if text == "all" => Ok(all),
        None => bail!("unknown language '{text}'; choose from {}, and all", known.join(", ")),
    }
}

/// The codecs of these names in these languages, and the languages' bounds. All of
/// a language where none is named; where no language is, the default ones and those
/// of what is named; where no default one can be compiled on this machine, those that need no
/// compiler, too. What wiregauge itself has written takes part where it or its
/// language is named: a table by itself is of what others have made.
pub fn select_codecs(
    names: &[String],
    languages: &[&RunnerLanguage],
) -> Result<Vec<&'static Codec>> {
    let all = Codec::all();
    let mut named = Vec::new();
    for name in names {
        let Some(codec) = Codec::find(name) else {
            let known: Vec<&str> = all.iter().map(|codec| codec.name).collect();
            bail!("unknown codec '{name}'; choose from {}", known.join(", "));
        };
        ensure!(
            languages.is_empty() || languages.contains(&codec.language),
            "{name} is in {}; add {} to --language",
            codec.language.name,
            codec.language.key
        );
        named.push(codec);
    }
    let is_here = |needs: &[Need]| needs.iter().all(Need::is_installed);
    // Without compilers the languages take part that need none.
    let is_compiled =
        |codec: &&Codec| codec.language.is_default && is_here(codec.language.compilers);
    let without_compilers = names.is_empty() && !all.iter().any(is_compiled);
    let takes_part = |codec: &&&Codec| match languages {
        [] => {
            let language = codec.language;
            let is_named = |other: &&Codec| other.language == language;
            let is_ready = || language.compilers.is_empty() && is_here(language.needs);
            language.is_default || named.iter().any(is_named) || without_compilers && is_ready()
        }
        some => some.contains(&codec.language),
    };
    let wanted = all.iter().filter(takes_part).filter(|codec| {
        let is_by_itself = !codec.is_opt_in() || !languages.is_empty();
        codec.is_bound
            || names.is_empty() && is_by_itself
            || names.iter().any(|name| name == codec.name)
    });
    Ok(wanted.copied().collect())
}

/// Every codec with its options and the calls that are timed, as Markdown that a terminal can show too.
pub fn describe_codecs() -> String {
    let mut text = String::new();
    for codec in Codec::all() {
        let language = codec.language.name;
        text += &format!("- **{}** `{}` ({language})", codec.title, codec.name);
        if let Some(missing) = tools::missing(codec) {
            text += &format!(", {} is missing: apt-get install {}", missing.tool, missing.package);
        }
        text.push('\n');
        for option in codec.options {
            text += &format!("  - {option}\n");
        }
        for call in codec.calls {
            text += &format!("  - `{call}`\n");
        }
    }
    text
}

/// Who takes part, and what their runners were built with.
pub struct CodecEntrants {
    /// A row each.
    pub entrants: Vec<Entrant>,
    /// Compilers, flags and packages, as they were when the runners were built.
    pub tools: IndexMap<String, String>,
    /// The library of a row, where its runner would say another.
    pub libraries: IndexMap<String, String>,
}

/// Builds the runners of `variants` for the workload; for a target, where its programs are
/// emulated.
pub fn build(
    workload: &Workload,
    variants: &[Variant],
    own: &[UserRunner],
    target: Option<&Target>,
    folder: &Path,
    progress: Progress,
) -> Result<CodecEntrants> {
    let schema = serde_json::to_vec(&serde_json::json!({
        "schema": workload.schema,
        "projection": workload.projection,
    }))?;
    // Before minutes of building.
    let own = own_entrants(own, &schema)?;
    let mut able = Vec::new();
    let mut out = Vec::new();
    for variant in variants {
        let refused = target.and_then(|target| not_emulated(variant, target));
        match refused.or_else(|| unavailable_reason(variant, workload)) {
            Some(status) => out.push((variant.id(), status)),
            None => able.push(variant.clone()),
        }
    }
    let built =
        build::build_variants(folder, &workload.schema, &workload.projection, &able, progress)?;
    let mut built = built.into_iter();
    let mut entrants = Vec::new();
    let mut tools = IndexMap::new();
    let mut libraries = IndexMap::new();
    for variant in variants {
        let id = variant.id();
        let (status, program, origin) = match out.iter().find(|(name, _)| *name == id) {
            Some((_, status)) => (status.clone(), None, None),
            None => {
                let built = built.next().context("an outcome for every row")?;
                libraries.extend(built.library.map(|library| (id.clone(), library)));
                match built.program {
                    Ok(program) => (Status::Measured, Some(program), Some(built.origin)),
                    Err(error) => {
                        // What was built before needs no compiler.
                        let failed = || Status::Failed(format!("{error:#}"));
                        let lack = missing_compiler(variant);
                        let status = lack.map_or_else(failed, Status::Skipped);
                        (status, None, Some(built.origin))
                    }
                }
            }
        };
        let runner = program.map(|program| Launch {
            id: id.clone(),
            program,
            schema: schema.clone(),
            ..Launch::default()
        });
        if let Some(origin) =
            origin.clone().filter(|_| runner.is_some() && variant.label().is_empty())
        {
            let language = variant.codec.language.name;
            tools.insert(format!("{language} compiler"), origin.compiler);
            tools.insert(format!("{language} flags"), origin.flags);
            tools.extend(origin.packages);
        }
        let subject = subject(variant, workload, status, origin);
        entrants.push(Entrant { subject, runner, judge: None });
    }
    entrants.extend(own);
    Ok(CodecEntrants { entrants, tools, libraries })
}

/// The rows of the user's own runners, which are told this schema.
///
/// # Errors
/// When two have one name.
pub fn own_entrants(own: &[UserRunner], schema: &[u8]) -> Result<Vec<Entrant>> {
    let entrant = |(at, runner): (usize, &UserRunner)| {
        let UserRunner { name, command } = runner;
        ensure!(
            own[..at].iter().all(|other| other.name != *name),
            "two runners have the name '{name}'; give them different names"
        );
        let subject = Subject {
            options: vec![format!("runner: {}", command.join(" "))],
            ..Subject::new(name, name, "own")
        };
        let runner = Launch {
            id: name.clone(),
            program: command[0].clone().into(),
            arguments: command[1..].to_vec(),
            schema: schema.to_vec(),
            ..Launch::default()
        };
        Ok(Entrant { subject, runner: Some(runner), judge: None })
    };
    own.iter().enumerate().map(entrant).collect()
}

/// That a row is no program of its own, which an emulator could execute.
fn not_emulated(variant: &Variant, target: &Target) -> Option<Status> {
    let language = variant.codec.language;
    let why = format!("{} is not emulated: no program is built for {}", language.name, target.name);
    language.link_time.is_empty().then_some(Status::Skipped(why))
}

/// Why a row cannot take part; none where it can.
fn unavailable_reason(variant: &Variant, workload: &Workload) -> Option<Status> {
    let codec = variant.codec;
    if let Some(why) = variant.toolchain.unavailable_reason() {
        return Some(Status::Failed(why.into()));
    }
    if variant.is_footprint && codec.language.footprint_flags.is_empty() {
        let why = format!("what is added to a program in {} is not measured", codec.language.name);
        return Some(Status::Skipped(why));
    }
    let toolchain = &variant.toolchain;
    if let Some(lack) = codec.needs.iter().find_map(|need| toolchain.explain_missing(need)) {
        return Some(Status::Skipped(lack));
    }
    if let Some(old) = packaged_library::explain_too_old(codec, &variant.packages()) {
        return Some(Status::Skipped(old));
    }
    match codec.check_schema(&workload.schema) {
        Support::Rejected(why) => Some(Status::Rejected(why)),
        _ => None,
    }
}

/// The compiler that a row's program is built with and that is missing.
fn missing_compiler(variant: &Variant) -> Option<String> {
    let missing = |need| variant.toolchain.explain_missing_compiler(need);
    variant.codec.language.compilers.iter().find_map(missing)
}

fn subject(
    variant: &Variant,
    workload: &Workload,
    status: Status,
    origin: Option<build::BuildOrigin>,
) -> Subject {
    let codec = variant.codec;
    let lowerings = match codec.check_schema(&workload.schema) {
        Support::Lowered(lowerings) => {
            lowerings.iter().map(|l| format!("{} (lost: {})", l.what, l.lost)).collect()
        }
        _ => Vec::new(),
    };
    Subject {
        id: variant.id(),
        title: variant.title(),
        language: codec.language.name.into(),
        library: String::new(),
        built: origin.as_ref().map_or_else(String::new, |origin| origin.library.clone()),
        origin: origin.map(|origin| Origin {
            compiler: origin.compiler,
            flags: origin.flags,
            packages: origin.packages.into_iter().collect(),
            year: origin.year,
            released: None,
            newest: None,
        }),
        options: codec.options.iter().map(|option| option.to_string()).collect(),
        bound: codec.is_bound,
        unchecked: false,
        lowerings,
        not_counted: String::new(),
        runner: None,
        status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str], language: &str) -> Vec<&'static str> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let languages =
            if language.is_empty() { vec![] } else { self::parse_languages(language).unwrap() };
        select_codecs(&names, &languages).unwrap().iter().map(|codec| codec.name).collect()
    }

    #[test]
    fn what_wiregauge_has_written_is_measured_where_it_is_asked_for() {
        let is_own = |name: &&&str| name.starts_with("generated-") || name.starts_with("packed-");
        let own = |names: Vec<&str>| names.iter().filter(is_own).count();
        assert_eq!(own(names(&[], "")), 0);
        assert_eq!(own(names(&[], "cpp")), 9);
        assert_eq!(own(names(&[], "rust")), 10);
        let some = names(&["ros-msg", "generated-ros-msg-cpp"], "");
        assert!(some.contains(&"ros-msg") && some.contains(&"generated-ros-msg-cpp"), "{some:?}");
        assert_eq!(own(some), 1);
    }
}
