//! Where the numbers of a record lie that always has as many bytes, so that many such records
//! are read column by column instead of value by value.

use wiregauge_schema::{Cardinality, Element, Schema, TypeId};

use crate::column::{Column, Content};
use crate::selection::{RecordSelection, Target};

/// Numbers are aligned to at most so many bytes.
pub(crate) const ALIGNMENT: usize = 8;

/// The longest array of records that is laid out element by element.
const LONGEST_ARRAY: usize = 64;

/// The most numbers in a record that are laid out.
const MOST_RUNS: usize = 4096;

/// So many bytes are read for all columns before the next ones: they stay in the first cache.
const BLOCK: usize = 16 << 10;

/// A record's layout, by where it begins.
#[derive(Clone, Debug)]
pub(crate) struct FixedLayout {
    /// One for each position modulo [`ALIGNMENT`]; one alone where nothing is aligned.
    phases: Vec<Phase>,
}

#[derive(Clone, Debug)]
struct Phase {
    /// The bytes of a record that begins here, with those before its first number.
    size: usize,
    leaves: Vec<Leaf>,
}

/// Numbers that one column gets from each record.
#[derive(Clone, Debug)]
struct Leaf {
    /// Which column of the record, and of the records in it.
    path: Vec<usize>,
    /// Bytes of a number.
    size: usize,
    /// Where they lie in the record, and how many in a row.
    runs: Vec<(usize, usize)>,
}

impl FixedLayout {
    /// Of a record and what is selected of it, if anything is; none where its size varies.
    pub fn new(
        schema: &Schema,
        id: TypeId,
        selection: Option<&RecordSelection>,
        is_aligned: bool,
        is_padded: bool,
    ) -> Option<FixedLayout> {
        if !schema.is_pod(id) {
            return None;
        }
        let phases = if is_aligned { ALIGNMENT } else { 1 };
        let phases = (0..phases).map(|start| {
            let mut layout = Layout { schema, is_aligned, is_padded, leaves: Vec::new(), runs: 0 };
            let end = layout.record(id, selection, (start, start), &mut Vec::new())?;
            Some(Phase { size: end - start, leaves: layout.leaves })
        });
        Some(FixedLayout { phases: phases.collect::<Option<_>>()? })
    }

    /// How many records from a position on are laid out alike, at most so many, and how many
    /// bytes each has.
    pub fn alike(&self, at: usize, count: usize) -> (usize, usize) {
        let size = self.phase(at).size;
        let is_steady = size.is_multiple_of(self.phases.len());
        (if is_steady { count } else { count.min(1) }, size)
    }

    /// Adds the numbers of records that are laid out alike; `bytes` begins with the first, at
    /// a position, and ends with the last.
    pub fn gather(&self, at: usize, bytes: &[u8], is_swapped: bool, columns: &mut [Column]) {
        let Phase { size, leaves } = self.phase(at);
        // Blocks of whole records.
        for block in bytes.chunks(size * (BLOCK / size).max(1)) {
            for leaf in leaves {
                leaf.gather(block, *size, is_swapped, columns);
            }
        }
    }

    fn phase(&self, at: usize) -> &Phase {
        &self.phases[at % self.phases.len()]
    }
}

impl Leaf {
    fn gather(&self, block: &[u8], stride: usize, is_swapped: bool, columns: &mut [Column]) {
        let words = match find(columns, &self.path) {
            Content::Number(words, _) => words,
            Content::Octets { bytes, .. } => {
                for row in block.chunks_exact(stride) {
                    for (offset, count) in &self.runs {
                        bytes.extend_from_slice(&row[*offset..*offset + count]);
                    }
                }
                return;
            }
            _ => unreachable!("a leaf is a column of numbers"),
        };
        match self.runs[..] {
            [(0, count)] if count * self.size == stride => words.extend(block, is_swapped),
            [(offset, 1)] => words.extend_strided(block, offset, stride, is_swapped),
            _ => {
                for row in block.chunks_exact(stride) {
                    for (offset, count) in &self.runs {
                        words.extend(&row[*offset..offset + count * self.size], is_swapped);
                    }
                }
            }
        }
    }
}

/// The column at the end of a path, through records and arrays.
fn find<'c>(columns: &'c mut [Column], path: &[usize]) -> &'c mut Content {
    let mut content = &mut columns[path[0]].content;
    for step in &path[1..] {
        content = through_arrays(content);
        let Content::Record { columns, .. } = content else {
            unreachable!("a path leads through records")
        };
        content = &mut columns[*step].content;
    }
    through_arrays(content)
}

fn through_arrays(mut content: &mut Content) -> &mut Content {
    while let Content::Array { element, .. } = content {
        content = &mut element.content;
    }
    content
}

struct Layout<'s> {
    schema: &'s Schema,
    is_aligned: bool,
    is_padded: bool,
    leaves: Vec<Leaf>,
    runs: usize,
}

impl Layout<'_> {
    /// Lays out a record; the position behind it. Positions are where the outermost record
    /// begins, from which numbers are found, and where this one does.
    fn record(
        &mut self,
        id: TypeId,
        selection: Option<&RecordSelection>,
        (origin, mut at): (usize, usize),
        path: &mut Vec<usize>,
    ) -> Option<usize> {
        let record = self.schema.record(id);
        if record.fields.is_empty() && self.is_padded {
            return Some(at + 1);
        }
        for (number, field) in record.fields.iter().enumerate() {
            let target = selection.map_or(&Target::Skip, |selection| &selection.targets[number]);
            let (column, inner) = match target {
                Target::Column(column, inner) => (Some(*column), inner.as_deref()),
                Target::Skip => (None, None),
                Target::Within(_) | Target::Rows(_) => return None,
            };
            let count = match field.cardinality {
                Cardinality::Array { len } => len as usize,
                _ => 1,
            };
            path.extend(column);
            at = match field.element {
                Element::Record(inner_id) if count <= LONGEST_ARRAY => {
                    for _ in 0..count {
                        at = self.record(inner_id, inner, (origin, at), path)?;
                    }
                    at
                }
                Element::Record(_) => return None,
                other => {
                    let size = self.schema.scalar(other)?.size();
                    if self.is_aligned && count > 0 {
                        at = at.next_multiple_of(size);
                    }
                    if column.is_some() && count > 0 {
                        self.add_run(path, size, (at - origin, count))?;
                    }
                    at.checked_add(size.checked_mul(count)?)?
                }
            };
            if column.is_some() {
                path.pop();
            }
        }
        Some(at)
    }

    fn add_run(&mut self, path: &[usize], size: usize, run: (usize, usize)) -> Option<()> {
        self.runs += 1;
        match self.leaves.iter_mut().find(|leaf| leaf.path == path) {
            Some(leaf) => leaf.runs.push(run),
            None => self.leaves.push(Leaf { path: path.to_vec(), size, runs: vec![run] }),
        }
        (self.runs <= MOST_RUNS).then_some(())
    }
}
