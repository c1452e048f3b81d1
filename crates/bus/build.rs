//! Has the crate built anew when a transport's file comes or goes.

fn main() {
    println!("cargo:rerun-if-changed=src/transports");
}
