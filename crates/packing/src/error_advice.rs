//! What is wrong with a packed field, and what to do about it.

use anyhow::{anyhow, Error};
use wiregauge_packed::Fault;

/// The error with its remedy, where the user has one.
pub fn add_advice(error: wiregauge_packed::Error) -> Error {
    let name = &error.name;
    match error.fault {
        Fault::Steps => anyhow!("{error}; keep its bits by --resolution {name}=exact"),
        Fault::Resolution => anyhow!("{error}; give --resolution {name}=exact or {name}=plain"),
        Fault::Unit => {
            anyhow!("{error}; give it in the column's unit, or as a number without a unit")
        }
        Fault::Unknown | Fault::Both => {
            anyhow!("{error}; leave the channel out by --exclude-channel")
        }
        _ => error.into(),
    }
}
