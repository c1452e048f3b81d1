//! What a function is for, as far as its name and its place tell.

use crate::profile::Function;

/// A kind of work, in the order of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// The program's own code: generated code, headers, crates, glue, all that is compiled
    /// into it.
    Program,
    /// Code of shared libraries, where it is nothing of what follows.
    Libraries,
    /// Getting memory and giving it back.
    Allocating,
    /// memcpy, memmove and the like, where the compiler has left them to the C library.
    Copying,
    /// memset and the like.
    Filling,
    /// Looking whether text is UTF-8, where a function of its own does it.
    CheckingText,
    /// The rest of the C library and of the dynamic linker.
    CLibrary,
    /// Reading the clock.
    Clock,
}

/// Names of the C library's allocator begin so.
const ALLOCATOR: [&str; 24] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "cfree",
    "memalign",
    "posix_memalign",
    "aligned_alloc",
    "valloc",
    "pvalloc",
    "_int_",
    "_mid_memalign",
    "__libc_malloc",
    "__libc_calloc",
    "__libc_realloc",
    "__libc_free",
    "__libc_memalign",
    "unlink_chunk",
    "sysmalloc",
    "systrim",
    "tcache_",
    "alloc_perturb",
    "sbrk",
    "brk",
];

/// The ways of C++, Rust and Protobuf to get memory.
const LANGUAGE_ALLOCATORS: [&str; 10] = [
    "operator new",
    "operator delete",
    "__rust_alloc",
    "__rust_dealloc",
    "__rust_realloc",
    "__rdl_",
    "__rust_no_alloc_shim",
    "Arena::Allocate",
    "SerialArena::",
    "ThreadSafeArena::",
];

const COPIERS: [&str; 4] = ["memcpy", "memmove", "mempcpy", "bcopy"];
const FILLERS: [&str; 3] = ["memset", "bzero", "explicit_bzero"];
const CLOCKS: [&str; 5] =
    ["clock_gettime", "steady_clock::now", "std::time::Instant", "Timespec", "__vdso"];

impl Work {
    /// What a function is for.
    pub fn from_function(function: &Function) -> Work {
        let name = function.name.as_str();
        let is_c = is_c_library(&function.object);
        // `__memcpy_avx_unaligned_erms`, `compiler_builtins::mem::memcpy`
        let plain = name.rsplit("::").next().unwrap_or(name).trim_start_matches('_');
        let begins = |words: &[&str]| words.iter().any(|word| plain.starts_with(word));
        let contains = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let is_simple = is_c || !name.contains(['(', '<']);
        if is_simple && begins(&COPIERS) {
            Work::Copying
        } else if is_simple && begins(&FILLERS) {
            Work::Filling
        } else if is_c && ALLOCATOR.iter().any(|word| name.starts_with(word))
            || LANGUAGE_ALLOCATORS.iter().any(|word| is_called(name, word))
        {
            Work::Allocating
        } else if name.to_ascii_lowercase().contains("utf8") {
            Work::CheckingText
        } else if contains(&CLOCKS) {
            Work::Clock
        } else if is_c {
            Work::CLibrary
        } else if is_library(&function.object) {
            Work::Libraries
        } else {
            Work::Program
        }
    }

    /// As it is called in results.
    pub fn name(self) -> &'static str {
        match self {
            Work::Program => "program",
            Work::Libraries => "libraries",
            Work::Allocating => "allocating",
            Work::Copying => "copying",
            Work::Filling => "filling",
            Work::CheckingText => "checking UTF-8",
            Work::CLibrary => "C library",
            Work::Clock => "clock",
        }
    }
}

/// Whether a name is that of a function of `word`, and no argument or type is.
fn is_called(name: &str, word: &str) -> bool {
    let end = name.find('(').unwrap_or(name.len());
    let head = &name[..end];
    head.starts_with(word) || head.contains(&format!("::{word}"))
}

/// Whether a file is a shared library, and not the program.
pub fn is_library(object: &str) -> bool {
    object.ends_with(".so") || object.contains(".so.")
}

fn is_c_library(object: &str) -> bool {
    ["libc.so", "libm.so", "ld-linux", "ld64.so", "libc.musl", "ld-musl"]
        .iter()
        .any(|name| object.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_told_by_name_and_place() {
        let libc = "libc.so.6";
        let protobuf = "libprotobuf.so.32.0.12";
        for (object, name, work) in [
            (libc, "__memcpy_avx_unaligned_erms", Work::Copying),
            (libc, "memmove", Work::Copying),
            (libc, "__memset_avx2_unaligned_erms", Work::Filling),
            (libc, "_int_malloc", Work::Allocating),
            (libc, "malloc_consolidate", Work::Allocating),
            (libc, "unlink_chunk.constprop.0", Work::Allocating),
            (libc, "strlen", Work::CLibrary),
            (libc, "clock_gettime", Work::Clock),
            ("libstdc++.so.6.0.30", "operator new(unsigned long)", Work::Allocating),
            ("libstdc++.so.6.0.30", "std::chrono::_V2::steady_clock::now()", Work::Clock),
            ("prost", "__rustc::__rust_alloc", Work::Allocating),
            ("prost", "__rustc::__rdl_dealloc", Work::Allocating),
            ("prost", "core::str::converts::from_utf8", Work::CheckingText),
            (
                "prost",
                "<prost::codec::Prost as wiregauge_runner::codec::Codec>::write",
                Work::Program,
            ),
            ("prost", "<std::time::Instant>::now", Work::Clock),
            (protobuf, "google::protobuf::internal::VerifyUTF8(char const*)", Work::CheckingText),
            (
                protobuf,
                "google::protobuf::internal::ParseContext::ParseMessage(char const*)",
                Work::Libraries,
            ),
            (
                protobuf,
                "google::protobuf::internal::SerialArena::AllocateAlignedFallback(unsigned long)",
                Work::Allocating,
            ),
            (protobuf, "google::protobuf::Arena::Allocate(unsigned long)", Work::Allocating),
            ("app", "my_free_list::push(int)", Work::Program),
            ("app", "freeze", Work::Program),
            ("app", "take(google::protobuf::internal::SerialArena::Block*)", Work::Program),
            ("app", "std::vector<memcpy>::push(int)", Work::Program),
        ] {
            let function = Function { object: object.into(), name: name.into() };
            assert_eq!(Work::from_function(&function), work, "{name}");
        }
    }
}
