//! Turns results into tables, pages and verdicts. It reads only
//! [`Run`](wiregauge_result::run::Run) and knows nothing of how one is made.
//!
//! The [`model`] says *what* is shown, once for all forms; [`mod@text`] and
//! [`page`] say *how*, and [`result_target`] writes it all where it is wanted.

pub mod model;
pub mod page;
pub mod result_files;
pub mod result_target;
pub mod text;
pub mod verdict_target;
