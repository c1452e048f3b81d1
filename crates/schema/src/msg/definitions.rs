//! The definitions that a message is made of, and the schema that they give.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use indexmap::IndexMap;

use super::dialect::{builtin_time, is_builtin, scalar, Dialect, TIMES};
use super::folder::{last_part, locate, short_name};
use super::interface::{is_divider, package_of_interface, split_interface};
use super::line::{comment, is_separator, parse_line, uncomment, Line, Statement};
use crate::assemble::{assemble, unlegalized};
use crate::documentation::{Constant, Documentation, MemberDocumentation, TypeDocumentation};
use crate::file;
use crate::literal;
use crate::model::{
    Cardinality, Element, Field, ProtobufEncoding, Record, Role, Scalar, Schema, TypeDef, TypeId,
};

/// An array that ROS 1 alone has: it takes no bytes.
const NO_ELEMENTS: Cardinality = Cardinality::Array { len: 0 };

/// One message definition.
pub(super) struct MsgDefinition {
    /// `pkg`, or empty where the file says nothing of a package.
    package: String,
    pub(super) fields: Vec<Line>,
    words: TypeDocumentation,
    /// The lines of its constants.
    lines: Vec<usize>,
    /// Where it uses what only ROS 2 has: the line.
    ros2: Option<usize>,
    /// Where it uses what only ROS 1 has.
    ros1: Option<usize>,
    /// Where the definition stands, for errors.
    origin: String,
    /// The file itself, if other files may be looked for from there.
    path: Option<PathBuf>,
}

/// The definitions read so far, by `pkg/Type` (or `Type` without a package).
#[derive(Default)]
pub(super) struct MsgDefinitions {
    pub(super) definitions: IndexMap<String, MsgDefinition>,
    /// Where packages are looked for beside the files themselves.
    pub(super) folders: Vec<PathBuf>,
}

