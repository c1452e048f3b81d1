//! The invariants of docs/architecture.md that a scan of the tree can hold: which
//! crate may use which, that no file uses one that uses it in turn, who starts
//! programs. And that each invariant's test exists.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use support::project;

/// What each crate may use of the others, by the table of docs/architecture.md.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(project().join("docs/architecture.md")).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let uses = cells[2].split(',').map(str::trim).filter(|name| !name.is_empty());
        (cells[1].trim_matches('`').to_owned(), uses.map(str::to_owned).collect())
    })
    .collect()
}

#[test]
fn crates_use_what_the_picture_says() {
    let arrows = arrows();
    let crates = fs::read_dir(project().join("crates")).unwrap().flatten();
    let there: BTreeSet<String> =
        crates.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(there, arrows.keys().cloned().collect(), "docs/architecture.md has each crate");
    for (name, told) in arrows {
        let manifest = project().join("crates").join(&name).join("Cargo.toml");
        let manifest: toml::Table = fs::read_to_string(&manifest).unwrap().parse().unwrap();
        let needs = manifest.get("dependencies").and_then(toml::Value::as_table);
        let needs = needs.iter().flat_map(|needs| needs.keys());
        let used = needs.filter_map(|need| need.strip_prefix("wiregauge-"));
        assert_eq!(
            used.map(|name| name.replace('-', "_")).collect::<BTreeSet<_>>(),
            told,
            "of {name}"
        );
    }
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let mut circles = Vec::new();
    for entry in fs::read_dir(project().join("crates")).unwrap().flatten() {
        let uses = uses(&entry.path().join("src"));
        circles.extend(self::circles(&uses));
    }
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

/// The files of a crate, and which others of them each names.
fn uses(src: &Path) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let files = support::files(src, &|name| name.ends_with(".rs")).into_iter();
    let files: BTreeMap<PathBuf, PathBuf> = files.map(|path| (module(src, &path), path)).collect();
    let mut uses = BTreeMap::new();
    for (module, path) in &files {
        let text = fs::read_to_string(path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let named = paths(module, text).into_iter().filter_map(|mut named| loop {
            match files.get(&named) {
                Some(file) => break Some(file.clone()),
                None if !named.pop() => break None,
                None => {}
            }
        });
        uses.insert(path.clone(), named.filter(|file| file != path).collect());
    }
    uses
}

/// `a/b` for `src/a/b.rs`, and nothing for the crate's own file.
fn module(src: &Path, path: &Path) -> PathBuf {
    let module = path.strip_prefix(src).unwrap().with_extension("");
    match module.to_str() {
        Some("lib" | "main") => PathBuf::new(),
        _ if module.ends_with("mod") => module.parent().unwrap().to_owned(),
        _ => module,
    }
}

/// What `crate::…`, `super::…` and the names of its own folder name in a file,
/// as paths from the crate.
fn paths(module: &Path, text: &str) -> Vec<PathBuf> {
    let code: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let code = code.join(" ");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("::") {
        let start = code[..at].rfind(|c: char| !is_of_a_name(c)).map_or(0, |end| end + 1);
        let after = code[start..at].chars().next().is_some_and(char::is_lowercase);
        // A method is no module.
        if !after || code[..start].ends_with(['.', ':']) {
            continue;
        }
        let (base, rest) = match &code[start..at] {
            "crate" => (PathBuf::new(), &code[at + 2..]),
            "super" => (module.parent().map(Path::to_owned).unwrap_or_default(), &code[at + 2..]),
            "self" => (module.to_owned(), &code[at + 2..]),
            _ => (module.to_owned(), &code[start..]),
        };
        found.extend(named(base, rest));
    }
    found
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `a::b::{c, d}` as paths, as far as names are in lower case.
fn named(mut base: PathBuf, text: &str) -> Vec<PathBuf> {
    let mut rest = text;
    loop {
        if let Some(list) = rest.strip_prefix('{') {
            let list = list.split('}').next().unwrap_or_default();
            return list.split(',').flat_map(|one| named(base.clone(), one.trim())).collect();
        }
        let end = rest.find(|c: char| !is_of_a_name(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        if word == "super" {
            base.pop();
        } else if word.starts_with(|c: char| c.is_lowercase()) && word != "self" {
            base.push(word);
        }
        match rest[end..].strip_prefix("::") {
            Some(next) => rest = next,
            None => return vec![base],
        }
    }
}

/// The circles, each as the files that are in it.
fn circles(uses: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> Vec<String> {
    let reached: BTreeMap<_, _> = uses.keys().map(|file| (file, reach(uses, file))).collect();
    let mut told = BTreeSet::new();
    let mut circles = Vec::new();
    for file in uses.keys() {
        let with: Vec<&PathBuf> =
            reached[file].iter().copied().filter(|other| reached[*other].contains(file)).collect();
        if with.len() > 1 && told.insert(with.clone()) {
            let names: Vec<String> = with.iter().map(|file| file.display().to_string()).collect();
            circles.push(format!("a circle of imports: {}", names.join(", ")));
        }
    }
    circles
}

/// All that a file uses, and what that uses.
fn reach<'a>(
    uses: &'a BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    from: &'a PathBuf,
) -> BTreeSet<&'a PathBuf> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        next.extend(uses[file].iter().filter(|other| seen.insert(*other)));
    }
    seen
}

#[test]
fn a_circle_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let src = folder.path();
    fs::create_dir(src.join("deep")).unwrap();
    for (name, text) in [
        ("lib.rs", "mod a; mod b; mod deep;"),
        ("a.rs", "use crate::b::{self, B};"),
        ("b.rs", "use crate::deep::{leaf, Other};"),
        ("deep.rs", "pub mod leaf;"),
        ("deep/leaf.rs", "use super::super::a;\n#[cfg(test)]\nmod tests { use crate::b; }"),
    ] {
        fs::write(src.join(name), text).unwrap();
    }
    let found = circles(&uses(src));
    assert_eq!(found.len(), 1, "{found:?}");
    for name in ["a.rs", "b.rs", "leaf.rs"] {
        assert!(found[0].contains(name), "{found:?}");
    }
    fs::write(src.join("deep/leaf.rs"), "// crate::a\n").unwrap();
    assert_eq!(circles(&uses(src)), Vec::<String>::new());
}

/// A file's code: without its own tests and without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The files of a crate's sources, but for those that hold tests alone.
fn sources(name: &str) -> Vec<PathBuf> {
    let src = project().join("crates").join(name).join("src");
    let found = support::files(&src, &|name| name.ends_with(".rs") && name != "tests.rs");
    assert!(!found.is_empty(), "{} has no sources", src.display());
    found
}

#[test]
fn the_gauge_names_no_codec() {
    let folder = project().join("crates/formats/src/formats");
    let mut codecs = BTreeSet::new();
    for path in support::files(&folder, &|name| name.ends_with(".rs")) {
        let code = code(&path);
        let names = code.lines().filter_map(|line| line.trim().strip_prefix("name: \""));
        codecs.extend(names.filter_map(|name| Some(name.split_once('"')?.0.to_owned())));
    }
    assert!(codecs.len() > 30 && codecs.contains("prost"), "{codecs:?}");
    for path in ["gauge", "child_process"].iter().flat_map(|name| sources(name)) {
        let code = code(&path);
        let named: Vec<&String> =
            codecs.iter().filter(|codec| code.contains(&format!("\"{codec}\""))).collect();
        assert!(named.is_empty(), "{} names {named:?}", path.display());
    }
}

/// Crates that read, compute and write, and leave programs to others.
const WITHOUT_PROGRAMS: [&str; 10] = [
    "data_holders",
    "flatbuffers",
    "normalized",
    "packing",
    "points",
    "report",
    "result",
    "schema",
    "system",
    "trace",
];

#[test]
fn readers_and_writers_start_no_program() {
    let arrows = arrows();
    for name in WITHOUT_PROGRAMS {
        for used in &arrows[name] {
            // The packed field's crate lies elsewhere and has no dependency.
            let is_one = WITHOUT_PROGRAMS.contains(&used.as_str()) || used == "packed";
            assert!(is_one, "{name} uses {used}, which may start programs");
        }
        for path in sources(name) {
            let code = code(&path);
            for start in ["Command::new", "process::Command", "fork("] {
                assert!(!code.contains(start), "{} has {start}", path.display());
            }
        }
    }
}

#[test]
fn the_tests_of_the_invariants_are_there() {
    let text = fs::read_to_string(project().join("docs/architecture.md")).unwrap();
    let section = text.split("\n## Invariants\n").nth(1).expect("a section of invariants");
    let section = section.split("\n## ").next().unwrap();
    let tests = section.split('`').filter_map(|word| word.split_once(".rs::"));
    let mut count = 0;
    for (file, name) in tests {
        let path = project().join(format!("crates/{file}.rs"));
        let code = fs::read_to_string(&path).unwrap_or_default();
        let is_there = code.contains(&format!("#[test]\n    fn {name}()"))
            || code.contains(&format!("#[test]\nfn {name}()"));
        assert!(is_there, "docs/architecture.md: {} has no test {name}", path.display());
        count += 1;
    }
    assert!(count > 20, "{count} tests");
}
