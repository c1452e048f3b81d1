//! What holds for every package and every file of source in the tree, also for
//! those that are built apart and cannot inherit it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{files, project, wiregauge_in};
use toml::{Table, Value};

/// Every manifest, by its path.
fn manifests() -> Vec<(PathBuf, Table)> {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("readable");
        let table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, table)
    };
    files(&project(), &|name| name == "Cargo.toml").into_iter().map(read).collect()
}

fn workspace() -> Table {
    let text = fs::read_to_string(project().join("Cargo.toml")).expect("readable");
    text.parse::<Table>().expect("a manifest")["workspace"].as_table().expect("a table").clone()
}

/// What of the workspace's lints a manifest lacks.
fn lacking(workspace: &Value, manifest: &Table) -> Vec<String> {
    let lints = manifest.get("lints");
    if lints.and_then(|lints| lints.get("workspace")) == Some(&Value::Boolean(true)) {
        return Vec::new();
    }
    let mut lacking = Vec::new();
    for (tool, wanted) in workspace.as_table().expect("a table") {
        for (lint, level) in wanted.as_table().expect("a table") {
            let own = lints.and_then(|lints| lints.get(tool)).and_then(|own| own.get(lint));
            if own != Some(level) {
                lacking.push(format!("{tool}.{lint} = {level:?}"));
            }
        }
    }
    lacking
}

#[test]
fn every_package_has_the_lints_of_the_workspace() {
    let lints = workspace()["lints"].clone();
    for (path, manifest) in manifests().iter().filter(|(_, table)| table.contains_key("package")) {
        assert_eq!(lacking(&lints, manifest), [""; 0], "{}", path.display());
    }
    let bare: Table = "[lints.clippy]\nall = \"warn\"\n".parse().expect("a manifest");
    assert!(lacking(&lints, &bare).contains(&"rust.missing_docs = String(\"warn\")".to_owned()));
    assert!(lacking(&lints, &bare).len() > 3);
}

#[test]
fn every_package_says_the_oldest_rust_and_its_licence() {
    let package = workspace()["package"].clone();
    for (path, manifest) in manifests() {
        let Some(own) = manifest.get("package") else { continue };
        for key in ["rust-version", "license"] {
            let inherited = own.get(key).and_then(|value| value.get("workspace"));
            let said = inherited == Some(&Value::Boolean(true)) || own.get(key) == package.get(key);
            assert!(said, "{}: {key} is not {:?}", path.display(), package[key]);
        }
    }
}

/// `make test-fast` and its like leave no test out, and run none twice.
#[test]
fn every_test_is_in_one_lane() {
    let makefile = fs::read_to_string(project().join("Makefile")).expect("readable");
    let makefile = makefile.replace("\\\n", " ");
    let lane = |name: &str| {
        let start = format!("{name} = ");
        let line = makefile.lines().find_map(|line| line.strip_prefix(&start));
        line.expect("the lane is there").split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let lanes = ["CODECS", "BUILDS", "HOLDERS", "MACHINE", "FAULTS", "TRANSPORTS"];
    let mut told: Vec<String> = lanes.iter().flat_map(|l| lane(l)).collect();
    told.sort();
    let names = |folder: PathBuf| {
        let paths = fs::read_dir(folder).into_iter().flatten();
        let paths = paths.map(|entry| entry.expect("readable").path());
        let sources = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let name = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        sources.map(name).collect::<Vec<_>>()
    };
    let mut there = Vec::new();
    let crates = fs::read_dir(project().join("crates")).expect("a folder");
    let crates = crates.map(|entry| entry.expect("readable").path());
    let apart = ["packed/arrow", "packed/rust", "python"].map(|folder| project().join(folder));
    for package in crates.chain(apart) {
        there.extend(names(package.join("tests")));
        let fast = package.join("tests/fast");
        let main = fs::read_to_string(fast.join("main.rs")).unwrap_or_default();
        for name in names(fast).iter().filter(|name| *name != "main") {
            let line = format!("mod {name};");
            let said = main.lines().any(|other| other == line);
            assert!(said, "{}: tests/fast/main.rs has no `{line}`", package.display());
        }
    }
    there.sort();
    there.dedup();
    assert_eq!(told, there);
}

/// A newcomer reads it whole.
#[test]
fn the_readme_is_short() {
    let readme = fs::metadata(project().join("README.md")).expect("readable");
    assert!(readme.len() <= 10_000, "README.md has {} B; move something to docs/", readme.len());
}

/// What computes, reads or writes has a crate; the command line holds arguments.
#[test]
fn the_command_line_holds_arguments() {
    let sources = files(&project().join("crates/wiregauge/src"), &|name| {
        name.ends_with(".rs") && name != "tests.rs"
    });
    let lines = |path: &PathBuf| fs::read_to_string(path).expect("readable").lines().count();
    let lines: usize = sources.iter().map(lines).sum();
    assert!(lines < 5_000, "{lines} lines; move what is no argument to the crate that it is about");
}

/// Links of documents lead to files that are there, and to headings that these have.
#[test]
fn links_of_documents_lead_somewhere() {
    let mut checked = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("readable");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = match path {
                "" => document.clone(),
                path => document.parent().expect("a folder").join(path),
            };
            let shown = format!("{}: {target}", document.display());
            assert!(path.exists(), "{shown}: there is no such file");
            if !heading.is_empty() && path.extension().is_some_and(|end| end == "md") {
                let text = fs::read_to_string(&path).expect("readable");
                let mut headings = text.lines().filter(|line| line.starts_with('#')).map(anchor);
                assert!(headings.any(|anchor| anchor == heading), "{shown}: no such heading");
            }
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked} links");
}

