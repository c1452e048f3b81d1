//! The emitted definitions of the LiDAR message, and docs/codecs.md, as a reader of a
//! change sees them. `WIREGAUGE_BLESS=1` accepts what is made now.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use wiregauge_formats::{Codec, Linkage};
use wiregauge_schema::{source, SchemaSource};

#[test]
fn definitions_of_the_lidar_message() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lidar = here.join("../../schemas/lidar.msg");
    let schema =
        source::load(&SchemaSource::parse(&lidar.display().to_string())).expect("it loads");
    let folder = here.join("tests/golden");
    if wiregauge_testkit::golden::blesses() {
        for entry in fs::read_dir(&folder).expect("the golden folder is there") {
            fs::remove_file(entry.expect("readable").path()).expect("writable");
        }
    }
    let mut expected = BTreeSet::new();
    for codec in Codec::all() {
        let Some(idl) = codec.idl else { continue };
        let file = idl(&schema).expect("the LiDAR message can be said");
        let extension = file.path.rsplit('.').next().expect("an extension");
        let name = format!("{}.lidar.{extension}", codec.name);
        wiregauge_testkit::golden::compare(env!("CARGO_MANIFEST_DIR"), &name, &file.text);
        expected.insert(name);
    }
    let present: BTreeSet<String> = fs::read_dir(&folder)
        .expect("the golden folder is there")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(present, expected, "a golden file that no codec emits");
}

/// How docs/codecs.md begins.
const HEAD: &str = "\
# Codecs

<!-- Made by crates/formats/tests/fast/golden.rs from what each codec says of itself. Do not edit it.
     WIREGAUGE_BLESS=1 cargo test --locked -p wiregauge-formats --test fast golden writes it again. -->

A codec is one format, written and read by one library with one set of options. This page lists all codecs, with
their options and with the library calls that are timed. `wiregauge codecs --list` prints the same, and what your
machine lacks for each codec. Codecs of the same format share the encoding; if their bytes differ, for example by a
header, the options say so.

[Methodology](methodology.md) explains how codecs are measured and what the experiments are.
[Contributing](../CONTRIBUTING.md#add-a-codec) explains how to add a codec.

| row | name | language | format | library | Debian packages |
|---|---|---|---|---|---|
";
/// What docs/codecs.md says before the bounds.
const BOUNDS: &str =
    "\n## Bounds\n\nBounds are not codecs, but limits to compare with. They have no rank.\n";

#[test]
fn page_of_the_codecs() {
    let (bounds, mut codecs): (Vec<_>, Vec<_>) =
        Codec::all().into_iter().partition(|codec| codec.is_bound);
    codecs.sort_by_key(|codec| codec.title);
    let mut page = HEAD.to_owned();
    page.extend(codecs.iter().map(|codec| overview(codec)));
    page += "\n## Options and timed calls\n";
    page.extend(codecs.iter().enumerate().map(|(at, codec)| section(codec, &codecs[..at])));
    page += BOUNDS;
    page.extend(bounds.iter().map(|bound| section(bound, &[])));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codecs.md");
    wiregauge_testkit::golden::compare_file(&path, &page);
}

/// A codec's line of the table.
fn overview(codec: &Codec) -> String {
    let library = match codec.linkage {
        Linkage::Without => "none".to_owned(),
        Linkage::Crate(name) => format!("crate `{name}`"),
        Linkage::Wheel(name) => format!("Python package `{name}`"),
        Linkage::Module(package) => format!("Debian's module `{package}`"),
        Linkage::Jar(name) => format!("jar `{name}`"),
        Linkage::Standard => "standard library".to_owned(),
        Linkage::Own => "`wiregauge generate`".to_owned(),
        Linkage::Headers => "headers and generated code".to_owned(),
        Linkage::Archive(package) => format!("archive of Debian's `{package}`"),
        Linkage::Shared(name) => format!("shared library `{name}`"),
    };
    let packages: BTreeSet<&str> = codec.needs.iter().map(|need| need.names().1).collect();
    let packages = packages.into_iter().collect::<Vec<_>>().join(", ");
    let Codec { name, title, format, .. } = codec;
    let language = codec.language.name;
    format!("| {title} | [`{name}`](#{name}) | {language} | {format} | {library} | {packages} |\n")
}

/// What a codec says of itself. Options that an earlier one has too are not said twice.
fn section(codec: &Codec, earlier: &[&Codec]) -> String {
    let Codec { name, title, .. } = codec;
    let mut text = format!("\n### {name}\n\n{title}.");
    match earlier.iter().find(|other| other.options == codec.options) {
        Some(Codec { name, .. }) => text += &format!(" Options: as [`{name}`](#{name}).\n"),
        None => {
            text += " Options:\n\n";
            text.extend(codec.options.iter().map(|option| format!("- {option}\n")));
        }
    }
    if !codec.calls.is_empty() {
        text += "\nTimed calls:\n\n";
        text.extend(codec.calls.iter().map(|call| format!("- `{call}`\n")));
    }
    text
}
