//! Octets, as zserio has them.

use zserio::ztype::BytesType;

pub fn fill_bytes(from: &[u8], to: &mut BytesType) {
    to.byte_size = from.len() as u32;
    to.data_blob.clear();
    to.data_blob.extend_from_slice(from);
}

pub fn take_bytes(from: &mut BytesType, to: &mut Vec<u8>) {
    *to = std::mem::take(&mut from.data_blob);
}
