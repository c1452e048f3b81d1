//! Has wiregauge generate the holders.

fn main() -> Result<(), wiregauge_build::Error> {
    wiregauge_build::Holders::new("scan").definition("scan.msg").wire("cdr").generate()
}
