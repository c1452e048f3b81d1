//! The parts of a Protobuf message by their numbers.

use std::borrow::Cow;

use anyhow::{ensure, Context, Result};
use wiregauge_trace::wire::{is_message, Content, Fields};

/// All fields of a message.
pub fn read_fields(message: &[u8]) -> Result<Fields<'_>> {
    ensure!(is_message(message), "not a valid Protobuf message");
    Ok(Fields(message))
}

/// The messages, or bytes, of a number.
pub fn messages(message: &[u8], wanted: u64) -> Result<Vec<&[u8]>> {
    let [found] = messages_of(message, [wanted])?;
    Ok(found)
}

/// The messages, or bytes, of several numbers, for which the message is passed through once.
pub fn messages_of<const N: usize>(message: &[u8], wanted: [u64; N]) -> Result<[Vec<&[u8]>; N]> {
    let (mut fields, mut found) = (Fields(message), [const { Vec::new() }; N]);
    while !fields.0.is_empty() {
        let (number, content) = fields.next().context("not a valid Protobuf message")?;
        if let Content::Bytes(bytes) = content {
            let wanted = wanted.iter().zip(&mut found).find(|(wanted, _)| **wanted == number);
            wanted.into_iter().for_each(|(_, found)| found.push(bytes));
        }
    }
    Ok(found)
}

/// A message that is there once; where it comes in pieces, they are put together as
/// Protobuf does: one behind the other.
pub fn merge_messages(message: &[u8], wanted: u64) -> Result<Cow<'_, [u8]>> {
    Ok(merge_pieces(&messages(message, wanted)?))
}

/// The pieces of a message put together.
pub fn merge_pieces<'m>(pieces: &[&'m [u8]]) -> Cow<'m, [u8]> {
    match pieces {
        [] => Cow::default(),
        [piece] => (*piece).into(),
        _ => pieces.concat().into(),
    }
}

/// A double of eight bytes.
pub fn double(content: Content) -> Option<f64> {
    match content {
        Content::Fixed(bytes) => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

/// The doubles in the fields 1 to N, as vectors and quaternions have them; 0 where they are
/// absent.
pub fn vector<const N: usize>(message: &[u8]) -> Result<[f64; N]> {
    let mut found = [0.0; N];
    for (number, content) in read_fields(message)? {
        let room = usize::try_from(number - 1).ok().and_then(|at| found.get_mut(at));
        if let (Some(room), Some(value)) = (room, double(content)) {
            *room = value;
        }
    }
    Ok(found)
}
