//! What decoders make of corrupt bytes, each in a process that may die of it.

use std::time::Duration;

use crate::runners::corrupt::{Corruptions, DecodeOutcome, OutcomeCounts};
use crate::runners::plan::Plan;
use wiregauge_child_process::child::Limits;
use wiregauge_child_process::runner::{Launch, Runner, RunnerError};

/// How much processor time a decoder may take over one corrupt message.
const MOST_TIME: Duration = Duration::from_secs(2);
/// What a decoder may have on the heap: this much, and more for each byte that
/// it was given. A fifty-fold expansion is generous for every format.
const HEAP: u64 = 64 << 20;
const HEAP_PER_BYTE: u64 = 64;

/// Feeds a decoder as many corruptions of `wire` as are planned and counts what became of
/// them. `canonical` is what the sound bytes hold.
pub fn corrupt(
    plan: &Plan,
    launch: &Launch,
    wire: &[u8],
    canonical: &[u8],
) -> Result<OutcomeCounts, RunnerError> {
    let heap = HEAP + HEAP_PER_BYTE * wire.len() as u64;
    let settings = [("WIREGAUGE_ALLOC_LIMIT", heap.to_string())];
    let start = || {
        // Room for the program itself, its libraries and stacks.
        let limits = Limits { address_space: Some(heap + (1 << 30)), ..Limits::default() };
        let counter = plan.counter.as_ref().map(|path| (path, &settings[..]));
        Runner::start(launch, limits, counter, plan.patience)
    };
    let mut runner = start()?;
    let mut tally = OutcomeCounts::default();
    let corruptions = Corruptions::new(plan.settings.seed);
    for (_, bytes) in corruptions.corrupted_forms(wire).take(plan.corruptions as usize) {
        let outcome = match runner.decode_within(&bytes, MOST_TIME) {
            Ok(found) if found == canonical => DecodeOutcome::Same,
            Ok(_) => DecodeOutcome::Different,
            Err(RunnerError::Refused(_) | RunnerError::Rejected(_)) => DecodeOutcome::Rejected,
            Err(RunnerError::Broken(broken)) => match DecodeOutcome::from_failure(&broken) {
                Some(outcome) => {
                    runner = start()?;
                    outcome
                }
                None => return Err(RunnerError::Broken(broken)),
            },
        };
        tally.add(outcome);
    }
    Ok(tally)
}
