//! A reduction by a library in C++, through its glue.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::path::Path;

use anyhow::{anyhow, ensure, Context, Result};
use libloading::Library;
use wiregauge_points::each;

use crate::framed::{read_counts, write_counts, write_head, ColumnHead, LARGEST};
use crate::reduction::Reduction;
use crate::table::{type_code, Column, Table};

/// A column as the glue has it: `Column` of columns.hpp.
#[repr(C)]
struct ColumnPointer {
    values: *mut c_void,
    name: *const u8,
    length: usize,
    resolution: f64,
    kind: u8,
    axis: u8,
}

impl ColumnPointer {
    fn new(column: &Column, values: *mut c_void, axis: u8) -> ColumnPointer {
        ColumnPointer {
            values,
            name: column.name.as_ptr(),
            length: column.name.len(),
            resolution: column.resolution.unwrap_or_default(),
            kind: type_code(column.values.kind()),
            axis,
        }
    }
}

type CreateFn = unsafe extern "C" fn(c_int) -> *mut c_void;
type DropFn = unsafe extern "C" fn(*mut c_void);
type LibraryNameFn = unsafe extern "C" fn() -> *const c_char;
type LastErrorFn = unsafe extern "C" fn(*mut c_void) -> *const c_char;
type EncodeFn = unsafe extern "C" fn(
    *mut c_void,
    *const ColumnPointer,
    usize,
    usize,
    *mut *const u8,
    *mut usize,
) -> bool;
type DecodeFn =
    unsafe extern "C" fn(*mut c_void, *const u8, usize, *const ColumnPointer, usize, usize) -> bool;

/// A reduction by a library.
pub struct NativeReduction {
    coder: *mut c_void,
    encode: EncodeFn,
    decode: DecodeFn,
    why: LastErrorFn,
    drops: DropFn,
    name: String,
    admit: fn(&Table) -> Result<()>,
    lent: Vec<ColumnPointer>,
    /// Keeps the functions where they are.
    _library: Library,
}

impl NativeReduction {
    /// A variant of the glue in this file.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub fn load(
        file: &Path,
        variant: i32,
        admit: fn(&Table) -> Result<()>,
    ) -> Result<NativeReduction> {
        let loaded = || -> Result<NativeReduction> {
            // SAFETY: it was compiled of this project's source, and the library that comes with
            // it has no other constructors than C++ ones have.
            let library = unsafe { Library::new(file) }?;
            // SAFETY: each has the type that columns.hpp gives it, and is not used longer than
            // the library is kept.
            let native = unsafe {
                let name = CStr::from_ptr(library.get::<LibraryNameFn>(b"wiregauge_library")?());
                let name = name.to_string_lossy().into_owned();
                let coder = library.get::<CreateFn>(b"wiregauge_make")?(variant);
                NativeReduction {
                    coder,
                    encode: *library.get::<EncodeFn>(b"wiregauge_encode")?,
                    decode: *library.get::<DecodeFn>(b"wiregauge_decode")?,
                    why: *library.get::<LastErrorFn>(b"wiregauge_why")?,
                    drops: *library.get::<DropFn>(b"wiregauge_drop")?,
                    name,
                    admit,
                    lent: Vec::new(),
                    _library: library,
                }
            };
            ensure!(!native.coder.is_null(), "its wiregauge_make returned nothing");
            Ok(native)
        };
        loaded().with_context(|| file.display().to_string())
    }

    /// Why the last call failed.
    fn last_error(&self) -> anyhow::Error {
        // SAFETY: the coder lives, and its text until its next call.
        let why = unsafe { CStr::from_ptr((self.why)(self.coder)) };
        anyhow!("{}", why.to_string_lossy())
    }
}

impl Drop for NativeReduction {
    fn drop(&mut self) {
        // SAFETY: made by the same library, and dropped once.
        unsafe { (self.drops)(self.coder) }
    }
}

impl Reduction for NativeReduction {
    fn admit(&mut self, table: &Table) -> Result<()> {
        (self.admit)(table)
    }

    fn library(&self) -> Option<String> {
        Some(self.name.clone())
    }

    fn encode(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<()> {
        let rows = table.rows();
        ensure!(rows <= LARGEST, "{rows} rows");
        write_counts(table, out)?;
        for column in &table.columns {
            write_head(column, out)?;
        }
        if rows == 0 {
            return Ok(());
        }
        let axes = axes(&table.columns);
        self.lent.clear();
        self.lent.extend(table.columns.iter().zip(axes).map(|(column, axis)| {
            let values = each!(&column.values, list => list.as_ptr().cast_mut().cast());
            ColumnPointer::new(column, values, axis)
        }));
        let (mut bytes, mut size) = (std::ptr::null(), 0);
        // SAFETY: every column has as many values as the table has rows, and encoding only
        // reads them; what is lent outlives the call.
        let is_done = unsafe {
            let lent = self.lent.as_ptr();
            (self.encode)(self.coder, lent, self.lent.len(), rows, &mut bytes, &mut size)
        };
        if !is_done {
            return Err(self.last_error());
        }
        // SAFETY: they live until the coder's next call.
        out.extend_from_slice(unsafe { std::slice::from_raw_parts(bytes, size) });
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], table: &mut Table) -> Result<()> {
        let mut rest = bytes;
        let (rows, columns) = read_counts(&mut rest)?;
        for at in 0..columns {
            ColumnHead::read(&mut rest, rows)?.prepare_column(table, at, rows)?;
        }
        table.columns.truncate(columns);
        if rows == 0 {
            ensure!(rest.is_empty(), "{} bytes follow the last column", rest.len());
            return Ok(());
        }
        let axes = axes(&table.columns);
        self.lent.clear();
        self.lent.extend(table.columns.iter_mut().zip(axes).map(|(column, axis)| {
            let values = each!(&mut column.values, list => list.as_mut_ptr().cast());
            ColumnPointer::new(column, values, axis)
        }));
        // SAFETY: every column has room for as many values as there are rows, and nothing else
        // uses them during the call.
        let is_done = unsafe {
            let lent = self.lent.as_ptr();
            (self.decode)(self.coder, rest.as_ptr(), rest.len(), lent, self.lent.len(), rows)
        };
        is_done.then_some(()).ok_or_else(|| self.last_error())
    }
}

/// Which columns are x, y and z of one position: those of these names, all three, with one
/// resolution.
fn axes(columns: &[Column]) -> Vec<u8> {
    let of = |name: &str| columns.iter().position(|column| column.name == name);
    let mut axes = vec![0; columns.len()];
    if let [Some(x), Some(y), Some(z)] = ["x", "y", "z"].map(of) {
        let first = columns[x].resolution;
        if first.is_some() && [y, z].iter().all(|at| columns[*at].resolution == first) {
            (axes[x], axes[y], axes[z]) = (1, 2, 3);
        }
    }
    axes
}
