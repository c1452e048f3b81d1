//! Where a schema comes from: a file, and the type in it that is the message.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Result};

use crate::model::{Schema, TypeDef};
use crate::msg::Dialect;
use crate::{file, idl, msg, package, proto};

/// A definition file, or a folder of them, and the type in it, written
/// `FILE[:Type]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaSource {
    /// The file.
    pub path: PathBuf,
    /// The message, by its full name or the last part of it; none where the
    /// file leaves no choice.
    pub type_name: Option<String>,
    /// Where else to look for the definitions that it uses, in this order.
    pub folders: Vec<PathBuf>,
}

impl SchemaSource {
    /// Reads `FILE[:Type]`. A file that exists under the whole text wins over
    /// splitting at the last `:`.
    pub fn parse(text: &str) -> SchemaSource {
        // Types of IDL have pairs of colons: FILE:module::Type.
        let single = text.rmatch_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let mut single = single.filter(|(a, b)| !a.ends_with(':') && !b.starts_with(':'));
        match single.next() {
            // A separator in what would be the type belongs to a path: C:\a.msg
            Some((path, name))
                if !Path::new(text).exists() && !name.is_empty() && !name.contains('\\') =>
            {
                SchemaSource {
                    path: path.into(),
                    type_name: Some(name.into()),
                    folders: Vec::new(),
                }
            }
            _ => SchemaSource { path: text.into(), type_name: None, folders: Vec::new() },
        }
    }

    /// The same, with these folders to look in.
    pub fn with_folders(self, folders: &[PathBuf]) -> SchemaSource {
        SchemaSource { folders: folders.to_vec(), ..self }
    }
}

impl fmt::Display for SchemaSource {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match &self.type_name {
            Some(name) => write!(f, ":{name}"),
            None => Ok(()),
        }
    }
}

/// Reads the schema, by the file's extension: `.msg`, a message of a `.srv` or an `.action`, `.idl`,
/// `.proto`, or a descriptor set in `.fds`, `.desc`, `.binpb` or `.pb`.
///
/// Definitions that it uses and that are not beside it are looked for in the
/// source's folders; those of ROS also where the environment says packages are
/// (`AMENT_PREFIX_PATH`, `ROS_PACKAGE_PATH`).
pub fn load(source: &SchemaSource) -> Result<Schema> {
    load_as(None, source)
}

/// Reads it as [`load`] does; a definition of ROS in this dialect where one is
/// given.
pub fn load_as(dialect: Option<Dialect>, source: &SchemaSource) -> Result<Schema> {
    let SchemaSource { path, type_name, folders } = source;
    check_folders(folders)?;
    if path.is_dir() {
        return load_as(dialect, &find_in_folder(source)?);
    }
    let type_name = type_name.as_deref();
    let origin = path.display().to_string();
    match extension(path).as_str() {
        "msg" => msg::read_file_as(dialect, path, type_name, &msg::folders(folders)),
        "proto" => proto::read_file(path, type_name, folders),
        "fds" | "desc" | "binpb" | "pb" => {
            proto::read_descriptors(&file::read_bytes(path)?, type_name, &origin)
        }
        "srv" | "action" => {
            let what = if extension(path) == "srv" { "a service" } else { "an action" };
            ensure!(
                type_name.is_some(),
                "{origin} defines {what}; name one of its messages: {origin}:{}",
                short_names(path).join(" or ")
            );
            msg::read_file_as(dialect, path, type_name, &msg::folders(folders))
        }
        "idl" => idl::read_file(path, type_name, folders),
        _ => bail!(
            "{origin} is not a message definition; give a .msg, .srv, .action, .idl, .proto, .fds, \
             .desc, .binpb or .pb file"
        ),
    }
}

/// What is read of a file or folder when no type of it is named.
#[derive(Debug, Default)]
pub struct SourceMessages {
    /// The messages, each with the file that it was read from.
    pub messages: Vec<(String, Schema)>,
    /// What no message of it uses and so is left out: enums, by their full names,
    /// and files that have no message.
    pub unused: Vec<String>,
}

