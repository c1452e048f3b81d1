//! What is played, and how fast.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{ensure, Context, Result};
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::osi;
use wiregauge_trace::play::{play, Lateness, PlayRate};
use wiregauge_trace::read::{MessageInfo, Nanoseconds};
use wiregauge_trace::select::Selection;
use wiregauge_trace_edit::channel_hints::ChannelHints;
use wiregauge_trace_edit::message_filter::MessageFilter;

use crate::time_text::format_shares;

/// A trace that is played.
#[derive(Clone, Debug)]
pub struct Playback {
    /// The file.
    pub input: PathBuf,
    /// Which of its messages.
    pub filter: MessageFilter,
    /// The type of the messages of an `.osi` file whose name does not say it.
    pub osi_type: Option<String>,
    /// How fast.
    pub rate: PlayRate,
    /// How many times, one right after the other.
    pub loops: u32,
}

/// Takes a message, and in which turn of the trace it is, from 0.
pub(crate) type MessageHandler<'t> = &'t mut dyn FnMut(u32, &MessageInfo, &[u8]) -> Result<()>;

/// What is to be known of the first messages.
pub(crate) struct FirstMessages {
    /// The channel of the first one.
    pub channel: u16,
    /// Its type.
    pub type_name: String,
    /// The times of the first two.
    pub times: [Option<Nanoseconds>; 2],
}

impl Playback {
    /// Plays to a writer, each message after its length in four bytes, little-endian.
    ///
    /// # Errors
    /// When the file is damaged, the writer takes no more, or the user stops it.
    pub fn play_to_writer(&self, out: &mut dyn Write, lateness: &mut Lateness) -> Result<()> {
        self.play(lateness, &mut |_, _, data| {
            let length = u32::try_from(data.len())?.to_le_bytes();
            out.write_all(&length)?;
            out.write_all(data)?;
            Ok(out.flush()?)
        })
    }

    /// Hands each message over at its time.
    pub(crate) fn play(&self, lateness: &mut Lateness, take: MessageHandler) -> Result<()> {
        let selection = self.selection()?;
        for turn in 0..self.loops {
            let mut reader = open::open(&self.input, &self.open_hints())?;
            let mut selected = selection.select(reader.as_mut());
            play(&mut selected, self.rate, lateness, &mut |head, data| take(turn, head, data))?;
            selection.check(&self.name(), reader.channels().values())?;
        }
        Ok(())
    }

    /// Why nothing was played.
    pub fn explain_empty(&self) -> String {
        self.filter.explain_empty(&self.name())
    }

    pub(crate) fn name(&self) -> String {
        self.input.display().to_string()
    }

    pub(crate) fn open_hints(&self) -> OpenHints {
        OpenHints { osi_type: self.osi_type.clone() }
    }

    pub(crate) fn channel_hints(&self) -> ChannelHints {
        ChannelHints { osi_type: self.osi_type.clone(), ..ChannelHints::default() }
    }

    pub(crate) fn selection(&self) -> Result<Selection> {
        self.filter.resolve(std::slice::from_ref(&self.input), &self.open_hints())
    }

    pub(crate) fn first_messages(&self) -> Result<FirstMessages> {
        let selection = self.selection()?;
        let mut reader = open::open(&self.input, &self.open_hints())?;
        let mut selected = selection.select(reader.as_mut());
        let head = selected.advance()?;
        let head = head.with_context(|| self.explain_empty())?;
        // What is wrong with the second is for those to say who play it.
        let second = selected.advance().ok().flatten().and_then(|second| second.time);
        let type_name = reader.channels()[&head.channel].definition.name.clone();
        ensure!(!type_name.is_empty(), osi::missing_type_message(&self.input));
        Ok(FirstMessages { channel: head.channel, type_name, times: [head.time, second] })
    }
}

/// How much was played, and how late: a notice for the user.
pub fn format_lateness(lateness: &mut Lateness) -> String {
    let late = format_shares([0.5, 0.99, 1.0].map(|share| lateness.quantile(share)));
    let (messages, bytes) = (lateness.messages, lateness.bytes);
    format!("{messages} messages of {bytes} bytes; late by {late}")
}
