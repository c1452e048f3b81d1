//! Programs of runners, known again by what they consist of, and copies of them in the build
//! folder that outlive the next build.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{absolute, Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::{copy_program, find_program, hash, hash_file};
use wiregauge_child_process::runner::Launch;
use wiregauge_result::runner_files::RunnerFiles;

/// What tells how a program that is a script was built, beside it.
const BUILT_BY: [&str; 2] = ["stamp", "origin.json"];

/// Copies of programs, each named by its SHA-256.
pub struct RunnerCopies {
    /// Where copies are kept; none where runners are only described.
    build: Option<PathBuf>,
    /// Libraries are hashed once, however many runners load them.
    hashes: HashMap<PathBuf, Option<String>>,
}

impl RunnerCopies {
    /// Those of a build folder.
    pub fn open(build: &Path) -> RunnerCopies {
        RunnerCopies { build: Some(build.into()), hashes: HashMap::new() }
    }

    /// What describes runners and keeps no copies.
    pub fn without_copies() -> RunnerCopies {
        RunnerCopies { build: None, hashes: HashMap::new() }
    }

    /// How a runner is started, and the files of its command; programs among them are copied.
    pub fn keep(&mut self, launch: &Launch) -> RunnerFiles {
        let program = match launch.program.components().count() {
            1 => find_program(&launch.program),
            // Links stay: an interpreter finds its packages by where it is.
            _ => absolute(&launch.program).ok(),
        };
        let program = program.unwrap_or_else(|| launch.program.clone());
        let mut files =
            RunnerFiles { command: vec![path_text(&program)], ..RunnerFiles::default() };
        self.add(&mut files, &program);
        if !is_executable_format(&program) {
            for end in BUILT_BY {
                self.add(&mut files, &PathBuf::from(format!("{}.{end}", program.display())));
            }
        }
        for word in &launch.arguments {
            let file = absolute(word).ok().filter(|path| path.is_file());
            files.command.push(file.as_ref().map_or_else(|| word.clone(), |path| path_text(path)));
            if let Some(file) = file {
                self.add(&mut files, &file);
            }
        }
        if let Some(build) = &self.build {
            for (path, hash) in &files.files {
                copy(build, Path::new(path), hash);
            }
            let _ = fs::create_dir_all(build.join("kept"));
            let _ = fs::write(mark_path(build, &files), "");
        }
        files
    }

    /// Adds files that a process loaded.
    pub fn add_all(&mut self, files: &mut RunnerFiles, loaded: &[PathBuf]) {
        for path in loaded {
            if !files.files.contains_key(&path_text(path)) {
                self.add(files, path);
            }
        }
    }

    /// The command that starts the runner of these files: where it was, or by copies of what
    /// is no longer there.
    ///
    /// # Errors
    /// When something of it is gone or is another by now, or this build folder does not know
    /// the command: a result from elsewhere starts nothing.
    pub fn find(&mut self, files: &RunnerFiles) -> Result<Vec<String>> {
        let build = self.build.clone().context("there is no build folder")?;
        ensure!(
            mark_path(&build, files).exists(),
            "it was not measured with the build folder {}",
            build.display()
        );
        let mut command = files.command.clone();
        for (path, hash) in &files.files {
            if self.hash(Path::new(path)).as_ref() == Some(hash) {
                continue;
            }
            let copy = copy_path(&build, hash);
            let is_kept = self.hash(&copy).as_ref() == Some(hash);
            match command.iter_mut().find(|word| *word == path).filter(|_| is_kept) {
                Some(word) => *word = path_text(&copy),
                None => bail!("{path} has changed since, or is gone"),
            }
        }
        Ok(command)
    }

    /// The files that were there and are not among these others.
    pub fn find_missing<'f>(files: &'f RunnerFiles, others: &RunnerFiles) -> Option<&'f str> {
        let is_there = |hash: &String| others.files.values().any(|other| other == hash);
        files.files.iter().find(|(_, hash)| !is_there(hash)).map(|(path, _)| path.as_str())
    }

    fn add(&mut self, files: &mut RunnerFiles, path: &Path) {
        if let Some(hash) = self.hash(path) {
            files.files.insert(path_text(path), hash);
        }
    }

    fn hash(&mut self, path: &Path) -> Option<String> {
        let known = self.hashes.entry(path.to_owned());
        known.or_insert_with(|| hash_file(path).ok()).clone()
    }
}

/// What says that a command was measured, with the files that it names.
fn mark_path(build: &Path, files: &RunnerFiles) -> PathBuf {
    let named = |word: &String| files.files.get(word).cloned().unwrap_or_default();
    let words = files.command.iter().flat_map(|word| [word.clone(), named(word)]);
    build.join("kept").join(hash(words.map(String::into_bytes)) + ".measured")
}

fn copy_path(build: &Path, hash: &str) -> PathBuf {
    build.join("kept").join(hash)
}

/// Copies a program, if it is one that is not part of the system. Without a copy, it can be
/// measured again only where it is.
fn copy(build: &Path, path: &Path, hash: &str) {
    let copy = copy_path(build, hash);
    if copy.exists() || is_of_system(path) || !is_executable_format(path) {
        return;
    }
    let half = copy.with_extension(std::process::id().to_string());
    let folder = fs::create_dir_all(build.join("kept"));
    // What is built is replaced and never written into, so that a link is a copy. What the
    // user builds may be written into.
    let is_built = path.starts_with(build.join("messages"));
    let is_linked = folder.is_ok() && is_built && fs::hard_link(path, &half).is_ok();
    if is_linked || copy_program(path, &half).is_ok() {
        let _ = fs::rename(&half, &copy);
    }
    let _ = fs::remove_file(&half);
}

/// Whether a file is a program in machine code, which holds all that it executes but for its
/// libraries.
pub fn is_executable_format(path: &Path) -> bool {
    let mut head = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"\x7fELF"
}

/// Whether the system's packages bring a file: an interpreter, perhaps.
pub fn is_of_system(path: &Path) -> bool {
    let target = path.canonicalize();
    let path = target.as_deref().unwrap_or(path);
    ["/usr/bin", "/usr/lib", "/bin", "/lib"].iter().any(|folder| path.starts_with(folder))
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
