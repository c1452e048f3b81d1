//! A measurement on behalf of another machine: what goes on and the result go to standard
//! output, and it ends when the other machine is no longer heard on standard input.

use std::io::{self, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

/// How often each side says that it is there. So rarely that no measurement feels it.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long the other side may be silent before it counts as lost.
pub(crate) const SILENCE: Duration = Duration::from_secs(30);
/// How long a stopped measurement may take to end by itself.
const GRACE: Duration = Duration::from_secs(10);
/// What a line of what goes on begins with.
pub(crate) const PROGRESS: &str = "progress";
/// What the line before the result begins with.
pub(crate) const RESULT: &str = "result";

/// A measurement on behalf of another machine.
pub struct ServedRun {
    news: Arc<Mutex<String>>,
}

impl ServedRun {
    /// Begins to listen to the other machine, and to say that this one is there.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn begin() -> Result<ServedRun> {
        let (heard, hears) = mpsc::channel();
        let start = |name: &str, work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.into()).spawn(work).context("cannot start a thread")
        };
        start(
            "input",
            Box::new(move || {
                let mut bytes = [0; 256];
                // Ends with the input, and so does the channel.
                while io::stdin().read(&mut bytes).is_ok_and(|count| count > 0) {
                    if heard.send(()).is_err() {
                        break;
                    }
                }
            }),
        )?;
        start(
            "silence",
            Box::new(move || {
                while hears.recv_timeout(SILENCE).is_ok() {}
                stop();
            }),
        )?;
        let news = Arc::new(Mutex::new(format!("{PROGRESS} 0 0 starting")));
        let latest = Arc::clone(&news);
        let (lasting, ended) = mpsc::channel::<()>();
        // Until the process ends.
        std::mem::forget(lasting);
        start(
            "heartbeat",
            Box::new(move || loop {
                let line = latest.lock().map(|news| news.clone()).unwrap_or_default();
                // Nobody is there to write to.
                if say(&line).is_err() {
                    stop();
                }
                if ended.recv_timeout(HEARTBEAT) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }),
        )?;
        Ok(ServedRun { news })
    }

    /// What is done, and how much of how much: told with the next heartbeat.
    pub fn show(&self, what: &str, done: usize, total: usize) {
        if let Ok(mut news) = self.news.lock() {
            *news = format!("{PROGRESS} {done} {total} {}", what.replace('\n', " "));
        }
    }

    /// Hands the result over.
    ///
    /// # Errors
    /// When the other machine is gone.
    pub fn finish(self, result: &str) -> Result<()> {
        let text = format!("{RESULT} {}\n{result}", result.len());
        say_all(text.as_bytes()).context("the machine that asked for the result is gone")
    }
}

fn say(line: &str) -> io::Result<()> {
    say_all(format!("{line}\n").as_bytes())
}

fn say_all(bytes: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(bytes)?;
    output.flush()
}

/// Ends the measurement as Ctrl-C does, and the program if that takes too long.
fn stop() {
    for _ in 0..2 {
        // SAFETY: a signal to this process itself, whose handler is installed.
        unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
        thread::sleep(GRACE);
    }
}
