//! The normalized message by a buffer that is kept.

use crate::message::{self, Root};
use wiregauge_runner::{Direct, Error, Hello, Tally};

use crate::glue;

#[derive(Default)]
pub struct Bitcode {
    buffer: bitcode::Buffer,
    /// Where the buffer has the last message, and how long it is.
    encoded: Option<(*const u8, usize)>,
}

impl Direct for Bitcode {
    type Message = Root;
    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: false, verifies: false, unchecked: false }
    }
    fn encode(&mut self, message: &Root, _: &mut Vec<u8>) -> Result<(), Error> {
        let bytes = self.buffer.encode(message);
        self.encoded = Some((bytes.as_ptr(), bytes.len()));
        Ok(())
    }
    fn written(&self, _: &[u8], mut take: impl FnMut(&[u8])) {
        let Some((data, len)) = self.encoded else { return };
        // SAFETY: they are bytes on the buffer's heap, which it changes only when it encodes
        // again, and that sets where they are; who forgets the buffer forgets them, too.
        take(unsafe { std::slice::from_raw_parts(data, len) });
    }
    /// Who hands the bytes over has them copied or takes a new buffer.
    fn forget_output(&mut self) {
        *self = Self::default();
    }
    fn decode(&mut self, wire: &[u8], message: &mut Root) -> Result<(), Error> {
        *message = self.buffer.decode(wire)?;
        Ok(())
    }
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        *message = self.buffer.decode(wire)?;
        *tally = message.tally();
        Ok(())
    }
    fn fixed<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        *message = self.buffer.decode(wire)?;
        message::fixed(message, tally);
        Ok(())
    }
    fn element<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        *message = self.buffer.decode(wire)?;
        message::element(message, tally);
        Ok(())
    }
}
