//! What the table of some points has: columns, channels and lists.

use std::borrow::Cow;
use std::collections::HashMap;

use anyhow::{bail, Context, Result};
use arrow_schema::{DataType, Field, Schema};
use wiregauge_columns::ElementHeads;

use crate::column::Type;
use crate::column_builder::data_type;
use crate::points::Points;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// The type that holds all of its values.
    pub kind: Type,
    /// The unit, where all lists say the same.
    pub unit: Cow<'static, str>,
    /// Which list had it first.
    from: String,
}

/// What a table must hold.
#[derive(Clone, Debug, Default)]
pub struct TableContents {
    /// Its columns.
    pub columns: Vec<TableColumn>,
    /// The channels with points.
    pub topics: Vec<String>,
    /// Their lists.
    pub lists: Vec<String>,
    /// Whether rows say their list, whichever lists there are.
    says_lists: bool,
}

impl TableContents {
    /// Adds what points have; whether any of it is new.
    ///
    /// # Errors
    /// When a column cannot hold the values of all lists.
    pub fn add_points(&mut self, topic: &str, points: &Points) -> Result<bool> {
        let mut is_new = false;
        for column in &points.columns {
            let kind = column.values.kind();
            let name = table_column_name(&column.name);
            let known = self.columns.iter_mut().find(|known| known.name == name);
            let Some(known) = known else {
                let (name, unit) = (name.into_owned(), column.unit.into());
                let from = format!("{topic}/{}", points.list);
                self.columns.push(TableColumn { name, kind, unit, from });
                is_new = true;
                continue;
            };
            let Some(both) = common_type(known.kind, kind) else {
                bail!(
                    "{} is {:?} in {topic} and {:?} in {}, which do not fit into one column; \
                     choose one by --channel",
                    column.name,
                    kind,
                    known.kind,
                    known.from
                );
            };
            is_new |= known.kind != both || !known.unit.is_empty() && known.unit != column.unit;
            known.kind = both;
            if known.unit != column.unit {
                known.unit = "".into();
            }
        }
        if !points.columns.is_empty() {
            for (known, name) in [(&mut self.topics, topic), (&mut self.lists, &points.list)] {
                if known.iter().all(|known| known != name) {
                    known.push(name.to_owned());
                    is_new = true;
                }
            }
        }
        Ok(is_new)
    }

    /// Adds a column that points of a list may have.
    pub fn add_column(&mut self, (name, kind, unit): (&str, Type, &'static str), from: &str) {
        let name = table_column_name(name);
        if self.columns.iter().all(|known| known.name != name) {
            let (name, unit, from) = (name.into_owned(), unit.into(), from.to_owned());
            self.columns.push(TableColumn { name, kind, unit, from });
        }
    }

    /// Of a table of points of one channel that was begun elsewhere.
    ///
    /// # Errors
    /// When it is none of points.
    pub fn from_schema(topic: &str, schema: &Schema) -> Result<TableContents> {
        let [time, message, _, list] = FIXED_COLUMNS;
        let mut contents = TableContents { topics: vec![topic.into()], ..TableContents::default() };
        for field in schema.fields() {
            let name = field.name().as_str();
            contents.says_lists |= name == list;
            if [time, message, list].contains(&name) {
                continue;
            }
            let kind = Type::ALL.into_iter().find(|kind| data_type(*kind) == *field.data_type());
            let kind = kind.with_context(|| format!("{name} is no column of points"))?;
            let unit = field.metadata().get("unit").cloned().unwrap_or_default().into();
            contents.columns.push(TableColumn {
                name: name.into(),
                kind,
                unit,
                from: topic.into(),
            });
        }
        Ok(contents)
    }

    /// Whether rows say their channel: those of one channel do not.
    pub fn has_channels(&self) -> bool {
        self.topics.len() > 1
    }

    /// Whether rows say their list: where messages are a list, they do not.
    pub fn has_lists(&self) -> bool {
        self.says_lists || self.lists.iter().any(|list| !list.is_empty())
    }

    /// The columns of the table, with their units.
    pub fn schema(&self) -> Schema {
        let words = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let mut fields = ElementHeads::fields();
        let [_, _, channel, list] = FIXED_COLUMNS;
        fields.extend(self.has_channels().then(|| Field::new(channel, words(), false)));
        fields.extend(self.has_lists().then(|| Field::new(list, words(), false)));
        fields.extend(self.columns.iter().map(|column| {
            let field = Field::new(&column.name, data_type(column.kind), true);
            match column.unit.as_ref() {
                "" => field,
                unit => field.with_metadata(HashMap::from([("unit".into(), unit.into())])),
            }
        }));
        let topic = self.topics.first().filter(|_| !self.has_channels());
        let metadata = topic.map(|topic| ("channel".to_owned(), topic.clone()));
        Schema::new_with_metadata(fields, metadata.into_iter().collect::<HashMap<_, _>>())
    }
}

/// The columns that tables may have beside those of points.
const FIXED_COLUMNS: [&str; 4] = ["log_time", "message", "channel", "list"];

/// What a column of points is called in a table, which has some of its own.
pub fn table_column_name(column: &str) -> Cow<'_, str> {
    match FIXED_COLUMNS.contains(&column) {
        true => format!("point_{column}").into(),
        false => column.into(),
    }
}

/// The type that holds the values of both; none where values would be lost.
pub fn common_type(a: Type, b: Type) -> Option<Type> {
    let is_unsigned = |of| matches!(of, Type::U8 | Type::U16 | Type::U32 | Type::U64);
    match (a, b) {
        _ if a == b => Some(a),
        (Type::U64, other) | (other, Type::U64) => is_unsigned(other).then_some(Type::U64),
        _ => Some(Type::F64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_holds_the_values_of_all_lists() {
        for (a, b, wanted) in [
            (Type::F32, Type::F32, Some(Type::F32)),
            (Type::F32, Type::U16, Some(Type::F64)),
            (Type::I32, Type::U32, Some(Type::F64)),
            (Type::U32, Type::U64, Some(Type::U64)),
            (Type::U64, Type::F64, None),
            (Type::I8, Type::U64, None),
        ] {
            assert_eq!(common_type(a, b), wanted);
            assert_eq!(common_type(b, a), wanted);
        }
    }
}
