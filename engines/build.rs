//! Generates and compiles the C and C++ sides of the DDS participants.

fn main() {
    println!("cargo:rerun-if-changed=dds");
    #[cfg(feature = "dds")]
    dds();
    println!("cargo:rerun-if-changed=fastdds");
    #[cfg(feature = "fastdds")]
    fastdds();
}

#[cfg(feature = "fastdds")]
fn fastdds() {
    cc::Build::new()
        .cpp(true)
        .files(["fastdds/fastdds.cpp", "fastdds/shared_memory.cpp"])
        .warnings(true)
        .flag_if_supported("-std=gnu++17")
        .compile("wiregauge_fastdds");
    // Version 3 has another name.
    let second = std::path::Path::new("/usr/include/fastrtps").exists();
    println!("cargo:rustc-link-lib={}", if second { "fastrtps" } else { "fastdds" });
    // The library finds this program's functions for shared memory before the system's.
    println!("cargo:rustc-link-arg-bin=fastdds=-rdynamic");
}

#[cfg(feature = "dds")]
fn dds() {
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    // The version in the library's own header.
    let header = std::fs::read_to_string("/usr/include/dds/version.h").unwrap_or_default();
    let version = header.lines().find_map(|line| line.strip_prefix("#define DDS_VERSION "));
    let version = version.unwrap_or("of unknown version").trim().trim_matches('"');
    println!("cargo:rustc-env=WIREGAUGE_CYCLONE={version}");
    for types in ["sample", "block"] {
        let generated = std::process::Command::new("idlc")
            .args(["-o", &out, &format!("dds/{types}.idl")])
            .status()
            .expect("idlc starts; apt-get install cyclonedds-tools");
        assert!(generated.success(), "idlc failed");
    }
    cc::Build::new()
        .include(&out)
        .files(["dds/dds.c", "dds/shared_memory.c"])
        .files(["sample", "block"].map(|types| format!("{out}/{types}.c")))
        .warnings(true)
        .flag_if_supported("-std=gnu11")
        .compile("wiregauge_dds");
    println!("cargo:rustc-link-lib=ddsc");
}
