//! Writes Protobuf's wire form.

/// A message that is written field by field.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// An empty one.
    pub fn with_capacity(bytes: usize) -> Message {
        Message(Vec::with_capacity(bytes))
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A number as a varint; zero is not written.
    pub fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    /// A number of four bytes; zero is not written.
    pub fn fixed(&mut self, field: u64, value: u32) {
        if value != 0 {
            self.varint(field << 3 | 5);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Doubles, as the fields 1, 2, 3 and so on; zeros are not written.
    pub fn doubles(&mut self, values: &[f64]) {
        for (field, value) in (1..).zip(values).filter(|(_, value)| value.to_bits() != 0) {
            self.varint(field << 3 | 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Bytes or text; none are not written.
    pub fn bytes(&mut self, field: u64, value: &[u8]) {
        if !value.is_empty() {
            self.varint(field << 3 | 2);
            self.varint(value.len() as u64);
            self.0.extend_from_slice(value);
        }
    }

    /// A message.
    pub fn message(&mut self, field: u64, write: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        write(&mut inner);
        self.varint(field << 3 | 2);
        self.varint(inner.0.len() as u64);
        self.0.extend_from_slice(&inner.0);
    }

    /// Its bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}
