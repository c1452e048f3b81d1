//! The official package gives the definitions that the FMUs are made from.

use std::path::PathBuf;
use std::process::Command;

use wiregauge_osi::descriptors::descriptors;
use wiregauge_osi::flatbuffers::Definitions;
use wiregauge_osi::python::Python;

fn build_folder() -> PathBuf {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../../build");
    std::env::var_os("WIREGAUGE_BUILD").map_or_else(|| here.into(), PathBuf::from)
}

#[test]
fn flatc_takes_what_the_official_descriptors_define() {
    let build = build_folder();
    let python = Python::environment(&build).expect("Python and the OSI package");
    let bytes = descriptors(&build, &python).expect("the descriptors");
    let definitions =
        Definitions::from_descriptors(&bytes).expect("they can be said in FlatBuffers");
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("tables", &definitions.tables), ("structs", &definitions.structs)] {
        let path = folder.path().join(format!("{name}.fbs"));
        std::fs::write(&path, text).expect("writable");
        let status = Command::new("flatc")
            .args(["--cpp", "--gen-object-api", "-o"])
            .arg(folder.path())
            .arg(&path)
            .status()
            .expect("flatc is installed");
        assert!(status.success(), "flatc refuses {name}");
    }
    assert!(!definitions.tables.contains("struct "), "tables only");
    assert!(definitions.structs.contains("struct Vector3d {\n  x:float64;"));
    assert!(definitions.structs.contains("  reflection_object_id:[Identifier];"));
}

#[test]
fn fmi_headers_are_there() {
    let python = Python::environment(&build_folder()).expect("Python and FMPy");
    let headers = python.fmi_headers().expect("a folder");
    assert!(headers.join("fmi2Functions.h").exists() && headers.join("fmi3Functions.h").exists());
}
