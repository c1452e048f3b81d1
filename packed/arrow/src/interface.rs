//! The structures of Arrow's C data interface.

use std::ffi::{c_char, c_void};
use std::ptr;

/// Of which type an array is.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs)] // As the interface has them.
pub struct ArrowSchema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut ArrowSchema,
    pub dictionary: *mut ArrowSchema,
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub private_data: *mut c_void,
}

/// An array's buffers.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs)]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const c_void,
    pub children: *mut *mut ArrowArray,
    pub dictionary: *mut ArrowArray,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub private_data: *mut c_void,
}

/// The value that a column may be null.
pub(crate) const NULLABLE: i64 = 2;

/// What both have in common: a place for what is let go when it is released.
pub(crate) trait Released: Sized {
    fn release(&mut self);
}

impl Released for ArrowSchema {
    fn release(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: who set it takes such a structure, which is not yet released.
            unsafe { release(self) };
        }
    }
}

impl Released for ArrowArray {
    fn release(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: who set it takes such a structure, which is not yet released.
            unsafe { release(self) };
        }
    }
}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        self.release();
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        self.release();
    }
}

// SAFETY: what they point to belongs to them alone, or is only read and kept by an `Arc` of
// what may be shared between threads.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above.
unsafe impl Send for ArrowArray {}

/// Children by their addresses. One that a consumer has moved away is marked as released
/// there, and lives on.
#[derive(Debug)]
pub(crate) struct Children<T: Released>(Vec<*mut T>);

impl<T: Released> Default for Children<T> {
    fn default() -> Self {
        Children(Vec::new())
    }
}

impl<T: Released> Children<T> {
    pub fn add(&mut self, child: T) {
        self.0.push(Box::into_raw(Box::new(child)));
    }

    pub fn count(&self) -> i64 {
        self.0.len() as i64
    }

    pub fn addresses(&mut self) -> *mut *mut T {
        if self.0.is_empty() {
            return ptr::null_mut();
        }
        self.0.as_mut_ptr()
    }
}

impl<T: Released> Drop for Children<T> {
    fn drop(&mut self) {
        for child in self.0.drain(..) {
            // SAFETY: each came from a box and is given back once. Dropped, it releases
            // itself unless it was moved away.
            drop(unsafe { Box::from_raw(child) });
        }
    }
}
