//! Messages in Protobuf into columns.
//!
//! A row begins empty and is set as its fields come, in whatever order: what comes twice counts
//! as it came last, records that come twice are merged, and fields that the definition does not
//! know are passed over.

pub(crate) mod known_shapes;
mod message_plan;
mod shape;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::Schema;

use self::known_shapes::KnownShapes;
use self::message_plan::{to_tag, FieldPlan, MessagePlan, ValuePlan};
use self::shape::Shape;
use crate::column::{add_size, check_end, Column, Content};
use crate::selection::{PlanTarget, RecordSelection};

/// Deeper groups are refused, as Protobuf's libraries do.
const DEEPEST: usize = 100;

/// Decodes messages of one type, for one selection.
#[derive(Clone, Debug)]
pub(crate) struct ProtobufPlan {
    root: MessagePlan,
    /// Whether a message is a row, and not a list in it the rows.
    is_row: bool,
}

impl ProtobufPlan {
    /// # Errors
    /// When the format does not have what the definition has.
    pub fn new(schema: &Schema, selection: &RecordSelection) -> Result<ProtobufPlan> {
        let root = MessagePlan::new(schema, schema.root, selection)?;
        let leads_on =
            |field: &FieldPlan| matches!(field.target, PlanTarget::Within | PlanTarget::Rows);
        let is_row = !root.fields.iter().any(leads_on);
        Ok(ProtobufPlan { root, is_row })
    }

    /// Adds the rows of a message to the record of all columns. Where this fails, rows may be
    /// half there. Where a list has the rows, `others` is told the fields beside it that have
    /// bytes.
    ///
    /// # Errors
    /// When the message does not fit its definition.
    pub fn decode<'m>(
        &self,
        message: &'m [u8],
        rows: &mut Column,
        size: &mut usize,
        shapes: &mut KnownShapes,
        others: &mut dyn FnMut(u32, &'m [u8]),
    ) -> Result<()> {
        shapes.begin_message();
        let mut input = Input { bytes: message, size, depth: 0, shapes };
        if self.is_row {
            rows.count_size(1, input.size)?;
            rows.push_present();
            return input.record(&self.root, None, rows.columns());
        }
        input.on_the_way(&self.root, None, rows, others)
    }
}

/// What is left of a message.
struct Input<'m, 's> {
    bytes: &'m [u8],
    /// How much memory rows take, about.
    size: &'s mut usize,
    depth: usize,
    shapes: &'s mut KnownShapes,
}

