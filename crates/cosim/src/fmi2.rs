//! FMUs of FMI 2.0 for co-simulation.
//!
//! A binding of our own to the dozen functions that are needed. The crate
//! `fmi` refuses every OSMP FMU, and `fmi-sys` generates its binding with
//! bindgen, so that whoever builds wiregauge would need libclang.

use std::ffi::{c_char, c_int, c_uint, c_void, CString};
use std::path::Path;
use std::ptr::{self, NonNull};

use anyhow::{Context, Result};

use crate::description::{Description, Variable};
use crate::instance::{last_words, Status, Value};
use crate::library::{url, Library};
use crate::osmp::{join, split, Span};

type Component = *mut c_void;
type Reference = c_uint;
type Boolean = c_int;

/// `fmi2CallbackFunctions`.
#[repr(C)]
struct Callbacks {
    logger:
        unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char, ...),
    allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    step_finished: Option<unsafe extern "C" fn(*mut c_void, c_int)>,
    environment: *mut c_void,
}

extern "C" {
    /// In logger.c.
    fn wiregauge_cosim_logger(
        environment: *mut c_void,
        instance: *const c_char,
        status: c_int,
        category: *const c_char,
        format: *const c_char,
        ...
    );
}

type Instantiate = unsafe extern "C" fn(
    *const c_char,
    c_int,
    *const c_char,
    *const c_char,
    *const Callbacks,
    Boolean,
    Boolean,
) -> Component;
type Setup = unsafe extern "C" fn(Component, Boolean, f64, f64, Boolean, f64) -> Status;
type Plain = unsafe extern "C" fn(Component) -> Status;
type Free = unsafe extern "C" fn(Component);
type Step = unsafe extern "C" fn(Component, f64, f64, Boolean) -> Status;
type Get<T> = unsafe extern "C" fn(Component, *const Reference, usize, *mut T) -> Status;
type Set<T> = unsafe extern "C" fn(Component, *const Reference, usize, *const T) -> Status;

/// A running FMU of FMI 2.0.
pub struct Instance {
    component: NonNull<c_void>,
    setup: Setup,
    enter: Plain,
    exit: Plain,
    step: Step,
    get_integer: Get<c_int>,
    set_integer: Set<c_int>,
    set_real: Option<Set<f64>>,
    set_boolean: Option<Set<Boolean>>,
    set_string: Option<Set<*const c_char>>,
    terminate: Plain,
    free: Free,
    /// FMUs may keep the pointer to it.
    _callbacks: Box<Callbacks>,
}

impl Instance {
    /// Loads it and makes an instance.
    pub(crate) fn load(
        binary: &Path,
        resources: &Path,
        description: &Description,
        logging: bool,
    ) -> Result<Instance> {
        let library = Library::open(binary)?;
        let callbacks = Box::new(Callbacks {
            logger: wiregauge_cosim_logger,
            allocate: libc::calloc,
            free: libc::free,
            step_finished: None,
            environment: ptr::null_mut(),
        });
        let name = CString::new(description.model.as_str()).unwrap_or_default();
        let token = CString::new(description.token.as_str())?;
        let resources = CString::new(url(resources))?;
        // SAFETY: the symbols have the types that the standard gives them, and
        // the texts and callbacks outlive the call.
        unsafe {
            let instantiate: Instantiate = library.symbol("fmi2Instantiate")?;
            const CO_SIMULATION: c_int = 1;
            let component = instantiate(
                name.as_ptr(),
                CO_SIMULATION,
                token.as_ptr(),
                resources.as_ptr(),
                &*callbacks,
                0,
                Boolean::from(logging),
            );
            let component = NonNull::new(component)
                .with_context(|| format!("fmi2Instantiate returned nothing{}", last_words()))?;
            Ok(Instance {
                component,
                setup: library.symbol("fmi2SetupExperiment")?,
                enter: library.symbol("fmi2EnterInitializationMode")?,
                exit: library.symbol("fmi2ExitInitializationMode")?,
                step: library.symbol("fmi2DoStep")?,
                get_integer: library.symbol("fmi2GetInteger")?,
                set_integer: library.symbol("fmi2SetInteger")?,
                set_real: library.symbol("fmi2SetReal").ok(),
                set_boolean: library.symbol("fmi2SetBoolean").ok(),
                set_string: library.symbol("fmi2SetString").ok(),
                terminate: library.symbol("fmi2Terminate")?,
                free: library.symbol("fmi2FreeInstance")?,
                _callbacks: callbacks,
            })
        }
    }

    pub(crate) fn set(&mut self, variable: &Variable, value: &Value) -> Result<()> {
        let component = self.component.as_ptr();
        let reference = &variable.reference;
        let lacks = |what: &str| format!("the FMU lacks {what}");
        // SAFETY: one reference and one value, both alive.
        let status = unsafe {
            match value {
                Value::Integer(value) => {
                    let value = c_int::try_from(*value)?;
                    (self.set_integer)(component, reference, 1, &value)
                }
                Value::Real(value) => {
                    let set = self.set_real.with_context(|| lacks("fmi2SetReal"))?;
                    set(component, reference, 1, value)
                }
                Value::Boolean(value) => {
                    let set = self.set_boolean.with_context(|| lacks("fmi2SetBoolean"))?;
                    set(component, reference, 1, &Boolean::from(*value))
                }
                Value::Text(value) => {
                    let set = self.set_string.with_context(|| lacks("fmi2SetString"))?;
                    set(component, reference, 1, &value.as_ptr())
                }
            }
        };
        status.good_enough("setting it")
    }

    pub(crate) fn initialize(&mut self, start: f64) -> Result<()> {
        let component = self.component.as_ptr();
        // SAFETY: the calls of the standard, in its order.
        unsafe {
            (self.setup)(component, 0, 0.0, start, 0, 0.0).good_enough("fmi2SetupExperiment")?;
            (self.enter)(component).good_enough("fmi2EnterInitializationMode")?;
            (self.exit)(component).good_enough("fmi2ExitInitializationMode")
        }
    }

    #[inline]
    pub(crate) fn step(&mut self, time: f64, size: f64) -> Status {
        // SAFETY: it is initialized.
        unsafe { (self.step)(self.component.as_ptr(), time, size, 1) }
    }

    #[inline]
    pub(crate) fn get(&mut self, references: [Reference; 3]) -> (Status, Span) {
        let mut values = [0; 3];
        // SAFETY: three references and room for three values.
        let status = unsafe {
            (self.get_integer)(self.component.as_ptr(), references.as_ptr(), 3, values.as_mut_ptr())
        };
        let [lo, hi, size] = values;
        (status, Span { address: join(lo, hi), size: i64::from(size) })
    }

    #[inline]
    pub(crate) fn put(&mut self, references: [Reference; 3], span: Span) -> Status {
        let (lo, hi) = split(span.address);
        let Ok(size) = c_int::try_from(span.size) else { return Status(3) };
        // SAFETY: three references and three values.
        unsafe {
            (self.set_integer)(
                self.component.as_ptr(),
                references.as_ptr(),
                3,
                [lo, hi, size].as_ptr(),
            )
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        // SAFETY: it is not used again.
        unsafe {
            let ended = (self.terminate)(self.component.as_ptr()).good_enough("fmi2Terminate");
            (self.free)(self.component.as_ptr());
            ended
        }
    }
}
