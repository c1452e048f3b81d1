//! Reader for ROS 1 and ROS 2 message definitions: plain `.msg` files, and the
//! concatenated form in which recordings carry a definition with all that it
//! uses (parts separated by a line of 80 `=` and headed `MSG: pkg/Type`).
//!
//! Single fields become required ones. `uint8[]` becomes bytes. `wstring`
//! becomes a string, and the bound of a bounded string is dropped: the model
//! has neither.
//!
//! The two dialects share most of their syntax. They differ in what `byte` is
//! (`i8` in ROS 1, `u8` in ROS 2) and in the types of time (`time` and
//! `duration`, or `builtin_interfaces/Time` and `Duration`).

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use indexmap::IndexMap;

use crate::assemble::{assemble, unlegalized};
use crate::file;
use crate::model::{
    Cardinality, Element, Field, Record, Role, Scalar, Schema, TypeDef, TypeId, Wire,
};

/// Which ROS a definition was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// ROS 1 (`ros1msg`).
    Ros1,
    /// ROS 2 (`ros2msg`).
    Ros2,
}

/// Reads a concatenated definition, as a recording carries it.
///
/// `name` is the root's type, `pkg/Type` or `pkg/msg/Type`; `origin` says in
/// errors where the text is from.
pub fn read_text(text: &str, name: &str, dialect: Dialect, origin: &str) -> Result<Schema> {
    let mut library = Library::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    library.add_text(text, name, origin, None)?;
    let root = library.definitions.keys().next().expect("a text has a first part").clone();
    library.complete()?;
    library.schema(&root, Some(dialect))
}

/// Reads a `.msg` file, plain or concatenated.
///
/// A type that the file does not define is looked for in other files: as
/// `../../pkg/msg/Type.msg`, `../pkg/Type.msg` and `pkg/Type.msg`, each relative
/// to the file that uses it, then in `folders` (see [`folders`]), and as
/// `Type.msg` beside the file unless its place says that it is of another
/// package. The root is the file's first part, or the part called `type_name`.
///
/// The dialect is ROS 2 if the files use anything that only ROS 2 has: a
/// default, a bound, `wstring`, `builtin_interfaces/` or a type spelled
/// `pkg/msg/Type`. Otherwise it is ROS 1 if they use `time`, `duration` or the
/// `Header` shortcut, and ROS 2 if they use none of these either.
pub fn read_file(path: &Path, type_name: Option<&str>, folders: &[PathBuf]) -> Result<Schema> {
    let origin = path.display().to_string();
    let text = file::text(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match package_of(path) {
        Some(package) => format!("{package}/{stem}"),
        None => stem.into_owned(),
    };
    let mut library = Library { folders: folders.to_vec(), ..Library::default() };
    library.add_text(&text, &name, &origin, Some(path))?;
    let root = match type_name {
        None => library.definitions.keys().next().expect("a text has a first part").clone(),
        Some(wanted) => library.find(wanted, &origin)?,
    };
    library.complete()?;
    library.schema(&root, None)
}

/// Reads the type `pkg/Type` or `pkg/msg/Type` of recorded messages from its
/// file in one of the folders. None where no folder has it. Fails on a
/// `wstring`, which is a string in the model, but not in recorded bytes.
pub fn read_type(name: &str, dialect: Dialect, folders: &[PathBuf]) -> Result<Option<Schema>> {
    let name = short(name);
    let Some(path) = within(folders, &name) else { return Ok(None) };
    let mut library = Library { folders: folders.to_vec(), ..Library::default() };
    let (text, origin) = (file::text(&path)?, path.display().to_string());
    library.add_text(&text, &name, &origin, Some(&path))?;
    library.complete()?;
    let mut lines = library.definitions.values().flat_map(|definition| &definition.fields);
    ensure!(
        lines.all(|line| line.element != "wstring"),
        "{name} has a wstring, which is not decoded"
    );
    Ok(Some(library.schema(&name, Some(dialect))?))
}

/// The folders to look for packages in: those given, then those that the
/// environment names, of ROS 2 (`AMENT_PREFIX_PATH`) and ROS 1
/// (`ROS_PACKAGE_PATH`).
///
/// In each a type is looked for as `pkg/msg/Type.msg`, `share/pkg/msg/Type.msg`,
/// `pkg/Type.msg`, `*/pkg/msg/Type.msg`, and where the folder is the package
/// itself as `msg/Type.msg`.
pub fn folders(given: &[PathBuf]) -> Vec<PathBuf> {
    let named = ["AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH"].into_iter().filter_map(std::env::var_os);
    let named = named.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>());
    given.iter().cloned().chain(named.filter(|path| !path.as_os_str().is_empty())).collect()
}

