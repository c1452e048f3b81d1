//! A program of `runners/footprint`: what it makes of a message, and what that took.

use std::process::Command;
use std::time::{Duration, Instant};

use wiregauge_child_process::child::{Child, ChildFailure, Limits};

/// What a call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes of stack, from where the call began to the deepest that was written.
    pub stack: u64,
    /// The most bytes of the heap at a time, beyond what was there before.
    pub heap_peak: u64,
    /// Blocks that it took from the heap; a larger one in place of another counts, too.
    pub allocations: u64,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What encoding took.
    pub encode: Cost,
    /// What decoding took.
    pub decode: Cost,
    /// The encoded bytes; none where it does not encode.
    pub encoded: Vec<u8>,
    /// The canonical form: of the decoded message, or where it does not decode, of the one
    /// that it was given.
    pub canonical: Vec<u8>,
}

/// Runs a program, or what executes it, on a message in its canonical form and its encoded bytes.
///
/// # Errors
/// When it does not answer in time, or ends otherwise.
pub fn run(
    mut command: Command,
    canonical: &[u8],
    encoded: &[u8],
    patience: Duration,
) -> Result<Outcome, ChildFailure> {
    let deadline = Instant::now() + patience;
    // A setting of the user's for libraries may change what they take.
    command.env_clear();
    // But what was set to have libraries found.
    command.envs(std::env::var_os("LD_LIBRARY_PATH").map(|path| ("LD_LIBRARY_PATH", path)));
    let mut child = Child::spawn(command, Limits::default()).map_err(ChildFailure::Io)?;
    for block in [canonical, encoded] {
        child.write_all(&(block.len() as u64).to_ne_bytes(), deadline)?;
        child.write_all(block, deadline)?;
    }
    let [encode, decode] = [read_cost(&mut child, deadline)?, read_cost(&mut child, deadline)?];
    let encoded = read_block(&mut child, deadline)?;
    let canonical = read_block(&mut child, deadline)?;
    let death = child.finish(deadline)?;
    match death.status {
        Some(status) if status.success() => Ok(Outcome { encode, decode, encoded, canonical }),
        _ => Err(ChildFailure::Died(death)),
    }
}

fn read_cost(child: &mut Child, deadline: Instant) -> Result<Cost, ChildFailure> {
    Ok(Cost {
        stack: read_number(child, deadline)?,
        heap_peak: read_number(child, deadline)?,
        allocations: read_number(child, deadline)?,
    })
}

fn read_block(child: &mut Child, deadline: Instant) -> Result<Vec<u8>, ChildFailure> {
    let size = read_number(child, deadline)?;
    child.read_exact(size, deadline)
}

fn read_number(child: &mut Child, deadline: Instant) -> Result<u64, ChildFailure> {
    let bytes = child.read_exact(8, deadline)?;
    let bytes = bytes.try_into().map_err(|_| ChildFailure::Nonsense("a short number".into()))?;
    Ok(u64::from_ne_bytes(bytes))
}
