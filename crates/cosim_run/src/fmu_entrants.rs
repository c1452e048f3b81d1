//! Who takes part in a co-simulation: the project's own FMUs, built on first
//! use, as entrants of a plan.

use std::path::PathBuf;

use anyhow::{ensure, Result};
use wiregauge_build_tools::{default_build_folder, Progress};
use wiregauge_cosim::master::plan::{Entrant, HostWork, Load, Pair};
use wiregauge_cosim::package::coupling::VariableChoice;
use wiregauge_osi::fmus::{self, Build, Encoding, Fmu, Model, ENCODINGS};
use wiregauge_result::run::{Case, Parameter, Status, Subject};

/// One subject: an encoding, as it is built and coupled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// How messages are written.
    pub encoding: Encoding,
    /// How its FMUs are compiled.
    pub build: Build,
    /// FMI's version: 2 or 3.
    pub fmi: u8,
    /// Ids of the only cases that it takes; all where empty.
    pub only: Vec<String>,
}

impl Member {
    /// An encoding as it is measured unless one says otherwise.
    pub fn new(encoding: Encoding) -> Member {
        Member { encoding, build: Build::Release, fmi: 2, only: Vec::new() }
    }

    fn id(&self) -> String {
        let fmi = if self.fmi == 3 { "-fmi3" } else { "" };
        let build = if self.build == Build::Debug { "-debug" } else { "" };
        format!("{}{fmi}{build}", self.encoding.name)
    }

    fn title(&self) -> String {
        let fmi = if self.fmi == 3 { ", FMI 3" } else { "" };
        let build = if self.build == Build::Debug { ", debug" } else { "" };
        format!("{}{fmi}{build}", self.encoding.title)
    }

    fn fmu(&self, model: Model) -> Fmu {
        Fmu { model, encoding: self.encoding, fmi: self.fmi, build: self.build }
    }
}

/// The encodings of these names; all for `all`.
///
/// # Errors
/// When there is no such encoding.
pub fn encodings(names: &[String]) -> Result<Vec<Encoding>> {
    for name in names.iter().filter(|name| *name != "all") {
        let known: Vec<&str> = ENCODINGS.iter().map(|encoding| encoding.name).collect();
        ensure!(
            known.contains(&name.as_str()),
            "unknown encoding '{name}'; choose from {}",
            known.join(", ")
        );
    }
    let wanted = |e: &Encoding| names.iter().any(|name| name == "all" || name == e.name);
    Ok(ENCODINGS.into_iter().filter(wanted).collect())
}

/// The encodings of these names in each build and each version of FMI that they have.
///
/// # Errors
/// When there is no such encoding, or none has such a version of FMI.
pub fn members(names: &[String], builds: &[Build], fmi_versions: &[u8]) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    for encoding in encodings(names)? {
        for &build in builds {
            for &fmi in fmi_versions.iter().filter(|fmi| **fmi == 2 || encoding.fmi3) {
                members.push(Member { build, fmi, ..Member::new(encoding) });
            }
        }
    }
    ensure!(
        !members.is_empty(),
        "these encodings have no FMI 3 FMUs; choose from protobuf, protobuf-arena and packed"
    );
    Ok(members)
}

/// Builds FMUs: their paths, or why one does not compile, in order.
///
/// # Errors
/// When the build folder cannot be used, or `progress` ends the build.
pub fn build_fmus(wanted: &[Fmu], progress: Progress) -> Result<Vec<Result<PathBuf>>> {
    fmus::build(&default_build_folder()?, wanted, progress)
}

/// How all of them are run.
#[derive(Clone, Copy, Debug)]
pub struct FmuEntrants {
    /// What takes the source's messages.
    pub model: Model,
    /// Whether FlatBuffers verifies before it reads.
    pub verify: bool,
    /// Whether the FMUs take new buffers and objects in each step.
    pub fresh: bool,
}

impl FmuEntrants {
    /// Builds the members' FMUs and makes entrants of them, and of a bound that
    /// moves the bytes of the packed messages, or else of the first ones.
    ///
    /// # Errors
    /// Those of [`build_fmus`]. An FMU that does not compile is its member's failure alone.
    pub fn entrants(&self, members: &[Member], progress: Progress) -> Result<Vec<Entrant>> {
        let wanted: Vec<Fmu> = members
            .iter()
            .flat_map(|member| [member.fmu(Model::Source), member.fmu(self.model)])
            .collect();
        let mut built = build_fmus(&wanted, progress)?.into_iter();
        let mut entrants = Vec::new();
        for member in members {
            let pair = match (built.next(), built.next()) {
                (Some(source), Some(model)) => source.and_then(|source| Ok((source, model?))),
                _ => unreachable!("two FMUs were asked for each member"),
            };
            entrants.push(self.entrant(member, pair));
        }
        let like = entrants.iter().find(|entrant| entrant.subject.id == "packed");
        let like = like.map(|entrant| entrant.subject.id.clone());
        entrants.push(memcpy(like));
        Ok(entrants)
    }

