//! The two sides of a bare loop: one sends a sample in each cycle and waits until it is back, the
//! other sends back what comes.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};

/// From sample to sample.
const CYCLE: Duration = Duration::from_millis(1);

/// What sends samples to the other side, and receives its own.
pub trait Side {
    /// Sends a sample.
    ///
    /// # Errors
    /// When the library fails.
    fn send(&mut self) -> Result<()>;

    /// Whether a sample came within this time.
    ///
    /// # Errors
    /// When the library fails.
    fn receive(&mut self, patience: Duration) -> Result<bool>;
}

/// Takes so many round trips and prints their median in nanoseconds. Without a number it is the other
/// side, until nobody sends any more.
///
/// # Errors
/// When the library fails, or a sample does not come back.
pub fn run(side: &mut dyn Side, number: Option<u32>) -> Result<()> {
    let Some(number) = number else {
        while side.receive(Duration::from_secs(2))? {
            side.send()?;
        }
        return Ok(());
    };
    // The other side may not be there yet.
    while {
        side.send()?;
        !side.receive(Duration::from_millis(50))?
    } {}
    while side.receive(Duration::from_millis(200))? {}
    let (start, mut times) = (Instant::now(), Vec::new());
    for trip in 0..number {
        thread::sleep((start + CYCLE * trip).saturating_duration_since(Instant::now()));
        let sent = Instant::now();
        side.send()?;
        ensure!(side.receive(Duration::from_secs(5))?, "no answer to number {trip}");
        times.push(sent.elapsed().as_nanos());
    }
    times.sort_unstable();
    println!("{}", times.get(times.len() / 2).context("no round trips")?);
    Ok(())
}
