//! Where a schema comes from: a file, and the type in it that is the message.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Result};

use crate::model::Schema;
use crate::msg::Dialect;
use crate::{file, msg, proto};

/// A definition file and the type in it, written `FILE[:Type]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// The message, by its full name or the last part of it; none where the
    /// file leaves no choice.
    pub type_name: Option<String>,
    /// Where else to look for the definitions that it uses, in this order.
    pub folders: Vec<PathBuf>,
}

impl Source {
    /// Reads `FILE[:Type]`. A file that exists under the whole text wins over
    /// splitting at the last `:`.
    pub fn parse(text: &str) -> Source {
        match text.rsplit_once(':') {
            // A separator in what would be the type belongs to a path: C:\a.msg
            Some((path, name))
                if !Path::new(text).exists() && !name.is_empty() && !name.contains('\\') =>
            {
                Source { path: path.into(), type_name: Some(name.into()), folders: Vec::new() }
            }
            _ => Source { path: text.into(), type_name: None, folders: Vec::new() },
        }
    }

    /// The same, with these folders to look in.
    pub fn within(self, folders: &[PathBuf]) -> Source {
        Source { folders: folders.to_vec(), ..self }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match &self.type_name {
            Some(name) => write!(f, ":{name}"),
            None => Ok(()),
        }
    }
}

/// Reads the schema, by the file's extension: `.msg`, `.proto`, or a descriptor
/// set in `.fds`, `.desc`, `.binpb` or `.pb`.
///
/// Definitions that it uses and that are not beside it are looked for in the
/// source's folders; those of ROS also where the environment says packages are
/// (`AMENT_PREFIX_PATH`, `ROS_PACKAGE_PATH`).
pub fn load(source: &Source) -> Result<Schema> {
    load_as(None, source)
}

/// Reads it as [`load`] does; a definition of ROS in this dialect where one is
/// given.
pub fn load_as(dialect: Option<Dialect>, source: &Source) -> Result<Schema> {
    let Source { path, type_name, folders } = source;
    let type_name = type_name.as_deref();
    let origin = path.display().to_string();
    for folder in folders {
        ensure!(folder.is_dir(), "{} is no folder to look in", folder.display());
    }
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        "msg" => msg::read_file_as(dialect, path, type_name, &msg::folders(folders)),
        "proto" => proto::read_file(path, type_name, folders),
        "fds" | "desc" | "binpb" | "pb" => {
            proto::read_descriptors(&file::bytes(path)?, type_name, &origin)
        }
        "srv" => bail!(
            "{origin} defines a service, which is two messages, request and response; put the \
             one to be measured into a .msg file"
        ),
        "action" => bail!(
            "{origin} defines an action, which is three messages, goal, result and feedback; put \
             the one to be measured into a .msg file"
        ),
        "idl" => bail!(
            "{origin} is in OMG IDL, which is not read; give the .msg file that it was made from"
        ),
        _ => bail!(
            "{origin} is no definition that can be read; give a .msg, .proto, .fds, .desc, \
             .binpb or .pb file"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_source_is_a_file_and_perhaps_a_type() {
        let source = Source::parse("a/b.proto:p.Root");
        assert_eq!(source.path, Path::new("a/b.proto"));
        assert_eq!(source.type_name.as_deref(), Some("p.Root"));
        assert_eq!(source.to_string(), "a/b.proto:p.Root");
        assert_eq!(Source::parse("a.msg").type_name, None);
    }

    #[test]
    fn an_existing_file_wins_over_the_split() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a:b.msg");
        fs::write(&path, "int32 x").unwrap();
        let source = Source::parse(path.to_str().unwrap());
        assert_eq!(source.path, path);
        assert_eq!(load(&source).unwrap().root().fields.len(), 1);
    }

    #[test]
    fn other_files_are_refused() {
        let error = load(&Source::parse("a.xml")).unwrap_err().to_string();
        assert!(error.contains("give a .msg"), "{error}");
        let error = load(&Source::parse("absent.msg")).unwrap_err().to_string();
        assert_eq!(error, "cannot read absent.msg");
        let error = load(&Source::parse("AddTwoInts.srv")).unwrap_err().to_string();
        assert!(error.contains("AddTwoInts.srv defines a service"), "{error}");
        let error = load(&Source::parse("Fibonacci.action")).unwrap_err().to_string();
        assert!(error.contains("Fibonacci.action defines an action"), "{error}");
        let error = load(&Source::parse("a.msg").within(&["nowhere".into()])).unwrap_err();
        assert_eq!(error.to_string(), "nowhere is no folder to look in");
    }
}
