//! In C++.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use wiregauge_build_tools::{run, Need, Toolchain};
use wiregauge_codec_run::workload::Builtin;
use wiregauge_data_holders::{generate, HolderLanguage, Package, Wire};
use wiregauge_result::run::Origin;

use super::program::{
    code_lines, code_lines_in, write, Parts, Program, ProgramBuilder, SentMessage, Sources,
};

/// As the publication was compiled, and what is not called left out; stripped.
const FLAGS: &str = "-std=c++17 -O2 -DNDEBUG -ffunction-sections -fdata-sections \
                     -Wl,--gc-sections -s";
const COMPILER: Need = Need::Program("c++", "g++");
const PROTOBUF: &[Need] = &[
    COMPILER,
    Need::Program("protoc", "protobuf-compiler"),
    Need::Header("google/protobuf/message.h", "libprotobuf-dev"),
];

/// How Protobuf's library is part of a program.
#[derive(Clone, Copy)]
struct Library {
    /// What the linker and pkg-config call it.
    name: &'static str,
    /// What its compiler is told of where its files go.
    generator: &'static str,
    is_static: bool,
}

/// What a program is made with.
enum CppVariant {
    Nothing,
    Library(Library),
    Generated(Wire, &'static str),
}

/// The programs.
pub fn programs() -> Vec<Program> {
    let library =
        |name, generator, is_static| CppVariant::Library(Library { name, generator, is_static });
    let program = |id, title, built, options, needs, message, with| Program {
        id,
        title,
        key: "cpp",
        language: "C++",
        built,
        options,
        needs,
        message,
        making: Box::new(Cpp { with }),
    };
    let protobuf = Some(SentMessage::Protobuf);
    vec![
        program(
            "nothing-cpp",
            "no message C++",
            "",
            &["hands on what it is given"],
            &[COMPILER],
            None,
            CppVariant::Nothing,
        ),
        program(
            "protobuf-cpp",
            "Protobuf C++",
            "the distribution's shared library",
            &["optimize_for = SPEED, the default"],
            PROTOBUF,
            protobuf,
            library("protobuf", "", false),
        ),
        program(
            "protobuf-cpp-lite",
            "Protobuf C++ lite",
            "the distribution's shared library",
            &["optimize_for = LITE_RUNTIME: no descriptors, no reflection"],
            PROTOBUF,
            protobuf,
            library("protobuf-lite", "lite:", false),
        ),
        program(
            "protobuf-cpp-static",
            "Protobuf C++ static",
            "the distribution's static library, of which the linker takes what is called",
            &["optimize_for = SPEED, the default"],
            PROTOBUF,
            protobuf,
            library("protobuf", "", true),
        ),
        program(
            "protobuf-cpp-lite-static",
            "Protobuf C++ lite static",
            "the distribution's static library, of which the linker takes what is called",
            &["optimize_for = LITE_RUNTIME: no descriptors, no reflection"],
            PROTOBUF,
            protobuf,
            library("protobuf-lite", "lite:", true),
        ),
        program(
            "generated-ros-msg-cpp",
            "ROS 1 MSG C++ generated",
            "headers",
            &["wiregauge generate --language cpp --wire ros-msg"],
            &[COMPILER],
            Some(SentMessage::RosMsg),
            CppVariant::Generated(Wire::RosMsg, include_str!("on_wire/ros_msg.hpp")),
        ),
        program(
            "generated-protobuf-cpp",
            "Protobuf C++ generated",
            "headers",
            &["wiregauge generate --language cpp --wire protobuf: Protobuf's bytes, without it"],
            &[COMPILER],
            protobuf,
            CppVariant::Generated(Wire::Protobuf, include_str!("on_wire/protobuf.hpp")),
        ),
    ]
}

struct Cpp {
    with: CppVariant,
}

impl Cpp {
    fn text(&self) -> &'static str {
        match self.with {
            CppVariant::Nothing => include_str!("nothing.cpp"),
            CppVariant::Library(_) => include_str!("protobuf.cpp"),
            CppVariant::Generated(..) => include_str!("generated.cpp"),
        }
    }

