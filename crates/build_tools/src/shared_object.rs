//! Shared objects in C that count: they are loaded into other programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context, Result};

use crate::build_cache::{hash, lock, write_if_changed};
use crate::need::Need;
use crate::tool::run;
use crate::toolchain::Toolchain;

/// What all of them are compiled with: they show only what they say.
const FLAGS: [&str; 5] = ["-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"];

/// What compiles them.
const CC: Need = Need::Program("cc", "build-essential");

/// The shared object of a source and these flags more, `tools/shared/STEM-HASH.so` in the build
/// folder, for the machine or the target of a toolchain. It is compiled where it is not there
/// yet.
///
/// # Errors
/// When the build folder cannot be written into, or there is no C compiler.
pub fn compile_shared_object(
    build: &Path,
    stem: &str,
    source: &[u8],
    flags: &[&str],
    toolchain: &Toolchain,
) -> Result<PathBuf> {
    let folder = build.join("tools").join("shared");
    fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let words = FLAGS.iter().chain(flags).map(|flag| flag.as_bytes().to_vec());
    let stamp = Some(toolchain.stamp()?.into_bytes()).filter(|stamp| !stamp.is_empty());
    let key = hash([source.to_vec()].into_iter().chain(words).chain(stamp));
    let [text, object, made] =
        ["c", "so", "so.new"].map(|end| folder.join(format!("{stem}-{}.{end}", &key[..16])));
    let _lock = lock(&folder)?;
    if !object.exists() {
        write_if_changed(&text, source)?;
        let lack = match toolchain {
            Toolchain::System => CC.explain_missing(),
            _ => None,
        };
        if let Some(lack) = lack {
            bail!("{lack}");
        }
        let compiler = toolchain.c_compiler()?;
        // In the build folder, which is all that a compiler in a root sees of this machine.
        let mut command = Command::new(&compiler);
        command.current_dir(&folder);
        run(command.args(FLAGS).args(flags).arg("-o").arg(&made).arg(&text), &compiler)?;
        fs::rename(&made, &object).with_context(|| format!("cannot write {}", object.display()))?;
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_compiled_once_for_a_source_and_its_flags() {
        let build = tempfile::tempdir().unwrap();
        let compile = |source: &str, flags: &[&str]| {
            compile_shared_object(
                build.path(),
                "count",
                source.as_bytes(),
                flags,
                &Toolchain::System,
            )
        };
        let first = compile("int count;", &[]).unwrap();
        let made = fs::metadata(&first).unwrap().modified().unwrap();
        assert_eq!(compile("int count;", &[]).unwrap(), first);
        assert_eq!(fs::metadata(&first).unwrap().modified().unwrap(), made);
        assert_ne!(compile("int count;", &["-fno-builtin"]).unwrap(), first);
        let error = format!("{:#}", compile("int count = ;", &[]).unwrap_err());
        assert!(error.contains("expected expression"), "{error}");
    }
}
