//! A row to be built: a codec, and by what.

use std::collections::BTreeMap;
use std::sync::Arc;

use wiregauge_build_tools::{hash, Toolchain};

use super::crate_release::CrateRelease;
use crate::codec::Codec;

/// A row to be built: a codec, and by what.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The codec.
    pub codec: &'static Codec,
    /// Where its compiler and its library come from.
    pub toolchain: Arc<Toolchain>,
    /// Another release of its crate than the one that wiregauge locks.
    pub release: Option<Arc<CrateRelease>>,
    /// Flags for the compiler, behind the usual ones.
    pub flags: Option<Arc<CompilerFlags>>,
    /// Whether programs are built that show what the codec adds, and not a runner.
    pub is_footprint: bool,
    /// Whether its program tells the lines of its sources.
    pub has_lines: bool,
}

/// Flags for the compiler, behind the usual ones; of Rust, settings of Cargo's profile.
#[derive(Clone, Debug)]
pub struct CompilerFlags {
    /// What marks the row, where nothing else does.
    pub label: String,
    /// The flags as the user gave them.
    pub words: String,
}

impl CompilerFlags {
    /// One by one.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words.split_whitespace()
    }

    /// What tells them from others: it is part of the name of folders.
    pub(super) fn key(&self) -> String {
        hash([self.words.clone().into_bytes()])[..8].to_owned()
    }
}

impl Variant {
    /// The codec as the machine builds it.
    pub fn from_codec(codec: &'static Codec) -> Variant {
        let toolchain = Arc::new(Toolchain::System);
        let (release, flags) = (None, None);
        Variant { codec, toolchain, release, flags, is_footprint: false, has_lines: false }
    }

    /// What marks it among rows of the same codec; nothing for the plain one.
    pub fn label(&self) -> &str {
        match (&self.release, &self.flags) {
            (Some(release), _) => &release.label,
            (None, Some(flags)) => &flags.label,
            (None, None) => self.toolchain.label(),
        }
    }

    /// Flags of the generated code and of headers.
    pub fn flags(&self) -> String {
        let language = self.codec.language;
        let usual = if self.is_footprint { language.footprint_flags } else { language.flags };
        let more = self
            .flags
            .iter()
            .map(|flags| flags.words.as_str())
            .chain(self.line_tables().iter().copied());
        more.fold(usual.to_owned(), |all, words| all + " " + words)
    }

    /// Flags behind the usual ones, one by one.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.flags
            .iter()
            .flat_map(|flags| flags.arguments())
            .chain(self.line_tables().iter().copied())
    }

    fn line_tables(&self) -> &'static [&'static str] {
        if self.has_lines {
            self.codec.language.line_tables
        } else {
            &[]
        }
    }

    /// Key of the row: the codec's name, and `@` and the label where there is one.
    pub fn id(&self) -> String {
        with_label(self.codec.name, "@", self.label())
    }

    /// What its program is called: one for another target has its name, too.
    pub(super) fn program_name(&self) -> String {
        let name = match &*self.toolchain {
            Toolchain::Cross(_) => self.id() + &self.toolchain.key(),
            _ => self.id(),
        };
        if self.has_lines {
            name + LINES
        } else {
            name
        }
    }

    /// The row's name until its library has said its version.
    pub fn title(&self) -> String {
        with_label(self.codec.title, " @", self.label())
    }

    /// The packages of what the codec needs, with their versions, as far as they are
    /// known.
    pub fn packages(&self) -> BTreeMap<String, String> {
        let packages = self.codec.needs.iter().map(|need| need.names().1);
        let version = |package: &str| Some((package.into(), self.toolchain.version(package)?));
        packages.filter_map(version).collect()
    }

    /// What is built together: the same language by the same means. It is the
    /// name of a folder of the message.
    pub(super) fn group(&self) -> String {
        let key = self.codec.language.key;
        let group = match &self.release {
            Some(release) => format!("{key}-{}", release.key()),
            None => format!("{key}{}", self.toolchain.key()),
        };
        let group = match &self.flags {
            Some(flags) => format!("{group}-{}", flags.key()),
            None => group,
        };
        if self.has_lines {
            group + LINES
        } else {
            group
        }
    }
}

/// What tells programs that tell their lines from the others.
pub(super) const LINES: &str = "-lines";

fn with_label(name: &str, between: &str, label: &str) -> String {
    match label {
        "" => name.into(),
        label => format!("{name}{between}{label}"),
    }
}
