//! What a row is called, by the names of its two FMUs.

/// What two names have in common: `Flatbuf` of `OSMPDummySource Flatbuf` and
/// `OSMPDummySensor Flatbuf`.
pub(super) fn common_name(identities: &[String; 2]) -> String {
    let [source, model] = identities;
    let common: Vec<&str> = source
        .split_whitespace()
        .filter(|word| model.split_whitespace().any(|other| other == *word))
        .collect();
    if common.is_empty() {
        full_name(identities)
    } else {
        common.join(" ")
    }
}

pub(super) fn full_name(identities: &[String; 2]) -> String {
    let known: Vec<&str> =
        identities.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    if known.is_empty() {
        "FMUs".into()
    } else {
        known.join(" + ")
    }
}

pub(super) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for character in title.to_lowercase().chars() {
        if character.is_alphanumeric() {
            slug.push(character);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened() {
        let of = |a: &str, b: &str| common_name(&[a.into(), b.into()]);
        assert_eq!(of("OSMPDummySource Flatbuf", "OSMPDummySensor Flatbuf"), "Flatbuf");
        assert_eq!(of("a", "b"), "a + b");
        assert_eq!(of("", ""), "FMUs");
        assert_eq!(slug("A + b_c"), "a-b-c");
    }
}