/// The package of a file that lies in the usual place, `pkg/msg/Type.msg`.
fn package_of(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    if folder.file_name()? != "msg" {
        return None;
    }
    Some(folder.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// One message definition.
struct Definition {
    /// `pkg`, or empty where the file says nothing of a package.
    package: String,
    fields: Vec<Line>,
    /// Uses what only ROS 2 has.
    ros2: bool,
    /// Where the definition stands, for errors.
    origin: String,
    /// The file itself, if other files may be looked for from there.
    path: Option<PathBuf>,
}

/// A field as it is written.
struct Line {
    number: usize,
    /// The element's type: `float32`, `Point` or `pkg/Point`.
    element: String,
    cardinality: Cardinality,
    name: String,
    default: Option<String>,
}

/// The definitions read so far, by `pkg/Type` (or `Type` without a package).
#[derive(Default)]
struct Library {
    definitions: IndexMap<String, Definition>,
    /// Where packages are looked for beside the files themselves.
    folders: Vec<PathBuf>,
}

impl Library {
    /// Adds the definitions of one text; the first is called `name` unless it
    /// has a heading of its own, which recordings leave out.
    fn add_text(
        &mut self,
        text: &str,
        name: &str,
        origin: &str,
        path: Option<&Path>,
    ) -> Result<()> {
        // Editors of Windows put a mark before the text.
        let text = text.trim_start_matches('\u{feff}');
        let mut name = short(name);
        let mut part: Vec<(usize, &str)> = Vec::new();
        let mut started = false;
        let is_blank =
            |part: &[(usize, &str)]| part.iter().all(|(_, line)| uncomment(line).trim().is_empty());
        for (index, line) in text.lines().enumerate() {
            let trimmed = line.trim();
            if is_separator(trimmed) {
                // Nothing but comments before the first heading is no part.
                if started || !is_blank(&part) {
                    self.add_part(&name, &part, origin, path)?;
                }
                part.clear();
                started = false;
            } else if let Some(heading) = trimmed.strip_prefix("MSG:") {
                ensure!(
                    !started && is_blank(&part),
                    "{origin}:{}: a heading in the middle of {name}; put a line of 80 '=' before it",
                    index + 1
                );
                name = short(heading.trim());
                started = true;
            } else {
                part.push((index + 1, line));
            }
        }
        self.add_part(&name, &part, origin, path)
    }

    fn add_part(
        &mut self,
        name: &str,
        lines: &[(usize, &str)],
        origin: &str,
        path: Option<&Path>,
    ) -> Result<()> {
        let package = name.rsplit_once('/').map_or("", |(package, _)| package).to_owned();
        let mut definition = Definition {
            package,
            fields: Vec::new(),
            ros2: false,
            origin: origin.to_owned(),
            path: path.map(Path::to_owned),
        };
        for (number, line) in lines {
            let parsed = parse_line(*number, line, &mut definition.ros2);
            let parsed = parsed.with_context(|| format!("{origin}:{number}: '{}'", line.trim()))?;
            definition.fields.extend(parsed);
        }
        // Recordings repeat a part that two others use; the first one counts.
        self.definitions.entry(name.to_owned()).or_insert(definition);
        Ok(())
    }

    /// The full name of a type given by its full or its last name.
    fn find(&self, wanted: &str, origin: &str) -> Result<String> {
        let wanted = short(wanted);
        if self.definitions.contains_key(&wanted) {
            return Ok(wanted);
        }
        let names = self.definitions.keys().map(String::as_str);
        let named: Vec<&str> = names.clone().filter(|name| last(name) == wanted).collect();
        match named.as_slice() {
            [only] => Ok(only.to_string()),
            [] => bail!(
                "{origin} has no type {wanted}; it has {}",
                names.collect::<Vec<_>>().join(", ")
            ),
            several => bail!(
                "{origin} has {wanted} in several packages; choose one among {}",
                several.join(", ")
            ),
        }
    }

    /// The full name of the type that a definition means by `element`.
    fn resolve(&self, definition: &Definition, element: &str) -> String {
        let element = short(element);
        if element.contains('/') {
            return element;
        }
        let own = match definition.package.as_str() {
            "" => element.clone(),
            package => format!("{package}/{element}"),
        };
        if element == "Header" && !self.definitions.contains_key(&own) {
            return "std_msgs/Header".into();
        }
        own
    }

    /// Reads the files of all types that are used but not defined yet.
    fn complete(&mut self) -> Result<()> {
        let mut at = 0;
        while let Some((_, definition)) = self.definitions.get_index(at) {
            let mut missing = Vec::new();
            for line in &definition.fields {
                if scalar(&line.element, Dialect::Ros1).is_some() || is_builtin(&line.element) {
                    continue;
                }
                let name = self.resolve(definition, &line.element);
                if builtin_time(&name).is_none() && !self.definitions.contains_key(&name) {
                    missing.push((name, line.number));
                }
            }
            let (origin, path) = (definition.origin.clone(), definition.path.clone());
            for (name, number) in missing {
                let file = path.as_deref().and_then(|path| locate(path, &name, &self.folders));
                let file = file.with_context(|| {
                    let last = last(&name);
                    match path {
                        Some(_) => format!(
                            "unknown type {last} in {origin}:{number}; put {name}.msg beside it, \
                             or give the folder of its package with -I"
                        ),
                        None => format!(
                            "unknown type {name} in {origin}:{number}; the recording does not define it"
                        ),
                    }
                })?;
                let origin = file.display().to_string();
                let text = file::text(&file)?;
                self.add_text(&text, &name, &origin, Some(&file))?;
            }
            at += 1;
        }
        Ok(())
    }

    /// The dialect by the rule that [`read_file`] documents.
    fn dialect(&self) -> Dialect {
        let mut definitions = self.definitions.values();
        let mut lines = self.definitions.values().flat_map(|d| &d.fields);
        let ros1 = |line: &Line| matches!(line.element.as_str(), "time" | "duration" | "Header");
        if !definitions.any(|d| d.ros2) && lines.any(ros1) {
            Dialect::Ros1
        } else {
            Dialect::Ros2
        }
    }

    fn schema(&self, root: &str, dialect: Option<Dialect>) -> Result<Schema> {
        let dialect = dialect.unwrap_or_else(|| self.dialect());
        let names = self.definitions.keys().map(String::as_str);
        // A definition that came along goes before the built-in one.
        let times = TIMES.into_iter().filter(|name| !self.definitions.contains_key(*name));
        let ids: IndexMap<&str, TypeId> =
            names.chain(times).enumerate().map(|(id, name)| (name, id)).collect();
        let mut types = Vec::new();
        for name in ids.keys() {
            types.push(TypeDef::Record(match self.definitions.get(*name) {
                Some(definition) => self.record(name, definition, dialect, &ids)?,
                None => builtin_time(name).context("not a type of time")?,
            }));
        }
        assemble(types, *ids.get(root).context("the root is missing")?)
    }

    fn record(
        &self,
        name: &str,
        definition: &Definition,
        dialect: Dialect,
        ids: &IndexMap<&str, TypeId>,
    ) -> Result<Record> {
        let mut fields = Vec::new();
        for line in &definition.fields {
            let element = self.element(definition, line, dialect, ids)?;
            let octets = element == Element::Scalar(Scalar::U8)
                && line.cardinality == Cardinality::List { bound: None };
            let (element, cardinality) = match octets {
                true => (Element::Bytes, Cardinality::Required),
                false => (element, line.cardinality),
            };
            fields.push(Field {
                name: unlegalized(&line.name),
                id: fields.len() as u32 + 1,
                element,
                cardinality,
                wire: Wire::default(),
                union: None,
                default: line.default.clone(),
            });
        }
        let original = match (dialect, name.rsplit_once('/')) {
            (Dialect::Ros2, Some((package, last))) => format!("{package}/msg/{last}"),
            _ => name.to_owned(),
        };
        let is_time = |time: &Record| {
            let elements = time.fields.iter().map(|f| (f.element, f.cardinality));
            elements.eq(fields.iter().map(|f| (f.element, f.cardinality)))
        };
        let role = builtin_time(name).filter(is_time).map_or(Role::Plain, |time| time.role);
        Ok(Record { name: unlegalized(&original), fields, role })
    }

    fn element(
        &self,
        definition: &Definition,
        line: &Line,
        dialect: Dialect,
        ids: &IndexMap<&str, TypeId>,
    ) -> Result<Element> {
        if let Some(element) = scalar(&line.element, dialect) {
            return Ok(element);
        }
        let place = || format!("{}:{}", definition.origin, line.number);
        let name = match is_builtin(&line.element) {
            true => line.element.clone(),
            false => self.resolve(definition, &line.element),
        };
        ensure!(
            dialect == Dialect::Ros1 || !is_builtin(&name),
            "{}: ROS 2 has no '{name}'; use builtin_interfaces/Time or Duration",
            place()
        );
        let id = ids.get(name.as_str());
        Ok(Element::Record(*id.with_context(|| format!("unknown type {name} in {}", place()))?))
    }
}

/// `pkg/Type` for `pkg/msg/Type`; anything else as it is.
fn short(name: &str) -> String {
    name.replace("/msg/", "/")
}

fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The file of a type, from the file that uses it.
fn locate(from: &Path, name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let last = last(name);
    // Where links lead is looked at after where they are: a workspace links
    // packages that lie apart, and a package links files of its source.
    let absolute = std::path::absolute(from).ok()?;
    let real = from.canonicalize().ok();
    let places = std::iter::once(absolute).chain(real).flat_map(|from| {
        let folder = from.parent().unwrap_or(Path::new("")).to_owned();
        let above = folder.parent().map(Path::to_owned);
        let top = above.as_deref().and_then(Path::parent).map(Path::to_owned);
        let package = name.rsplit_once('/').map(|(package, _)| package);
        let near = package.map(|package| {
            let msg = top.map(|top| top.join(package).join("msg"));
            let flat = above.map(|above| above.join(package));
            [msg, flat, Some(folder.join(package))].into_iter().flatten().collect()
        });
        let near: Vec<PathBuf> = near.unwrap_or_default();
        near.into_iter().map(|folder| folder.join(format!("{last}.msg"))).collect::<Vec<_>>()
    });
    let found = places.filter(|place| place.exists()).chain(within(folders, name)).next();
    found.or_else(|| {
        let package = name.rsplit_once('/').map(|(package, _)| package);
        // A namesake in another package is another type.
        let other = package_of(from).is_some_and(|own| package.is_some_and(|p| p != own));
        let beside = from.parent()?.join(format!("{last}.msg"));
        (!other && beside.exists()).then_some(beside)
    })
}

/// The file of `pkg/Type` in the first folder that has it.
fn within(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let (package, last) = name.rsplit_once('/')?;
    let file = format!("{last}.msg");
    folders.iter().find_map(|folder| {
        let mut places = vec![
            folder.join(package).join("msg").join(&file),
            folder.join("share").join(package).join("msg").join(&file),
            folder.join(package).join(&file),
        ];
        let is_package = folder.file_name().is_some_and(|name| name == package);
        if is_package {
            places.push(folder.join("msg").join(&file));
        }
        let found = places.into_iter().find(|place| place.exists());
        found.or_else(|| {
            let mut inner: Vec<PathBuf> =
                folder.read_dir().ok()?.flatten().map(|entry| entry.path()).collect();
            inner.sort();
            let mut inner =
                inner.into_iter().map(|inner| inner.join(package).join("msg").join(&file));
            inner.find(|place| place.exists())
        })
    })
}

/// The element of a primitive type.
fn scalar(name: &str, dialect: Dialect) -> Option<Element> {
    let scalar = match name {
        "bool" => Scalar::Bool,
        "byte" if dialect == Dialect::Ros1 => Scalar::I8,
        "byte" | "char" | "uint8" => Scalar::U8,
        "uint16" => Scalar::U16,
        "uint32" => Scalar::U32,
        "uint64" => Scalar::U64,
        "int8" => Scalar::I8,
        "int16" => Scalar::I16,
        "int32" => Scalar::I32,
        "int64" => Scalar::I64,
        "float32" => Scalar::F32,
        "float64" => Scalar::F64,
        "string" | "wstring" => return Some(Element::String),
        _ => return None,
    };
    Some(Element::Scalar(scalar))
}

/// Whether it is one of ROS 1's own types of time.
fn is_builtin(name: &str) -> bool {
    matches!(name, "time" | "duration")
}

/// The types of time of both dialects.
const TIMES: [&str; 4] =
    ["time", "duration", "builtin_interfaces/Time", "builtin_interfaces/Duration"];

/// The record of a type of time, whether or not a definition came along.
fn builtin_time(name: &str) -> Option<Record> {
    let (role, first, second) = match name {
        "time" => (Role::Timestamp, ("secs", Scalar::U32), ("nsecs", Scalar::U32)),
        "duration" => (Role::Duration, ("secs", Scalar::I32), ("nsecs", Scalar::I32)),
        "builtin_interfaces/Time" => {
            (Role::Timestamp, ("sec", Scalar::I32), ("nanosec", Scalar::U32))
        }
        "builtin_interfaces/Duration" => {
            (Role::Duration, ("sec", Scalar::I32), ("nanosec", Scalar::U32))
        }
        _ => return None,
    };
    let field = |id, (name, scalar): (&str, Scalar)| Field {
        name: unlegalized(name),
        id,
        element: Element::Scalar(scalar),
        cardinality: Cardinality::Required,
        wire: Wire::default(),
        union: None,
        default: None,
    };
    let original = match name.split_once('/') {
        Some((package, last)) => format!("{package}/msg/{last}"),
        None => name.to_owned(),
    };
    let fields = vec![field(1, first), field(2, second)];
    Some(Record { name: unlegalized(&original), fields, role })
}

fn is_separator(line: &str) -> bool {
    line.len() == 80 && line.bytes().all(|b| b == b'=')
}

/// The line without its comment; a `#` in quotes starts none.
fn uncomment(line: &str) -> &str {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    line
}

/// The field on a line; none where the line holds a constant or nothing.
fn parse_line(number: usize, line: &str, ros2: &mut bool) -> Result<Option<Line>> {
    // An apostrophe may stand in a comment or in a ROS 1 constant, where it
    // quotes nothing, so comments at the start of a line are looked at first.
    if line.trim_start().starts_with('#') {
        return Ok(None);
    }
    let line = uncomment(line).trim();
    if line.is_empty() {
        return Ok(None);
    }
    ensure!(
        line != "---",
        "a service or an action has parts, a message has not; put one of them into a file of its own"
    );
    let (element, rest) = line
        .split_once(char::is_whitespace)
        .context("neither a field nor a constant; write 'type name'")?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    ensure!(
        name.starts_with(|c: char| c.is_ascii_alphabetic()),
        "no name after the type; write 'type name'"
    );
    let rest = rest.trim();
    if rest.starts_with('=') {
        let kind = element.split('<').next().unwrap_or(element);
        ensure!(scalar(kind, Dialect::Ros2).is_some(), "a constant is of a primitive type");
        return Ok(None);
    }
    let (element, cardinality) = parse_type(element, ros2)?;
    let default = (!rest.is_empty()).then(|| rest.to_owned());
    *ros2 |= default.is_some();
    Ok(Some(Line { number, element, cardinality, name: name.to_owned(), default }))
}

/// Splits `string<=10[<=5]` into the element's type and its cardinality.
fn parse_type(text: &str, ros2: &mut bool) -> Result<(String, Cardinality)> {
    let (element, cardinality) = match text.strip_suffix(']') {
        None => (text, Cardinality::Required),
        Some(open) => {
            let (element, size) = open.rsplit_once('[').context("']' without '['")?;
            let cardinality = if size.is_empty() {
                Cardinality::List { bound: None }
            } else if let Some(bound) = size.strip_prefix("<=") {
                *ros2 = true;
                Cardinality::List { bound: Some(bound.parse().context("the list's bound")?) }
            } else {
                let len = size.parse().context("the array's length")?;
                ensure!(len > 0, "an array of no elements; remove the field");
                Cardinality::Array { len }
            };
            (element, cardinality)
        }
    };
    let element = match element.split_once("<=") {
        None => element,
        Some((element @ ("string" | "wstring"), bound)) => {
            bound.parse::<u32>().context("the string's bound")?;
            *ros2 = true;
            element
        }
        Some((other, _)) => bail!("{other} cannot have a bound; only strings and lists can"),
    };
    let legal = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    ensure!(element.split('/').all(legal), "'{element}' is no type");
    *ros2 |= element == "wstring"
        || element.contains("/msg/")
        || element.starts_with("builtin_interfaces/");
    Ok((element.to_owned(), cardinality))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn field<'a>(schema: &'a Schema, name: &str) -> &'a Field {
        schema.root().fields.iter().find(|f| f.name.original == name).unwrap()
    }

    fn ros2(text: &str) -> Result<Schema> {
        read_text(text, "pkg/msg/Root", Dialect::Ros2, "test.msg")
    }

    #[test]
    fn reads_every_kind_of_line() {
        let separator = "=".repeat(80);
        let text = format!(
            "# a comment that isn't quoted\n\
             int32 MAX=10\nstring NAME = \"a # b\"  # text\nstring<=5 SHORT=abc\n\n\
             uint8[] octets\nuint8[4] four\nuint8[<=7] seven\nchar c\nbyte b\n\
             string<=10[<=5] words ['a', 'b'] # default\n\
             float64 x 1.5\nstring quoted \"a # b\"  # not in quotes\nwstring wide\nOther other\nOther[] others\n\
             builtin_interfaces/Time stamp\n{separator}\nMSG: pkg/Other\nbool flag\n"
        );
        let schema = ros2(&text).unwrap();
        assert_eq!(schema.root().name.original, "pkg/msg/Root");
        assert_eq!(schema.root().fields.len(), 12);
        assert_eq!(field(&schema, "octets").element, Element::Bytes);
        assert_eq!(field(&schema, "octets").cardinality, Cardinality::Required);
        assert_eq!(field(&schema, "four").cardinality, Cardinality::Array { len: 4 });
        assert_eq!(field(&schema, "seven").cardinality, Cardinality::List { bound: Some(7) });
        assert_eq!(field(&schema, "words").default.as_deref(), Some("['a', 'b']"));
        assert_eq!(field(&schema, "x").default.as_deref(), Some("1.5"));
        assert_eq!(field(&schema, "quoted").default.as_deref(), Some("\"a # b\""));
        assert_eq!(field(&schema, "wide").element, Element::String);
        assert_eq!(field(&schema, "b").element, Element::Scalar(Scalar::U8));
        let Element::Record(stamp) = field(&schema, "stamp").element else { panic!() };
        assert_eq!(schema.record(stamp).role, Role::Timestamp);
        assert_eq!(schema.root, schema.types.len() - 1, "the root stands after what it uses");
    }

    #[test]
    fn the_dialects_differ_in_time_and_byte() {
        let schema = read_text("time t\nbyte b", "p/R", Dialect::Ros1, "test").unwrap();
        assert_eq!(field(&schema, "b").element, Element::Scalar(Scalar::I8));
        let Element::Record(time) = field(&schema, "t").element else { panic!() };
        assert_eq!(schema.record(time).fields[0].element, Element::Scalar(Scalar::U32));
        let error = ros2("time t").unwrap_err();
        assert!(error.to_string().contains("builtin_interfaces/Time"), "{error}");
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        let error = format!("{:#}", ros2("int32 a\nFoo b").unwrap_err());
        assert!(error.contains("unknown type pkg/Foo in test.msg:2"), "{error}");
        for (text, wanted) in [
            ("int32", "write 'type name'"),
            ("int32 a\nint32 a", "two fields 'a'"),
            ("int32[0] a", "no elements"),
            ("int32<=5 a", "only strings"),
            ("int32[x] a", "length"),
            ("Foo! a", "is no type"),
        ] {
            let error = format!("{:#}", ros2(text).unwrap_err());
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn files_find_their_dependencies() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let scan = write("a/msg/Scan.msg", "Header header\nPoint[] points\n");
        let error = format!("{:#}", read_file(&scan, None, &[]).unwrap_err());
        assert!(error.contains("Scan.msg:1; put std_msgs/Header.msg beside it"), "{error}");

        write("a/msg/Point.msg", "float32 x\n");
        write("std_msgs/msg/Header.msg", "uint32 seq\ntime stamp\nstring frame_id\n");
        let schema = read_file(&scan, None, &[]).unwrap();
        assert_eq!(schema.root().name.original, "a/Scan", "the Header shortcut means ROS 1");
        assert_eq!(schema.types.len(), 4);

        let loose = write("loose.msg", "other/Point p 3\n");
        write("other/Point.msg", "\u{feff}float32 x\n");
        assert_eq!(read_file(&loose, None, &[]).unwrap().root().name.original, "loose");
    }

    /// A file below the folder.
    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn packages_are_found_in_the_folders_given() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let scan = write(at, "own/msg/Scan.msg", "geometry_msgs/Point point\n");
        write(at, "apart/geometry_msgs/msg/Point.msg", "float64 x\n");
        let error = format!("{:#}", read_file(&scan, None, &[]).unwrap_err());
        assert!(error.contains("give the folder of its package with -I"), "{error}");
        for given in ["apart", "apart/geometry_msgs", ""] {
            let schema = read_file(&scan, None, &[at.join(given)]).unwrap();
            assert_eq!(schema.types.len(), 2, "{given}");
        }
        write(at, "prefix/share/geometry_msgs/msg/Point.msg", "float64 x\nfloat64 y\n");
        let both = [at.join("prefix"), at.join("apart")];
        let schema = read_file(&scan, None, &both).unwrap();
        assert_eq!(schema.record(0).fields.len(), 2, "the first folder counts");
        let schema = read_type("geometry_msgs/msg/Point", Dialect::Ros2, &both).unwrap().unwrap();
        assert_eq!(schema.root().name.original, "geometry_msgs/msg/Point");
        assert!(read_type("geometry_msgs/msg/Pose", Dialect::Ros2, &both).unwrap().is_none());
    }

    #[test]
    fn a_namesake_in_another_package_is_another_type() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let point = write(at, "own/msg/Point.msg", "geometry_msgs/Point point\nfloat32 weight\n");
        let error = format!("{:#}", read_file(&point, None, &[]).unwrap_err());
        assert!(error.contains("put geometry_msgs/Point.msg beside it"), "{error}");
        write(at, "geometry_msgs/msg/Point.msg", "float64 x\n");
        let schema = read_file(&point, None, &[]).unwrap();
        assert_eq!(schema.types.len(), 2);
        let both = format!("{0}\nMSG: a/P\nint8 x\n{0}\nMSG: b/P\nint16 x\n", "=".repeat(80));
        let two = write(at, "two.msg", &both);
        let error = format!("{:#}", read_file(&two, Some("P"), &[]).unwrap_err());
        assert!(error.contains("P in several packages; choose one among a/P, b/P"), "{error}");
        assert_eq!(read_file(&two, Some("b/P"), &[]).unwrap().root().name.original, "b/msg/P");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_both_ways() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        write(at, "far/a/msg/A.msg", "b/B b\n");
        write(at, "ws/b/msg/B.msg", "int8 x\n");
        // A package that is linked into a workspace finds its neighbours there.
        std::os::unix::fs::symlink("../far/a", at.join("ws/a")).unwrap();
        assert_eq!(read_file(&at.join("ws/a/msg/A.msg"), None, &[]).unwrap().types.len(), 2);
        // A file that is linked finds those of its source.
        write(at, "far/c/msg/C.msg", "a/A2 a\n");
        write(at, "far/a/msg/A2.msg", "int8 x\n");
        fs::create_dir_all(at.join("ws/c/msg")).unwrap();
        std::os::unix::fs::symlink("../../../far/c/msg/C.msg", at.join("ws/c/msg/C.msg")).unwrap();
        assert_eq!(read_file(&at.join("ws/c/msg/C.msg"), None, &[]).unwrap().types.len(), 2);
    }

    #[test]
    fn a_service_is_no_message() {
        let error = format!("{:#}", ros2("int32 a\n---\nint32 b").unwrap_err());
        assert!(
            error.contains("test.msg:2") && error.contains("a service or an action"),
            "{error}"
        );
    }

    #[test]
    fn a_recursive_message_loads() {
        let schema = ros2("Root[] children\nint32 a").unwrap();
        assert!(schema.recurses(schema.root));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(
            lines in prop::collection::vec(
                "[a-z0-9<=\\[\\]/ .\"'#\t-]{0,20}|(int8|string|wstring|R|time)(<=4)?(\\[[0-9]?\\])? x ?.{0,5}|={80}|MSG: p/[A-C]",
                0..8,
            ),
        ) {
            let _ = ros2(&lines.join("\n"));
            let _ = read_text(&lines.join("\n"), "R", Dialect::Ros1, "test");
        }
    }
}
