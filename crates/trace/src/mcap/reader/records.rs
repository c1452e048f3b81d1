//! The bytes of records; and records that are no message and no chunk: what they say is
//! kept, and held against what was read.

use anyhow::Result;

use super::*;

impl Reader {
    /// The bytes of a record.
    pub(super) fn read_bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        ensure!(length <= LARGEST_RECORD, "a record has {length} bytes");
        let bytes = self.current().take(length as usize)?.to_vec();
        ensure!(bytes.len() as u64 == length, TruncatedError);
        Ok(bytes)
    }

    /// Reads all of the last message, and says how many bytes it has.
    pub(super) fn read_body(&mut self) -> Result<usize> {
        let wanted = std::mem::take(&mut self.body) as usize;
        let outcome = self.current().peek(wanted).map(<[u8]>::len);
        let error = match outcome {
            Ok(there) if there == wanted => return Ok(wanted),
            Ok(_) => anyhow!(TruncatedError),
            Err(error) => error.into(),
        };
        Err(self.explain(error))
    }

    /// Leaves out the next bytes; whether there were as many. All of them may be read.
    pub(super) fn skip_bytes(&mut self, count: u64) -> Result<bool> {
        let mut left = count;
        while left > 0 {
            interrupt::check()?;
            let step = left.min(PASSED);
            if !self.current().skip(step)? {
                return Ok(false);
            }
            left -= step;
        }
        Ok(true)
    }

    /// Keeps a schema, a channel or metadata.
    pub(super) fn store_record(
        &mut self,
        opcode: u8,
        mut fields: RecordFields,
        place: MessagePosition,
    ) -> Result<()> {
        if opcode == op::METADATA {
            let (name, entries) = (fields.read_text()?, fields.read_text_map()?);
            if self.metadata_at.insert(place.at) {
                self.metadata.push(Metadata { name, entries, at: place.at });
            }
            return Ok(());
        }
        let again = match self.told.losses().last() {
            _ if !self.told.salvages() => Redefinition::Refused,
            Some(loss) if loss.at == place.at => Redefinition::LeftOut,
            _ => Redefinition::Kept,
        };
        let told = match opcode {
            op::SCHEMA => self.known.define(&mut fields, again)?,
            _ => self.known.add(&mut fields, again)?,
        };
        if let Some(told) = told {
            self.add_loss(place.at, format!("{told}; messages are kept"));
        }
        Ok(())
    }

    /// Keeps where an attachment lies. Its bytes are hopped over by who asked.
    pub(super) fn add_attachment(&mut self, length: u64, at: u64) -> Result<()> {
        let start = self.records.position();
        // What stands before the bytes: its times, name, media type and length.
        let most = length.min(1 << 16) as usize;
        let front = self.records.peek(most)?;
        let mut fields = RecordFields(front);
        let times = (fields.read_u64()?, fields.read_u64()?);
        let (name, media_type) = (fields.read_text()?, fields.read_text()?);
        let size = fields.read_u64()?;
        let from = start + (front.len() - fields.0.len()) as u64;
        // Behind them is a checksum, and what a later version may have added.
        let end = from.checked_add(size).filter(|end| end.saturating_add(4) <= start + length);
        let end = end.context("the length of an attachment differs from the declared one")?;
        let content = self.file.between(from, end);
        let mut checksum = Vec::new();
        self.file.between(end, end + 4).read_to_end(&mut checksum)?;
        if self.verifies && checksum != [0; 4] {
            let own = sum(self.file.between(start, end))?.to_le_bytes();
            if checksum != own {
                let what = format!("the checksum of attachment {name} is wrong");
                ensure!(self.told.salvages(), what);
                self.add_loss(at, format!("{what}; its bytes are kept unchanged"));
            }
        }
        self.attachments.push(Attachment { name, media_type, times, content });
        Ok(())
    }

    /// Compares what was read with its checksum, where all of it was read.
    pub(super) fn end_data(&mut self, length: u64, at: u64) -> Result<()> {
        let checksum = RecordFields(self.records.peek(4)?).read_u32()?;
        ensure!(self.skip_bytes(length)?, TruncatedError);
        let is_right = checksum == 0 || self.sum.is_none_or(|own| own == checksum);
        self.records.end_sum();
        let what = "the checksum of the data is wrong";
        ensure!(is_right || self.told.salvages(), what);
        // What was told to be damaged is why.
        if !is_right && self.losses().is_empty() {
            self.add_loss(at, format!("{what}: a byte was changed, but it is not known which one"));
        }
        Ok(())
    }

    /// Goes on behind the last bytes of a recording, where another one or anything else
    /// follows.
    pub(super) fn continue_after_end(&mut self) -> Result<()> {
        let (at, left) = (self.records.position(), self.records.remaining().unwrap_or(0));
        let is_joined = self.records.peek(MAGIC.len())? == MAGIC;
        let next = match self.told.salvages() && !is_joined && left > 0 {
            true => search::next_record(&self.file, at)?,
            false => None,
        };
        self.finished = !is_joined && next.is_none();
        (self.ended, self.trusts_times, self.summary) = (self.finished, false, None);
        if left > 0 {
            // It was looked for at the end of the file.
            self.summary_fault = None;
        }
        if is_joined {
            self.remark(
                at,
                "another recording begins here, as if files were joined; it is read too",
            );
            self.known.begin_file();
            self.records.skip(MAGIC.len() as u64)?;
            if self.verifies {
                self.records.begin_sum(MAGIC);
            }
        } else if let Some(next) = next {
            self.remark(at, "this comes after the end of the recording and is read");
            self.records.continue_with(self.file.between(next, self.file.end()));
        } else if left > 0 {
            self.remark(
                at,
                &format!(
                    "after the end of the recording, and not part of it: {}",
                    format_count(left, "byte")
                ),
            );
        } else if let Some(fault) =
            self.summary_fault.take().filter(|_| self.told.remarks().is_empty())
        {
            self.remark(self.at, &format!("the summary is damaged and not used: {fault}"));
        }
        Ok(())
    }

    /// Tells what costs no message: as a loss where these are told.
    pub(super) fn remark(&mut self, at: u64, what: &str) {
        match self.told.salvages() {
            true => self.told.add_loss(at, what),
            false => self.told.add_remark(format!("{}: byte {at}: {what}", self.origin)),
        }
    }

    /// Holds a message index against its chunk. Where it has messages in time of one that was
    /// hopped over, goes back to it.
    pub(super) fn compare_index(&mut self, bytes: &[u8], at: u64) -> Result<()> {
        let index = match MessageIndex::read(&mut RecordFields(bytes)) {
            Ok(index) => index,
            Err(error) => {
                self.index_faults.push((at, format!("{error:#}")));
                return Ok(());
            }
        };
        let (from, to) = self.window;
        let in_time = |time: u64| (from..=to).contains(&Nanoseconds::from(time));
        match self.hopped {
            Some(chunk) if index.entries.iter().any(|(time, _)| in_time(*time)) => {
                self.trusts_times = false;
                self.hopped = None;
                self.chunks.retain(|seen| seen.at < chunk);
                self.records.continue_with(self.file.between(chunk, self.file.end()));
            }
            Some(_) => {}
            None => {
                let fault = index.fault(&self.places);
                self.index_faults.extend(fault.map(|fault| (at, fault)));
            }
        }
        Ok(())
    }
}

/// The checksum of a part of a file.
fn sum(mut part: FileRange) -> Result<u32> {
    let (mut piece, mut sum) = (vec![0; 1 << 16], crc32fast::Hasher::new());
    loop {
        interrupt::check()?;
        match part.read(&mut piece)? {
            0 => return Ok(sum.finalize()),
            count => sum.update(&piece[..count]),
        }
    }
}
