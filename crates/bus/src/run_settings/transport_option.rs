//! What is said to a transport, and how people write it.

use anyhow::{Context, Result};

/// Something to say to a transport.
#[derive(Clone, Debug)]
pub struct TransportOption {
    /// What the program calls it: `dds`.
    pub transport: String,
    /// What is chosen: `domain`.
    pub name: String,
    /// And how.
    pub value: String,
}

/// Reads what people write: `dds.domain=7`.
///
/// # Errors
/// What is not of this form.
pub fn parse_transport_option(text: &str) -> Result<TransportOption> {
    let choice = text.split_once('=').and_then(|(key, value)| {
        let (transport, name) = key.split_once('.')?;
        Some(TransportOption {
            transport: transport.into(),
            name: name.into(),
            value: value.into(),
        })
    });
    choice.context("write TRANSPORT.NAME=VALUE, such as dds.domain=7")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_names_its_transport() {
        let TransportOption { transport, name, value } =
            parse_transport_option("dds.topic=a=b").unwrap();
        assert_eq!([transport, name, value], ["dds", "topic", "a=b"]);
        assert!(
            parse_transport_option("domain=7").is_err()
                && parse_transport_option("dds.domain").is_err()
        );
    }
}
