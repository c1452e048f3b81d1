//! Reading a pipe that does not block.

use std::io::{self, ErrorKind, Read};

/// What [`drain`] found.
pub(super) enum Drained {
    /// As much as was wanted.
    Full,
    /// Less: the pipe is empty for now.
    Dry,
    /// Less: the other side closed the pipe.
    Ended,
}

/// Appends what is in a pipe, `most` bytes of it. A pipe at its end becomes
/// none.
pub(super) fn drain<P: Read>(
    pipe: &mut Option<P>,
    to: &mut Vec<u8>,
    most: usize,
) -> io::Result<Drained> {
    let Some(open) = pipe else { return Ok(Drained::Ended) };
    match open.take(most as u64).read_to_end(to) {
        Ok(count) if count == most => Ok(Drained::Full),
        Ok(_) => {
            *pipe = None;
            Ok(Drained::Ended)
        }
        // What came before is in place.
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Drained::Dry),
        Err(error) => Err(error),
    }
}
