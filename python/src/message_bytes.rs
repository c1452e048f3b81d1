//! Bytes of a message as an object that Python's buffer protocol hands out, without a copy.
//!
//! Python's stable interface has the buffer protocol from version 3.11 on, but types could
//! have it since 3.9, by the same slots and with the same structure. So the type is made by
//! hand here, and Python 3.9 and 3.10 are served by the same module as later ones.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::{self, ManuallyDrop};
use std::ptr;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use wiregauge_trace::shared_bytes::SharedBytes;

/// `Py_buffer`, which is the same in all versions of Python 3 from 3.9 on.
#[repr(C)]
struct BufferView {
    buf: *const c_void,
    obj: *mut ffi::PyObject,
    len: ffi::Py_ssize_t,
    itemsize: ffi::Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *const c_char,
    shape: *mut ffi::Py_ssize_t,
    strides: *mut ffi::Py_ssize_t,
    suboffsets: *mut ffi::Py_ssize_t,
    internal: *mut c_void,
}

/// `Py_bf_getbuffer`.
const GET_BUFFER: c_int = 1;

// What who asks for a view wants of it.
const WRITABLE: c_int = 0x1;
const FORMAT: c_int = 0x4;
const SHAPE: c_int = 0x8;
const STRIDES: c_int = 0x10 | SHAPE;

/// The object. Its bytes are never written and live as long as it does.
#[repr(C)]
struct MessageBytes {
    head: ffi::PyObject,
    bytes: ManuallyDrop<SharedBytes>,
}

/// A view of bytes, which keeps them: `memoryview`, read-only.
pub fn view(python: Python<'_>, bytes: SharedBytes) -> PyResult<Py<PyAny>> {
    let kind = message_bytes_type(python)?.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: the type is one of ours, with room for `MessageBytes`, whose bytes are written
    // before anybody else sees the object; a null pointer becomes Python's error.
    let object = unsafe {
        let object = ffi::PyType_GenericAlloc(kind, 0);
        if !object.is_null() {
            ptr::addr_of_mut!((*object.cast::<MessageBytes>()).bytes)
                .write(ManuallyDrop::new(bytes));
        }
        Bound::from_owned_ptr_or_err(python, object)?
    };
    // SAFETY: the object hands out views; the new reference is ours.
    let view = unsafe {
        Bound::from_owned_ptr_or_err(python, ffi::PyMemoryView_FromObject(object.as_ptr()))?
    };
    Ok(view.unbind())
}

/// The type, made once.
fn message_bytes_type(python: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = TYPE.get_or_try_init(python, || {
        let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
        let mut slots = [
            slot(GET_BUFFER, get_buffer as *mut c_void),
            slot(ffi::Py_tp_dealloc, deallocate as *mut c_void),
            ffi::PyType_Slot::default(),
        ];
        let mut spec = ffi::PyType_Spec {
            name: c"wiregauge._native.MessageBytes".as_ptr(),
            basicsize: mem::size_of::<MessageBytes>() as c_int,
            itemsize: 0,
            flags: ffi::Py_TPFLAGS_DEFAULT as c_uint,
            slots: slots.as_mut_ptr(),
        };
        // SAFETY: the slots end with an empty one and have functions of their kind; Python
        // copies what it keeps of both, but for the name, which is static.
        unsafe { Bound::from_owned_ptr_or_err(python, ffi::PyType_FromSpec(&mut spec)) }
            .map(Bound::unbind)
    })?;
    Ok(made.bind(python))
}

/// Fills a view of the bytes.
///
/// # Safety
/// Python calls it with an object of the type and a view to be filled, holding its lock.
unsafe extern "C" fn get_buffer(
    object: *mut ffi::PyObject,
    view: *mut BufferView,
    wanted: c_int,
) -> c_int {
    // SAFETY: as Python calls it; what is written into the view lives as long as the object,
    // to which the view gets a reference, or lies in the view itself.
    unsafe {
        if wanted & WRITABLE == WRITABLE {
            (*view).obj = ptr::null_mut();
            PyBufferError::new_err("the bytes of a message cannot be written")
                .restore(Python::assume_attached());
            return -1;
        }
        let bytes: &[u8] = &(*object.cast::<MessageBytes>()).bytes;
        let asks = |flag: c_int| wanted & flag == flag;
        ffi::Py_INCREF(object);
        view.write(BufferView {
            buf: bytes.as_ptr().cast(),
            obj: object,
            len: bytes.len() as ffi::Py_ssize_t,
            itemsize: 1,
            readonly: 1,
            ndim: 1,
            format: if asks(FORMAT) { c"B".as_ptr() } else { ptr::null() },
            shape: if asks(SHAPE) { ptr::addr_of_mut!((*view).len) } else { ptr::null_mut() },
            strides: match asks(STRIDES) {
                true => ptr::addr_of_mut!((*view).itemsize),
                false => ptr::null_mut(),
            },
            suboffsets: ptr::null_mut(),
            internal: ptr::null_mut(),
        });
        0
    }
}

/// Lets the bytes go, and the object.
///
/// # Safety
/// Python calls it once, with an object of the type that nobody refers to, holding its lock.
unsafe extern "C" fn deallocate(object: *mut ffi::PyObject) {
    type Free = unsafe extern "C" fn(*mut c_void);
    // SAFETY: the bytes were written when the object was made. A type that was made so has a
    // slot that frees its objects, and each object has a reference to it.
    unsafe {
        ManuallyDrop::drop(&mut (*object.cast::<MessageBytes>()).bytes);
        let kind = ffi::Py_TYPE(object);
        let free = ffi::PyType_GetSlot(kind, ffi::Py_tp_free);
        mem::transmute::<*mut c_void, Free>(free)(object.cast());
        ffi::Py_DECREF(kind.cast());
    }
}
