//! A sender. The first one is also the timing master.

use std::thread;
use std::time::Duration;

use anyhow::{ensure, Result};

use crate::codec_process::{CodecProcess, CodecTask};
use crate::control::{Mode, SenderResult};
use crate::lockstep::{StepAnnouncer, StepReceiver};
use crate::run_context::{RunContext, RunControl};
use crate::sample::{self, Header, Message, SampleContent};
use crate::sample_times::SampleTimes;
use crate::topics::seed_of_sender;
use crate::transport::Writer;
use crate::window::Windows;
use wiregauge_timing::clock::Clock;
use wiregauge_timing::latency::TimeHistogram;
use wiregauge_timing::misses::Streak;
use wiregauge_timing::slowest::SlowestSamples;
use wiregauge_timing::usage::{minimize_timer_slack, Usage};

/// From the start to the first deadline.
const START_DELAY_NS: u64 = 10_000_000;
/// From this size on a sample takes longer to fill than a receiver takes to wake
/// up, in bytes.
const LARGE: usize = 64 << 10;
/// Longest sleep between two looks at whether to go on.
const SLICE: u64 = 100_000_000;

/// What a sample holds that a codec is to write in place.
const UNWRITTEN: u8 = 0xa5;

/// What is kept of each sample: when it was sent,
const SENT: usize = 0;
/// the time in the call that sends,
const WRITE: usize = 1;
/// and the step.
const STEP: usize = 2;

/// A sender's part in the steps.
pub enum Steps {
    /// There are none.
    None,
    /// It is the timing master.
    Announces(StepAnnouncer),
    /// It sends when a step is announced to it.
    Follows(StepReceiver),
}

