//! Constructs that a format says in another way, each in one wording, so that
//! answers of different formats can be compared.

use wiregauge_schema::{Cardinality, Field, Record, Scalar};

/// A construct that is said in another way. Values always survive; what is
/// lost is meaning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lowering {
    /// What becomes what: `u8 as uint32`.
    pub what: String,
    /// What a reader of the format's definition no longer sees, or what it
    /// costs: `the range is not enforced`.
    pub lost: String,
}

impl Lowering {
    /// A lowering that is one format's own, in these words.
    pub fn new(what: impl Into<String>, lost: impl Into<String>) -> Lowering {
        Lowering { what: what.into(), lost: lost.into() }
    }

    /// The same, and what is particular about it in one format.
    pub fn and(mut self, particular: &str) -> Lowering {
        self.lost = format!("{}; {particular}", self.lost);
        self
    }

    /// An enum as the integer that the normalized form has.
    pub fn enumeration() -> Lowering {
        Lowering::new("enum as the integer that represents it", "the names of the values")
    }

    /// A union as what the schema model makes of it.
    pub fn union() -> Lowering {
        Lowering::new("union as optional fields", "that at most one is set")
    }

    /// A list as one of any length.
    pub fn bounded_list() -> Lowering {
        Lowering::new("bounded list as an unbounded one", "the bound is not enforced")
    }

    /// A fixed array as a list of any length.
    pub fn fixed_array() -> Lowering {
        Lowering::new("fixed array as a list", "the length is not enforced")
    }

    /// A short fixed array of numbers as so many fields.
    pub fn spread() -> Lowering {
        Lowering::new("short fixed array of numbers as a field each", "that they are one array")
    }

    /// An optional value, or such `values` as are concerned, as two fields.
    pub fn flagged(values: &str) -> Lowering {
        let what = format!("optional {values} as a flag and the value");
        Lowering::new(what, "that the two belong together")
    }

    /// An optional record as a `list`, in the format's word.
    pub fn optional_record(list: &str) -> Lowering {
        let what = format!("optional record as a {list} of none or one");
        Lowering::new(what, "that there is at most one")
    }

    /// An optional value of any kind as a list, in a format that has nothing that is optional.
    pub fn option() -> Lowering {
        Lowering::new("optional value as a list of none or one", "that there is at most one")
    }

    /// Octets as what the format has for a block of them.
    pub fn octets(block: &str) -> Lowering {
        Lowering::new(format!("list of u8 as {block}"), "nothing")
    }

    /// A narrow integer as a wide one.
    pub fn widened(scalar: Scalar, wide: &str) -> Lowering {
        Lowering::new(format!("{} as {wide}", scalar.rust_name()), "the range is not enforced")
    }

    /// An unsigned integer as the signed one of its size.
    pub fn as_signed(scalar: Scalar, signed: &str) -> Lowering {
        let what = format!("{} as {signed} by bit pattern", scalar.rust_name());
        Lowering::new(what, "that large values are not negative")
    }

    /// A record without fields as one that has a field for the format's sake.
    pub fn no_fields() -> Lowering {
        Lowering::new("record without fields as a record of one", "nothing; it is always zero")
    }
}

/// What a format without unions makes of a record's, if it has any.
pub fn unions(record: &Record) -> Option<Lowering> {
    record.fields.iter().any(|field| field.union.is_some()).then(Lowering::union)
}

/// What a format without bounds makes of a record's lists, if any has one.
pub fn bounds(record: &Record) -> Option<Lowering> {
    let is_bounded =
        |field: &Field| matches!(field.cardinality, Cardinality::List { bound: Some(_) });
    record.fields.iter().any(is_bounded).then(Lowering::bounded_list)
}

/// Both of them, which most formats share.
pub fn unions_and_bounds(record: &Record) -> Vec<Lowering> {
    unions(record).into_iter().chain(bounds(record)).collect()
}
