//! Editions of Protobuf. They replace `syntax` by features, which a file, a
//! message or a field sets and what is in it inherits. The library behind the
//! reader knows proto2 and proto3 alone, so a file of an edition is said in
//! proto2, and which fields have implicit presence, which proto2 cannot say,
//! stands beside it.
//!
//! Of the features three decide what a message is: `field_presence`,
//! `repeated_field_encoding` and `message_encoding`. Whether an enum is open and
//! whether text is checked makes no difference to the model.

use std::collections::HashSet;

use anyhow::{bail, Result};
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::uninterpreted_option::NamePart;
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FieldOptions, FileDescriptorProto, UninterpretedOption,
};

/// The values of the features that count, as descriptors number them.
const IMPLICIT: i32 = 2;
const LEGACY_REQUIRED: i32 = 3;
const EXPANDED: i32 = 2;
const DELIMITED: i32 = 2;

/// The editions that are read, by number and name.
const EDITIONS: [(i32, &str); 2] = [(1000, "2023"), (1001, "2024")];

/// The number of an edition by its name in `edition = "2023"`.
pub fn number(name: &str) -> Option<i32> {
    EDITIONS.iter().find(|(_, known)| *known == name).map(|(number, _)| *number)
}

/// The fields with implicit presence, by full name.
pub type Implicit = HashSet<String>;

/// What the editions' files say that older descriptors have no place for.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Set {
    /// The files.
    #[prost(message, repeated, tag = "1")]
    pub file: Vec<File>,
}

