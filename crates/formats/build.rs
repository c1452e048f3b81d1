//! Has the crate built anew when a format's file comes or goes.

fn main() {
    println!("cargo:rerun-if-changed=src/formats");
}
