//! FMUs made for the tests: fixtures/osmp.c in an archive of its own.
#![allow(dead_code)] // Each test file uses its part.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use zip::write::SimpleFileOptions;
use zip::ZipWriter;

/// The MIME type of the fixtures' messages, without the message.
pub const MIME: &str = "application/x-open-simulation-interface; version=3.8.0";

/// An FMU to be made.
#[derive(Clone)]
pub struct Fixture {
    /// A model, or else a source.
    pub model: bool,
    /// 2 or 3.
    pub fmi: u8,
    /// What the binary variables say of themselves.
    pub mime: String,
    /// Replacements in modelDescription.xml.
    pub edits: Vec<(String, String)>,
    /// Whether its shared object is in it.
    pub binary: bool,
    /// Whether loading that throws.
    pub throws: bool,
    /// Whether it has a second output, `OSMPGroundTruthOut[1]`.
    pub beside: bool,
}

impl Fixture {
    pub fn source(fmi: u8) -> Fixture {
        Fixture {
            model: false,
            fmi,
            mime: MIME.into(),
            edits: Vec::new(),
            binary: true,
            throws: false,
            beside: false,
        }
    }

    pub fn model(fmi: u8) -> Fixture {
        Fixture { model: true, ..Fixture::source(fmi) }
    }

    pub fn mime(mut self, mime: &str) -> Fixture {
        self.mime = mime.into();
        self
    }

    /// Replaces a part of modelDescription.xml, which must be there.
    pub fn edit(mut self, from: &str, to: &str) -> Fixture {
        assert!(self.description().contains(from), "no {from} in {}", self.description());
        self.edits.push((from.into(), to.into()));
        self
    }

    pub fn with_two_outputs(mut self) -> Fixture {
        self.beside = true;
        self
    }

    pub fn without_binary(mut self) -> Fixture {
        self.binary = false;
        self
    }

    pub fn throwing_on_load(mut self) -> Fixture {
        self.throws = true;
        self
    }

    /// Its modelDescription.xml.
    pub fn description(&self) -> String {
        let mut text = if self.fmi == 2 { self.two() } else { self.three() };
        for (from, to) in &self.edits {
            text = text.replace(from, to);
        }
        text
    }

    fn binaries(&self) -> Vec<(&'static str, &'static str, &'static str, u32)> {
        let mut all = match self.model {
            false => vec![("OSMPSensorViewOut", "output", "SensorView", 20)],
            true => vec![
                ("OSMPSensorViewIn", "input", "SensorView", 10),
                ("OSMPSensorDataOut", "output", "SensorData", 20),
            ],
        };
        all.extend(self.beside.then_some(("OSMPGroundTruthOut[1]", "output", "GroundTruth", 30)));
        all
    }

