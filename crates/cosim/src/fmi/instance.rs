//! An FMU that runs, whichever FMI it follows.

use std::ffi::CString;

use anyhow::{Context, Result};

use crate::fmi::fmi2;
use crate::fmi::fmi3;
use crate::fmi::library::Library;
use crate::fmi::osmp::MessageSpan;
use crate::fmi::raw_instance::RawInstance;
use crate::fmi::status::Status;
use crate::fmi::value::Value;
use crate::package::description::{Description, Fmi, Handle};
use crate::package::Package;

/// A running FMU.
pub enum Instance {
    /// Of FMI 2.0.
    Two(fmi2::Instance),
    /// Of FMI 3.0.
    Three(fmi3::Instance),
}

impl Instance {
    /// Loads the shared object and makes an instance; `instantiating` is told in between.
    ///
    /// # Errors
    /// Says which step of it failed, and why.
    pub fn load(package: &Package, logging: bool, instantiating: &dyn Fn()) -> Result<Instance> {
        let Description { fmi, model, token, .. } = &package.description;
        let library = Library::open(&package.binary()?)?;
        instantiating();
        let name = CString::new(model.as_str()).unwrap_or_default();
        let token = CString::new(token.as_str())?;
        let resources = &package.resources();
        Ok(match fmi {
            Fmi::Two => {
                Instance::Two(fmi2::Instance::new(library, &name, &token, resources, logging)?)
            }
            Fmi::Three => {
                Instance::Three(fmi3::Instance::new(library, &name, &token, resources, logging)?)
            }
        })
    }

    /// What both versions have alike.
    #[inline]
    fn raw(&self) -> &RawInstance {
        match self {
            Instance::Two(instance) => &instance.raw,
            Instance::Three(instance) => &instance.raw,
        }
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
        .with_context(|| format!("the FMU refused {name} = {text}"))
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
    pub fn failure_reason(&mut self, status: Status) -> String {
        match self {
            // Those that failed must not be asked.
            Instance::Two(_) if status != Status::DISCARD => String::new(),
            Instance::Two(instance) => instance.failure_reason(),
            Instance::Three(instance) => instance.failure_reason(),
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
    pub fn get(&mut self, handle: Handle) -> (Status, MessageSpan) {
        match (self, handle) {
            (instance, Handle::Pointer(references)) => instance.raw().get_span(references),
            (Instance::Three(instance), Handle::Whole(reference)) => instance.get(reference),
            (Instance::Two(_), Handle::Whole(_)) => (Status::ERROR, MessageSpan::default()),
        }
    }

    /// Hands over where a message lies; FMI 3 FMUs copy it.
    #[inline]
    pub fn put(&mut self, handle: Handle, span: MessageSpan) -> Status {
        match (self, handle) {
            (instance, Handle::Pointer(references)) => instance.raw().put_span(references, span),
            (Instance::Three(instance), Handle::Whole(reference)) => instance.put(reference, span),
            (Instance::Two(_), Handle::Whole(_)) => Status::ERROR,
        }
    }

    /// Ends it in good order; `freeing` is told between the two calls.
    ///
    /// # Errors
    /// When it refuses to terminate; it is freed all the same.
    pub fn finish(self, freeing: &dyn Fn()) -> Result<()> {
        match self {
            Instance::Two(instance) => instance.finish(freeing),
            Instance::Three(instance) => instance.raw.finish(freeing),
        }
    }
}
