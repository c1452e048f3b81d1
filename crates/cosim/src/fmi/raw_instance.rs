//! An instance as the functions of its shared object take it, and the calls that FMI 2 and 3
//! have alike, through shim.cpp.

use std::ffi::{c_int, c_uint, c_void, CStr};
use std::ptr::{self, NonNull};

use anyhow::{Context, Result};

use crate::fmi::library::{Function, Library};
use crate::fmi::osmp::{join_address, split_address, MessageSpan};
use crate::fmi::status::{no_instance, Status};

/// What names a variable.
pub type Reference = c_uint;
/// The function of shim.cpp that calls the getters and setters of a version.
pub type Values =
    unsafe extern "C" fn(Function, *mut c_void, *const Reference, usize, *mut c_void) -> Status;

extern "C" {
    fn wiregauge_cosim_plain(function: Function, instance: *mut c_void) -> Status;
    fn wiregauge_cosim_free(function: Function, instance: *mut c_void) -> Status;
}

/// The names of a version's functions that are called in both versions.
pub struct FunctionNames {
    /// The function that made the instance.
    pub instantiate: &'static CStr,
    /// Those that are called before the instance is initialized, which must be there.
    pub enter_initialization: &'static [&'static CStr],
    /// Takes nothing but the instance, as does the next one.
    pub exit_initialization: &'static CStr,
    /// Is called before the instance is freed.
    pub terminate: &'static CStr,
    /// Frees the instance.
    pub free: &'static CStr,
    /// Calculates a step.
    pub step: &'static CStr,
    /// Gets 32-bit integers.
    pub get_integer: &'static CStr,
    /// Sets them.
    pub set_integer: &'static CStr,
}

/// An instance that lives.
pub struct RawInstance {
    address: NonNull<c_void>,
    library: Library,
    names: &'static FunctionNames,
    values: Values,
    step: Function,
    get_integer: Function,
    set_integer: Function,
}

impl RawInstance {
    /// What a library's function for that returned, with all that is called later on.
    ///
    /// # Errors
    /// When it returned nothing, or a function is not there.
    ///
    /// # Safety
    /// The address is null or of an instance of the library, which nobody else frees. The
    /// names and the function of shim.cpp are those of its version of FMI.
    pub unsafe fn new(
        library: Library,
        address: *mut c_void,
        names: &'static FunctionNames,
        values: Values,
    ) -> Result<RawInstance> {
        let missing = || no_instance(&names.instantiate.to_string_lossy());
        let address = NonNull::new(address).with_context(missing)?;
        let ends = [names.exit_initialization, names.terminate, names.free];
        for needed in names.enter_initialization.iter().copied().chain(ends) {
            library.function(needed)?;
        }
        Ok(RawInstance {
            address,
            step: library.function(names.step)?,
            get_integer: library.function(names.get_integer)?,
            set_integer: library.function(names.set_integer)?,
            library,
            names,
            values,
        })
    }

    /// As its functions take it.
    #[inline]
    pub fn address(&self) -> *mut c_void {
        self.address.as_ptr()
    }

    /// Where its functions are.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The function that calculates a step.
    #[inline]
    pub fn step(&self) -> Function {
        self.step
    }

    /// Calls a function that takes nothing but the instance.
    ///
    /// # Errors
    /// When it is not there, or its status is no good one.
    ///
    /// # Safety
    /// FMI's function of this name takes nothing else.
    pub unsafe fn call_without_arguments(&self, name: &CStr) -> Result<()> {
        let function = self.library.function(name)?;
        // SAFETY: the instance lives; the rest is as the caller promises.
        let status = unsafe { wiregauge_cosim_plain(function, self.address()) };
        status.require_good(&name.to_string_lossy())
    }

    /// Ends the initialization.
    ///
    /// # Errors
    /// When its status is no good one.
    pub fn exit_initialization(&self) -> Result<()> {
        // SAFETY: FMI's function of this name takes nothing but the instance.
        unsafe { self.call_without_arguments(self.names.exit_initialization) }
    }

    /// Sets one variable.
    ///
    /// # Errors
    /// When the function is not there, or its status is no good one.
    ///
    /// # Safety
    /// FMI's function of this name takes values of this type.
    pub unsafe fn set<T>(&self, name: &CStr, reference: Reference, mut value: T) -> Result<()> {
        let function = self.library.function(name)?;
        // SAFETY: the instance lives, one reference and one value outlive the call; the
        // rest is as the caller promises.
        let status = unsafe {
            let value = ptr::from_mut(&mut value).cast();
            (self.values)(function, self.address(), &reference, 1, value)
        };
        status.require_good(&name.to_string_lossy())
    }

    /// Reads where a message lies, which three integers say.
    #[inline]
    pub fn get_span(&self, references: [Reference; 3]) -> (Status, MessageSpan) {
        let mut found: [c_int; 3] = [0; 3];
        // SAFETY: the instance lives, and the function is its getter of 32-bit integers:
        // three references are read and three values written, for which there is room.
        let status = unsafe {
            let (from, to) = (references.as_ptr(), found.as_mut_ptr().cast());
            (self.values)(self.get_integer, self.address(), from, 3, to)
        };
        let [lo, hi, size] = found;
        (status, MessageSpan { address: join_address(lo, hi), size: i64::from(size) })
    }

    /// Hands over where a message lies, in three integers.
    #[inline]
    pub fn put_span(&self, references: [Reference; 3], span: MessageSpan) -> Status {
        let (lo, hi) = split_address(span.address);
        let Ok(size) = c_int::try_from(span.size) else { return Status::ERROR };
        let mut given = [lo, hi, size];
        // SAFETY: the instance lives, and the function is its setter of 32-bit integers:
        // three references and three values are read.
        unsafe {
            let (from, to) = (references.as_ptr(), given.as_mut_ptr().cast());
            (self.values)(self.set_integer, self.address(), from, 3, to)
        }
    }

    /// Terminates it and frees it, also where it refuses to terminate. `freeing` is told
    /// before that.
    ///
    /// # Errors
    /// When it does.
    pub fn finish(self, freeing: &dyn Fn()) -> Result<()> {
        let FunctionNames { terminate, free, .. } = self.names;
        let function = self.library.function(free)?;
        // SAFETY: FMI's function of this name takes nothing but the instance.
        let ended = unsafe { self.call_without_arguments(terminate) };
        freeing();
        // SAFETY: the instance is freed once, and last: `self` is consumed.
        let freed = unsafe { wiregauge_cosim_free(function, self.address()) };
        ended.and(freed.require_good(&free.to_string_lossy()))
    }
}
