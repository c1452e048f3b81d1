//! Reader for Protobuf: `.proto` files (compiled here, without `protoc`) and
//! descriptor sets.
//!
//! How presence maps: `required` is required; a message field, a member of a
//! `oneof`, a field of proto2 and an `optional` field of proto3 are optional;
//! any other field of proto3 is implicit. In editions 2023 and 2024 the feature
//! `field_presence` tells. A map is a list of entry records. A group, or a field
//! with `message_encoding = DELIMITED`, is a message whose field is marked as
//! delimited. Extensions are left out.

mod builder;
mod edition;
mod resolver;
mod text;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{bail, ensure, Context, Result};
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use prost_reflect::{DescriptorPool, FileDescriptor, MessageDescriptor};

use self::edition::Implicit;
use self::resolver::Resolver;
use crate::file;
use crate::model::Schema;

/// Reads a `.proto` file. Imports are looked for in `folders`, then in the
/// file's folder and in every folder above it; those of `google/protobuf/` are
/// built in.
///
/// The root is `type_name` (full or last part), or else the only message of the
/// file that no other message uses.
pub fn read_file(path: &Path, type_name: Option<&str>, folders: &[PathBuf]) -> Result<Schema> {
    compile_file(path, folders)?.only(type_name)
}

/// Reads all messages of a `.proto` file, as [`read_file`] does.
///
/// # Errors
/// Also when it has none.
pub fn read_all(path: &Path, folders: &[PathBuf]) -> Result<All> {
    compile_file(path, folders)?.all()
}

/// The full names of a file's own messages, those in others too.
pub fn messages(path: &Path, folders: &[PathBuf]) -> Result<Vec<String>> {
    let compiled = compile_file(path, folders)?;
    Ok(compiled.own.iter().map(|message| message.full_name().to_owned()).collect())
}

/// The messages of a file or set.
#[derive(Debug)]
pub struct All {
    /// The schemas of those that no other one uses, and of what these do not reach.
    pub schemas: Vec<Schema>,
    /// Enums that none of them uses, by their full names.
    pub unused: Vec<String>,
}

fn compile_file(path: &Path, folders: &[PathBuf]) -> Result<Compiled> {
    let origin = path.display().to_string();
    let text = file::text(path)?;
    // Not canonical: a link's imports lie beside the link.
    let path = std::path::absolute(path)?;
    let above = path.ancestors().skip(1).map(Path::to_owned);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let resolver = Resolver {
        texts: HashMap::from([(name.clone(), text)]),
        folders: folders.iter().cloned().chain(above).collect(),
        found: Rc::default(),
    };
    compile(resolver, &name, &origin)
}

/// Reads `.proto` texts that are no files: (name, text), the first being the
/// one whose message is wanted and the others what it imports, by these names.
pub fn read_texts(files: &[(&str, &str)], type_name: Option<&str>) -> Result<Schema> {
    let (name, _) = files.first().context("no .proto text given")?;
    let texts = files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    let resolver = Resolver { texts, folders: Vec::new(), found: Rc::default() };
    compile(resolver, name, name)?.only(type_name)
}

/// Reads an encoded `FileDescriptorSet`, which must include its imports.
///
/// The root is `type_name` (full or last part), or else the only message that
/// no other message uses. `origin` says in errors where the bytes are from.
pub fn read_descriptors(bytes: &[u8], type_name: Option<&str>, origin: &str) -> Result<Schema> {
    compiled_set(bytes, origin)?.only(type_name)
}

/// Reads all messages of an encoded `FileDescriptorSet`, as [`read_descriptors`]
/// does.
///
/// # Errors
/// Also when it has none.
pub fn read_all_descriptors(bytes: &[u8], origin: &str) -> Result<All> {
    compiled_set(bytes, origin)?.all()
}

