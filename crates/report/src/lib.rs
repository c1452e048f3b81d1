//! Turns results into tables, pages and verdicts. It reads only
//! [`Run`](wiregauge_result::run::Run) and knows nothing of how one is made.
//!
//! The models ([`table`], [`group`], [`phase`], [`sweep`], [`curve`],
//! [`mod@reference`], [`slowest`], [`budget`], [`compare`]) say *what* is shown, once for all formats; the renderers
//! ([`terminal`], [`markdown`], [`csv`], [`json`], [`html`]) say *how*.

pub mod budget;
pub mod compare;
pub mod csv;
pub mod curve;
pub mod environment;
pub mod figure;
pub mod floor;
pub mod group;
pub mod html;
pub mod json;
pub mod junit;
pub mod kind;
pub mod markdown;
pub mod phase;
pub mod reference;
pub mod required;
pub mod slowest;
pub mod statistic;
pub mod sweep;
pub mod table;
pub mod terminal;
mod text;
pub mod unit;
