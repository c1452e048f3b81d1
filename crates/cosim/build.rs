//! Compiles the calls into FMUs, which are in C++ to catch what FMUs throw.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/fmi/shim.cpp");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").file("src/fmi/shim.cpp").warnings(true).extra_warnings(true);
    // Its own copy of the C++ library where there is one: an FMU may bring a
    // newer one along, which would not be loaded beside an older of its name.
    let archive = Command::new(build.get_compiler().path())
        .arg("-print-file-name=libstdc++.a")
        .output()
        .ok()
        .and_then(|said| String::from_utf8(said.stdout).ok());
    let folder = archive.as_deref().map(str::trim).map(Path::new).and_then(Path::parent);
    match folder.filter(|folder| folder.is_absolute()) {
        Some(folder) => {
            build.cpp_link_stdlib(None).compile("wiregauge_cosim_shim");
            println!("cargo:rustc-link-search=native={}", folder.display());
            println!("cargo:rustc-link-lib=static=stdc++");
        }
        None => build.compile("wiregauge_cosim_shim"),
    }
}
