//! Memory for samples, and for what is kept of them: both are as large as the user says,
//! so that there may be none.

use anyhow::{anyhow, Result};

/// Room for so many bytes, all 0. Samples are as large as the user says, so that there
/// may be no memory for one: to find out costs no life.
///
/// # Errors
/// When there is no memory for it.
pub fn allocate_zeroed(size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    resize(&mut bytes, size)?;
    Ok(bytes)
}

/// Makes room for so many bytes; new ones are 0.
///
/// # Errors
/// When there is no memory for them.
pub fn resize(bytes: &mut Vec<u8>, size: usize) -> Result<()> {
    bytes.try_reserve_exact(size.saturating_sub(bytes.len())).map_err(|_| {
        anyhow!(
            "there is no memory for a sample of {size} bytes: send smaller ones, or allow more \
             (ulimit -v)"
        )
    })?;
    bytes.resize(size, 0);
    Ok(())
}

/// So many items, all this one, of what is kept of the samples of a run.
///
/// # Errors
/// When there is no memory for them.
pub fn allocate_filled<T: Clone>(item: T, count: u64) -> Result<Vec<T>> {
    let mut items = Vec::new();
    let size = usize::try_from(count).unwrap_or(usize::MAX);
    items.try_reserve_exact(size).map_err(|_| {
        anyhow!(
            "there is no memory to keep {count} times {} bytes of a run: make it shorter or \
             slower, or allow more (ulimit -v)",
            size_of::<T>()
        )
    })?;
    items.resize(size, item);
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_memory_is_there_for_is_an_error() {
        assert_eq!(allocate_zeroed(3).unwrap(), [0; 3]);
        let error = allocate_zeroed(isize::MAX as usize).unwrap_err().to_string();
        assert!(error.contains("no memory for a sample of 9223372036854775807 bytes"), "{error}");
        let error = allocate_filled([u64::MAX; 3], 1 << 60).unwrap_err().to_string();
        assert!(error.contains("no memory to keep 1152921504606846976 times 24 bytes"), "{error}");
        assert_eq!(allocate_filled(7, 3).unwrap(), [7; 3]);
    }
}
