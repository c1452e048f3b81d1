//! What is read of a message in Protobuf: its fields by their numbers, and where they go.

use anyhow::{bail, Context, Result};
use wiregauge_schema::{Cardinality, Element, Field, IntegerEncoding, Scalar, Schema, TypeId};

use crate::selection::{PlanTarget, RecordSelection, Target};

/// Fields with lower numbers are found by a table.
const TABLE: usize = 256;

/// No field has this place.
const NONE: u16 = u16::MAX;

#[derive(Clone, Debug)]
pub(super) struct MessagePlan {
    pub name: String,
    /// What is read, in the order of definition.
    pub fields: Vec<FieldPlan>,
    /// By number: the place in `fields`.
    pub table: Vec<u16>,
}

#[derive(Clone, Debug)]
pub(super) struct FieldPlan {
    pub name: String,
    pub number: u32,
    pub value: ValuePlan,
    pub target: PlanTarget,
    pub is_repeated: bool,
    pub is_required: bool,
    /// The columns of which at most one has a value, but for its own.
    pub rivals: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum ValuePlan {
    Varint(Conversion),
    /// Four or eight bytes.
    Fixed(usize),
    Bytes,
    /// Behind its length or as a group: readers take both.
    Message(Box<MessagePlan>),
}

/// What a varint stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conversion {
    Plain,
    Truth,
    Zigzag,
}

impl MessagePlan {
    pub fn new(schema: &Schema, id: TypeId, selection: &RecordSelection) -> Result<MessagePlan> {
        let record = schema.record(id);
        let mut fields = Vec::new();
        for (field, target) in record.fields.iter().zip(&selection.targets) {
            let rivals = || find_rivals(&record.fields, field, &selection.targets);
            let plan = FieldPlan::new(schema, field, target, rivals)
                .with_context(|| format!("{}.{}", record.name.original, field.name.original))?;
            fields.extend(plan);
        }
        let highest = fields.iter().map(|field| field.number as usize + 1).max().unwrap_or(0);
        let mut table = vec![NONE; highest.min(TABLE)];
        for (place, field) in fields.iter().enumerate() {
            if let Some(entry) = table.get_mut(field.number as usize) {
                *entry = place as u16;
            }
        }
        Ok(MessagePlan { name: record.name.original.clone(), fields, table })
    }

    #[inline]
    pub fn find(&self, number: u32) -> Option<&FieldPlan> {
        match self.table.get(number as usize) {
            Some(place) => self.fields.get(*place as usize),
            None if (number as usize) < TABLE => None,
            None => self.fields.iter().find(|field| field.number == number),
        }
    }
}

/// The columns of the other members of a field's union.
fn find_rivals(fields: &[Field], field: &Field, targets: &[Target]) -> Vec<usize> {
    let others = fields.iter().zip(targets).filter(|(other, _)| {
        other.union.is_some() && other.union == field.union && other.id != field.id
    });
    let columns = others.filter_map(|(_, target)| match target {
        Target::Column(column, _) => Some(*column),
        _ => None,
    });
    columns.collect()
}

impl FieldPlan {
    /// None where nothing is read of it.
    fn new(
        schema: &Schema,
        field: &Field,
        target: &Target,
        rivals: impl Fn() -> Vec<usize>,
    ) -> Result<Option<FieldPlan>> {
        let rivals = rivals();
        let (target, inner) = target.split();
        // One that is not read still makes what else its union has absent.
        if target == PlanTarget::Skip && rivals.is_empty() {
            return Ok(None);
        }
        let is_repeated = match field.cardinality {
            Cardinality::Array { .. } => bail!("a fixed array, which Protobuf does not have"),
            Cardinality::List { .. } => true,
            _ => false,
        };
        Ok(Some(FieldPlan {
            name: field.name.original.clone(),
            number: field.id,
            value: match target {
                PlanTarget::Skip => ValuePlan::Bytes,
                _ => ValuePlan::new(schema, field, inner)?,
            },
            target,
            is_repeated,
            is_required: field.cardinality == Cardinality::Required,
            rivals,
        }))
    }
}

impl ValuePlan {
    fn new(schema: &Schema, field: &Field, inner: Option<&RecordSelection>) -> Result<ValuePlan> {
        let scalar = match field.element {
            Element::String | Element::Bytes => return Ok(ValuePlan::Bytes),
            Element::Record(id) => {
                let inner = inner.context("nothing is selected in it")?;
                let plan = Box::new(MessagePlan::new(schema, id, inner)?);
                return Ok(ValuePlan::Message(plan));
            }
            other => schema.scalar(other).context("not a number")?,
        };
        Ok(match (scalar, field.wire.integer) {
            (Scalar::Bool, _) => ValuePlan::Varint(Conversion::Truth),
            (Scalar::F32, _) => ValuePlan::Fixed(4),
            (Scalar::F64, _) => ValuePlan::Fixed(8),
            (scalar, IntegerEncoding::Fixed) => ValuePlan::Fixed(scalar.size()),
            (_, IntegerEncoding::Zigzag) => ValuePlan::Varint(Conversion::Zigzag),
            (_, IntegerEncoding::Varint) => ValuePlan::Varint(Conversion::Plain),
        })
    }
}

impl Conversion {
    #[inline]
    pub fn apply(self, number: u64) -> u64 {
        match self {
            Conversion::Plain => number,
            Conversion::Truth => u64::from(number != 0),
            Conversion::Zigzag => (number >> 1) ^ (number & 1).wrapping_neg(),
        }
    }
}

/// The tag that a number is: one of a field from 1 to 2²⁹ - 1.
#[inline]
pub(super) fn to_tag(number: u64) -> Option<u32> {
    (8..8 << 29).contains(&number).then_some(number as u32)
}
