//! What one of two definitions has no place for.

use std::collections::BTreeMap;

use anyhow::{bail, Result};

/// What has no place in the other format, and how often it was there.
#[derive(Debug, Default)]
pub struct Losses {
    /// Whether it may be left out.
    is_allowed: bool,
    left_out: BTreeMap<String, u64>,
    zeros: BTreeMap<String, u64>,
}

impl Losses {
    /// None by now.
    pub fn new(is_allowed: bool) -> Losses {
        Losses { is_allowed, ..Losses::default() }
    }

    /// A field without a place.
    pub(crate) fn field(&mut self, record: &str, field: &str) -> Result<()> {
        let name = format!("{record}.{field}");
        if !self.is_allowed {
            bail!("the other definition has no field {name}; --lossy leaves it out");
        }
        *self.left_out.entry(name).or_default() += 1;
        Ok(())
    }

    /// A number that is absent, where structs have a 0.
    pub(crate) fn add_absent(&mut self, record: &str, field: &str) {
        *self.zeros.entry(format!("{record}.{field}")).or_default() += 1;
    }

    /// What the user should be told of them.
    pub fn remarks(&self) -> Vec<String> {
        let tell = |words: &str, of: &BTreeMap<String, u64>| {
            let fields = of.iter().map(|(name, count)| format!("{name} ({count})"));
            let fields = fields.collect::<Vec<_>>().join(", ");
            (!of.is_empty()).then(|| format!("{words}: {fields}"))
        };
        let left_out = tell("left out, as the other definition has no such field", &self.left_out);
        let zeros = tell("absent, and 0 in a struct, which has no absent numbers", &self.zeros);
        left_out.into_iter().chain(zeros).collect()
    }
}
