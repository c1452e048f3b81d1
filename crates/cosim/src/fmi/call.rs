//! The calls that FMI 2 and 3 have alike, through shim.cpp.

use std::ffi::{c_int, c_uint, c_void, CStr};
use std::ptr::{self, NonNull};

use anyhow::Result;

use crate::fmi::library::{Function, Library};
use crate::fmi::status::Status;
use crate::package::osmp::{join_address, split_address, MessageSpan};

/// What names a variable.
pub type Reference = c_uint;
/// The function of shim.cpp that calls the getters and setters of a version.
pub type Values =
    unsafe extern "C" fn(Function, *mut c_void, *const Reference, usize, *mut c_void) -> Status;

extern "C" {
    fn wiregauge_cosim_plain(function: Function, instance: *mut c_void) -> Status;
    fn wiregauge_cosim_free(function: Function, instance: *mut c_void) -> Status;
}

/// Calls a function that takes nothing but the instance.
///
/// # Errors
/// When it is not there, or its status is no good one.
///
/// # Safety
/// The instance lives, and FMI's function of this name takes nothing else.
pub unsafe fn call_without_arguments(
    library: &Library,
    instance: NonNull<c_void>,
    name: &CStr,
) -> Result<()> {
    let function = library.function(name)?;
    // SAFETY: as the caller promises.
    let status = unsafe { wiregauge_cosim_plain(function, instance.as_ptr()) };
    status.require_good(&name.to_string_lossy())
}

/// Terminates an instance and frees it, also where it refuses to terminate. `freeing` is
/// told before that.
///
/// # Errors
/// When it does.
///
/// # Safety
/// The instance lives, nobody uses it again, and the names are those of its
/// version.
pub unsafe fn finish(
    library: &Library,
    instance: NonNull<c_void>,
    terminate: &CStr,
    free: &CStr,
    freeing: &dyn Fn(),
) -> Result<()> {
    let function = library.function(free)?;
    // SAFETY: as the caller promises; it is freed once, and last.
    unsafe {
        let ended = call_without_arguments(library, instance, terminate);
        freeing();
        let freed = wiregauge_cosim_free(function, instance.as_ptr());
        ended.and(freed.require_good(&free.to_string_lossy()))
    }
}

/// Sets one variable.
///
/// # Errors
/// When the function is not there, or its status is no good one.
///
/// # Safety
/// The instance lives, and FMI's function of this name takes values of this
/// type.
pub unsafe fn set<T>(
    values: Values,
    library: &Library,
    instance: NonNull<c_void>,
    name: &CStr,
    reference: Reference,
    mut value: T,
) -> Result<()> {
    let function = library.function(name)?;
    // SAFETY: one reference and one value outlive the call; the rest is as the
    // caller promises.
    let status = unsafe {
        values(function, instance.as_ptr(), &reference, 1, ptr::from_mut(&mut value).cast())
    };
    status.require_good(&name.to_string_lossy())
}

/// Reads where a message lies, which three integers say.
///
/// # Safety
/// The instance lives, and the function is its getter of 32-bit integers.
#[inline]
pub unsafe fn get_span(
    values: Values,
    function: Function,
    instance: NonNull<c_void>,
    references: [Reference; 3],
) -> (Status, MessageSpan) {
    let mut found: [c_int; 3] = [0; 3];
    // SAFETY: three references are read and three values written, for which there
    // is room; the rest is as the caller promises.
    let status = unsafe {
        let (from, to) = (references.as_ptr(), found.as_mut_ptr().cast());
        values(function, instance.as_ptr(), from, 3, to)
    };
    let [lo, hi, size] = found;
    (status, MessageSpan { address: join_address(lo, hi), size: i64::from(size) })
}

/// Hands over where a message lies, in three integers.
///
/// # Safety
/// The instance lives, and the function is its setter of 32-bit integers.
#[inline]
pub unsafe fn put_span(
    values: Values,
    function: Function,
    instance: NonNull<c_void>,
    references: [Reference; 3],
    span: MessageSpan,
) -> Status {
    let (lo, hi) = split_address(span.address);
    let Ok(size) = c_int::try_from(span.size) else { return Status::ERROR };
    let mut given = [lo, hi, size];
    // SAFETY: three references and three values are read; the rest is as the
    // caller promises.
    unsafe {
        let (from, to) = (references.as_ptr(), given.as_mut_ptr().cast());
        values(function, instance.as_ptr(), from, 3, to)
    }
}