fn compiled_set(bytes: &[u8], origin: &str) -> Result<Compiled> {
    let definitions = Definitions::decode(bytes).with_context(|| {
        format!("{origin} is no complete descriptor set; make it with protoc --include_imports")
    })?;
    let is_own = |file: &FileDescriptor| file.package_name() != "google.protobuf";
    Ok(Compiled::new(definitions, origin, is_own))
}

/// The definitions of a descriptor set.
pub struct Definitions {
    pool: DescriptorPool,
    /// What the pool cannot say of files of an edition.
    implicit: Implicit,
}

impl Definitions {
    /// Reads an encoded `FileDescriptorSet`, which must include its imports.
    pub fn decode(bytes: &[u8]) -> Result<Definitions> {
        let set = FileDescriptorSet::decode(bytes).context("no descriptor set")?;
        // The library panics on others while it says so.
        for file in &set.file {
            ensure!(
                matches!(file.syntax(), "" | "proto2" | "proto3" | "editions"),
                "{} is in syntax '{}', which is not known",
                file.name(),
                file.syntax().escape_debug()
            );
        }
        if set.file.iter().all(|file| file.syntax() != "editions") {
            return Ok(Definitions { pool: pool(set)?, implicit: Implicit::new() });
        }
        let said = edition::Set::decode(bytes).context("no descriptor set")?;
        Definitions::translated(set, &said.file)
    }

    /// Of resolved files, some of which are of an edition, and what these say.
    fn translated(mut set: FileDescriptorSet, said: &[edition::File]) -> Result<Definitions> {
        let mut implicit = Implicit::new();
        for (file, said) in set.file.iter_mut().zip(said) {
            edition::translate(file, said, &mut implicit)?;
        }
        Ok(Definitions { pool: pool(set)?, implicit })
    }

    /// The message with this full name.
    pub fn message(&self, name: &str) -> Result<MessageDescriptor> {
        let message = self.pool.get_message_by_name(name);
        message.with_context(|| format!("the descriptor set does not define {name}"))
    }

    /// The schema of one of the messages.
    pub fn schema(&self, root: &MessageDescriptor) -> Result<Schema> {
        builder::schema(root, &self.implicit)
    }
}

fn pool(set: FileDescriptorSet) -> Result<DescriptorPool> {
    // The library's error names the cause in its debug form alone.
    let pool = DescriptorPool::from_file_descriptor_set(set)
        .map_err(|error| anyhow::anyhow!(format!("{error:?}").replace(char::is_control, " ")))?;
    // The library panics on a map's entry without them when it decodes one.
    for entry in pool.all_messages().filter(MessageDescriptor::is_map_entry) {
        let whole = [1, 2].iter().all(|number| entry.get_field(*number).is_some());
        ensure!(whole, "the map entry {} lacks its key or its value", entry.full_name());
    }
    Ok(pool)
}

fn compile(resolver: Resolver, name: &str, origin: &str) -> Result<Compiled> {
    let found = resolver.found.clone();
    let order = resolver.order(name).with_context(|| format!("cannot compile {origin}"))?;
    let mut compiler = protox::Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    // What cannot be opened is told by who imports it.
    let missing = |name: &String| !found.borrow().files.contains_key(name);
    let first = order.iter().rev().take(1);
    let inner = order.iter().rev().skip(1).rev().filter(|name| !missing(name));
    let compiled = inner.chain(first).try_for_each(|name| compiler.open_file(name).map(drop));
    if let Err(error) = compiled {
        if let Some(error) = found.borrow_mut().error.take() {
            return Err(error).with_context(|| format!("cannot compile {origin}"));
        }
        // The compiler's debug form names the file, the line and the cause.
        bail!("cannot compile {origin}: {}", format!("{error:?}").replace(char::is_control, " "));
    }
    let mut editions = std::mem::take(&mut found.borrow_mut().editions);
    let definitions = if editions.is_empty() {
        Definitions { pool: compiler.descriptor_pool(), implicit: Implicit::new() }
    } else {
        let mut set = compiler.file_descriptor_set();
        let said = set.file.iter_mut().map(|file| {
            let said = editions.remove(file.name());
            if said.is_some() {
                file.syntax = Some("editions".into());
            }
            said.unwrap_or_default()
        });
        let said: Vec<edition::File> = said.collect();
        Definitions::translated(set, &said).with_context(|| format!("cannot compile {origin}"))?
    };
    ensure!(definitions.pool.get_file_by_name(name).is_some(), "the compiler lost the file");
    Ok(Compiled::new(definitions, origin, |file| file.name() == name))
}

