//! A message that samples carry, as codecs write it.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;
use wiregauge_child_process::child::Limits;
use wiregauge_child_process::runner::{Launch, Runner, RunnerError};
use wiregauge_gauge::runners::check::{prove, status};
use wiregauge_gauge::runners::plan::{Entrant, Judge, Load};
use wiregauge_participant::codec_process::CodecSetup;
use wiregauge_result::run::{Case, Subject};

/// How long a codec may take over one answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A message with the codecs that write it.
pub struct PayloadMessage {
    /// The message as it is named in the result.
    pub case: Case,
    /// The codecs.
    pub codecs: Vec<PayloadCodec>,
    /// How many points it has, where it is of points.
    pub points: Option<f64>,
    /// Keeps the message and its schema for the participants.
    _folder: TempDir,
}

/// A codec that has proven itself on the message, or why not.
#[derive(Clone)]
pub struct PayloadCodec {
    /// How it is named in the result.
    pub subject: Subject,
    /// The encoded message's size in bytes.
    pub size: usize,
    /// How participants start it; none where the status says why.
    pub coding: Option<CodecSetup>,
    /// Whether it writes and reads messages in memory that another process lends.
    pub in_place: bool,
}

impl PayloadMessage {
    /// A message with those of the entrants that can carry it.
    ///
    /// # Errors
    /// When the message cannot be written for the participants.
    pub fn from_entrants(load: Load, entrants: Vec<Entrant>) -> Result<PayloadMessage> {
        let folder = tempfile::tempdir().context("no folder for the message")?;
        let message = folder.path().join("message");
        fs::write(&message, &load.samples[0].canonical)?;
        let mut codecs = Vec::new();
        for (number, Entrant { mut subject, runner, judge }) in entrants.into_iter().enumerate() {
            let (mut size, mut coding, mut in_place) = (0, None, false);
            if let Some(launch) = runner {
                match encoded(&launch, &load, &mut subject, judge.as_ref()) {
                    Ok((bytes, lent)) => {
                        let schema = folder.path().join(format!("schema{number}"));
                        fs::write(&schema, &launch.schema)?;
                        let Launch { program, arguments, .. } = launch;
                        let message = message.clone();
                        let setup = CodecSetup { program, arguments, schema, message };
                        (size, coding, in_place) = (bytes, Some(setup), lent);
                    }
                    Err(trouble) => subject.status = status(trouble),
                }
            }
            codecs.push(PayloadCodec { subject, size, coding, in_place });
        }
        Ok(PayloadMessage { case: load.case, codecs, points: None, _folder: folder })
    }
}

/// Of several messages the one of median size.
///
/// # Errors
/// When there is none.
pub fn median_message(loads: Vec<Load>) -> Result<Load> {
    let mut load = loads.into_iter().next().context("no message")?;
    let count = load.samples.len();
    load.samples.sort_by_key(|sample| sample.canonical.len());
    load.samples = load.samples.into_iter().skip(count / 2).take(1).collect();
    let sample = load.samples.first().context("no message")?;
    load.case.canonical_bytes = sample.canonical.len() as f64;
    load.case.messages = 1;
    if count > 1 {
        load.case.notes = vec![format!("the one of median size among {count} recorded messages")];
    }
    Ok(load)
}

/// Has a codec carry the message; the size that it writes, and whether it does so in place, too.
fn encoded(
    launch: &Launch,
    load: &Load,
    subject: &mut Subject,
    judge: Option<&Judge>,
) -> Result<(usize, bool), RunnerError> {
    let mut runner = Runner::start(launch, Limits::default(), None, PATIENCE)?;
    subject.library.clone_from(&runner.hello.library);
    let encoded = prove(&mut runner, &load.samples, false, judge)?.encoded;
    Ok((encoded.iter().map(Vec::len).sum(), runner.hello.in_place))
}
