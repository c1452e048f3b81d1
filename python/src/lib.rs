//! The native module of the Python package wiregauge, `wiregauge._native`: messages of
//! traces without a copy and as columns, and figures of results as Arrow data.
//!
//! Python's stable interface of version 3.9 is used, so that one module serves all later
//! ones. Where bytes are read or unpacked, other threads of Python run.

mod arrow;
mod columns;
mod error;
mod figures;
mod message;
mod message_bytes;
mod messages;
mod stop_request;

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
    module.add_function(wrap_pyfunction!(messages::read, module)?)?;
    module.add_function(wrap_pyfunction!(columns::columns, module)?)?;
    module.add_function(wrap_pyfunction!(figures::run_json, module)?)?;
    stop_request::listen();
    Ok(())
}