/// Reads all messages of a file, or of all files of a folder.
///
/// # Errors
/// Also where there is none.
pub fn load_all(
    dialect: Option<Dialect>,
    path: &Path,
    folders: &[PathBuf],
) -> Result<SourceMessages> {
    check_folders(folders)?;
    if !path.is_dir() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut all = SourceMessages::default();
        all.unused = all.add(dialect, path, &name, folders)?;
        return Ok(all);
    }
    let files = files(path)?;
    let folders: Vec<PathBuf> = folders.iter().cloned().chain([path.to_owned()]).collect();
    let (mut all, mut unused) = (SourceMessages::default(), Vec::new());
    // Files without messages, with the enums that they define.
    let mut bare: Vec<(String, Vec<String>)> = Vec::new();
    for file in files {
        let name = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
        match extension(&file).as_str() {
            "proto" if proto::messages(&file, &folders)?.is_empty() => {
                bare.push((name, proto::enums(&file, &folders)?));
            }
            "idl" if idl::messages(&file, &folders)?.is_empty() => {
                bare.extend(idl::enums(&file, &folders)?.map(|enums| (name, enums)));
            }
            _ => unused.extend(all.add(dialect, &file, &name, &folders)?),
        }
    }
    ensure!(!all.messages.is_empty(), "no file below {} defines a message", path.display());
    let types = all.messages.iter().flat_map(|(_, schema)| &schema.types);
    let used: HashSet<&str> = types.map(TypeDef::original).collect();
    let is_used = |name: &String| used.contains(name.as_str());
    bare.retain(|(_, enums)| !enums.iter().any(is_used));
    unused.retain(|name| !is_used(name));
    all.unused.extend(bare.into_iter().map(|(name, _)| name).chain(unused));
    Ok(all)
}

impl SourceMessages {
    /// Adds a file's messages, and returns the enums that they do not use.
    fn add(
        &mut self,
        dialect: Option<Dialect>,
        path: &Path,
        name: &str,
        folders: &[PathBuf],
    ) -> Result<Vec<String>> {
        let found = match extension(path).as_str() {
            "proto" => proto::read_all(path, folders)?,
            "idl" => {
                proto::ProtoMessages { schemas: idl::read_all(path, folders)?, unused: Vec::new() }
            }
            "fds" | "desc" | "binpb" | "pb" => {
                proto::read_all_descriptors(&file::read_bytes(path)?, &path.display().to_string())?
            }
            _ => {
                let read = |type_name| {
                    let folders = folders.to_vec();
                    load_as(dialect, &SchemaSource { path: path.into(), type_name, folders })
                };
                let parts = short_names(path).into_iter().map(|name| read(Some(name)));
                let schemas: Vec<Schema> = parts.collect::<Result<_>>()?;
                let schemas = if schemas.is_empty() { vec![read(None)?] } else { schemas };
                proto::ProtoMessages { schemas, unused: Vec::new() }
            }
        };
        self.messages.extend(found.schemas.into_iter().map(|schema| (name.to_owned(), schema)));
        Ok(found.unused)
    }
}

/// The messages that a service or an action has between its lines of `---`, without what stands
/// before their own names; none of another file.
fn short_names(path: &Path) -> Vec<String> {
    let names = msg::interface_messages(path).into_iter();
    names.filter_map(|name| Some(name.rsplit('/').next()?.to_owned())).collect()
}

