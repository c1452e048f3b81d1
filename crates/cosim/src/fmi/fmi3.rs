//! FMUs of FMI 3.0 for co-simulation; see `fmi2` for why the binding is our
//! own.

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::path::Path;
use std::ptr::{self, NonNull};

use anyhow::Result;

use crate::fmi::library::{Function, Library};
use crate::fmi::message;
use crate::fmi::osmp::MessageSpan;
use crate::fmi::raw_instance::{FunctionNames, RawInstance, Reference};
use crate::fmi::status::Status;
use crate::fmi::value::Value;
use crate::package::description::Variable;

type LogMessage = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char);

// In shim.cpp: each calls a function of the FMU and catches what it throws.
extern "C" {
    fn wiregauge_cosim_instantiate3(
        function: Function,
        name: *const c_char,
        token: *const c_char,
        resources: *const c_char,
        visible: bool,
        logging: bool,
        environment: *mut c_void,
        logger: LogMessage,
    ) -> *mut c_void;
    fn wiregauge_cosim_enter3(function: Function, handle: *mut c_void, start: f64) -> Status;
    fn wiregauge_cosim_step3(
        function: Function,
        handle: *mut c_void,
        time: f64,
        size: f64,
        event: *mut bool,
        terminate: *mut bool,
        early: *mut bool,
        last: *mut f64,
    ) -> Status;
    fn wiregauge_cosim_values3(
        function: Function,
        handle: *mut c_void,
        references: *const Reference,
        count: usize,
        values: *mut c_void,
    ) -> Status;
    fn wiregauge_cosim_get_binary3(
        function: Function,
        handle: *mut c_void,
        reference: Reference,
        size: *mut usize,
        value: *mut *const u8,
    ) -> Status;
    fn wiregauge_cosim_set_binary3(
        function: Function,
        handle: *mut c_void,
        reference: Reference,
        size: usize,
        value: *const u8,
    ) -> Status;
}

const NAMES: FunctionNames = FunctionNames {
    instantiate: c"fmi3InstantiateCoSimulation",
    enter_initialization: &[c"fmi3EnterInitializationMode"],
    exit_initialization: c"fmi3ExitInitializationMode",
    terminate: c"fmi3Terminate",
    free: c"fmi3FreeInstance",
    step: c"fmi3DoStep",
    get_integer: c"fmi3GetInt32",
    set_integer: c"fmi3SetInt32",
};

/// A running FMU of FMI 3.0.
pub struct Instance {
    pub(super) raw: RawInstance,
    get_binary: Function,
    set_binary: Function,
    /// What the last step said besides its status.
    terminate: bool,
    /// The time that it came to, where it returned early.
    early: Option<f64>,
}

