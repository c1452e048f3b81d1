//! Libraries that a distribution brings: which releases of them the glue has been
//! tried with, and of which year each is.

use std::collections::BTreeMap;

use wiregauge_workshop::package::{self, upstream};

use crate::codec::Codec;

/// A library in a distribution's package. The file of its format submits it.
pub struct Library {
    /// What it is called.
    pub name: &'static str,
    /// The Debian packages that its codecs need; the first has its version.
    pub packages: &'static [&'static str],
    /// The releases that its codecs have been tried with, oldest first, and the
    /// years in which its makers released them.
    pub tried: &'static [(&'static str, u16)],
}

inventory::collect!(Library);

impl Library {
    /// All libraries, by name.
    pub fn all() -> Vec<&'static Library> {
        let mut all: Vec<_> = inventory::iter::<Library>().collect();
        all.sort_by_key(|library| library.name);
        all
    }

    /// The release that is installed; none where dpkg knows of none.
    pub fn installed(&self) -> Option<String> {
        package::version(self.packages[0]).map(|version| upstream(&version).to_owned())
    }

    /// The year of a release that has been tried.
    pub fn year(&self, release: &str) -> Option<u16> {
        self.tried.iter().find(|(tried, _)| *tried == release).map(|(_, year)| *year)
    }

    /// The codecs that call it.
    pub fn codecs(&self) -> Vec<&'static Codec> {
        Codec::all().into_iter().filter(|codec| self.serves(codec)).collect()
    }

    fn serves(&self, codec: &Codec) -> bool {
        codec.needs.iter().any(|need| self.packages.contains(&need.names().1))
    }

    /// That a release has not been tried, in words; nothing where it has.
    pub fn unknown(&self, release: &str) -> Option<String> {
        let tried: Vec<&str> = self.tried.iter().map(|(release, _)| *release).collect();
        (!tried.contains(&release)).then(|| {
            let (name, tried) = (self.name, tried.join(", "));
            format!(
                "{name} {release} is not known to this version of wiregauge, which knows {tried}"
            )
        })
    }
}

/// What of these packages, by name with versions, has not been tried with a codec.
pub fn unknown(codec: &Codec, packages: &BTreeMap<String, String>) -> Option<String> {
    Library::all()
        .into_iter()
        .filter(|library| library.serves(codec))
        .find_map(|library| library.unknown(upstream(packages.get(library.packages[0])?)))
}

/// The year of the release among these packages that a codec is built with, where
/// it has been tried.
pub fn year(codec: &Codec, packages: &BTreeMap<String, String>) -> Option<u32> {
    let mut libraries = Library::all().into_iter().filter(|library| library.serves(codec));
    libraries.find_map(|library| {
        let release = upstream(packages.get(library.packages[0])?);
        library.year(release).map(u32::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_been_tried_is_said() {
        let codec = Codec::find("fastcdr").expect("it is there");
        let of = |version: &str| BTreeMap::from([("libfastcdr-dev".into(), version.into())]);
        assert_eq!(unknown(codec, &of("2.2.6+really2.2.5-1")), None);
        let said = unknown(codec, &of("9.1.0-2")).expect("it is unknown");
        assert!(said.starts_with("Fast CDR 9.1.0 is not known"), "{said}");
        assert!(said.contains("2.2.5"), "{said}");
    }

    #[test]
    fn every_library_has_codecs_and_releases() {
        for library in Library::all() {
            assert!(!library.codecs().is_empty(), "{}", library.name);
            assert!(library.tried.is_sorted_by_key(|(_, year)| *year), "{}", library.name);
        }
    }
}