impl<'m> Input<'m, '_> {
    /// Sets the columns of the last row, up to the end or to the end of a group.
    fn record(
        &mut self,
        plan: &MessagePlan,
        group: Option<u32>,
        columns: &mut [Column],
    ) -> Result<()> {
        let mut required = Required::default();
        while let Some(tag) = self.next_tag(group)? {
            let Some(field) = plan.find(tag >> 3) else {
                self.skip(tag)?;
                continue;
            };
            let PlanTarget::Column(column) = field.target else {
                clear_rivals(field, columns);
                self.skip(tag)?;
                continue;
            };
            let is_set = self
                .field(field, tag, column, columns)
                .with_context(|| format!("{}.{}", plan.name, field.name))?;
            match is_set {
                true => required.note(field),
                false => self.skip(tag)?,
            }
        }
        required.check(plan)
    }

    /// A message on the path to the rows, which is no row.
    fn on_the_way(
        &mut self,
        plan: &MessagePlan,
        group: Option<u32>,
        rows: &mut Column,
        others: &mut dyn FnMut(u32, &'m [u8]),
    ) -> Result<()> {
        loop {
            let before = self.bytes;
            let Some(tag) = self.next_tag(group)? else { return Ok(()) };
            let inner = plan.find(tag >> 3).and_then(|field| match &field.value {
                ValuePlan::Message(plan) => Some((field, plan)),
                _ => None,
            });
            let Some((field, inner)) = inner else {
                match tag & 7 {
                    2 => others(tag >> 3, self.length_delimited()?),
                    _ => self.skip(tag)?,
                }
                continue;
            };
            if field.target == PlanTarget::Rows {
                let alike = self.rows_alike(inner, tag, before, rows)?;
                if alike > 0 {
                    self.bytes = &before[alike..];
                    continue;
                }
            }
            let is_read = self
                .message(tag, |input, group| {
                    if field.target != PlanTarget::Rows {
                        return input.on_the_way(inner, group, rows, &mut |_, _| {});
                    }
                    rows.count_size(1, input.size)?;
                    rows.push_present();
                    input.record(inner, group, rows.columns())
                })
                .with_context(|| format!("{}.{}", plan.name, field.name))?;
            if !is_read {
                self.skip(tag)?;
            }
        }
    }

    /// Adds the rows at the beginning of these bytes, behind this tag each, that are written as
    /// others before them, or have numbers alone; how many bytes they have.
    fn rows_alike(
        &mut self,
        plan: &MessagePlan,
        tag: u32,
        bytes: &[u8],
        rows: &mut Column,
    ) -> Result<usize> {
        let (mut done, row_size) = (0, rows.row_size());
        loop {
            let rest = &bytes[done..];
            if let Some((shape, count)) = self.shapes.find(rest) {
                add_size(count, row_size, self.size)?;
                let alike = shape.bytes(count);
                shape.gather(&rest[..alike], rows.columns());
                rows.count_rows(count);
                done += alike;
                continue;
            }
            if self.shapes.is_full() {
                return Ok(done);
            }
            match Shape::learn(plan, tag, rest, rows.columns()) {
                Some(shape) => self.shapes.add(shape),
                None => {
                    // The list may as well end here.
                    if done == 0 {
                        self.shapes.count_failure();
                    }
                    return Ok(done);
                }
            }
        }
    }

    /// The next tag; none at the end.
    #[inline]
    fn next_tag(&mut self, group: Option<u32>) -> Result<Option<u32>> {
        if self.bytes.is_empty() {
            ensure!(group.is_none(), "a group has no end");
            return Ok(None);
        }
        let tag = self.tag()?;
        if tag & 7 == 4 {
            ensure!(group == Some(tag >> 3), "a group ends that did not begin");
            return Ok(None);
        }
        Ok(Some(tag))
    }

    /// Reads a field into its column; false where it is written in another way than the
    /// definition says, and nothing was read.
    #[inline]
    fn field(
        &mut self,
        field: &FieldPlan,
        tag: u32,
        at: usize,
        columns: &mut [Column],
    ) -> Result<bool> {
        if field.is_repeated {
            return self.repeated(field, tag, &mut columns[at]);
        }
        match (&field.value, tag & 7) {
            (ValuePlan::Varint(conversion), 0) => {
                let number = conversion.apply(self.varint()?);
                set_number(&mut columns[at], number);
            }
            (ValuePlan::Fixed(8), 1) | (ValuePlan::Fixed(4), 5) => {
                let number = self.fixed(tag)?;
                set_number(&mut columns[at], number);
            }
            (ValuePlan::Bytes, 2) => {
                let value = self.length_delimited()?;
                set_bytes(&mut columns[at], value)?;
            }
            (ValuePlan::Message(plan), 2 | 3) => {
                // Before it is read, as its own columns may hold what is to be merged.
                clear_rivals(field, columns);
                let column = &mut columns[at];
                column.mark_present();
                return self
                    .message(tag, |input, group| input.record(plan, group, column.columns()));
            }
            _ => return Ok(false),
        }
        clear_rivals(field, columns);
        Ok(true)
    }

    /// Reads elements of a list; false as for a field.
    fn repeated(&mut self, field: &FieldPlan, tag: u32, column: &mut Column) -> Result<bool> {
        let (element, ends) = match &mut column.content {
            Content::List { element, ends, .. } => (element, ends),
            _ => unreachable!("a repeated field has a column of lists"),
        };
        match (&field.value, tag & 7) {
            (ValuePlan::Varint(conversion), 0) => {
                let number = conversion.apply(self.varint()?);
                push_number(element, number);
            }
            (ValuePlan::Fixed(8), 1) | (ValuePlan::Fixed(4), 5) => {
                let number = self.fixed(tag)?;
                push_number(element, number);
            }
            (ValuePlan::Varint(conversion), 2) => {
                let whole = self.length_delimited()?;
                self.within(whole, |input| {
                    while !input.bytes.is_empty() {
                        let number = conversion.apply(input.varint()?);
                        push_number(element, number);
                    }
                    Ok(())
                })?;
            }
            (ValuePlan::Fixed(size), 2) => {
                let whole = self.length_delimited()?;
                ensure!(whole.len().is_multiple_of(*size), "a list ends within a number");
                if let Content::Number(words, _) = &mut element.content {
                    words.extend(whole, false);
                }
            }
            (ValuePlan::Bytes, 2) => {
                let value = self.length_delimited()?;
                element.count_size(1, self.size)?;
                element.push_present();
                set_bytes(element, value)?;
            }
            (ValuePlan::Message(plan), 2 | 3) => {
                element.count_size(1, self.size)?;
                element.push_present();
                let columns = element.columns();
                self.message(tag, |input, group| input.record(plan, group, columns))?;
            }
            _ => return Ok(false),
        }
        check_end(element.rows())?;
        if let Some(end) = ends.last_mut() {
            *end = element.rows() as i32;
        }
        Ok(true)
    }

    /// Reads a message behind its length or as a group.
    fn message(
        &mut self,
        tag: u32,
        read: impl FnOnce(&mut Self, Option<u32>) -> Result<()>,
    ) -> Result<bool> {
        match tag & 7 {
            2 => {
                let content = self.length_delimited()?;
                self.within(content, |input| read(input, None))?;
            }
            3 => {
                self.depth += 1;
                ensure!(self.depth < DEEPEST, "groups are nested too deeply");
                read(self, Some(tag >> 3))?;
                self.depth -= 1;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads what lies within these bytes.
    #[inline]
    fn within(
        &mut self,
        content: &'m [u8],
        read: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let rest = std::mem::replace(&mut self.bytes, content);
        read(self)?;
        self.bytes = rest;
        Ok(())
    }

    /// Passes over a field of which the tag was read.
    fn skip(&mut self, tag: u32) -> Result<()> {
        let mut open = Vec::new();
        let mut tag = tag;
        loop {
            match tag & 7 {
                0 => drop(self.varint()?),
                1 => drop(self.take(8)?),
                2 => drop(self.length_delimited()?),
                5 => drop(self.take(4)?),
                3 => {
                    ensure!(open.len() < DEEPEST, "groups are nested too deeply");
                    open.push(tag);
                }
                4 => ensure!(open.pop() == Some(tag - 1), "a group ends that did not begin"),
                kind => bail!("no field has the wire type {kind}"),
            }
            if open.is_empty() {
                return Ok(());
            }
            tag = self.tag()?;
        }
    }

    #[inline]
    fn tag(&mut self) -> Result<u32> {
        let tag = self.varint()?;
        to_tag(tag).with_context(|| format!("no field has the tag {tag}"))
    }

    #[inline]
    fn varint(&mut self) -> Result<u64> {
        // Most have one byte.
        if let [byte @ ..0x80, rest @ ..] = self.bytes {
            self.bytes = rest;
            return Ok(u64::from(*byte));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for (at, byte) in self.bytes.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                self.bytes = &self.bytes[at + 1..];
                return Ok(value);
            }
        }
        bail!("a number has no end")
    }

    #[inline]
    fn fixed(&mut self, tag: u32) -> Result<u64> {
        let mut word = [0; 8];
        let size = if tag & 7 == 1 { 8 } else { 4 };
        word[..size].copy_from_slice(self.take(size)?);
        Ok(u64::from_le_bytes(word))
    }

    #[inline]
    fn length_delimited(&mut self) -> Result<&'m [u8]> {
        let length = self.varint()?;
        self.take(usize::try_from(length)?)
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<&'m [u8]> {
        let Some((bytes, rest)) = self.bytes.split_at_checked(count) else {
            bail!("needs {count} bytes, but only {} are left", self.bytes.len())
        };
        self.bytes = rest;
        Ok(bytes)
    }
}

#[inline]
fn set_number(column: &mut Column, number: u64) {
    column.mark_present();
    if let Content::Number(words, _) = &mut column.content {
        words.set_last(number);
    }
}

#[inline]
fn push_number(column: &mut Column, number: u64) {
    if let Content::Number(words, _) = &mut column.content {
        words.push(number);
    }
}

/// Makes the last text or bytes another one.
fn set_bytes(column: &mut Column, value: &[u8]) -> Result<()> {
    column.mark_present();
    let Content::Bytes { bytes, ends, is_text } = &mut column.content else {
        unreachable!("texts and bytes have a column of them")
    };
    if *is_text {
        std::str::from_utf8(value).context("a text is not UTF-8")?;
    }
    let rows = ends.len() - 1;
    bytes.truncate(ends[rows - 1] as usize);
    bytes.extend_from_slice(value);
    check_end(bytes.len())?;
    ends[rows] = bytes.len() as i32;
    Ok(())
}

/// Of a union the last member counts.
#[inline]
fn clear_rivals(field: &FieldPlan, columns: &mut [Column]) {
    for rival in &field.rivals {
        columns[*rival].reset_last();
    }
}

/// Which required fields of a message came.
#[derive(Default)]
struct Required {
    came: Vec<u32>,
}

impl Required {
    #[inline]
    fn note(&mut self, field: &FieldPlan) {
        if field.is_required && !self.came.contains(&field.number) {
            self.came.push(field.number);
        }
    }

    fn check(&self, plan: &MessagePlan) -> Result<()> {
        for field in plan.fields.iter().filter(|field| field.is_required) {
            ensure!(
                self.came.contains(&field.number),
                "{}.{}: a required field is missing",
                plan.name,
                field.name
            );
        }
        Ok(())
    }
}
