//! FMUs of FMI 3.0 for co-simulation; see `fmi2` for why the binding is our
//! own.

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::path::Path;
use std::ptr::{self, NonNull};

use anyhow::{Context, Result};

use crate::fmi::call::{self, Reference};
use crate::fmi::library::{Function, Library};
use crate::fmi::message;
use crate::fmi::status::{no_instance, Status};
use crate::fmi::value::Value;
use crate::package::description::{Description, Variable};
use crate::package::osmp::MessageSpan;

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

/// What is called later on and must be there.
const NEEDED: [&CStr; 4] = [
    c"fmi3EnterInitializationMode",
    c"fmi3ExitInitializationMode",
    c"fmi3Terminate",
    c"fmi3FreeInstance",
];

/// A running FMU of FMI 3.0.
pub struct Instance {
    handle: NonNull<c_void>,
    library: Library,
    step: Function,
    get_binary: Function,
    set_binary: Function,
    get_int32: Function,
    set_int32: Function,
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
    /// Loads it and makes an instance.
    pub(crate) fn load(
        binary: &Path,
        resources: &Path,
        description: &Description,
        logging: bool,
        instantiating: &dyn Fn(),
    ) -> Result<Instance> {
        let library = Library::open(binary)?;
        instantiating();
        let name = CString::new(description.model.as_str()).unwrap_or_default();
        let token = CString::new(description.token.as_str())?;
        // A path and no URL in this version, with a separator at its end.
        let resources = CString::new(format!("{}/", resources.display()))?;
        // SAFETY: shim.cpp gives the function FMI's type for this name, and `log` is
        // of the type that it calls. The texts end with a zero and outlive the call.
        let handle = unsafe {
            wiregauge_cosim_instantiate3(
                library.function(c"fmi3InstantiateCoSimulation")?,
                name.as_ptr(),
                token.as_ptr(),
                resources.as_ptr(),
                false,
                logging,
                ptr::null_mut(),
                log,
            )
        };
        let handle =
            NonNull::new(handle).with_context(|| no_instance("fmi3InstantiateCoSimulation"))?;
        for needed in NEEDED {
            library.function(needed)?;
        }
        Ok(Instance {
            handle,
            step: library.function(c"fmi3DoStep")?,
            get_binary: library.function(c"fmi3GetBinary")?,
            set_binary: library.function(c"fmi3SetBinary")?,
            get_int32: library.function(c"fmi3GetInt32")?,
            set_int32: library.function(c"fmi3SetInt32")?,
            library,
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
        let (values, reference) = (wiregauge_cosim_values3, variable.reference);
        // SAFETY: the instance lives, and the caller promises the rest.
        unsafe { call::set(values, &self.library, self.handle, name, reference, value) }
    }

    pub(crate) fn initialize(&mut self, start: f64) -> Result<()> {
        let enter = self.library.function(c"fmi3EnterInitializationMode")?;
        // SAFETY: the instance is fresh, and shim.cpp gives each function FMI's type
        // for its name; they are called in the standard's order.
        unsafe {
            wiregauge_cosim_enter3(enter, self.handle.as_ptr(), start)
                .require_good("fmi3EnterInitializationMode")?;
            call::call_without_arguments(&self.library, self.handle, c"fmi3ExitInitializationMode")
        }
    }

    #[inline]
    pub(crate) fn step(&mut self, time: f64, size: f64) -> Status {
        let (mut event, mut early, mut last) = (false, false, time + size);
        self.terminate = false;
        // SAFETY: the instance lives until `finish`, `step` is its fmi3DoStep, and the
        // four are of the types that it writes.
        let status = unsafe {
            wiregauge_cosim_step3(
                self.step,
                self.handle.as_ptr(),
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
                self.handle.as_ptr(),
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
                self.handle.as_ptr(),
                reference,
                size,
                address,
            )
        }
    }

    #[inline]
    pub(crate) fn get_pointer(&mut self, references: [Reference; 3]) -> (Status, MessageSpan) {
        let values = wiregauge_cosim_values3;
        // SAFETY: the instance lives, and the function is its fmi3GetInt32.
        unsafe { call::get_span(values, self.get_int32, self.handle, references) }
    }

    #[inline]
    pub(crate) fn put_pointer(&mut self, references: [Reference; 3], span: MessageSpan) -> Status {
        let values = wiregauge_cosim_values3;
        // SAFETY: the instance lives, and the function is its fmi3SetInt32.
        unsafe { call::put_span(values, self.set_int32, self.handle, references, span) }
    }

    pub(crate) fn finish(self, freeing: &dyn Fn()) -> Result<()> {
        // SAFETY: the instance lives to here, and `self` is consumed: nobody uses it
        // again.
        unsafe {
            let (terminate, free) = (c"fmi3Terminate", c"fmi3FreeInstance");
            call::finish(&self.library, self.handle, terminate, free, freeing)
        }
    }
}
