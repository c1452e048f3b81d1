//! The native module of the Python package wiregauge, `wiregauge._native`: messages of
//! traces without a copy and as columns, and figures of results as Arrow data.
//!
//! Python's stable interface of version 3.9 is used, so that one module serves all later
//! ones. Where bytes are read or unpacked, other threads of Python run.

mod arrow;
mod check;
mod columns;
mod error;
mod figures;
mod file_identity;
mod files;
mod message;
mod message_bytes;
mod message_rows;
mod messages;
mod plan;
mod plan_reading;
mod recording;
mod row_reader;
mod rows;
mod split;
mod stop_request;
mod table_source;

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::error::{WiregaugeError, WiregaugeWarning};

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("WiregaugeError", python.get_type::<WiregaugeError>())?;
    module.add("WiregaugeWarning", python.get_type::<WiregaugeWarning>())?;
    module.add_class::<message::Channel>()?;
    module.add_class::<message::Message>()?;
    module.add_class::<messages::Messages>()?;
    module.add_class::<figures::Figures>()?;
    module.add_class::<columns::Columns>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<split::Split>()?;
    module.add_class::<rows::Rows>()?;
    module.add_function(wrap_pyfunction!(recording::open_recording, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan_files, module)?)?;
    module.add_function(wrap_pyfunction!(check::check_files, module)?)?;
    module.add_function(wrap_pyfunction!(figures::run_json, module)?)?;
    stop_request::listen();
    wiregauge_archive::install(prefixes(python));
    Ok(())
}

/// Where packages of this Python lie, below which pip has put what reads archives.
fn prefixes(python: Python<'_>) -> Vec<PathBuf> {
    let ask = |module: &str, name: &str| python.import(module)?.getattr(name)?.extract();
    [ask("sys", "prefix"), ask("site", "USER_BASE")].into_iter().flatten().collect()
}