impl MsgDefinitions {
    /// Adds the definitions of one text; the first is called `name` unless it
    /// has a heading of its own, which recordings leave out.
    pub(super) fn add_text(
        &mut self,
        text: &str,
        name: &str,
        origin: &str,
        path: Option<&Path>,
    ) -> Result<()> {
        // Editors of Windows put a mark before the text.
        let text = text.trim_start_matches('\u{feff}');
        // Recordings may have cut off the last LF.
        file::check_lines(text.trim_end(), origin)?;
        let mut name = short_name(name);
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
                    "{origin}:{}: there is a heading inside of {name}; put a line of 80 '=' before \
                     it",
                    index + 1
                );
                name = short_name(heading.trim());
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
        let own = package_of_interface(name);
        if own.is_some() && lines.iter().any(|(_, line)| is_divider(line)) {
            for (name, lines) in split_interface(name, lines)? {
                let lines = lines.iter().map(|(number, line)| (*number, line.as_str()));
                self.add_part(&name, &lines.collect::<Vec<_>>(), origin, path)?;
            }
            return Ok(());
        }
        let package = own.or_else(|| Some(name.rsplit_once('/')?.0)).unwrap_or_default().to_owned();
        let mut definition = MsgDefinition {
            package,
            fields: Vec::new(),
            words: TypeDocumentation { text: Some(text_of(lines)), ..TypeDocumentation::default() },
            lines: Vec::new(),
            ros2: None,
            ros1: None,
            origin: origin.to_owned(),
            path: path.map(Path::to_owned),
        };
        let mut said = PendingComment::default();
        for (number, line) in lines {
            let mut ros2 = false;
            let parsed = parse_line(*number, line, &mut ros2);
            let parsed = parsed.with_context(|| {
                // No name is so long, but a file of one line may be.
                let shown: String = line.trim().chars().take(1000).collect();
                format!("{origin}:{number}: '{shown}'")
            })?;
            let ros1 = match &parsed {
                Some(Statement::Field(line)) => {
                    is_builtin(&line.element) || line.cardinality == NO_ELEMENTS
                }
                // A `byte` of ROS 2 has no sign.
                Some(Statement::Constant(constant)) => {
                    constant.spelling == "byte" && constant.value.starts_with('-')
                }
                None => false,
            };
            definition.ros2 = definition.ros2.or(ros2.then_some(*number));
            definition.ros1 = definition.ros1.or(ros1.then_some(*number));
            match parsed {
                None => said.comment(comment(line), &mut definition.words),
                Some(Statement::Field(field)) => {
                    let comment = said.take_comment(line, &mut definition.words);
                    let words = MemberDocumentation { comment, spelling: field.spelling.clone() };
                    definition.words.members.insert(field.name.clone(), words);
                    definition.fields.push(field);
                }
                Some(Statement::Constant(constant)) => {
                    definition.lines.push(*number);
                    // Whether what follows a `#` is a comment, the dialect tells.
                    let comment = said.take_comment("", &mut definition.words);
                    definition.words.constants.push(Constant { comment, ..constant });
                }
            }
        }
        // Recordings repeat a part that two others use; the first one counts.
        self.definitions.entry(name.to_owned()).or_insert(definition);
        Ok(())
    }

    /// The full name of a type given by its full or its last name.
    pub(super) fn find(&self, wanted: &str, origin: &str) -> Result<String> {
        let wanted = short_name(wanted);
        if self.definitions.contains_key(&wanted) {
            return Ok(wanted);
        }
        let names = self.definitions.keys().map(String::as_str);
        let named: Vec<&str> = names.clone().filter(|name| last_part(name) == wanted).collect();
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
    fn resolve(&self, definition: &MsgDefinition, element: &str) -> String {
        let element = short_name(element);
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
    pub(super) fn complete(&mut self) -> Result<()> {
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
                let file = match &path {
                    Some(path) => locate(path, &name, &self.folders)
                        .with_context(|| format!("{origin}:{number}"))?,
                    None => None,
                };
                let file = file.with_context(|| {
                    let last = last_part(&name);
                    match path {
                        Some(_) => format!(
                            "unknown type {last} in {origin}:{number}; put {name}.msg beside it, \
                             or give the folder of its package with -I"
                        ),
                        None => format!(
                            "unknown type {name} in {origin}:{number}; the recording does not \
                             define it"
                        ),
                    }
                })?;
                let origin = file.display().to_string();
                let text = file::read_text(&file)?;
                self.add_text(&text, &name, &origin, Some(&file))?;
            }
            at += 1;
        }
        Ok(())
    }

    /// The dialect by the rule that [`super::read_file`] documents.
    fn dialect(&self, root: &MsgDefinition) -> Dialect {
        // What the file itself uses goes before what it finds elsewhere.
        let own = |d: &&MsgDefinition| d.path == root.path && d.origin == root.origin;
        let all = || self.definitions.values();
        if all().filter(own).any(|d| d.ros2.is_some()) {
            return Dialect::Ros2;
        }
        if all().filter(own).any(|d| d.ros1.is_some()) {
            return Dialect::Ros1;
        }
        let mut lines = all().flat_map(|d| &d.fields);
        let ros1 = all().any(|d| d.ros1.is_some()) || lines.any(|line| line.element == "Header");
        match ros1 && all().all(|d| d.ros2.is_none()) {
            true => Dialect::Ros1,
            false => Dialect::Ros2,
        }
    }

    /// Fails where files are of both dialects, and says where each of them shows
    /// it: one of them may have been found where it was not meant.
    fn check_dialects(&self, dialect: Dialect) -> Result<()> {
        let files = || self.definitions.values().filter(|d| d.path.is_some());
        let place = |d: &MsgDefinition, line: Option<usize>| {
            line.map(|line| format!("{}:{line}", d.origin))
        };
        let ros1 = files().find_map(|d| place(d, d.ros1));
        let ros2 = files().find_map(|d| place(d, d.ros2));
        if let (Some(ros1), Some(ros2)) = (&ros1, &ros2) {
            bail!(
                "{ros1} is from ROS 1, but {ros2} is from ROS 2; give -I with the folder that has \
                 all packages of one of them"
            );
        }
        match (dialect, ros2) {
            (Dialect::Ros1, Some(ros2)) => bail!("{ros2} is from ROS 2, but must be read as ROS 1"),
            _ => Ok(()),
        }
    }

    pub(super) fn schema(&self, root: &str, dialect: Option<Dialect>) -> Result<Schema> {
        let first = self.definitions.get(root).context("the root is missing")?;
        let dialect = dialect.unwrap_or_else(|| self.dialect(first));
        self.check_dialects(dialect)?;
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
        let mut schema = assemble(types, *ids.get(root).context("the root is missing")?)?;
        schema.wording = self.wording(dialect)?;
        Ok(schema)
    }

    fn wording(&self, dialect: Dialect) -> Result<Documentation> {
        let is_ros1 = Some(dialect == Dialect::Ros1);
        let mut wording = Documentation { is_ros1, ..Documentation::default() };
        for (name, definition) in &self.definitions {
            let mut words = definition.words.clone();
            for (constant, line) in words.constants.iter_mut().zip(&definition.lines) {
                constant.is_bare = dialect == Dialect::Ros1;
                // ROS 1 takes all of the line for the text of a string.
                if constant.spelling != "string" || dialect == Dialect::Ros2 {
                    let end = uncomment(&constant.value).len();
                    let behind = comment(&constant.value[end..]).unwrap_or_default();
                    constant.comment = paragraph(&constant.comment, behind);
                    constant.value.truncate(end);
                    constant.value.truncate(constant.value.trim_end().len());
                }
                literal::constant(constant)
                    .with_context(|| format!("{}:{line}", definition.origin))?;
            }
            wording.insert(&original(name, dialect), words);
        }
        Ok(wording)
    }

    fn record(
        &self,
        name: &str,
        definition: &MsgDefinition,
        dialect: Dialect,
        ids: &IndexMap<&str, TypeId>,
    ) -> Result<Record> {
        let mut fields = Vec::new();
        for line in &definition.fields {
            let element = self.element(definition, line, dialect, ids)?;
            let mut field = Field {
                name: unlegalized(&line.name),
                id: fields.len() as u32 + 1,
                element,
                cardinality: line.cardinality,
                wire: ProtobufEncoding::default(),
                union: None,
                default: line.default.clone(),
            };
            let place = || format!("{}:{}", definition.origin, line.number);
            ensure!(
                dialect == Dialect::Ros1 || line.cardinality != NO_ELEMENTS,
                "{}: '{}' is an array of 0 elements, which ROS 2 does not allow; remove the field",
                place(),
                line.name
            );
            literal::plain_default(&field).with_context(place)?;
            let octets = element == Element::Scalar(Scalar::U8)
                && line.cardinality == Cardinality::List { bound: None };
            if octets {
                (field.element, field.cardinality) = (Element::Bytes, Cardinality::Required);
            }
            fields.push(field);
        }
        let original = original(name, dialect);
        let is_time = |time: &Record| {
            let elements = time.fields.iter().map(|f| (f.element, f.cardinality));
            elements.eq(fields.iter().map(|f| (f.element, f.cardinality)))
        };
        let role = builtin_time(name).filter(is_time).map_or(Role::Plain, |time| time.role);
        Ok(Record { name: unlegalized(&original), fields, role })
    }

    fn element(
        &self,
        definition: &MsgDefinition,
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

/// A type's name as its dialect writes it out.
fn original(name: &str, dialect: Dialect) -> String {
    match (dialect, name.rsplit_once('/')) {
        _ if package_of_interface(name).is_some() => name.to_owned(),
        (Dialect::Ros2, Some((package, last))) => format!("{package}/msg/{last}"),
        _ => name.to_owned(),
    }
}

/// The text of a part without empty lines around it.
fn text_of(lines: &[(usize, &str)]) -> String {
    let lines: Vec<&str> = lines.iter().map(|(_, line)| line.trim_end()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Two texts as one, in this order.
fn paragraph(first: &str, second: &str) -> String {
    let parts: Vec<&str> = [first, second].into_iter().filter(|text| !text.is_empty()).collect();
    parts.join("\n")
}

/// Comments on lines of their own that belong to what follows. Those that a part
/// begins with are the type's, as rosidl has it.
#[derive(Default)]
struct PendingComment {
    begun: bool,
    lines: Vec<String>,
}

impl PendingComment {
    /// A line with a comment alone, or an empty one.
    fn comment(&mut self, text: Option<&str>, words: &mut TypeDocumentation) {
        match text {
            Some(text) => self.lines.push(text.to_owned()),
            None => self.end(words),
        }
    }

    /// What is said of the statement on a line.
    fn take_comment(&mut self, line: &str, words: &mut TypeDocumentation) -> String {
        self.end(words);
        self.begun = true;
        paragraph(&joined(std::mem::take(&mut self.lines)), comment(line).unwrap_or_default())
    }

    fn end(&mut self, words: &mut TypeDocumentation) {
        if !self.begun && !self.lines.is_empty() {
            words.comment = joined(std::mem::take(&mut self.lines));
        }
        if !self.lines.last().is_none_or(String::is_empty) {
            self.lines.push(String::new());
        }
        self.begun |= !words.comment.is_empty();
    }
}

/// Lines as a text, without empty ones around it.
fn joined(lines: Vec<String>) -> String {
    lines.join("\n").trim_matches('\n').to_owned()
}
