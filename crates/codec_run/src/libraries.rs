//! Which libraries codecs are measured with: the machine's, the newest, and the
//! user's own.

use std::path::Path;
use std::sync::Arc;

use anyhow::{anyhow, bail, ensure, Context, Result};
use indexmap::IndexMap;
use wiregauge_build_tools::toolchain::{
    copy_libraries, CrossToolchain, DebianRoot, Prefix, RootOptions, Target,
};
use wiregauge_build_tools::{Need, Progress, Toolchain};
use wiregauge_formats::build::{CompilerFlags, CrateRelease, Variant};
use wiregauge_formats::{packaged_library, Codec, Linkage};
use wiregauge_result::run::{NewestRelease, Subject};
use wiregauge_system::interrupt;

/// Which libraries codecs are measured with.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LibraryOptions {
    /// Which libraries the C and C++ codecs use. Several are measured in one run
    /// (docs/libraries.md).
    #[cfg_attr(
        feature = "clap",
        arg(long, value_delimiter = ',', value_name = "WHOSE,…", default_value = "system")
    )]
    pub libraries: Vec<LibrarySource>,
    /// Take the newest libraries even if the signature of the download has expired.
    #[cfg_attr(feature = "clap", arg(long))]
    pub libraries_expired: bool,
    /// Add a row: this codec with a library that you built, as a folder with include,
    /// lib and bin. For a Rust codec: another version of its crate, or a folder with
    /// its source.
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME[@LABEL]=PREFIX|VERSION"))]
    pub library: Vec<String>,
    /// Add a row: this C or C++ codec, compiled with these flags after the usual ones.
    /// With the label of a --library, that row gets the flags.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME@LABEL=FLAGS", allow_hyphen_values = true)
    )]
    pub cflags: Vec<String>,
    /// Add a row NAME@lto for each C, C++ and Rust codec, optimized at link time.
    #[cfg_attr(feature = "clap", arg(long))]
    pub profile: Option<Profile>,
}

/// How rows are compiled beside the usual way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Profile {
    /// Optimized at link time.
    Lto,
}

/// The row of a codec that is optimized at link time; none where there is nothing to link,
/// or nothing but the bound's own loop.
fn link_time_variant(plain: &Variant) -> Option<Variant> {
    let words = plain.codec.language.link_time;
    let flags = CompilerFlags { label: "lto".into(), words: words.into() };
    let is_one = !words.is_empty() && !plain.codec.is_bound;
    is_one.then(|| Variant { flags: Some(Arc::new(flags)), ..plain.clone() })
}

/// Whose libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LibrarySource {
    /// The machine's own.
    System,
    /// The machine's own, with the newest compiler.
    Recompiled,
    /// The newest of Debian with the newest compiler, in a root that is kept in the
    /// build folder.
    Current,
}

impl LibrarySource {
    const ALL: [LibrarySource; 3] =
        [LibrarySource::System, LibrarySource::Recompiled, LibrarySource::Current];

    /// What marks the rows; nothing for the machine's own.
    fn label(self) -> &'static str {
        match self {
            LibrarySource::System => "",
            LibrarySource::Recompiled => "recompiled",
            LibrarySource::Current => "current",
        }
    }
}

/// A codec with a library in place of the usual one: `NAME[@LABEL]=PREFIX`, or
/// with a crate's version or folder.
fn parse_user_library(text: &str) -> Result<Variant> {
    let (name, place) = text.split_once('=').context("write NAME=PREFIX or NAME=VERSION")?;
    let (codec, label) = parse_row(name)?;
    let name = codec.name;
    ensure!(!place.is_empty(), "write {name}=PREFIX or {name}=VERSION");
    let mut variant = Variant::from_codec(codec);
    match codec.linkage {
        Linkage::Crate(name) => {
            variant.release = Some(Arc::new(CrateRelease::new(name, label, place)?));
        }
        _ if codec.language.takes_libraries_of_toolchain && has_installable_library(codec) => {
            variant.toolchain = Arc::new(Toolchain::Prefix(prefix(codec, label, place)?));
        }
        _ => bail!("{name} has no library that can be replaced"),
    }
    let label = variant.label();
    ensure!(
        is_label(label),
        "'{label}' is not a valid label; give one: --library {name}@LABEL={place}"
    );
    Ok(variant)
}

/// The codec and the label of `NAME[@LABEL]`.
fn parse_row(text: &str) -> Result<(&'static Codec, Option<&str>)> {
    let (name, label) = match text.split_once('@') {
        Some((name, label)) => (name, Some(label)),
        None => (text, None),
    };
    let codec = Codec::find(name).with_context(|| {
        format!("unknown codec '{name}'; 'wiregauge codecs --list' lists all codecs")
    })?;
    Ok((codec, label))
}