/// The definitions of a file or set, and what of them is its own.
struct Compiled {
    definitions: Definitions,
    /// Its own messages; those of what it imports are not.
    own: Vec<MessageDescriptor>,
    own_files: Vec<FileDescriptor>,
    origin: String,
}

impl Compiled {
    fn new(
        definitions: Definitions,
        origin: &str,
        is_own: impl Fn(&FileDescriptor) -> bool,
    ) -> Compiled {
        let own_files: Vec<FileDescriptor> = definitions.pool.files().filter(is_own).collect();
        let own = definitions.pool.all_messages();
        let own = own.filter(|m| own_files.contains(&m.parent_file()) && !m.is_map_entry());
        Compiled { own: own.collect(), definitions, own_files, origin: origin.to_owned() }
    }

    /// Those that no other message of its own uses.
    fn roots(&self) -> Vec<MessageDescriptor> {
        let used: HashSet<String> =
            self.definitions.pool.all_messages().flat_map(used_messages).collect();
        let top = self.own.iter().filter(|m| m.parent_message().is_none());
        top.filter(|m| !used.contains(m.full_name())).cloned().collect()
    }

    /// The message that is asked for, or the only one that there is to choose.
    fn only(&self, type_name: Option<&str>) -> Result<Schema> {
        let root = match type_name {
            Some(wanted) => self.find(wanted)?,
            None => self.root()?,
        };
        self.definitions.schema(&root)
    }

    fn root(&self) -> Result<MessageDescriptor> {
        let origin = &self.origin;
        let roots = self.roots();
        match roots.as_slice() {
            [only] => Ok(only.clone()),
            [] if self.own.is_empty() => bail!(self.nothing()),
            [] => bail!(
                "every message of {origin} is used by another; choose one with {origin}:Type \
                 among {}",
                list(&self.own)
            ),
            several => bail!(
                "{origin} has several messages; choose one with {origin}:Type among {}",
                list(several)
            ),
        }
    }

    /// A message by its full name or the last parts of it. One of its own goes
    /// before one that is imported.
    fn find(&self, wanted: &str) -> Result<MessageDescriptor> {
        let origin = &self.origin;
        let pool = &self.definitions.pool;
        let suffix = format!(".{wanted}");
        let is_it = |name: &str| name == wanted || name.ends_with(&suffix);
        let others = || pool.all_messages().filter(|m| !m.is_map_entry() && !self.own.contains(m));
        if let Some(exact) = pool.get_message_by_name(wanted) {
            return Ok(exact);
        }
        let mut named: Vec<_> = self.own.iter().filter(|m| is_it(m.full_name())).cloned().collect();
        if named.is_empty() {
            named = others().filter(|m| is_it(m.full_name())).collect();
        }
        match named.as_slice() {
            [only] => Ok(only.clone()),
            [] if self.own.is_empty() => bail!(self.nothing()),
            [] if pool.all_enums().any(|def| is_it(def.full_name())) => {
                bail!("{wanted} is an enum; a message of {origin} is one of {}", list(&self.own))
            }
            [] => bail!("{origin} has no message {wanted}; it has {}", list(&self.own)),
            several => bail!(
                "{origin} has several messages {wanted}; choose one with {origin}:Type among {}",
                list(several)
            ),
        }
    }

