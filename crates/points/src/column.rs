//! A column: a value of one type for each point.

/// The values of a column, those of absent points included.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // Each is the numbers that it is called after.
pub enum Values {
    I8(Vec<i8>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    U16(Vec<u16>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Type {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    U64,
    F32,
    F64,
}

/// Does the same with the values of each type.
#[macro_export]
macro_rules! each {
    ($values:expr, $list:ident => $what:expr) => {
        match $values {
            $crate::column::Values::I8($list) => $what,
            $crate::column::Values::U8($list) => $what,
            $crate::column::Values::I16($list) => $what,
            $crate::column::Values::U16($list) => $what,
            $crate::column::Values::I32($list) => $what,
            $crate::column::Values::U32($list) => $what,
            $crate::column::Values::U64($list) => $what,
            $crate::column::Values::F32($list) => $what,
            $crate::column::Values::F64($list) => $what,
        }
    };
}
pub(crate) use each;

impl Type {
    /// Each of them.
    pub const ALL: [Type; 9] = [
        Type::I8,
        Type::U8,
        Type::I16,
        Type::U16,
        Type::I32,
        Type::U32,
        Type::U64,
        Type::F32,
        Type::F64,
    ];

    /// No values of it.
    pub fn empty_values(self) -> Values {
        match self {
            Type::I8 => Values::I8(Vec::new()),
            Type::U8 => Values::U8(Vec::new()),
            Type::I16 => Values::I16(Vec::new()),
            Type::U16 => Values::U16(Vec::new()),
            Type::I32 => Values::I32(Vec::new()),
            Type::U32 => Values::U32(Vec::new()),
            Type::U64 => Values::U64(Vec::new()),
            Type::F32 => Values::F32(Vec::new()),
            Type::F64 => Values::F64(Vec::new()),
        }
    }

    /// Bytes of a value.
    pub fn size(self) -> usize {
        match self {
            Type::I8 | Type::U8 => 1,
            Type::I16 | Type::U16 => 2,
            Type::I32 | Type::U32 | Type::F32 => 4,
            Type::U64 | Type::F64 => 8,
        }
    }
}

impl Values {
    /// Their type.
    pub fn kind(&self) -> Type {
        match self {
            Values::I8(_) => Type::I8,
            Values::U8(_) => Type::U8,
            Values::I16(_) => Type::I16,
            Values::U16(_) => Type::U16,
            Values::I32(_) => Type::I32,
            Values::U32(_) => Type::U32,
            Values::U64(_) => Type::U64,
            Values::F32(_) => Type::F32,
            Values::F64(_) => Type::F64,
        }
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, count: usize) {
        each!(self, list => list.reserve_exact(count));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        each!(self, list => list.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The unit of a column by its name: of ROS and of files of points nobody says another.
pub fn unit(name: &str) -> &'static str {
    if matches!(name, "x" | "y" | "z") {
        "m"
    } else {
        ""
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name: `x`, `signal_strength`, `position_distance`.
    pub name: String,
    /// The unit of its values; empty where they have none, or nobody says it.
    pub unit: &'static str,
    /// A value for each point.
    pub values: Values,
    /// Which points have a value; none where all have.
    pub present: Option<Vec<bool>>,
}

impl Column {
    /// Whether a point has a value.
    pub fn has(&self, point: usize) -> bool {
        self.present.as_ref().is_none_or(|present| present[point])
    }
}
