//! An FMU that runs, whichever FMI it follows.

use std::ffi::CString;

use anyhow::{bail, Context, Result};

use crate::description::{Description, Fmi, Handle, Variable};
use crate::fmi2;
use crate::fmi3;
use crate::message;
use crate::osmp::Span;
use crate::package::Package;

/// What a call of FMI returned. FMI 2 and 3 number them alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Status(pub i32);

impl Status {
    /// All is well.
    pub const OK: Status = Status(0);
    /// All is well, with a complaint.
    pub const WARNING: Status = Status(1);
    /// The step was not carried out.
    pub const DISCARD: Status = Status(2);
    /// It failed.
    pub const ERROR: Status = Status(3);
    /// A step goes on behind the call.
    pub const PENDING: Status = Status(5);
    /// An exception came instead of a status; shim.cpp says so.
    pub const THROWN: Status = Status(100);

    /// As the standard calls it.
    pub fn name(self) -> &'static str {
        match self.0 {
            0 => "OK",
            1 => "warning",
            2 => "discard",
            3 => "error",
            4 => "fatal",
            5 => "pending",
            _ => "a status that FMI does not know",
        }
    }

    /// What came of a call: `returned error`, `threw std::bad_alloc: …`.
    pub fn words(self) -> String {
        match message::take_thrown().filter(|_| self == Status::THROWN) {
            Some(thrown) => format!("threw {thrown}"),
            None => format!("returned {}", self.name()),
        }
    }

    /// Whether the call did what it was to do.
    pub fn is_good(self) -> bool {
        self == Status::OK || self == Status::WARNING
    }

    /// An error that names the call, unless all is well or it is a mere
    /// warning.
    ///
    /// # Errors
    /// With the call, the status and the FMU's last words.
    pub fn good_enough(self, call: &str) -> Result<()> {
        if self.is_good() {
            return Ok(());
        }
        bail!("{call} {}{}", self.words(), last_words())
    }
}

/// What the FMUs' loggers said last, to be put behind an error.
pub fn last_words() -> String {
    let words = message::take(3);
    if words.is_empty() {
        return String::new();
    }
    format!("; its log: {}", words.join(" | "))
}

/// Why there is no instance.
pub(crate) fn no_instance(call: &str) -> String {
    let what = match message::take_thrown() {
        Some(thrown) => format!("threw {thrown}"),
        None => "returned nothing".into(),
    };
    format!("{call} {what}{}", last_words())
}

/// A value for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A floating-point number.
    Real(f64),
    /// An integer.
    Integer(i64),
    /// A truth value.
    Boolean(bool),
    /// A text.
    Text(CString),
}

impl Value {
    /// Reads a value of a variable's type.
    ///
    /// # Errors
    /// Says that the text is none.
    pub fn parse(variable: &Variable, text: &str) -> Result<Value> {
        let kind = variable.kind.as_str();
        let wrong = || format!("'{text}' is no value for {}, which is {kind}", variable.name);
        Ok(match kind {
            "Real" | "Float64" | "Float32" => Value::Real(text.parse().with_context(wrong)?),
            "Boolean" => Value::Boolean(match text {
                "true" | "1" => true,
                "false" | "0" => false,
                _ => bail!(wrong()),
            }),
            "String" => Value::Text(CString::new(text).with_context(wrong)?),
            "Binary" | "Clock" => bail!("{} is {kind} and cannot be set", variable.name),
            _ => {
                let value: i64 = text.parse().with_context(wrong)?;
                let fits = match kind {
                    "Int8" => i8::try_from(value).is_ok(),
                    "UInt8" => u8::try_from(value).is_ok(),
                    "Int16" => i16::try_from(value).is_ok(),
                    "UInt16" => u16::try_from(value).is_ok(),
                    "UInt32" => u32::try_from(value).is_ok(),
                    "UInt64" => value >= 0,
                    "Int64" => true,
                    _ => i32::try_from(value).is_ok(),
                };
                if !fits {
                    bail!("{text} is too large for {}, which is {kind}", variable.name);
                }
                Value::Integer(value)
            }
        })
    }
}

