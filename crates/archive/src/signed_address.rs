//! Addresses with a signature or a password in them. They are shown without it, also in
//! results and errors; the whole address is known only here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use wiregauge_trace::remote_file::is_remote;

/// What begins the names of a signature's parameters.
const PREFIXES: [&str; 4] = ["x-amz-", "x-goog-", "awsaccesskeyid", "googleaccessid"];

/// What is a signature's parameter where `sig` or `signature` is one.
const WITH_SIGNATURE: [&str; 20] = [
    "sig",
    "signature",
    "expires",
    "key-pair-id",
    "policy",
    "sv",
    "se",
    "st",
    "sp",
    "sr",
    "spr",
    "sip",
    "ss",
    "srt",
    "skoid",
    "sktid",
    "skt",
    "ske",
    "sks",
    "skv",
];

/// Words in names of parameters that are secret.
const SECRET: [&str; 6] = ["token", "secret", "password", "key", "credential", "auth"];

/// Whole addresses by what is shown.
static WHOLE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// The arguments of a command, in which addresses are as they may be shown.
pub fn hide_secrets(arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    arguments.map(|argument| match argument.to_str() {
        Some(text) if is_remote(Path::new(text)) => display_address(text).into(),
        _ => argument,
    })
}

/// How an address is shown.
pub fn display_address(address: &str) -> String {
    let shown = without_secrets(address);
    if shown != address {
        let mut whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
        whole.insert(shown.clone(), address.to_owned());
    }
    shown
}

/// The whole address of one that is shown.
pub fn full_address(shown: &str) -> String {
    let whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    whole.get(shown).map_or_else(|| shown.to_owned(), String::clone)
}

fn without_secrets(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://").filter(|(it, _)| it.starts_with("http"))
    else {
        return address.to_owned();
    };
    let (place, query) = match rest.split_once('?') {
        Some((place, query)) => (place, Some(query)),
        None => (rest, None),
    };
    let (host, path) = place.find('/').map_or((place, ""), |at| place.split_at(at));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let parameters: Vec<(String, &str)> = query
        .into_iter()
        .flat_map(|query| query.split('&'))
        .map(|one| (one.split('=').next().unwrap_or_default().to_ascii_lowercase(), one))
        .collect();
    let is_signed = parameters.iter().any(|(name, _)| name == "sig" || name == "signature");
    let kept: Vec<String> = parameters
        .iter()
        .filter(|(name, _)| !PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        .filter(|(name, _)| !is_signed || !WITH_SIGNATURE.contains(&name.as_str()))
        .map(|(name, one)| match SECRET.iter().any(|word| name.contains(word)) {
            true => format!("{name}=…"),
            false => (*one).to_owned(),
        })
        .collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    format!("{scheme}://{host}{path}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_what_is_secret() {
        let address = "https://me:pass@h.example/a%20b.osi?X-Amz-Signature=1&X-Amz-Date=2";
        assert_eq!(display_address(address), "https://h.example/a%20b.osi");
        assert_eq!(full_address("https://h.example/a%20b.osi"), address);
        let address = "https://h/x.mcap?sv=1&sig=2&id=7&access_token=abc";
        assert_eq!(display_address(address), "https://h/x.mcap?id=7&access_token=…");
        for plain in ["s3://bucket/a?b=c&key=d", "https://h/x?sv=1", "drive.mcap"] {
            assert_eq!((display_address(plain), full_address(plain)), (plain.into(), plain.into()));
        }
    }
}
