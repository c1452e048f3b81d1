//! What is going on, on standard error: a bar where that is a terminal, else a
//! line now and then.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt;
use crate::notice::print_notice;
use crate::text::escape;

/// How often there is a line where there is no terminal, so that whoever reads
/// a log sees that work goes on.
const PAUSE: Duration = Duration::from_secs(30);

/// What is going on.
pub struct ProgressDisplay {
    bar: ProgressBar,
    /// Where standard error is no terminal.
    log: Option<Log>,
}

impl Default for ProgressDisplay {
    fn default() -> ProgressDisplay {
        ProgressDisplay::new()
    }
}

impl ProgressDisplay {
    /// A bar, or a log, that waits for its first news.
    pub fn new() -> ProgressDisplay {
        // indicatif draws on standard error and only on a terminal.
        let bar = ProgressBar::new(0);
        bar.set_style(style(0));
        let log = if std::io::stderr().is_terminal() {
            bar.enable_steady_tick(Duration::from_millis(250));
            None
        } else {
            Some(Log::new(PAUSE, print_notice))
        };
        ProgressDisplay { bar, log }
    }

    /// What shows progress until it is dropped.
    pub fn into_callback(self) -> impl Fn(&str, usize, usize) {
        move |what, done, total| self.show(what, done, total)
    }

    /// The same for what is done for something that has a name, which stands before it.
    pub fn named<'p>(&'p self, name: &'p str) -> impl Fn(&str, usize, usize) + 'p {
        move |what, done, total| self.show(&format!("{name}: {what}"), done, total)
    }

    /// The same for builds, which an interruption stops.
    pub fn stoppable(&self) -> impl Fn(&str, usize, usize) -> Result<()> + '_ {
        |what, done, total| {
            self.show(what, done, total);
            interrupt::check().map_err(Into::into)
        }
    }

    /// What is done, and how much of how much.
    pub fn show(&self, what: &str, done: usize, total: usize) {
        let what = &*escape(what);
        if let Some(log) = &self.log {
            log.show(what, done, total);
        }
        if self.bar.length() != Some(total as u64) {
            self.bar.set_style(style(total));
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        if self.bar.message() != what {
            self.bar.set_message(what.to_owned());
        }
    }
}

/// Shows how many bytes were read, of how many.
pub fn byte_progress(what: &str) -> impl FnMut(u64, u64) {
    let (what, progress) = (format!("{what} (MB)"), ProgressDisplay::new());
    move |done, total| {
        let megabytes = |bytes: u64| (bytes / 1_000_000) as usize;
        progress.show(&what, megabytes(done), megabytes(total));
    }
}

/// What is done of how much, where that is known.
fn style(total: usize) -> ProgressStyle {
    let template = match total {
        0 => "{elapsed} {wide_msg}",
        _ => "{bar:24} {pos}/{len} {elapsed} {wide_msg}",
    };
    ProgressStyle::with_template(template).expect("the template is right")
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Tells the last news each so many seconds.
struct Log {
    news: Arc<Mutex<String>>,
    /// Closed to stop the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Log {
    fn new(pause: Duration, tell: impl Fn(&str) + Send + 'static) -> Log {
        let (stop, stopped) = mpsc::channel();
        let news = Arc::new(Mutex::new(String::new()));
        let (latest, began) = (Arc::clone(&news), Instant::now());
        let thread = thread::Builder::new().name("progress".into()).spawn(move || {
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let news = latest.lock().map(|news| news.clone()).unwrap_or_default();
                if !news.is_empty() {
                    tell(&format!("{} s: {news}", began.elapsed().as_secs()));
                }
            }
        });
        Log { news, stop: Some(stop), thread: thread.ok() }
    }

    fn show(&self, what: &str, done: usize, total: usize) {
        if let Ok(mut news) = self.news.lock() {
            *news =
                if total == 0 { what.to_owned() } else { format!("{what} ({done} of {total})") };
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_tells_the_last_news_and_ends_at_once() {
        let (sender, told) = mpsc::channel();
        let log = Log::new(Duration::from_millis(5), move |line| {
            let _ = sender.send(line.to_owned());
        });
        log.show("compiling prost", 3, 27);
        let line = told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(line.ends_with("compiling prost (3 of 27)"), "{line}");
        drop(log);
        let began = Instant::now();
        drop(Log::new(Duration::from_secs(3600), |_| {}));
        assert!(began.elapsed() < Duration::from_secs(60));
    }
}
