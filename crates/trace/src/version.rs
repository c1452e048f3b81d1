//! Versions as OSI writes them: `3.8.0`.

/// Major, minor and patch.
pub type Version = [u64; 3];

/// The version that a text says.
pub fn parse(text: &str) -> Option<Version> {
    let mut parts = text.split('.').map(|part| match part.bytes().all(|b| b.is_ascii_digit()) {
        true => part.parse().ok(),
        false => None,
    });
    let version = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(version)
}

/// The version that a user says.
///
/// # Errors
/// When it is none.
pub fn parse_version(text: &str) -> Result<Version, String> {
    parse(text).ok_or_else(|| "a version has three numbers, such as 3.21.12".to_owned())
}

/// How a version is written.
pub fn format_version(version: Version) -> String {
    version.map(|part| part.to_string()).join(".")
}

/// The least and the greatest of some versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VersionRange(Option<(Version, Version)>);

impl VersionRange {
    /// Widens it by a version.
    pub fn include(&mut self, version: Version) {
        let (least, most) = self.0.unwrap_or((version, version));
        self.0 = Some((least.min(version), most.max(version)));
    }

    /// Widens it by what a text says; what is no version is left out.
    pub fn include_text(&mut self, version: &str) {
        if let Some(version) = parse(version) {
            self.include(version);
        }
    }

    /// Its ends; none where it has none.
    pub fn ends(&self) -> Option<(Version, Version)> {
        self.0
    }

    /// Its ends as they are written.
    pub fn texts(&self) -> Option<(String, String)> {
        self.0.map(|(least, most)| (format_version(least), format_version(most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_and_not_texts() {
        let mut range = VersionRange::default();
        assert_eq!(range.texts(), None);
        for text in ["3.10.0", "3.8.1", "three", "3.9", "3.+9.0", "3.9.0.1"] {
            range.include_text(text);
        }
        assert_eq!(range.texts(), Some(("3.8.1".into(), "3.10.0".into())));
    }
}
