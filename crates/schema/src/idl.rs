//! Reader for OMG IDL: files of DDS, and what recordings carry, which are the files that `rosidl`
//! makes of messages of ROS 2, each behind a line of 80 `=` and one with `IDL: pkg/msg/Type`.
//!
//! Structs, enums, typedefs, sequences, arrays and strings are read. An array of several
//! dimensions becomes one of all their elements, as it is on the wire, `wstring` a string
//! whose wording says so. Unions, maps, lists of lists and what may be absent are refused.

mod files;

use std::collections::BTreeMap;

use anyhow::{bail, ensure, Context, Result};

pub use self::files::{messages, read_all, read_file};
use crate::assemble::{assemble, unlegalized};
use crate::documentation::{Documentation, MemberDocumentation, TypeDocumentation};
use crate::model::{
    Cardinality, Element, Enum, EnumValue, Field, ProtobufEncoding, Record, Role, Scalar, Schema,
    TypeDef, TypeId,
};

/// Deepest nesting of modules, types and names for names that is followed.
const DEEPEST: usize = 32;

/// Reads a definition. `name` is the root's type, `pkg/msg/Type` or `pkg::msg::Type`; `origin`
/// says in errors where the text is from.
///
/// # Errors
/// When it is no IDL, or has what is not read.
pub fn read_text(text: &str, name: &str, origin: &str) -> Result<Schema> {
    let mut library = IdlDefinitions::default();
    library.add_text(text).with_context(|| origin.to_owned())?;
    library.schema(name).with_context(|| origin.to_owned())
}

/// The words of a text, without comments and the lines between files.
fn tokenize(text: &str) -> Result<Vec<String>> {
    let is_code = |line: &&str| {
        let line = line.trim();
        let is_between = line.len() >= 80 && line.bytes().all(|byte| byte == b'=');
        !is_between && !line.starts_with('#') && !line.starts_with("IDL:")
    };
    let code: Vec<&str> = text.lines().filter(is_code).collect();
    let code = code.join("\n");
    let (mut words, mut rest) = (Vec::new(), code.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").context("a comment has no end")? + 2
        } else if first == '"' || first == '\'' {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, letter)| {
                let is_end = *letter == first && !escaped;
                escaped = *letter == '\\' && !escaped;
                is_end
            });
            end.context("a text has no end")?.0 + 1
        } else if rest.starts_with("::") {
            2
        } else {
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
            match rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()) {
                0 => first.len_utf8(),
                length => length,
            }
        };
        let (word, behind) = rest.split_at(length);
        if !word.starts_with("//") && !word.starts_with("/*") {
            words.push(word.to_owned());
        }
        rest = behind.trim_start();
    }
    Ok(words)
}

