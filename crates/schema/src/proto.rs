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
mod identifier;
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
    compile_file(path, folders)?.single_schema(type_name)
}

/// Reads all messages of a `.proto` file, as [`read_file`] does.
///
/// # Errors
/// Also when it has none.
pub fn read_all(path: &Path, folders: &[PathBuf]) -> Result<ProtoMessages> {
    compile_file(path, folders)?.all()
}

/// The full names of a file's own messages, those in others too.
pub fn messages(path: &Path, folders: &[PathBuf]) -> Result<Vec<String>> {
    let compiled = compile_file(path, folders)?;
    Ok(compiled.own.iter().map(|message| message.full_name().to_owned()).collect())
}

/// The full names of a file's own enums.
pub fn enums(path: &Path, folders: &[PathBuf]) -> Result<Vec<String>> {
    Ok(compile_file(path, folders)?.enums())
}

/// The messages of a file or set.
#[derive(Debug)]
pub struct ProtoMessages {
    /// The schemas of those that no other one uses, and of what these do not reach.
    pub schemas: Vec<Schema>,
    /// Enums that none of them uses, by their full names.
    pub unused: Vec<String>,
}

fn compile_file(path: &Path, folders: &[PathBuf]) -> Result<Compiled> {
    let origin = path.display().to_string();
    let text = file::read_text(path)?;
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
    let (name, _) = files.first().context("there is no .proto file to read")?;
    let texts = files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    let resolver = Resolver { texts, folders: Vec::new(), found: Rc::default() };
    compile(resolver, name, name)?.single_schema(type_name)
}

/// Reads an encoded `FileDescriptorSet`, which must include its imports.
///
/// The root is `type_name` (full or last part), or else the only message that
/// no other message uses. `origin` says in errors where the bytes are from.
pub fn read_descriptors(bytes: &[u8], type_name: Option<&str>, origin: &str) -> Result<Schema> {
    compiled_set(bytes, origin)?.single_schema(type_name)
}

/// Reads all messages of an encoded `FileDescriptorSet`, as [`read_descriptors`]
/// does.
///
/// # Errors
/// Also when it has none.
pub fn read_all_descriptors(bytes: &[u8], origin: &str) -> Result<ProtoMessages> {
    compiled_set(bytes, origin)?.all()
}

fn compiled_set(bytes: &[u8], origin: &str) -> Result<Compiled> {
    let definitions = Definitions::decode(bytes).with_context(|| {
        format!("{origin} is not a complete descriptor set; make it with protoc --include_imports")
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
        let set = FileDescriptorSet::decode(bytes).context("not a descriptor set")?;
        identifier::check_names(&set)?;
        // The library panics on others while it says so.
        for file in &set.file {
            ensure!(
                matches!(file.syntax(), "" | "proto2" | "proto3" | "editions"),
                "{} has the unknown syntax '{}'; use proto2, proto3 or an edition",
                file.name(),
                file.syntax().escape_debug()
            );
        }
        if set.file.iter().all(|file| file.syntax() != "editions") {
            return Ok(Definitions { pool: pool(set)?, implicit: Implicit::new() });
        }
        let said = edition::Set::decode(bytes).context("not a descriptor set")?;
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
        let text = format!("{error:?}").replace(char::is_control, " ");
        let is_import = text.contains(": import '") && text.ends_with("' not found");
        let remedy = if is_import { "; give the folder that has it by -I" } else { "" };
        bail!("cannot compile {origin}: {text}{remedy}");
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
    ensure!(definitions.pool.get_file_by_name(name).is_some(), "protoc did not return the file");
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
    fn single_schema(&self, type_name: Option<&str>) -> Result<Schema> {
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
            [] if self.own.is_empty() => bail!(self.no_messages_error()),
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
            [] if self.own.is_empty() => bail!(self.no_messages_error()),
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

    fn all(&self) -> Result<ProtoMessages> {
        ensure!(!self.own.is_empty(), self.no_messages_error());
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
        let mut unused = self.enums();
        unused.retain(|name| !reached.contains(name));
        Ok(ProtoMessages { schemas, unused })
    }

    /// The full names of its own enums.
    fn enums(&self) -> Vec<String> {
        let enums = self.definitions.pool.all_enums();
        let own = enums.filter(|def| self.own_files.contains(&def.parent_file()));
        own.map(|def| def.full_name().to_owned()).collect()
    }

    /// What is said of a file without messages.
    fn no_messages_error(&self) -> String {
        let pool = &self.definitions.pool;
        let is_own = |file: FileDescriptor| self.own_files.contains(&file);
        let services = pool.services().filter(|service| is_own(service.parent_file()));
        let services: Vec<String> = services.map(|one| one.full_name().to_owned()).collect();
        let mut text = format!("{} has no message", self.origin);
        for (kind, names) in [("enums", self.enums()), ("services", services)] {
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
mod tests;
