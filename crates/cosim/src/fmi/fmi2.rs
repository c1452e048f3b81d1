//! FMUs of FMI 2.0 for co-simulation.
//!
//! A binding of our own to the dozen functions that are needed. The crate
//! `fmi` refuses every OSMP FMU, and `fmi-sys` generates its binding with
//! bindgen, so that whoever builds wiregauge would need libclang.

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::path::Path;
use std::ptr;

use anyhow::Result;

use crate::fmi::library::{url, Function, Library};
use crate::fmi::raw_instance::{FunctionNames, RawInstance, Reference};
use crate::fmi::status::Status;
use crate::fmi::value::Value;
use crate::package::description::Variable;

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

// In shim.cpp: each calls a function of the FMU and catches what it throws.
extern "C" {
    fn wiregauge_cosim_logger(
        environment: *mut c_void,
        instance: *const c_char,
        status: c_int,
        category: *const c_char,
        format: *const c_char,
        ...
    );
    fn wiregauge_cosim_instantiate2(
        function: Function,
        name: *const c_char,
        kind: c_int,
        guid: *const c_char,
        resources: *const c_char,
        callbacks: *const c_void,
        visible: Boolean,
        logging: Boolean,
    ) -> *mut c_void;
    fn wiregauge_cosim_setup2(function: Function, component: *mut c_void, start: f64) -> Status;
    fn wiregauge_cosim_step2(
        function: Function,
        component: *mut c_void,
        time: f64,
        size: f64,
    ) -> Status;
    fn wiregauge_cosim_status2(
        function: Function,
        component: *mut c_void,
        kind: c_int,
        value: *mut c_int,
    ) -> Status;
    fn wiregauge_cosim_values2(
        function: Function,
        component: *mut c_void,
        references: *const Reference,
        count: usize,
        values: *mut c_void,
    ) -> Status;
}

/// `fmi2DoStepStatus` and `fmi2Terminated`, of what a status is asked.
const DO_STEP_STATUS: c_int = 0;
const TERMINATED: c_int = 3;

const NAMES: FunctionNames = FunctionNames {
    instantiate: c"fmi2Instantiate",
    enter_initialization: &[c"fmi2SetupExperiment", c"fmi2EnterInitializationMode"],
    exit_initialization: c"fmi2ExitInitializationMode",
    terminate: c"fmi2Terminate",
    free: c"fmi2FreeInstance",
    step: c"fmi2DoStep",
    get_integer: c"fmi2GetInteger",
    set_integer: c"fmi2SetInteger",
};

/// A running FMU of FMI 2.0.
pub struct Instance {
    pub(super) raw: RawInstance,
    /// FMUs may keep the pointer to it.
    _callbacks: Box<Callbacks>,
}

impl Instance {
    /// Makes an instance of a library.
    pub(crate) fn new(
        library: Library,
        name: &CStr,
        token: &CStr,
        resources: &Path,
        logging: bool,
    ) -> Result<Instance> {
        let callbacks = Box::new(Callbacks {
            logger: wiregauge_cosim_logger,
            allocate: libc::calloc,
            free: libc::free,
            step_finished: None,
            environment: ptr::null_mut(),
        });
        let resources = CString::new(url(resources))?;
        const CO_SIMULATION: c_int = 1;
        // SAFETY: shim.cpp gives the function FMI's type for this name. The texts end
        // with a zero and outlive the call, the callbacks the instance. The names are
        // those of FMI 2.
        let raw = unsafe {
            let component = wiregauge_cosim_instantiate2(
                library.function(NAMES.instantiate)?,
                name.as_ptr(),
                CO_SIMULATION,
                token.as_ptr(),
                resources.as_ptr(),
                ptr::from_ref(&*callbacks).cast(),
                0,
                Boolean::from(logging),
            );
            RawInstance::new(library, component, &NAMES, wiregauge_cosim_values2)?
        };
        Ok(Instance { raw, _callbacks: callbacks })
    }

    pub(crate) fn set(&mut self, variable: &Variable, value: &Value) -> Result<()> {
        match value {
            Value::Integer(value) => {
                let value = c_int::try_from(*value)?;
                self.set_one(c"fmi2SetInteger", variable, value)
            }
            Value::Real(value) => self.set_one(c"fmi2SetReal", variable, *value),
            Value::Boolean(value) => {
                self.set_one(c"fmi2SetBoolean", variable, Boolean::from(*value))
            }
            Value::Text(value) => self.set_one(c"fmi2SetString", variable, value.as_ptr()),
        }
    }

    /// The function must take values of this type.
    fn set_one<T>(&mut self, name: &CStr, variable: &Variable, value: T) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.raw.set(name, variable.reference, value) }
    }

    pub(crate) fn initialize(&mut self, start: f64) -> Result<()> {
        let setup = self.raw.library().function(c"fmi2SetupExperiment")?;
        // SAFETY: the instance is fresh, and shim.cpp gives each function FMI's type
        // for its name; they are called in the standard's order.
        unsafe {
            wiregauge_cosim_setup2(setup, self.raw.address(), start)
                .require_good("fmi2SetupExperiment")?;
            self.raw.call_without_arguments(c"fmi2EnterInitializationMode")?;
        }
        self.raw.exit_initialization()
    }

    #[inline]
    pub(crate) fn step(&mut self, time: f64, size: f64) -> Status {
        // SAFETY: the instance lives until `finish`, and `step` is its fmi2DoStep.
        let status =
            unsafe { wiregauge_cosim_step2(self.raw.step(), self.raw.address(), time, size) };
        if status == Status::PENDING {
            return self.await_step();
        }
        status
    }

    /// Waits until a step that goes on behind the call is done. One that never
    /// is counts as hung, as any other.
    fn await_step(&mut self) -> Status {
        let Some(function) = self.raw.library().find(c"fmi2GetStatus") else {
            return Status::PENDING;
        };
        loop {
            let mut value = Status::ERROR.0;
            // SAFETY: the instance lives, and a fmi2Status that `value` has room for
            // is all that fmi2GetStatus writes.
            let asked = unsafe {
                wiregauge_cosim_status2(function, self.raw.address(), DO_STEP_STATUS, &mut value)
            };
            if !asked.is_good() {
                return asked;
            }
            if Status(value) != Status::PENDING {
                return Status(value);
            }
            std::thread::yield_now();
        }
    }

    pub(crate) fn failure_reason(&mut self) -> String {
        let Some(function) = self.raw.library().find(c"fmi2GetBooleanStatus") else {
            return String::new();
        };
        let mut terminated = 0;
        // SAFETY: the instance lives, and a fmi2Boolean that `terminated` has room for
        // is all that fmi2GetBooleanStatus writes.
        let asked = unsafe {
            wiregauge_cosim_status2(function, self.raw.address(), TERMINATED, &mut terminated)
        };
        // A refusal to tell is no matter of its own.
        crate::fmi::message::take_thrown();
        if asked.is_good() && terminated != 0 {
            "it asked to end the simulation".into()
        } else {
            String::new()
        }
    }

    /// Ends it before its callbacks go.
    pub(crate) fn finish(self, freeing: &dyn Fn()) -> Result<()> {
        let Instance { raw, _callbacks } = self;
        raw.finish(freeing)
    }
}
