//! Shared objects of FMUs.

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::path::Path;
use std::ptr::NonNull;

use anyhow::{anyhow, bail, Context, Result};

use crate::fmi::message;

/// A function of a shared object, which only shim.cpp calls: it knows its type.
pub type Function = unsafe extern "C" fn();

extern "C" {
    fn wiregauge_cosim_open(path: *const c_char, flags: c_int) -> *mut c_void;
}

/// A shared object that stays loaded until the process ends, as FMUs register
/// what must not go away before.
pub struct Library(NonNull<c_void>);

impl Library {
    /// Loads it with all its symbols, which stay its own.
    ///
    /// # Errors
    /// Says what the loader says (a missing library, another machine), or what
    /// a static object of it threw.
    pub fn open(path: &Path) -> Result<Library> {
        let text = CString::new(path.as_os_str().as_encoded_bytes())?;
        // SAFETY: the path ends with a zero. What the object does as it is loaded
        // cannot be known; this process is there to be at its mercy.
        let handle = unsafe { wiregauge_cosim_open(text.as_ptr(), libc::RTLD_NOW) };
        if let Some(handle) = NonNull::new(handle) {
            return Ok(Library(handle));
        }
        if let Some(thrown) = message::take_thrown() {
            bail!("its shared object threw {thrown} when it was loaded");
        }
        // SAFETY: null or a text of the loader's, which stays until its next call.
        let said = unsafe { message::text(libc::dlerror()) };
        Err(anyhow!(said)).context("its shared object cannot be loaded")
    }

    /// A function.
    ///
    /// # Errors
    /// When it is not there.
    pub fn function(&self, name: &CStr) -> Result<Function> {
        self.find(name).with_context(|| {
            format!("its shared object has no function {}", name.to_string_lossy())
        })
    }

    /// A function that may not be there.
    pub fn find(&self, name: &CStr) -> Option<Function> {
        // SAFETY: the handle is of a library that is never closed, and the name ends
        // with a zero.
        let address = unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) };
        // SAFETY: an address and a function have one size here, and null is `None`.
        // Only shim.cpp calls it, by the type that FMI gives the name.
        unsafe { std::mem::transmute::<*mut c_void, Option<Function>>(address) }
    }
}

/// A path as a file URL, as FMI 2 wants it.
pub fn url(path: &Path) -> String {
    let mut url = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(char::from(*byte));
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_escaped() {
        assert_eq!(url(Path::new("/a b/c-1.x")), "file:///a%20b/c-1.x");
    }
}