/// A table whose run is kept is what its command prints of it today.
#[test]
fn tables_of_kept_runs_are_what_their_commands_print() {
    let program = Path::new(env!("CARGO_BIN_EXE_wiregauge")).parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [program.to_owned()].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).expect("folders without a colon");
    let mut checked = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("readable");
        let reads_records = |block: &&str| {
            block.starts_with("$ ")
                && block.split('\n').take(3).any(|line| line.contains("gunzip "))
        };
        for block in text.split("```text\n").skip(1).filter(reads_records) {
            let block = block.split("```").next().expect("it has an end");
            let is_command = |line: &&str| line.starts_with("$ ") || line.starts_with("> ");
            let command: String =
                block.lines().take_while(is_command).map(|line| &line[2..]).collect();
            let table: Vec<&str> = block.lines().skip_while(is_command).collect();
            let mut shell = wiregauge_in("bash");
            let output = shell.args(["-c", &command]).env("PATH", &path).current_dir(project());
            let printed = String::from_utf8(output.output().expect("bash starts").stdout);
            let printed = printed.expect("text");
            let printed: Vec<&str> = printed.trim_end().lines().collect();
            assert_eq!(printed, table, "{}: {command}", document.display());
            checked += 1;
        }
    }
    assert!(checked >= 4, "{checked} tables");
}

/// The rows that README shows are rows of the results.
#[test]
fn the_rows_of_the_readme_are_those_of_the_results() {
    let rows = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(project().join(name)).expect("readable");
        let row = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().filter(|line| line.contains('±') && line.contains('×')).map(row).collect()
    };
    let results = rows("docs/results.md");
    let lidar: Vec<String> =
        rows("README.md").into_iter().filter(|row| row.contains('%')).collect();
    assert!(lidar.len() > 10, "{lidar:?}");
    for row in lidar {
        assert!(results.contains(&row), "{row}");
    }
}

fn documents() -> Vec<PathBuf> {
    let folders = ["docs", "crates", "packed", "python", "engines", "examples"];
    let below = folders.map(|folder| files(&project().join(folder), &|name| name.ends_with(".md")));
    let beside = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "RELEASING.md"]
        .map(|name| project().join(name));
    below.concat().into_iter().chain(beside).collect()
}

/// What a heading goes by in links: <https://docs.github.com/en/get-started/writing-on-github>.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    text.chars().filter(kept).collect::<String>().replace(' ', "-")
}

/// Words that say nothing of what a function does or a file holds, and that a search finds
/// everywhere.
const VAGUE: [&str; 24] = [
    "of", "told", "shown", "said", "own", "words", "beside", "way", "at", "behind", "ahead",
    "kept", "seen", "known", "found", "given", "taken", "made", "whole", "here", "there", "others",
    "wish", "thing",
];

