//! Programs that show what a codec adds: with how much of it, and how optimized. They are
//! made of a codec's own sources; the fixed part of runners is another one.

use wiregauge_build_tools::Toolchain;

use crate::codec::{Codec, Linkage};

/// The format of what is no codec but the program without one, in each language.
pub const BASE_FORMAT: &str = "without-codec";

/// What the linker puts a counter in front of: see runners/footprint/counter.c.
pub(super) const WRAPPED: [&str; 9] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
];

/// What the compiler is told when it links. For AArch64, Debian's has room left for what mends a
/// fault of one processor: pages of 4 KiB that come and go with any change of the code, so that a
/// codec would seem to take up to one more or one less.
pub(super) fn link_flags(toolchain: &Toolchain) -> &'static [&'static str] {
    let is_aarch64 = match toolchain {
        Toolchain::Cross(cross) => cross.target().debian == "arm64",
        _ => cfg!(target_arch = "aarch64"),
    };
    if is_aarch64 {
        &["-mno-fix-cortex-a53-843419"]
    } else {
        &[]
    }
}

/// How much of a codec a program calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FootprintPart {
    /// Nothing: what remains is the program without the codec.
    Nothing,
    /// Encoding alone.
    Encode,
    /// Decoding alone.
    Decode,
    /// Both.
    Both,
}

impl FootprintPart {
    const ALL: [FootprintPart; 4] =
        [FootprintPart::Nothing, FootprintPart::Encode, FootprintPart::Decode, FootprintPart::Both];

    /// Name in results: `encode`.
    pub fn name(self) -> &'static str {
        match self {
            FootprintPart::Nothing => "nothing",
            FootprintPart::Encode => "encode",
            FootprintPart::Decode => "decode",
            FootprintPart::Both => "both",
        }
    }

    /// Whether it encodes.
    pub fn encodes(self) -> bool {
        matches!(self, FootprintPart::Encode | FootprintPart::Both)
    }

    /// Whether it decodes.
    pub fn decodes(self) -> bool {
        matches!(self, FootprintPart::Decode | FootprintPart::Both)
    }
}

/// How a program is optimized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FootprintLevel {
    /// `-O2`, `opt-level = 2`.
    O2,
    /// `-Os`, `opt-level = "s"`.
    Os,
}

impl FootprintLevel {
    /// Both.
    pub const ALL: [FootprintLevel; 2] = [FootprintLevel::O2, FootprintLevel::Os];

    /// As compilers call it: `O2`.
    pub fn name(self) -> &'static str {
        match self {
            FootprintLevel::O2 => "O2",
            FootprintLevel::Os => "Os",
        }
    }
}

/// A program whose footprint is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FootprintProgram {
    /// How much of the codec it calls.
    pub part: FootprintPart,
    /// How it is optimized.
    pub level: FootprintLevel,
    /// Whether it is linked with shared libraries of the system although it needs no other:
    /// the base of those that do.
    pub is_shared_base: bool,
}

impl FootprintProgram {
    /// Those of a codec's row: what is measured, and where its message is not the common
    /// one, the program without it.
    pub fn for_codec(codec: &Codec) -> Vec<FootprintProgram> {
        let is_base = codec.format == BASE_FORMAT;
        let parts = FootprintPart::ALL.into_iter().filter(|part| match part {
            FootprintPart::Nothing => is_base || has_own_base(codec),
            _ => !is_base,
        });
        let program =
            |part, level, is_shared_base| FootprintProgram { part, level, is_shared_base };
        let linked = if is_base { &[false, true][..] } else { &[false] };
        let levels = |part| FootprintLevel::ALL.map(|level| (part, level));
        parts
            .flat_map(levels)
            .flat_map(|(part, level)| {
                linked.iter().map(move |shared| program(part, level, *shared))
            })
            .collect()
    }

    /// Name of its file: `encode-O2`.
    pub fn file_name(&self) -> String {
        let shared = if self.is_shared_base { "-shared" } else { "" };
        format!("{}-{}{shared}", self.part.name(), self.level.name())
    }
}

/// Whether a codec's message is its own, or opaque: then what its program has without it is
/// not what others have.
pub fn has_own_base(codec: &Codec) -> bool {
    codec.is_bound || codec.linkage == Linkage::Own
}
