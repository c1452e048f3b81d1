//! Serde_json, as it is called.

use crate::message::Root;
use wiregauge_runner::Error;

use crate::glue;

/// Compact output that tells whether a null was written.
struct Formatter<'a> {
    null: &'a mut bool,
}

impl serde_json::ser::Formatter for Formatter<'_> {
    fn write_null<W: std::io::Write + ?Sized>(&mut self, writer: &mut W) -> std::io::Result<()> {
        *self.null = true;
        writer.write_all(b"null")
    }
}

pub fn encode(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut null = false;
    let formatter = Formatter { null: &mut null };
    let mut serializer = serde_json::Serializer::with_formatter(out, formatter);
    serde::Serialize::serialize(message, &mut serializer)?;
    // A null is an absent value or a float that JSON cannot say.
    if null && !glue::finite(message) {
        return Err(Error::rejected("JSON cannot say NaN or an infinity"));
    }
    Ok(())
}

pub fn decode<T: serde::de::DeserializeOwned>(wire: &[u8]) -> Result<T, Error> {
    Ok(serde_json::from_slice(wire)?)
}