/// Names of functions and files are words that can be searched for.
#[test]
fn names_say_what_they_are() {
    let folders =
        ["crates", "engines", "packed", "python", "fuzz"].map(|folder| project().join(folder));
    let sources = folders.map(|folder| files(&folder, &|name| name.ends_with(".rs"))).concat();
    // What is written into users' programs has the names of its own interface.
    let emitted = project().join("crates/data_holders/src/rust");
    let mut faults = Vec::new();
    for path in sources.iter().filter(|path| !path.starts_with(&emitted)) {
        let name = path.file_stem().expect("a file").to_string_lossy();
        if VAGUE.contains(&&*name) {
            faults.push(path.display().to_string());
        }
        let text = fs::read_to_string(path).expect("readable");
        for (at, line) in text.lines().enumerate() {
            let Some((_, rest)) = line.split_once("fn ").filter(|(head, _)| !head.contains('"'))
            else {
                continue;
            };
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
            if name.is_some_and(|name| VAGUE.contains(&name)) {
                faults.push(format!("{}:{}: {}", path.display(), at + 1, line.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "name these by what they do or hold:\n{}", faults.join("\n"));
}

/// Clippy sees only what is in the workspace.
#[test]
fn unsafe_code_built_apart_says_why_it_is_sound() {
    let mut checked = 0;
    for folder in ["engines", "fuzz", "packed/rust/fuzz", "runners"] {
        for path in files(&project().join(folder), &|name| name.ends_with(".rs")) {
            let text = fs::read_to_string(&path).expect("readable");
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for (at, line) in lines.iter().enumerate() {
                let is_unsafe = line.contains("unsafe {") || line.contains("unsafe impl");
                if line.starts_with("//") || !is_unsafe {
                    continue;
                }
                let above = &lines[at.saturating_sub(4)..at];
                let explained = above.iter().any(|line| line.starts_with("// SAFETY: "));
                assert!(explained, "{}:{}: {line}", path.display(), at + 1);
                checked += 1;
            }
        }
    }
    assert!(checked > 0, "no unsafe code is found");
}

/// What a file of source is called.
const SOURCES: [&str; 11] = ["c", "cc", "cpp", "css", "h", "hpp", "html", "js", "py", "rs", "sh"];
/// Most lines of a file of source that gives no reason at its head.
const MOST_LINES: usize = 600;
/// How the line begins that gives one, behind the mark of a comment.
const REASON: &str = "Long because: ";

fn is_source(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| SOURCES.iter().any(|source| end == *source))
}

/// Whether a file is longer than it may be. Its head are the comments before
/// anything else.
fn is_too_long(text: &str) -> bool {
    let words = |line: &str| line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let head = text.lines().take_while(|line| {
        line.is_empty() || ["//", "#!", "# ", "/*", " *", "<!"].iter().any(|s| line.starts_with(s))
    });
    let is_reason =
        |line: String| line.strip_prefix(REASON).is_some_and(|reason| !reason.is_empty());
    text.lines().count() > MOST_LINES && !head.map(words).any(is_reason)
}

#[test]
fn long_files_say_why_at_their_head() {
    let sources = files(&project(), &is_source).into_iter();
    // What came out once, to be compared with, has the length that it has.
    let sources = sources.filter(|path| !path.to_string_lossy().contains("/tests/golden/"));
    let sources: Vec<PathBuf> = sources.collect();
    assert!(sources.len() > 100, "the sources are not found");
    let text = |path: &PathBuf| fs::read_to_string(path).expect("readable");
    let long = sources.iter().filter(|path| is_too_long(&text(path)));
    let long = long.map(|path| path.strip_prefix(project()).expect("below").display().to_string());
    let long: Vec<String> = long.collect();
    assert!(
        long.is_empty(),
        "more than {MOST_LINES} lines; cut by their nouns, or say '{REASON}…' at the head: {}",
        long.join(", ")
    );
}

#[test]
fn a_long_file_is_found() {
    let lines = |count: usize| "x();\n".repeat(count);
    assert!(!is_too_long(&lines(MOST_LINES)));
    assert!(is_too_long(&lines(MOST_LINES + 1)));
    for head in
        ["//! A.\n//!\n//! Long because: b.\n", "// Long because: b.\n", "# Long because: b.\n"]
    {
        assert!(!is_too_long(&format!("{head}\n{}", lines(MOST_LINES))), "{head}");
    }
    assert!(is_too_long(&format!("// Long because: \n{}", lines(MOST_LINES))), "no reason");
    assert!(is_too_long(&format!("x();\n// Long because: b.\n{}", lines(MOST_LINES))), "no head");
}
