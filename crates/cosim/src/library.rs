//! Shared objects of FMUs.

use std::mem::ManuallyDrop;
use std::path::Path;

use anyhow::{Context, Result};
use libloading::os::unix;

/// A shared object that stays loaded until the process ends, as FMUs register
/// what must not go away before.
pub struct Library(ManuallyDrop<unix::Library>);

impl Library {
    /// Loads it with all its symbols, which stay its own.
    ///
    /// # Errors
    /// Says what the loader says: a missing library, another machine.
    pub fn open(path: &Path) -> Result<Library> {
        let flags = unix::RTLD_NOW | unix::RTLD_LOCAL;
        // SAFETY: what it does when it is loaded is its own; the process is
        // there to be at its mercy.
        let library = unsafe { unix::Library::open(Some(path), flags) };
        library.map(ManuallyDrop::new).map(Library).context("its shared object cannot be loaded")
    }

    /// A function.
    ///
    /// # Errors
    /// When it is not there.
    ///
    /// # Safety
    /// `T` must be its type.
    pub unsafe fn symbol<T: Copy>(&self, name: &str) -> Result<T> {
        // SAFETY: the caller's promise.
        let symbol = unsafe { self.0.get::<T>(name) };
        Ok(*symbol.map_err(|_| anyhow::anyhow!("its shared object has no function {name}"))?)
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
