//! In place of the conversation with the gauge: a program that does no more than encode a
//! message, decode one, both, or neither, as its features say. What it is linked from
//! beside the codec is the same in all of them.

use std::ffi::c_void;
use std::io;

use crate::codec::{Codec, Error, Message};

/// Bytes, as runners/footprint/measure.c has them.
#[repr(C)]
#[derive(Clone, Copy)]
struct Block {
    data: *const u8,
    size: usize,
}

/// What a call costs, as runners/footprint/measure.c has it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Cost {
    stack: u64,
    heap_peak: u64,
    allocations: u64,
}

extern "C" {
    fn wiregauge_input(out: *mut Block);
    fn wiregauge_measure(
        call: unsafe extern "C" fn(*mut c_void),
        context: *mut c_void,
        out: *mut Cost,
    );
    fn wiregauge_output(costs: *const Cost, blocks: *const Block);
    fn wiregauge_refuse(text: *const u8, size: usize, status: i32) -> !;
}

impl Block {
    fn from_bytes(bytes: &[u8]) -> Block {
        Block { data: bytes.as_ptr(), size: bytes.len() }
    }

    /// What was read.
    fn bytes(&self) -> &'static [u8] {
        // SAFETY: the block that wiregauge_input gives is mapped for as long as the program
        // runs, and nobody writes to it.
        unsafe { std::slice::from_raw_parts(self.data, self.size) }
    }
}

/// A call, until it is called.
struct Guarded<F> {
    call: F,
    outcome: Result<(), Error>,
}

/// What a call costs.
fn cost<F: FnMut() -> Result<(), Error>>(call: F) -> Result<Cost, Error> {
    unsafe extern "C" fn guard<F: FnMut() -> Result<(), Error>>(context: *mut c_void) {
        // SAFETY: the context is the `guarded` below, which nobody else uses meanwhile.
        let guarded = unsafe { &mut *context.cast::<Guarded<F>>() };
        guarded.outcome = (guarded.call)();
    }
    let mut guarded = Guarded { call, outcome: Ok(()) };
    let mut cost = Cost::default();
    // SAFETY: it calls the function once with the context, and writes one cost.
    unsafe { wiregauge_measure(guard::<F>, (&raw mut guarded).cast(), &raw mut cost) };
    guarded.outcome.map(|()| cost)
}

/// Makes the message that a program is about of the canonical form, and the other way
/// round. The codec is between the two.
fn transform<M: Message>(
    between: impl FnOnce(&M, &[u8], &mut Vec<u8>, &mut M, &mut [Cost; 2]) -> Result<bool, Error>,
) -> io::Result<()> {
    let mut input = [Block::from_bytes(&[]); 2];
    // SAFETY: it writes two blocks, for which there is room.
    unsafe { wiregauge_input(input.as_mut_ptr()) };
    let outcome = transform_blocks(input, between);
    if let Err(error) = outcome {
        let text = error.to_string();
        let status = if error.is_rejection() { 2 } else { 1 };
        // SAFETY: the text is there while it is read.
        unsafe { wiregauge_refuse(text.as_ptr(), text.len(), status) }
    }
    Ok(())
}

fn transform_blocks<M: Message>(
    input: [Block; 2],
    between: impl FnOnce(&M, &[u8], &mut Vec<u8>, &mut M, &mut [Cost; 2]) -> Result<bool, Error>,
) -> Result<(), Error> {
    let message = M::from_canonical(input[0].bytes())?;
    let wire = input[1].bytes();
    let mut costs = [Cost::default(); 2];
    // As in the timed loops: the pages are there.
    let mut encoded = Vec::with_capacity(wire.len() + wire.len() / 4 + 64);
    let mut decoded = M::default();
    let is_decoded = between(&message, wire, &mut encoded, &mut decoded, &mut costs)?;
    let mut canonical = Vec::new();
    let out = if is_decoded { &decoded } else { &message };
    out.to_canonical(&mut canonical);
    let output = [Block::from_bytes(&encoded), Block::from_bytes(&canonical)];
    // SAFETY: two costs and two blocks, whose bytes are there while they are read.
    unsafe { wiregauge_output(costs.as_ptr(), output.as_ptr()) };
    Ok(())
}

/// The program without the codec: all the same, but nothing is called.
///
/// # Errors
/// None.
pub fn serve_without<M: Message>() -> io::Result<()> {
    transform(|_: &M, _, _, _, costs| {
        costs[0] = cost(|| Ok(()))?;
        Ok(false)
    })
}

/// The program with what the features say of the codec.
///
/// # Errors
/// None: what goes wrong is a line on standard error.
pub fn serve<C: Codec>(_: C) -> io::Result<()> {
    let (encodes, decodes) =
        (cfg!(feature = "footprint-encode"), cfg!(feature = "footprint-decode"));
    if !encodes && !decodes {
        return serve_without::<C::Message>();
    }
    transform(|message: &C::Message, wire, encoded, decoded, costs| {
        let mut codec = None;
        let bytes;
        let mut wire = wire;
        if encodes {
            let mut object = None;
            costs[0] = cost(|| {
                let codec = codec.insert(C::default());
                let object = object.insert(C::Object::default());
                codec.populate(message, object)?;
                codec.write(message, object, encoded)
            })?;
            let mut all = Vec::new();
            if let (Some(codec), Some(object)) = (&codec, &object) {
                codec.written(object, encoded, |piece| all.extend_from_slice(piece));
            }
            bytes = all;
            wire = &bytes;
            encoded.clone_from(&bytes);
        }
        if decodes {
            let mut object = None;
            costs[1] = cost(|| {
                let codec = codec.get_or_insert_with(C::default);
                let object = object.insert(C::Object::default());
                codec.parse(wire, object)?;
                codec.extract(wire, object, decoded)
            })?;
        }
        Ok(decodes)
    })
}