/// The file in a folder that has the type which is asked for.
fn find_in_folder(source: &SchemaSource) -> Result<SchemaSource> {
    let SchemaSource { path, type_name, folders } = source;
    let folders: Vec<PathBuf> = folders.iter().cloned().chain([path.clone()]).collect();
    let mut all: Vec<(String, PathBuf)> = Vec::new();
    // A file that is not read hinders nobody who wants a message of another one.
    let mut unread = None;
    for file in files(path)? {
        let names = match extension(&file).as_str() {
            "proto" => proto::messages(&file, &folders),
            "srv" | "action" => Ok(msg::interface_messages(&file)),
            "idl" => idl::messages(&file, &folders),
            _ => Ok(vec![msg::path_type_name(&file)]),
        };
        match names {
            Ok(names) => all.extend(names.into_iter().map(|name| (name, file.clone()))),
            Err(error) => unread = unread.or(Some(error)),
        }
    }
    let is_it = |name: &str| match type_name {
        None => true,
        Some(wanted) => {
            let wanted = wanted.replace("/msg/", "/");
            let rest = name.strip_suffix(wanted.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '/']))
        }
    };
    let named: Vec<&(String, PathBuf)> = all.iter().filter(|(name, _)| is_it(name)).collect();
    let exact = named.iter().find(|(name, _)| Some(name) == type_name.as_ref());
    if let (Some(error), true) = (unread, type_name.is_none() || named.is_empty()) {
        return Err(error);
    }
    let list = |all: &mut dyn Iterator<Item = &str>| all.collect::<Vec<_>>().join(", ");
    let origin = path.display();
    match (exact, named.as_slice()) {
        (Some((name, file)), _) | (None, [(name, file)]) => {
            let has_one = extension(file) == "msg";
            let type_name = (!has_one).then(|| name.clone());
            Ok(SchemaSource { path: file.clone(), type_name, folders })
        }
        (None, []) => bail!(
            "{origin} has no message {}; it has {}",
            type_name.as_deref().unwrap_or_default(),
            list(&mut all.iter().map(|(name, _)| name.as_str()))
        ),
        (None, several) => bail!(
            "{origin} has several messages; choose one with {origin}:Type among {}",
            list(&mut several.iter().map(|(name, _)| name.as_str()))
        ),
    }
}

/// The definitions below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = package::files(folder)?;
    ensure!(
        !files.is_empty(),
        "{} has neither definitions (.msg, .srv, .action, .idl, .proto) nor a ROS 2 bag (metadata.yaml); give another \
         folder",
        folder.display()
    );
    Ok(files)
}

