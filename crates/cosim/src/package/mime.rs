//! The MIME types by which OSMP says what a binary variable carries.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The MIME type of OSI messages.
const OSI: &str = "application/x-open-simulation-interface";
/// The encoding of an OSI message that names none.
const PROTOBUF: &str = "protobuf";
/// What a variable carries that says nothing of it.
const UNKNOWN: &str = "application/octet-stream";

/// What a binary variable carries:
/// `application/x-open-simulation-interface; type=SensorView; version=3.8.0`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mime {
    /// The type itself, in lower case.
    pub essence: String,
    /// The message: `SensorView`.
    pub message: Option<String>,
    /// Version of OSI.
    pub version: Option<String>,
    /// How the message is encoded: `flatbuffers-tables`. None is Protobuf.
    pub encoding: Option<String>,
}

impl Mime {
    /// Reads a MIME type. Parameters that are not known are skipped.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: &str) -> Result<Mime, String> {
        let mut parts = text.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
        let halves = essence.split_once('/');
        if !halves.is_some_and(|(kind, name)| !kind.is_empty() && !name.is_empty()) {
            return Err(format!("'{text}' is not a MIME type"));
        }
        let mut mime = Mime { essence, message: None, version: None, encoding: None };
        for part in parts.filter(|part| !part.is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(format!("'{part}' in the MIME type '{text}' is not KEY=VALUE"));
            };
            let value = value.trim_matches(|c: char| c == '"' || c.is_whitespace()).to_owned();
            match key.trim().to_ascii_lowercase().as_str() {
                "type" => mime.message = Some(value),
                "version" => mime.version = Some(value),
                "encoding" => mime.encoding = Some(value),
                _ => {}
            }
        }
        Ok(mime)
    }

    /// Bytes of which nothing is known.
    pub fn unknown() -> Mime {
        Mime { essence: UNKNOWN.into(), message: None, version: None, encoding: None }
    }

    /// Whether nothing is known of the bytes.
    pub fn is_unknown(&self) -> bool {
        self.essence == UNKNOWN
    }

    /// Whether it is a message of OSI.
    pub fn is_osi(&self) -> bool {
        self.essence == OSI
    }

    /// The message's name, or the MIME type where it names none.
    pub fn message(&self) -> &str {
        self.message.as_deref().unwrap_or(&self.essence)
    }

    /// How the message is encoded.
    pub fn encoding(&self) -> &str {
        self.encoding.as_deref().unwrap_or(if self.is_osi() { PROTOBUF } else { "" })
    }
}

impl fmt::Display for Mime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.essence)?;
        for (key, value) in
            [("type", &self.message), ("version", &self.version), ("encoding", &self.encoding)]
        {
            if let Some(value) = value {
                write!(f, "; {key}={value}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_osi_type_in_full() {
        let text = "application/x-open-simulation-interface; type=SensorView; version=3.8.0; \
                    encoding=packed";
        let mime = Mime::parse(text).unwrap();
        assert_eq!(mime.message(), "SensorView");
        assert_eq!(mime.version.as_deref(), Some("3.8.0"));
        assert_eq!(mime.encoding(), "packed");
        assert_eq!(mime.to_string(), text);
    }

    #[test]
    fn spaces_quotes_and_case_do_not_matter() {
        let mime =
            Mime::parse("Application/X-Open-Simulation-Interface;TYPE = \"SensorData\" ;x=y;")
                .unwrap();
        assert!(mime.is_osi());
        assert_eq!((mime.message(), mime.encoding()), ("SensorData", "protobuf"));
    }

    #[test]
    fn what_is_no_mime_type() {
        for text in ["", "SensorView", "/x", "application/", "a/b; type"] {
            assert!(Mime::parse(text).is_err(), "{text}");
        }
    }
}
