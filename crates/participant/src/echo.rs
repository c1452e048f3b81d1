//! Round trips, before the run itself: the sender sends one sample at a time,
//! and the first receiver sends it back over a topic of its own.
//!
//! They need no common clock. They are no part of the run, as answers would
//! double what the transport has to carry.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::control::{Assignment, Pinged};
use crate::run_context::RunControl;
use crate::sample::{self, loss_timeout, Header, Message, SampleContent};
use crate::sender::sleep_until;
use crate::transport::{Reader, Writer};
use wiregauge_timing::clock::Clock;
use wiregauge_timing::latency::TimeHistogram;

/// Longest wait of the receiver between two looks at whether to go on.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long it asks, if it has not asked as often as it was told by then.
const LONGEST: u64 = 2_000_000_000;

/// Sends samples and waits for each to come back, in the run's cycle.
///
/// # Errors
/// When the transport fails.
pub fn ping(
    assignment: &Assignment,
    writer: &mut dyn Writer,
    back: &mut dyn Reader,
    message: Option<Message<'_>>,
    clock: &Clock,
    wish: &RunControl,
) -> Result<Pinged> {
    let count = assignment.round_trips;
    let shape =
        SampleContent { size: assignment.topic.size, seed: assignment.seed, count, message };
    let mut times = TimeHistogram::new();
    let (start, mut lost) = (clock.now(), 0);
    for number in 0..count {
        let due = start + number * assignment.cycle;
        if due.max(clock.now()) > start + LONGEST || wish.is_aborted() {
            break;
        }
        let sequence = number as u32;
        shape.fill(writer.buffer()?, sequence);
        sleep_until(clock, due, wish);
        let sent = clock.now();
        sample::write_header(writer.buffer()?, Header { sequence, time: sent });
        writer.send()?;
        let deadline = sent + loss_timeout(assignment.topic.size);
        loop {
            let left = deadline.saturating_sub(clock.now());
            if left == 0 || wish.is_aborted() {
                lost += 1;
                break;
            }
            let mut came = None;
            back.deliver(Duration::from_nanos(left).min(POLL_INTERVAL), &mut |sample| {
                let now = clock.now();
                // Not one that was given up already.
                if shape.check(sample, now).is_ok_and(|header| header.sequence == sequence) {
                    came = Some(now);
                    return Ok(ControlFlow::Break(()));
                }
                Ok(ControlFlow::Continue(()))
            })?;
            if let Some(now) = came {
                times.add(now - sent);
                break;
            }
        }
    }
    Ok(Pinged { times: times.distribution(), lost })
}

/// Sends back what comes, or only takes it, until there is something else to
/// do, and nothing more comes or a while has passed. A sender that waits for no answer any more
/// is gone from the way back, which is no error.
///
/// # Errors
/// When the transport fails.
pub fn echo(
    reader: &mut dyn Reader,
    mut back: Option<&mut dyn Writer>,
    done: &mut dyn FnMut() -> bool,
) -> Result<()> {
    // Others may talk on the topic without end.
    let mut end: Option<Instant> = None;
    loop {
        let any = reader.deliver(POLL_INTERVAL, &mut |sample| {
            let answered = back.as_mut().is_none_or(|back| send_back(*back, sample).is_ok());
            if !answered {
                back = None;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if done() {
            let end = *end.get_or_insert_with(|| Instant::now() + POLL_INTERVAL);
            if !any || Instant::now() >= end {
                return Ok(());
            }
        }
    }
}

fn send_back(back: &mut dyn Writer, sample: &[u8]) -> Result<()> {
    let room = back.buffer()?;
    // Not someone else's.
    if sample.len() == room.len() {
        room.copy_from_slice(sample);
        back.send()?;
    }
    Ok(())
}
