//! Whether memory can be read, found out without reading it.

use std::fs;
use std::io;

/// Most pieces that one system call takes (`UIO_MAXIOV`).
const PIECES: usize = 1024;

/// Whether this process may read all of `size` bytes at `address`.
///
/// One byte of each page is copied by the kernel, which says no where ordinary
/// code would crash. So a buffer of many megabytes is checked in a moment, and
/// hardly any of it comes into the caches.
pub fn readable(address: usize, size: usize) -> bool {
    let Some(end) = address.checked_add(size) else { return false };
    if address == 0 {
        return false;
    }
    // Pages may be larger than this, not smaller.
    const PAGE: usize = 4096;
    let mut bytes = [0u8; PIECES];
    let mut at = address;
    while at < end {
        let mut pieces = Vec::with_capacity(PIECES.min((end - at) / PAGE + 1));
        while at < end && pieces.len() < PIECES {
            pieces.push(libc::iovec { iov_base: at as *mut libc::c_void, iov_len: 1 });
            at = (at & !(PAGE - 1)).saturating_add(PAGE);
        }
        let target =
            libc::iovec { iov_base: bytes.as_mut_ptr().cast::<libc::c_void>(), iov_len: PIECES };
        // SAFETY: the kernel checks what `pieces` points to and does not trust it;
        // it writes a byte for each to `bytes`, which has room for PIECES.
        let count = unsafe {
            libc::process_vm_readv(
                libc::getpid(),
                &target,
                1,
                pieces.as_ptr(),
                pieces.len() as libc::c_ulong,
                0,
            )
        };
        if count < 0 && io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT) {
            // A sandbox forbids the call.
            return is_mapped(address, end);
        }
        if usize::try_from(count) != Ok(pieces.len()) {
            return false;
        }
    }
    true
}

/// Whether all of a range is mapped for reading, by the kernel's list.
fn is_mapped(address: usize, end: usize) -> bool {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return true };
    let mut at = address;
    for line in maps.lines() {
        let mut words = line.split(' ');
        let range = words.next().and_then(|range| range.split_once('-'));
        let readable = words.next().is_some_and(|flags| flags.starts_with('r'));
        let Some((from, to)) = range else { continue };
        let (Ok(from), Ok(to)) = (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16))
        else {
            continue;
        };
        if (from..to).contains(&at) && readable {
            at = to;
        }
        if at >= end {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pages, of which the second may not be read.
    fn with_guard(check: impl Fn(usize)) {
        // SAFETY: a fresh private mapping of two pages, that nobody else knows and that
        // is not used after munmap.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let pages =
                libc::mmap(std::ptr::null_mut(), 8192, libc::PROT_READ, flags, -1, 0) as usize;
            libc::mprotect((pages + 4096) as *mut libc::c_void, 4096, libc::PROT_NONE);
            check(pages);
            libc::munmap(pages as *mut libc::c_void, 8192);
        }
    }

    #[test]
    fn what_is_there_can_be_read() {
        let large = vec![1u8; 9_000_000];
        assert!(readable(large.as_ptr() as usize, large.len()));
        assert!(is_mapped(large.as_ptr() as usize, large.as_ptr() as usize + large.len()));
        with_guard(|page| {
            assert!(readable(page, 4096) && is_mapped(page, page + 4096));
            assert!(readable(page + 4095, 1));
        });
    }

    #[test]
    fn what_is_not_there_cannot() {
        assert!(!readable(0, 1));
        assert!(!readable(8, 1));
        assert!(!readable(usize::MAX - 10, 100));
        assert!(!readable(0x7fff_0000_0000_0000, 1));
        with_guard(|page| {
            assert!(!readable(page, 4097) && !is_mapped(page, page + 4097));
            assert!(!readable(page + 4096, 1));
        });
        let small = Box::new(1u8);
        assert!(!readable(std::ptr::from_ref(&*small) as usize, 1 << 31));
    }
}
