//! Reads the text of OMG IDL.

use std::collections::BTreeSet;

use anyhow::{bail, ensure, Context, Result};

use super::definitions::IdlDefinitions;
use super::preprocessor::Code;
use super::types::{unescape, Expression, IdlDefinition, IdlMember, IdlType, DEEPEST};
use crate::model::Scalar;

/// Adds all that a text and the files that it includes define. The names of what it defines itself.
///
/// # Errors
/// When it is no IDL.
pub(super) fn add_code(code: &Code, library: &mut IdlDefinitions) -> Result<BTreeSet<String>> {
    let mut parser = Parser { code, at: 0, own: BTreeSet::new() };
    let read = parser.definitions(&[], library);
    read.with_context(|| code.place(parser.at.saturating_sub(1)))?;
    Ok(parser.own)
}

/// What is said before a definition, as far as it changes what is on the wire.
#[derive(Default)]
struct Annotations {
    is_optional: bool,
    is_mutable: bool,
    /// The number of an enum's value, as it is spelled.
    value: Option<Vec<String>>,
    /// Bits of an enum, as they are spelled.
    bits: Option<Vec<String>>,
}

struct Parser<'c> {
    code: &'c Code,
    at: usize,
    /// What the text defines itself.
    own: BTreeSet<String>,
}

