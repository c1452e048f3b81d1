//! Messages that programs in all languages read and write.

use std::fs;
use std::path::{Path, PathBuf};

use wiregauge_data_holders::Wire;
use wiregauge_schema::{generate, Schema, Sizes, Value};

use super::reference;

/// Messages as files in a folder, numbered: such as every language must read and write, and
/// such as it must refuse.
pub struct MessageFiles {
    pub folder: PathBuf,
    /// How many there are that are whole.
    pub whole: usize,
    bad: usize,
}

impl MessageFiles {
    /// Those of a folder that is made.
    pub fn new(folder: &Path) -> MessageFiles {
        fs::create_dir_all(folder).expect("a folder");
        MessageFiles { folder: folder.to_owned(), whole: 0, bad: 0 }
    }

    /// Adds a message of a type, on each wire by the ending of its file.
    pub fn add<'a>(&mut self, kind: &str, wires: impl IntoIterator<Item = (&'a str, Vec<u8>)>) {
        self.write(&format!("{:04}", self.whole), kind, wires);
        self.whole += 1;
    }

    /// Adds what is no message of a type.
    pub fn add_bad<'a>(&mut self, kind: &str, wires: impl IntoIterator<Item = (&'a str, Vec<u8>)>) {
        self.write(&format!("bad{:04}", self.bad), kind, wires);
        self.bad += 1;
    }

    fn write<'a>(
        &self,
        stem: &str,
        kind: &str,
        wires: impl IntoIterator<Item = (&'a str, Vec<u8>)>,
    ) {
        let path = |end: &str| self.folder.join(format!("{stem}.{end}"));
        fs::write(path("type"), kind).expect("written");
        for (end, bytes) in wires {
            fs::write(path(end), bytes).expect("written");
        }
    }

    /// Adds a message as the reference writes it on these wires.
    pub fn add_value(&mut self, schema: &Schema, value: &Value, wires: &[Wire]) {
        let ends: Vec<String> = wires.iter().map(|wire| wire.name().replace('-', "_")).collect();
        let encoded = wires.iter().zip(&ends).map(|(wire, end)| {
            let bytes = match wire {
                Wire::Protobuf => reference::encode_protobuf(schema, value),
                _ => reference::encode(schema, value, *wire),
            };
            (end.as_str(), bytes)
        });
        self.add(&schema.root().name.original, encoded);
    }

    /// Adds messages of a schema: lists, texts and presence of these sizes.
    pub fn add_generated(&mut self, schema: &Schema, sizes: &[(usize, usize, f64)], seed: u64) {
        for (at, (list, text, presence)) in sizes.iter().copied().enumerate() {
            let sizes = Sizes { list, text, bytes: text, presence, ..Sizes::default() };
            let value = generate(schema, &sizes, seed.wrapping_add(at as u64)).expect("a message");
            self.add_value(schema, &value, &Wire::SEQUENTIAL);
        }
    }
}
