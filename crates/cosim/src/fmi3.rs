//! FMUs of FMI 3.0 for co-simulation; see `fmi2` for why the binding is our
//! own.

use std::ffi::{c_char, c_int, c_uint, c_void, CString};
use std::path::Path;
use std::ptr::{self, NonNull};

use anyhow::{Context, Result};

use crate::description::{Description, Variable};
use crate::instance::{last_words, Status, Value};
use crate::library::Library;
use crate::message;
use crate::osmp::{join, split, Span};

type Handle = *mut c_void;
type Reference = c_uint;

type LogMessage = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char);
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    bool,
    bool,
    bool,
    bool,
    *const Reference,
    usize,
    *mut c_void,
    LogMessage,
    *const c_void,
) -> Handle;
type Enter = unsafe extern "C" fn(Handle, bool, f64, f64, bool, f64) -> Status;
type Plain = unsafe extern "C" fn(Handle) -> Status;
type Free = unsafe extern "C" fn(Handle);
type Step = unsafe extern "C" fn(
    Handle,
    f64,
    f64,
    bool,
    *mut bool,
    *mut bool,
    *mut bool,
    *mut f64,
) -> Status;
type Get<T> = unsafe extern "C" fn(Handle, *const Reference, usize, *mut T, usize) -> Status;
type Set<T> = unsafe extern "C" fn(Handle, *const Reference, usize, *const T, usize) -> Status;
type GetBinary = unsafe extern "C" fn(
    Handle,
    *const Reference,
    usize,
    *mut usize,
    *mut *const u8,
    usize,
) -> Status;
type SetBinary = unsafe extern "C" fn(
    Handle,
    *const Reference,
    usize,
    *const usize,
    *const *const u8,
    usize,
) -> Status;

