//! What pictures are drawn with.

pub mod bars;
pub mod box_plot;
pub mod lines;
pub mod marker;
pub mod plot;
pub mod rows;
pub mod scale;