/// Sends samples until the end, and keeps when the first one was due and the
/// times of all.
///
/// # Errors
/// When the transport fails or a participant is gone.
pub fn run(
    duty: &RunContext,
    writer: &mut dyn Writer,
    role: &mut Steps,
    mut codec: Option<&mut CodecProcess>,
    first_due: &mut Option<u64>,
    record: &mut SampleTimes<3>,
) -> Result<SenderResult> {
    let &RunContext { assignment, clock, wish, seen } = duty;
    minimize_timer_slack();
    let count = assignment.count();
    let encoded = codec.as_ref().map(|codec| codec.encoded.clone());
    let start_of_message = codec.as_ref().map_or(0, |codec| codec.message().start);
    let message = encoded.as_deref().map(|bytes| Message { bytes, start: start_of_message });
    let topics = assignment.topic.topics_of_sender();
    let size = assignment.topic.size;
    let seed = seed_of_sender(assignment.seed, assignment.topic.sender());
    let shape = SampleContent { size, seed, count, message };
    let in_place = codec.as_ref().is_some_and(|codec| codec.is_in_place());
    let patience = Duration::from_nanos(assignment.patience);
    let follows = matches!(role, Steps::Follows(_));
    let paced = assignment.is_paced() && !follows;
    let discrete = assignment.mode == Mode::Discrete;
    let [mut lateness, mut write, mut step, mut barrier] = [(); 4].map(|()| TimeHistogram::new());
    let [mut steps, mut encodes, mut writes] = [(); 3].map(|()| Windows::new(assignment.window));
    let (mut timeouts, mut streak) = (0, Streak::default());
    let before = Usage::now();
    if !paced && discrete && !follows && assignment.topic.senders() > 1 {
        // The others are told to start at this moment, too.
        thread::sleep(Duration::from_nanos(START_DELAY_NS));
    }
    let mut start = clock.now() + if paced { START_DELAY_NS } else { 0 };
    if paced && !discrete && assignment.topic.senders() > 1 {
        // All at the same moments, though each was told to start at another.
        start = start.next_multiple_of(assignment.cycle);
    }
    *first_due = paced.then_some(start);
    // The last deadline lies a cycle before the end: who is late by more than
    // that does not finish its work, and what is left unsent is told.
    let end = start + assignment.duration;
    let mut slowest = SlowestSamples::new(clock);
    // The next sample's cycle, which is its step, and its topic.
    let (mut sent, mut cycle, mut topic, mut step_began) = (0, 0, 0, 0);
    if topics > 1 {
        writer.choose_topic(0)?;
    }
    prepare(&shape, in_place, writer.buffer()?, 0);
    while sent < count && !wish.is_aborted() {
        let sequence = sent as u32;
        let deadline = start + cycle * assignment.cycle;
        let opens_cycle = topic == 0;
        if paced && opens_cycle {
            sleep_until(clock, deadline, wish);
        }
        if let Steps::Follows(steps) = role {
            if opens_cycle && !steps.await_step(cycle as u32, &|| !wish.is_aborted())? {
                break;
            }
            if sent == 0 {
                start = clock.now();
            }
        }
        // The offset of another machine's clock is measured anew meanwhile, which is in no time.
        let common = clock.fix();
        let began = common.now();
        if opens_cycle {
            if began >= end && !follows {
                break;
            }
            step_began = began;
        }
        // Stamped last, and before the call: a large sample may keep it for long.
        let mut time = began;
        if let Steps::Announces(announcer) = role {
            if opens_cycle && announcer.announce(cycle as u32, cycle * assignment.cycle)? {
                time = common.now();
            }
        }
        if let Some(codec) = &mut codec {
            let location = codec.locate(writer.buffer()?)?;
            let took = codec.run_at(CodecTask::Encode, location)?;
            time = common.now();
            encodes.add(time, 0, took);
        }
        ensure!(time < sample::MAX_RUN_NS, "a run cannot last longer than 78 hours");
        sample::write_header(writer.buffer()?, Header { sequence, time });
        writer.send()?;
        let written = common.now();
        sent += 1;
        // What need not be done before the answer comes is done meanwhile.
        if paced {
            lateness.add(began.saturating_sub(deadline));
        }
        write.add(written - time);
        record.set_time(sequence, SENT, time);
        record.set_time(sequence, WRITE, written - time);
        if codec.is_some() {
            writes.add(written, 0, written - time);
        }
        let completed = (topic + 1 == topics).then_some(cycle as u32);
        (cycle, topic) = if completed.is_some() { (cycle + 1, 0) } else { (cycle, topic + 1) };
        if sent < count {
            // Who was woken may be waiting for this very processor.
            if size >= LARGE && (paced || discrete) {
                thread::yield_now();
            }
            if topics > 1 {
                writer.choose_topic(topic)?;
            }
            prepare(&shape, in_place, writer.buffer()?, sent as u32);
        }
        let Some(step_number) = completed else { continue };
        if let Steps::Follows(steps) = role {
            steps.acknowledge(step_number)?;
        }
        if let Steps::Announces(announcer) = role {
            if announcer.await_acknowledgements(step_number, patience, &|| !wish.is_aborted())? {
                let done = common.now();
                step.add(done - step_began);
                steps.add(done, 0, done - step_began);
                let news = steps.take_new();
                let ended = !news.is_empty();
                seen.add_steps(news);
                barrier.add(done - written);
                record.set_time(sequence, STEP, done - step_began);
                let missed = assignment.cycle > 0 && done - step_began > assignment.cycle;
                streak.add(missed, step_number.into(), step_began.saturating_sub(start));
                slowest.add(step_number, step_began, done - step_began, clock);
                if ended {
                    slowest.end_window(clock);
                }
            } else {
                timeouts += 1;
                streak.add(true, step_number.into(), step_began.saturating_sub(start));
            }
        }
    }
    if let Steps::Announces(announcer) = role {
        if !wish.is_aborted() {
            announcer.announce_end()?;
        }
    }
    Ok(SenderResult {
        due: assignment.is_paced().then_some(count),
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
        slowest: slowest.into_list(start),
        clocks: Vec::new(),
        usage: Usage::now().since(before),
    })
}

/// Makes a sample ready: its content is there, but where a codec writes it in place. What is there
/// from before goes, so that a byte that the codec does not write is damaged.
fn prepare(shape: &SampleContent, in_place: bool, sample: &mut [u8], sequence: u32) {
    match in_place {
        true => sample.fill(UNWRITTEN),
        false => shape.fill(sample, sequence),
    }
}

/// Sleeps until a deadline, and looks around in a long sleep.
pub fn sleep_until(clock: &Clock, deadline: u64, wish: &RunControl) {
    loop {
        let now = clock.now();
        if now >= deadline || wish.is_aborted() {
            return;
        }
        clock.wait_until(deadline.min(now + SLICE));
    }
}
