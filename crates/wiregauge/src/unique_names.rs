//! Values that are given once.

use anyhow::{ensure, Result};

/// Refuses what would be measured twice under one name.
pub fn check_unique<T: PartialEq + std::fmt::Display>(option: &str, values: &[T]) -> Result<()> {
    for (at, value) in values.iter().enumerate() {
        ensure!(!values[..at].contains(value), "{option} names {value} twice; leave one out");
    }
    Ok(())
}

/// Each once, in their order.
pub fn unique<T: Copy + PartialEq>(all: &[T]) -> impl Iterator<Item = T> + '_ {
    all.iter().enumerate().filter(|(at, one)| !all[..*at].contains(one)).map(|(_, one)| *one)
}
