//! The sender, which is also the timing master.

use std::thread;
use std::time::Duration;

use anyhow::{ensure, Result};

use crate::clock::Clock;
use crate::codec_process::{CodecProcess, Work};
use crate::control::{Mode, Sent};
use crate::duty::{Duty, Wish};
use crate::latency::Times;
use crate::lockstep::Announcer;
use crate::misses::Streak;
use crate::record::Record;
use crate::sample::{self, Header, Shape};
use crate::slowest::Slowest;
use crate::transport::Writer;
use crate::usage::{sharpen_timers, Usage};
use crate::window::Windows;

/// From the start to the first deadline.
const LEAD: u64 = 10_000_000;
/// From this size on a sample takes longer to fill than a receiver takes to wake
/// up, in bytes.
const LARGE: usize = 64 << 10;
/// Longest sleep between two looks at whether to go on.
const SLICE: u64 = 100_000_000;

/// What is kept of each sample: when it was sent,
const SENT: usize = 0;
/// the time in the call that sends,
const WRITE: usize = 1;
/// and the step.
const STEP: usize = 2;

/// Sends samples until the end, and keeps when the first one was due and the
/// times of all.
///
/// # Errors
/// When the transport fails or a participant is gone.
pub fn run(
    duty: &Duty,
    writer: &mut dyn Writer,
    announcer: &mut Announcer,
    mut codec: Option<&mut CodecProcess>,
    first_due: &mut Option<u64>,
    record: &mut Record<3>,
) -> Result<Sent> {
    let &Duty { assignment, clock, wish, seen } = duty;
    sharpen_timers();
    let count = assignment.count();
    let message = codec.as_ref().map(|codec| codec.encoded.clone());
    let (size, seed) = (assignment.topic.size, assignment.seed);
    let shape = Shape { size, seed, count, message: message.as_deref() };
    let patience = Duration::from_nanos(assignment.patience);
    let paced = assignment.is_paced();
    let discrete = assignment.mode == Mode::Discrete;
    let [mut lateness, mut write, mut step, mut barrier] = [(); 4].map(|()| Times::new());
    let [mut steps, mut encodes, mut writes] = [(); 3].map(|()| Windows::new(assignment.window));
    let (mut timeouts, mut streak) = (0, Streak::default());
    let before = Usage::now();
    let start = clock.now() + if paced { LEAD } else { 0 };
    *first_due = paced.then_some(start);
    // The last deadline lies a cycle before the end: who is late by more than
    // that does not finish its work, and what is left unsent is told.
    let end = start + assignment.duration;
    let mut slowest = Slowest::new(clock);
    let mut sent = 0;
    shape.fill(writer.room()?, 0);
    while sent < count && !wish.abandoned() {
        let sequence = sent as u32;
        let deadline = start + sent * assignment.cycle;
        if paced {
            pause(clock, deadline, wish);
        }
        let began = clock.now();
        if began >= end {
            break;
        }
        // Stamped last, and before the call: a large sample may keep it for long.
        let mut time = began;
        if discrete && assignment.announced {
            announcer.announce(sequence, sent * assignment.cycle)?;
            time = clock.now();
        }
        if let Some(codec) = &mut codec {
            let took = codec.run(Work::Encode)?;
            time = clock.now();
            encodes.add(time, 0, took);
        }
        ensure!(time < sample::LONGEST, "a run cannot last longer than 78 hours");
        sample::stamp(writer.room()?, Header { sequence, time });
        writer.send()?;
        let written = clock.now();
        sent += 1;
        // What need not be done before the answer comes is done meanwhile.
        if paced {
            lateness.add(began.saturating_sub(deadline));
        }
        write.add(written - time);
        record.keep(sequence, SENT, time);
        record.keep(sequence, WRITE, written - time);
        if codec.is_some() {
            writes.add(written, 0, written - time);
        }
        if sent < count {
            // Who was woken may be waiting for this very processor.
            if size >= LARGE && (paced || discrete) {
                thread::yield_now();
            }
            shape.fill(writer.room()?, sent as u32);
        }
        if discrete {
            if announcer.gather_step(sequence, patience, &|| !wish.abandoned())? {
                let done = clock.now();
                step.add(done - began);
                steps.add(done, 0, done - began);
                let news = steps.news();
                let ended = !news.is_empty();
                seen.steps(news);
                barrier.add(done - written);
                record.keep(sequence, STEP, done - began);
                let missed = assignment.cycle > 0 && done - began > assignment.cycle;
                streak.add(missed, sequence.into(), began.saturating_sub(start));
                slowest.add(sequence, began, done - began, clock);
                if ended {
                    slowest.end_window(clock);
                }
            } else {
                timeouts += 1;
                streak.add(true, sequence.into(), began.saturating_sub(start));
            }
        }
    }
    Ok(Sent {
        due: paced.then_some(count),
        samples: sent,
        span: clock.now().saturating_sub(start),
        lateness: lateness.distribution(),
        write: write.distribution(),
        step: step.distribution(),
        barrier: barrier.distribution(),
        steps: steps.closed(),
        encodes: encodes.closed(),
        writes: writes.closed(),
        timeouts,
        misses: streak.longest(),
        slowest: slowest.told(start),
        usage: Usage::now().since(before),
    })
}

/// Sleeps until a deadline, and looks around in a long sleep.
pub fn pause(clock: &Clock, deadline: u64, wish: &Wish) {
    loop {
        let now = clock.now();
        if now >= deadline || wish.abandoned() {
            return;
        }
        clock.wait_until(deadline.min(now + SLICE));
    }
}
