//! Unsafe code that is written into runners says why it is sound: clippy does not
//! see it in the strings that it is made of.

use wiregauge_formats::build::languages::rust::RUST;
use wiregauge_formats::{Codec, Support};
use wiregauge_normalized::Unit;
use wiregauge_schema::Projection;

/// Lines above an unsafe block that its comment may begin at.
const ABOVE: usize = 4;

/// The lines that are unsafe without a word why.
fn unexplained(text: &str) -> (usize, Vec<String>) {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_unsafe = |line: &str| {
        !line.starts_with("//") && (line.contains("unsafe {") || line.contains("unsafe impl"))
    };
    let found: Vec<usize> = (0..lines.len()).filter(|at| is_unsafe(lines[*at])).collect();
    let above = |at: usize| &lines[at.saturating_sub(ABOVE)..at];
    let bare = found
        .iter()
        .filter(|at| !above(**at).iter().any(|line| line.starts_with("// SAFETY: ")))
        .map(|at| format!("{}: {}", at + 1, lines[*at]));
    (found.len(), bare.collect())
}

#[test]
fn emitted_code_says_why_it_is_sound() {
    let mut checked = 0;
    for (name, schema) in crate::zoo::all() {
        let projection = Projection::choose(&schema);
        let unit = Unit { schema: &schema, projection: &projection };
        let refuses = |codec: &Codec| matches!(codec.check_schema(&schema), Support::Rejected(_));
        for codec in Codec::all().iter().filter(|codec| *codec.language == RUST) {
            if refuses(codec) {
                continue;
            }
            let emission = (codec.emit)(&unit).expect("it can be said");
            for file in emission.files.iter().filter(|file| file.path.ends_with(".rs")) {
                let (found, bare) = unexplained(&file.text);
                assert!(bare.is_empty(), "{} of {name}, {}: {bare:#?}", codec.name, file.path);
                checked += found;
            }
        }
    }
    assert!(checked > 0, "no unsafe code is found");
}

#[test]
fn what_says_nothing_is_found() {
    let text = "// SAFETY: it is.\nunsafe { a() };\n\n\n\nlet b = 1;\nunsafe { c() };\n";
    assert_eq!(unexplained(text), (2, vec!["7: unsafe { c() };".to_owned()]));
}
