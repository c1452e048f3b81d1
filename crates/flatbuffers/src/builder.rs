//! Writes a FlatBuffer from its end to its beginning, as its libraries do: what is referred
//! to stands behind what refers to it. Positions are told from the end.

use std::collections::HashMap;

/// What a table says of a field.
pub enum Slot {
    /// The bytes themselves, and what they are aligned to.
    Inline(Vec<u8>, usize),
    /// Where it is, from the end.
    Offset(usize),
}

impl Slot {
    /// Its bytes in the table.
    pub fn size(&self) -> usize {
        match self {
            Slot::Inline(bytes, _) => bytes.len(),
            Slot::Offset(_) => 4,
        }
    }

    fn align(&self) -> usize {
        match self {
            Slot::Inline(_, align) => *align,
            Slot::Offset(_) => 4,
        }
    }
}

/// A message that is being written.
#[derive(Default)]
pub struct Builder {
    /// What there is by now, at the end of these bytes.
    bytes: Vec<u8>,
    used: usize,
    align: usize,
    /// Where a vtable of this content is.
    vtables: HashMap<Vec<u8>, usize>,
}

impl Builder {
    /// Puts bytes before what there is.
    fn push(&mut self, bytes: &[u8]) {
        let wanted = self.used + bytes.len();
        if wanted > self.bytes.len() {
            let mut larger = vec![0; wanted.next_power_of_two().max(1024)];
            let at = larger.len() - self.used;
            larger[at..].copy_from_slice(&self.bytes[self.bytes.len() - self.used..]);
            self.bytes = larger;
        }
        let at = self.bytes.len() - wanted;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.used = wanted;
    }

    /// Pads so that what follows is aligned once so many more bytes are written.
    fn align(&mut self, align: usize, more: usize) {
        self.align = self.align.max(align);
        let padding = (self.used + more).wrapping_neg() & (align - 1);
        self.push(&[0; 16][..padding]);
    }

    fn push_offset(&mut self, to: usize) {
        self.push(&((self.used + 4 - to) as u32).to_le_bytes());
    }

    /// A text.
    pub fn text(&mut self, text: &str) -> usize {
        self.align(4, text.len() + 1);
        self.push(&[0]);
        self.push(text.as_bytes());
        self.push(&(text.len() as u32).to_le_bytes());
        self.used
    }

    /// A vector of so many elements that lie in it by themselves.
    pub fn vector(&mut self, elements: &[u8], len: usize, align: usize) -> usize {
        self.align(4, elements.len());
        self.align(align, elements.len());
        self.push(elements);
        self.push(&(len as u32).to_le_bytes());
        self.used
    }

    /// A vector of elements that are elsewhere.
    pub fn offsets(&mut self, elements: &[usize]) -> usize {
        self.align(4, 4 * elements.len());
        for element in elements.iter().rev() {
            self.push_offset(*element);
        }
        self.push(&(elements.len() as u32).to_le_bytes());
        self.used
    }

    /// A table of fields by their places in the vtable.
    pub fn table(&mut self, mut slots: Vec<(usize, Slot)>) -> usize {
        // The most aligned first, so that least is lost between them.
        slots.sort_by_key(|(place, slot)| (std::cmp::Reverse(slot.align()), *place));
        let end = self.used;
        let mut fields = Vec::with_capacity(slots.len());
        for (place, slot) in &slots {
            match slot {
                Slot::Inline(bytes, align) => {
                    self.align(*align, bytes.len());
                    self.push(bytes);
                }
                Slot::Offset(to) => {
                    self.align(4, 4);
                    self.push_offset(*to);
                }
            }
            fields.push((*place, self.used));
        }
        self.align(4, 4);
        let table = self.used + 4;
        let size = fields.iter().map(|(place, _)| place + 2).max().unwrap_or(4);
        let mut vtable = vec![0; size];
        vtable[..2].copy_from_slice(&(size as u16).to_le_bytes());
        vtable[2..4].copy_from_slice(&((table - end) as u16).to_le_bytes());
        for (place, used) in fields {
            vtable[place..place + 2].copy_from_slice(&((table - used) as u16).to_le_bytes());
        }
        let known = self.vtables.get(&vtable).copied();
        let at = known.unwrap_or(table + size);
        self.push(&(at as i32 - table as i32).to_le_bytes());
        if known.is_none() {
            self.push(&vtable);
            self.vtables.insert(vtable, at);
        }
        table
    }

    /// The message, whose root is at this position from the end. The builder is empty again.
    pub fn finish(&mut self, root: usize) -> Vec<u8> {
        self.align(self.align.max(4), 4);
        self.push_offset(root);
        let message = self.bytes[self.bytes.len() - self.used..].to_vec();
        (self.used, self.align) = (0, 0);
        self.vtables.clear();
        message
    }
}
