//! Golden files: what came out once, in `tests/golden` of a package, to be
//! compared with what comes out now.

use std::fs;
use std::path::Path;

/// Has the files rewritten by what comes out now.
pub const VARIABLE: &str = "WIREGAUGE_BLESS";

/// Whether golden files are rewritten.
pub fn blesses() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Compares a text with a golden file of a package, by `CARGO_MANIFEST_DIR`.
///
/// # Panics
/// Where they differ, with the first line that does.
#[track_caller]
pub fn compare(package: &str, name: &str, text: &str) {
    compare_file(&Path::new(package).join("tests/golden").join(name), text);
}

/// Compares a text with any file of the tree.
///
/// # Panics
/// Where they differ, with the first line that does.
#[track_caller]
pub fn compare_file(path: &Path, text: &str) {
    if blesses() {
        fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let wanted = fs::read_to_string(path).unwrap_or_default();
    if let Some(difference) = difference(text, &wanted) {
        panic!("{}, {difference}\n  {VARIABLE}=1 accepts the present output", path.display());
    }
}

/// Where a text is not as wanted, and how.
fn difference(text: &str, wanted: &str) -> Option<String> {
    let mut pairs = (1..).zip(text.lines().zip(wanted.lines()));
    if let Some((at, (is, should))) = pairs.find(|(_, (is, should))| is != should) {
        return Some(format!("line {at}:\n  is     {is}\n  should {should}"));
    }
    let (lines, should) = (text.lines().count(), wanted.lines().count());
    (text != wanted).then(|| format!("which has {lines} lines and not {should}, or ends otherwise"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_told() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let told = difference("a\nb\nc\n", "a\nx\ny\n").unwrap();
        assert!(told.starts_with("line 2:") && told.contains("b\n  should x"), "{told}");
        for (text, wanted) in [("a\nb\n", "a\n"), ("a\n", "a\nb\n"), ("a\n", ""), ("a", "a\n")] {
            assert!(difference(text, wanted).is_some(), "{text:?} {wanted:?}");
        }
    }
}
