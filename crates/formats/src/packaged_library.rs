//! Libraries that a distribution brings: which releases of them the glue has been
//! tried with, and of which year each is.

use std::collections::BTreeMap;

use wiregauge_build_tools::package::{self, upstream};

use crate::codec::Codec;

/// A library in a distribution's package. The file of its format submits it.
pub struct PackagedLibrary {
    /// What it is called.
    pub name: &'static str,
    /// The Debian packages that its codecs need; the first has its version.
    pub packages: &'static [&'static str],
    /// The releases that its codecs have been tried with, oldest first: older ones
    /// are refused.
    pub tried: &'static [DatedVersion],
    /// What its makers had released last when this table was written.
    pub newest: DatedVersion,
}

/// A version, and the month in which its makers released it, or where they left no
/// trace of that, Debian first had it: `("3.21.12", "2022-12")`.
pub type DatedVersion = (&'static str, &'static str);

inventory::collect!(PackagedLibrary);

impl PackagedLibrary {
    /// All libraries, by name.
    pub fn all() -> Vec<&'static PackagedLibrary> {
        let mut all: Vec<_> = inventory::iter::<PackagedLibrary>().collect();
        all.sort_by_key(|library| library.name);
        all
    }

    /// The release that is installed; none where dpkg knows of none.
    pub fn installed_version(&self) -> Option<String> {
        package::version(self.packages[0]).map(|version| upstream(&version).to_owned())
    }

    /// The month in which a release that is known came out.
    pub fn release_month(&self, release: &str) -> Option<&'static str> {
        let mut known = self.tried.iter().chain([&self.newest]);
        known.find(|(version, _)| *version == release).map(|(_, month)| *month)
    }

    /// The year of a release that is known.
    pub fn release_year(&self, release: &str) -> Option<u32> {
        self.release_month(release)?.get(..4)?.parse().ok()
    }

    /// That a release is too old, in words; nothing where it is not.
    pub fn explain_too_old(&self, release: &str) -> Option<String> {
        let (oldest, _) = self.tried[0];
        let own = numbers(release);
        (!own.is_empty() && own < numbers(oldest)).then(|| {
            format!("{} {release} is too old: {oldest} is the oldest that works", self.name)
        })
    }

    /// The codecs that call it.
    pub fn codecs(&self) -> Vec<&'static Codec> {
        Codec::all().into_iter().filter(|codec| self.is_used_by(codec)).collect()
    }

    /// The one that a codec calls, where a distribution brings it.
    pub fn for_codec(codec: &Codec) -> Option<&'static PackagedLibrary> {
        PackagedLibrary::all().into_iter().find(|library| library.is_used_by(codec))
    }

    /// Its version among these packages, which have names.
    fn version<'a>(&self, packages: &'a BTreeMap<String, String>) -> Option<&'a str> {
        let version = self.packages.iter().find_map(|package| packages.get(*package))?;
        Some(upstream(version))
    }

    fn is_used_by(&self, codec: &Codec) -> bool {
        codec.needs.iter().any(|need| self.packages.contains(&need.names().1))
    }

    /// That a release has not been tried, in words; nothing where it has.
    pub fn explain_untested(&self, release: &str) -> Option<String> {
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
pub fn explain_untested(codec: &Codec, packages: &BTreeMap<String, String>) -> Option<String> {
    let library = PackagedLibrary::for_codec(codec)?;
    library.explain_untested(library.version(packages)?)
}

/// Why a codec cannot be built with these packages: its library is too old.
pub fn explain_too_old(codec: &Codec, packages: &BTreeMap<String, String>) -> Option<String> {
    let library = PackagedLibrary::for_codec(codec)?;
    library.explain_too_old(library.version(packages)?)
}

/// When the release of a codec's library came out, and the newest there is: by these
/// packages, or where they do not tell the version, by what the library says of
/// itself: `protobuf 3.21.12`.
pub fn release_dates(
    codec: &Codec,
    packages: &BTreeMap<String, String>,
    said: &str,
) -> Option<(&'static str, DatedVersion)> {
    let library = PackagedLibrary::for_codec(codec)?;
    let said = said.split_whitespace().last().unwrap_or_default();
    let released = library.release_month(library.version(packages).unwrap_or(said))?;
    Some((released, library.newest))
}

/// The year of the release among these packages that a codec is built with, where
/// it is known.
pub fn release_year(codec: &Codec, packages: &BTreeMap<String, String>) -> Option<u32> {
    let library = PackagedLibrary::for_codec(codec)?;
    library.release_year(library.version(packages)?)
}

/// The numbers of a version, in order.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_been_tried_is_said() {
        let codec = Codec::find("fastcdr").expect("it is there");
        let of = |version: &str| BTreeMap::from([("libfastcdr-dev".into(), version.into())]);
        assert_eq!(explain_untested(codec, &of("2.2.6+really2.2.5-1")), None);
        let said = explain_untested(codec, &of("9.1.0-2")).expect("it is unknown");
        assert!(said.starts_with("Fast CDR 9.1.0 is not known"), "{said}");
        assert!(said.contains("2.2.5"), "{said}");
    }

    #[test]
    fn what_is_too_old_is_refused_with_the_oldest_that_works() {
        let codec = Codec::find("flatbuffers-cpp").expect("it is there");
        let of = |version: &str| BTreeMap::from([("libflatbuffers-dev".into(), version.into())]);
        for version in ["2.0.8+dfsg1-2", "23.5.26-1", "99.1-1", "odd"] {
            assert_eq!(explain_too_old(codec, &of(version)), None);
        }
        let said = explain_too_old(codec, &of("1:1.12.1-4")).expect("it is too old");
        assert_eq!(said, "FlatBuffers 1.12.1 is too old: 2.0.8 is the oldest that works");
    }

    #[test]
    fn a_library_s_age_goes_by_its_package_or_by_what_it_says() {
        let codec = Codec::find("flatbuffers-cpp").expect("it is there");
        let package = BTreeMap::from([("libflatbuffers-dev".into(), "2.0.8+dfsg1-2".into())]);
        let (released, (_, newest)) =
            release_dates(codec, &package, "flatbuffers 23.5.26").expect("known");
        assert_eq!(released, "2022-08");
        assert!(newest > released);
        let said = release_dates(codec, &BTreeMap::new(), "flatbuffers 23.5.26");
        assert_eq!(said.map(|(released, _)| released), Some("2023-05"));
        assert_eq!(release_dates(codec, &BTreeMap::new(), "flatbuffers 99.1"), None);
        // The crate is that of the generator's release.
        let codec = Codec::find("flatbuffers").expect("it is there");
        let package = BTreeMap::from([("flatbuffers-compiler".into(), "2.0.8+dfsg1-2".into())]);
        assert!(release_dates(codec, &package, "flatbuffers 2.1.2").is_some());
    }

    #[test]
    fn every_library_has_codecs_and_releases() {
        for library in PackagedLibrary::all() {
            assert!(!library.codecs().is_empty(), "{}", library.name);
            assert!(library.tried.is_sorted_by_key(|(_, month)| *month), "{}", library.name);
            assert!(library.tried.is_sorted_by_key(|(version, _)| numbers(version)));
            assert!(library.tried.iter().all(|(_, month)| *month <= library.newest.1));
        }
    }
}
