//! Generates and compiles the C side of the DDS participant.

fn main() {
    println!("cargo:rerun-if-changed=dds");
    #[cfg(feature = "dds")]
    dds();
}

#[cfg(feature = "dds")]
fn dds() {
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    // The version in the library's own header.
    let header = std::fs::read_to_string("/usr/include/dds/version.h").unwrap_or_default();
    let version = header.lines().find_map(|line| line.strip_prefix("#define DDS_VERSION "));
    let version = version.unwrap_or("of unknown version").trim().trim_matches('"');
    println!("cargo:rustc-env=WIREGAUGE_CYCLONE={version}");
    let generated = std::process::Command::new("idlc")
        .args(["-o", &out, "dds/sample.idl"])
        .status()
        .expect("idlc starts; apt-get install cyclonedds-tools");
    assert!(generated.success(), "idlc failed");
    cc::Build::new()
        .include(&out)
        .file("dds/dds.c")
        .file(format!("{out}/sample.c"))
        .warnings(true)
        .flag_if_supported("-std=gnu11")
        .compile("wiregauge_dds");
    println!("cargo:rustc-link-lib=ddsc");
}
