//! Which fields of a message become columns.

use std::sync::Arc;

use anyhow::{bail, ensure, Context, Result};
use arrow_schema::{DataType, Field as ArrowField, FieldRef, Fields, TimeUnit};
use wiregauge_schema::{Cardinality, Element, Field, Role, Schema, TypeId};

use crate::column::{number_type, Column, Content, RecordForm};
use crate::number_list::NumberList;

/// The most columns of a table.
const MOST_COLUMNS: usize = 10_000;

/// The deepest nesting of records in a column.
const DEEPEST: usize = 64;

/// What becomes of the fields of a record.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordSelection {
    /// In the order of the fields.
    pub targets: Vec<Target>,
}

/// What becomes of a field.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Skip,
    /// It is a column of its record, the one with this number; of a record with what is
    /// selected in it.
    Column(usize, Option<Box<RecordSelection>>),
    /// It is a record on the path to the rows.
    Within(Box<RecordSelection>),
    /// Its elements are the rows.
    Rows(Box<RecordSelection>),
}

/// The same without what is selected in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanTarget {
    Skip,
    Column(usize),
    Within,
    Rows,
}

impl Target {
    /// What becomes of the field, and what is selected in it.
    pub fn split(&self) -> (PlanTarget, Option<&RecordSelection>) {
        match self {
            Target::Skip => (PlanTarget::Skip, None),
            Target::Column(column, inner) => (PlanTarget::Column(*column), inner.as_deref()),
            Target::Within(inner) => (PlanTarget::Within, Some(inner)),
            Target::Rows(inner) => (PlanTarget::Rows, Some(inner)),
        }
    }
}

/// The columns of a selection.
pub(crate) struct Selected {
    pub selection: RecordSelection,
    /// The record of all columns.
    pub root: Column,
    pub fields: Fields,
}

/// Selects fields by their paths, such as `header.stamp` or `points.x`; all by `*`, and where
/// there is none. With `rows`, the path of a list of records, its elements are the rows, and paths begin
/// there. With `has_roles`, times and maps become those of Arrow.
///
/// # Errors
/// When a path leads nowhere, a selected record contains itself, or there are too many columns.
pub(crate) fn select(
    schema: &Schema,
    rows: Option<&str>,
    paths: &[String],
    has_roles: bool,
) -> Result<Selected> {
    let mut builder = SelectionBuilder { schema, has_roles, columns: 0, open: Vec::new() };
    let Some(rows) = rows else {
        return builder.root(schema.root, paths);
    };
    let mut on_the_way = Vec::new();
    let mut id = schema.root;
    for step in rows.split('.') {
        let at = find_field(schema, id, step)?;
        let field = &schema.record(id).fields[at];
        let Element::Record(inner) = field.element else {
            bail!("{rows}: {step} has no fields that could be columns");
        };
        on_the_way.push((id, at, is_repeated(field)));
        ensure!(on_the_way.len() <= DEEPEST, "{rows}: nested too deeply");
        id = inner;
    }
    ensure!(
        on_the_way.iter().any(|(_, _, repeats)| *repeats),
        "{rows} is no list; without it, each message is a row"
    );
    let mut selected = builder.root(id, paths)?;
    for (number, (id, at, _)) in on_the_way.into_iter().rev().enumerate() {
        let mut targets = vec![Target::Skip; schema.record(id).fields.len()];
        let inner = Box::new(selected.selection);
        targets[at] = if number == 0 { Target::Rows(inner) } else { Target::Within(inner) };
        selected.selection = RecordSelection { targets };
    }
    Ok(selected)
}