    fn two(&self) -> String {
        let mut variables = String::new();
        for (name, kind, reference) in [
            ("size", "Integer", 0),
            ("faultStep", "Integer", 1),
            ("fault", "String", 0),
            ("log", "String", 1),
        ] {
            let start = if kind == "Integer" { "0" } else { "" };
            variables += &format!(
                "<ScalarVariable name=\"{name}\" valueReference=\"{reference}\" \
                 causality=\"parameter\" variability=\"fixed\"><{kind} start=\"{start}\"/>\
                 </ScalarVariable>\n"
            );
        }
        for (name, causality, message, first) in self.binaries() {
            for (at, role) in ["base.lo", "base.hi", "size"].into_iter().enumerate() {
                let mime = format!("{}; type={message}", self.mime);
                let reference = first + at as u32;
                variables += &format!(
                    "<ScalarVariable name=\"{name}.{role}\" valueReference=\"{reference}\" \
                     causality=\"{causality}\" variability=\"discrete\"><Integer start=\"0\"/>\
                     <Annotations><Tool name=\"net.pmsf.osmp\" \
                     xmlns:osmp=\"http://xsd.pmsf.net/OSISensorModelPackaging\">\
                     <osmp:osmp-binary-variable name=\"{name}\" role=\"{role}\" \
                     mime-type=\"{mime}\"/></Tool></Annotations></ScalarVariable>\n"
                );
            }
        }
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"2.0\" \
             modelName=\"Fixture\" guid=\"{{fixture}}\"><CoSimulation modelIdentifier=\"fixture\"/>\
             <DefaultExperiment stepSize=\"0.1\"/><ModelVariables>\n{variables}</ModelVariables>\
             </fmiModelDescription>"
        )
    }

    fn three(&self) -> String {
        let mut variables = String::new();
        for (name, kind, reference) in [
            ("size", "Int32", 0),
            ("faultStep", "Int32", 1),
            ("fault", "String", 0),
            ("log", "String", 1),
        ] {
            variables += &format!(
                "<{kind} name=\"{name}\" valueReference=\"{reference}\" causality=\"parameter\"/>\n"
            );
        }
        for (name, causality, message, reference) in self.binaries() {
            let mime = format!("{}; type={message}", self.mime);
            variables += &format!(
                "<Binary name=\"{name}\" valueReference=\"{reference}\" causality=\"{causality}\" \
                 mimeType=\"{mime}\"><Annotations><Annotation type=\"net.pmsf.osmp\" \
                 xmlns:osmp=\"http://xsd.pmsf.net/OSISensorModelPackaging\">\
                 <osmp:osmp-binary-variable name=\"{name}\" role=\"full\" mime-type=\"{mime}\"/>\
                 </Annotation></Annotations></Binary>\n"
            );
        }
        format!(
            "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"Fixture\" \
             instantiationToken=\"{{fixture}}\"><CoSimulation modelIdentifier=\"fixture\"/>\
             <DefaultExperiment stepSize=\"0.1\"/><ModelVariables>\n{variables}</ModelVariables>\
             </fmiModelDescription>"
        )
    }

    /// Its shared object, compiled once for all tests.
    fn compile(&self) -> PathBuf {
        const SOURCE: &str = include_str!("../fixtures/osmp.c");
        const THROW: &str = include_str!("../fixtures/throw.cpp");
        let mut hasher = DefaultHasher::new();
        (SOURCE, THROW, self.throws).hash(&mut hasher);
        let kind = if self.model { "model" } else { "source" };
        let name = format!("{kind}{}-{:016x}.so", self.fmi, hasher.finish());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let path = folder.join(name);
        if path.exists() {
            return path;
        }
        // Others may be at it as well: each makes its own and moves it there.
        let own = tempfile::tempdir_in(folder).expect("writable");
        let at = |name: &str| own.path().join(name);
        fs::write(at("osmp.c"), SOURCE).expect("writable");
        fs::write(at("throw.cpp"), THROW).expect("writable");
        let flags = ["-O1", "-fPIC", "-Wall", "-Wextra", "-Werror", "-c"];
        let run = |command: &mut Command| {
            let status = command.current_dir(own.path()).status();
            assert!(status.expect("there are C and C++ compilers").success());
        };
        let mut cc = Command::new("cc");
        cc.args(flags).args(["-fexceptions", "osmp.c"]);
        cc.args(self.model.then_some("-DMODEL"));
        cc.args((self.fmi == 3).then_some("-DFMI3"));
        run(&mut cc);
        let mut cpp = Command::new("c++");
        run(cpp.args(flags).arg("throw.cpp").args(self.throws.then_some("-DTHROW_ON_LOAD")));
        run(Command::new("c++").args(["-shared", "-o", "osmp.so", "osmp.o", "throw.o"]));
        let object = at("osmp.so");
        fs::rename(object, &path).expect("the same file system");
        path
    }

    /// Writes the FMU.
    pub fn write(&self, path: &Path) -> PathBuf {
        let platform = match (self.fmi, cfg!(target_arch = "aarch64")) {
            (2, false) => "linux64",
            (_, false) => "x86_64-linux",
            (_, true) => "aarch64-linux",
        };
        let description = self.description().into_bytes();
        let mut entries = vec![("modelDescription.xml".to_owned(), description)];
        let name = format!("binaries/{platform}/fixture.so");
        if self.binary {
            let object = fs::read(self.compile()).expect("it was compiled");
            entries.push((name, object));
        } else {
            entries.push(("binaries/win64/fixture.dll".into(), b"MZ".to_vec()));
        }
        archive(path, &entries);
        path.to_owned()
    }
}

/// Writes an archive.
pub fn archive(path: &Path, entries: &[(String, Vec<u8>)]) {
    let mut zip = ZipWriter::new(fs::File::create(path).expect("writable"));
    for (name, bytes) in entries {
        zip.start_file(name.as_str(), SimpleFileOptions::default()).expect("a name");
        zip.write_all(bytes).expect("writable");
    }
    zip.finish().expect("writable");
}
