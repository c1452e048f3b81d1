//! Octets, as rasn has them: shared and never changed.

use rasn::types::OctetString;

pub fn fill_bytes(from: &[u8], to: &mut OctetString) {
    *to = OctetString::from_slice(from);
}

pub fn take_bytes(from: &mut OctetString, to: &mut Vec<u8>) {
    to.clear();
    to.extend_from_slice(from);
}