fn is_repeated(field: &Field) -> bool {
    matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

fn find_field(schema: &Schema, id: TypeId, name: &str) -> Result<usize> {
    let record = schema.record(id);
    let at = record.fields.iter().position(|field| field.name.original == name);
    at.with_context(|| {
        let names: Vec<&str> = record.fields.iter().map(|f| f.name.original.as_str()).collect();
        format!("{} has no field '{name}'; it has {}", record.name.original, names.join(", "))
    })
}

struct SelectionBuilder<'s> {
    schema: &'s Schema,
    /// Whether times and maps become those of Arrow.
    has_roles: bool,
    columns: usize,
    /// The records that are being selected.
    open: Vec<TypeId>,
}

impl SelectionBuilder<'_> {
    fn root(&mut self, id: TypeId, paths: &[String]) -> Result<Selected> {
        fn split(path: &str) -> Vec<&str> {
            match path {
                "*" => Vec::new(),
                path => path.split('.').collect(),
            }
        }
        let paths: Vec<Vec<&str>> = paths.iter().map(|path| split(path)).collect();
        let paths: Vec<&[&str]> = paths.iter().map(Vec::as_slice).collect();
        let (selection, root, fields) = self.record(id, &paths)?;
        Ok(Selected { selection, root, fields })
    }

    /// Selects what paths name of a record: all of it where none is left to follow.
    fn record(
        &mut self,
        id: TypeId,
        paths: &[&[&str]],
    ) -> Result<(RecordSelection, Column, Fields)> {
        let record = self.schema.record(id);
        let name = &record.name.original;
        ensure!(
            !self.open.contains(&id) && self.open.len() < DEEPEST,
            "{name} contains itself; name the fields that are to be columns"
        );
        self.open.push(id);
        for path in paths {
            if let Some(first) = path.first() {
                find_field(self.schema, id, first)?;
            }
        }
        let (mut targets, mut columns, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        for field in &record.fields {
            let takes_all = paths.is_empty() || paths.iter().any(|path| path.is_empty());
            let of_field = paths
                .iter()
                .filter(|path| path.first().is_some_and(|first| *first == field.name.original));
            let within: Vec<&[&str]> = of_field.map(|path| &path[1..]).collect();
            if within.is_empty() && !takes_all {
                targets.push(Target::Skip);
                continue;
            }
            // One that ends here takes all that is in the field.
            let within = match takes_all || within.iter().any(|path| path.is_empty()) {
                true => Vec::new(),
                false => within,
            };
            // What an entry of a map lacks is zero or empty; only a record can be absent.
            let is_entry = self.has_roles && record.role == Role::MapEntry;
            let is_record = matches!(field.element, Element::Record(_));
            let is_optional = field.cardinality == Cardinality::Optional;
            let is_nullable = is_optional && (!is_entry || is_record);
            let (column, inner, arrow) = self.field(field, &within, is_nullable)?;
            targets.push(Target::Column(columns.len(), inner.map(Box::new)));
            columns.push(column);
            fields.push(Arc::new(arrow));
        }
        self.open.pop();
        let fields = Fields::from(fields);
        let form = RecordForm::Struct;
        let content = Content::Record { columns, rows: 0, fields: fields.clone(), form };
        Ok((RecordSelection { targets }, Column::new(content, false), fields))
    }

    fn field(
        &mut self,
        field: &Field,
        paths: &[&[&str]],
        is_nullable: bool,
    ) -> Result<(Column, Option<RecordSelection>, ArrowField)> {
        self.columns += 1;
        ensure!(
            self.columns <= MOST_COLUMNS,
            "more than {MOST_COLUMNS} columns; name the fields that are to be columns"
        );
        let name = &field.name.original;
        let (element, inner, data_type) = self.element(field, paths)?;
        let item = || -> FieldRef {
            Arc::new(ArrowField::new("item", data_type.clone(), is_time(&data_type)))
        };
        let (content, data_type) = match field.cardinality {
            Cardinality::List { .. } if field.is_octet_list() => {
                let bytes = Content::Bytes { bytes: Vec::new(), ends: vec![0], is_text: false };
                (bytes, DataType::Binary)
            }
            // An array without elements is a list without any.
            Cardinality::List { .. } | Cardinality::Array { len: 0 } => {
                let is_map = self.is_map(field, &data_type);
                let item = match is_map {
                    true => Arc::new(item().as_ref().clone().with_name("entries")),
                    false => item(),
                };
                let element = Box::new(Column::new(element, false));
                let list = Content::List { element, ends: vec![0], field: item.clone(), is_map };
                (list, if is_map { DataType::Map(item, false) } else { DataType::List(item) })
            }
            Cardinality::Array { len: 1.. } if field.repeats_octets() => {
                let length = array_length(field);
                let octets = Content::Octets { bytes: Vec::new(), length };
                (octets, DataType::FixedSizeBinary(length as i32))
            }
            Cardinality::Array { .. } => {
                let (item, length) = (item(), array_length(field));
                let element = Box::new(Column::new(element, false));
                let array = Content::Array { element, length, rows: 0, field: item.clone() };
                (array, DataType::FixedSizeList(item, length as i32))
            }
            _ => (element, data_type),
        };
        Ok((
            Column::new(content, is_nullable),
            inner,
            ArrowField::new(name, data_type.clone(), is_nullable || is_time(&data_type)),
        ))
    }

    fn element(
        &mut self,
        field: &Field,
        paths: &[&[&str]],
    ) -> Result<(Content, Option<RecordSelection>, DataType)> {
        if let Element::Record(id) = field.element {
            let (selection, mut column, fields) = self.record(id, paths)?;
            let data_type = match self.time_form(id, &fields) {
                RecordForm::Struct => DataType::Struct(fields),
                wanted => {
                    if let Content::Record { form, .. } = &mut column.content {
                        *form = wanted;
                    }
                    match wanted {
                        RecordForm::Duration => DataType::Duration(TimeUnit::Nanosecond),
                        _ => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
                    }
                }
            };
            return Ok((column.content, Some(selection), data_type));
        }
        ensure!(
            paths.iter().all(|path| path.is_empty()),
            "'{}' has no fields of its own",
            field.name.original
        );
        let bytes = |is_text| Content::Bytes { bytes: Vec::new(), ends: vec![0], is_text };
        Ok(match self.schema.scalar(field.element) {
            Some(scalar) => {
                let words = NumberList::new(scalar.size());
                (Content::Number(words, scalar), None, number_type(scalar))
            }
            None if field.element == Element::String => (bytes(true), None, DataType::Utf8),
            None => (bytes(false), None, DataType::Binary),
        })
    }
}

