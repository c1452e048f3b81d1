//! Which libraries codecs are measured with: the machine's, the newest, and the
//! user's own.

use std::path::Path;
use std::sync::Arc;

use anyhow::{bail, ensure, Context, Result};
use clap::ValueEnum;
use indexmap::IndexMap;
use wiregauge_formats::build::{Release, Variant};
use wiregauge_formats::{Codec, Linkage};
use wiregauge_result::run::Subject;
use wiregauge_workshop::toolchain::{Prefix, Root, Wish};
use wiregauge_workshop::{Need, Progress, Toolchain};

/// Which libraries codecs are measured with.
#[derive(clap::Args)]
pub struct Libraries {
    /// Whose libraries the C and C++ codecs are measured with: the machine's, the
    /// newest that Debian has, or both in one run (docs/libraries.md).
    #[arg(long, value_delimiter = ',', value_name = "WHOSE,…", default_value = "system")]
    libraries: Vec<Whose>,
    /// Take the newest libraries even where the signature of what is fetched has
    /// expired.
    #[arg(long)]
    libraries_expired: bool,
    /// A row more: this codec with a library of your own build, a folder with
    /// include, lib and bin; or, of a Rust codec, with another version of its
    /// crate or a folder with its source.
    #[arg(long, value_name = "NAME[@LABEL]=PREFIX|VERSION")]
    library: Vec<String>,
}

/// Whose libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// The machine's own.
    System,
    /// The newest of Debian, in a root that is kept in the build folder.
    Current,
}

/// A codec with a library in place of the usual one: `NAME[@LABEL]=PREFIX`, or
/// with a crate's version or folder.
fn own(text: &str) -> Result<Variant> {
    let (name, place) = text.split_once('=').context("wants NAME=PREFIX or NAME=VERSION")?;
    let (name, label) = match name.split_once('@') {
        Some((name, label)) => (name, Some(label)),
        None => (name, None),
    };
    let codec = Codec::find(name).with_context(|| {
        format!("there is no codec '{name}'; wiregauge codecs --list names all")
    })?;
    ensure!(!place.is_empty(), "wants {name}=PREFIX or {name}=VERSION");
    let mut variant = Variant::plain(codec);
    match codec.built {
        Linkage::Crate(name) => {
            variant.release = Some(Arc::new(Release::new(name, label, place)?));
        }
        _ if codec.language.takes_libraries_of_toolchain && brings_a_library(codec) => {
            variant.toolchain = Arc::new(Toolchain::Prefix(prefix(codec, label, place)?));
        }
        _ => bail!("{name} has no library that another could take the place of"),
    }
    let is_label = |c: char| c.is_alphanumeric() || ".-_+".contains(c);
    let label = variant.label();
    ensure!(
        !label.is_empty() && label.chars().all(is_label) && label != "current",
        "'{label}' cannot mark a row; give a label: --library {name}@LABEL={place}"
    );
    Ok(variant)
}

/// Whether a codec has a library that could be installed into a folder.
fn brings_a_library(codec: &Codec) -> bool {
    codec.needs.iter().any(|need| matches!(need, Need::Header(..)))
}

/// A prefix that has what the codec needs.
fn prefix(codec: &Codec, label: Option<&str>, place: &str) -> Result<Prefix> {
    let prefix = Prefix::new(label, Path::new(place))?;
    match codec.needs.iter().find_map(|need| prefix.lack(need)) {
        Some(lack) => bail!("{lack}"),
        None => Ok(prefix),
    }
}

impl Libraries {
    /// The rows of these codecs, made from all the libraries that are wanted.
    ///
    /// # Errors
    /// When the newest libraries cannot be had, or two rows would have one name.
    pub fn variants(
        &self,
        codecs: &[&'static Codec],
        folder: &Path,
        progress: Progress,
    ) -> Result<Vec<Variant>> {
        let is_current = self.libraries.contains(&Whose::Current);
        ensure!(
            is_current || !self.libraries_expired,
            "--libraries-expired would do nothing: it is about --libraries current"
        );
        let own = |text: &String| own(text).with_context(|| format!("--library {text}"));
        let own: Vec<Variant> = self.library.iter().map(own).collect::<Result<_>>()?;
        let has_library =
            |codec: &Codec| codec.language.takes_libraries_of_toolchain && !codec.bound;
        let current = match is_current && codecs.iter().any(|codec| has_library(codec)) {
            true => Some(Arc::new(self.current(folder, progress)?)),
            false => None,
        };
        let mut variants = Vec::new();
        for codec in codecs {
            let plain = Variant::plain(codec);
            if !has_library(codec) || self.libraries.contains(&Whose::System) {
                variants.push(plain.clone());
            }
            if let Some(toolchain) = current.clone().filter(|_| has_library(codec)) {
                variants.push(Variant { toolchain, ..plain });
            }
            variants.extend(own.iter().filter(|own| own.codec.name == codec.name).cloned());
        }
        let is_other = |own: &&Variant| codecs.iter().all(|codec| codec.name != own.codec.name);
        variants.extend(own.iter().filter(is_other).cloned());
        for (at, variant) in variants.iter().enumerate() {
            let id = variant.id();
            ensure!(
                variants[..at].iter().all(|other| other.id() != id),
                "two rows are called '{id}'; give one a label: --library {}@LABEL=…",
                variant.codec.name
            );
        }
        Ok(variants)
    }

    /// The newest libraries of all codecs.
    fn current(&self, folder: &Path, progress: Progress) -> Result<Toolchain> {
        let codecs = Codec::all();
        let with_library = codecs.iter().filter(|codec| brings_a_library(codec));
        let needs = with_library.flat_map(|codec| codec.needs);
        let mut packages: Vec<&str> = needs.map(|need| need.names().1).collect();
        packages.sort_unstable();
        packages.dedup();
        let wish = Wish { expired: self.libraries_expired };
        Ok(Toolchain::Root(Root::current(folder, &packages, wish, progress)?))
    }
}

/// Puts the library's version into the names of rows, where a codec has several;
/// `known` are libraries of rows whose runners would say another.
pub fn name_versions(subjects: &mut [Subject], known: &IndexMap<String, String>) {
    let of = |id: &str| id.split('@').next().unwrap_or_default().to_owned();
    let several: Vec<String> =
        subjects.iter().filter(|subject| subject.id.contains('@')).map(|s| of(&s.id)).collect();
    for subject in subjects {
        if let Some(library) = known.get(&subject.id).filter(|_| !subject.library.is_empty()) {
            subject.library.clone_from(library);
        }
        let codec = Codec::find(&of(&subject.id))
            .filter(|codec| several.iter().any(|name| name == codec.name));
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
