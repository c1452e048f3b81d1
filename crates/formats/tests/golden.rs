//! The emitted definitions of the LiDAR message, as a reader of a change sees
//! them. `WIREGAUGE_BLESS=1` accepts what is emitted now.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use wiregauge_formats::Codec;
use wiregauge_schema::{source, Source};

#[test]
fn definitions_of_the_lidar_message() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lidar = here.join("../../schemas/lidar.msg");
    let schema = source::load(&Source::parse(&lidar.display().to_string())).expect("it loads");
    let folder = here.join("tests/golden");
    let bless = std::env::var_os("WIREGAUGE_BLESS").is_some();
    if bless {
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
        let path = folder.join(&name);
        if bless {
            fs::write(&path, &file.text).expect("the golden folder is there");
        }
        let golden = fs::read_to_string(&path)
            .unwrap_or_else(|_| panic!("no {name}: look at it and accept by WIREGAUGE_BLESS=1"));
        assert_eq!(golden, file.text, "{name}: accept the change by WIREGAUGE_BLESS=1");
        expected.insert(name);
    }
    let present: BTreeSet<String> = fs::read_dir(&folder)
        .expect("the golden folder is there")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(present, expected, "a golden file that no codec emits");
}
