//! Messages whose fields lie one after another, as CDR and ROS 1 write them, into columns.

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::{Cardinality, Element, Field, Schema, TypeId};
use wiregauge_trace::cdr::find_wide;

use crate::column::{check_end, push_end, Column, Content};
use crate::cursor::{Cursor, SequentialLayout};
use crate::fixed_layout::FixedLayout;
use crate::selection::{PlanTarget, RecordSelection, Target};

/// The deepest nesting of records that is passed over.
const DEEPEST: usize = 64;

/// Decodes messages of one type, for one selection.
#[derive(Clone, Debug)]
pub(crate) struct SequentialPlan {
    root: RecordPlan,
    layout: SequentialLayout,
    types: SkippedTypes,
}

#[derive(Clone, Debug)]
struct RecordPlan {
    name: String,
    fields: Vec<FieldPlan>,
    /// Where it always has as many bytes.
    fixed: Option<FixedLayout>,
}

#[derive(Clone, Debug)]
struct FieldPlan {
    name: String,
    element: ElementPlan,
    count: Count,
    target: PlanTarget,
}

#[derive(Clone, Debug)]
enum ElementPlan {
    Number {
        size: usize,
        is_bool: bool,
    },
    Text,
    Bytes,
    /// With what is selected in it, if anything is.
    Record(TypeId, Option<Box<RecordPlan>>),
}

#[derive(Clone, Copy, Debug)]
enum Count {
    One,
    Array(usize),
    List(Option<usize>),
}

/// What is known of types that are passed over.
#[derive(Clone, Debug)]
struct SkippedTypes {
    schema: Schema,
    /// By type: how its records lie, where they always have as many bytes.
    fixed: Vec<Option<FixedLayout>>,
}

impl SequentialPlan {
    /// # Errors
    /// When the format does not have what the definition has.
    pub fn new(
        schema: &Schema,
        selection: &RecordSelection,
        layout: SequentialLayout,
    ) -> Result<SequentialPlan> {
        // How many bytes a letter of it has is not the same in all implementations.
        if let Some((record, field)) = find_wide(schema) {
            let (name, member) = (&record.name.original, &field.name.original);
            bail!("{name}.{member} is a wstring, which cannot become a column");
        }
        let fixed = (0..schema.types.len()).map(|id| {
            let is_record = schema.records().any(|(record, _)| record == id);
            let layout_of = || FixedLayout::new(schema, id, None, layout.is_aligned, layout.is_cdr);
            is_record.then(layout_of).flatten()
        });
        let types = SkippedTypes { schema: schema.clone(), fixed: fixed.collect() };
        let root = RecordPlan::new(schema, schema.root, selection, layout)?;
        Ok(SequentialPlan { root, layout, types })
    }

    /// Adds the rows of a message to the record of all columns. Where this fails, rows may be
    /// half there.
    ///
    /// # Errors
    /// When the message does not fit its definition.
    pub fn decode(&self, message: &[u8], rows: &mut Column, size: &mut usize) -> Result<()> {
        let cursor = Cursor::begin(message, self.layout)?;
        let mut reader = Reader { cursor, plan: self, size };
        reader.root(&self.root, rows)?;
        reader.cursor.finish()
    }
}

impl Count {
    fn new(field: &Field) -> Result<Count> {
        Ok(match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => Count::One,
            Cardinality::Optional => bail!("an optional field, which this format does not have"),
            Cardinality::Array { len } => Count::Array(len as usize),
            Cardinality::List { bound } => Count::List(bound.map(|bound| bound as usize)),
        })
    }
}

impl RecordPlan {
    fn new(
        schema: &Schema,
        id: TypeId,
        selection: &RecordSelection,
        layout: SequentialLayout,
    ) -> Result<RecordPlan> {
        let record = schema.record(id);
        let name = record.name.original.clone();
        let fields = record.fields.iter().zip(&selection.targets).map(|(field, target)| {
            FieldPlan::new(schema, field, target, layout)
                .with_context(|| format!("{name}.{}", field.name.original))
        });
        let fields = fields.collect::<Result<Vec<_>>>()?;
        let fixed = FixedLayout::new(schema, id, Some(selection), layout.is_aligned, layout.is_cdr);
        Ok(RecordPlan { name: name.clone(), fields, fixed })
    }
}