    /// Sources beside the program.
    fn sources(&self) -> Vec<String> {
        match self.with {
            CppVariant::Library(_) => Builtin::Rsb
                .definition_files()
                .iter()
                .map(|(name, _)| generated_file(name, "pb.cc"))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What of the folder a program includes that is not its own.
    fn included_files(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let mut command = Command::new("c++");
        command.args(["-std=c++17", "-MM", "-I.", "program.cpp"]).args(self.sources());
        let said = run(command.current_dir(folder), "c++")?;
        let mut paths: Vec<PathBuf> = said
            .split_whitespace()
            .filter(|word| !word.ends_with(':') && *word != "\\")
            .filter(|word| !["program.cpp", "on_wire.hpp"].contains(word))
            .map(|word| folder.join(word))
            .collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }
}

impl ProgramBuilder for Cpp {
    fn write(&self, folder: &Path) -> Result<Sources> {
        write(folder, "program.cpp", self.text())?;
        let mut program = code_lines(self.text(), &["//"]);
        match &self.with {
            CppVariant::Nothing => {}
            CppVariant::Library(library) => {
                let mut command = Command::new("protoc");
                command.arg(format!("--cpp_out={}.", library.generator));
                for (name, text) in Builtin::Rsb.definition_files() {
                    write(folder, name, text)?;
                    command.arg(name);
                }
                run(command.current_dir(folder), "protoc")?;
            }
            CppVariant::Generated(wire, calls) => {
                let definitions = vec![("rsb.proto".to_owned(), Builtin::Rsb.schema()?)];
                let package = Package::new(Some("notification"), definitions)?;
                for file in generate(&package, HolderLanguage::Cpp, &[*wire])? {
                    write(folder, &file.path, &file.text)?;
                }
                write(folder, "on_wire.hpp", calls)?;
                program += code_lines(calls, &["//"]);
            }
        }
        Ok(Sources { program, generated: code_lines_in(self.included_files(folder)?, &["//"])? })
    }

    fn compile(&self, folder: &Path) -> Result<Option<Command>> {
        let mut command = Command::new("c++");
        command.args(FLAGS.split(' ')).args(["-I.", "program.cpp"]).args(self.sources());
        command.args(["-o", "program"]).current_dir(folder);
        if let CppVariant::Library(library) = &self.with {
            command.args(link_flags(library));
        }
        Ok(Some(command))
    }

    fn start(&self, folder: &Path) -> Result<Command> {
        Ok(Command::new(folder.join("program")))
    }

    fn parts(&self, folder: &Path) -> Result<Parts> {
        let program = folder.join("program");
        Ok(Parts { program: fs::metadata(&program)?.len(), libraries: loaded_libraries(&program)? })
    }

    fn origin(&self, _: &Path) -> (String, Origin) {
        let library = match self.with {
            CppVariant::Nothing => String::new(),
            CppVariant::Library(_) => {
                let version = run(Command::new("protoc").arg("--version"), "protoc");
                version.map_or(String::new(), |said| said.trim().replace("libprotoc", "protobuf"))
            }
            CppVariant::Generated(..) => format!("wiregauge {}", env!("CARGO_PKG_VERSION")),
        };
        let compiler = Toolchain::System.compiler();
        (library, Origin { compiler, flags: FLAGS.into(), ..Origin::default() })
    }
}

/// What Protobuf's compiler makes of a definition.
fn generated_file(definition: &str, end: &str) -> String {
    format!("{}.{end}", definition.trim_end_matches(".proto"))
}

/// The words that link a library: what its makers say, where pkg-config is there.
fn link_flags(library: &Library) -> Vec<String> {
    let mut ask = Command::new("pkg-config");
    ask.arg("--libs").args(library.is_static.then_some("--static")).arg(library.name);
    let said = run(&mut ask, "pkg-config").unwrap_or_else(|_| format!("-l{}", library.name));
    let words = said.split_whitespace().map(str::to_owned);
    match library.is_static {
        false => words.collect(),
        true => {
            let (first, last) = ("-Wl,-Bstatic".to_owned(), "-Wl,-Bdynamic".to_owned());
            [first].into_iter().chain(words).chain([last]).collect()
        }
    }
}

/// The files that the loader brings into a program, with their bytes.
fn loaded_libraries(program: &Path) -> Result<Vec<(String, u64)>> {
    // What ldd sets.
    let said = run(Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1"), "the loader")?;
    let path = |line: &str| {
        let before = line.rsplit_once(" (")?.0.trim();
        let path = before.rsplit_once("=> ").map_or(before, |(_, path)| path);
        path.starts_with('/').then(|| path.to_owned())
    };
    let with_bytes = |path: String| {
        let bytes = fs::metadata(&path).with_context(|| format!("cannot read {path}"))?.len();
        Ok((path, bytes))
    };
    said.lines().filter_map(path).map(with_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::rsb::weight::program::compile_time;

    /// The names of the libraries of a program, by ldd.
    fn by_ldd(program: &Path) -> Vec<String> {
        let said = run(Command::new("ldd").arg(program), "ldd").unwrap();
        // The kernel's own is no file.
        let name = |line: &str| Some(line.trim().split([' ', '(']).next()?.to_owned());
        let mut all: Vec<String> = said.lines().filter_map(name).collect();
        all.retain(|name| !name.starts_with("linux-vdso"));
        all
    }

    #[test]
    fn what_a_program_loads_is_what_ldd_says() {
        for (id, needs_protobuf) in [("protobuf-cpp-lite", true), ("generated-ros-msg-cpp", false)]
        {
            let folder = tempfile::tempdir().unwrap();
            let program = programs().into_iter().find(|program| program.id == id).unwrap();
            let sources = program.making.write(folder.path()).unwrap();
            assert!(sources.program > 10 && sources.generated > 100, "{id}");
            let compile = program.making.compile(folder.path()).unwrap();
            assert!(compile_time(compile.unwrap()).unwrap() > 0.0);
            let path = folder.path().join("program");
            let (loaded, by_ldd) = (loaded_libraries(&path).unwrap(), by_ldd(&path));
            assert_eq!(loaded.len(), by_ldd.len(), "{loaded:?}, {by_ldd:?}");
            for (path, bytes) in &loaded {
                let name = Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
                assert!(*bytes > 0 && by_ldd.iter().any(|own| own.ends_with(&name)), "{path}");
            }
            let is_protobuf = |(path, _): &(String, u64)| path.contains("libprotobuf");
            assert_eq!(loaded.iter().any(is_protobuf), needs_protobuf, "{id}");
        }
    }
}
