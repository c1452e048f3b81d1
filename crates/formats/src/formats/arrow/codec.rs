//! The normalized message as a batch of one row.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::message::Root;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{Schema, SchemaRef};
use wiregauge_runner::{Direct, Error, Hello, Tally};

use crate::glue;

pub struct Arrow {
    schema: SchemaRef,
}

impl Default for Arrow {
    fn default() -> Self {
        Arrow { schema: Arc::new(Schema::new(glue::fields())) }
    }
}

/// Has `read` read the batch that lies in these bytes.
fn with_batch<T>(
    wire: &[u8],
    read: impl FnOnce(&RecordBatch) -> Result<T, Error>,
) -> Result<T, Error> {
    let start = NonNull::from(wire).cast::<u8>();
    // SAFETY: these are so many bytes, and the buffer, the decoder and the batch, which are
    // all that keeps it, are dropped before this function ends, in which the bytes are borrowed.
    let mut rest = unsafe { Buffer::from_custom_allocation(start, wire.len(), Arc::new(())) };
    let mut decoder = StreamDecoder::new();
    let batch = decoder.decode(&mut rest)?.ok_or_else(|| Error::new("no batch"))?;
    if batch.num_rows() != 1 {
        return Err(Error::new("a batch of other than one row"));
    }
    read(&batch)
}

impl Direct for Arrow {
    type Message = Root;
    fn hello(&self) -> Hello {
        Hello { library: glue::LIBRARY, phased: false, verifies: false, unchecked: false }
    }
    fn encode(&mut self, message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
        let columns = glue::columns(self.schema.fields(), &[message]);
        let batch = match columns.is_empty() {
            true => RecordBatch::try_new_with_options(
                self.schema.clone(),
                columns,
                &arrow_array::RecordBatchOptions::new().with_row_count(Some(1)),
            )?,
            false => RecordBatch::try_new(self.schema.clone(), columns)?,
        };
        let mut writer = StreamWriter::try_new(out, &self.schema)?;
        writer.write(&batch)?;
        Ok(writer.finish()?)
    }
    fn decode(&mut self, wire: &[u8], message: &mut Root) -> Result<(), Error> {
        with_batch(wire, |batch| glue::take(batch.columns(), 0, &mut [message]))
    }
    fn project<T: Tally>(
        &mut self,
        wire: &[u8],
        message: &mut Root,
        tally: &mut T,
    ) -> Result<(), Error> {
        self.decode(wire, message)?;
        *tally = message.tally();
        Ok(())
    }
    fn fixed<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        with_batch(wire, |batch| {
            glue::fixed(&(batch.columns(), 0), tally);
            Ok(())
        })
    }
    fn element<T: Tally>(&mut self, wire: &[u8], _: &mut Root, tally: &mut T) -> Result<(), Error> {
        with_batch(wire, |batch| {
            glue::element(&(batch.columns(), 0), tally);
            Ok(())
        })
    }
}
