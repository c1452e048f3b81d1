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
const DEFINITIONS: [FigureDefinition; 49] = [
    FigureDefinition { name: "headroom/rate", part: FigureTopic::Headroom, is: "highest rate at which no sample is lost and everything stays within the cycle" },
    FigureDefinition { name: "headroom/throughput", part: FigureTopic::Headroom, is: "bytes per second at that rate" },
    FigureDefinition { name: "headroom/size", part: FigureTopic::Headroom, is: "largest sample size at which no sample is lost and everything stays within the cycle" },
    FigureDefinition { name: "headroom/trials", part: FigureTopic::Headroom, is: "trials of the search" },
    FigureDefinition { name: "headroom/repeated", part: FigureTopic::Headroom, is: "trials that were repeated because the machine disturbed them" },
    FigureDefinition { name: "throughput", part: FigureTopic::Arrival, is: "bytes of the windows ÷ the time in which they arrived, or in which they were due if that is longer; without the first three windows and the last" },
    FigureDefinition { name: "throughput/mean", part: FigureTopic::Arrival, is: "mean over the windows of bytes ÷ length of the window, as in the publication" },
    FigureDefinition { name: "topics", part: FigureTopic::Arrival, is: "topics that each receiver reads, of all senders together" },
    FigureDefinition { name: "senders", part: FigureTopic::Arrival, is: "participants that send" },
    FigureDefinition { name: "offered", part: FigureTopic::Arrival, is: "size of a sample ÷ cycle, times the number of topics: the throughput if nothing is lost" },
    FigureDefinition { name: "size", part: FigureTopic::Arrival, is: "mean size of an encoded message" },
    FigureDefinition { name: "rate", part: FigureTopic::Arrival, is: "samples of the windows ÷ the same time" },
    FigureDefinition { name: "sent", part: FigureTopic::Arrival, is: "samples that were sent" },
    FigureDefinition { name: "lost", part: FigureTopic::Arrival, is: "samples that had not arrived whole one second after the last arrival; sum over all receivers" },
    FigureDefinition { name: "late", part: FigureTopic::Arrival, is: "samples with a latency of more than a cycle" },
    FigureDefinition { name: "misses", part: FigureTopic::Arrival, is: "longest: the most consecutive samples that came late or never, at the worst receiver; in discrete mode the most consecutive steps that took longer than the cycle. sequence and at: the first of them, and when it was due or began, counted from when the first sample was due" },
    FigureDefinition { name: "unsent", part: FigureTopic::Arrival, is: "samples that were due but not sent by the end, because the send call took too long" },
    FigureDefinition { name: "reordered", part: FigureTopic::Arrival, is: "samples that arrived after a later one" },
    FigureDefinition { name: "repeated", part: FigureTopic::Arrival, is: "arrived again" },
    FigureDefinition { name: "damaged", part: FigureTopic::Arrival, is: "samples with content that does not belong to their sequence number" },
    FigureDefinition { name: "foreign", part: FigureTopic::Arrival, is: "samples with a size, sequence number or time that this run did not send" },
    FigureDefinition { name: "udp-errors", part: FigureTopic::Arrival, is: "datagrams that the receiver's host could not deliver" },
    FigureDefinition { name: "samples", part: FigureTopic::Arrival, is: "mean number of samples in a window, which is a little longer than a second" },
    FigureDefinition { name: "variance", part: FigureTopic::Arrival, is: "variance of the throughput from window to window, divided by n − 1, without windows in which a hypervisor took time; low and high: its 95% interval, if windows are normally distributed" },
    FigureDefinition { name: "latency", part: FigureTopic::Time, is: "from before the send call until the receiver has the sample; of the slowest receiver" },
    FigureDefinition { name: "slowest latency", part: FigureTopic::Time, is: "latency of the slowest receiver: the time until all receivers have the sample" },
    FigureDefinition { name: "topic", part: FigureTopic::Time, is: "p99: the largest p99 that the latencies of a single topic have; number: which topic that is" },
    FigureDefinition { name: "jitter", part: FigureTopic::Time, is: "difference between the latencies of two samples sent one after the other" },
    FigureDefinition { name: "round-trip", part: FigureTopic::Time, is: "from before the send call until the echo of the sample is back" },
    FigureDefinition { name: "round-trip/lost", part: FigureTopic::Time, is: "echoes that did not come back" },
    FigureDefinition { name: "steps", part: FigureTopic::Step, is: "acknowledged steps per second" },
    FigureDefinition { name: "timeouts", part: FigureTopic::Step, is: "steps that were not acknowledged in time" },
    FigureDefinition { name: "step", part: FigureTopic::Step, is: "from before the announcement to the last acknowledgement" },
    FigureDefinition { name: "barrier", part: FigureTopic::Step, is: "from after the sender's own work to the last acknowledgement" },
    FigureDefinition { name: "cycle", part: FigureTopic::Cycle, is: "encode, write, wire, wake-up and decode together" },
    FigureDefinition { name: "cycle/time", part: FigureTopic::Cycle, is: "the requested time from sample to sample" },
    FigureDefinition { name: "wake-up", part: FigureTopic::Cycle, is: "from when a sample could be read until the receiver ran" },
    FigureDefinition { name: "cpu", part: FigureTopic::Cost, is: "processor time of the process ÷ time of the run; 100% is one processor" },
    FigureDefinition { name: "memory", part: FigureTopic::Cost, is: "largest resident memory, in MB of a million bytes" },
    FigureDefinition { name: "write", part: FigureTopic::Cost, is: "time in the send call" },
    FigureDefinition { name: "lateness", part: FigureTopic::Cost, is: "how long after its deadline a sample was sent; not part of the latency" },
    FigureDefinition { name: "clock", part: FigureTopic::Clock, is: "the difference between the receiver's clock and the timing master's, of the receiver with the largest uncertainty; sender: the same of a sender" },
    FigureDefinition { name: "clock/apart", part: FigureTopic::Clock, is: "participants with another clock than the timing master: their latencies have an error of up to the uncertainty" },
    FigureDefinition { name: "clock/offset", part: FigureTopic::Clock, is: "how far the timing master's clock is ahead of the participant's" },
    FigureDefinition { name: "clock/uncertainty", part: FigureTopic::Clock, is: "half of the fastest round trip of a clock request, the largest of the run, for a latency those of receiver and sender together" },
    FigureDefinition { name: "clock/drift", part: FigureTopic::Clock, is: "how much the offset grew from the first to the last measurement" },
    FigureDefinition { name: "clock/jump", part: FigureTopic::Clock, is: "largest step of the offset beyond its uncertainty" },
    FigureDefinition { name: "valid", part: FigureTopic::Clock, is: "0 if the figures do not describe the transport; the warning says why" },
    FigureDefinition { name: "complete", part: FigureTopic::Clock, is: "0 if the run ended early: the figures are from the windows before that" },
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
        Some(("clock", name)) => !name.ends_with("jump"),
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
