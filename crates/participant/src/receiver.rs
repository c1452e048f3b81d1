//! A receiver.

use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::codec_process::{CodecProcess, CodecTask};
use crate::control::{Mode, ReceiverResult};
use crate::lockstep::StepReceiver;
use crate::run_context::RunContext;
use crate::sample::{loss_timeout, Message, SampleContent, SampleError};
use crate::sample_times::SampleTimes;
use crate::sequence::Sequence;
use crate::topics::seed_of_sender;
use crate::transport::Reader;
use crate::window::Windows;
use wiregauge_timing::latency::TimeHistogram;
use wiregauge_timing::misses::OnTimeSamples;
use wiregauge_timing::slowest::SlowestSamples;
use wiregauge_timing::usage::Usage;

/// Longest wait for a sample between two looks at whether to go on.
const SLICE: Duration = Duration::from_millis(100);

/// Receives samples until all that were sent are there, or no more come, and
/// keeps when each came. No sample of the run was sent before it has begun, in nanoseconds since
/// the epoch.
///
/// # Errors
/// When the transport fails or the timing master is gone.
pub fn run(
    duty: &RunContext,
    begun: u64,
    reader: &mut dyn Reader,
    steps: Option<&mut StepReceiver>,
    codec: Option<&mut CodecProcess>,
    record: &mut SampleTimes<1>,
) -> Result<ReceiverResult> {
    let &RunContext { assignment, clock, wish, .. } = duty;
    let encoded = codec.as_ref().map(|codec| codec.encoded.clone());
    let start = codec.as_ref().map_or(0, |codec| codec.message().start);
    let message = encoded.as_deref().map(|bytes| Message { bytes, start });
    // How long it waits in the end for what is missing, since the last one came.
    let linger = loss_timeout(assignment.topic.size);
    let mut reception = Reception::new(duty, begun, message, steps, codec, record)?;
    let before = Usage::now();
    while !wish.is_aborted() {
        if let Some(sent) = wish.sent_count() {
            let now = clock.now();
            let since = reception.quiet_since.max(wish.finished_at(clock));
            if reception.arrived >= sent || now.saturating_sub(since) > linger {
                break;
            }
        }
        if assignment.topic.several.is_none() {
            reader.deliver(SLICE, &mut |sample| reception.take(0, sample))?;
        } else {
            reader.deliver_any(SLICE, &mut |topic, sample| reception.take(topic, sample))?;
        }
    }
    Ok(ReceiverResult { usage: Usage::now().since(before), ..reception.finish() })
}

/// What came over a topic.
struct TopicArrivals {
    sequence: Sequence,
    /// The last new sample, and its latency.
    last: Option<(u32, u64)>,
    /// The sender's time for the first sample, as the best of all samples says.
    first_due: u64,
    in_time: OnTimeSamples,
    /// Where there are several.
    latencies: Option<TimeHistogram>,
}

/// What came until now.
struct Reception<'a> {
    duty: &'a RunContext<'a>,
    steps: Option<&'a mut StepReceiver>,
    codec: Option<&'a mut CodecProcess>,
    record: &'a mut SampleTimes<1>,
    begun: u64,
    /// The samples of the round trips, which went over the first topic before it has begun.
    pings: SampleContent<'a>,
    /// Of each sender.
    shapes: Vec<SampleContent<'a>>,
    /// How many topics a sender has.
    each: usize,
    topics: Vec<TopicArrivals>,
    paced: bool,
    /// Different samples, of all topics.
    arrived: u64,
    quiet_since: u64,
    /// The step of which samples came last, and how many.
    step: (u32, usize),
    windows: Windows,
    decodes: Windows,
    latencies: TimeHistogram,
    jitters: TimeHistogram,
    slowest: SlowestSamples,
    received: ReceiverResult,
}

