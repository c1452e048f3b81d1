//! What a codec cannot express is told of the type that has it.

use wiregauge_formats::{Codec, Support};
use wiregauge_schema::{Schema, TypeDef};

/// The name of the type that a text starts with.
fn named<'a>(schema: &'a Schema, text: &str) -> Option<&'a str> {
    let names = schema.types.iter().map(TypeDef::original);
    let starts =
        |name: &&str| text.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', ' ', '.']));
    names.filter(starts).max_by_key(|name| name.len())
}

#[test]
fn a_rejection_names_one_type() {
    let mut checked = 0;
    for (zoo, schema) in crate::zoo::all() {
        for codec in Codec::all() {
            let Support::Rejected(why) = codec.check_schema(&schema) else { continue };
            let Some((_, reason)) = named(&schema, &why).and(why.split_once(": ")) else {
                continue;
            };
            assert_eq!(named(&schema, reason), None, "{} of {zoo}: {why}", codec.name);
            checked += 1;
        }
    }
    assert!(checked > 0, "nothing is rejected");
}