/// A type as it is spelled.
#[derive(Clone, Debug)]
enum IdlType {
    Scalar(Scalar),
    Text,
    WideText,
    Named(String, Vec<String>),
    List(Box<IdlType>, Option<u32>),
    /// What is not read.
    Other(&'static str),
}

#[derive(Clone, Debug)]
struct IdlMember {
    kind: IdlType,
    name: String,
    /// The lengths of its dimensions as they are spelled, and the module that they are in.
    sizes: Vec<String>,
    scope: Vec<String>,
    is_optional: bool,
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum IdlDefinition {
    Struct { base: Option<IdlType>, members: Vec<IdlMember>, is_mutable: bool },
    Enum { bits: u32, values: Vec<(String, i64)> },
    Alias(IdlType, Vec<String>, Vec<String>),
    Number(u32),
    Other(&'static str),
}

/// What is said before a definition, as far as it changes what is on the wire.
#[derive(Default)]
struct Annotations {
    is_optional: bool,
    is_mutable: bool,
    /// The number of an enum's value.
    value: Option<i64>,
    /// Bits of an enum.
    bits: Option<u32>,
}

struct Parser {
    words: Vec<String>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &str {
        self.words.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> Result<String> {
        let word = self.words.get(self.at).context("the file ends within a definition")?;
        self.at += 1;
        Ok(word.clone())
    }

    fn accept(&mut self, word: &str) -> bool {
        let is_there = self.peek() == word;
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, wanted: &str) -> Result<()> {
        let word = self.next()?;
        ensure!(word == wanted, "expected '{wanted}', found '{word}'");
        Ok(())
    }

    fn name(&mut self) -> Result<String> {
        let word = self.next()?;
        let is_name = word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        ensure!(is_name, "expected a name, found '{word}'");
        Ok(word)
    }

    /// What stands before a definition or a member.
    fn annotations(&mut self) -> Result<Annotations> {
        let mut found = Annotations::default();
        while self.accept("@") {
            let mut name = self.name()?;
            while self.accept("::") {
                name = self.name()?;
            }
            let begin = self.at;
            if self.peek() == "(" {
                self.skip("(", ")")?;
            }
            let inside = self.words[begin..self.at].iter().filter(|word| !"()".contains(&***word));
            let inside: String = inside.map(String::as_str).collect();
            match name.as_str() {
                "optional" => found.is_optional = true,
                "mutable" => found.is_mutable = true,
                "extensibility" => found.is_mutable |= inside == "MUTABLE",
                "value" => found.value = Some(inside.parse().context("the number of a value")?),
                "bit_bound" => found.bits = Some(inside.parse().context("the bits of an enum")?),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Passes over all between two brackets.
    fn skip(&mut self, open: &str, close: &str) -> Result<()> {
        let mut depth = 0;
        loop {
            let word = self.next()?;
            depth += usize::from(word == open);
            if word == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
            }
        }
    }

    fn definitions(&mut self, scope: &[String], library: &mut IdlDefinitions) -> Result<()> {
        ensure!(scope.len() < DEEPEST, "modules are nested too deeply");
        while !matches!(self.peek(), "" | "}") {
            let said = self.annotations()?;
            let kind = self.next()?;
            let inside = |name: &str| [scope, &[name.to_owned()]].concat();
            match kind.as_str() {
                ";" => continue,
                "module" => {
                    let name = self.name()?;
                    self.expect("{")?;
                    self.definitions(&inside(&name), library)?;
                    self.expect("}")?;
                }
                "struct" => {
                    let name = self.name()?;
                    if self.peek() != ";" {
                        let own = self.structure(scope, said.is_mutable)?;
                        library.add(&inside(&name), own);
                    }
                }
                "enum" => {
                    let name = self.name()?;
                    let values = self.values()?;
                    library.add(
                        &inside(&name),
                        IdlDefinition::Enum { bits: said.bits.unwrap_or(32), values },
                    );
                }
                "typedef" => {
                    let kind = self.parse_type(scope, 0)?;
                    loop {
                        let name = self.name()?;
                        let sizes = self.sizes()?;
                        let own = IdlDefinition::Alias(kind.clone(), sizes, scope.to_vec());
                        library.add(&inside(&name), own);
                        if !self.accept(",") {
                            break;
                        }
                    }
                }
                "const" => {
                    self.parse_type(scope, 0)?;
                    let name = self.name()?;
                    self.expect("=")?;
                    let value = self.next()?;
                    // Only a plain number can be a bound.
                    if let (Ok(number), ";") = (value.parse(), self.peek()) {
                        library.add(&inside(&name), IdlDefinition::Number(number));
                    }
                    while self.peek() != ";" {
                        self.next()?;
                    }
                }
                "union" | "bitset" | "bitmask" => {
                    let name = self.name()?;
                    while self.peek() != "{" && self.peek() != ";" {
                        self.next()?;
                    }
                    if self.peek() == "{" {
                        self.skip("{", "}")?;
                    }
                    let kind = if kind == "union" { "a union" } else { "a set of bits" };
                    library.add(&inside(&name), IdlDefinition::Other(kind));
                }
                other => bail!("expected a definition, found '{other}'"),
            }
            self.accept(";");
        }
        Ok(())
    }

    fn structure(&mut self, scope: &[String], is_mutable: bool) -> Result<IdlDefinition> {
        let base = match self.accept(":") {
            true => Some(self.parse_type(scope, 0)?),
            false => None,
        };
        self.expect("{")?;
        let mut members = Vec::new();
        while !self.accept("}") {
            let is_optional = self.annotations()?.is_optional;
            let kind = self.parse_type(scope, 0)?;
            loop {
                self.annotations()?;
                let name = self.name()?;
                let (kind, sizes, scope) = (kind.clone(), self.sizes()?, scope.to_vec());
                members.push(IdlMember { kind, name, sizes, scope, is_optional });
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(IdlDefinition::Struct { base, members, is_mutable })
    }

    fn values(&mut self) -> Result<Vec<(String, i64)>> {
        self.expect("{")?;
        let (mut values, mut next) = (Vec::new(), 0i64);
        while !self.accept("}") {
            let number = self.annotations()?.value.unwrap_or(next);
            next = number.wrapping_add(1);
            values.push((self.name()?, number));
            while !matches!(self.peek(), "," | "}" | "") {
                self.next()?;
            }
            self.accept(",");
        }
        Ok(values)
    }

    /// The lengths of the dimensions of an array; names are looked up when all is known.
    fn sizes(&mut self) -> Result<Vec<String>> {
        let mut sizes = Vec::new();
        while self.accept("[") {
            let mut size = self.next()?;
            while self.accept("::") {
                size = format!("{size}::{}", self.name()?);
            }
            ensure!(
                self.accept("]"),
                "the length of an array is an expression, '{size} {} …'; write the number",
                self.peek()
            );
            sizes.push(size);
        }
        Ok(sizes)
    }

    fn parse_type(&mut self, scope: &[String], depth: usize) -> Result<IdlType> {
        ensure!(depth < DEEPEST, "types are nested too deeply");
        self.annotations()?;
        let word = self.next()?;
        Ok(match word.as_str() {
            "boolean" => IdlType::Scalar(Scalar::Bool),
            "octet" | "char" | "uint8" => IdlType::Scalar(Scalar::U8),
            "int8" => IdlType::Scalar(Scalar::I8),
            "short" | "int16" => IdlType::Scalar(Scalar::I16),
            "uint16" => IdlType::Scalar(Scalar::U16),
            "int32" => IdlType::Scalar(Scalar::I32),
            "uint32" => IdlType::Scalar(Scalar::U32),
            "int64" => IdlType::Scalar(Scalar::I64),
            "uint64" => IdlType::Scalar(Scalar::U64),
            "float" => IdlType::Scalar(Scalar::F32),
            "double" => IdlType::Scalar(Scalar::F64),
            "long" if self.accept("long") => IdlType::Scalar(Scalar::I64),
            "long" if self.accept("double") => IdlType::Other("a long double"),
            "long" => IdlType::Scalar(Scalar::I32),
            "unsigned" if self.accept("short") => IdlType::Scalar(Scalar::U16),
            "unsigned" => {
                self.expect("long")?;
                IdlType::Scalar(if self.accept("long") { Scalar::U64 } else { Scalar::U32 })
            }
            "wchar" => IdlType::Other("a wchar"),
            "any" | "fixed" | "Object" => IdlType::Other("a type that is not read"),
            "map" => {
                self.skip("<", ">")?;
                IdlType::Other("a map")
            }
            "string" | "wstring" => {
                if self.peek() == "<" {
                    self.skip("<", ">")?;
                }
                if word == "string" {
                    IdlType::Text
                } else {
                    IdlType::WideText
                }
            }
            "sequence" => {
                self.expect("<")?;
                let inner = self.parse_type(scope, depth + 1)?;
                let bound = match self.accept(",") {
                    true => self.next()?.parse().ok(),
                    false => None,
                };
                self.expect(">")?;
                IdlType::List(Box::new(inner), bound)
            }
            _ => {
                self.at -= 1;
                let mut name = match self.accept("::") {
                    true => format!("::{}", self.name()?),
                    false => self.name()?,
                };
                while self.accept("::") {
                    name = format!("{name}::{}", self.name()?);
                }
                IdlType::Named(name, scope.to_vec())
            }
        })
    }
}

/// All that is defined, by `module::Type`.
#[derive(Default)]
struct IdlDefinitions(BTreeMap<String, IdlDefinition>);

impl IdlDefinitions {
    /// Adds all that a text defines.
    fn add_text(&mut self, text: &str) -> Result<()> {
        Parser { words: tokenize(text)?, at: 0 }.definitions(&[], self)
    }

    fn add(&mut self, path: &[String], definition: IdlDefinition) {
        // Recordings repeat a file that two others use; the first one counts.
        self.0.entry(path.join("::")).or_insert(definition);
    }

    /// What a name means in a module, with its full name.
    fn find(&self, name: &str, scope: &[String]) -> Result<(&str, &IdlDefinition)> {
        let full = |outer: usize| match outer {
            0 => name.trim_start_matches("::").to_owned(),
            _ => format!("{}::{name}", scope[..outer].join("::")),
        };
        let outermost = if name.starts_with("::") { 0 } else { scope.len() };
        let mut all = (0..=outermost).rev();
        let found = all.find_map(|outer| self.0.get_key_value(&full(outer)));
        let (name, definition) =
            found.with_context(|| format!("there is no definition of {name}"))?;
        Ok((name, definition))
    }

    /// What a field is made of: an element and how often it is there.
    fn resolve_field(
        &self,
        kind: &IdlType,
        sizes: &[String],
        scope: &[String],
    ) -> Result<(IdlType, Multiplicity)> {
        let mut times = Multiplicity::Once;
        for size in sizes {
            times = times.times_array(self.number(size, scope)?)?;
        }
        let mut kind = kind.clone();
        for _ in 0..DEEPEST {
            kind = match kind {
                IdlType::List(inner, bound) => {
                    ensure!(
                        matches!(times, Multiplicity::Once),
                        "a list of lists, which wiregauge cannot read"
                    );
                    times = Multiplicity::List(bound);
                    *inner
                }
                IdlType::Named(name, scope) => match self.find(&name, &scope)? {
                    (_, IdlDefinition::Alias(inner, sizes, own)) => {
                        for size in sizes {
                            times = times.times_array(self.number(size, own)?)?;
                        }
                        inner.clone()
                    }
                    (_, IdlDefinition::Other(what)) => bail!("{what}, which wiregauge cannot read"),
                    (full, _) => return Ok((IdlType::Named(full.to_owned(), Vec::new()), times)),
                },
                IdlType::Other(what) => bail!("{what}, which wiregauge cannot read"),
                plain => return Ok((plain, times)),
            };
        }
        bail!("the typedefs refer to each other in a circle")
    }

    fn number(&self, word: &str, scope: &[String]) -> Result<u32> {
        let number = match (word.parse(), self.find(word, scope)) {
            (Ok(number), _) => number,
            (_, Ok((_, IdlDefinition::Number(number)))) => *number,
            _ => bail!("'{word}' is not the length of an array"),
        };
        ensure!(number > 0, "an array has no elements");
        Ok(number)
    }

    /// The full name of the root, of which a recording may leave out the middle.
    fn root(&self, name: &str) -> Result<String> {
        let path = name.replace('/', "::");
        let full = match path.rsplit_once("::") {
            Some((package, last)) => format!("{package}::msg::{last}"),
            None => path.clone(),
        };
        let known = [path, full].into_iter().find(|name| self.0.contains_key(name));
        known.with_context(|| format!("there is no definition of {name}"))
    }

    fn schema(&self, name: &str) -> Result<Schema> {
        let root = self.root(name)?;
        let mut ids = BTreeMap::from([(root.clone(), 0)]);
        let (mut open, mut types, mut wording) = (vec![root], Vec::new(), Documentation::default());
        while let Some(name) = open.get(types.len()).cloned() {
            let original = name.replace("::", "/");
            let mut fields = Vec::new();
            let mut words = TypeDocumentation::default();
            match &self.0[&name] {
                IdlDefinition::Enum { bits, values } => {
                    types.push(enumeration(&original, *bits, values)?);
                    continue;
                }
                IdlDefinition::Struct { .. } => {}
                _ => bail!("{original} is not a struct"),
            }
            for member in self.members(&name, 0)? {
                let place = || format!("{original}.{}", member.name);
                ensure!(
                    !member.is_optional,
                    "{}: it is optional, which wiregauge cannot read",
                    place()
                );
                let shape = self.resolve_field(&member.kind, &member.sizes, &member.scope);
                let (kind, times) = shape.with_context(place)?;
                if let IdlType::WideText = kind {
                    let spelling = "wstring".to_owned();
                    let said = MemberDocumentation { spelling, ..MemberDocumentation::default() };
                    words.members.insert(member.name.clone(), said);
                }
                let element = match kind {
                    IdlType::Scalar(scalar) => Element::Scalar(scalar),
                    IdlType::Named(full, _) => {
                        let next = ids.len();
                        let id: TypeId = *ids.entry(full.clone()).or_insert(next);
                        if id == next {
                            open.push(full.clone());
                        }
                        match self.0[&full] {
                            IdlDefinition::Enum { .. } => Element::Enum(id),
                            _ => Element::Record(id),
                        }
                    }
                    _ => Element::String,
                };
                let octets = Element::Scalar(Scalar::U8);
                let (element, cardinality) = match times {
                    Multiplicity::List(None) if element == octets => {
                        (Element::Bytes, Cardinality::Required)
                    }
                    Multiplicity::List(bound) => (element, Cardinality::List { bound }),
                    Multiplicity::Array(len) => (element, Cardinality::Array { len }),
                    Multiplicity::Once => (element, Cardinality::Required),
                };
                fields.push(Field {
                    name: unlegalized(&member.name),
                    id: fields.len() as u32 + 1,
                    element,
                    cardinality,
                    wire: ProtobufEncoding::default(),
                    union: None,
                    default: None,
                });
            }
            wording.insert(&original, words);
            types.push(TypeDef::Record(Record {
                name: unlegalized(&original),
                fields,
                role: Role::Plain,
            }));
        }
        let mut schema = assemble(types, 0)?;
        schema.wording = wording;
        Ok(schema)
    }

    /// The fields of a struct, after those of the one that it builds on.
    fn members(&self, name: &str, depth: usize) -> Result<Vec<IdlMember>> {
        ensure!(depth < DEEPEST, "the structs inherit from each other in a circle");
        let IdlDefinition::Struct { base, members, .. } = &self.0[name] else {
            bail!("{name} is not a struct");
        };
        let mut all = Vec::new();
        if let Some(IdlType::Named(base, scope)) = base {
            let (base, _) = self.find(base, scope)?;
            all = self.members(base, depth + 1)?;
        }
        all.extend(members.iter().cloned());
        Ok(all)
    }
}

fn enumeration(original: &str, bits: u32, values: &[(String, i64)]) -> Result<TypeDef> {
    ensure!(!values.is_empty(), "{original} has no values");
    let is_signed = values.iter().any(|(_, number)| *number < 0);
    // XTypes 1.3, 7.3.1.2.1.5: an enum of at most 8 bits takes one byte, and so on.
    let repr = match (bits, is_signed) {
        (..=8, true) => Scalar::I8,
        (..=8, false) => Scalar::U8,
        (9..=16, true) => Scalar::I16,
        (9..=16, false) => Scalar::U16,
        (_, true) => Scalar::I32,
        (_, false) => Scalar::U32,
    };
    let value =
        |(name, number): &(String, i64)| EnumValue { name: unlegalized(name), number: *number };
    let values = values.iter().map(value).collect();
    Ok(TypeDef::Enum(Enum { name: unlegalized(original), repr, values }))
}

/// How often an element is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Multiplicity {
    Once,
    Array(u32),
    List(Option<u32>),
}

impl Multiplicity {
    /// Of an array of these.
    fn times_array(self, len: u32) -> Result<Multiplicity> {
        let before = match self {
            Multiplicity::Once => 1,
            Multiplicity::Array(before) => before,
            Multiplicity::List(_) => bail!("a list of lists, which wiregauge cannot read"),
        };
        Ok(Multiplicity::Array(before.checked_mul(len).context("an array is too long")?))
    }
}
