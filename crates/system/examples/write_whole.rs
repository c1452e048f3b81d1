//! Writes a file whole or not at all, and parses what people write: 10kB, 250ms.

use wiregauge_system::{file, quantity};

fn main() -> anyhow::Result<()> {
    let size = quantity::parse_nonzero_bytes("10kB")?;
    let path = std::env::temp_dir().join("wiregauge-example.txt");
    file::write_whole(&path, format!("{size} bytes\n").as_bytes())?;
    print!("{}", std::fs::read_to_string(&path)?);
    std::fs::remove_file(path)?;
    Ok(())
}
