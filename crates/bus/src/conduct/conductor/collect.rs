//! Has participants tell the samples that they kept, once a run is over: piece
//! by piece, so that nobody holds all of them a second time.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use wiregauge_participant::control::{Order, Report, Role};
use wiregauge_participant::sample_times::SampleTimesChunk;

use super::{Conductor, Heard};
use crate::conduct::samples::SampleRows;

/// How long a participant may take to tell a piece.
const PATIENCE: Duration = Duration::from_secs(3);

impl Conductor {
    /// Passes on what was kept. Participants whose run broke off are told to stop
    /// first; those that are gone have nothing to tell.
    pub(super) fn collect(&mut self, broken: bool, keep: &mut dyn FnMut(&SampleRows)) {
        if broken {
            for member in &self.members {
                let _ = member.send(&Order::Halt);
            }
        }
        let of_role = |role| self.members.iter().filter(move |member| member.role == role);
        let receivers: Vec<String> = of_role(Role::Receiver).map(|m| m.name.clone()).collect();
        let mut gone = HashSet::new();
        let mut first = 0;
        loop {
            let mut pieces = self.pieces(first, &mut gone);
            let senders = self.members.iter().filter(|member| member.role == Role::Sender);
            let sent = senders.filter_map(|member| pieces.remove(&member.name)).next();
            let Some(SampleTimesChunk::Sent { start, times }) = sent else { return };
            if times.is_empty() {
                return;
            }
            let received = |name: &String| match pieces.remove(name) {
                Some(SampleTimesChunk::Received(times)) => {
                    times.into_iter().map(|[time]| time).collect()
                }
                _ => Vec::new(),
            };
            let received = receivers.iter().map(received).collect();
            let count = times.len() as u64;
            keep(&SampleRows { receivers: &receivers, first, start, sent: times, received });
            first += count;
        }
    }

    /// What each participant kept from this sample on.
    fn pieces(
        &mut self,
        first: u64,
        gone: &mut HashSet<String>,
    ) -> HashMap<String, SampleTimesChunk> {
        for member in &self.members {
            if !gone.contains(&member.name) && member.send(&Order::Tell(first)).is_err() {
                gone.insert(member.name.clone());
            }
        }
        let mut pieces = HashMap::new();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let known = |name: &String| pieces.contains_key(name) || gone.contains(name);
            if self.members.iter().all(|member| known(&member.name)) {
                return pieces;
            }
            // Whether the user asks to stop or not: this is what is left to do.
            match self.heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok((name, Ok(Heard::Reported(Report::Kept(piece))))) => {
                    pieces.insert(name, piece);
                }
                Ok((name, Ok(Heard::Reported(Report::Progress(news))))) => {
                    self.add_progress(&name, news)
                }
                Ok((name, Err(_))) => {
                    gone.insert(name);
                }
                Ok(_) => {}
                Err(_) => {
                    let silent = self.members.iter().map(|member| &member.name);
                    gone.extend(silent.filter(|name| !pieces.contains_key(*name)).cloned());
                }
            }
        }
    }
}
