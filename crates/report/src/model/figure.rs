//! The figures of a bus, by what they tell of. `docs/bus.md` defines them.

/// What a figure tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureTopic {
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

impl FigureTopic {
    /// All, in the order in which they are shown.
    pub const ALL: [FigureTopic; 8] = [
        FigureTopic::Headroom,
        FigureTopic::Arrival,
        FigureTopic::Time,
        FigureTopic::Step,
        FigureTopic::Cycle,
        FigureTopic::Cost,
        FigureTopic::Clock,
        FigureTopic::Other,
    ];

    /// Heading of the figures.
    pub fn title(self) -> &'static str {
        match self {
            FigureTopic::Headroom => "Headroom",
            FigureTopic::Arrival => "What arrived",
            FigureTopic::Time => "How long it took",
            FigureTopic::Step => "Steps",
            FigureTopic::Cycle => "The cycle",
            FigureTopic::Cost => "What it cost",
            FigureTopic::Clock => "The clock",
            FigureTopic::Other => "Counted",
        }
    }
}

/// What a figure is.
struct FigureDefinition {
    /// Its name, or that of all figures of a distribution: `latency`.
    name: &'static str,
    part: FigureTopic,
    /// What it is, in a sentence without a full stop.
    is: &'static str,
}

#[rustfmt::skip]
const DEFINITIONS: [FigureDefinition; 46] = [
    FigureDefinition { name: "headroom/rate", part: FigureTopic::Headroom, is: "highest rate at which nothing is lost and all stays within the cycle" },
    FigureDefinition { name: "headroom/throughput", part: FigureTopic::Headroom, is: "bytes per second at that rate" },
    FigureDefinition { name: "headroom/size", part: FigureTopic::Headroom, is: "largest sample with which nothing is lost and all stays within the cycle" },
    FigureDefinition { name: "headroom/trials", part: FigureTopic::Headroom, is: "trials of the search" },
    FigureDefinition { name: "headroom/repeated", part: FigureTopic::Headroom, is: "trials that were repeated, as the machine had spoiled them" },
    FigureDefinition { name: "throughput", part: FigureTopic::Arrival, is: "bytes of the windows ÷ the time over which they arrived, or over which they were due where that is longer; without the first three windows and the last" },
    FigureDefinition { name: "throughput/mean", part: FigureTopic::Arrival, is: "mean over the windows of each one's own bytes ÷ length, as the reference has it" },
    FigureDefinition { name: "offered", part: FigureTopic::Arrival, is: "size of a sample ÷ cycle: the throughput if nothing is lost" },
    FigureDefinition { name: "size", part: FigureTopic::Arrival, is: "mean size of an encoded message" },
    FigureDefinition { name: "rate", part: FigureTopic::Arrival, is: "samples of these windows ÷ the same time" },
    FigureDefinition { name: "sent", part: FigureTopic::Arrival, is: "samples that were sent" },
    FigureDefinition { name: "lost", part: FigureTopic::Arrival, is: "sent and not arrived whole, a second after the last one arrived; over all receivers" },
    FigureDefinition { name: "late", part: FigureTopic::Arrival, is: "arrived with a latency of more than a cycle" },
    FigureDefinition { name: "misses", part: FigureTopic::Arrival, is: "longest: the most samples in a row that came late or never, of the worst receiver; in discrete mode the most steps in a row that took longer than the cycle. sequence and at: which was the first of them, and when it was due or began, since the first sample was due" },
    FigureDefinition { name: "unsent", part: FigureTopic::Arrival, is: "due and not sent by the end, as the call that sends took too long" },
    FigureDefinition { name: "reordered", part: FigureTopic::Arrival, is: "arrived after a later one" },
    FigureDefinition { name: "repeated", part: FigureTopic::Arrival, is: "arrived again" },
    FigureDefinition { name: "damaged", part: FigureTopic::Arrival, is: "content is not that of its sequence" },
    FigureDefinition { name: "foreign", part: FigureTopic::Arrival, is: "size, sequence or time that cannot be of this run" },
    FigureDefinition { name: "udp-errors", part: FigureTopic::Arrival, is: "datagrams that the receiver's host could not deliver" },
    FigureDefinition { name: "samples", part: FigureTopic::Arrival, is: "mean number of samples in a window, which is a little longer than a second" },
    FigureDefinition { name: "variance", part: FigureTopic::Arrival, is: "variance of the throughput from window to window, over n − 1, without those in which a hypervisor took time; low and high: its 95% interval, for windows that are normally distributed" },
    FigureDefinition { name: "latency", part: FigureTopic::Time, is: "from before the call that sends to when the receiver has the sample in its hands; of the slowest receiver" },
    FigureDefinition { name: "slowest latency", part: FigureTopic::Time, is: "latency of the slowest receiver alone, by when all have the sample" },
    FigureDefinition { name: "jitter", part: FigureTopic::Time, is: "difference between the latencies of two samples sent one after the other" },
    FigureDefinition { name: "round-trip", part: FigureTopic::Time, is: "from before the call that sends to when the echo of the sample is back" },
    FigureDefinition { name: "round-trip/lost", part: FigureTopic::Time, is: "echoes that did not come back" },
    FigureDefinition { name: "steps", part: FigureTopic::Step, is: "acknowledged steps per second" },
    FigureDefinition { name: "timeouts", part: FigureTopic::Step, is: "steps that were not acknowledged in time" },
    FigureDefinition { name: "step", part: FigureTopic::Step, is: "from before the announcement to the last acknowledgement" },
    FigureDefinition { name: "barrier", part: FigureTopic::Step, is: "from after the sender's own work to the last acknowledgement" },
    FigureDefinition { name: "cycle", part: FigureTopic::Cycle, is: "encode, write, wire, wake-up and decode together" },
    FigureDefinition { name: "cycle/time", part: FigureTopic::Cycle, is: "from sample to sample, as asked for: what there is to spend" },
    FigureDefinition { name: "wake-up", part: FigureTopic::Cycle, is: "from when a sample could be read to when the receiver ran" },
    FigureDefinition { name: "cpu", part: FigureTopic::Cost, is: "processor time of the process ÷ time of the run; 100% is one processor" },
    FigureDefinition { name: "memory", part: FigureTopic::Cost, is: "largest resident memory, in MB of a million bytes" },
    FigureDefinition { name: "write", part: FigureTopic::Cost, is: "time in the call that sends" },
    FigureDefinition { name: "lateness", part: FigureTopic::Cost, is: "how long after its deadline a sample was sent; no part of the latency" },
    FigureDefinition { name: "clock", part: FigureTopic::Clock, is: "the receiver's clock against the timing master's, of the receiver with the largest uncertainty" },
    FigureDefinition { name: "clock/apart", part: FigureTopic::Clock, is: "receivers whose clock is not the sender's: latencies are off by up to the uncertainty" },
    FigureDefinition { name: "clock/offset", part: FigureTopic::Clock, is: "what the timing master's clock is ahead of the receiver's" },
    FigureDefinition { name: "clock/uncertainty", part: FigureTopic::Clock, is: "half of the fastest round trip in which the time was asked for" },
    FigureDefinition { name: "clock/drift", part: FigureTopic::Clock, is: "what the offset grew by from the first to the last time" },
    FigureDefinition { name: "clock/jump", part: FigureTopic::Clock, is: "largest step of the offset beyond its uncertainty" },
    FigureDefinition { name: "valid", part: FigureTopic::Clock, is: "0 if the figures say nothing of the transport; the warning says why" },
    FigureDefinition { name: "complete", part: FigureTopic::Clock, is: "0 if the run broke off: the figures are of the windows before" },
];

/// What a figure tells of.
pub fn figure_topic(metric: &str) -> FigureTopic {
    find(metric).map_or(FigureTopic::Other, |definition| definition.part)
}

/// What a figure is: `lost`, `latency`, `latency/p99.9`.
pub fn definition(metric: &str) -> Option<&'static str> {
    find(metric).map(|definition| definition.is)
}

/// Name under which a figure is defined: `latency` for `latency/p99.9`.
pub fn defined_name(metric: &str) -> Option<&'static str> {
    find(metric).map(|definition| definition.name)
}

fn find(metric: &str) -> Option<&'static FigureDefinition> {
    let named = |name: &str| DEFINITIONS.iter().find(|definition| definition.name == name);
    named(metric).or_else(|| named(metric.split_once('/')?.0))
}

/// Place of a figure in its part.
pub fn display_order(metric: &str) -> usize {
    let name = defined_name(metric);
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