fn is_label(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || ".-_+".contains(c);
    let is_taken = LibrarySource::ALL.iter().any(|whose| whose.label() == text);
    text.chars().all(is_part) && !is_taken
}

/// Adds a row with flags, `NAME@LABEL=FLAGS`, or gives them to the one of that name.
fn add_flags(variants: &mut Vec<Variant>, text: &str) -> Result<()> {
    let (name, words) = text.split_once('=').context("write NAME@LABEL=FLAGS")?;
    let (codec, label) = parse_row(name)?;
    let name = codec.name;
    ensure!(
        codec.language.takes_libraries_of_toolchain,
        "{name} is not compiled by a C or C++ compiler"
    );
    let label = label.filter(|label| is_label(label));
    let label =
        label.with_context(|| format!("a valid label is missing; write {name}@LABEL={words}"))?;
    ensure!(!words.trim().is_empty(), "the flags are missing; write {name}@{label}=-O2");
    let id = format!("{name}@{label}");
    let flags = CompilerFlags { label: label.into(), words: words.trim().into() };
    let flags = Some(Arc::new(flags));
    match variants.iter_mut().find(|variant| variant.id() == id) {
        Some(variant) => {
            ensure!(
                variant.flags.is_none(),
                "{id} has flags already; give all flags in one --cflags"
            );
            variant.flags = flags;
        }
        None => variants.push(Variant { flags, ..Variant::from_codec(codec) }),
    }
    Ok(())
}

/// Whether a codec has a library that could be installed into a folder.
fn has_installable_library(codec: &Codec) -> bool {
    codec.needs.iter().any(|need| matches!(need, Need::Header(..)))
}

/// A prefix that has what the codec needs.
fn prefix(codec: &Codec, label: Option<&str>, place: &str) -> Result<Prefix> {
    let checked_prefix = Prefix::new(label, Path::new(place))?;
    match codec.needs.iter().find_map(|need| checked_prefix.explain_missing(need)) {
        Some(lack) => bail!("{lack}"),
        None => Ok(checked_prefix),
    }
}

