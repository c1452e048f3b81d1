//! Glue to a library in C++, which is compiled where the library is, and loaded by the process
//! that is measured: wiregauge itself is built without any of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use wiregauge_build_tools::{hash, lock, package, run, write_if_changed, Need};

/// Glue to a library.
pub struct Native {
    /// Its name, and that of its files.
    pub name: &'static str,
    /// Its source.
    pub source: &'static str,
    /// The standard that the library's headers want: `c++17`.
    pub standard: &'static str,
    /// What the linker calls the library.
    pub library: &'static str,
    /// What the machine must have.
    pub needs: &'static [Need],
    /// Where the library is, if it is no package.
    pub place: Option<UserLibrary>,
}

/// A folder that the user names, with `include` and `lib`.
pub struct UserLibrary {
    /// The environment variable that names it.
    pub variable: &'static str,
    /// A header below `include`.
    pub header: &'static str,
    /// How one comes to such a folder.
    pub remedy: &'static str,
}

/// What all glue includes.
const COLUMNS: &str = include_str!("../cpp/columns.hpp");

/// How it is compiled. What of a library's headers the glue compiles, too, must not take the place
/// of the library's own.
const FLAGS: [&str; 5] = ["-O3", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility-inlines-hidden"];

impl Native {
    /// What the machine lacks, and what to do about it.
    pub fn missing_requirement(&self) -> Option<String> {
        let place = self.place.as_ref().and_then(|place| {
            let Some(folder) = std::env::var_os(place.variable) else {
                return Some(format!("{} is not set: {}", place.variable, place.remedy));
            };
            self.missing(place, Path::new(&folder))
        });
        place.or_else(|| self.needs.iter().find_map(Need::explain_missing))
    }

    /// How the library and the glue came to be machine code, in a sentence.
    pub fn describe_build(&self) -> String {
        let library = match &self.place {
            Some(place) => format!("shared library of the folder in {}", place.variable),
            None => match package::shared_library(&format!("lib{}", self.library)) {
                Some((name, version)) => {
                    format!("shared library of {name} {version}, by the distribution's own flags")
                }
                None => "shared library of the machine".into(),
            },
        };
        format!("{library}; glue compiled by g++ -std={} {} {}", self.standard, FLAGS[0], FLAGS[1])
    }

    /// Which file a folder lacks.
    fn missing(&self, place: &UserLibrary, folder: &Path) -> Option<String> {
        let files = [Path::new("include").join(place.header), self.file()];
        let gone = files.into_iter().map(|file| folder.join(file)).find(|file| !file.is_file())?;
        Some(format!(
            "{} does not name a folder with the library: {} is missing",
            place.variable,
            gone.display()
        ))
    }

    /// The library below its folder.
    fn file(&self) -> PathBuf {
        Path::new("lib").join(format!("lib{}.so", self.library))
    }

    /// Compiles it below the build folder, unless it is there for these libraries.
    ///
    /// # Errors
    /// When something is missing, or it does not compile.
    pub fn build(&self, folder: &Path) -> Result<PathBuf> {
        if let Some(lack) = self.missing_requirement() {
            anyhow::bail!(lack);
        }
        let mut arguments = vec![format!("-std={}", self.standard)];
        arguments.extend(FLAGS.map(str::to_owned));
        let mut parts = vec![COLUMNS.into(), self.source.into()];
        let mut linked = vec![format!("-l{}", self.library)];
        if let Some(place) = self.place.as_ref().and_then(|p| std::env::var_os(p.variable)) {
            let place = Path::new(&place).canonicalize()?;
            arguments.push(format!("-I{}", place.join("include").display()));
            let library = place.join("lib");
            linked.insert(0, format!("-L{}", library.display()));
            linked.push(format!("-Wl,-rpath,{}", library.display()));
            parts.push(fs::read(place.join(self.file()))?);
        }
        let versions = self.needs.iter().map(|need| package::version(need.names().1));
        parts.extend(versions.map(|version| version.unwrap_or_default().into_bytes()));
        parts.extend(arguments.iter().chain(&linked).map(|word| word.clone().into_bytes()));
        let place = folder.join("reduction").join(&hash(parts)[..16]);
        let built = place.join(format!("{}.so", self.name));
        if built.is_file() {
            return Ok(built);
        }
        fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
        let place = place.canonicalize()?;
        let _lock = lock(&place)?;
        let source = place.join(format!("{}.cpp", self.name));
        write_if_changed(&place.join("columns.hpp"), COLUMNS.as_bytes())?;
        write_if_changed(&source, self.source.as_bytes())?;
        // Made aside and then renamed, so that no half of it is found.
        let aside = place.join("half.so");
        let mut compiler = Command::new("g++");
        compiler.args(&arguments).arg("-o").arg(&aside).arg(&source).args(&linked);
        run(&mut compiler, "g++").with_context(|| format!("the glue to {}", self.name))?;
        fs::rename(&aside, &built)?;
        Ok(built)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Native = Native {
        name: "nothing",
        source: "",
        standard: "c++17",
        library: "nothing",
        needs: &[Need::Header("nothing/none.h", "libnothing-dev")],
        place: None,
    };

    #[test]
    fn what_is_not_there_is_told_with_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let lack = NOTHING.missing_requirement().unwrap();
        assert!(lack.contains("none.h") && lack.contains("apt-get install libnothing-dev"));
        assert!(NOTHING.build(folder.path()).is_err());
        let remedy = "build it";
        let place =
            UserLibrary { variable: "WIREGAUGE_TEST_NO_SUCH_PLACE", header: "none.h", remedy };
        let own = Native { needs: &[], place: Some(place), ..NOTHING };
        assert_eq!(
            own.missing_requirement().unwrap(),
            "WIREGAUGE_TEST_NO_SUCH_PLACE is not set: build it"
        );
        let told = own.missing(own.place.as_ref().unwrap(), folder.path()).unwrap();
        assert!(told.contains("include/none.h is missing"), "{told}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn what_does_not_compile_is_an_error_and_nothing_is_found_later() {
        let folder = tempfile::tempdir().unwrap();
        let broken = Native { source: "#error broken on purpose\n", needs: &[], ..NOTHING };
        for _ in 0..2 {
            let told = format!("{:#}", broken.build(folder.path()).unwrap_err());
            assert!(told.contains("broken on purpose"), "{told}");
        }
    }
}
