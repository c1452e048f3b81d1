//! In Java.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context, Result};
use wiregauge_build_tools::{build_folder, maven, run, Need};
use wiregauge_codec_run::workload::Builtin;
use wiregauge_data_holders::{generate, HolderLanguage, Package, Wire};
use wiregauge_formats::{Codec, Emission, GeneratorStep};
use wiregauge_result::run::Origin;
use wiregauge_schema::Projection;

use super::program::{
    code_lines, code_lines_in, write, Parts, Program, ProgramBuilder, SentMessage, Sources,
};

/// Without what a debugger wants, as a stripped program is.
const FLAGS: &str = "--release 17 -g:none -proc:none";
const NEEDS: &[Need] = &[
    Need::Program("javac", "default-jdk-headless"),
    Need::Program("java", "default-jdk-headless"),
];
const WITH_JARS: &[Need] = &[NEEDS[0], NEEDS[1], maven::NEED];
/// What comments begin with.
const COMMENTS: &[&str] = &["//", "/*", "*"];
/// The row whose classes and jar the program has.
const PROTOBUF: &str = "protobuf-java";

/// The programs.
pub fn programs() -> Vec<Program> {
    let program = |id, title, built, options, needs, message, with| Program {
        id,
        title,
        key: "java",
        language: "Java",
        built,
        options,
        needs,
        message,
        making: Box::new(Java { with }),
    };
    vec![
        program(
            "nothing-java",
            "no message Java",
            "",
            &["hands on what it is given"] as &[_],
            NEEDS,
            None,
            JavaVariant::Nothing,
        ),
        program(
            PROTOBUF,
            "Protobuf Java",
            "its makers' jar",
            &["classes by the protoc of the same release, optimize_for = SPEED, the default"],
            WITH_JARS,
            Some(SentMessage::Protobuf),
            JavaVariant::Library,
        ),
        program(
            "generated-ros-msg-java",
            "ROS 1 MSG Java generated",
            "classes",
            &["wiregauge generate --language java --wire ros-msg"],
            NEEDS,
            Some(SentMessage::RosMsg),
            JavaVariant::Generated,
        ),
    ]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum JavaVariant {
    Nothing,
    Library,
    Generated,
}

struct Java {
    with: JavaVariant,
}

impl Java {
    /// The jars of Protobuf's row.
    fn jars(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        if self.with != JavaVariant::Library {
            return Ok(Vec::new());
        }
        let build = build_folder(folder)?;
        maven::jars(build, emission()?.jars)
    }

    fn path(&self, folder: &Path) -> Result<std::ffi::OsString> {
        let parts = [folder.join("classes")].into_iter().chain(self.jars(folder)?);
        env::join_paths(parts).context(
            "the build folder's name has a colon, which Java's class path does not allow; set \
             WIREGAUGE_BUILD to another folder",
        )
    }
}

/// What the row of Protobuf is built from.
fn emission() -> Result<Emission> {
    let schema = Builtin::Rsb.schema()?;
    let codec = Codec::find(PROTOBUF).context("there is a row of Protobuf in Java")?;
    codec.emission(&schema, &Projection::choose(&schema))
}

impl ProgramBuilder for Java {
    fn write(&self, folder: &Path) -> Result<Sources> {
        let text = match self.with {
            JavaVariant::Nothing => include_str!("Nothing.java"),
            JavaVariant::Library => include_str!("Protobuf.java"),
            JavaVariant::Generated => include_str!("Generated.java"),
        };
        write(folder, "Program.java", text)?;
        match self.with {
            JavaVariant::Nothing => {}
            JavaVariant::Library => {
                let emission = emission()?;
                for file in emission.files.iter().filter(|file| file.path.ends_with(".proto")) {
                    write(folder, &file.path, &file.text)?;
                }
                for step in emission.steps {
                    match step {
                        GeneratorStep::Call(call) => call(folder)?,
                        GeneratorStep::Command(words) => {
                            bail!("{words:?} is no step of {PROTOBUF}")
                        }
                    }
                }
            }
            JavaVariant::Generated => {
                let definitions = vec![("rsb.proto".to_owned(), Builtin::Rsb.schema()?)];
                let package = Package::new(Some("notification"), definitions)?;
                for file in generate(&package, HolderLanguage::Java, &[Wire::RosMsg])? {
                    write(folder, &file.path, &file.text)?;
                }
            }
        }
        let own = folder.join("Program.java");
        let generated = files(folder, "java")?.into_iter().filter(|path| *path != own);
        Ok(Sources {
            program: code_lines(text, COMMENTS),
            generated: code_lines_in(generated, COMMENTS)?,
        })
    }

    fn compile(&self, folder: &Path) -> Result<Option<Command>> {
        let mut command = Command::new("javac");
        for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVAC_OPTIONS", "CLASSPATH"] {
            command.env_remove(name);
        }
        command.args(FLAGS.split(' ')).args(["-d", "classes", "-cp"]).arg(self.path(folder)?);
        command.args(files(folder, "java")?).current_dir(folder);
        Ok(Some(command))
    }

    fn start(&self, folder: &Path) -> Result<Command> {
        let mut command = Command::new("java");
        for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
            command.env_remove(name);
        }
        command.arg("-cp").arg(self.path(folder)?).arg("Program");
        Ok(command)
    }

    fn parts(&self, folder: &Path) -> Result<Parts> {
        let bytes = |path: &PathBuf| Ok(fs::metadata(path)?.len());
        let classes = files(&folder.join("classes"), "class")?;
        let program = classes.iter().map(bytes).sum::<Result<u64>>()?;
        let jar = |path: PathBuf| Ok((path.display().to_string(), bytes(&path)?));
        let libraries = self.jars(folder)?.into_iter().map(jar).collect::<Result<_>>()?;
        Ok(Parts { program, libraries })
    }

    fn origin(&self, folder: &Path) -> (String, Origin) {
        let name = |path: &PathBuf| path.file_stem().map(|name| name.to_string_lossy().into());
        let jars = self.jars(folder).unwrap_or_default();
        let library = match self.with {
            JavaVariant::Nothing => String::new(),
            JavaVariant::Library => jars.iter().find_map(name).unwrap_or_default(),
            JavaVariant::Generated => format!("wiregauge {}", env!("CARGO_PKG_VERSION")),
        };
        let compiler = run(Command::new("javac").arg("--version"), "javac").unwrap_or_default();
        let (compiler, flags) = (compiler.trim().to_owned(), FLAGS.to_owned());
        (library, Origin { compiler, flags, ..Origin::default() })
    }
}

/// The files of a folder and those in it that end so, in order.
fn files(folder: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    let listed =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in listed {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(files(&path, end)?);
        } else if path.extension().is_some_and(|own| own == end) {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}
