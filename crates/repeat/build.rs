//! Has the crate built anew when a published experiment comes or goes.

fn main() {
    println!("cargo:rerun-if-changed=src/experiment");
}
