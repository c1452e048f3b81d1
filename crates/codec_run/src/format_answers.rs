//! What formats say to a message: its definition in their language, and whether they can
//! express it.

use anyhow::{bail, Context, Result};
use wiregauge_formats::{Codec, Support};
use wiregauge_schema::Schema;

/// The definition in a format's own language. The format is named by itself or by a codec.
///
/// # Errors
/// When there is no such format, it cannot express the message, or it has no such language.
pub fn definition_text(schema: &Schema, format: &str) -> Result<String> {
    let codec = Codec::find(format)
        .or_else(|| Codec::all().into_iter().find(|c| c.format == format && c.idl.is_some()))
        .with_context(|| {
            let known: Vec<&str> = Codec::all().iter().map(|codec| codec.name).collect();
            format!("unknown format '{format}'; choose from {}", known.join(", "))
        })?;
    if let Support::Rejected(why) = codec.check_schema(schema) {
        bail!("{} cannot express this message: {why}", codec.title);
    }
    let idl = codec.idl.with_context(|| {
        format!("{} has no definition files; its types in the code are the definition", codec.title)
    })?;
    Ok(idl(schema)?.text)
}

/// Each codec's answer, with what is lost, a line each.
pub fn format_answers(schema: &Schema) -> String {
    let mut text = String::new();
    for codec in Codec::all().into_iter().filter(|codec| !codec.is_bound) {
        let name = codec.name;
        match codec.check_schema(schema) {
            Support::Supported => text += &format!("{name:24} supported\n"),
            Support::Rejected(why) => text += &format!("{name:24} rejected: {why}\n"),
            Support::Lowered(lowerings) => {
                for (at, lowering) in lowerings.iter().enumerate() {
                    let (name, word) = if at == 0 { (name, "lowered: ") } else { ("", "") };
                    let (what, lost) = (&lowering.what, &lowering.lost);
                    text += &format!("{name:24} {word:9}{what} (lost: {lost})\n");
                }
            }
        }
    }
    text
}
