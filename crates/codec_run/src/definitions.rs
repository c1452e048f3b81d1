//! The schemas of definitions and of what recordings hold, as the user names them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{ensure, Context, Result};
use wiregauge_osi::descriptors::osi_definitions;
use wiregauge_schema::msg::Dialect;
use wiregauge_schema::{source, Schema, SchemaSource};
use wiregauge_system::notice::print_notice;
use wiregauge_system::text::escape_short;
use wiregauge_trace::open::is_recording;
use wiregauge_trace::{Lookup, Recording};

/// Where the definitions are that a recording does not carry.
pub fn definition_lookup(folders: &[PathBuf]) -> Lookup {
    Lookup { folders: folders.to_vec(), osi: Some(osi_definitions) }
}

/// The schema of a definition or of a recorded topic: `FILE`, `FILE:TYPE` or `FILE:TOPIC`.
/// Other definitions that it uses are also looked for in `folders`.
///
/// # Errors
/// When the file cannot be read, or has several of them and none is named.
pub fn load_schema(text: &str, folders: &[PathBuf], dialect: Option<Dialect>) -> Result<Schema> {
    let source = SchemaSource::parse(text).with_folders(folders);
    if is_recording(&source.path) {
        let recording = Recording::open_with(&source.path, definition_lookup(folders))?;
        recording.remarks().iter().for_each(|remark| print_notice(&escape_short(remark)));
        let topic = match &source.type_name {
            Some(topic) => topic,
            None => recording.only_topic(&format!("as {text}:NAME"))?,
        };
        return recording.schema(topic);
    }
    source::load_as(dialect, &source)
}

/// The schemas of several definitions and recordings.
#[derive(Debug, Default)]
pub struct Definitions {
    /// Schemas, each with what it was read from.
    pub schemas: Vec<(String, Schema)>,
    /// What no message there uses.
    pub unused: BTreeSet<String>,
}

impl Definitions {
    /// Reads definitions, all in one dialect: a file that both may have meant, such as one of
    /// numbers alone, is of ROS 1 beside others that are. Each is as in [`load_schema`], or a
    /// file, folder or recording of which all messages are read.
    ///
    /// # Errors
    /// When one cannot be read, or has no messages.
    pub fn read(
        texts: &[String],
        folders: &[PathBuf],
        dialect: Option<Dialect>,
    ) -> Result<Definitions> {
        let read_first = Definitions::read_as(dialect, texts, folders)?;
        let find = |is_ros1: bool| {
            let is_it = |schema: &Schema| schema.wording.is_ros1 == Some(is_ros1);
            read_first.schemas.iter().find(|(_, schema)| is_it(schema)).map(|(name, _)| name)
        };
        match (dialect, find(true), find(false)) {
            (None, Some(ros1), Some(_)) => {
                Definitions::read_as(Some(Dialect::Ros1), texts, folders).with_context(|| {
                    format!("{ros1} is from ROS 1; give only definitions of one ROS")
                })
            }
            _ => Ok(read_first),
        }
    }

    fn read_as(
        dialect: Option<Dialect>,
        texts: &[String],
        folders: &[PathBuf],
    ) -> Result<Definitions> {
        let mut all = Definitions::default();
        for text in texts {
            all.add(text, folders, dialect)?;
        }
        Ok(all)
    }

    /// Adds what is read of one of them.
    fn add(&mut self, text: &str, folders: &[PathBuf], dialect: Option<Dialect>) -> Result<()> {
        let source = SchemaSource::parse(text);
        let name = source.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if source.type_name.is_some() {
            self.schemas.push((name, load_schema(text, folders, dialect)?));
        } else if is_recording(&source.path) {
            let recording = Recording::open_with(&source.path, definition_lookup(folders))?;
            ensure!(!recording.topics().is_empty(), "{text} has no topics");
            for topic in recording.topics() {
                self.schemas.push((name.clone(), recording.schema(&topic.name)?));
            }
        } else {
            let all = source::load_all(dialect, &source.path, folders)?;
            self.unused.extend(all.unused);
            self.schemas.extend(all.messages);
        }
        Ok(())
    }
}

/// What the module of definitions is called: as the folder, or as the ROS package whose
/// definitions lie in its `msg`; as the `.proto` that has several messages. None of others, which
/// are called as their message.
pub fn module_name(text: &str, messages: usize) -> Option<String> {
    let source = SchemaSource::parse(text);
    if source.type_name.is_some() || is_recording(&source.path) {
        return None;
    }
    let path = source.path.canonicalize().ok()?;
    let name = match path.is_dir() {
        true if path.ends_with("msg") => path.parent()?.file_name()?,
        true => path.file_name()?,
        false if messages > 1 && path.extension()? == "proto" => path.file_stem()?,
        false => return None,
    };
    let name = name.to_string_lossy().to_ascii_lowercase();
    Some(name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn all_definitions_are_of_one_ros() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        // What a package has besides may be of either.
        for package in ["one", "two", "either"] {
            write(&format!("{package}/msg/Number.msg"), "int32 x\n");
            write(&format!("{package}/srv/Clear.srv"), "Number number\n---\nbool done\n");
            write(&format!("{package}/action/Go.action"), "int8 x\n---\n---\nint8 x\n");
        }
        // Its name has no package, in either.
        write("flat/Plain.msg", "byte x\n");
        write("one/msg/Stamped.msg", "time stamp\nNumber number\n");
        write("two/msg/Stamped.msg", "builtin_interfaces/Time stamp\nNumber number\n");
        let read = |packages: &[&str]| {
            let path = |package: &&str| folder.path().join(package).display().to_string();
            let texts: Vec<String> = packages.iter().map(path).collect();
            Definitions::read(&texts, &[], None)
        };
        for (packages, is_ros1) in [
            (&["one"][..], true),
            (&["two"], false),
            (&["either"], false),
            (&["flat"], false),
            (&["one", "either", "flat"], true),
            (&["two", "either", "flat"], false),
        ] {
            for (name, schema) in read(packages).unwrap().schemas {
                assert_eq!(schema.wording.is_ros1, Some(is_ros1), "{name} of {packages:?}");
            }
        }
        let error = format!("{:#}", read(&["one", "two"]).unwrap_err());
        for words in ["Stamped.msg is from ROS 1", "only definitions of one", "from ROS 2"] {
            assert!(error.contains(words), "{error}");
        }
    }
}
