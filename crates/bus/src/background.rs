//! What loads the machines beside a run: busy loops on their processors, and a flow of
//! datagrams over the link. It is a setting of the run, and what it really took is measured.

pub mod busy_loops;
pub mod child;
pub mod datagrams;
pub mod message;

use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Error, Result};
use wiregauge_participant::stream::parent_process::ParentProcess;
use wiregauge_system::notice::print_notice;

use crate::background::busy_loops::BusyLoops;
use crate::background::datagrams::Flow;
use crate::background::message::{BackgroundReport, BackgroundSetup, TakenBackground};
use crate::link_rate::Rate;

/// Most busy loops on a host.
const MOST_LOOPS: usize = 256;
/// How often a process looks whether it is to end.
const SLICE: Duration = Duration::from_millis(100);

/// What loads the hosts of a run; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Background {
    /// Busy loops on each host.
    pub processors: usize,
    /// Of the flow from the sender's host to each other host, if there is one.
    pub link: Option<Rate>,
}

impl Background {
    /// One of these parts.
    ///
    /// # Errors
    /// Nothing at all, or a number of busy loops that cannot be.
    pub fn new(processors: Option<usize>, link: Option<Rate>) -> Result<Background> {
        ensure!(
            processors.is_some() || link.is_some(),
            "a background needs processors, such as 2, or link, such as 200mbit"
        );
        if let Some(loops) = processors {
            ensure!(
                (1..=MOST_LOOPS).contains(&loops),
                "a background has 1 to {MOST_LOOPS} busy loops on each host, not {loops}"
            );
        }
        Ok(Background { processors: processors.unwrap_or(0), link })
    }

    /// Whether nothing is loaded.
    pub fn is_none(&self) -> bool {
        *self == Background::default()
    }

    /// Whether it can be where there is a link between hosts, or none.
    ///
    /// # Errors
    /// A link to load and no link.
    pub fn check_link(&self, has_link: bool) -> Result<()> {
        match self.link {
            Some(rate) if !has_link => bail!(
                "a background of link={rate} needs a link, and all participants are on one host; \
                 add --emulate RATE, let receivers run on other machines, or leave 'link' out"
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loops = match self.processors {
            0 => None,
            1 => Some("1 busy loop on each host".to_owned()),
            many => Some(format!("{many} busy loops on each host")),
        };
        let flow = self
            .link
            .map(|rate| format!("{rate} of datagrams from the sender's host to each other host"));
        f.write_str(&loops.into_iter().chain(flow).collect::<Vec<_>>().join(", "))
    }
}

impl FromStr for Background {
    type Err = Error;

    /// # Errors
    /// What is not `processors=N` or `link=RATE`, or one of them twice.
    fn from_str(text: &str) -> Result<Background> {
        let (mut processors, mut link) = (None, None);
        for part in text.split(',') {
            let twice = match part.split_once('=') {
                Some(("processors", value)) => {
                    let number = value.parse::<usize>();
                    let number = number.with_context(|| format!("'{value}' is not a number"))?;
                    processors.replace(number).is_some()
                }
                Some(("link", value)) => link.replace(value.parse()?).is_some(),
                _ => bail!("'{part}' is neither processors=N nor link=RATE"),
            };
            ensure!(!twice, "'{part}' is said twice");
        }
        Background::new(processors, link)
    }
}

/// Loads this machine as who started this program says, until that is enough.
pub fn serve() -> ExitCode {
    let outcome = ParentProcess::open().and_then(|mut parent| {
        let setup = parent.read_message()?;
        parent.watch()?;
        match load_machine(&setup, &mut parent) {
            // Heard as long as there is someone to hear.
            Err(error) => parent.send_report(&BackgroundReport::Failed(format!("{error:#}"))),
            done => done,
        }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_notice(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn load_machine(setup: &BackgroundSetup, parent: &mut ParentProcess) -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let flow = setup.flow.as_ref().map(|end| Flow::start(end, &stop)).transpose()?;
    let loops = BusyLoops::start(setup.processors, &stop)?;
    parent.send_report(&BackgroundReport::Ready(flow.as_ref().and_then(|flow| flow.port)))?;
    while !parent.has_more(SLICE)? {
        if parent.is_gone() {
            return Ok(());
        }
    }
    stop.store(true, Ordering::Relaxed);
    let time = began.elapsed();
    let bits = flow.map(Flow::finish).transpose()?.unwrap_or(0);
    let processor_time = loops.finish()?;
    parent.send_report(&BackgroundReport::Took(TakenBackground {
        time: time.as_nanos() as u64,
        processor_time: processor_time.as_nanos() as u64,
        bits,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_and_told() {
        for (text, told) in [
            ("processors=1", "1 busy loop on each host"),
            (
                "link=200 Mbit/s,processors=2",
                "2 busy loops on each host, 200mbit of datagrams from the sender's host to each \
                 other host",
            ),
        ] {
            let background: Background = text.parse().unwrap();
            assert_eq!(background.to_string(), told);
            assert!(!background.is_none());
        }
        assert_eq!(Background::default().to_string(), "");
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_remedy() {
        for (text, words) in [
            ("", "neither processors=N nor link=RATE"),
            ("processors", "neither processors=N"),
            ("cpu=2", "'cpu=2' is neither"),
            ("processors=two", "'two' is not a number"),
            ("processors=0", "1 to 256 busy loops"),
            ("processors=257", "not 257"),
            ("processors=1,processors=2", "'processors=2' is said twice"),
            ("link=fast", "'fast' is not a rate"),
            ("link=1kbit", "give 1mbit to 100gbit"),
        ] {
            let error = format!("{:#}", text.parse::<Background>().unwrap_err());
            assert!(error.contains(words) && error.lines().count() == 1, "{text}: {error}");
        }
        let link: Background = "link=5mbit".parse().unwrap();
        assert!(link.check_link(false).unwrap_err().to_string().contains("--emulate"));
        link.check_link(true).unwrap();
        Background::new(Some(2), None).unwrap().check_link(false).unwrap();
    }
}
