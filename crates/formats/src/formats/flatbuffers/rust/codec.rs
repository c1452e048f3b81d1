//! The normalized message by flatc's accessors.

use flatbuffers::UOffsetT;
use wiregauge_runner::{Direct, Error, Hello, Tally};

use crate::glue::{self, Root, Scratch};
use crate::tables::Builder;

#[derive(Default)]
pub struct Flatbuffers {
    builder: Builder,
    scratch: Scratch,
}

/// The message, unchecked as by a reader who trusts its peer.
fn root(wire: &[u8]) -> Result<Root<'_>, Error> {
    if wire.len() < size_of::<UOffsetT>() {
        return Err(Error::new("shorter than an offset"));
    }
    // SAFETY: an offset fits. That it and all others stay inside the bytes is the
    // peer's promise, as for every reader of this format that does not verify.
    Ok(unsafe { flatbuffers::root_unchecked::<Root>(wire) })
}

impl Direct for Flatbuffers {
    type Message = crate::message::Root;
    const IN_PLACE: bool = true;

    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: false, verifies: true, unchecked: true }
    }
    fn admit(&mut self, message: &Self::Message) -> Result<(), Error> {
        glue::admit(message)
    }
    fn encode(&mut self, message: &Self::Message, _: &mut Vec<u8>) -> Result<(), Error> {
        self.builder.reset();
        let root = glue::build(message, &mut self.builder, &mut self.scratch);
        self.builder.finish(root, None);
        Ok(())
    }
    fn written(&self, _: &[u8], mut take: impl FnMut(&[u8])) {
        take(self.builder.finished_data());
    }
    /// Who hands the bytes over collapses the builder into them and takes a new one.
    fn forget_output(&mut self) {
        self.builder = Builder::new();
    }
    fn decode(&mut self, wire: &[u8], message: &mut Self::Message) -> Result<(), Error> {
        glue::take(root(wire)?, message)
    }
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        *tally = glue::tally(root(wire)?);
        Ok(())
    }
    fn fixed<T: Tally>(
        &mut self,
        wire: &[u8],
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        glue::fixed(root(wire)?, tally);
        Ok(())
    }
    fn element<T: Tally>(
        &mut self,
        wire: &[u8],
        _: &mut Self::Message,
        tally: &mut T,
    ) -> Result<(), Error> {
        glue::element(root(wire)?, tally);
        Ok(())
    }
    fn verify(&mut self, wire: &[u8]) -> Result<(), Error> {
        let mut options = flatbuffers::VerifierOptions::default();
        options.max_depth = glue::DEPTH;
        options.max_tables = options.max_tables.max(wire.len() / size_of::<UOffsetT>());
        flatbuffers::root_with_opts::<Root>(&options, wire)?;
        Ok(())
    }
}
