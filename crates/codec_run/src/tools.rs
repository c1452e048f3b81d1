//! The tools that codecs need: which are missing, and which versions there are.

use indexmap::IndexMap;
use wiregauge_build_tools::versions::{installed_versions, CPP_FLAGS};
use wiregauge_build_tools::Need;
use wiregauge_formats::Codec;
use wiregauge_result::warning::MissingTool;

/// What a codec needs and this machine lacks; none where it has all.
pub fn missing(codec: &Codec) -> Option<MissingTool> {
    let (tool, package) = codec.needs.iter().find(|need| !need.is_installed())?.names();
    Some(MissingTool { tool: tool.to_string(), package: package.to_string() })
}

/// Everything that some codec needs and this machine lacks, each once.
pub fn missing_for_any() -> Vec<MissingTool> {
    let mut all: Vec<MissingTool> = Codec::all().into_iter().filter_map(missing).collect();
    all.sort_by(|a, b| (&a.package, &a.tool).cmp(&(&b.package, &b.tool)));
    all.dedup_by(|a, b| a.package == b.package);
    all
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
