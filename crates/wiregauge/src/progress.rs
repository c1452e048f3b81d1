//! What is going on, on standard error, where that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar; nothing where standard error is not a terminal.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar that waits for its first news.
    pub fn new() -> Progress {
        // indicatif draws on standard error and only on a terminal.
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} {wide_msg}");
        bar.set_style(style.expect("the template is right"));
        bar.enable_steady_tick(std::time::Duration::from_millis(250));
        Progress(bar)
    }

    /// What is done, and how much of how much.
    pub fn show(&self, what: &str, done: usize, total: usize) {
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
        if self.0.message() != what {
            self.0.set_message(what.to_owned());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