/// Whether it is one of Arrow's times, which are null where they are too far away.
fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(..) | DataType::Duration(_))
}

impl SelectionBuilder<'_> {
    /// Whether a record of which these fields are selected is a time of Arrow.
    fn time_form(&self, id: TypeId, fields: &Fields) -> RecordForm {
        let is_number = |at: usize, wanted| {
            fields.get(at).is_some_and(|it| *it.data_type() == wanted && !it.is_nullable())
        };
        let is_time = fields.len() == 2
            && is_number(0, DataType::Int64)
            && is_number(1, DataType::Int32)
            && self.has_roles;
        match self.schema.record(id).role {
            Role::Timestamp if is_time => RecordForm::Timestamp,
            Role::Duration if is_time => RecordForm::Duration,
            _ => RecordForm::Struct,
        }
    }

    /// Whether a list of entries with these columns is a map of Arrow.
    fn is_map(&self, field: &Field, entry: &DataType) -> bool {
        let Element::Record(id) = field.element else { return false };
        let is_entry = self.schema.record(id).role == Role::MapEntry;
        let is_whole = matches!(entry, DataType::Struct(fields) if fields.len() == 2);
        self.has_roles && is_entry && is_whole
    }
}

/// The length of a fixed array.
pub(crate) fn array_length(field: &Field) -> usize {
    match field.cardinality {
        Cardinality::Array { len } => len as usize,
        _ => 1,
    }
}
