//! Chunks: those of no interest are hopped over, damaged ones are read as far as they go.

use anyhow::{Context, Result};

use super::*;

impl Reader {
    /// Goes into a chunk, or over it.
    pub(super) fn enter(&mut self, length: u64, at: u64) -> Result<()> {
        let (header, whole) = self.header(length)?;
        // A later version of MCAP may have added something behind the records.
        let behind = whole.checked_add(header.packed).and_then(|here| length.checked_sub(here));
        let behind = behind.context("the length of a chunk differs from the declared one")?;
        let (compression, times) = (header.compression.clone(), header.times);
        let (length, packed, size) = (RECORD as u64 + length, header.packed, header.size);
        let own_times = None;
        self.chunks.push(ChunkInfo { at, length, times, own_times, compression, packed, size });
        self.places.clear();
        self.hopped = None;
        // The channels that later messages need may be told in there.
        if !self.is_wanted(header.times, at) {
            self.hopped = (!self.rest_only && !self.unwanted.contains(&at)).then_some(at);
            self.records.end_sum();
            let joined = self.end_of_unwanted(at).filter(|_| !self.rest_only);
            if let Some(distance) = joined.and_then(|end| end.checked_sub(self.records.position()))
            {
                // Nobody reads the indexes in between.
                self.hopped = None;
                ensure!(self.records.skip(distance)?, TruncatedError);
                return Ok(());
            }
            ensure!(self.records.skip(header.packed + behind)?, TruncatedError);
            return Ok(());
        }
        let start = self.records.position();
        if self.told.salvages() {
            self.enter_damaged(&header, at)?;
            ensure!(self.records.skip(behind)?, TruncatedError);
            return Ok(());
        }
        // Nothing holds it against anything: it is read where it lies, whatever its size.
        let is_unchecked = header.checksum == 0 && header.compression.is_empty();
        let chunk = if !header.is_whole() && !is_unchecked {
            let packed = self.file.between(start, start + header.packed);
            ensure!(self.skip_bytes(header.packed + behind)?, TruncatedError);
            RecordSource::Unpacked(SliceReader::from_stream(header.stream(packed, false)?))
        } else if header.compression.is_empty() {
            ensure!(
                header.size == header.packed,
                "the size of a chunk differs from the declared one"
            );
            if !is_unchecked {
                header.check(self.records.peek(header.packed as usize)?)?;
            }
            RecordSource::Plain { start, end: start + header.packed, behind }
        } else {
            let records = self.unpacked(&header, at)?;
            ensure!(self.records.skip(behind)?, TruncatedError);
            RecordSource::Unpacked(SliceReader::from_bytes(records))
        };
        self.chunk = Some((at, chunk));
        Ok(())
    }

    /// Where the unwanted chunks end that lie one behind the other from one on, with nothing but
    /// their indexes between them; none in a file that lies here, where each is looked at, as
    /// the summary may be wrong.
    fn end_of_unwanted(&self, at: u64) -> Option<u64> {
        let mut end = self.hops.get(&at)?.0;
        while let Some((next, times)) = self.hops.get(&end) {
            if *next <= end || self.is_wanted(*times, end) {
                break;
            }
            end = *next;
        }
        Some(end)
    }

    /// Whether a chunk may have messages that are wanted.
    pub(super) fn is_wanted(&self, times: (u64, u64), at: u64) -> bool {
        let in_time = !self.trusts_times || is_in_time(times, self.window);
        !self.rest_only && in_time && !self.unwanted.contains(&at)
    }

    /// The records of a packed chunk.
    pub(super) fn unpacked(&mut self, header: &ChunkHeader, at: u64) -> Result<Vec<u8>> {
        let mut spare = std::mem::take(&mut self.spare);
        // Who wants one chunk may want the next; who wants only one does not.
        if self.chunks.len() > 1 && self.ahead.is_none() {
            self.ahead =
                self.summary.as_ref().map(|summary| ChunkPrefetch::new(&self.file, summary));
        }
        if let Some(ahead) = &mut self.ahead {
            let (window, unwanted, trusts) = (self.window, &self.unwanted, self.trusts_times);
            let wanted = |chunk: &ChunkIndex| {
                chunk.at < self.stop
                    && (!trusts || is_in_time(chunk.times, window))
                    && !unwanted.contains(&chunk.at)
            };
            if let Some(records) = ahead.take_chunk(at, spare, wanted) {
                ensure!(self.records.skip(header.packed)?, TruncatedError);
                return records;
            }
            spare = Vec::new();
        }
        header.unpack(self.records.take(header.packed as usize)?, &mut spare)?;
        Ok(spare)
    }

    /// What stands before the records of a chunk, and its length.
    pub(super) fn header(&mut self, length: u64) -> Result<(ChunkHeader, u64)> {
        let head = self.records.peek(chunk::HEAD)?;
        let name = head.get(chunk::HEAD - 4..).context("a record is truncated")?;
        let name = u32::from_le_bytes(name.try_into()?);
        // It is a name of four letters; a length that is none is told as such.
        let whole = ((chunk::HEAD + (name as usize).min(64) + 8) as u64).min(length);
        let mut fields = RecordFields(self.records.take(whole as usize)?);
        Ok((ChunkHeader::read(&mut fields)?, whole))
    }

    /// Goes into a chunk that may be damaged.
    pub(super) fn enter_damaged(&mut self, header: &ChunkHeader, at: u64) -> Result<()> {
        if !header.is_whole() {
            let start = self.records.position();
            let packed = self.file.between(start, start + header.packed);
            ensure!(self.skip_bytes(header.packed)?, TruncatedError);
            let records = SliceReader::from_stream(header.stream(packed, true)?);
            self.chunk = Some((at, RecordSource::Unpacked(records)));
            return Ok(());
        }
        let packed = self.records.take(header.packed as usize)?;
        let mut content = std::mem::take(&mut self.spare);
        if let Err(error) = header.unpack(packed, &mut content) {
            header.salvage(packed, &mut content);
            let what = format!("{error:#}; recognizable messages are kept");
            self.add_loss(at, what);
        }
        self.chunk = Some((at, RecordSource::Unpacked(SliceReader::from_bytes(content))));
        Ok(())
    }

    /// Goes into a chunk that does not end before the file does.
    pub(super) fn enter_last(&mut self, at: u64) -> Result<()> {
        let (header, _) = self.header(u64::MAX)?;
        let (start, left) = (self.records.position(), self.records.remaining().unwrap_or(0));
        if header.packed <= left {
            self.add_loss(at, "the length of a chunk differs from the declared one".into());
            return self.enter_damaged(&header, at);
        }
        let next = search::next_record(&self.file, at + 1)?;
        let own = next.map_or(left, |next| next.saturating_sub(start)).min(chunk::MAX_WHOLE_SIZE);
        let mut content = std::mem::take(&mut self.spare);
        header.salvage(self.records.take(own as usize)?, &mut content);
        let what = match next {
            Some(_) => {
                "the length of a chunk differs from the declared one; recognizable messages are \
                 kept"
            }
            None => "the file ends in this chunk",
        };
        self.add_loss(at, what.into());
        self.chunk = Some((at, RecordSource::Unpacked(SliceReader::from_bytes(content))));
        Ok(())
    }
}

/// Whether a chunk may have messages between two times.
fn is_in_time((first, last): (u64, u64), (from, to): (Nanoseconds, Nanoseconds)) -> bool {
    // Some writers do not say the times of a chunk.
    (first, last) == (0, 0) || (Nanoseconds::from(last) >= from && Nanoseconds::from(first) <= to)
}
