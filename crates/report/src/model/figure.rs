//! The figures of a bus, by what they tell of. `docs/bus.md` defines them.

/// What a figure tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What was searched for.
    Headroom,
    /// Throughput and losses.
    Arrival,
    /// Latency and jitter.
    Time,
    /// Lockstep.
    Step,
    /// What a codec and its transport take of a cycle.
    Cycle,
    /// Processor, memory, and the sender's own times.
    Cost,
    /// The common time.
    Clock,
    /// Whatever else was counted.
    Other,
}

impl Part {
    /// All, in the order in which they are shown.
    pub const ALL: [Part; 8] = [
        Part::Headroom,
        Part::Arrival,
        Part::Time,
        Part::Step,
        Part::Cycle,
        Part::Cost,
        Part::Clock,
        Part::Other,
    ];

    /// Heading of the figures.
    pub fn title(self) -> &'static str {
        match self {
            Part::Headroom => "Headroom",
            Part::Arrival => "What arrived",
            Part::Time => "How long it took",
            Part::Step => "Steps",
            Part::Cycle => "The cycle",
            Part::Cost => "What it cost",
            Part::Clock => "The clock",
            Part::Other => "Counted",
        }
    }
}

/// What a figure is.
struct Definition {
    /// Its name, or that of all figures of a distribution: `latency`.
    name: &'static str,
    part: Part,
    /// What it is, in a sentence without a full stop.
    is: &'static str,
}

#[rustfmt::skip]
const DEFINITIONS: [Definition; 46] = [
    Definition { name: "headroom/rate", part: Part::Headroom, is: "highest rate at which nothing is lost and all stays within the cycle" },
    Definition { name: "headroom/throughput", part: Part::Headroom, is: "bytes per second at that rate" },
    Definition { name: "headroom/size", part: Part::Headroom, is: "largest sample with which nothing is lost and all stays within the cycle" },
    Definition { name: "headroom/trials", part: Part::Headroom, is: "trials of the search" },
    Definition { name: "headroom/repeated", part: Part::Headroom, is: "trials that were repeated, as the machine had spoiled them" },
    Definition { name: "throughput", part: Part::Arrival, is: "bytes of the windows ÷ the time over which they arrived, or over which they were due where that is longer; without the first three windows and the last" },
    Definition { name: "throughput/mean", part: Part::Arrival, is: "mean over the windows of each one's own bytes ÷ length, as the reference has it" },
    Definition { name: "offered", part: Part::Arrival, is: "size of a sample ÷ cycle: the throughput if nothing is lost" },
    Definition { name: "size", part: Part::Arrival, is: "mean size of an encoded message" },
    Definition { name: "rate", part: Part::Arrival, is: "samples of these windows ÷ the same time" },
    Definition { name: "sent", part: Part::Arrival, is: "samples that were sent" },
    Definition { name: "lost", part: Part::Arrival, is: "sent and not arrived whole, a second after the last one arrived; over all receivers" },
    Definition { name: "late", part: Part::Arrival, is: "arrived with a latency of more than a cycle" },
    Definition { name: "misses", part: Part::Arrival, is: "longest: the most samples in a row that came late or never, of the worst receiver; in discrete mode the most steps in a row that took longer than the cycle. sequence and at: which was the first of them, and when it was due or began, since the first sample was due" },
    Definition { name: "unsent", part: Part::Arrival, is: "due and not sent by the end, as the call that sends took too long" },
    Definition { name: "reordered", part: Part::Arrival, is: "arrived after a later one" },
    Definition { name: "repeated", part: Part::Arrival, is: "arrived again" },
    Definition { name: "damaged", part: Part::Arrival, is: "content is not that of its sequence" },
    Definition { name: "foreign", part: Part::Arrival, is: "size, sequence or time that cannot be of this run" },
    Definition { name: "udp-errors", part: Part::Arrival, is: "datagrams that the receiver's host could not deliver" },
    Definition { name: "samples", part: Part::Arrival, is: "mean number of samples in a window, which is a little longer than a second" },
    Definition { name: "variance", part: Part::Arrival, is: "variance of the throughput from window to window, over n − 1, without those in which a hypervisor took time; low and high: its 95% interval, for windows that are normally distributed" },
    Definition { name: "latency", part: Part::Time, is: "from before the call that sends to when the receiver has the sample in its hands; of the slowest receiver" },
    Definition { name: "slowest latency", part: Part::Time, is: "latency of the slowest receiver alone, by when all have the sample" },
    Definition { name: "jitter", part: Part::Time, is: "difference between the latencies of two samples sent one after the other" },
    Definition { name: "round-trip", part: Part::Time, is: "from before the call that sends to when the echo of the sample is back" },
    Definition { name: "round-trip/lost", part: Part::Time, is: "echoes that did not come back" },
    Definition { name: "steps", part: Part::Step, is: "acknowledged steps per second" },
    Definition { name: "timeouts", part: Part::Step, is: "steps that were not acknowledged in time" },
    Definition { name: "step", part: Part::Step, is: "from before the announcement to the last acknowledgement" },
    Definition { name: "barrier", part: Part::Step, is: "from after the sender's own work to the last acknowledgement" },
    Definition { name: "cycle", part: Part::Cycle, is: "encode, write, wire, wake-up and decode together" },
    Definition { name: "cycle/time", part: Part::Cycle, is: "from sample to sample, as asked for: what there is to spend" },
    Definition { name: "wake-up", part: Part::Cycle, is: "from when a sample could be read to when the receiver ran" },
    Definition { name: "cpu", part: Part::Cost, is: "processor time of the process ÷ time of the run; 100% is one processor" },
    Definition { name: "memory", part: Part::Cost, is: "largest resident memory, in MB of a million bytes" },
    Definition { name: "write", part: Part::Cost, is: "time in the call that sends" },
    Definition { name: "lateness", part: Part::Cost, is: "how long after its deadline a sample was sent; no part of the latency" },
    Definition { name: "clock", part: Part::Clock, is: "the receiver's clock against the timing master's, of the receiver with the largest uncertainty" },
    Definition { name: "clock/apart", part: Part::Clock, is: "receivers whose clock is not the sender's: latencies are off by up to the uncertainty" },
    Definition { name: "clock/offset", part: Part::Clock, is: "what the timing master's clock is ahead of the receiver's" },
    Definition { name: "clock/uncertainty", part: Part::Clock, is: "half of the fastest round trip in which the time was asked for" },
    Definition { name: "clock/drift", part: Part::Clock, is: "what the offset grew by from the first to the last time" },
    Definition { name: "clock/jump", part: Part::Clock, is: "largest step of the offset beyond its uncertainty" },
    Definition { name: "valid", part: Part::Clock, is: "0 if the figures say nothing of the transport; the warning says why" },
    Definition { name: "complete", part: Part::Clock, is: "0 if the run broke off: the figures are of the windows before" },
];

