//! The process groups of our children, to be killed when there is no time to
//! unwind.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal};

static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Notes a group that is to be killed with us.
pub fn register(group: Pid) {
    groups().insert(group.as_raw_nonzero().get());
}

/// Forgets a group, before its number can be another's.
pub fn unregister(group: Pid) {
    groups().remove(&group.as_raw_nonzero().get());
}

/// Kills every group at once, without reaping.
pub(crate) fn kill_all() {
    for &group in groups().iter() {
        if let Some(group) = Pid::from_raw(group) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }
}

/// A lock that a panic elsewhere does not spoil: the set is always whole.
fn groups() -> MutexGuard<'static, BTreeSet<i32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}
