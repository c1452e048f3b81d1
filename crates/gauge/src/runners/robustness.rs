//! What decoders make of corrupt bytes, each in a process that may die of it.

use std::path::PathBuf;
use std::time::Duration;

use crate::runners::corrupt::{Corruptions, Outcome, Tally};
use wiregauge_conversation::child::Limits;
use wiregauge_conversation::runner::{Launch, Runner, Trouble};

/// How long a decoder may take over one corrupt message.
const PATIENCE: Duration = Duration::from_secs(2);
/// What a decoder may have on the heap: this much, and more for each byte that
/// it was given. A fifty-fold expansion is generous for every format.
const HEAP: u64 = 64 << 20;
const HEAP_PER_BYTE: u64 = 64;

/// Feeds a decoder `count` corruptions of `wire` and counts what became of
/// them. `canonical` is what the sound bytes hold.
pub fn corrupt(
    launch: &Launch,
    counter: Option<&PathBuf>,
    wire: &[u8],
    canonical: &[u8],
    count: u64,
    seed: u64,
) -> Result<Tally, Trouble> {
    let heap = HEAP + HEAP_PER_BYTE * wire.len() as u64;
    let settings = [("WIREGAUGE_ALLOC_LIMIT", heap.to_string())];
    let start = || {
        // Room for the program itself, its libraries and stacks.
        let limits = Limits { address_space: Some(heap + (1 << 30)), ..Limits::default() };
        Runner::start(launch, limits, counter.map(|path| (path, &settings[..])), PATIENCE)
    };
    let mut runner = start()?;
    let mut tally = Tally::default();
    for (_, bytes) in Corruptions::new(seed).of(wire).take(count as usize) {
        let outcome = match runner.decode(&bytes) {
            Ok(found) if found == canonical => Outcome::Same,
            Ok(_) => Outcome::Different,
            Err(Trouble::Refused(_) | Trouble::Rejected(_)) => Outcome::Rejected,
            Err(Trouble::Broken(broken)) => match Outcome::of_broken(&broken) {
                Some(outcome) => {
                    runner = start()?;
                    outcome
                }
                None => return Err(Trouble::Broken(broken)),
            },
        };
        tally.add(outcome);
    }
    Ok(tally)
}