    fn entrant(&self, member: &Member, pair: Result<(PathBuf, PathBuf)>) -> Entrant {
        let mut subject = Subject::new(member.id(), member.title(), "C++");
        subject.options.push(format!("built for {}", member.build.name()));
        let switch = |on: bool, name: &str| on.then(|| (name.to_owned(), "true".to_owned()));
        let source_parameters: Vec<_> = switch(self.fresh, "fresh").into_iter().collect();
        let model_parameters: Vec<_> =
            switch(self.verify, "verify").into_iter().chain(source_parameters.clone()).collect();
        subject.options.extend(model_parameters.iter().map(|(name, _)| name.clone()));
        let work = match pair {
            Ok((source, model)) => Some(HostWork::Fmus(Box::new(Pair {
                source,
                source_parameters,
                model,
                model_parameters,
                wanted: VariableChoice::default(),
                ..Pair::default()
            }))),
            Err(error) => {
                subject.status = Status::Failed(format!("{error:#}"));
                None
            }
        };
        Entrant { subject, work, only: member.only.clone() }
    }
}

/// A bound that moves the bytes of another entrant's messages, or of the
/// first one's.
pub fn memcpy(like: Option<String>) -> Entrant {
    let subject = Subject { bound: true, ..Subject::new("memcpy", "memcpy", "Rust") };
    Entrant { subject, work: Some(HostWork::Memcpy(like)), only: Vec::new() }
}

/// FMUs of the user's own, and their bytes by memcpy.
pub fn user_entrants(source: PathBuf, model: PathBuf) -> Vec<Entrant> {
    let pair = Pair { source, model, ..Pair::default() };
    let fmus = Entrant {
        subject: Subject::new("fmus", "FMUs", "unknown"),
        work: Some(HostWork::Fmus(Box::new(pair))),
        only: Vec::new(),
    };
    vec![fmus, memcpy(None)]
}

/// What FMUs of the user's own are measured on: their own messages.
pub fn user_case() -> Load {
    Load {
        case: Case::new("own", "binary variable", "made by the source FMU"),
        source: Vec::new(),
        model: Vec::new(),
    }
}

/// The only pair of FMUs, with what the only case sets; none where there are several.
pub fn single_pair(cases: &[Load], entrants: &[Entrant]) -> Option<Pair> {
    let mut pairs = entrants.iter().filter_map(|entrant| match &entrant.work {
        Some(HostWork::Fmus(pair)) => Some(pair.as_ref()),
        _ => None,
    });
    let (Some(pair), None, [load]) = (pairs.next(), pairs.next(), cases) else { return None };
    let mut pair = pair.clone();
    pair.source_parameters.splice(0..0, load.source.iter().cloned());
    pair.model_parameters.splice(0..0, load.model.iter().cloned());
    Some(pair)
}

/// How much of OSI the objects carry that the source writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum SceneDetail {
    /// The full object data.
    Full,
    /// What the source of Persival's report wrote.
    Reference,
    /// What BMW's pedestrian reads.
    Pedestrian,
}

impl SceneDetail {
    /// As the source FMU is told.
    fn name(self) -> &'static str {
        match self {
            SceneDetail::Full => "full",
            SceneDetail::Reference => "reference",
            SceneDetail::Pedestrian => "pedestrian",
        }
    }
}

/// Each number of reflections with each number of objects.
pub fn scene_loads(scene: SceneDetail, reflections: &[u32], objects: &[u32]) -> Vec<Load> {
    let mut loads = Vec::new();
    for &some_reflections in reflections {
        for &some_objects in objects {
            let swept = match (reflections.len(), objects.len()) {
                (1, 2..) => Some(("objects", some_objects)),
                (2.., 1) => Some(("reflections", some_reflections)),
                _ => None,
            };
            loads.push(load(scene, some_reflections, some_objects, swept));
        }
    }
    loads
}

/// What the source is told to write.
pub fn load(
    scene: SceneDetail,
    reflections: u32,
    objects: u32,
    swept: Option<(&str, u32)>,
) -> Load {
    Load {
        case: Case {
            parameter: swept
                .map(|(name, value)| Parameter { name: name.into(), value: f64::from(value) }),
            ..Case::new(
                case_id(reflections, objects),
                "osi3.SensorView",
                format!("generated, scene '{}'", scene.name()),
            )
        },
        source: vec![
            ("reflections".into(), reflections.to_string()),
            ("objects".into(), objects.to_string()),
            ("scene".into(), scene.name().to_owned()),
        ],
        model: Vec::new(),
    }
}

/// The key of a case.
pub fn case_id(reflections: u32, objects: u32) -> String {
    format!("reflections={reflections},objects={objects}")
}
