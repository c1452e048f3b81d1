//! SIL Kit's library, as the user has it: loaded when the program runs, by what its C headers
//! (`silkit/capi`) say of the functions that are used here.

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::ptr;

use anyhow::{bail, ensure, Context, Result};

/// A result of the library's; 0 is good.
type ReturnCode = i32;

/// What every structure begins with: which it is, and room for later.
#[repr(C)]
struct Header {
    version: u64,
    reserved: [u64; 3],
}

impl Header {
    /// Of version 1 of a structure of the service for data.
    const fn of_data(kind: u64) -> Header {
        const SERVICE: u64 = 5;
        let mark = 83 << 56 | 75 << 48;
        Header { version: mark | SERVICE << 40 | kind << 32 | 1 << 24, reserved: [0; 3] }
    }
}

/// Which data is meant.
#[repr(C)]
struct DataSpec {
    header: Header,
    topic: *const c_char,
    media_type: *const c_char,
    label_count: usize,
    labels: *const c_void,
}

#[repr(C)]
struct ByteVector {
    data: *const u8,
    size: usize,
}

/// Data that has come.
#[repr(C)]
pub struct DataMessage {
    header: Header,
    timestamp: u64,
    data: ByteVector,
}

impl DataMessage {
    /// Its content.
    pub fn bytes(&self) -> &[u8] {
        match self.data.size {
            0 => &[],
            // SAFETY: the library gives an address of so many bytes, for as long as the message
            // is lent.
            size => unsafe { std::slice::from_raw_parts(self.data.data, size) },
        }
    }
}

/// What the library calls in its own thread when data has come.
pub type DataHandler = extern "C" fn(*mut c_void, *mut c_void, *const DataMessage);

/// A function of the library's. All of them take addresses but few.
macro_rules! functions {
    ($($name:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions of the library.
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            fn load(library: *mut c_void) -> Result<Functions> {
                Ok(Functions { $($name: {
                    let address = symbol(library, $symbol)?;
                    // SAFETY: the library's headers declare the function so.
                    unsafe {
                        std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($argument),*) -> $result,
                        >(address)
                    }
                },)* })
            }
        }
    };
}

functions! {
    version = c"SilKit_Version_String": fn(*mut *const c_char) -> ReturnCode;
    last_error = c"SilKit_GetLastErrorString": fn() -> *const c_char;
    configure = c"SilKit_ParticipantConfiguration_FromString":
        fn(*mut *mut c_void, *const c_char) -> ReturnCode;
    forget_configuration = c"SilKit_ParticipantConfiguration_Destroy":
        fn(*mut c_void) -> ReturnCode;
    join = c"SilKit_Participant_Create":
        fn(*mut *mut c_void, *mut c_void, *const c_char, *const c_char) -> ReturnCode;
    leave = c"SilKit_Participant_Destroy": fn(*mut c_void) -> ReturnCode;
    create_publisher = c"SilKit_DataPublisher_Create":
        fn(*mut *mut c_void, *mut c_void, *const c_char, *const DataSpec, u8) -> ReturnCode;
    create_subscriber = c"SilKit_DataSubscriber_Create":
        fn(
            *mut *mut c_void, *mut c_void, *const c_char, *const DataSpec, *mut c_void, DataHandler
        ) -> ReturnCode;
    publish = c"SilKit_DataPublisher_Publish":
        fn(*mut c_void, *const ByteVector) -> ReturnCode;
}

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// All symbols at once, and not for other libraries.
const NOW: c_int = 2;

fn symbol(library: *mut c_void, name: &CStr) -> Result<*mut c_void> {
    // SAFETY: the library stays open, and the name ends with a zero byte.
    let address = unsafe { dlsym(library, name.as_ptr()) };
    ensure!(!address.is_null(), "it has no {}; SIL Kit 4 or 5 is needed", name.to_string_lossy());
    Ok(address)
}

/// The library. It stays loaded to the program's end.
pub struct Library {
    functions: Functions,
    /// Its version.
    pub version: String,
}

impl Library {
    /// Loads it from a path, or by a name where the system looks for libraries.
    ///
    /// # Errors
    /// When it is not there or another library.
    pub fn load(path: &str) -> Result<Library> {
        let name = CString::new(path)?;
        // SAFETY: the path ends with a zero byte. The library's own constructors run.
        let library = unsafe { dlopen(name.as_ptr(), NOW) };
        if library.is_null() {
            // SAFETY: there is an error, whose text lives until this thread's next call.
            let why = unsafe { CStr::from_ptr(dlerror()) }.to_string_lossy();
            bail!(
                "cannot load SIL Kit: {why}; name its library by --option silkit.library=PATH: \
                 'pip download --no-deps silkit-py' has one"
            );
        }
        let functions = Functions::load(library).with_context(|| path.to_owned())?;
        let mut text = ptr::null();
        // SAFETY: the library writes an address of a constant text.
        let version = unsafe {
            (functions.version)(&mut text);
            ensure!(!text.is_null(), "{path} does not say its version");
            CStr::from_ptr(text).to_string_lossy().into_owned()
        };
        Ok(Library { functions, version })
    }

