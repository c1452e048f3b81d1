//! Where a sample of a writer is until it is sent: in a buffer, from which a library copies it, or
//! in memory that the library lends, where it will be read.

use std::ptr::NonNull;

use anyhow::{bail, Result};
use wiregauge_timing::allocation::{allocate_zeroed, resize};

use crate::transport::Topic;

/// Where a sample is written.
pub enum SampleRoom {
    /// In a buffer, from which the library copies it.
    Own(Vec<u8>),
    /// Where it will be read; lent by the library, of each topic.
    Lent {
        /// What is lent and not sent yet.
        rooms: Vec<Option<NonNull<u8>>>,
        /// Bytes of each.
        size: usize,
    },
}

impl SampleRoom {
    /// A buffer for samples of this topic.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn with_buffer(topic: &Topic) -> Result<SampleRoom> {
        Ok(SampleRoom::Own(allocate_zeroed(if topic.varies { 0 } else { topic.size })?))
    }

    /// Memory that a library lends for samples of this topic, which have one size.
    pub fn with_lender(topic: &Topic) -> SampleRoom {
        SampleRoom::Lent { rooms: vec![None; topic.topics_of_sender()], size: topic.size }
    }

    /// The next sample of this topic; the library lends where nothing is lent yet.
    ///
    /// # Safety
    /// The library lends as many bytes as a sample has, filled with something, until they are
    /// taken out of `rooms` to be sent.
    ///
    /// # Errors
    /// Those of the library.
    pub unsafe fn buffer(
        &mut self,
        topic: usize,
        lend: impl FnOnce() -> Result<NonNull<u8>>,
    ) -> Result<&mut [u8]> {
        match self {
            SampleRoom::Own(buffer) => Ok(buffer),
            SampleRoom::Lent { rooms, size } => {
                let room = match rooms[topic] {
                    Some(room) => room,
                    None => *rooms[topic].insert(lend()?),
                };
                // SAFETY: the caller promises that so many bytes are lent until they are sent,
                // which must borrow `self` anew.
                Ok(unsafe { std::slice::from_raw_parts_mut(room.as_ptr(), *size) })
            }
        }
    }

    /// The next sample with another size.
    ///
    /// # Errors
    /// When there is no memory; these words where samples have one size.
    pub fn buffer_of_size(&mut self, size: usize, one_size: &str) -> Result<&mut [u8]> {
        match self {
            SampleRoom::Own(buffer) => {
                resize(buffer, size)?;
                Ok(buffer)
            }
            SampleRoom::Lent { .. } => bail!("{one_size}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_stays_until_it_is_taken() {
        let topic = Topic { size: 4, ..Topic::example(&[]) };
        let mut room = SampleRoom::with_lender(&topic);
        let (mut first, mut second) = ([1; 4], [2; 4]);
        let mut memory =
            [&mut first, &mut second].map(|bytes| NonNull::from(bytes).cast()).into_iter();
        let mut lend = || Ok(memory.next().expect("it lends twice"));
        // SAFETY: each has four bytes, which live as long as the room.
        let mut first_byte =
            |room: &mut SampleRoom| unsafe { room.buffer(0, &mut lend).unwrap()[0] };
        assert_eq!([first_byte(&mut room), first_byte(&mut room)], [1, 1]);
        let SampleRoom::Lent { rooms, .. } = &mut room else { panic!("it is lent") };
        assert!(rooms[0].take().is_some());
        assert_eq!(first_byte(&mut room), 2);
        assert_eq!(room.buffer_of_size(9, "one size").unwrap_err().to_string(), "one size");
        let mut own = SampleRoom::with_buffer(&topic).unwrap();
        assert_eq!(own.buffer_of_size(9, "").unwrap().len(), 9);
    }
}
