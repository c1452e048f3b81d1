//! The Java runners: pinned jars, one compilation of all programs in one process, and
//! a script a codec that starts the virtual machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{anyhow, ensure, Context, Result};
use wiregauge_build_tools::{lock, maven, run, shell_quoted, write_script, Need, Progress};
use wiregauge_normalized::Unit;

use crate::build::build_system::BuildSystem;
use crate::build::runner_build::{BuildFolders, RunnerBuild};
use crate::language::java::message::JavaMessage;
use crate::runner_language::RunnerLanguage;

/// What compiles and starts them.
pub const NEEDS: &[Need] = &[
    Need::Program("javac", "default-jdk-headless"),
    Need::Program("java", "default-jdk-headless"),
];

/// The same where there are jars to be fetched.
pub const NEEDS_WITH_JARS: &[Need] = &[
    Need::Program("javac", "default-jdk-headless"),
    Need::Program("java", "default-jdk-headless"),
    maven::NEED,
];

/// HotSpot, as `java` starts it.
pub static JAVA: RunnerLanguage = RunnerLanguage {
    name: "Java",
    key: "java",
    is_default: false,
    needs: NEEDS,
    compilers: &[],
    flags: "javac --release 17; -XX:+UseSerialGC -Xms256m -Xmn128m -Xmx2g, both compilers (C1 and \
            C2) with their defaults",
    footprint_flags: "",
    takes_libraries_of_toolchain: false,
    link_time: "",
    line_tables: &[],
    unexplained: Some(
        "its virtual machine compiles while it runs, so no two runs execute the same functions",
    ),
    compiler: |_| version(),
    folder: |group, name| group.join(name),
    message: |unit| {
        Ok(JavaMessage::new(unit)?.files(&[])?.into_iter().map(|file| file.text).collect())
    },
};

inventory::submit! { BuildSystem { language: &JAVA, compile, compile_footprints: None } }

/// What starts the virtual machine, in words of a shell. What its libraries print and
/// what it says itself goes to standard error; no setting of the user's changes it.
/// Where the address space is limited, which corrupt messages are tried in, its own
/// reservations have to be small.
const START: &str = "#!/bin/sh
unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH
memory='-Xms256m -Xmn128m -Xmx2g'
limit=$(ulimit -v)
if [ \"$limit\" != unlimited ]; then
  memory=\"-Xmx$((limit / 1024 - 1024))m -XX:CompressedClassSpaceSize=64m\"
  memory=\"$memory -XX:ReservedCodeCacheSize=64m\"
fi
";

/// The virtual machine and its version; empty where there is none.
fn version() -> String {
    static VERSION: OnceLock<String> = OnceLock::new();
    let ask = || run(Command::new("java").arg("--version"), "java");
    let own = |said: String| said.lines().last().unwrap_or_default().trim().to_owned();
    VERSION.get_or_init(|| ask().map_or_else(|_| String::new(), own)).clone()
}

/// Fetches the jars and compiles the programs; an outcome for each build, in order.
fn compile(
    place: &BuildFolders,
    _: &Unit,
    builds: &[&RunnerBuild],
    progress: Progress,
) -> Result<Vec<Result<PathBuf>>> {
    let fixed = place.common.folder.join("java");
    let group = place.message.join(builds[0].variant.group());
    fs::create_dir_all(&group)?;
    let runner = place.common.folder.join("java-classes");
    let mut list = Vec::new();
    // What is common to all messages is compiled by who comes first; others wait.
    let lock = lock(&place.common.folder)?;
    let is_new = !runner.join("complete").exists();
    let _lock = is_new.then_some(lock);
    if is_new {
        let package = fixed.join("wiregauge_runner");
        let mut sources = Vec::new();
        for entry in fs::read_dir(&package)? {
            sources.push(entry?.path());
        }
        sources.sort();
        list.push(line(&runner, &runner, &sources)?);
    }
    let mut paths = Vec::new();
    for (done, build) in builds.iter().enumerate() {
        progress(&format!("preparing Java: {}", build.variant.title()), done, builds.len())?;
        paths.push(class_path(place, &runner, build));
    }
    for (build, path) in builds.iter().zip(&paths) {
        let Ok(path) = path else { continue };
        let emission = &build.emission;
        let own = emission.files.iter().map(|file| &file.path).filter(|p| p.ends_with(".java"));
        let own = own.chain(&emission.sources).map(|path| build.folder.join(path));
        list.push(line(&classes(build), path, &own.collect::<Vec<_>>())?);
    }
    progress("compiling Java", builds.len(), builds.len())?;
    let file = group.join("compile.txt");
    fs::write(&file, list.concat())?;
    let mut command = Command::new("java");
    for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
        command.env_remove(name);
    }
    command.args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
    let said = run(command.arg(fixed.join("Compile.java")).arg(file), "java")
        .context("Java 17 is needed; apt-get install default-jdk-headless")?;
    let mut said = said.lines();
    if is_new {
        let own = said.next().unwrap_or_default();
        ensure!(own == "ok", "the runner in Java does not compile: {own}");
        fs::write(runner.join("complete"), "")?;
    }
    Ok(builds
        .iter()
        .zip(paths)
        .map(|(build, path)| {
            let path = path?;
            match said.next() {
                Some("ok") => script(build, &path),
                why => Err(anyhow!(
                    "does not compile: {} (see {})",
                    why.unwrap_or("the compiler printed no reason"),
                    build.folder.display()
                )),
            }
        })
        .collect())
}

/// A line of what is to be compiled: where to, with what, and of what.
fn line(classes: &Path, path: &Path, sources: &[PathBuf]) -> Result<String> {
    let words: Vec<String> = [classes, path]
        .into_iter()
        .chain(sources.iter().map(PathBuf::as_path))
        .map(|word| word.display().to_string())
        .collect();
    let is_plain = words.iter().all(|word| !word.contains(['\t', '\n']));
    ensure!(
        is_plain,
        "the name of the build folder has tabs; set WIREGAUGE_BUILD to another folder"
    );
    Ok(words.join("\t") + "\n")
}

/// Where the classes of a program go.
fn classes(build: &RunnerBuild) -> PathBuf {
    build.folder.join("classes")
}

/// What a program needs beside its own classes.
fn class_path(place: &BuildFolders, runner: &Path, build: &RunnerBuild) -> Result<PathBuf> {
    let root = place.target.parent().context("the build folder has the target folder")?;
    let mut parts = vec![runner.to_owned()];
    for jar in build.emission.jars {
        parts.push(maven::jar(root, jar)?);
    }
    for need in build.variant.codec.needs {
        if let Need::Jar(name, package) = need {
            let jar = need.path();
            parts.push(
                jar.with_context(|| format!("{name} is missing: apt-get install {package}"))?,
            );
        }
    }
    let path = env::join_paths(parts).context(
        "the build folder's name has a colon, which Java's class path does not allow; set \
         WIREGAUGE_BUILD to another folder",
    )?;
    Ok(path.into())
}

/// The script that starts a program.
fn script(build: &RunnerBuild, path: &Path) -> Result<PathBuf> {
    let java = NEEDS[1].path().context("java is missing; apt-get install default-jdk-headless")?;
    let all = format!("{}:{}", classes(build).display(), path.display());
    let text = format!(
        "{START}exec {} -XX:+UseSerialGC $memory -XX:-UsePerfData -XX:+DisplayVMOutputToStderr {}-cp \
         {} Main\n",
        shell_quoted(&java.display()),
        build.emission.machine,
        shell_quoted(&all)
    );
    let script = build.folder.join("start.sh");
    write_script(&script, &text)?;
    Ok(script)
}