impl<'a> Reception<'a> {
    fn new(
        duty: &'a RunContext<'a>,
        begun: u64,
        message: Option<Message<'a>>,
        steps: Option<&'a mut StepReceiver>,
        codec: Option<&'a mut CodecProcess>,
        record: &'a mut SampleTimes<1>,
    ) -> Result<Reception<'a>> {
        let &RunContext { assignment, clock, .. } = duty;
        let (count, topic) = (assignment.count(), &assignment.topic);
        let shape = |sender| {
            let seed = seed_of_sender(assignment.seed, sender);
            SampleContent { size: topic.size, seed, count, message }
        };
        let (senders, each) = (topic.senders(), topic.topics_of_sender());
        let pings = SampleContent { count: assignment.round_trips, ..shape(0) };
        let paced = assignment.is_paced();
        let checked = paced && assignment.mode == Mode::Continuous;
        let arrivals = || -> Result<TopicArrivals> {
            Ok(TopicArrivals {
                sequence: Sequence::default(),
                last: None,
                first_due: u64::MAX,
                in_time: OnTimeSamples::new(if checked { count / each as u64 } else { 0 })?,
                latencies: topic.several.map(|_| TimeHistogram::new()),
            })
        };
        Ok(Reception {
            duty,
            steps,
            codec,
            record,
            begun,
            pings,
            shapes: (0..senders).map(shape).collect(),
            each,
            topics: (0..senders * each).map(|_| arrivals()).collect::<Result<_>>()?,
            paced,
            arrived: 0,
            quiet_since: clock.now(),
            step: (0, 0),
            windows: Windows::new(assignment.window),
            decodes: Windows::new(assignment.window),
            latencies: TimeHistogram::new(),
            jitters: TimeHistogram::new(),
            slowest: SlowestSamples::new(clock),
            received: ReceiverResult::default(),
        })
    }

    /// Takes a sample that came over a topic.
    fn take(&mut self, topic: usize, sample: &[u8]) -> Result<ControlFlow<()>> {
        let &RunContext { assignment, clock, wish, seen } = self.duty;
        let now = clock.now();
        // On a loaded machine one of the last round trips may come now, which is none of the run's.
        if topic == 0 && self.pings.is_from_before(self.begun, sample, now) {
            return Ok(ControlFlow::Continue(()));
        }
        let (sender, place) = self.split(topic);
        let shape = self.shapes.get(sender).context("a sample came over an unknown topic")?;
        let header = match shape.check(sample, now) {
            Ok(header) => header,
            Err(wrong) => {
                match wrong {
                    SampleError::Damaged => self.received.damaged += 1,
                    SampleError::Foreign => self.received.foreign += 1,
                }
                return Ok(ControlFlow::Continue(()));
            }
        };
        // The sequence is over all topics of a sender, which take turns.
        let (number, own_place) = self.split(header.sequence as usize);
        if own_place != place {
            self.received.damaged += 1;
            return Ok(ControlFlow::Continue(()));
        }
        let number = number as u32;
        // What others send without end does not keep it waiting.
        self.quiet_since = now;
        let topics = self.topics.len();
        let arrivals = &mut self.topics[topic];
        let new = arrivals.sequence.add(number);
        if let Some(codec) = self.codec.as_mut().filter(|_| new) {
            let location = codec.locate(sample)?;
            let time = codec.run_at(CodecTask::Decode, location)?;
            self.decodes.add(clock.now(), 0, time);
        }
        // The timing master waits for it: first of all.
        if let Some(steps) = &mut self.steps {
            let complete = topics == 1 || (new && completes(&mut self.step, number, topics));
            if complete
                && (!assignment.announced || steps.await_step(number, &|| !wish.is_aborted())?)
            {
                steps.acknowledge(number)?;
            }
        }
        if !new {
            return Ok(ControlFlow::Continue(()));
        }
        self.arrived += 1;
        let latency = now.saturating_sub(header.time);
        let pace = if self.paced { u64::from(number) * assignment.cycle } else { 0 };
        arrivals.first_due = arrivals.first_due.min(header.time.saturating_sub(pace));
        let due = if self.paced { arrivals.first_due + pace } else { now };
        self.windows.add_due(now, shape.carried() as u64, latency, due);
        let news = self.windows.take_new();
        let ended = !news.is_empty();
        seen.add_windows(news);
        self.latencies.add(latency);
        if let Some(latencies) = &mut arrivals.latencies {
            latencies.add(latency);
        }
        if let Some((before, of_before)) = arrivals.last {
            if number == before.wrapping_add(1) {
                self.jitters.add(latency.abs_diff(of_before));
            }
        }
        arrivals.last = Some((number, latency));
        let late = assignment.cycle > 0 && latency > assignment.cycle;
        self.received.late += u64::from(late);
        if !late {
            arrivals.in_time.add(number);
        }
        self.record.set_time(header.sequence, 0, now);
        if assignment.cycle > 0 {
            self.slowest.add(header.sequence, header.time, latency, clock);
            if ended {
                self.slowest.end_window(clock);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// What stands before and behind the comma of a number over the topics of a sender.
    fn split(&self, number: usize) -> (usize, usize) {
        match self.each {
            1 => (number, 0),
            each => (number / each, number % each),
        }
    }

    /// What came of all.
    fn finish(self) -> ReceiverResult {
        let RunContext { assignment, wish, .. } = self.duty;
        let mut received = self.received;
        if wish.sent_count().is_some() && self.paced && assignment.mode == Mode::Continuous {
            let sent = wish.sent_counts();
            let each = self.each as u64;
            for (topic, arrivals) in (0..).zip(&self.topics) {
                let (sender, place) = (topic as usize / self.each, topic % each);
                let sent = sent.get(sender).copied().unwrap_or(0);
                let own = sent.saturating_sub(place).div_ceil(each);
                let mut misses = arrivals.in_time.misses(own, assignment.cycle);
                misses.sequence = misses.sequence * each + place;
                if topic == 0 || misses.longest > received.misses.longest {
                    received.misses = misses;
                }
            }
        }
        let sum = |of: fn(&Sequence) -> u64| self.topics.iter().map(|all| of(&all.sequence)).sum();
        received.samples = sum(|sequence| sequence.received);
        received.reordered = sum(|sequence| sequence.reordered);
        received.repeated = sum(|sequence| sequence.repeated);
        let first_due = self.topics.iter().map(|arrivals| arrivals.first_due).min();
        received.slowest = self.slowest.into_list(first_due.unwrap_or(u64::MAX));
        let each = (1..).zip(&self.topics).filter_map(|(number, arrivals)| {
            Some((number, arrivals.latencies.as_ref()?.distribution()))
        });
        received.slowest_topic = each
            .filter(|(_, times)| times.count > 0)
            .max_by_key(|(_, times)| (times.quantile(0.99), times.most));
        received.windows = self.windows.closed();
        received.decodes = self.decodes.closed();
        received.latency = self.latencies.distribution();
        received.jitter = self.jitters.distribution();
        received
    }
}

/// Whether all samples of a step have come with this one. Those of a step that was given up may come
/// later, and complete nothing.
fn completes((step, came): &mut (u32, usize), number: u32, wanted: usize) -> bool {
    if number > *step {
        (*step, *came) = (number, 0);
    }
    *came += usize::from(number == *step);
    number == *step && *came == wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Assignment, Role};
    use crate::lockstep::StepAnnouncer;
    use crate::progress::ProgressBuffer;
    use crate::run_context::RunControl;
    use crate::sample::{write_header, Header};
    use crate::transport::{Topic, TopicSet};
    use wiregauge_timing::clock::{monotonic, Clock};

    fn assignment(several: Option<TopicSet>) -> Assignment {
        Assignment {
            role: Role::Receiver,
            transport: "tcp".into(),
            topic: Topic { several, size: 100, ..Topic::example(&[]) },
            seed: 7,
            mode: Mode::Discrete,
            cycle: 1_000_000,
            fast: false,
            duration: 10_000_000,
            window: 1_000_000,
            announced: false,
            patience: 1_000_000,
            round_trips: 0,
            alive: 1_000_000_000,
            realtime: Default::default(),
            coding: None,
            keep: 0,
        }
    }

    #[test]
    fn a_round_trip_that_comes_late_is_no_sample_of_the_run() {
        let assignment = Assignment { round_trips: 1000, ..assignment(None) };
        let (clock, wish) = (Clock::new(monotonic()), RunControl::default());
        let seen = ProgressBuffer::default();
        let duty = RunContext { assignment: &assignment, clock: &clock, wish: &wish, seen: &seen };
        let mut record = SampleTimes::new(0).unwrap();
        let begun = 1000;
        let mut reception = Reception::new(&duty, begun, None, None, None, &mut record).unwrap();
        // The second one has no sequence that the run has, and the third was damaged.
        for (sequence, time, damage) in [(9, 999, 0), (900, 999, 0), (8, 999, 1), (0, 1000, 0)] {
            let mut sample = [0; 100];
            reception.pings.fill(&mut sample, sequence);
            write_header(&mut sample, Header { sequence, time });
            sample[99] ^= damage;
            let _ = reception.take(0, &sample).unwrap();
        }
        let received = &reception.received;
        assert_eq!((reception.arrived, received.damaged, received.foreign), (1, 1, 0));
        let arrivals = &reception.topics[0];
        assert_eq!(arrivals.last.map(|(number, _)| number), Some(0));
    }

    #[test]
    fn a_step_is_acknowledged_when_the_samples_of_all_senders_have_come() {
        let assignment = assignment(Some(TopicSet { senders: 2, each: 1, sender: 0 }));
        let mut announcer = StepAnnouncer::open([127, 0, 0, 1].into(), "").unwrap();
        let mut steps = StepReceiver::follow(announcer.address().unwrap(), "", false).unwrap();
        announcer.await_followers(1, Duration::from_secs(5)).unwrap();
        let (clock, wish) = (Clock::new(monotonic()), RunControl::default());
        let seen = ProgressBuffer::default();
        let duty = RunContext { assignment: &assignment, clock: &clock, wish: &wish, seen: &seen };
        let mut record = SampleTimes::new(0).unwrap();
        let mut reception =
            Reception::new(&duty, 0, None, Some(&mut steps), None, &mut record).unwrap();
        let mut take = |sender: usize, sequence| {
            let mut sample = [0; 100];
            reception.shapes[sender].fill(&mut sample, sequence);
            write_header(&mut sample, Header { sequence, time: clock.now() });
            let _ = reception.take(sender, &sample).unwrap();
        };
        for step in 0..2 {
            // Once more is not another.
            (0..2).for_each(|_| take(1, step));
            let soon = Duration::from_millis(60);
            assert!(!announcer.await_acknowledgements(step, soon, &|| true).unwrap());
            take(0, step);
            let later = Duration::from_secs(5);
            assert!(announcer.await_acknowledgements(step, later, &|| true).unwrap());
        }
    }

    #[test]
    fn a_step_is_complete_with_its_last_sample() {
        let mut step = (0, 0);
        let came: Vec<bool> =
            [0, 0, 1, 0, 1, 2, 2].map(|number| completes(&mut step, number, 2)).into();
        assert_eq!(came, [false, true, false, false, true, false, true]);
    }
}
