/// The numbers of Rust, and enums as the integers that represent them.
macro_rules! numbers {
    ($($kind:ty)*) => {$(
        impl Value for $kind {
            const IS_PRIMITIVE: bool = true;

            fn least<W: Wire>() -> usize {
                size_of::<$kind>()
            }

            fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, _: Limits) -> Result<(), Error> {
                sizer.numbers(1, size_of::<$kind>());
                Ok(())
            }

            fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
                writer.align(size_of::<$kind>());
                writer.out.extend_from_slice(&ordered::<W, _>(self.to_le_bytes()));
            }

            fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, _: Limits) -> Result<(), Error> {
                reader.align(size_of::<$kind>())?;
                let mut bytes = [0; size_of::<$kind>()];
                bytes.copy_from_slice(reader.take(size_of::<$kind>())?);
                *self = <$kind>::from_le_bytes(ordered::<W, _>(bytes));
                Ok(())
            }

            fn measure_all<W: Wire>(
                all: &[Self],
                sizer: &mut Sizer<W>,
                _: Limits,
            ) -> Result<(), Error> {
                if !all.is_empty() {
                    sizer.numbers(all.len(), size_of::<$kind>());
                }
                Ok(())
            }

            fn write_all<W: Wire>(all: &[Self], writer: &mut Writer<'_, W>) {
                if !all.is_empty() {
                    writer.align(size_of::<$kind>());
                    let start = writer.out.len();
                    writer.out.resize(start + size_of_val(all), 0);
                    let blocks = writer.out[start..].chunks_exact_mut(size_of::<$kind>());
                    for (one, block) in all.iter().zip(blocks) {
                        block.copy_from_slice(&ordered::<W, _>(one.to_le_bytes()));
                    }
                }
            }

            fn read_all<W: Wire>(
                all: &mut [Self],
                reader: &mut Reader<'_, W>,
                _: Limits,
            ) -> Result<(), Error> {
                if !all.is_empty() {
                    reader.align(size_of::<$kind>())?;
                    let bytes = reader.take(size_of_val(all))?;
                    let blocks = bytes.chunks_exact(size_of::<$kind>());
                    for (one, block) in all.iter_mut().zip(blocks) {
                        let mut bytes = [0; size_of::<$kind>()];
                        bytes.copy_from_slice(block);
                        *one = <$kind>::from_le_bytes(ordered::<W, _>(bytes));
                    }
                }
                Ok(())
            }

            fn write_block(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn read_block(&mut self, block: &[u8]) {
                let mut bytes = [0; size_of::<$kind>()];
                bytes.copy_from_slice(block);
                *self = <$kind>::from_le_bytes(bytes);
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

impl Value for bool {
    const IS_PRIMITIVE: bool = true;

    fn least<W: Wire>() -> usize {
        1
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, _: Limits) -> Result<(), Error> {
        sizer.numbers(1, 1);
        Ok(())
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        writer.out.push(u8::from(*self));
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, _: Limits) -> Result<(), Error> {
        *self = match reader.take(1)? {
            [0] => false,
            [1] => true,
            _ => return Err(Error::NoTruthValue),
        };
        Ok(())
    }

    fn read_block(&mut self, block: &[u8]) {
        *self = block == [1];
    }
}

/// The fewest bytes that a text takes.
fn least_text<W: Wire>() -> usize {
    4 + W::TEXT_MARK.len() + usize::from(W::TEXT_MARK.len() != 0)
}

/// Measures a text by its bytes.
fn measure_text<W: Wire>(text: &[u8], sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error> {
    sizer.length(text.len(), limits.text)?;
    if W::ENDS_TEXTS && text.contains(&0) {
        return Err(Error::NoText);
    }
    sizer.size += W::TEXT_MARK.len() + text.len() + usize::from(W::ENDS_TEXTS);
    Ok(())
}

/// Writes a text by its bytes.
fn write_text<W: Wire>(text: &[u8], writer: &mut Writer<'_, W>) {
    writer.length(W::TEXT_MARK.len() + text.len() + usize::from(W::ENDS_TEXTS));
    writer.out.extend_from_slice(W::TEXT_MARK);
    writer.out.extend_from_slice(text);
    if W::ENDS_TEXTS {
        writer.out.push(0);
    }
}

/// The fewest bytes that a list takes.
fn least_list<W: Wire, T: Value>() -> usize {
    T::least_array::<W>(0) + 4
}

fn measure_list<W: Wire, T: Value>(
    list: &[T],
    sizer: &mut Sizer<W>,
    limits: Limits,
) -> Result<(), Error> {
    sizer.open::<T>();
    sizer.length(list.len(), limits.elements)?;
    T::measure_all(list, sizer, limits.of_elements())
}

fn write_list<W: Wire, T: Value>(list: &[T], writer: &mut Writer<'_, W>) {
    if W::COUNTS_BYTES {
        let start = writer.open_bytes();
        T::write_all(list, writer);
        return writer.close_bytes(start);
    }
    let start = writer.open::<T>();
    writer.length(list.len());
    T::write_all(list, writer);
    writer.close::<T>(start);
}

/// Whether what may be absent is a list of none or one.
fn is_list<W: Wire, T: Value>() -> bool {
    T::IS_RECORD && !W::DELIMITS
}

impl<T: Value> Value for Option<T> {
    fn least<W: Wire>() -> usize {
        match is_list::<W, T>() || W::COUNTS_BYTES {
            true => 4,
            false if W::DELIMITS => 1,
            false => 1 + T::least::<W>(),
        }
    }

    fn measure<W: Wire>(&self, sizer: &mut Sizer<W>, limits: Limits) -> Result<(), Error> {
        sizer.numbers(1, if is_list::<W, T>() || W::COUNTS_BYTES { 4 } else { 1 });
        match self {
            Some(value) => value.measure(sizer, limits),
            None if T::IS_RECORD || W::DELIMITS || W::COUNTS_BYTES => Ok(()),
            None => T::default().measure(sizer, limits),
        }
    }

    fn write<W: Wire>(&self, writer: &mut Writer<'_, W>) {
        if W::COUNTS_BYTES {
            let start = writer.open_bytes();
            if let Some(value) = self {
                value.write(writer);
            }
            return writer.close_bytes(start);
        }
        match is_list::<W, T>() {
            true => writer.length(usize::from(self.is_some())),
            false => writer.out.push(u8::from(self.is_some())),
        }
        match self {
            Some(value) => value.write(writer),
            None if T::IS_RECORD || W::DELIMITS => {}
            None => T::default().write(writer),
        }
    }

    fn read<W: Wire>(&mut self, reader: &mut Reader<'_, W>, limits: Limits) -> Result<(), Error> {
        if W::COUNTS_BYTES {
            let end = reader.open_bytes()?;
            match reader.at == end {
                true => *self = None,
                false => self.get_or_insert_with(T::default).read(reader, limits)?,
            }
            return reader.close_bytes(end);
        }
        let mut present = false;
        match is_list::<W, T>() {
            true => present = reader.length(T::least::<W>(), 1)? == 1,
            false => present.read(reader, limits)?,
        }
        if present || !(T::IS_RECORD || W::DELIMITS) {
            self.get_or_insert_with(T::default).read(reader, limits)?;
        }
        if !present {
            *self = None;
        }
        Ok(())
    }
}
