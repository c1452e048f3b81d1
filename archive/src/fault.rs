//! What went wrong, in a line with the remedy. Answers of servers and texts of libraries may
//! have addresses with signatures in them, so only what is known to be harmless is shown.

use std::env;
use std::error::Error as StdError;
use std::time::Duration;

use object_store::client::{HttpError, HttpErrorKind};
use object_store::Error;

/// That the file is another one now.
pub const CHANGED: &str = "it was changed while it was read; run the command again";

/// Words in names of variables whose values are secret.
const SECRET: [&str; 8] =
    ["KEY", "SECRET", "TOKEN", "PASSWORD", "CREDENTIAL", "SAS", "SIGNATURE", "CONNECTION_STRING"];

/// A shorter value is no secret, and might be a part of any word.
const SHORTEST: usize = 8;

/// What kind of archive it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// S3 and what is like it.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure's blobs.
    Azure,
    /// A web server.
    Http,
}

impl Scheme {
    /// By what stands before `://`.
    pub fn from_word(word: &str) -> Result<Scheme, String> {
        Ok(match word {
            "s3" | "s3a" => Scheme::S3,
            "gs" => Scheme::Google,
            "az" => Scheme::Azure,
            "http" | "https" => Scheme::Http,
            _ => return Err("it is no address of an archive; s3://, gs://, az://, https:// and http:// are read".into()),
        })
    }

    /// What to do about credentials.
    pub fn remedy(self) -> &'static str {
        match self {
            Scheme::S3 => {
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for a \
                           public bucket AWS_SKIP_SIGNATURE=true"
            }
            Scheme::Google => {
                "let GOOGLE_APPLICATION_CREDENTIALS name a file of credentials; for \
                               a public bucket GOOGLE_SKIP_SIGNATURE=true"
            }
            Scheme::Azure => {
                "set AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME and \
                              AZURE_STORAGE_ACCOUNT_KEY; for a public container \
                              AZURE_SKIP_SIGNATURE=true"
            }
            Scheme::Http => "it may want a signed address, or https://NAME:PASSWORD@HOST/…",
        }
    }
}

/// An error as a line.
pub fn explain(error: &Error, scheme: Scheme, timeout: Duration) -> String {
    match error {
        Error::NotFound { .. } => return "there is no such file; check the address".into(),
        Error::PermissionDenied { .. } => {
            return format!("the archive refuses access; {}", scheme.remedy());
        }
        Error::Unauthenticated { .. } => {
            return format!("the archive does not know these credentials; {}", scheme.remedy());
        }
        Error::Precondition { .. } => return CHANGED.into(),
        Error::NotSupported { .. } => return no_ranges(),
        _ => {}
    }
    let texts = texts(error);
    let says = |what: &str| texts.iter().any(|text| text.contains(what));
    if says("non-partial response") || says("Content-Range header not present") {
        return no_ranges();
    }
    if says("Requested ") && says(", got ") {
        return "the server sent other bytes than were asked for; copy the file here first".into();
    }
    if says("redirect without LOCATION") {
        return "the bucket is in another region; set AWS_REGION to it".into();
    }
    if let Some(status) = texts.iter().find_map(|text| status(text)) {
        return match status.as_str() {
            "301" | "307" => "the bucket is in another region; set AWS_REGION to it".into(),
            status if status.starts_with('4') && status != "429" => {
                format!("the archive answers {status}; {}", scheme.remedy())
            }
            _ => format!("the archive answers {status}, and did so again and again; try later"),
        };
    }
    match http_kind(error) {
        Some(HttpErrorKind::Timeout) => format!(
            "no whole answer came within {} s; try later, or set WIREGAUGE_ARCHIVE_TIMEOUT to \
             more seconds",
            timeout.as_secs_f64()
        ),
        Some(HttpErrorKind::Connect) => {
            let why = texts.last().cloned().unwrap_or_default();
            let remedy = match why.contains("certificate") {
                true => "let SSL_CERT_FILE name a file with the certificate of who vouches for it",
                false => "check the address and the network",
            };
            format!("cannot connect ({why}); {remedy}")
        }
        Some(_) => "the connection was cut, and again when it was tried again; try later".into(),
        None => {
            let why = texts.last().cloned().unwrap_or_default();
            let why: Vec<&str> = why.split_whitespace().take(40).collect();
            format!("{}; {}", why.join(" "), scheme.remedy())
        }
    }
}

fn no_ranges() -> String {
    "the server sends no parts of files, which is needed here; copy the file here first".into()
}

/// Whether a body ended before its end, or in another way.
pub fn is_cut_body(error: &Error) -> bool {
    // A request that failed was sent again by the library; its text tells of that.
    let is_request = texts(error).iter().any(|text| text.contains("Error performing"));
    let kind = http_kind(error);
    !is_request && kind.is_some_and(|kind| kind != HttpErrorKind::Timeout)
}

/// Whether it may be that there are no bytes at all.
pub fn is_empty_object(error: &Error) -> bool {
    texts(error).iter().any(|text| status(text).as_deref() == Some("416"))
}

/// Without the values of variables that are secret, whatever has brought them here.
pub fn hide_secrets(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, value) in env::vars_os() {
        let (name, value) = (name.to_string_lossy().to_uppercase(), value.to_string_lossy());
        let is_secret = SECRET.iter().any(|word| name.contains(word)) && value.len() >= SHORTEST;
        if is_secret && text.contains(&*value) {
            text = text.replace(&*value, "…");
        }
    }
    text
}

/// The error and its causes.
fn texts(error: &Error) -> Vec<String> {
    let mut texts = Vec::new();
    let mut next: Option<&dyn StdError> = Some(error);
    while let Some(error) = next {
        texts.push(error.to_string());
        next = error.source();
    }
    texts
}

/// The number of a status that a server sent.
fn status(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("status code: ")?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (number.len() == 3).then_some(number)
}

fn http_kind(error: &Error) -> Option<HttpErrorKind> {
    let mut next: Option<&dyn StdError> = Some(error);
    while let Some(error) = next {
        if let Some(http) = error.downcast_ref::<HttpError>() {
            return Some(http.kind());
        }
        next = error.source();
    }
    None
}
