//! Random messages in holders that allocate and in holders that do not: the same bytes, the same
//! verdicts, and no allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fixed::bounded::Bounded;
use crate::fixed::wiregauge_no_alloc::{Sequence, Text};
use crate::heap::bounded as of_heap;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

struct Counted;

// SAFETY: it is the system's own allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        System.dealloc(block, layout)
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

fn without_allocation<T>(what: impl FnOnce() -> T) -> T {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let done = what();
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "it allocates");
    done
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// As many as that at most, and often just as many.
    fn list<T>(&mut self, most: u64, mut one: impl FnMut(&mut Random) -> T) -> Vec<T> {
        let len = if self.next() % 4 == 0 { most } else { self.next() % (most + 1) };
        (0..len).map(|_| one(self)).collect()
    }

    fn text(&mut self, most: u64) -> String {
        let letters =
            self.list(most / 2, |random| ["a", "é", " ", "~"][random.next() as usize % 4]);
        letters.concat()
    }

    fn flat(&mut self) -> of_heap::Flat {
        of_heap::Flat { a: self.next() as u16, b: self.next() as u16 }
    }

    fn message(&mut self) -> of_heap::Bounded {
        let real = |random: &mut Random| random.next() as i32 as f64 / 7.0;
        let mut deep = || of_heap::Deep {
            flats: self.list(2, Random::flat),
            tag: self.text(3),
            far: self.next() as i64,
        };
        let deep = [deep(), deep()];
        of_heap::Bounded {
            kind: self.next() as u8,
            flags: self.list(5, |random| random.next() % 2 == 0),
            ranges: self.list(7, |random| real(random) as f32),
            matrix: [real(self), real(self), real(self)],
            name: self.text(9),
            words: self.list(3, |random| random.text(4)),
            points: self
                .list(6, |random| of_heap::Point { x: real(random) as f32, y: real(random) }),
            flats: self.list(4, Random::flat),
            deep,
            octets: self.list(11, |random| random.next() as u8),
            few: self.list(3, |random| random.next() as i16),
            empty: of_heap::Empty::default(),
        }
    }
}

fn verdict_text<T>(verdict: &Result<T, impl Debug>) -> String {
    format!("{:?}", verdict.as_ref().err())
}

macro_rules! check_wire {
    ($wire:ident, $message:expr, $random:expr, $used:expr) => {{
        use crate::fixed::wiregauge_no_alloc::{self as wires, $wire as FixedWire};
        use crate::heap::wiregauge::{self as kept, $wire as HeapWire};
        let mut bytes = Vec::new();
        kept::serialize::<HeapWire, _>($message, &mut bytes).unwrap();
        let fresh: Bounded =
            without_allocation(|| wires::deserialize::<FixedWire, _>(&bytes)).unwrap();
        without_allocation(|| wires::deserialize_into::<FixedWire, _>(&bytes, $used)).unwrap();
        assert!(fresh == *$used, "what was there before stays: {fresh:?}");
        assert_eq!(wires::size::<FixedWire, _>(&fresh), Ok(bytes.len()));
        let mut out = [0xaa; Bounded::MAX_BYTES];
        let size =
            without_allocation(|| wires::serialize::<FixedWire, _>(&fresh, &mut out)).unwrap();
        assert_eq!(out[..size], bytes[..]);
        assert!(out[size..].iter().all(|byte| *byte == 0xaa), "it wrote behind the message");
        let mut small = vec![0xaa; size - 1];
        let refused = wires::serialize::<FixedWire, _>(&fresh, &mut small);
        assert_eq!(refused, Err(wires::Error::NoRoom));
        assert!(small.iter().all(|byte| *byte == 0xaa));
        for turn in 0..40 {
            let mut damaged = bytes.clone();
            let at = $random.next() as usize % damaged.len();
            match turn % 4 {
                0 => damaged.truncate(at),
                1 => damaged[at] = $random.next() as u8,
                2 => damaged[at] = damaged[at].wrapping_add(1),
                _ => damaged.push(0),
            }
            let held = kept::deserialize::<HeapWire, of_heap::Bounded>(&damaged);
            let read = without_allocation(|| wires::deserialize::<FixedWire, Bounded>(&damaged));
            assert_eq!(verdict_text(&held), verdict_text(&read), "{damaged:?}");
            if let (Ok(held), Ok(read)) = (held, read) {
                kept::serialize::<HeapWire, _>(&held, &mut damaged).unwrap();
                let size = wires::serialize::<FixedWire, _>(&read, &mut out).unwrap();
                assert_eq!(out[..size], damaged[..]);
            }
        }
    }};
}

/// Holds them against each other.
pub fn run() {
    let seed = std::env::args().nth(1).expect("a seed").parse::<u64>().unwrap();
    eprintln!("to repeat it: WIREGAUGE_SEED={seed}");
    // What a definition gives in the beginning.
    let (fixed, kept) = (Bounded::default(), of_heap::Bounded::default());
    assert_eq!((fixed.kind, fixed.name.as_str(), &fixed.few[..]), (3, "front", &kept.few[..]));
    let mut random = Random(seed | 1);
    let mut used = Bounded::default();
    for _ in 0..300 {
        let message = random.message();
        check_wire!(RosMsg, &message, random, &mut used);
        check_wire!(Cdr, &message, random, &mut used);
        check_wire!(CdrWithHeader, &message, random, &mut used);
        check_wire!(Xcdr2, &message, random, &mut used);
        check_wire!(Xcdr2WithHeader, &message, random, &mut used);
        check_wire!(SomeIp, &message, random, &mut used);
    }
    // What has no room is refused, and changes nothing.
    let mut name = Text::<3>::try_from("ab").unwrap();
    assert!(name.set("abcd").is_err() && name.as_str() == "ab");
    let mut list = Sequence::<u8, 2>::default();
    assert!(list.push(1).is_ok() && list.push(2).is_ok() && list.push(3).is_err());
    assert!(list.resize(3).is_err() && list[..] == [1, 2]);
    assert!(list.resize(1).is_ok() && list.resize(2).is_ok() && list[..] == [1, 0]);
    println!("done");
}
