//! Reads parts of files that lie in archives: S3, Google Cloud Storage, Azure and HTTP.
//!
//! It is started by wiregauge and speaks with it over pipes. At the start it writes one line,
//! `{"protocol":1}`. Each request is a line of JSON; the answer is another, and behind it come
//! as many bytes as it says. It ends with its standard input.
//!
//! ```text
//! {"url":"s3://bucket/drive.mcap","from":0,"length":65536}
//! {"length":65536,"size":10737418240,"version":"\"5d41402abc4b2a76\""}
//! ```
//!
//! A request may tell the version that it is about; another one is a fault. A fault is one
//! line, `{"fault":"…"}`, which names neither the URL nor credentials.

mod aws_profile;
mod azure_connection;
mod fault;
mod object;

use std::collections::HashMap;
use std::env;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::object::{ArchiveObject, Part};

/// The variable that says how many seconds an answer may take.
const TIMEOUT_VARIABLE: &str = "WIREGAUGE_ARCHIVE_TIMEOUT";

/// How long an answer may take unless the variable says it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is asked for.
#[derive(Deserialize)]
struct Request {
    url: String,
    from: u64,
    length: u64,
    /// The version that it must be.
    version: Option<String>,
}

/// What stands before the bytes.
#[derive(Serialize)]
struct Head<'a> {
    length: usize,
    size: u64,
    version: &'a str,
}

#[derive(Serialize)]
struct Refusal {
    fault: String,
}

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wiregauge-archive: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let timeout = timeout();
    let mut objects = HashMap::new();
    let mut output = io::stdout().lock();
    writeln!(output, "{{\"protocol\":1}}")?;
    output.flush()?;
    for line in io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?)?;
        let answer = runtime.block_on(read(&mut objects, &request, timeout));
        match answer {
            Ok(Part { bytes, size, version }) => {
                let head = Head { length: bytes.len(), size, version: &version };
                writeln!(output, "{}", serde_json::to_string(&head)?)?;
                output.write_all(&bytes)?;
            }
            Err(fault) => {
                let fault = fault::hide_secrets(&fault);
                writeln!(output, "{}", serde_json::to_string(&Refusal { fault })?)?;
            }
        }
        output.flush()?;
    }
    Ok(())
}

fn timeout() -> Duration {
    let said = env::var(TIMEOUT_VARIABLE).ok().and_then(|said| said.trim().parse::<f64>().ok());
    let said = said.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    said.filter(|timeout| !timeout.is_zero()).unwrap_or(TIMEOUT)
}

async fn read(
    objects: &mut HashMap<String, ArchiveObject>,
    request: &Request,
    timeout: Duration,
) -> Result<Part, String> {
    let object = match objects.remove(&request.url) {
        Some(object) => object,
        None => ArchiveObject::open(&request.url, timeout)?,
    };
    let part = object.read(request.from, request.length, request.version.as_deref()).await;
    objects.insert(request.url.clone(), object);
    part
}