impl LibraryOptions {
    /// The rows of these codecs, made from all the libraries that are wanted. What
    /// cannot be had leaves rows that say why.
    ///
    /// # Errors
    /// When an option means nothing, or two rows would have one name.
    pub fn variants(
        &self,
        codecs: &[&'static Codec],
        folder: &Path,
        progress: Progress,
    ) -> Result<Vec<Variant>> {
        let wants = |whose| self.libraries.contains(&whose);
        let is_newest = wants(LibrarySource::Current) || wants(LibrarySource::Recompiled);
        ensure!(
            is_newest || !self.libraries_expired,
            "--libraries-expired has no effect without --libraries current"
        );
        let own =
            |text: &String| parse_user_library(text).with_context(|| format!("--library {text}"));
        let mut own: Vec<Variant> = self.library.iter().map(own).collect::<Result<_>>()?;
        for text in &self.cflags {
            add_flags(&mut own, text).with_context(|| format!("--cflags {text}"))?;
        }
        let newest = match is_newest && codecs.iter().any(|codec| varies_by_toolchain(codec)) {
            true => self.newest(folder, progress)?,
            false => Vec::new(),
        };
        let mut variants = Vec::new();
        for codec in codecs {
            let plain = Variant::from_codec(codec);
            if !varies_by_toolchain(codec) || wants(LibrarySource::System) {
                variants.push(plain.clone());
            }
            variants.extend(link_time_variant(&plain).filter(|_| self.profile.is_some()));
            for (whose, toolchain) in newest.iter().filter(|_| varies_by_toolchain(codec)) {
                // Without a library, both would be the same.
                if *whose == LibrarySource::Current || has_installable_library(codec) {
                    variants.push(Variant { toolchain: toolchain.clone(), ..plain.clone() });
                }
            }
            variants.extend(own.iter().filter(|own| own.codec.name == codec.name).cloned());
        }
        let is_other = |own: &&Variant| codecs.iter().all(|codec| codec.name != own.codec.name);
        variants.extend(own.iter().filter(is_other).cloned());
        for (at, variant) in variants.iter().enumerate() {
            let id = variant.id();
            ensure!(
                variants[..at].iter().all(|other| other.id() != id),
                "two rows have the name '{id}'; give one a label: --library {}@LABEL=…",
                variant.codec.name
            );
        }
        Ok(variants)
    }

    /// The newest compiler, with the machine's libraries and with the newest of all
    /// codecs, as far as they are wanted.
    fn newest(
        &self,
        folder: &Path,
        progress: Progress,
    ) -> Result<Vec<(LibrarySource, Arc<Toolchain>)>> {
        let codecs = Codec::all();
        let with_library = codecs.iter().filter(|codec| has_installable_library(codec));
        let needs: Vec<&Need> = with_library.flat_map(|codec| codec.needs).collect();
        let mut packages: Vec<&str> = needs.iter().map(|need| need.names().1).collect();
        packages.sort_unstable();
        packages.dedup();
        let wish = RootOptions { expired: self.libraries_expired };
        let root = DebianRoot::open_or_create(folder, &packages, wish, progress).map(Arc::new);
        interrupt::check()?;
        let headers = needs.iter().filter(|need| matches!(need, Need::Header(..)));
        let headers: Vec<&str> = headers.map(|need| need.names().1).collect();
        let toolchain = |whose: LibrarySource| {
            let made = match (&root, whose) {
                (Err(error), _) => Err(anyhow!("{error:#}")),
                (Ok(root), LibrarySource::Recompiled) => {
                    copy_libraries(folder, whose.label(), &headers)
                        .map(|libraries| Toolchain::Recompiled(root.clone(), libraries))
                }
                (Ok(root), _) => Ok(Toolchain::Root(root.clone())),
            };
            let absent = |error| Toolchain::Absent(whose.label(), format!("{error:#}"));
            (whose, Arc::new(made.unwrap_or_else(absent)))
        };
        let wanted = [LibrarySource::Recompiled, LibrarySource::Current];
        Ok(wanted.into_iter().filter(|w| self.libraries.contains(w)).map(toolchain).collect())
    }
}

/// Has these rows built for a target that is not the machine's.
///
/// # Errors
/// When its compilers and libraries cannot be had, or a row has a library that is of this
/// machine.
pub fn cross_build(
    variants: &mut [Variant],
    target: &'static Target,
    folder: &Path,
    progress: Progress,
) -> Result<Arc<CrossToolchain>> {
    if let Some(other) = variants.iter().find(|v| !matches!(*v.toolchain, Toolchain::System)) {
        bail!("{} has a library of this machine, which {} cannot load", other.id(), target.name);
    }
    let codecs = Codec::all();
    let built = codecs.iter().filter(|codec| !codec.language.link_time.is_empty());
    let needs: Vec<&Need> = built.flat_map(|codec| codec.needs).collect();
    let needs: Vec<&Need> = needs.into_iter().filter(|need| !is_for_java(need)).collect();
    let cross = Arc::new(CrossToolchain::open_or_create(folder, target, &needs, progress)?);
    let toolchain = Arc::new(Toolchain::Cross(cross.clone()));
    for variant in variants {
        variant.toolchain = toolchain.clone();
    }
    Ok(cross)
}

/// Whether a generator needs it, which runs on this machine's virtual machine of Java.
fn is_for_java(need: &Need) -> bool {
    let (_, package) = need.names();
    package.contains("jdk") || package == "maven"
}

/// Whether a codec's row differs by compiler and libraries.
fn varies_by_toolchain(codec: &Codec) -> bool {
    codec.language.takes_libraries_of_toolchain && !codec.is_bound
}

/// Says of each row how old its library is, and puts the version into its name where
/// a codec has several; `known` are libraries of rows whose runners would say another.
pub fn add_library_notes(subjects: &mut [Subject], known: &IndexMap<String, String>) {
    let of = |id: &str| id.split('@').next().unwrap_or_default().to_owned();
    let several: Vec<String> =
        subjects.iter().filter(|subject| subject.id.contains('@')).map(|s| of(&s.id)).collect();
    for subject in subjects {
        if let Some(library) = known.get(&subject.id).filter(|_| !subject.library.is_empty()) {
            subject.library.clone_from(library);
        }
        let codec = Codec::find(&of(&subject.id));
        if let (Some(codec), Some(origin)) = (codec, &mut subject.origin) {
            let packages = origin.packages.clone().into_iter().collect();
            if let Some((released, (version, month))) =
                packaged_library::release_dates(codec, &packages, &subject.library)
            {
                origin.released = Some(released.into());
                origin.newest =
                    Some(NewestRelease { version: version.into(), released: month.into() });
            }
        }
        let codec = codec.filter(|codec| several.iter().any(|name| name == codec.name));
        let version = subject.library.split_whitespace().last().unwrap_or_default();
        if let (Some(codec), true) = (codec, version.starts_with(|c: char| c.is_ascii_digit())) {
            let label = subject.id.split_once('@').map_or("", |(_, label)| label);
            subject.title = match label {
                "" => format!("{} {version}", codec.title),
                label if label == version => format!("{} {version}", codec.title),
                label => format!("{} {version} @{label}", codec.title),
            };
        }
    }
}