/// A running FMU of FMI 3.0.
pub struct Instance {
    handle: NonNull<c_void>,
    library: Library,
    enter: Enter,
    exit: Plain,
    step: Step,
    get_binary: GetBinary,
    set_binary: SetBinary,
    get_int32: Get<i32>,
    set_int32: Set<i32>,
    terminate: Plain,
    free: Free,
    why: &'static str,
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
    // SAFETY: the caller's promise.
    let (category, message) = unsafe { (message::text(category), message::text(message)) };
    message::keep(&category, &message);
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
        let name = CString::new(description.model.as_str()).unwrap_or_default();
        let token = CString::new(description.token.as_str())?;
        // A path and no URL in this version, with a separator at its end.
        let resources = CString::new(format!("{}/", resources.display()))?;
        // SAFETY: the symbols have the types that the standard gives them, and
        // the texts outlive the call.
        unsafe {
            let instantiate: Instantiate = library.symbol("fmi3InstantiateCoSimulation")?;
            let handle = instantiate(
                name.as_ptr(),
                token.as_ptr(),
                resources.as_ptr(),
                false,
                logging,
                false,
                false,
                ptr::null(),
                0,
                ptr::null_mut(),
                log,
                ptr::null(),
            );
            let handle = NonNull::new(handle).with_context(|| {
                format!("fmi3InstantiateCoSimulation returned nothing{}", last_words())
            })?;
            Ok(Instance {
                handle,
                enter: library.symbol("fmi3EnterInitializationMode")?,
                exit: library.symbol("fmi3ExitInitializationMode")?,
                step: library.symbol("fmi3DoStep")?,
                get_binary: library.symbol("fmi3GetBinary")?,
                set_binary: library.symbol("fmi3SetBinary")?,
                get_int32: library.symbol("fmi3GetInt32")?,
                set_int32: library.symbol("fmi3SetInt32")?,
                terminate: library.symbol("fmi3Terminate")?,
                free: library.symbol("fmi3FreeInstance")?,
                library,
                why: "",
            })
        }
    }

    pub(crate) fn set(&mut self, variable: &Variable, value: &Value) -> Result<()> {
        // SAFETY: each function takes values of the type in its name.
        unsafe {
            match (value, variable.kind.as_str()) {
                (Value::Integer(value), "Int32") => self.set_as(variable, "Int32", *value as i32),
                (Value::Integer(value), "Int8") => self.set_as(variable, "Int8", *value as i8),
                (Value::Integer(value), "UInt8") => self.set_as(variable, "UInt8", *value as u8),
                (Value::Integer(value), "Int16") => self.set_as(variable, "Int16", *value as i16),
                (Value::Integer(value), "UInt16") => self.set_as(variable, "UInt16", *value as u16),
                (Value::Integer(value), "UInt32") => self.set_as(variable, "UInt32", *value as u32),
                (Value::Integer(value), "UInt64") => self.set_as(variable, "UInt64", *value as u64),
                // Enumerations are set as Int64.
                (Value::Integer(value), _) => self.set_as(variable, "Int64", *value),
                (Value::Real(value), "Float32") => self.set_as(variable, "Float32", *value as f32),
                (Value::Real(value), _) => self.set_as(variable, "Float64", *value),
                (Value::Boolean(value), _) => self.set_as(variable, "Boolean", *value),
                (Value::Text(value), _) => self.set_as(variable, "String", value.as_ptr()),
            }
        }
    }

    /// # Safety
    /// `T` must be the type that the function with this ending takes.
    unsafe fn set_as<T>(&mut self, variable: &Variable, kind: &str, value: T) -> Result<()> {
        let name = format!("fmi3Set{kind}");
        // SAFETY: one reference and one value of the right type.
        let status = unsafe {
            let set: Set<T> = self.library.symbol(&name)?;
            set(self.handle.as_ptr(), &variable.reference, 1, &value, 1)
        };
        status.good_enough(&name)
    }

    pub(crate) fn initialize(&mut self, start: f64) -> Result<()> {
        let handle = self.handle.as_ptr();
        // SAFETY: the calls of the standard, in its order.
        unsafe {
            (self.enter)(handle, false, 0.0, start, false, 0.0)
                .good_enough("fmi3EnterInitializationMode")?;
            (self.exit)(handle).good_enough("fmi3ExitInitializationMode")
        }
    }

    #[inline]
    pub(crate) fn step(&mut self, time: f64, size: f64) -> Status {
        let (mut event, mut terminate, mut early, mut last) = (false, false, false, time + size);
        // SAFETY: it is initialized, and the four have room for what it says.
        let status = unsafe {
            (self.step)(
                self.handle.as_ptr(),
                time,
                size,
                true,
                &mut event,
                &mut terminate,
                &mut early,
                &mut last,
            )
        };
        self.why = match (terminate, early) {
            (true, _) => "it asks to end the simulation",
            (_, true) => "it returned early, which it was not allowed to",
            _ => return status,
        };
        if status == Status::OK {
            Status(2)
        } else {
            status
        }
    }

    pub(crate) fn why(&self) -> &'static str {
        self.why
    }

    #[inline]
    pub(crate) fn get(&mut self, reference: Reference) -> (Status, Span) {
        let (mut size, mut address) = (0usize, ptr::null());
        // SAFETY: one reference and room for one size and one address.
        let status = unsafe {
            (self.get_binary)(self.handle.as_ptr(), &reference, 1, &mut size, &mut address, 1)
        };
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        (status, Span { address: address as usize, size })
    }

    #[inline]
    pub(crate) fn put(&mut self, reference: Reference, span: Span) -> Status {
        let (size, address) = (span.size as usize, span.address as *const u8);
        // SAFETY: one reference, one size and one address, which was checked.
        unsafe { (self.set_binary)(self.handle.as_ptr(), &reference, 1, &size, &address, 1) }
    }

    #[inline]
    pub(crate) fn get_pointer(&mut self, references: [Reference; 3]) -> (Status, Span) {
        let mut values = [0; 3];
        // SAFETY: three references and room for three values.
        let status = unsafe {
            (self.get_int32)(self.handle.as_ptr(), references.as_ptr(), 3, values.as_mut_ptr(), 3)
        };
        let [lo, hi, size] = values;
        (status, Span { address: join(lo, hi), size: i64::from(size) })
    }

    #[inline]
    pub(crate) fn put_pointer(&mut self, references: [Reference; 3], span: Span) -> Status {
        let (lo, hi) = split(span.address);
        let Ok(size) = i32::try_from(span.size) else { return Status(3) };
        // SAFETY: three references and three values.
        unsafe {
            (self.set_int32)(
                self.handle.as_ptr(),
                references.as_ptr(),
                3,
                [lo, hi, size].as_ptr(),
                3,
            )
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        // SAFETY: it is not used again.
        unsafe {
            let ended = (self.terminate)(self.handle.as_ptr()).good_enough("fmi3Terminate");
            (self.free)(self.handle.as_ptr());
            ended
        }
    }
}