impl Parser<'_> {
    /// Adds a definition, whose last word was read.
    fn add(
        &mut self,
        path: &[String],
        definition: IdlDefinition,
        library: &mut IdlDefinitions,
    ) -> Result<()> {
        if self.code.is_own(self.at.saturating_sub(1)) {
            self.own.insert(path.join("::"));
        }
        library.add(path, definition)
    }

    fn peek(&self) -> &str {
        self.code.words.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> Result<String> {
        let word = self.code.words.get(self.at).context("the file ends within a definition")?;
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
        Ok(unescape(&word).to_owned())
    }

    /// What stands before a definition or a member.
    fn annotations(&mut self) -> Result<Annotations> {
        let mut found = Annotations::default();
        while self.accept("@") {
            self.accept("::");
            let mut name = self.name()?;
            while self.accept("::") {
                name = self.name()?;
            }
            let begin = self.at + 1;
            if self.peek() == "(" {
                self.skip("(", ")")?;
            }
            let mut inside =
                self.code.words.get(begin..self.at.saturating_sub(1)).unwrap_or_default();
            // The parameter may be named.
            if inside.starts_with(&["value", "="].map(String::from)) {
                inside = &inside[2..];
            }
            match name.as_str() {
                "optional" => found.is_optional = true,
                "mutable" => found.is_mutable = true,
                "extensibility" => found.is_mutable |= inside == ["MUTABLE"],
                "value" => found.value = Some(inside.to_vec()),
                "bit_bound" => found.bits = Some(inside.to_vec()),
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
            let inside = |name: &str| [scope, &[name.to_owned()]].concat();
            match self.peek() {
                ";" | "local" | "abstract" => {
                    self.next()?;
                    continue;
                }
                "module" => {
                    self.next()?;
                    let name = self.name()?;
                    self.expect("{")?;
                    self.definitions(&inside(&name), library)?;
                    self.expect("}")?;
                }
                "typedef" => {
                    self.next()?;
                    let kind = match self.add_type(said, scope, library)? {
                        Some(name) => IdlType::Named(name, scope.to_vec()),
                        None => self.parse_type(scope, 0)?,
                    };
                    loop {
                        let name = self.name()?;
                        let sizes = self.sizes(scope)?;
                        self.add(
                            &inside(&name),
                            IdlDefinition::Alias(kind.clone(), sizes),
                            library,
                        )?;
                        if !self.accept(",") {
                            break;
                        }
                    }
                }
                "const" => {
                    self.next()?;
                    self.parse_type(scope, 0)?;
                    let name = self.name()?;
                    self.expect("=")?;
                    // Only an integer can be a bound.
                    if let Ok(number) = library.evaluate(&self.expression(";", scope)?) {
                        self.add(&inside(&name), IdlDefinition::Number(number), library)?;
                    }
                }
                _ => {
                    if self.add_type(said, scope, library)?.is_none() {
                        bail!("expected a definition, found '{}'", self.next()?);
                    }
                }
            }
            self.accept(";");
        }
        Ok(())
    }

    /// Adds a type that is not a name for another one, and tells its name. None where something
    /// else begins.
    fn add_type(
        &mut self,
        said: Annotations,
        scope: &[String],
        library: &mut IdlDefinitions,
    ) -> Result<Option<String>> {
        let inside = |name: &str| [scope, &[name.to_owned()]].concat();
        let kind = self.peek().to_owned();
        let name = match kind.as_str() {
            "struct" => {
                self.next()?;
                let name = self.name()?;
                // Else it is only announced.
                if matches!(self.peek(), "{" | ":") {
                    let own = self.structure(scope, said.is_mutable)?;
                    self.add(&inside(&name), own, library)?;
                }
                name
            }
            "enum" => {
                self.next()?;
                let name = self.name()?;
                let values = self.values(scope, library)?;
                let bits = said.bits.map(|words| {
                    let bits = evaluate(words, scope, library)?;
                    u32::try_from(bits).with_context(|| format!("{bits} bits"))
                });
                let bits = bits.transpose().context("the bits of an enum")?.unwrap_or(32);
                self.add(&inside(&name), IdlDefinition::Enum { bits, values }, library)?;
                name
            }
            "union" | "bitset" | "bitmask" | "interface" | "exception" | "valuetype" => {
                self.next()?;
                let name = self.name()?;
                while !matches!(self.peek(), "{" | ";") {
                    self.next()?;
                }
                if self.peek() == "{" {
                    self.skip("{", "}")?;
                }
                let kind = match kind.as_str() {
                    "union" => "a union",
                    "bitset" | "bitmask" => "a set of bits",
                    _ => "an interface",
                };
                self.add(&inside(&name), IdlDefinition::Other(kind), library)?;
                name
            }
            _ => return Ok(None),
        };
        Ok(Some(name))
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
                let (kind, sizes) = (kind.clone(), self.sizes(scope)?);
                members.push(IdlMember { kind, name, sizes, is_optional });
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(IdlDefinition::Struct { base, members, is_mutable })
    }

    fn values(&mut self, scope: &[String], library: &IdlDefinitions) -> Result<Vec<(String, i64)>> {
        self.expect("{")?;
        let (mut values, mut next) = (Vec::new(), 0i64);
        while !self.accept("}") {
            let number = match self.annotations()?.value {
                Some(words) => evaluate(words, scope, library)
                    .and_then(|number| i64::try_from(number).context("it is too large"))
                    .context("the number of a value")?,
                None => next,
            };
            next = number.wrapping_add(1);
            values.push((self.name()?, number));
            while !matches!(self.peek(), "," | "}" | "") {
                self.next()?;
            }
            self.accept(",");
        }
        Ok(values)
    }

    /// The lengths of the dimensions of an array.
    fn sizes(&mut self, scope: &[String]) -> Result<Vec<Expression>> {
        let mut sizes = Vec::new();
        while self.accept("[") {
            sizes.push(self.expression("]", scope)?);
        }
        Ok(sizes)
    }

    /// An expression, and passes over what ends it.
    fn expression(&mut self, end: &str, scope: &[String]) -> Result<Expression> {
        let (begin, mut depth) = (self.at, 0usize);
        while depth > 0 || self.peek() != end {
            match self.next()?.as_str() {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let words = self.code.words[begin..self.at].to_vec();
        self.at += 1;
        Ok(Expression { words, scope: scope.to_vec() })
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
                    true => Some(self.expression(">", scope)?),
                    false => {
                        self.expect(">")?;
                        None
                    }
                };
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

fn evaluate(words: Vec<String>, scope: &[String], library: &IdlDefinitions) -> Result<i128> {
    library.evaluate(&Expression { words, scope: scope.to_vec() })
}
