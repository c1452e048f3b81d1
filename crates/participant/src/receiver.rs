//! A receiver.

use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Result;

use crate::codec_process::{CodecProcess, CodecTask};
use crate::control::{Mode, ReceiverResult};
use crate::lockstep::StepReceiver;
use crate::run_context::RunContext;
use crate::sample::{loss_timeout, SampleContent, SampleError};
use crate::sample_times::SampleTimes;
use crate::sequence::Sequence;
use crate::transport::Reader;
use crate::window::Windows;
use wiregauge_timing::latency::TimeHistogram;
use wiregauge_timing::misses::OnTimeSamples;
use wiregauge_timing::slowest::SlowestSamples;
use wiregauge_timing::usage::Usage;

/// Longest wait for a sample between two looks at whether to go on.
const SLICE: Duration = Duration::from_millis(100);

/// Receives samples until all that were sent are there, or no more come, and
/// keeps when each came.
///
/// # Errors
/// When the transport fails or the timing master is gone.
pub fn run(
    duty: &RunContext,
    reader: &mut dyn Reader,
    mut steps: Option<&mut StepReceiver>,
    mut codec: Option<&mut CodecProcess>,
    record: &mut SampleTimes<1>,
) -> Result<ReceiverResult> {
    let &RunContext { assignment, clock, wish, seen } = duty;
    let count = assignment.count();
    let message = codec.as_ref().map(|codec| codec.encoded.clone());
    let (size, seed) = (assignment.topic.size, assignment.seed);
    let shape = SampleContent { size, seed, count, message: message.as_deref() };
    let [mut windows, mut decodes] = [(); 2].map(|()| Windows::new(assignment.window));
    let mut sequence = Sequence::default();
    let (mut latencies, mut jitters) = (TimeHistogram::new(), TimeHistogram::new());
    let mut received = ReceiverResult::default();
    let mut last: Option<(u32, u64)> = None;
    // The sender's time for the first sample, as the best of all samples says.
    let mut first_due = u64::MAX;
    let paced = assignment.is_paced();
    let in_continuous = assignment.mode == Mode::Continuous;
    let mut in_time = OnTimeSamples::new(if paced && in_continuous { count } else { 0 })?;
    // How long it waits in the end for what is missing, since the last one came.
    let linger = loss_timeout(size);
    let mut quiet_since = clock.now();
    let mut slowest = SlowestSamples::new(clock);
    let before = Usage::now();
    while !wish.is_aborted() {
        if let Some(sent) = wish.sent_count() {
            let now = clock.now();
            let since = quiet_since.max(wish.finished_at());
            if sequence.received >= sent || now.saturating_sub(since) > linger {
                break;
            }
        }
        reader.deliver(SLICE, &mut |sample| {
            let now = clock.now();
            let header = match shape.check(sample, now) {
                Ok(header) => header,
                Err(wrong) => {
                    match wrong {
                        SampleError::Damaged => received.damaged += 1,
                        SampleError::Foreign => received.foreign += 1,
                    }
                    return Ok(ControlFlow::Continue(()));
                }
            };
            // What others send without end does not keep it waiting.
            quiet_since = now;
            let new = sequence.add(header.sequence);
            if let Some(codec) = codec.as_mut().filter(|_| new) {
                let time = codec.run(CodecTask::Decode)?;
                decodes.add(clock.now(), 0, time);
            }
            // The timing master waits for it: first of all.
            let step = header.sequence;
            if let Some(steps) = &mut steps {
                if !assignment.announced || steps.await_step(step, &|| !wish.is_aborted())? {
                    steps.acknowledge(step)?;
                }
            }
            if new {
                let latency = now.saturating_sub(header.time);
                let pace = if paced { u64::from(header.sequence) * assignment.cycle } else { 0 };
                first_due = first_due.min(header.time.saturating_sub(pace));
                let due = if paced { first_due + pace } else { now };
                windows.add_due(now, shape.size as u64, latency, due);
                let news = windows.take_new();
                let ended = !news.is_empty();
                seen.add_windows(news);
                latencies.add(latency);
                if let Some((before, of_before)) = last {
                    if header.sequence == before.wrapping_add(1) {
                        jitters.add(latency.abs_diff(of_before));
                    }
                }
                last = Some((header.sequence, latency));
                let late = assignment.cycle > 0 && latency > assignment.cycle;
                received.late += u64::from(late);
                if !late {
                    in_time.add(header.sequence);
                }
                record.set_time(header.sequence, 0, now);
                if assignment.cycle > 0 {
                    slowest.add(header.sequence, header.time, latency, clock);
                    if ended {
                        slowest.end_window(clock);
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    if let Some(sent) = wish.sent_count().filter(|_| paced && in_continuous) {
        received.misses = in_time.misses(sent, assignment.cycle);
    }
    received.slowest = slowest.into_list(first_due);
    received.samples = sequence.received;
    received.reordered = sequence.reordered;
    received.repeated = sequence.repeated;
    received.windows = windows.closed();
    received.decodes = decodes.closed();
    received.latency = latencies.distribution();
    received.jitter = jitters.distribution();
    received.usage = Usage::now().since(before);
    Ok(received)
}