impl FieldPlan {
    fn new(
        schema: &Schema,
        field: &Field,
        target: &Target,
        layout: SequentialLayout,
    ) -> Result<FieldPlan> {
        let (target, inner) = target.split();
        let element = match field.element {
            Element::Record(id) => {
                let inner = inner.map(|inner| RecordPlan::new(schema, id, inner, layout));
                ElementPlan::Record(id, inner.transpose()?.map(Box::new))
            }
            Element::String => ElementPlan::Text,
            Element::Bytes => ElementPlan::Bytes,
            other => {
                let scalar = schema.scalar(other).context("not a number")?;
                let is_bool = scalar == wiregauge_schema::Scalar::Bool;
                ElementPlan::Number { size: scalar.size(), is_bool }
            }
        };
        let count = Count::new(field)?;
        Ok(FieldPlan { name: field.name.original.clone(), element, count, target })
    }
}

struct Reader<'m, 'p> {
    cursor: Cursor<'m>,
    plan: &'p SequentialPlan,
    /// How much memory rows take, about.
    size: &'p mut usize,
}

impl Reader<'_, '_> {
    /// A message: a row, or the rows of a list in it.
    fn root(&mut self, plan: &RecordPlan, rows: &mut Column) -> Result<()> {
        let is_row = !plan
            .fields
            .iter()
            .any(|field| matches!(field.target, PlanTarget::Within | PlanTarget::Rows));
        match is_row {
            true => self.records(plan, 1, rows),
            false => self.on_the_way(plan, rows),
        }
    }

    /// A record on the path to the rows, which is no row.
    fn on_the_way(&mut self, plan: &RecordPlan, rows: &mut Column) -> Result<()> {
        for field in &plan.fields {
            self.field_on_the_way(field, rows)
                .with_context(|| format!("{}.{}", plan.name, field.name))?;
        }
        Ok(())
    }

    fn field_on_the_way(&mut self, field: &FieldPlan, rows: &mut Column) -> Result<()> {
        let ElementPlan::Record(_, Some(inner)) = &field.element else {
            return self.skip(field, 0);
        };
        let count = self.count(field.count)?;
        match field.target {
            PlanTarget::Rows => self.records(inner, count, rows),
            _ => (0..count).try_for_each(|_| self.on_the_way(inner, rows)),
        }
    }

    /// How many elements a field has.
    fn count(&mut self, count: Count) -> Result<usize> {
        let count = match count {
            Count::One => return Ok(1),
            Count::Array(count) => count,
            Count::List(bound) => {
                let count = self.cursor.length()?;
                let is_within = bound.is_none_or(|bound| count <= bound);
                ensure!(is_within, "{count} elements are more than its bound");
                count
            }
        };
        let left = self.cursor.left();
        ensure!(count <= left, "{count} elements, but only {left} bytes are left");
        Ok(count)
    }

    /// Records one after another, each a row.
    fn records(&mut self, plan: &RecordPlan, count: usize, rows: &mut Column) -> Result<()> {
        rows.count_size(count, self.size)?;
        let Some(fixed) = &plan.fixed else {
            for _ in 0..count {
                let before = self.cursor.at;
                self.record(plan, rows)?;
                let has_content = self.cursor.at > before || count == 1;
                ensure!(has_content, "the elements of a list have no content");
            }
            return Ok(());
        };
        let (first, mut done) = (rows.rows(), 0);
        while done < count {
            let phase = self.cursor.phase();
            let (alike, size) = fixed.alike(phase, count - done);
            ensure!(size > 0 || count == 1, "the elements of a list have no content");
            let bytes = self.cursor.take(size.saturating_mul(alike))?;
            if size > 0 {
                fixed.gather(phase, bytes, self.cursor.is_swapped, rows.columns());
            }
            done += alike;
        }
        rows.settle(first + count);
        check_truth(rows, first)
    }

    fn record(&mut self, plan: &RecordPlan, rows: &mut Column) -> Result<()> {
        let columns = rows.columns();
        for field in &plan.fields {
            self.field(field, columns).with_context(|| format!("{}.{}", plan.name, field.name))?;
        }
        rows.count_rows(1);
        Ok(())
    }

    fn field(&mut self, field: &FieldPlan, columns: &mut [Column]) -> Result<()> {
        let PlanTarget::Column(column) = field.target else { return self.skip(field, 0) };
        let column = &mut columns[column];
        if let Count::One = field.count {
            return self.elements(&field.element, 1, column);
        }
        let count = self.count(field.count)?;
        match &mut column.content {
            Content::Bytes { bytes, ends, .. } => {
                bytes.extend_from_slice(self.cursor.take(count)?);
                push_end(ends, bytes.len())
            }
            Content::Octets { bytes, .. } => {
                bytes.extend_from_slice(self.cursor.take(count)?);
                Ok(())
            }
            Content::List { element, ends, .. } => {
                self.elements(&field.element, count, element)?;
                push_end(ends, element.rows())
            }
            Content::Array { element, rows, .. } => {
                self.elements(&field.element, count, element)?;
                *rows += 1;
                Ok(())
            }
            _ => unreachable!("a repeated field has a column of lists"),
        }
    }

