//! The tools that codecs need: which are missing, and which versions there are.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use wiregauge_build_tools::versions::{installed_versions, CPP_FLAGS};
use wiregauge_build_tools::{is_root, Need};
use wiregauge_formats::Codec;
use wiregauge_result::warning::MissingTool;

/// What a codec needs and this machine lacks; none where it has all.
pub fn missing(codec: &Codec) -> Option<MissingTool> {
    let mut needs = codec.language.compilers.iter().chain(codec.needs);
    let (tool, package) = needs.find(|need| !need.is_installed())?.names();
    Some(MissingTool { tool: tool.to_string(), package: package.to_string() })
}

/// Everything that some codec needs and this machine lacks, each once.
pub fn missing_for_any() -> Vec<MissingTool> {
    let mut all: Vec<MissingTool> = Codec::all().into_iter().filter_map(missing).collect();
    all.sort_by(|a, b| (&a.package, &a.tool).cmp(&(&b.package, &b.tool)));
    all.dedup_by(|a, b| a.package == b.package);
    all
}

/// What rows need besides what each of them names, and what counts instructions and unpacks
/// the libraries of other releases and of targets.
const SHARED_NEEDS: [Need; 6] = [
    Need::Program("c++", "build-essential"),
    Need::Program("cmake", "cmake"),
    Need::Program("ninja", "ninja-build"),
    Need::Program("cargo", "rustup"),
    Need::Program("valgrind", "valgrind"),
    Need::Program("mmdebstrap", "mmdebstrap"),
];

/// The command that installs everything that some codec needs, or what is measured of it, and
/// this machine lacks; none where it has all.
pub fn install_command() -> Option<String> {
    let codecs = Codec::all().into_iter().flat_map(|codec| codec.needs);
    let needs = codecs.chain(&SHARED_NEEDS).filter(|need| !need.is_installed());
    let packages: BTreeSet<&str> = needs.map(|need| need.names().1).collect();
    let packages: Vec<&str> = packages.into_iter().collect();
    let sudo = if is_root() { "" } else { "sudo " };
    (!packages.is_empty())
        .then(|| format!("{sudo}apt-get install --no-install-recommends {}", packages.join(" ")))
}

/// Versions of the compilers and generators that runners are built with.
pub fn versions() -> IndexMap<String, String> {
    let mut programs = vec!["rustc", "c++", "cmake"];
    for codec in Codec::all() {
        for need in codec.needs {
            if let Need::Program(name, _) = need {
                if !programs.contains(name) {
                    programs.push(name);
                }
            }
        }
    }
    let mut versions = IndexMap::from_iter(installed_versions(&programs));
    versions.insert("Rust flags".into(), "release: opt-level 3, one codegen unit".into());
    versions.insert("C++ flags".into(), CPP_FLAGS.into());
    versions
}

/// Versions of what glue to libraries in C++ is compiled by, where some row has it.
pub fn glue_versions(is_glued: bool) -> IndexMap<String, String> {
    match is_glued {
        true => installed_versions(&["g++"]).into_iter().collect(),
        false => IndexMap::new(),
    }
}