/// A file's edition and features.
#[derive(Clone, PartialEq, prost::Message)]
pub struct File {
    #[prost(message, repeated, tag = "4")]
    message_type: Vec<Message>,
    #[prost(message, optional, tag = "8")]
    options: Option<FileOptions>,
    #[prost(int32, optional, tag = "14")]
    edition: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FileOptions {
    #[prost(message, optional, tag = "50")]
    features: Option<Features>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(message, repeated, tag = "2")]
    field: Vec<Field>,
    #[prost(message, repeated, tag = "3")]
    nested_type: Vec<Message>,
    #[prost(message, optional, tag = "7")]
    options: Option<MessageOptions>,
    #[prost(message, repeated, tag = "8")]
    oneof_decl: Vec<Oneof>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct MessageOptions {
    #[prost(message, optional, tag = "12")]
    features: Option<Features>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Field {
    #[prost(message, optional, tag = "8")]
    options: Option<FieldFeatures>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FieldFeatures {
    #[prost(message, optional, tag = "21")]
    features: Option<Features>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Oneof {
    #[prost(message, optional, tag = "2")]
    options: Option<OneofOptions>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct OneofOptions {
    #[prost(message, optional, tag = "1")]
    features: Option<Features>,
}

/// The features that count; what is not set is inherited. An edition's defaults
/// are explicit presence, packed lists and messages with their length before
/// them, which is what the values not named above mean.
#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Features {
    #[prost(int32, optional, tag = "1")]
    field_presence: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    repeated_field_encoding: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    message_encoding: Option<i32>,
}

impl Features {
    /// These, with what `inner` sets itself.
    fn merge(self, inner: Option<Features>) -> Features {
        let inner = inner.unwrap_or_default();
        Features {
            field_presence: inner.field_presence.or(self.field_presence),
            repeated_field_encoding: inner.repeated_field_encoding.or(self.repeated_field_encoding),
            message_encoding: inner.message_encoding.or(self.message_encoding),
        }
    }
}

/// Says a file of an edition in proto2, and adds its fields with implicit
/// presence. `said` is what the file says beside its descriptor, whose types are
/// resolved. A file with a `syntax` stays as it is. Fails on an edition that is
/// not known.
pub fn translate(
    file: &mut FileDescriptorProto,
    said: &File,
    implicit: &mut Implicit,
) -> Result<()> {
    if file.syntax() != "editions" {
        return Ok(());
    }
    let edition = said.edition.unwrap_or_default();
    if EDITIONS.iter().all(|(known, _)| *known != edition) {
        bail!("{} has the unknown edition number {edition}; use edition 2023 or 2024", file.name());
    }
    file.syntax = None;
    let features = Features::default().merge(said.options.as_ref().and_then(|o| o.features));
    let package = file.package().to_owned();
    for (message, said) in file.message_type.iter_mut().zip(&said.message_type) {
        translate_message(message, said, features, &package, implicit);
    }
    Ok(())
}

/// The nesting of messages is bounded: whoever decodes descriptors stops at 100.
fn translate_message(
    message: &mut DescriptorProto,
    said: &Message,
    outer: Features,
    scope: &str,
    implicit: &mut Implicit,
) {
    let scope = match scope {
        "" => message.name().to_owned(),
        scope => format!("{scope}.{}", message.name()),
    };
    let features = outer.merge(said.options.as_ref().and_then(|o| o.features));
    // The entry of a map is as it is in every edition.
    let is_entry = message.options.as_ref().is_some_and(|o| o.map_entry());
    let entries: HashSet<String> = message
        .nested_type
        .iter()
        .filter(|nested| nested.options.as_ref().is_some_and(|o| o.map_entry()))
        .map(|nested| format!(".{scope}.{}", nested.name()))
        .collect();
    for (field, said_field) in message.field.iter_mut().zip(&said.field) {
        let oneof = field.oneof_index.and_then(|at| said.oneof_decl.get(usize::try_from(at).ok()?));
        let features = features
            .merge(oneof.and_then(|o| o.options.as_ref()).and_then(|o| o.features))
            .merge(said_field.options.as_ref().and_then(|o| o.features));
        if !is_entry {
            let is_map = entries.contains(field.type_name());
            translate_field(field, features, is_map, &scope, implicit);
        }
    }
    for (nested, said) in message.nested_type.iter_mut().zip(&said.nested_type) {
        translate_message(nested, said, features, &scope, implicit);
    }
}

fn translate_field(
    field: &mut FieldDescriptorProto,
    features: Features,
    is_map: bool,
    scope: &str,
    implicit: &mut Implicit,
) {
    let is_message = matches!(field.r#type(), Type::Message | Type::Group);
    if field.label() == Label::Repeated {
        if !is_message && !matches!(field.r#type(), Type::String | Type::Bytes) {
            let options = field.options.get_or_insert_with(FieldOptions::default);
            options.packed = Some(features.repeated_field_encoding != Some(EXPANDED));
        }
    } else if field.oneof_index.is_none() {
        match features.field_presence {
            Some(LEGACY_REQUIRED) => field.label = Some(Label::Required.into()),
            Some(IMPLICIT) if !is_message => {
                implicit.insert(format!("{scope}.{}", field.name()));
            }
            _ => {}
        }
    }
    if is_message && !is_map && features.message_encoding == Some(DELIMITED) {
        field.r#type = Some(Type::Group.into());
    }
}

/// Takes the options out of a parsed text of an edition that only editions have,
/// and returns what they say. Any option is taken, known or not: those of the
/// parser are older than editions, and none but these decides what a message is.
pub fn take_options(file: &mut FileDescriptorProto, edition: i32) -> File {
    let options = file.options.as_mut().map(|o| std::mem::take(&mut o.uninterpreted_option));
    file.enum_type.iter_mut().for_each(take_enum);
    drop_options(&mut file.extension);
    for service in &mut file.service {
        service.options = None;
        service.method.iter_mut().for_each(|method| method.options = None);
    }
    File {
        message_type: file.message_type.iter_mut().map(take_message).collect(),
        options: Some(FileOptions { features: options.map(|o| features(&o)) }),
        edition: Some(edition),
    }
}

fn take_message(message: &mut DescriptorProto) -> Message {
    let options = message.options.as_mut().map(|o| std::mem::take(&mut o.uninterpreted_option));
    let field = message.field.iter_mut().map(|field| {
        let options = field.options.as_mut().map(|o| std::mem::take(&mut o.uninterpreted_option));
        if let Some(default) = options.iter().flatten().find(|o| is_default(&o.name)) {
            field.default_value = Some(default_text(default));
        }
        Field { options: Some(FieldFeatures { features: options.map(|o| features(&o)) }) }
    });
    let field = field.collect();
    let oneof_decl = message.oneof_decl.iter_mut().map(|oneof| {
        let options = oneof.options.as_mut().map(|o| std::mem::take(&mut o.uninterpreted_option));
        Oneof { options: Some(OneofOptions { features: options.map(|o| features(&o)) }) }
    });
    let oneof_decl = oneof_decl.collect();
    message.enum_type.iter_mut().for_each(take_enum);
    drop_options(&mut message.extension);
    Message {
        field,
        nested_type: message.nested_type.iter_mut().map(take_message).collect(),
        options: Some(MessageOptions { features: options.map(|o| features(&o)) }),
        oneof_decl,
    }
}

/// Extensions are left out of the model, with all that is said of them.
fn drop_options(extensions: &mut [FieldDescriptorProto]) {
    for extension in extensions {
        extension.options = None;
    }
}

/// An alias must be allowed for the definition to be read; else nothing counts.
fn take_enum(def: &mut prost_reflect::prost_types::EnumDescriptorProto) {
    if let Some(options) = &mut def.options {
        let is_alias = |o: &UninterpretedOption| {
            matches!(o.name.as_slice(), [part] if part.name_part == "allow_alias")
                && o.identifier_value.as_deref() == Some("true")
        };
        options.allow_alias = Some(options.uninterpreted_option.iter().any(is_alias));
        options.uninterpreted_option.clear();
    }
    for value in &mut def.value {
        value.options = None;
    }
}

/// The features among options: `features.field_presence = IMPLICIT`, or
/// `features = { field_presence: IMPLICIT }`.
fn features(options: &[UninterpretedOption]) -> Features {
    let mut found = Features::default();
    for option in options {
        match option.name.as_slice() {
            [first, name] if first.name_part == "features" && !name.is_extension => {
                let value = option.identifier_value.as_deref().unwrap_or_default();
                set(&mut found, &name.name_part, value);
            }
            [only] if only.name_part == "features" => {
                let text = option.aggregate_value.as_deref().unwrap_or_default();
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let words: Vec<&str> =
                    text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
                for pair in words.windows(2) {
                    set(&mut found, pair[0], pair[1]);
                }
            }
            _ => {}
        }
    }
    found
}

fn set(features: &mut Features, name: &str, value: &str) {
    let number =
        |names: [&str; 3]| names.iter().position(|known| *known == value).map(|at| at as i32 + 1);
    match name {
        "field_presence" => {
            features.field_presence = number(["EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"]);
        }
        "repeated_field_encoding" => {
            features.repeated_field_encoding = number(["PACKED", "EXPANDED", ""]);
        }
        "message_encoding" => {
            features.message_encoding = number(["LENGTH_PREFIXED", "DELIMITED", ""]);
        }
        _ => {}
    }
}

/// Whether an option is the default of a field, under the name that the reader
/// of texts gives it.
fn is_default(name: &[NamePart]) -> bool {
    matches!(name, [first, last] if first.name_part == "features" && last.name_part == "default")
}

/// A default as descriptors say it.
fn default_text(option: &UninterpretedOption) -> String {
    if let Some(text) = &option.identifier_value {
        return text.clone();
    }
    if let Some(bytes) = &option.string_value {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    if let Some(number) = option.positive_int_value {
        return number.to_string();
    }
    if let Some(number) = option.negative_int_value {
        return number.to_string();
    }
    option.double_value.map(|number| number.to_string()).unwrap_or_default()
}
