//! Compiles the FMI 2 logger, which is variadic and therefore in C.

fn main() {
    println!("cargo:rerun-if-changed=src/logger.c");
    cc::Build::new().file("src/logger.c").warnings(true).compile("wiregauge_cosim_logger");
}
