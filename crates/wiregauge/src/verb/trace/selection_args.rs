//! Which messages are wanted, as the user says it.

use wiregauge_trace_edit::message_filter::{MessageFilter, MessageRange, Moment};

/// The arguments that say which messages are wanted.
#[derive(clap::Args)]
pub struct SelectionArgs {
    /// Take only this channel; * stands for any letters. Give it several times for
    /// several channels.
    #[arg(long, value_name = "TOPIC")]
    channel: Vec<String>,
    /// Leave out this channel; also with --channel.
    #[arg(long, value_name = "TOPIC")]
    exclude_channel: Vec<String>,
    /// Start at this time: after the first message (12.5s, 300ms), or on the clock of
    /// the trace in seconds (@1623.5).
    #[arg(long, value_name = "TIME")]
    from: Option<Moment>,
    /// Stop after this time, which is included.
    #[arg(long, value_name = "TIME")]
    to: Option<Moment>,
    /// Take only these messages, counted from 0: 10..20 are ten messages, 10.. is all
    /// from there on, 10 is one.
    #[arg(long, value_name = "A..B")]
    range: Option<MessageRange>,
    /// Take only every N-th message of a channel.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
}

impl SelectionArgs {
    /// The messages that are asked for.
    pub fn filter(&self) -> MessageFilter {
        MessageFilter {
            channels: self.channel.clone(),
            excluded: self.exclude_channel.clone(),
            from: self.from,
            to: self.to,
            range: self.range,
            every: self.every,
        }
    }
}
