//! The page in a real browser.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use wiregauge_report::html;

fn page(codecs: usize) -> String {
    html::render(&[common::run(codecs)])
}

#[test]
#[ignore = "writes pages to look at: WIREGAUGE_PAGES=folder"]
fn pages_to_look_at() {
    let folder = PathBuf::from(std::env::var_os("WIREGAUGE_PAGES").unwrap());
    std::fs::write(folder.join("small.html"), page(10)).unwrap();
    std::fs::write(folder.join("large.html"), page(24)).unwrap();
    let runs = [common::run(4), common::run(5)];
    std::fs::write(folder.join("several.html"), html::render(&runs)).unwrap();
}
