//! The tools that codecs need: which are missing, and which versions there are.

use std::process::{Command, Stdio};

use indexmap::IndexMap;
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
    let mut versions = versions_of(&programs);
    versions.insert("Rust flags".into(), "release: opt-level 3, one codegen unit".into());
    versions.insert("C++ flags".into(), CPP_FLAGS.into());
    versions
}

/// Versions of what FMUs are built with.
pub fn fmu_versions() -> IndexMap<String, String> {
    let mut versions = versions_of(&["c++", "cmake", "protoc", "flatc"]);
    versions.insert("C++ flags".into(), CPP_FLAGS.into());
    versions
}

/// Versions of what glue to libraries in C++ is compiled by, where some row has it.
pub fn glue_versions(is_glued: bool) -> IndexMap<String, String> {
    match is_glued {
        true => versions_of(&["g++"]),
        false => IndexMap::new(),
    }
}

/// Flags that C++ is compiled with.
const CPP_FLAGS: &str = "CMake Release: -O3 -DNDEBUG";

/// Versions of those programs that are there.
fn versions_of(programs: &[&str]) -> IndexMap<String, String> {
    programs.iter().filter_map(|program| Some((program.to_string(), version(program)?))).collect()
}

/// The first line that a program prints of its version.
fn version(program: &str) -> Option<String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    first_line(&String::from_utf8_lossy(&output.stdout))
}

/// The first line that says something, as plain text: Maven prints it bold, also into a pipe.
fn first_line(text: &str) -> Option<String> {
    let text = console::strip_ansi_codes(text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(80).collect())
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn a_version_is_plain_text() {
        let said = first_line("\n\u{1b}[1mApache Maven 3.8.7\u{1b}[m\nMaven home: /usr\n");
        assert_eq!(said.as_deref(), Some("Apache Maven 3.8.7"));
    }
}
