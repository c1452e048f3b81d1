//! Numbers of few bits, one behind the other, the lowest bit first.

/// The bytes of `count` numbers of `width` bits.
pub(crate) fn packed_size(count: usize, width: usize) -> usize {
    (count * width).div_ceil(8)
}

/// Calls a function with its width as a constant, so that the compiler knows
/// every shift.
macro_rules! with_width {
    ($width:expr, $call:ident($($argument:expr),*)) => {
        with_width!(@ $width, $call($($argument),*),
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63 64)
    };
    (@ $width:expr, $call:ident $arguments:tt, $($constant:literal)*) => {
        match $width {
            $($constant => with_width!(@@ $call $constant $arguments),)*
            _ => {}
        }
    };
    (@@ $call:ident $constant:literal ($($argument:expr),*)) => {
        $call::<$constant>($($argument),*)
    };
}

/// Appends the lowest `width` bits of each number; higher ones must be 0.
pub(crate) fn pack(numbers: &[impl Copy + Into<u64>], width: usize, out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + packed_size(numbers.len(), width), 0);
    with_width!(width, pack_all(numbers, &mut out[begin..]));
}

fn pack_all<const WIDTH: usize>(numbers: &[impl Copy + Into<u64>], out: &mut [u8]) {
    let eights = numbers.chunks_exact(8);
    let rest = eights.remainder();
    let mut places = out.chunks_exact_mut(WIDTH);
    for (numbers, bytes) in eights.zip(&mut places) {
        pack_eight::<WIDTH>(std::array::from_fn(|i| numbers[i].into()), bytes);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        for (last, &number) in last.iter_mut().zip(rest) {
            *last = number.into();
        }
        let mut bytes = [0; WIDTH];
        pack_eight::<WIDTH>(last, &mut bytes);
        let at = numbers.len() / 8 * WIDTH;
        let size = out.len() - at;
        out[at..].copy_from_slice(&bytes[..size]);
    }
}

/// Eight numbers are as many bytes as one has bits.
fn pack_eight<const WIDTH: usize>(numbers: [u64; 8], out: &mut [u8]) {
    let mut words = [0u64; 9];
    for (i, number) in numbers.into_iter().enumerate() {
        let bit = i * WIDTH;
        words[bit / 64] |= number << (bit % 64);
        if bit % 64 + WIDTH > 64 {
            words[bit / 64 + 1] |= number >> (64 - bit % 64);
        }
    }
    for (bytes, word) in out.chunks_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
}

/// Reads as many numbers as there is room for.
pub(crate) fn unpack(bytes: &[u8], width: usize, out: &mut [u64]) {
    out.fill(0);
    with_width!(width, unpack_all(bytes, out));
}

fn unpack_all<const WIDTH: usize>(bytes: &[u8], out: &mut [u64]) {
    let whole = out.len() / 8;
    let (eights, rest) = out.split_at_mut(whole * 8);
    for (numbers, bytes) in eights.chunks_exact_mut(8).zip(bytes.chunks_exact(WIDTH)) {
        unpack_eight::<WIDTH>(bytes, numbers.try_into().expect("eight"));
    }
    if !rest.is_empty() {
        let tail = &bytes[whole * WIDTH..];
        let mut last = [0; WIDTH];
        last[..tail.len()].copy_from_slice(tail);
        let mut numbers = [0; 8];
        unpack_eight::<WIDTH>(&last, &mut numbers);
        rest.copy_from_slice(&numbers[..rest.len()]);
    }
}

fn unpack_eight<const WIDTH: usize>(bytes: &[u8], out: &mut [u64; 8]) {
    let mut words = [0u64; 9];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(wide);
    }
    let mask = u64::MAX >> (64 - WIDTH);
    for (i, number) in out.iter_mut().enumerate() {
        let bit = i * WIDTH;
        let mut bits = words[bit / 64] >> (bit % 64);
        if bit % 64 + WIDTH > 64 {
            bits |= words[bit / 64 + 1] << (64 - bit % 64);
        }
        *number = bits & mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_comes_back_at_every_length() {
        for width in 0..=64 {
            for count in [0, 1, 7, 8, 9, 63, 1024] {
                let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
                let numbers: Vec<u64> = (1..=count)
                    .map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask)
                    .collect();
                let mut bytes = vec![0xee];
                pack(&numbers, width, &mut bytes);
                assert_eq!(bytes.len(), 1 + packed_size(count as usize, width));
                let mut back = vec![7; count as usize];
                unpack(&bytes[1..], width, &mut back);
                assert_eq!(back, numbers, "{count} of {width} bits");
            }
        }
    }
}
