//! The FMUs' sources are carried in the program: a new file there is a change.

fn main() {
    println!("cargo::rerun-if-changed=../../fmus");
    println!("cargo::rerun-if-changed=../../packed/include");
}
