//! Has the crate built anew when a chart's file comes or goes.

fn main() {
    println!("cargo:rerun-if-changed=src/page/charts");
}