/// Keeps what the FMU says.
///
/// # Safety
/// The texts are null or end with a zero byte.
unsafe extern "C" fn log(
    _: *mut c_void,
    _: c_int,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: null or ended by a zero byte, as the caller promises.
    let (category, message) = unsafe { (message::text(category), message::text(message)) };
    message::store(&category, &message);
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
        // A path and no URL in this version, with a separator at its end.
        let resources = CString::new(format!("{}/", resources.display()))?;
        // SAFETY: shim.cpp gives the function FMI's type for this name, and `log` is
        // of the type that it calls. The texts end with a zero and outlive the call. The
        // names are those of FMI 3.
        let raw = unsafe {
            let handle = wiregauge_cosim_instantiate3(
                library.function(NAMES.instantiate)?,
                name.as_ptr(),
                token.as_ptr(),
                resources.as_ptr(),
                false,
                logging,
                ptr::null_mut(),
                log,
            );
            RawInstance::new(library, handle, &NAMES, wiregauge_cosim_values3)?
        };
        Ok(Instance {
            get_binary: raw.library().function(c"fmi3GetBinary")?,
            set_binary: raw.library().function(c"fmi3SetBinary")?,
            raw,
            terminate: false,
            early: None,
        })
    }

    pub(crate) fn set(&mut self, variable: &Variable, value: &Value) -> Result<()> {
        match (value, variable.kind.as_str()) {
            (Value::Integer(value), "Int32") => {
                self.set_one(c"fmi3SetInt32", variable, *value as i32)
            }
            (Value::Integer(value), "Int8") => self.set_one(c"fmi3SetInt8", variable, *value as i8),
            (Value::Integer(value), "UInt8") => {
                self.set_one(c"fmi3SetUInt8", variable, *value as u8)
            }
            (Value::Integer(value), "Int16") => {
                self.set_one(c"fmi3SetInt16", variable, *value as i16)
            }
            (Value::Integer(value), "UInt16") => {
                self.set_one(c"fmi3SetUInt16", variable, *value as u16)
            }
            (Value::Integer(value), "UInt32") => {
                self.set_one(c"fmi3SetUInt32", variable, *value as u32)
            }
            (Value::Integer(value), "UInt64") => {
                self.set_one(c"fmi3SetUInt64", variable, *value as u64)
            }
            // Enumerations are set as Int64.
            (Value::Integer(value), _) => self.set_one(c"fmi3SetInt64", variable, *value),
            (Value::Real(value), "Float32") => {
                self.set_one(c"fmi3SetFloat32", variable, *value as f32)
            }
            (Value::Real(value), _) => self.set_one(c"fmi3SetFloat64", variable, *value),
            (Value::Boolean(value), _) => self.set_one(c"fmi3SetBoolean", variable, *value),
            (Value::Text(value), _) => self.set_one(c"fmi3SetString", variable, value.as_ptr()),
        }
    }

    /// The function must take values of this type.
    fn set_one<T>(&mut self, name: &CStr, variable: &Variable, value: T) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.raw.set(name, variable.reference, value) }
    }

    pub(crate) fn initialize(&mut self, start: f64) -> Result<()> {
        let enter = self.raw.library().function(c"fmi3EnterInitializationMode")?;
        // SAFETY: the instance is fresh, and shim.cpp gives the function FMI's type for its
        // name.
        let entered = unsafe { wiregauge_cosim_enter3(enter, self.raw.address(), start) };
        entered.require_good("fmi3EnterInitializationMode")?;
        self.raw.exit_initialization()
    }

    #[inline]
    pub(crate) fn step(&mut self, time: f64, size: f64) -> Status {
        let (mut event, mut early, mut last) = (false, false, time + size);
        self.terminate = false;
        // SAFETY: the instance lives until `finish`, `step` is its fmi3DoStep, and the
        // four are of the types that it writes.
        let status = unsafe {
            wiregauge_cosim_step3(
                self.raw.step(),
                self.raw.address(),
                time,
                size,
                &mut event,
                &mut self.terminate,
                &mut early,
                &mut last,
            )
        };
        self.early = early.then_some(last);
        if early && !self.terminate && status.is_good() {
            return Status::ENDED_EARLY;
        }
        status
    }

    pub(crate) fn failure_reason(&self) -> String {
        match (self.terminate, self.early) {
            (true, _) => "it asked to end the simulation".into(),
            (_, Some(last)) => format!(
                "it returned early at {last} s, although that was not allowed (earlyReturnAllowed \
                 is false)"
            ),
            _ => String::new(),
        }
    }

    pub(crate) fn wants_to_end(&self) -> bool {
        self.terminate
    }

    #[inline]
    pub(crate) fn get(&mut self, reference: Reference) -> (Status, MessageSpan) {
        let (mut size, mut address) = (0usize, ptr::null());
        // SAFETY: the instance lives, and fmi3GetBinary writes one size and one address
        // for one reference.
        let status = unsafe {
            wiregauge_cosim_get_binary3(
                self.get_binary,
                self.raw.address(),
                reference,
                &mut size,
                &mut address,
            )
        };
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        (status, MessageSpan { address: address as usize, size })
    }

    #[inline]
    pub(crate) fn put(&mut self, reference: Reference, span: MessageSpan) -> Status {
        // No message is one of no bytes, whose address may still be looked at.
        let (size, address) = match span.is_none() {
            true => (0, NonNull::dangling().as_ptr()),
            false => (span.size as usize, span.address as *mut u8),
        };
        // SAFETY: the instance lives. So many bytes can be read at the address: the
        // host checked the span; of no bytes none are.
        unsafe {
            wiregauge_cosim_set_binary3(
                self.set_binary,
                self.raw.address(),
                reference,
                size,
                address,
            )
        }
    }
}
