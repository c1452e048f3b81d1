//! Errors as Python has them.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyUserWarning};
use pyo3::prelude::*;
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::text;

use crate::stop_request;

create_exception!(
    wiregauge,
    WiregaugeError,
    PyException,
    "What went wrong, in one line: the file, and what to do about it."
);

create_exception!(
    wiregauge,
    WiregaugeWarning,
    PyUserWarning,
    "What a reader must know of a file that was read, such as that it is cut."
);

/// An error as Python has it: what the user's own handler of signals raised, or one line as
/// the program writes it.
pub fn to_python(error: anyhow::Error) -> PyErr {
    let raised = if error.is::<Interrupted>() { stop_request::take_raised() } else { None };
    raised.unwrap_or_else(|| WiregaugeError::new_err(text::escape(&format!("{error:#}"))))
}
