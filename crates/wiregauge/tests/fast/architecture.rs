//! The invariants of docs/architecture.md that a scan of the tree can hold: which
//! crate may use which, that no file or folder uses one that uses it in turn, who
//! starts programs. And that each invariant's test exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::project;

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
    let crates = fs::read_dir(project().join("crates")).unwrap().flatten();
    let found = crates.flat_map(|entry| file_circles(&entry.path().join("src")));
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A folder counts with the file of its name beside it: `conduct.rs` and `conduct/` are one.
/// A file without a folder counts alone. Those that lie below the same parent are compared,
/// at each level: `bus/src/conduct` with `bus/src/load`, and `conduct/conductor` with
/// `conduct/trial`. One uses another where any of its files, however deep, uses any of the
/// other's. A parent is not compared with what lies in it: what they use of each other is
/// held by the test of files.
#[test]
fn no_folders_use_each_other_in_a_circle() {
    let crates = fs::read_dir(project().join("crates")).unwrap().flatten();
    let found = crates.flat_map(|entry| folder_circles(&entry.path().join("src")));
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The circles of a crate's files, a line each.
fn file_circles(src: &Path) -> Vec<String> {
    let found = circles(&uses(src)).into_iter();
    found.map(|circle| format!("a circle of files: {}", list(&circle))).collect()
}

/// The circles of a crate's folders, each with the uses that it is made of.
fn folder_circles(src: &Path) -> Vec<String> {
    let uses = uses(src);
    let uses = uses.iter().flat_map(|(file, used)| used.iter().map(move |other| (file, other)));
    let mut between: BTreeMap<[PathBuf; 2], Vec<String>> = BTreeMap::new();
    for (file, other) in uses {
        let [of_file, of_other] = [file, other].map(|path| module(src, path));
        if let Some(folders) = siblings(&of_file, &of_other) {
            let text = format!("{} uses {}", of_file.display(), of_other.display());
            between.entry(folders.map(|folder| src.join(folder))).or_default().push(text);
        }
    }
    let mut folders: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
    for [one, other] in between.keys() {
        folders.entry(other.clone()).or_default();
        folders.entry(one.clone()).or_default().insert(other.clone());
    }
    let text = |circle: Vec<PathBuf>| {
        let within = between.iter().filter(|(pair, _)| pair.iter().all(|one| circle.contains(one)));
        let uses: Vec<&str> = within.flat_map(|(_, uses)| uses).map(String::as_str).collect();
        format!("a circle of folders: {}\n  {}", list(&circle), uses.join("\n  "))
    };
    circles(&folders).into_iter().map(text).collect()
}

/// The two below the same parent that these modules belong to; none where one module lies in
/// the other.
fn siblings(one: &Path, other: &Path) -> Option<[PathBuf; 2]> {
    let shared = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let below = |path: &Path| {
        (path.iter().count() > shared).then(|| path.iter().take(shared + 1).collect())
    };
    Some([below(one)?, below(other)?])
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}

/// The files of a crate, and which others of them each names.
fn uses(src: &Path) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let files = crate::support::files(src, &|name| name.ends_with(".rs")).into_iter();
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
        if rest.starts_with('{') {
            return members(rest).iter().flat_map(|one| named(base.clone(), one.trim())).collect();
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

/// What stands between the commas of `{a, b::{c, d}}`: `a` and `b::{c, d}`.
fn members(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 1, Vec::new());
    for (at, c) in list.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 || (depth == 1 && c == ',') {
            found.push(&list[start..at]);
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    found
}

/// The circles, each as all that are in it.
fn circles(uses: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> Vec<Vec<PathBuf>> {
    let reached: BTreeMap<_, _> = uses.keys().map(|file| (file, reach(uses, file))).collect();
    let mut told = BTreeSet::new();
    let mut circles = Vec::new();
    for file in uses.keys() {
        let with: Vec<&PathBuf> =
            reached[file].iter().copied().filter(|other| reached[*other].contains(file)).collect();
        if with.len() > 1 && told.insert(with.clone()) {
            circles.push(with.into_iter().cloned().collect());
        }
    }
    circles
}

/// All that one uses, and what that uses.
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

/// Writes the files of a crate's sources.
fn write(src: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = src.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn a_circle_of_files_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let src = folder.path();
    let test = "use super::super::a;\n#[cfg(test)]\nmod tests { use crate::b; }";
    write(
        src,
        &[
            ("lib.rs", "mod a; mod b; mod deep;"),
            ("a.rs", "use crate::b::{self, B};"),
            ("b.rs", "use crate::{nothing::{Nothing, None}, deep::{leaf, Other}};"),
            ("deep.rs", "pub mod leaf;"),
            ("deep/leaf.rs", test),
        ],
    );
    let found = file_circles(src);
    assert_eq!(found.len(), 1, "{found:?}");
    for name in ["a.rs", "b.rs", "leaf.rs"] {
        assert!(found[0].contains(name), "{found:?}");
    }
    write(src, &[("deep/leaf.rs", "// crate::a\n")]);
    assert_eq!(file_circles(src), Vec::<String>::new());
}

#[test]
fn a_circle_of_folders_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let src = folder.path();
    write(
        src,
        &[
            ("lib.rs", "pub mod conduct; pub mod load;"),
            // A parent and what lies in it may use each other, file by file.
            ("conduct.rs", "pub mod conductor; pub mod settings;\nuse self::settings::Settings;"),
            ("conduct/conductor.rs", "mod collect;\nuse crate::conduct::Conduct;"),
            ("conduct/conductor/collect.rs", "use crate::load::Load;"),
            ("conduct/settings.rs", "pub struct Settings;"),
            ("load.rs", "pub mod option;\npub struct Load;"),
            ("load/option.rs", "use crate::conduct::settings::Settings;"),
        ],
    );
    assert_eq!(file_circles(src), Vec::<String>::new());
    let found = folder_circles(src);
    assert_eq!(found.len(), 1, "{found:?}");
    let lines: Vec<&str> = found[0].lines().map(str::trim).collect();
    let whole = [src.join("conduct"), src.join("load")];
    assert_eq!(lines[0], format!("a circle of folders: {}", list(&whole)));
    let uses =
        ["conduct/conductor/collect uses load", "load/option uses conduct/settings"].as_slice();
    assert_eq!(&lines[1..], uses);

    // The same a level below: there `conductor` and `settings` are compared.
    write(src, &[("load/option.rs", ""), ("conduct/conductor/end.rs", "")]);
    assert_eq!(folder_circles(src), Vec::<String>::new());
    write(
        src,
        &[
            ("conduct/settings.rs", "use crate::conduct::conductor::end::End;"),
            ("conduct/conductor/collect.rs", "use crate::conduct::settings::Settings;"),
        ],
    );
    let found = folder_circles(src);
    assert_eq!(found.len(), 1, "{found:?}");
    let whole = [src.join("conduct/conductor"), src.join("conduct/settings")];
    assert!(found[0].contains(&list(&whole)), "{found:?}");
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
    let found = crate::support::files(&src, &|name| name.ends_with(".rs") && name != "tests.rs");
    assert!(!found.is_empty(), "{} has no sources", src.display());
    found
}

#[test]
fn the_gauge_names_no_codec() {
    let folder = project().join("crates/formats/src/formats");
    let mut codecs = BTreeSet::new();
    for path in crate::support::files(&folder, &|name| name.ends_with(".rs")) {
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
const WITHOUT_PROGRAMS: [&str; 11] = [
    "columns",
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