/// What a figure tells of.
pub fn part(metric: &str) -> Part {
    find(metric).map_or(Part::Other, |definition| definition.part)
}

/// What a figure is: `lost`, `latency`, `latency/p99.9`.
pub fn definition(metric: &str) -> Option<&'static str> {
    find(metric).map(|definition| definition.is)
}

/// Name under which a figure is defined: `latency` for `latency/p99.9`.
pub fn defined_as(metric: &str) -> Option<&'static str> {
    find(metric).map(|definition| definition.name)
}

fn find(metric: &str) -> Option<&'static Definition> {
    let named = |name: &str| DEFINITIONS.iter().find(|definition| definition.name == name);
    named(metric).or_else(|| named(metric.split_once('/')?.0))
}

/// Place of a figure in its part.
pub fn place(metric: &str) -> usize {
    let name = defined_as(metric);
    DEFINITIONS.iter().position(|d| Some(d.name) == name).unwrap_or(DEFINITIONS.len())
}

/// Whether there is something wrong as soon as the count is not 0.
pub fn is_loss(metric: &str) -> bool {
    ["lost", "damaged", "foreign", "timeouts"].contains(&metric)
}

/// Whether a short table does without it: the clock, and times between those
/// that matter.
pub fn is_detail(metric: &str) -> bool {
    match metric.split_once('/') {
        Some(("clock", name)) => name != "jump",
        Some(("misses", name)) => name != "longest",
        Some(("throughput" | "variance", _)) => true,
        Some(("latency" | "step", share)) => share == "p90",
        Some(("jitter" | "write" | "round-trip" | "wake-up", share)) => {
            ["p90", "p99.9"].contains(&share)
        }
        Some(("barrier" | "lateness", share)) => !["p99", "max"].contains(&share),
        _ => false,
    }
}
