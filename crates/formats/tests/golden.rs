//! The emitted definitions of the LiDAR message, as a reader of a change sees
//! them. `WIREGAUGE_BLESS=1` accepts what is emitted now.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use wiregauge_formats::Codec;
use wiregauge_schema::{source, SchemaSource};

#[test]
fn definitions_of_the_lidar_message() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lidar = here.join("../../schemas/lidar.msg");
    let schema =
        source::load(&SchemaSource::parse(&lidar.display().to_string())).expect("it loads");
    let folder = here.join("tests/golden");
    if wiregauge_golden::blesses() {
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
        wiregauge_golden::compare(env!("CARGO_MANIFEST_DIR"), &name, &file.text);
        expected.insert(name);
    }
    let present: BTreeSet<String> = fs::read_dir(&folder)
        .expect("the golden folder is there")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(present, expected, "a golden file that no codec emits");
}
