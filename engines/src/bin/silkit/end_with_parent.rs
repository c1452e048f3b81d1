//! A child process that ends when its parent does, however that ends.

use std::ffi::{c_int, c_ulong};
use std::io;

extern "C" {
    fn prctl(option: c_int, argument: c_ulong, ...) -> c_int;
    fn getppid() -> c_int;
}

/// The option that chooses the signal.
const SET_DEATH_SIGNAL: c_int = 1;
/// The signal that nobody can refuse.
const KILL: c_ulong = 9;

/// What a child does before it becomes another program. The signal comes when the thread ends that
/// started it.
pub fn end_with_parent(parent: u32) -> impl FnMut() -> io::Result<()> + Send + Sync {
    move || {
        // SAFETY: both take plain numbers.
        unsafe {
            if prctl(SET_DEATH_SIGNAL, KILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // It may have ended before.
            if getppid() as u32 != parent {
                return Err(io::Error::other("its parent is gone"));
            }
        }
        Ok(())
    }
}
