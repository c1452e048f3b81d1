//! What a receiver finds in its samples, and which of them came.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_participant::sample::{SampleContent, HEADER_SIZE};
use wiregauge_participant::sequence::Sequence;
use wiregauge_timing::latency::TimeHistogram;

pub fn read(data: &[u8]) {
    let Some((&size, rest)) = data.split_first() else { return };
    let size = HEADER_SIZE + usize::from(size % 32);
    let shape = SampleContent { size, seed: 1, count: 1 << 20, message: None };
    let (mut sequence, mut times) = (Sequence::default(), TimeHistogram::new());
    let mut good = 0;
    for bytes in rest.chunks(size) {
        let mut sample = bytes.to_vec();
        if sample.len() == size && size.is_multiple_of(2) {
            // Otherwise hardly any would be whole.
            let number = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            shape.fill(&mut sample, number);
        }
        let now = 1 << 40;
        if let Ok(header) = shape.check(&sample, now) {
            good += 1;
            sequence.add(header.sequence);
            times.add(now.saturating_sub(header.time));
        }
    }
    assert_eq!(sequence.received + sequence.repeated, good);
    assert!(sequence.reordered <= sequence.received);
    assert_eq!(times.distribution().count, good);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
