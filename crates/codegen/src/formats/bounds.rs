//! The two bounds that every codec is seen against: no operation and memcpy.

use wiregauge_schema::{Schema, TypeId};

use crate::codec::{Answer, Codec, Emission, File, Language, Unit};

inventory::submit! {
    Codec {
        name: "noop",
        title: "no operation",
        format: "noop",
        language: Language::Rust,
        bound: true,
        options: &["what the harness itself costs"],
        needs: &[],
        answer: supported,
        idl: None,
        emit: |_| Ok(runner("Noop")),
    }
}

inventory::submit! {
    Codec {
        name: "memcpy",
        title: "memcpy",
        format: "memcpy",
        language: Language::Rust,
        bound: true,
        options: &["copies the message's canonical bytes; the projection adds them up word by word"],
        needs: &[],
        answer: supported,
        idl: None,
        emit: |_: &Unit| Ok(runner("Memcpy")),
    }
}

fn supported(_: &Schema, _: TypeId) -> Answer {
    Answer::Supported
}

fn runner(bound: &str) -> Emission {
    let main = format!(
        "fn main() -> std::io::Result<()> {{ wiregauge_runner::serve(wiregauge_runner::{bound}) }}\n"
    );
    Emission { files: vec![File::new("main.rs", main)], ..Emission::default() }
}
