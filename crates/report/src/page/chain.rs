//! A chain from sensor to actuator, or a hop of it, on the page.

use std::fmt::Write;

use wiregauge_result::run::{Case, Run};

use super::case;
use super::figures::plain_table;
use super::markup::escape;
use crate::model::chain::{chain_tables, CHAIN_NOTES, CHANGES_NOTE};

/// The tables of a case, and its charts.
pub fn section(run: &Run, case: &Case) -> String {
    let tables = chain_tables(run, case).unwrap_or_default();
    let mut text: String = tables.iter().map(|rows| plain_table(rows)).collect();
    if run.cases.first() == Some(case) {
        for note in CHAIN_NOTES.iter().chain([&CHANGES_NOTE]) {
            let _ = writeln!(text, "<p class=\"soft\">{}.</p>", escape(note));
        }
    }
    text + &case::section(run, case)
}
