//! Zeros that rows without a value share.

use std::sync::OnceLock;

use arrow_buffer::Buffer;

/// More than that is made when it is wanted. As long as nobody reads them, zeros take no memory.
const SHARED: usize = 4 << 20;

/// So many bytes that are zero, aligned as numbers of eight bytes are.
pub fn zero_buffer(size: usize) -> Buffer {
    static ZEROS: OnceLock<Buffer> = OnceLock::new();
    let make = |size: usize| Buffer::from_vec(vec![0u64; size.div_ceil(8)]);
    match size <= SHARED {
        true => ZEROS.get_or_init(|| make(SHARED)).slice_with_length(0, size),
        false => make(size).slice_with_length(0, size),
    }
}
