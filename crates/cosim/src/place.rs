//! Where a host is: in which call of which FMU, at which step. It stands in a
//! file that host and master both map, so that the master still knows after
//! the host has crashed or hung.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Name of the file in the host's folder.
pub const FILE: &str = "place";
const SIZE: usize = 4096;

/// A call into an FMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Call {
    /// In none.
    None,
    /// Its shared object is loaded.
    Load,
    /// It is instantiated.
    Instantiate,
    /// Parameters are set.
    Parameters,
    /// It is initialized.
    Initialize,
    /// An input is set.
    Set,
    /// An output is read.
    Get,
    /// It calculates.
    Step,
    /// It is terminated and freed.
    Free,
}

impl Call {
    const ALL: [Call; 9] = [
        Call::None,
        Call::Load,
        Call::Instantiate,
        Call::Parameters,
        Call::Initialize,
        Call::Set,
        Call::Get,
        Call::Step,
        Call::Free,
    ];

    fn words(self) -> &'static str {
        match self {
            Call::None => "between calls",
            Call::Load => "while its shared object was loaded",
            Call::Instantiate => "while it was instantiated",
            Call::Parameters => "while its parameters were set",
            Call::Initialize => "while it was initialized",
            Call::Set => "while its input was set",
            Call::Get => "while its output was read",
            Call::Step => "in DoStep",
            Call::Free => "while it was terminated and freed",
        }
    }
}

/// The shared record.
#[derive(Debug)]
pub struct Place(NonNull<[AtomicU64; 3]>);

impl Place {
    /// Makes it, or opens it, in a folder.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(folder: &Path) -> io::Result<Place> {
        let file: File = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join(FILE))?;
        file.set_len(SIZE as u64)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses the address, so nothing is mapped over; the file
        // has that size.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                SIZE,
                protection,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(address.cast()).map(Place).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    fn cells(&self) -> &[AtomicU64; 3] {
        // SAFETY: mapped until `self` is dropped, at the start of a page; zero is a
        // value of atomics, and other processes may write them.
        unsafe { self.0.as_ref() }
    }

    /// Takes note of a call into the first (0) or the second FMU.
    #[inline]
    pub fn enter(&self, seat: usize, call: Call, step: u64) {
        let [seats, calls, steps] = self.cells();
        seats.store(seat as u64, Ordering::Relaxed);
        steps.store(step, Ordering::Relaxed);
        calls.store(call as u64, Ordering::Relaxed);
    }

    /// Takes note that the call has returned.
    #[inline]
    pub fn leave(&self) {
        self.cells()[1].store(Call::None as u64, Ordering::Relaxed);
    }

    /// Where the host is, in words; `names` are those of the two FMUs. None
    /// when it is in neither.
    pub fn describe(&self, names: [&str; 2]) -> Option<String> {
        let [seat, call, step] = self.cells().each_ref().map(|c| c.load(Ordering::Relaxed));
        let call = Call::ALL.get(call as usize).copied().filter(|call| *call != Call::None)?;
        let name = names.get(seat as usize)?;
        Some(match call {
            Call::Set | Call::Get | Call::Step => {
                format!("{name} {}, step {}", call.words(), step + 1)
            }
            _ => format!("{name} {}", call.words()),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // SAFETY: mapped by `open` with this size; nobody borrows the cells any more.
        unsafe { libc::munmap(self.0.as_ptr().cast(), SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_side_sees_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let host = Place::open(folder.path()).unwrap();
        let master = Place::open(folder.path()).unwrap();
        let names = ["a.fmu", "b.fmu"];
        assert_eq!(master.describe(names), None);
        for call in Call::ALL {
            assert_eq!(Call::ALL[call as usize], call);
        }
        host.enter(1, Call::Step, 6);
        assert_eq!(master.describe(names).unwrap(), "b.fmu in DoStep, step 7");
        host.leave();
        assert_eq!(master.describe(names), None);
    }
}
