// Texts and lists that take memory as they need it.
extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;

/// Writes a message; what `out` held is gone, and its memory used again.
///
/// # Errors
/// When a bound is exceeded, or a text has a zero that would end it.
pub fn serialize<W: Wire, T: Value>(message: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    out.clear();
    out.reserve(size::<W, T>(message)?);
    out.extend_from_slice(W::HEADER);
    message.write(&mut Writer::<W> { out, wire: PhantomData });
    Ok(())
}

impl Value for String {
    fn least<W: Wire>() -> usize {
        least_text::<W>()
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error> {
        measure_text(self.as_bytes(), sizer, limits)
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        write_text(self.as_bytes(), writer);
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, limits: Limits) -> Result<(), Error> {
        let text = reader.text(limits)?;
        self.clear();
        self.push_str(text);
        Ok(())
    }
}

impl<T: Value> Value for Vec<T> {
    fn least<W: Wire>() -> usize {
        least_list::<W, T>()
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error> {
        measure_list(self, sizer, limits)
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        write_list(self, writer);
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, limits: Limits) -> Result<(), Error> {
        if W::COUNTS_BYTES {
            return read_counted(self, reader, limits);
        }
        let end = reader.open::<T>()?;
        let length = reader.length(T::least::<W>(), limits.elements)?;
        self.resize_with(length, T::default);
        T::read_all(self, reader, limits.of_elements())?;
        reader.close::<T>(end)
    }
}

/// Reads a list of which it is known how many bytes it takes.
fn read_counted<W: Wire, T: Value>(
    list: &mut Vec<T>,
    reader: &mut Reader<'_, W>,
    limits: Limits,
) -> Result<(), Error> {
    let end = reader.open_bytes()?;
    let size = end - reader.at;
    if T::IS_PRIMITIVE {
        // All of one size.
        let length = size / size_of::<T>();
        if length > limits.elements {
            return Err(Error::TooMany);
        }
        list.resize_with(length, T::default);
        T::read_all(list, reader, limits.of_elements())?;
        return reader.close_bytes(end);
    }
    let mut length = 0;
    while reader.at < end {
        if length == limits.elements {
            return Err(Error::TooMany);
        }
        if length == list.len() {
            list.push(T::default());
        }
        list[length].read(reader, limits.of_elements())?;
        length += 1;
    }
    list.truncate(length);
    reader.close_bytes(end)
}
