//! Messages on their way from FMU to FMU: the three integers of OSMP, and what
//! they point to.

use crate::fmi::memory;

/// Joins the halves of an address.
pub fn join_address(lo: i32, hi: i32) -> usize {
    ((u64::from(hi as u32) << 32) | u64::from(lo as u32)) as usize
}

/// Splits an address into its lower and its higher half.
pub fn split_address(address: usize) -> (i32, i32) {
    (address as u32 as i32, (address as u64 >> 32) as u32 as i32)
}

/// A message that lies in the memory of an FMU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageSpan {
    /// Where it is.
    pub address: usize,
    /// How long it is, as the FMU says: perhaps negative.
    pub size: i64,
}

impl MessageSpan {
    /// Whether there is no message: the FMU says so by a size of 0. An address of 0 has
    /// none either, with a size it is a fault.
    pub fn is_none(self) -> bool {
        self.address == 0 || self.size == 0
    }

    /// Its bytes, once the kernel says that they can be read.
    ///
    /// # Errors
    /// Says what is wrong with the address or the size.
    ///
    /// # Safety
    /// The FMU must not change or free them while the slice lives.
    pub unsafe fn bytes<'a>(self) -> Result<&'a [u8], String> {
        self.check()?;
        if self.is_none() {
            return Ok(&[]);
        }
        // SAFETY: `check` found the size not negative and all bytes readable; that
        // they stay as they are is the caller's promise.
        Ok(unsafe { std::slice::from_raw_parts(self.address as *const u8, self.size as usize) })
    }

    /// Whether its bytes can be read; that there are none is fine.
    ///
    /// # Errors
    /// Says what is wrong with the address or the size.
    pub fn check(self) -> Result<(), String> {
        let MessageSpan { address, size } = self;
        if size == 0 {
            return Ok(());
        }
        if address == 0 {
            return Err(format!("has the size {size}, but its address is 0"));
        }
        let Ok(length) = usize::try_from(size) else {
            return Err(format!("has the negative size {size}"));
        };
        if memory::readable(address, length) {
            return Ok(());
        }
        Err(match memory::readable(address, 1) {
            true => format!("has the size {size}, but less memory can be read at {address:#x}"),
            false => format!("points to {address:#x}, where there is no readable memory"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_their_halves() {
        for address in [0, 1, 0x7fff_ffff, 0x8000_0000, 0xdead_beef_8000_0001, usize::MAX] {
            let (lo, hi) = split_address(address);
            assert_eq!(join_address(lo, hi), address);
        }
        assert_eq!(split_address(0x1_8000_0000), (i32::MIN, 1));
    }

    #[test]
    fn nothing_is_no_fault() {
        assert_eq!(MessageSpan::default().check(), Ok(()));
        assert_eq!(MessageSpan { address: 8, size: 0 }.check(), Ok(()));
    }

    #[test]
    fn faults_are_told_apart() {
        let byte = Box::new(1u8);
        let address = std::ptr::from_ref(&*byte) as usize;
        let fault = |address, size| MessageSpan { address, size }.check().unwrap_err();
        assert!(fault(0, 17).contains("size 17, but its address is 0"));
        assert!(fault(address, -1).contains("negative"));
        assert!(fault(8, 4).contains("points to 0x8"));
        assert!(fault(address, 0x7fff_ffff).contains("less memory"));
    }
}
