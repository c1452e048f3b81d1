//! The parts of the canonical form.

use wiregauge_runner::Error;

pub fn take<const N: usize>(input: &mut &[u8]) -> Result<[u8; N], Error> {
    let (head, tail) = input.split_at_checked(N).ok_or_else(|| Error::new("ends too early"))?;
    *input = tail;
    Ok(head.try_into().expect("N bytes"))
}

pub fn read_bytes<'a>(input: &mut &'a [u8]) -> Result<&'a [u8], Error> {
    let len = u32::from_le_bytes(take(input)?) as usize;
    let (head, tail) = input.split_at_checked(len).ok_or_else(|| Error::new("ends too early"))?;
    *input = tail;
    Ok(head)
}

pub fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}