    fn all(&self) -> Result<All> {
        ensure!(!self.own.is_empty(), self.nothing());
        let (mut schemas, mut reached) = (Vec::new(), HashSet::new());
        // Those in a circle are no roots, and some messages are used nowhere.
        for message in self.roots().iter().chain(&self.own) {
            if reached.contains(message.full_name()) {
                continue;
            }
            let schema = self.definitions.schema(message)?;
            reached.extend(schema.types.iter().map(|def| def.original().to_owned()));
            schemas.push(schema);
        }
        let enums = self.definitions.pool.all_enums();
        let own = enums.filter(|def| self.own_files.contains(&def.parent_file()));
        let names = own.map(|def| def.full_name().to_owned());
        Ok(All { schemas, unused: names.filter(|name| !reached.contains(name)).collect() })
    }

    /// What is said of a file without messages.
    fn nothing(&self) -> String {
        let pool = &self.definitions.pool;
        let is_own = |file: FileDescriptor| self.own_files.contains(&file);
        let enums = pool.all_enums().filter(|def| is_own(def.parent_file()));
        let enums: Vec<String> = enums.map(|def| def.full_name().to_owned()).collect();
        let services = pool.services().filter(|service| is_own(service.parent_file()));
        let services: Vec<String> = services.map(|one| one.full_name().to_owned()).collect();
        let mut text = format!("{} has no message", self.origin);
        for (kind, names) in [("enums", enums), ("services", services)] {
            if !names.is_empty() {
                text += &format!("; its {kind} are {}", names.join(", "));
            }
        }
        text
    }
}

fn list(messages: &[MessageDescriptor]) -> String {
    messages.iter().map(|m| m.full_name().to_owned()).collect::<Vec<_>>().join(", ")
}

