//! Generators that come from Maven Central: fetched once and kept in the build
//! folder, for all messages and without a network from then on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, ensure, Context, Result};
use sha2::{Digest, Sha256};

use crate::build_cache::build_folder;
use crate::need::Need;
use crate::network::allow_download;
use crate::tool::first_error;

/// What [`jar`] needs on the machine.
pub const NEED: Need = Need::Program("mvn", "maven");

/// The goal of Maven that copies artifacts into a folder.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// A jar that is pinned, or a program.
#[derive(Clone, Copy, Debug)]
pub struct Jar {
    /// What Maven knows it by: `group:name:version`, with `:exe:MACHINE` behind it where
    /// it is a program.
    pub coordinates: &'static str,
    /// The hash of the file in hexadecimal.
    pub sha256: &'static str,
}

/// A pinned jar, for programs in this build folder. Fetches it unless that was done.
///
/// # Errors
/// When it cannot be fetched, or is not the file that was pinned.
pub fn jar(build: &Path, jar: &Jar) -> Result<PathBuf> {
    pinned(&build.join("tools"), jar)
}

/// The same of several. Those that are missing are fetched together: Maven takes longer to
/// start than to fetch one.
///
/// # Errors
/// When one cannot be fetched, or is not the file that was pinned.
pub fn jars<'a>(build: &Path, jars: impl IntoIterator<Item = &'a Jar>) -> Result<Vec<PathBuf>> {
    let jars: Vec<&Jar> = jars.into_iter().collect();
    let coordinates: Vec<&str> = jars.iter().map(|jar| jar.coordinates).collect();
    let tools = build.join("tools");
    in_folder(&tools, &coordinates)?;
    jars.into_iter().map(|jar| pinned(&tools, jar)).collect()
}

/// A pinned program for a step that runs in this folder. Fetches it unless that was done.
///
/// # Errors
/// When it cannot be fetched, or is not the file that was pinned.
pub fn program(step_folder: &Path, program: &Jar) -> Result<PathBuf> {
    let path = pinned(&tools(step_folder)?, program)?;
    // Maven keeps no such rights.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", path.display()))?;
    Ok(path)
}

/// What is in this folder, or was fetched into it, and is what was pinned.
fn pinned(tools: &Path, jar: &Jar) -> Result<PathBuf> {
    let path = in_folder(tools, &[jar.coordinates])?.remove(0);
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(
        hash == jar.sha256,
        "{} is not the pinned {} (its sha256 is {hash}); remove the file, and wiregauge fetches it \
         again",
        path.display(),
        jar.coordinates
    );
    Ok(path)
}

