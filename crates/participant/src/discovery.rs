//! How a writer finds its readers.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::transport::Writer;

/// How long the participants of a run look for each other. Over DDS with security on a loaded machine
/// it takes more than 20 s.
pub const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(60);
/// How long who leads participants waits for what they say. Longer than they look for each other, so
/// that they say themselves who is missing.
pub const REPORT_TIMEOUT: Duration = DISCOVERY_TIMEOUT.saturating_add(Duration::from_secs(30));
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until a writer knows of so many readers, or the deadline is over, or it is `aborted`. How many
/// there are.
///
/// # Errors
/// When the transport fails.
pub fn find_readers(
    writer: &mut dyn Writer,
    wanted: usize,
    deadline: Instant,
    mut aborted: impl FnMut() -> bool,
) -> Result<usize> {
    loop {
        let found = writer.readers()?;
        if found >= wanted || Instant::now() >= deadline || aborted() {
            return Ok(found);
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each look finds one more reader, as far as there are some.
    struct Appearing {
        found: usize,
        most: usize,
    }

    impl Writer for Appearing {
        fn readers(&mut self) -> Result<usize> {
            self.found = self.most.min(self.found + 1);
            Ok(self.found)
        }

        fn buffer(&mut self) -> Result<&mut [u8]> {
            Ok(&mut [])
        }

        fn send(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn it_waits_for_all_and_no_longer_than_it_may() {
        let writer = |most| Appearing { found: 0, most };
        let later = Instant::now() + Duration::from_secs(600);
        assert_eq!(find_readers(&mut writer(3), 3, later, || false).unwrap(), 3);
        let soon = Instant::now() + Duration::from_millis(20);
        // As many as there was time to look for.
        assert!((1..=2).contains(&find_readers(&mut writer(2), 3, soon, || false).unwrap()));
        let mut looks = 0;
        let aborted = || {
            looks += 1;
            looks == 2
        };
        assert_eq!(find_readers(&mut writer(9), 9, later, aborted).unwrap(), 2);
    }
}