/// The messages that the fields of another message name.
fn used_messages(message: MessageDescriptor) -> Vec<String> {
    let kinds = message.fields().map(|field| field.kind());
    let used = kinds.filter_map(|kind| kind.as_message().map(|used| used.full_name().to_owned()));
    used.filter(|used| used != message.full_name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Cardinality, Element, Field, Integer, Role, Wire};

    const PROTO3: &str = r#"
        syntax = "proto3";
        package p;
        import "google/protobuf/timestamp.proto";
        message Root {
            int32 implicit = 1;
            optional int32 explicit = 2;
            repeated double list = 3;
            map<string, Inner> map = 4;
            oneof either { uint64 a = 5; Inner b = 6; }
            google.protobuf.Timestamp time = 8;
            Kind kind = 7;
            message Inner { bytes data = 1; }
            enum Kind { option allow_alias = true; NONE = 0; SOME = 1; ANY = 1; }
        }
    "#;

    fn field<'a>(schema: &'a Schema, name: &str) -> &'a Field {
        schema.root().fields.iter().find(|f| f.name.original == name).unwrap()
    }

    #[test]
    fn proto3_maps_to_the_model() {
        let schema = read_texts(&[("a.proto", PROTO3)], None).unwrap();
        assert_eq!(schema.root().name.original, "p.Root");
        assert_eq!(field(&schema, "implicit").cardinality, Cardinality::Implicit);
        assert_eq!(field(&schema, "explicit").cardinality, Cardinality::Optional);
        assert_eq!(field(&schema, "explicit").union, None);
        assert_eq!(field(&schema, "list").cardinality, Cardinality::List { bound: None });
        assert_eq!(field(&schema, "a").union.as_deref(), Some("either"));
        assert_eq!(field(&schema, "b").cardinality, Cardinality::Optional);
        let Element::Record(entry) = field(&schema, "map").element else { panic!() };
        assert_eq!(schema.record(entry).role, Role::MapEntry);
        assert!(schema.record(entry).fields.iter().all(|f| f.cardinality == Cardinality::Required));
        let Element::Record(time) = field(&schema, "time").element else { panic!() };
        assert_eq!(schema.record(time).role, Role::Timestamp);
        let Element::Enum(kind) = field(&schema, "kind").element else { panic!() };
        assert_eq!(schema.enumeration(kind).values.len(), 2);
        let ids: Vec<u32> = schema.root().fields.iter().map(|f| f.id).collect();
        assert_eq!(ids, [1, 2, 3, 4, 5, 6, 8, 7], "in the order of definition");
    }

    #[test]
    fn comments_are_kept() {
        let text = "syntax = \"proto3\"; package p;
            // A message
            //  of two lines.
            message A {
              // Before.
              int32 x = 1; // Behind.
              B b = 2;
            }
            enum B {
              // Nothing.
              NONE = 0;
            }";
        let schema = read_texts(&[("a.proto", text)], None).unwrap();
        assert_eq!(schema.wording.of("p.A").unwrap().comment, "A message\nof two lines.");
        assert_eq!(schema.wording.member("p.A", "x").unwrap().comment, "Before.\nBehind.");
        assert_eq!(schema.wording.member("p.A", "b").unwrap().comment, "");
        assert_eq!(schema.wording.member("p.B", "NONE").unwrap().comment, "Nothing.");
    }

    #[test]
    fn proto2_maps_to_the_model() {
        let text = "syntax = \"proto2\"; message Root {
            required int32 a = 1; optional string b = 2 [default = \"x\"]; repeated Root c = 3; }";
        let schema = read_texts(&[("a.proto", text)], None).unwrap();
        assert_eq!(field(&schema, "a").cardinality, Cardinality::Required);
        assert_eq!(field(&schema, "b").cardinality, Cardinality::Optional);
        assert_eq!(field(&schema, "b").default.as_deref(), Some("x"));
        assert!(schema.recurses(schema.root));
    }

    #[test]
    fn unions_have_legal_names_in_the_scope_of_the_fields() {
        let text = "syntax = \"proto3\"; message A { int32 pick_one = 1;
            oneof pickOne { int32 a = 2; int32 b = 3; } oneof pick_one3 { int32 c = 4; } }";
        let schema = read_texts(&[("a.proto", text)], None).unwrap();
        let union = |name| field(&schema, name).union.as_deref();
        assert_eq!([union("a"), union("b")], [Some("pick_one2"), Some("pick_one2")]);
        assert_eq!(union("c"), Some("pick_one3"), "not taken by a second mention of the first");
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let read = |text: &str, root| {
            let text = format!("syntax = \"proto2\"; {text}");
            format!("{:#}", read_texts(&[("a.proto", &text)], root).unwrap_err())
        };
        let several = read("message A {} message B {}", None);
        assert!(several.contains("among A, B"), "{several}");
        let missing = read("message A {}", Some("C"));
        assert!(missing.contains("no message C; it has A"), "{missing}");
        let broken = read("message A { int32 }", None);
        assert!(broken.contains("a.proto"), "{broken}");
        assert!(!broken.contains('\n'), "{broken}");
    }

    #[test]
    fn a_files_own_messages_go_before_those_that_it_imports() {
        let files = [
            (
                "a.proto",
                "syntax = \"proto3\"; package own; import \"b.proto\";
                message Used { other.Kind kind = 1; } message Both { Used used = 1; }",
            ),
            (
                "b.proto",
                "syntax = \"proto3\"; package other;
                enum Kind { NONE = 0; } message Used {} message More {}",
            ),
        ];
        let read = |root| read_texts(&files, Some(root));
        assert_eq!(read("Used").unwrap().root().name.original, "own.Used");
        assert_eq!(read("More").unwrap().root().name.original, "other.More");
        let error = read("None").unwrap_err().to_string();
        assert_eq!(error, "a.proto has no message None; it has own.Used, own.Both");
        let error = read("Kind").unwrap_err().to_string();
        assert_eq!(error, "Kind is an enum; a message of a.proto is one of own.Used, own.Both");
        let text = "syntax = \"proto3\"; package p; enum E { X = 0; } service S {}";
        let error = read_texts(&[("e.proto", text)], None).unwrap_err().to_string();
        assert_eq!(error, "e.proto has no message; its enums are p.E; its services are p.S");
    }

    #[test]
    fn all_messages_are_those_that_none_uses_and_what_these_do_not_reach() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.proto");
        let text = "syntax = \"proto3\"; package p;
            message Used { enum K { X = 0; } K k = 1; map<string, Used> more = 2; }
            message A { Used used = 1; message Inner { int32 x = 1; } }
            message B { int32 x = 1; }
            message C1 { C2 c = 1; } message C2 { C1 c = 1; }
            enum Unused { NONE = 0; }";
        std::fs::write(&path, text).unwrap();
        let all = read_all(&path, &[]).unwrap();
        let roots: Vec<&str> = all.schemas.iter().map(|s| &*s.root().name.original).collect();
        assert_eq!(roots, ["p.A", "p.B", "p.A.Inner", "p.C1"]);
        assert_eq!(all.unused, ["p.Unused"]);
    }

    #[test]
    fn numbers_that_are_infinite_or_none_are_read() {
        let defaults = |text: &str| -> Vec<String> {
            let schema = read_texts(&[("a.proto", text)], Some("A")).expect(text);
            let fields = schema.root().fields.iter();
            fields.map(|f| f.default.clone().unwrap_or_default()).collect()
        };
        let fields = |label: &str| {
            let values = ["-inf", "inf", "nan", "-nan", "- inf", "-1.5"];
            let fields = values.iter().enumerate().map(|(at, value)| {
                format!("{label} double f{at} = {} [default = {value}, deprecated = true];", at + 1)
            });
            format!("message A {{ {} }}", fields.collect::<String>())
        };
        // A number that is none has no sign that would count.
        let wanted = ["-inf", "inf", "nan", "nan", "-inf", "-1.5"];
        assert_eq!(defaults(&format!("edition = \"2023\"; {}", fields(""))), wanted);
        assert_eq!(defaults(&format!("syntax = \"proto2\"; {}", fields("optional"))), wanted);
        let options = "import \"google/protobuf/descriptor.proto\";
            extend google.protobuf.MessageOptions { LABEL float limit = 7739973; LABEL O o = 7739974; }
            message O { LABEL float a = 1; }
            message A { option (limit) = VALUE; option (o) = { a: VALUE }; option (o).a = VALUE; \
            LABEL double low = 1; }"
            .replace("option (o) = { a: VALUE }; ", "");
        for value in ["-inf", "inf", "nan", "-nan"] {
            let text = options.replace("VALUE", value);
            defaults(&format!("syntax = \"proto2\"; {}", text.replace("LABEL", "optional")));
            defaults(&format!("edition = \"2023\"; {}", text.replace("LABEL", "")));
        }
    }

    #[test]
    fn extensions_of_an_edition_may_have_defaults() {
        let text = "edition = \"2023\"; message A { int32 a = 1; extensions 100 to max;
            extend A { int32 inner = 101 [default = 5, features.field_presence = EXPLICIT]; } }
            extend A { int32 more = 100 [default = 41]; double low = 102 [default = -inf]; }
            service S { option deprecated = true; rpc Do(A) returns (A) { option deprecated = true; } }
            enum E { option features.enum_type = CLOSED; X = 1 [deprecated = true]; }";
        let schema = read_texts(&[("a.proto", text)], None).unwrap();
        assert_eq!(schema.root().fields.len(), 1);
    }

    #[test]
    fn names_in_errors_are_all_there() {
        let messages: String = (0..500).map(|at| format!("message Message{at} {{}} ")).collect();
        let text = format!("syntax = \"proto3\"; {messages}");
        let error = read_texts(&[("a.proto", &text)], None).unwrap_err().to_string();
        assert!(error.ends_with("Message498, Message499"), "{error}");
    }

    #[test]
    fn files_import_from_the_folders_above() {
        use std::fs;
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("osi");
        fs::create_dir(&inner).unwrap();
        let write = |name: &str, text: &str| fs::write(inner.join(name), text).unwrap();
        write(
            "a.proto",
            "syntax = \"proto2\"; import \"osi/b.proto\"; message A { optional B b = 1; }",
        );
        write("b.proto", "syntax = \"proto2\"; message B { optional int32 x = 1; }");
        let schema = read_file(&inner.join("a.proto"), None, &[]).unwrap();
        assert_eq!(schema.types.len(), 2);
    }

    #[test]
    fn imports_may_be_deep_but_not_endless() {
        let folder = tempfile::tempdir().unwrap();
        let write = |at: usize, import: &str| {
            let text = format!("syntax = \"proto3\"; {import} message M{at} {{ int32 x = 1; }}");
            std::fs::write(folder.path().join(format!("f{at}.proto")), text).unwrap();
        };
        let import = |at: usize| format!("import \"f{at}.proto\";");
        (0..999).for_each(|at| write(at, &import(at + 1)));
        write(999, "");
        let read = || read_file(&folder.path().join("f0.proto"), None, &[]);
        assert_eq!(read().unwrap().root().name.original, "M0");
        write(999, &import(1000));
        write(1000, "");
        let error = format!("{:#}", read().unwrap_err());
        assert!(error.contains("it imports more than 1000 files"), "{error}");
        write(9, &import(3));
        let error = format!("{:#}", read().unwrap_err());
        assert!(error.contains("f3.proto imports itself, directly or through others"), "{error}");
        write(9, &import(5000));
        let error = format!("{:#}", read().unwrap_err());
        assert!(error.contains("f9.proto:1:20: import 'f5000.proto' not found"), "{error}");
    }

    #[test]
    fn descriptor_sets_load() {
        let mut compiler = protox::Compiler::with_file_resolver(Resolver {
            texts: HashMap::from([("a.proto".into(), PROTO3.into())]),
            folders: Vec::new(),
            found: Rc::default(),
        });
        compiler.include_imports(true).open_file("a.proto").unwrap();
        let bytes = compiler.encode_file_descriptor_set();
        let schema = read_descriptors(&bytes, None, "a.fds").unwrap();
        assert_eq!(schema, read_texts(&[("a.proto", PROTO3)], None).unwrap());
        assert!(read_descriptors(b"nonsense", None, "a.fds").is_err());
    }

    #[test]
    fn a_group_is_a_delimited_message() {
        let text = "syntax = \"proto2\"; message Root { optional group One = 1 {
            repeated group Many = 1 { optional Root back = 1; } }
            oneof which { group Two = 2 {} Root plain = 3; } }";
        let schema = read_texts(&[("a.proto", text)], Some("Root")).unwrap();
        let is_delimited = |name| field(&schema, name).wire.delimited;
        assert_eq!(["one", "two", "plain"].map(is_delimited), [true, true, false]);
        let Element::Record(one) = field(&schema, "one").element else { panic!() };
        let many = &schema.record(one).fields[0];
        assert!(many.wire.delimited && matches!(many.cardinality, Cardinality::List { .. }));
    }

    #[test]
    fn the_choices_of_the_wire_are_kept() {
        let text = r#"
            syntax = "proto2";
            message Root {
                optional int32 plain = 1;
                optional sint64 zigzag = 2;
                repeated fixed32 fixed = 3;
                repeated float packed = 4 [packed = true];
                repeated string texts = 5;
            }"#;
        let schema = read_texts(&[("wire.proto", text)], None).unwrap();
        let wire: Vec<Wire> = schema.root().fields.iter().map(|field| field.wire).collect();
        let of = |integer, unpacked| Wire { integer, unpacked, delimited: false };
        assert_eq!(
            wire,
            [
                Wire::default(),
                of(Integer::Zigzag, false),
                of(Integer::Fixed, true),
                Wire::default(),
                Wire::default(),
            ]
        );
    }
}
