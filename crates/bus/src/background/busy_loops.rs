//! Threads that do nothing but use their processor.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{anyhow, Result};
use rustix::time::{clock_gettime, ClockId};
use wiregauge_timing::threads::start_thread;

/// Steps between two looks at whether it is enough.
const STEPS: u64 = 10_000;

/// Busy loops that run.
pub struct BusyLoops {
    threads: Vec<JoinHandle<Duration>>,
}

impl BusyLoops {
    /// Starts so many, until they are to stop.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(count: usize, stop: &Arc<AtomicBool>) -> Result<BusyLoops> {
        let start = |_| {
            let stop = Arc::clone(stop);
            start_thread("busy", move || loop_until(&stop))
        };
        Ok(BusyLoops { threads: (0..count).map(start).collect::<Result<_>>()? })
    }

    /// The processor time that all of them got, once they were told to stop.
    ///
    /// # Errors
    /// When one of them panicked.
    pub fn finish(self) -> Result<Duration> {
        let times = self.threads.into_iter().map(JoinHandle::join);
        times.map(|time| time.map_err(|_| anyhow!("a busy loop panicked"))).sum()
    }
}

fn loop_until(stop: &AtomicBool) -> Duration {
    let mut value = 1u64;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..STEPS {
            // Not `spin_loop`, which gives the core to its other hardware thread.
            value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Instant;

    #[test]
    fn loops_take_processors_and_tell_how_much() {
        let (began, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let loops = BusyLoops::start(2, &stop).unwrap();
        thread::sleep(Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
        let used = loops.finish().unwrap();
        assert!(used > Duration::ZERO && used <= 2 * began.elapsed(), "{used:?}");
        assert_eq!(BusyLoops::start(0, &stop).unwrap().finish().unwrap(), Duration::ZERO);
    }
}