/// The jars in this folder, in order, after those were fetched that are not there.
fn in_folder(tools: &Path, coordinates: &[&str]) -> Result<Vec<PathBuf>> {
    let files: Vec<String> =
        coordinates.iter().map(|coordinates| file_name(coordinates)).collect::<Result<_>>()?;
    let paths: Vec<PathBuf> = files.iter().map(|file| tools.join(file)).collect();
    fs::create_dir_all(tools).with_context(|| format!("cannot make {}", tools.display()))?;
    // One fetches; whoever comes meanwhile waits, and then finds the jar.
    let lock = fs::File::create(tools.join("lock"))
        .with_context(|| format!("cannot write into {}", tools.display()))?;
    lock.lock()?;
    let mut missing: Vec<&str> = Vec::new();
    for (coordinates, path) in coordinates.iter().zip(&paths) {
        if !path.exists() && !missing.contains(coordinates) {
            missing.push(coordinates);
        }
    }
    if missing.is_empty() {
        return Ok(paths);
    }
    allow_download(&missing.join(", "))?;
    // A fetch that is interrupted must not leave half a jar under its name.
    let partial = tools.join("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fs::create_dir(&partial).with_context(|| format!("cannot make {}", partial.display()))?;
    fetch(&missing, &partial)?;
    for coordinates in missing {
        let file = file_name(coordinates)?;
        fs::rename(partial.join(&file), tools.join(&file))
            .with_context(|| format!("Maven brought no {file} for {coordinates}"))?;
    }
    fs::remove_dir_all(&partial)?;
    Ok(paths)
}

/// What Maven calls the file of an artifact.
fn file_name(coordinates: &str) -> Result<String> {
    Ok(match coordinates.split(':').collect::<Vec<_>>()[..] {
        [_, name, version] => format!("{name}-{version}.jar"),
        [_, name, version, kind, machine] => format!("{name}-{version}-{machine}.{kind}"),
        _ => bail!("'{coordinates}' is not group:name:version"),
    })
}

/// The folder of fetched tools.
fn tools(step_folder: &Path) -> Result<PathBuf> {
    Ok(build_folder(step_folder)?.join("tools"))
}

/// Has Maven copy artifacts into a folder, their checksums verified.
fn fetch(coordinates: &[&str], folder: &Path) -> Result<()> {
    let project = folder.join("pom.xml");
    fs::write(&project, project_file(coordinates))
        .with_context(|| format!("cannot write {}", project.display()))?;
    // It runs for a second: what pays off later only costs.
    let options = std::env::var("MAVEN_OPTS").unwrap_or_default() + " -XX:TieredStopAtLevel=1";
    let output = Command::new("mvn")
        .env("MAVEN_OPTS", options.trim_start())
        .arg("--file")
        .arg(&project)
        .args(["--batch-mode", "--quiet", "--strict-checksums", "-Dstyle.color=never", COPY])
        .arg(format!("-DoutputDirectory={}", folder.display()))
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .output()
        .context("cannot start mvn; apt-get install maven")?;
    if !output.status.success() {
        let text = [output.stdout, output.stderr].concat();
        let why = first_error(&[&String::from_utf8_lossy(&text)]);
        bail!("Maven cannot fetch {}: {why}", coordinates.join(", "));
    }
    Ok(())
}

/// A project of Maven that names these artifacts for its goal to copy.
fn project_file(coordinates: &[&str]) -> String {
    let item = |coordinates: &&str| -> String {
        let names = ["groupId", "artifactId", "version", "type", "classifier"].into_iter();
        let tags = names.zip(coordinates.split(':'));
        let tags: String = tags.map(|(name, word)| format!("<{name}>{word}</{name}>")).collect();
        format!("<artifactItem>{tags}</artifactItem>\n")
    };
    let items: String = coordinates.iter().map(item).collect();
    format!(
        "<project>\n<modelVersion>4.0.0</modelVersion>\n<groupId>wiregauge</groupId>\n\
         <artifactId>jars</artifactId>\n<version>1</version>\n<packaging>pom</packaging>\n\
         <build><plugins><plugin>\n<groupId>org.apache.maven.plugins</groupId>\n\
         <artifactId>maven-dependency-plugin</artifactId>\n\
         <configuration><artifactItems>\n{items}</artifactItems></configuration>\n\
         </plugin></plugins></build>\n</project>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_copied_by_one_project() {
        let text = project_file(&["org.a:one:1.0", "org.b:two:2.0:exe:linux-x86_64"]);
        let items = [
            "<groupId>org.a</groupId><artifactId>one</artifactId><version>1.0</version>",
            "<groupId>org.b</groupId><artifactId>two</artifactId><version>2.0</version>\
             <type>exe</type><classifier>linux-x86_64</classifier>",
        ];
        for item in items {
            assert!(text.contains(&format!("<artifactItem>{item}</artifactItem>\n")), "{text}");
        }
        let build = tempfile::tempdir().unwrap();
        fs::create_dir_all(build.path().join("tools")).unwrap();
        fs::write(build.path().join("tools/tool-1.0.jar"), "a jar").unwrap();
        let hash = "fc8bd814a3051a9717431182d5af2a2d654481aac82a028c05c73afa4ca38823";
        let jar = Jar { coordinates: "org.example:tool:1.0", sha256: hash };
        assert_eq!(jars(build.path(), [&jar, &jar]).unwrap().len(), 2);
        let other = Jar { sha256: "00", ..jar };
        assert!(jars(build.path(), [&jar, &other]).is_err());
    }

    #[test]
    fn a_jar_that_is_another_is_refused() {
        let build = tempfile::tempdir().unwrap();
        fs::create_dir_all(build.path().join("tools")).unwrap();
        fs::write(build.path().join("tools/tool-1.0.jar"), "a jar").unwrap();
        let pinned = |sha256| Jar { coordinates: "org.example:tool:1.0", sha256 };
        let error = jar(build.path(), &pinned("00")).unwrap_err().to_string();
        assert!(error.contains("tool-1.0.jar is not the pinned org.example:tool:1.0"), "{error}");
        let hash = "fc8bd814a3051a9717431182d5af2a2d654481aac82a028c05c73afa4ca38823";
        let path = build.path().join("tools/tool-1.0.jar");
        assert_eq!(jar(build.path(), &pinned(hash)).unwrap(), path, "what was fetched is used");
    }

    #[test]
    fn a_program_may_be_run_and_another_is_refused() {
        let build = tempfile::tempdir().unwrap();
        let step = build.path().join("messages/m0/java/one");
        fs::create_dir_all(&step).unwrap();
        fs::create_dir_all(build.path().join("tools")).unwrap();
        let path = build.path().join("tools/tool-1.0-linux-x86_64.exe");
        fs::write(&path, "a jar").unwrap();
        let pinned = |sha256| Jar { coordinates: "org.example:tool:1.0:exe:linux-x86_64", sha256 };
        let error = program(&step, &pinned("00")).unwrap_err().to_string();
        assert!(error.contains("is not the pinned"), "{error}");
        let hash = "fc8bd814a3051a9717431182d5af2a2d654481aac82a028c05c73afa4ca38823";
        assert_eq!(program(&step, &pinned(hash)).unwrap(), path);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o111, 0o111);
    }

    #[test]
    fn coordinates_are_checked() {
        let build = tempfile::tempdir().unwrap();
        let tool = Jar { coordinates: "tool:1.0", sha256: "" };
        let error = jar(build.path(), &tool).unwrap_err();
        assert_eq!(error.to_string(), "'tool:1.0' is not group:name:version");
    }
}
