//! Sources are carried in the program: a new file there is a change.

fn main() {
    for folder in ["runners", "crates/runner/src", "engines", "crates/participant", "crates/timing"]
    {
        println!("cargo::rerun-if-changed=../../{folder}");
    }
    println!("cargo::rerun-if-changed=../../fmus");
    println!("cargo::rerun-if-changed=../../packed/include");
    println!("cargo::rerun-if-changed=../../python/wiregauge/packed");
    println!("cargo::rerun-if-changed=../../packed/rust/src");
}
