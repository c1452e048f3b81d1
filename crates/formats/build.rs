//! Has the crate built anew when a file that registers itself comes or goes.

fn main() {
    for folder in ["formats", "build/languages"] {
        println!("cargo:rerun-if-changed=src/{folder}");
    }
}