/// A running FMU.
pub enum Instance {
    /// Of FMI 2.0.
    Two(fmi2::Instance),
    /// Of FMI 3.0.
    Three(fmi3::Instance),
}

impl Instance {
    /// Loads the shared object and makes an instance.
    ///
    /// # Errors
    /// Says which step of it failed, and why.
    pub fn load(package: &Package, logging: bool) -> Result<Instance> {
        let description = &package.description;
        let binary = package.binary()?;
        Ok(match description.fmi {
            Fmi::Two => Instance::Two(fmi2::Instance::load(
                &binary,
                &package.resources(),
                description,
                logging,
            )?),
            Fmi::Three => Instance::Three(fmi3::Instance::load(
                &binary,
                &package.resources(),
                description,
                logging,
            )?),
        })
    }

    /// Sets a variable by its name.
    ///
    /// # Errors
    /// When there is none, the value is none for it, or the FMU refuses.
    pub fn set(&mut self, description: &Description, name: &str, text: &str) -> Result<()> {
        let variable =
            description.variable(name).with_context(|| format!("has no variable {name} to set"))?;
        let value = Value::parse(variable, text)?;
        match self {
            Instance::Two(instance) => instance.set(variable, &value),
            Instance::Three(instance) => instance.set(variable, &value),
        }
        .with_context(|| format!("{name} = {text} was not taken"))
    }

    /// From the instance to the first step.
    ///
    /// # Errors
    /// Says which call failed.
    pub fn initialize(&mut self, start: f64) -> Result<()> {
        match self {
            Instance::Two(instance) => instance.initialize(start),
            Instance::Three(instance) => instance.initialize(start),
        }
    }

    /// Calculates one step.
    #[inline]
    pub fn step(&mut self, time: f64, size: f64) -> Status {
        match self {
            Instance::Two(instance) => instance.step(time, size),
            Instance::Three(instance) => instance.step(time, size),
        }
    }

    /// Why a step was not carried out, beyond its status.
    pub fn why(&mut self, status: Status) -> &'static str {
        match self {
            // Those that failed must not be asked.
            Instance::Two(_) if status != Status::DISCARD => "",
            Instance::Two(instance) => instance.why(),
            Instance::Three(instance) => instance.why(),
        }
    }

    /// Whether it asked, in a step that it carried out, for no more of them.
    pub fn wants_to_end(&self) -> bool {
        match self {
            Instance::Two(_) => false,
            Instance::Three(instance) => instance.wants_to_end(),
        }
    }

    /// Reads where a message lies.
    #[inline]
    pub fn get(&mut self, handle: Handle) -> (Status, Span) {
        match (self, handle) {
            (Instance::Two(instance), Handle::Pointer(references)) => instance.get(references),
            (Instance::Three(instance), Handle::Pointer(references)) => {
                instance.get_pointer(references)
            }
            (Instance::Three(instance), Handle::Whole(reference)) => instance.get(reference),
            (Instance::Two(_), Handle::Whole(_)) => (Status::ERROR, Span::default()),
        }
    }

    /// Hands over where a message lies; FMI 3 FMUs copy it.
    #[inline]
    pub fn put(&mut self, handle: Handle, span: Span) -> Status {
        match (self, handle) {
            (Instance::Two(instance), Handle::Pointer(references)) => {
                instance.put(references, span)
            }
            (Instance::Three(instance), Handle::Pointer(references)) => {
                instance.put_pointer(references, span)
            }
            (Instance::Three(instance), Handle::Whole(reference)) => instance.put(reference, span),
            (Instance::Two(_), Handle::Whole(_)) => Status::ERROR,
        }
    }

    /// Ends it in good order.
    ///
    /// # Errors
    /// When it refuses to terminate; it is freed all the same.
    pub fn finish(self) -> Result<()> {
        match self {
            Instance::Two(instance) => instance.finish(),
            Instance::Three(instance) => instance.finish(),
        }
    }
}
