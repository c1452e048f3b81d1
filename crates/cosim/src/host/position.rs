//! Where a host is: in which call of which FMU, at which step. It stands in a
//! file that host and master both map, so that the master still knows after
//! the host has crashed or hung.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Name of the file in the host's folder.
pub const FILE_NAME: &str = "place";
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
    /// It is terminated.
    Terminate,
    /// It is freed.
    Free,
    /// Its process ends: what it left to be done then is done.
    Exit,
}

impl Call {
    const ALL: [Call; 11] = [
        Call::None,
        Call::Load,
        Call::Instantiate,
        Call::Parameters,
        Call::Initialize,
        Call::Set,
        Call::Get,
        Call::Step,
        Call::Terminate,
        Call::Free,
        Call::Exit,
    ];

    fn describe(self) -> &'static str {
        match self {
            Call::None => "between calls",
            Call::Load => "while its shared object was loaded",
            Call::Instantiate => "while it was instantiated",
            Call::Parameters => "while its parameters were set",
            Call::Initialize => "while it was initialized",
            Call::Set => "while its input was set",
            Call::Get => "while its output was read",
            Call::Step => "in DoStep",
            Call::Terminate => "in Terminate",
            Call::Free => "in FreeInstance",
            Call::Exit => "after all calls, while its process ended",
        }
    }
}

/// What a host is to its last call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Stage {
    /// In it.
    Within,
    /// It has returned.
    After,
    /// It has returned, and took the descriptors away by which the host answers.
    Deaf,
}

/// The shared record: which FMU, which call, which step, and the stage.
#[derive(Debug)]
pub struct HostPosition {
    cells: NonNull<[AtomicU64; 4]>,
    /// The descriptors by which the host is asked and answers.
    conversation: Option<[RawFd; 2]>,
}

impl HostPosition {
    /// Makes it, or opens it, in a folder.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(folder: &Path) -> io::Result<HostPosition> {
        let file: File = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join(FILE_NAME))?;
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
        let cells = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(HostPosition { cells, conversation: None })
    }

    /// The same for a host, which is asked and answers by these descriptors.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open_in_host(folder: &Path, conversation: [RawFd; 2]) -> io::Result<HostPosition> {
        let mut place = HostPosition::open(folder)?;
        place.conversation = Some(conversation);
        Ok(place)
    }

    fn cells(&self) -> &[AtomicU64; 4] {
        // SAFETY: mapped until `self` is dropped, at the start of a page; zero is a
        // value of atomics, and other processes may write them.
        unsafe { self.cells.as_ref() }
    }

    /// Takes note of a call into the first (0) or the second FMU.
    #[inline]
    pub fn enter(&self, fmu: usize, call: Call, step: u64) {
        let [fmus, calls, steps, stages] = self.cells();
        fmus.store(fmu as u64, Ordering::Relaxed);
        steps.store(step, Ordering::Relaxed);
        calls.store(call as u64, Ordering::Relaxed);
        stages.store(Stage::Within as u64, Ordering::Relaxed);
    }

    /// Takes note that the call has returned.
    #[inline]
    pub fn leave(&self) {
        self.cells()[3].store(Stage::After as u64, Ordering::Relaxed);
    }

    /// Ends this process where the last call closed what the host answers by: nothing
    /// can be said any more, but which call it was.
    pub fn exit_if_cut_off(&self) {
        // SAFETY: F_GETFD reads no memory.
        let is_open = |of: RawFd| unsafe { libc::fcntl(of, libc::F_GETFD) } != -1;
        if self.conversation.is_none_or(|both| both.into_iter().all(is_open)) {
            return;
        }
        self.mark_cut_off();
        // SAFETY: it does not return. What is to be done at exit may need the descriptors.
        unsafe { libc::_exit(1) }
    }

    fn mark_cut_off(&self) {
        self.cells()[3].store(Stage::Deaf as u64, Ordering::Relaxed);
    }

    /// Where the host is, or was last, in words; `names` are those of the FMUs. None
    /// when it has called none of them.
    pub fn describe(&self, names: [&str; 2]) -> Option<String> {
        let [fmu, call, step, stage] = self.cells().each_ref().map(|c| c.load(Ordering::Relaxed));
        let call = Call::ALL.get(call as usize).copied().filter(|call| *call != Call::None)?;
        let name = names.get(fmu as usize)?;
        let place = match call {
            Call::Set | Call::Get | Call::Step => {
                format!("{name} {}, step {}", call.describe(), step + 1)
            }
            Call::Exit => {
                let both = names.iter().filter(|name| !name.is_empty()).copied();
                format!("{} {}", both.collect::<Vec<_>>().join(" or "), call.describe())
            }
            _ => format!("{name} {}", call.describe()),
        };
        Some(match stage {
            stage if stage == Stage::After as u64 => format!("after the last call ({place})"),
            stage if stage == Stage::Deaf as u64 => {
                format!("{place}: it closed file descriptors that it had not opened")
            }
            _ => place,
        })
    }
}

impl Drop for HostPosition {
    fn drop(&mut self) {
        // SAFETY: mapped by `open` with this size; nobody borrows the cells any more.
        unsafe { libc::munmap(self.cells.as_ptr().cast(), SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_side_sees_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let host = HostPosition::open_in_host(folder.path(), [0, 1]).unwrap();
        let master = HostPosition::open(folder.path()).unwrap();
        let names = ["a.fmu", "b.fmu"];
        assert_eq!(master.describe(names), None);
        for call in Call::ALL {
            assert_eq!(Call::ALL[call as usize], call);
        }
        host.enter(1, Call::Step, 6);
        assert_eq!(master.describe(names).unwrap(), "b.fmu in DoStep, step 7");
        host.leave();
        assert_eq!(
            master.describe(names).unwrap(),
            "after the last call (b.fmu in DoStep, step 7)"
        );
        host.mark_cut_off();
        assert!(master.describe(names).unwrap().ends_with("descriptors that it had not opened"));
        host.enter(0, Call::Exit, 0);
        assert!(master.describe(["a.fmu", ""]).unwrap().starts_with("a.fmu after all calls"));
        assert!(master.describe(names).unwrap().starts_with("a.fmu or b.fmu after all calls"));
    }
}
