//! Lists of plain records as packed fields, by the packed field's own crate.

use wiregauge_packed::{Column, ColumnMut, ColumnView, Element, Layout, Number, Values, View};
use wiregauge_runner::Error;

/// Who is told of the columns of records, one after the other.
pub trait Visit<R> {
    /// A number that every row has.
    fn number<T: Number>(&mut self, name: &str, get: impl Fn(&R) -> T);
    /// A number that rows may be without.
    fn maybe<T: Number + Default>(&mut self, name: &str, get: impl Fn(&R) -> Option<T>);
    /// What tells of a record in a row where nothing in it does: whether it is there, and
    /// whether it is there and has nothing.
    fn marker(&mut self, name: &str, there: impl Fn(&R) -> bool, bare: impl Fn(&R) -> bool);
}

/// A record that is a row.
pub trait Row: Sized {
    /// Tells of its columns.
    fn columns(visit: &mut impl Visit<Self>);
}

/// What becomes of a column.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Absent,
    Partial,
    Whole,
}

/// Which columns there are.
struct Plan<'a, R> {
    records: &'a [R],
    columns: Vec<Column>,
    /// Of each column that rows may be without.
    states: Vec<State>,
    /// The first of these, without a value.
    lacking: Option<Column>,
}

impl<R> Plan<'_, R> {
    fn add(&mut self, name: &str, element: Element, state: State) {
        let column = Column::new(name, element);
        if self.lacking.is_none() {
            self.lacking = Some(column.clone().optional());
        }
        match state {
            State::Absent => {}
            State::Partial => self.columns.push(column.optional()),
            State::Whole => self.columns.push(column),
        }
        self.states.push(state);
    }
}

impl<R> Visit<R> for Plan<'_, R> {
    fn number<T: Number>(&mut self, name: &str, _: impl Fn(&R) -> T) {
        self.columns.push(Column::new(name, T::ELEMENT));
    }
    fn maybe<T: Number + Default>(&mut self, name: &str, get: impl Fn(&R) -> Option<T>) {
        let count = self.records.iter().filter(|record| get(record).is_some()).count();
        let state = match count {
            0 => State::Absent,
            all if all == self.records.len() => State::Whole,
            _ => State::Partial,
        };
        self.add(name, T::ELEMENT, state);
    }
    fn marker(&mut self, name: &str, _: impl Fn(&R) -> bool, bare: impl Fn(&R) -> bool) {
        let state = if self.records.iter().any(bare) { State::Partial } else { State::Absent };
        self.add(name, Element::None, state);
    }
}

/// Fills the columns that there are.
struct Fill<'a, 'c, R> {
    records: &'a [R],
    columns: std::slice::IterMut<'a, ColumnMut<'c>>,
    states: std::slice::Iter<'a, State>,
}

impl<'c, R> Fill<'_, 'c, R> {
    fn next(&mut self) -> &mut ColumnMut<'c> {
        self.columns.next().expect("it was planned")
    }
    fn state(&mut self) -> State {
        *self.states.next().expect("it was planned")
    }
}

impl<R> Visit<R> for Fill<'_, '_, R> {
    fn number<T: Number>(&mut self, _: &str, get: impl Fn(&R) -> T) {
        let records = self.records;
        self.next().sink().expect("it was planned").fill(records.iter().map(get));
    }
    fn maybe<T: Number + Default>(&mut self, _: &str, get: impl Fn(&R) -> Option<T>) {
        let (records, state) = (self.records, self.state());
        if state == State::Absent {
            return;
        }
        let column = self.next();
        let values = records.iter().map(|record| get(record).unwrap_or_default());
        column.sink().expect("it was planned").fill(values);
        if state == State::Partial {
            for (row, record) in records.iter().enumerate() {
                if get(record).is_some() {
                    column.set_present(row);
                }
            }
        }
    }
    fn marker(&mut self, _: &str, there: impl Fn(&R) -> bool, _: impl Fn(&R) -> bool) {
        let (records, state) = (self.records, self.state());
        if state == State::Absent {
            return;
        }
        let column = self.next();
        for (row, record) in records.iter().enumerate() {
            if there(record) {
                column.set_present(row);
            }
        }
    }
}

/// Makes the field of records; empty where there are none. It tells whether it cannot.
pub fn pack<R: Row>(records: &[R], field: &mut Vec<u8>) -> bool {
    field.clear();
    if records.is_empty() {
        return false;
    }
    let mut plan = Plan { records, columns: Vec::new(), states: Vec::new(), lacking: None };
    R::columns(&mut plan);
    if plan.columns.is_empty() {
        // One column at least, so that the field's size bounds its rows.
        plan.columns.extend(plan.lacking);
        plan.states[0] = State::Partial;
    }
    let Ok(layout) = Layout::plan(&plan.columns, records.len() as u64, 0, 64) else { return true };
    field.resize(layout.size(), 0);
    let Ok(mut table) = layout.write(field) else { return true };
    let mut columns = table.columns();
    R::columns(&mut Fill { records, columns: columns.iter_mut(), states: plan.states.iter() });
    false
}

/// A field that was opened; none where it has no rows.
pub fn open(field: &[u8]) -> Result<Option<View<'_>>, Error> {
    if field.is_empty() {
        return Ok(None);
    }
    let view = View::open(field)?;
    if view.rows() / 8 > field.len() {
        return Err(Error::new("the packed field has rows that no column holds"));
    }
    Ok((view.rows() != 0).then_some(view))
}

fn wrong(name: &str) -> Error {
    Error::new(format!("column '{name}' is not there as it should be"))
}

/// A column that every row has.
pub fn number<'a, T: Number + 'a>(view: &View<'a>, name: &str) -> Result<ColumnView<'a, T>, Error> {
    view.column(name).filter(|column| !column.is_optional()).ok_or_else(|| wrong(name))
}

/// A column that rows may be without.
pub struct Maybe<'a, T>(Option<ColumnView<'a, T>>);

impl<'a, T: Number + 'a> Maybe<'a, T> {
    pub fn get(&self, row: usize) -> Option<T> {
        self.0.as_ref().filter(|column| column.present(row)).map(|column| column.get(row))
    }
    pub fn has(&self, row: usize) -> bool {
        self.0.as_ref().is_some_and(|column| column.present(row))
    }
}

pub fn maybe<'a, T: Number + 'a>(view: &View<'a>, name: &str) -> Result<Maybe<'a, T>, Error> {
    let column = view.column(name);
    if column.is_none() && view.values(name).is_some() {
        return Err(wrong(name));
    }
    Ok(Maybe(column))
}

/// A column that tells in which rows a record is, where it has to.
pub struct Marker<'a>(Option<Values<'a>>);

impl Marker<'_> {
    /// What it tells of a row; of the columns that it does not stand for, whether one has it.
    pub fn or(&self, row: usize, others: impl FnOnce() -> bool) -> bool {
        self.0.map_or_else(others, |values| values.present(row))
    }
    pub fn has(&self, row: usize) -> bool {
        self.or(row, || false)
    }
}

pub fn marker<'a>(view: &View<'a>, name: &str) -> Marker<'a> {
    Marker(view.values(name))
}