    /// Elements one after another, each a row of a column.
    fn elements(&mut self, plan: &ElementPlan, count: usize, column: &mut Column) -> Result<()> {
        match (plan, &mut column.content) {
            (ElementPlan::Number { size, is_bool }, Content::Number(words, _)) => {
                if count == 0 {
                    return Ok(());
                }
                self.cursor.align(*size)?;
                let bytes = self.cursor.take(size.saturating_mul(count))?;
                if *is_bool {
                    check_bools(bytes)?;
                }
                words.extend(bytes, self.cursor.is_swapped);
            }
            (ElementPlan::Text | ElementPlan::Bytes, Content::Bytes { bytes, ends, is_text }) => {
                for _ in 0..count {
                    let one = self.cursor.octets(*is_text && self.plan.layout.is_cdr)?;
                    if *is_text {
                        std::str::from_utf8(one).context("a text is not UTF-8")?;
                    }
                    bytes.extend_from_slice(one);
                    push_end(ends, bytes.len())?;
                }
            }
            (ElementPlan::Record(_, Some(inner)), _) => self.records(inner, count, column)?,
            _ => unreachable!("a plan and its columns are made together"),
        }
        Ok(())
    }

    /// Passes over a field.
    fn skip(&mut self, field: &FieldPlan, depth: usize) -> Result<()> {
        let count = self.count(field.count)?;
        match &field.element {
            ElementPlan::Record(id, _) => self.skip_records(*id, count, depth),
            ElementPlan::Number { size, .. } => self.skip_numbers(*size, count),
            ElementPlan::Text | ElementPlan::Bytes => self.skip_texts(count),
        }
    }

    fn skip_numbers(&mut self, size: usize, count: usize) -> Result<()> {
        if count > 0 {
            self.cursor.align(size)?;
            self.cursor.take(size.saturating_mul(count))?;
        }
        Ok(())
    }

    fn skip_texts(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let length = self.cursor.length()?;
            self.cursor.take(length)?;
        }
        Ok(())
    }

    fn skip_records(&mut self, id: TypeId, count: usize, depth: usize) -> Result<()> {
        let plan = self.plan;
        let record = plan.types.schema.record(id);
        ensure!(depth < DEEPEST, "{} is nested too deeply", record.name.original);
        if let Some(fixed) = &plan.types.fixed[id] {
            let mut done = 0;
            while done < count {
                let (alike, size) = fixed.alike(self.cursor.phase(), count - done);
                ensure!(size > 0 || count == 1, "the elements of a list have no content");
                self.cursor.take(size.saturating_mul(alike))?;
                done += alike;
            }
            return Ok(());
        }
        for _ in 0..count {
            let before = self.cursor.at;
            for field in &record.fields {
                self.skip_field(field, depth)
                    .with_context(|| format!("{}.{}", record.name.original, field.name.original))?;
            }
            let has_content = self.cursor.at > before || count == 1;
            ensure!(has_content, "the elements of a list have no content");
        }
        Ok(())
    }

    fn skip_field(&mut self, field: &Field, depth: usize) -> Result<()> {
        let count = self.count(Count::new(field)?)?;
        match field.element {
            Element::Record(id) => self.skip_records(id, count, depth + 1),
            Element::String | Element::Bytes => self.skip_texts(count),
            other => {
                let scalar = self.plan.types.schema.scalar(other).context("not a number")?;
                self.skip_numbers(scalar.size(), count)
            }
        }
    }
}

fn check_bools(bytes: &[u8]) -> Result<()> {
    match bytes.iter().find(|byte| **byte > 1) {
        Some(other) => bail!("a bool is 0 or 1, not {other}"),
        None => Ok(()),
    }
}

/// Fails where a truth value of the rows from the first on is neither 0 nor 1.
fn check_truth(column: &Column, first: usize) -> Result<()> {
    match &column.content {
        Content::Number(words, wiregauge_schema::Scalar::Bool) => {
            words.octets_from(first).map_or(Ok(()), check_bools)
        }
        Content::Array { element, length, .. } => check_truth(element, first * length),
        Content::Record { columns, .. } => {
            columns.iter().try_for_each(|column| check_truth(column, first))
        }
        Content::List { ends, .. } => check_end(ends.len()),
        _ => Ok(()),
    }
}
