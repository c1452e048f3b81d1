//! What is said to a transport, as people write it.

use anyhow::{Context, Result};

use crate::conduct::terms::Choice;

/// Something to say to a transport: `dds.domain=7`.
///
/// # Errors
/// What is not of this form.
pub fn choice(text: &str) -> Result<Choice> {
    let choice = text.split_once('=').and_then(|(key, value)| {
        let (transport, name) = key.split_once('.')?;
        Some(Choice { transport: transport.into(), name: name.into(), value: value.into() })
    });
    choice.context("wants TRANSPORT.NAME=VALUE, such as dds.domain=7")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_names_its_transport() {
        let Choice { transport, name, value } = choice("dds.topic=a=b").unwrap();
        assert_eq!([transport, name, value], ["dds", "topic", "a=b"]);
        assert!(choice("domain=7").is_err() && choice("dds.domain").is_err());
    }
}
