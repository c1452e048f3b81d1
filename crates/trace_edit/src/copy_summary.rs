//! What came of a copy, and what the user is told of it.

use std::path::Path;

use wiregauge_system::text::{escape_short, format_count};
use wiregauge_trace::channel::explain_missing_version;
use wiregauge_trace::copy::CopyCounts;
use wiregauge_trace::read::Loss;

/// What came of a copy.
pub struct CopySummary {
    /// What was copied.
    pub copied: CopyCounts,
    /// What the container cannot hold.
    pub left_out: Vec<String>,
    /// The versions that channels must say and nothing tells, each with its topic.
    pub missing_versions: Vec<(String, &'static str)>,
    /// What was damaged.
    pub losses: Vec<Loss>,
    /// What the writer and the readers have to say.
    pub remarks: Vec<String>,
}

impl CopySummary {
    /// Notices of a file that has the messages, a line each.
    pub fn notices(&self, output: &Path) -> Vec<String> {
        let CopyCounts { messages, bytes, .. } = self.copied;
        let messages = format_count(messages, "message");
        let mut notices = self.conversion_notices(output);
        notices.push(format!("{messages} of {bytes} bytes in {}", output.display()));
        notices
    }

    /// Notices of a file that has something else than the messages that were read.
    pub fn read_notices(&self, output: &Path) -> Vec<String> {
        let CopyCounts { messages, bytes, .. } = self.copied;
        let were = if messages == 1 { "was" } else { "were" };
        let messages = format_count(messages, "message");
        let mut notices = self.conversion_notices(output);
        notices.push(format!("{messages} of {bytes} bytes {were} read for {}", output.display()));
        notices
    }

    /// Notices of everything but how much was copied.
    pub fn conversion_notices(&self, output: &Path) -> Vec<String> {
        let mut notices = Vec::new();
        let backwards = self.copied.backwards;
        if backwards > 0 {
            let go = if backwards == 1 { "goes" } else { "go" };
            let messages = format_count(backwards, "message");
            notices.push(format!("{messages} {go} back in time, as in the input"));
        }
        if !self.left_out.is_empty() {
            let left_out = escape_short(&self.left_out.join(", "));
            let output = output.display();
            notices.push(format!("left out, as {output} cannot hold it: {left_out}"));
        }
        let missing = self.missing_versions.iter();
        notices.extend(missing.map(|(topic, key)| explain_missing_version(topic, key)));
        notices.extend(self.escaped_remarks());
        notices
    }

    /// Notices of what was damaged in the input, a line each.
    pub fn loss_notices(&self, input: &Path) -> Vec<String> {
        let notice = |loss: &Loss| {
            escape_short(&format!("{}: byte {}: {}", input.display(), loss.at, loss.what))
        };
        self.losses.iter().map(notice).collect()
    }

    /// A notice of messages that came too late to be put in order; none where none did.
    pub fn late_notice(&self) -> Option<String> {
        let late = self.copied.late;
        let (come, are) = if late == 1 { ("comes", "is") } else { ("come", "are") };
        (late > 0).then(|| {
            format!(
                "{} {come} too late for the window and {are} not in order; merge again with a \
                 larger window, such as --sort-window 4GiB",
                format_count(late, "message")
            )
        })
    }

    /// What the writer and the readers have to say, as it may be shown.
    pub fn escaped_remarks(&self) -> Vec<String> {
        self.remarks.iter().map(|remark| escape_short(remark)).collect()
    }
}
