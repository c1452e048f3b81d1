//! The names of a descriptor set, which no compiler may have seen.

use anyhow::{ensure, Result};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet,
};

/// Refuses what Protobuf's own library refuses: a name with anything but letters,
/// digits and underscores.
/// Source: `DescriptorBuilder::ValidateSymbolName` of protobuf's descriptor.cc.
pub fn check_names(set: &FileDescriptorSet) -> Result<()> {
    for file in &set.file {
        ensure!(
            !file.name().contains(char::is_control),
            "the file name '{}' has control characters",
            file.name().escape_debug()
        );
        if !file.package().is_empty() {
            file.package().split('.').try_for_each(check)?;
        }
        file.message_type.iter().try_for_each(message)?;
        file.enum_type.iter().try_for_each(enumeration)?;
        file.extension.iter().try_for_each(field)?;
        for service in &file.service {
            check(service.name())?;
            service.method.iter().try_for_each(|method| check(method.name()))?;
        }
    }
    Ok(())
}

fn message(message: &DescriptorProto) -> Result<()> {
    check(message.name())?;
    message.field.iter().chain(&message.extension).try_for_each(field)?;
    message.oneof_decl.iter().try_for_each(|oneof| check(oneof.name()))?;
    message.enum_type.iter().try_for_each(enumeration)?;
    message.nested_type.iter().try_for_each(self::message)
}

fn field(field: &FieldDescriptorProto) -> Result<()> {
    check(field.name())
}

fn enumeration(enumeration: &EnumDescriptorProto) -> Result<()> {
    check(enumeration.name())?;
    enumeration.value.iter().try_for_each(|value| check(value.name()))
}

fn check(name: &str) -> Result<()> {
    let is_identifier =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    ensure!(is_identifier, "'{}' is not a name in Protobuf", name.escape_debug());
    Ok(())
}
