//! In Python, where nothing is compiled: what is weighed is the modules and the packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use wiregauge_build_tools::python::{interpreter, PythonEnvironment};
use wiregauge_build_tools::{run, Need};
use wiregauge_codec_run::workload::Builtin;
use wiregauge_data_holders::{generate, HolderLanguage, Package, Wire};
use wiregauge_formats::Codec;
use wiregauge_result::run::Origin;
use wiregauge_schema::Projection;

use super::program::{
    code_lines, code_lines_in, write, Parts, Program, ProgramBuilder, SentMessage, Sources,
};

const NEEDS: &[Need] = &[Need::Program("python3", "python3-venv")];
const WITH_LIBRARY: &[Need] = &[NEEDS[0], Need::Program("protoc", "protobuf-compiler")];
/// The row whose package the program has.
const PROTOBUF: &str = "protobuf-python";
/// A line for each package that is not pip, with the bytes of its files; what Python
/// compiles by itself is not counted.
const PACKAGES: &str = "
import importlib.metadata
for package in importlib.metadata.distributions():
    if package.name not in ('pip', 'setuptools'):
        paths = [path.locate() for path in package.files if path.suffix != '.pyc']
        print(package.name, package.version, sum(path.stat().st_size for path in paths))
";

/// The programs.
pub fn programs() -> Vec<Program> {
    let program = |id, title, built, options, needs, message, with| Program {
        id,
        title,
        key: "python",
        language: "Python",
        built,
        options,
        needs,
        message,
        making: Box::new(Script { with }),
    };
    vec![
        program(
            "nothing-python",
            "no message Python",
            "",
            &["hands on what it is given"] as &[_],
            NEEDS,
            None,
            PythonVariant::Nothing,
        ),
        program(
            PROTOBUF,
            "Protobuf Python upb",
            "its makers' wheel",
            &["modules by the distribution's protoc"],
            WITH_LIBRARY,
            Some(SentMessage::Protobuf),
            PythonVariant::Library,
        ),
        program(
            "generated-ros-msg-python",
            "ROS 1 MSG Python generated",
            "a module",
            &["wiregauge generate --language python --wire ros-msg"],
            NEEDS,
            Some(SentMessage::RosMsg),
            PythonVariant::Generated,
        ),
    ]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PythonVariant {
    Nothing,
    Library,
    Generated,
}

struct Script {
    with: PythonVariant,
}

impl Script {
    /// The interpreter, with Protobuf's package where the program has it.
    fn python(&self, folder: &Path) -> Result<PathBuf> {
        if self.with != PythonVariant::Library {
            return interpreter();
        }
        let schema = Builtin::Rsb.schema()?;
        let codec = Codec::find(PROTOBUF).context("there is a row of Protobuf in Python")?;
        let emission = codec.emission(&schema, &Projection::choose(&schema))?;
        Ok(PythonEnvironment::create_for_step(folder, emission.requirements)?.program)
    }

    /// Names, versions and bytes of the packages that it has beside Python's own.
    fn packages(&self, folder: &Path) -> Result<Vec<(String, u64)>> {
        if self.with != PythonVariant::Library {
            return Ok(Vec::new());
        }
        let mut command = Command::new(self.python(folder)?);
        let said = run(command.args(["-I", "-c", PACKAGES]), "python3")?;
        let package = |line: &str| {
            let (name, bytes) = line.rsplit_once(' ').context("name, version and bytes")?;
            Ok((name.to_owned(), bytes.parse()?))
        };
        said.lines().map(package).collect()
    }
}

impl ProgramBuilder for Script {
    fn write(&self, folder: &Path) -> Result<Sources> {
        let text = match self.with {
            PythonVariant::Nothing => include_str!("nothing.py"),
            PythonVariant::Library => include_str!("protobuf.py"),
            PythonVariant::Generated => include_str!("generated.py"),
        };
        write(folder, "program.py", text)?;
        let mut generated = Vec::new();
        match self.with {
            PythonVariant::Nothing => {}
            PythonVariant::Library => {
                let mut command = Command::new("protoc");
                command.arg("--python_out=.");
                for (name, text) in Builtin::Rsb.definition_files() {
                    write(folder, name, text)?;
                    command.arg(name);
                    let module = name.replace(".proto", "_pb2.py");
                    generated.push(folder.join(module));
                }
                run(command.current_dir(folder), "protoc")?;
            }
            PythonVariant::Generated => {
                let definitions = vec![("rsb.proto".to_owned(), Builtin::Rsb.schema()?)];
                let package = Package::new(Some("notification"), definitions)?;
                for file in generate(&package, HolderLanguage::Python, &[Wire::RosMsg])? {
                    generated.push(write(folder, &file.path, &file.text)?);
                }
            }
        }
        Ok(Sources {
            program: code_lines(text, &["#"]),
            generated: code_lines_in(generated, &["#"])?,
        })
    }

    fn compile(&self, _: &Path) -> Result<Option<Command>> {
        Ok(None)
    }

    fn start(&self, folder: &Path) -> Result<Command> {
        let mut command = Command::new(self.python(folder)?);
        // What it compiles by itself would be weighed with it, and what the user's variables add.
        command.args(["-B", "-E", "-s", "program.py"]).current_dir(folder);
        Ok(command)
    }

    fn parts(&self, folder: &Path) -> Result<Parts> {
        let mut program = 0;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "py") {
                program += fs::metadata(&path)?.len();
            }
        }
        Ok(Parts { program, libraries: self.packages(folder)? })
    }

    fn origin(&self, folder: &Path) -> (String, Origin) {
        let library = match self.with {
            PythonVariant::Nothing => String::new(),
            PythonVariant::Library => {
                let packages = self.packages(folder).unwrap_or_default();
                packages.into_iter().map(|(name, _)| name).next().unwrap_or_default()
            }
            PythonVariant::Generated => format!("wiregauge {}", env!("CARGO_PKG_VERSION")),
        };
        let compiler = self
            .python(folder)
            .and_then(|python| run(Command::new(python).arg("--version"), "python3"));
        let compiler = compiler.unwrap_or_default().trim().to_owned();
        (library, Origin { compiler, ..Origin::default() })
    }
}