fn check_folders(folders: &[PathBuf]) -> Result<()> {
    for folder in folders {
        ensure!(folder.is_dir(), "{} is not a folder", folder.display());
    }
    Ok(())
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_source_is_a_file_and_perhaps_a_type() {
        let source = SchemaSource::parse("a/b.proto:p.Root");
        assert_eq!(source.path, Path::new("a/b.proto"));
        assert_eq!(source.type_name.as_deref(), Some("p.Root"));
        assert_eq!(source.to_string(), "a/b.proto:p.Root");
        assert_eq!(SchemaSource::parse("a.msg").type_name, None);
        let source = SchemaSource::parse("a.idl:lidar::Scan");
        assert_eq!(
            (source.path.as_path(), &*source.type_name.unwrap()),
            (Path::new("a.idl"), "lidar::Scan")
        );
    }

    #[test]
    fn an_existing_file_wins_over_the_split() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a:b.msg");
        fs::write(&path, "int32 x").unwrap();
        let source = SchemaSource::parse(path.to_str().unwrap());
        assert_eq!(source.path, path);
        assert_eq!(load(&source).unwrap().root().fields.len(), 1);
    }

    #[test]
    fn a_folder_is_read_as_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("own/msg/a/Point.msg", "float32 x\n");
        write("own/msg/b/Cloud.msg", "Point[] points\n");
        write("own/test/Other.msg", "int8 x\n");
        write("p/x/a.proto", "syntax = \"proto3\"; import \"y/b.proto\"; message A { B b = 1; }");
        write("p/y/b.proto", "syntax = \"proto3\"; message B { enum K { N = 0; } K k = 1; }");
        write("p/y/kinds.proto", "syntax = \"proto3\"; enum Kinds { NONE = 0; }");
        write("i/a.idl", "#include \"kinds.idl\"\nstruct A { Kinds kind; };");
        write("i/kinds.idl", "enum Kinds { NONE };");
        write("i/others.idl", "enum Others { ALL };");
        write("i/lengths.idl", "const long LENGTH = 4;");
        write("u/a.proto", "syntax = \"proto3\"; import \"k.proto\"; message A { K k = 1; }");
        write("u/k.proto", "syntax = \"proto3\"; enum K { N = 0; }");
        let names = |path: &str| {
            let all = load_all(None, &folder.path().join(path), &[]).unwrap();
            let names = all.messages.iter();
            let names = names.map(|(file, s)| format!("{file} {}", s.root().name.original));
            (names.collect::<Vec<_>>(), all.unused)
        };
        let wanted = ["msg/a/Point.msg own/msg/Point", "msg/b/Cloud.msg own/msg/Cloud"];
        assert_eq!(names("own"), (wanted.map(String::from).to_vec(), vec![]));
        let wanted = ["x/a.proto A", "y/b.proto B"].map(String::from).to_vec();
        assert_eq!(names("p"), (wanted, vec!["y/kinds.proto".to_owned()]));
        assert_eq!(names("i"), (vec!["a.idl A".to_owned()], vec!["others.idl".to_owned()]));
        assert_eq!(names("u"), (vec!["a.proto A".to_owned()], vec![]));

        let read = |path: &str, name: Option<&str>| {
            let source = SchemaSource {
                path: folder.path().join(path),
                type_name: name.map(str::to_owned),
                folders: Vec::new(),
            };
            load(&source).map(|schema| schema.root().name.original.clone())
        };
        assert_eq!(read("own", Some("Cloud")).unwrap(), "own/msg/Cloud");
        assert_eq!(read("own", Some("own/msg/Point")).unwrap(), "own/msg/Point");
        assert_eq!(read("p", Some("B")).unwrap(), "B");
        assert_eq!(read("p/x", None).unwrap(), "A");
        write("p/z.proto", "import \"absent.proto\";");
        write("p/z.idl", "#ifdef A");
        assert_eq!(read("p", Some("B")).unwrap(), "B");
        for name in [Some("C"), None] {
            let error = read("p", name).unwrap_err().to_string();
            assert!(error.contains("#ifdef A begins a branch"), "{error}");
        }
        let error = read("own", None).unwrap_err().to_string();
        assert!(error.ends_with("own:Type among own/Point, own/Cloud"), "{error}");
        let error = read("own", Some("Pose")).unwrap_err().to_string();
        assert!(error.ends_with("has no message Pose; it has own/Point, own/Cloud"), "{error}");

        write("own/msg/Point.msg", "float64 x\n");
        let error = load_all(None, &folder.path().join("own"), &[]).unwrap_err().to_string();
        for words in ["msg/Point.msg and ", "msg/a/Point.msg have the same type name"] {
            assert!(error.contains(words), "{error}");
        }
        fs::create_dir(folder.path().join("none")).unwrap();
        let error = read("none", None).unwrap_err().to_string();
        assert!(error.contains("none has neither definitions"), "{error}");
    }

    #[test]
    fn other_files_are_refused() {
        let error = load(&SchemaSource::parse("a.xml")).unwrap_err().to_string();
        assert!(error.contains("give a .msg"), "{error}");
        let error = load(&SchemaSource::parse("absent.msg")).unwrap_err().to_string();
        assert_eq!(error, "cannot read absent.msg");
        for (file, words) in [
            (
                "Add.srv",
                "Add.srv defines a service; name one of its messages: Add.srv:Add_Request or",
            ),
            ("Go.action", "Go.action:Go_Goal or Go_Result or Go_Feedback"),
        ] {
            let error = load(&SchemaSource::parse(file)).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let error =
            load(&SchemaSource::parse("a.msg").with_folders(&["nowhere".into()])).unwrap_err();
        assert_eq!(error.to_string(), "nowhere is not a folder");
    }
}