    fn check(&self, code: ReturnCode, what: &str) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: a text of this thread's, which lives until its next call.
        let why = unsafe { CStr::from_ptr((self.functions.last_error)()) }.to_string_lossy();
        bail!("SIL Kit cannot {what}: {why}")
    }
}

/// A participant with all that belongs to it.
pub struct Participant {
    library: &'static Library,
    handle: *mut c_void,
}

// SAFETY: the library lets any thread use a participant, one at a time.
unsafe impl Send for Participant {}

impl Participant {
    /// Joins the simulation of the registry at this URI.
    ///
    /// # Errors
    /// When nobody is there, or the name is taken.
    pub fn join(
        library: &'static Library,
        configuration: &str,
        name: &str,
        uri: &str,
    ) -> Result<Participant> {
        let [configuration, name, address] = [configuration, name, uri].map(CString::new);
        let (configuration, name, address) = (configuration?, name?, address?);
        let functions = &library.functions;
        let (mut configured, mut handle) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: texts end with a zero byte, and there is room for addresses.
        unsafe {
            let code = (functions.configure)(&mut configured, configuration.as_ptr());
            library.check(code, "read the configuration")?;
            let code = (functions.join)(&mut handle, configured, name.as_ptr(), address.as_ptr());
            (functions.forget_configuration)(configured);
            library.check(code, &format!("join the registry at {uri}"))?;
        }
        Ok(Participant { library, handle })
    }

    /// Publishes data. With `keeps` who subscribes later gets the last.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn publisher(&self, topic: &str, keeps: bool) -> Result<Publisher> {
        // It is also the publisher's own name, of which a participant has one each.
        let topic = CString::new(topic)?;
        let spec = data_spec(&topic);
        let mut handle = ptr::null_mut();
        // SAFETY: the participant is joined, texts live during the call, and there is room for
        // an address.
        let code = unsafe {
            let create = self.library.functions.create_publisher;
            create(&mut handle, self.handle, topic.as_ptr(), &spec, u8::from(keeps))
        };
        self.library.check(code, "publish")?;
        Ok(Publisher { library: self.library, handle })
    }

    /// Has the handler called with data that comes.
    ///
    /// # Errors
    /// When the library refuses.
    ///
    /// # Safety
    /// What the context is the address of lives as long as the participant, and may be used by
    /// another thread.
    pub unsafe fn subscribe(
        &self,
        topic: &str,
        handler: DataHandler,
        context: *mut c_void,
    ) -> Result<()> {
        let topic = CString::new(topic)?;
        let spec = data_spec(&topic);
        let mut handle = ptr::null_mut();
        // SAFETY: the participant is joined, texts live during the call, there is room for an
        // address, and the caller promises the context.
        let code = unsafe {
            let create = self.library.functions.create_subscriber;
            create(&mut handle, self.handle, topic.as_ptr(), &spec, context, handler)
        };
        self.library.check(code, "subscribe")
    }
}

fn data_spec(topic: &CStr) -> DataSpec {
    DataSpec {
        header: Header::of_data(2),
        topic: topic.as_ptr(),
        media_type: c"application/octet-stream".as_ptr(),
        label_count: 0,
        labels: ptr::null(),
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        // SAFETY: it is joined, and `self` is its only owner. The library ends its threads.
        unsafe { (self.library.functions.leave)(self.handle) };
    }
}

/// A publisher of a participant's, which must live longer.
pub struct Publisher {
    library: &'static Library,
    handle: *mut c_void,
}

// SAFETY: the library lets any thread publish, one at a time, which `&mut self` sees to.
unsafe impl Send for Publisher {}

impl Publisher {
    /// Publishes this.
    ///
    /// # Errors
    /// When the library refuses.
    pub fn publish(&mut self, bytes: &[u8]) -> Result<()> {
        let bytes = ByteVector { data: bytes.as_ptr(), size: bytes.len() };
        // SAFETY: the participant is joined, and the library copies the bytes before it returns.
        let code = unsafe { (self.library.functions.publish)(self.handle, &bytes) };
        self.library.check(code, "publish")
    }
}
