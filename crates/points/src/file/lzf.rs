//! LZF, in which PCL compresses: runs of literal bytes, and pieces of what came before.

use anyhow::{bail, ensure, Result};

/// Below this a first byte tells how many literals follow it, less one.
const LITERALS: u8 = 32;
/// A length of this has another byte behind it.
const LONG: usize = 7;
/// Pieces of less are not worth their two bytes.
const SHORTEST: usize = 2;

/// The plain bytes, of which there must be so many.
pub fn decompress(mut rest: &[u8], size: usize) -> Result<Vec<u8>> {
    // A byte of a long piece stands for 88 at most, so no claim takes more memory than that.
    ensure!(
        size / 100 <= rest.len(),
        "{} compressed bytes cannot hold the declared {size} bytes",
        rest.len()
    );
    let mut out = Vec::with_capacity(size);
    let mut next = |count: usize| -> Result<&[u8]> {
        let Some((own, behind)) = rest.split_at_checked(count) else {
            bail!("the compressed bytes end too early");
        };
        rest = behind;
        Ok(own)
    };
    while out.len() < size {
        let control = next(1)?[0];
        if control < LITERALS {
            out.extend_from_slice(next(usize::from(control) + 1)?);
            continue;
        }
        let mut length = usize::from(control >> 5);
        if length == LONG {
            length += usize::from(next(1)?[0]);
        }
        let back = (usize::from(control & 0x1f) << 8 | usize::from(next(1)?[0])) + 1;
        let Some(from) = out.len().checked_sub(back) else {
            bail!("the compressed bytes refer to data before the first byte");
        };
        // It may reach into what it makes itself.
        for at in from..from + length + SHORTEST {
            out.push(out[at]);
        }
    }
    ensure!(out.len() == size, "{} bytes come out, but {size} are declared", out.len());
    ensure!(next(1).is_err(), "there are more compressed bytes than {size} plain bytes need");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_pieces_come_out() {
        // "abc", then 6 bytes from 3 back, then 9 + 3 from 1 back.
        let bytes = [2, b'a', b'b', b'c', 4 << 5, 2, 7 << 5, 3, 0];
        let plain = decompress(&bytes, 3 + 6 + 12).unwrap();
        assert_eq!(plain, b"abcabcabccccccccccccc");
        for (bytes, size) in [
            (&bytes[..8], 21),
            (&bytes[..], 20),
            (&bytes[..], 22),
            (&[0, b'a', 1 << 5, 1][..], 4),
            (&[5, b'a'][..], 6),
            (&[][..], 1_000_000),
        ] {
            assert!(decompress(bytes, size).is_err(), "{bytes:?} {size}");
        }
        assert_eq!(decompress(&[], 0).unwrap(), b"");
    }
}
