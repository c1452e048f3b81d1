//! The two bounds that every codec is seen against, in each language: no
//! operation and memcpy.

use anyhow::Result;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Schema, TypeId};

use crate::build::languages::cpp::CPP;
use crate::build::languages::java::JAVA;
use crate::build::languages::python::PYTHON;
use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::runner_language::RunnerLanguage;

inventory::submit! {
    bound("noop", "no operation", &RUST, NOOP, |_| rust("Noop"))
}

inventory::submit! {
    bound("noop-cpp", "no operation C++", &CPP, NOOP, |_| cpp("Noop"))
}

inventory::submit! {
    bound("memcpy", "memcpy", &RUST, MEMCPY, |_| rust("Memcpy"))
}

inventory::submit! {
    bound("memcpy-cpp", "memcpy C++", &CPP, MEMCPY, |_| cpp("Memcpy"))
}

inventory::submit! {
    bound("noop-python", "no operation Python", &PYTHON, NOOP, |_| python("Noop"))
}

inventory::submit! {
    bound("memcpy-python", "memcpy Python", &PYTHON, MEMCPY, |_| python("Memcpy"))
}

inventory::submit! {
    bound("noop-java", "no operation Java", &JAVA, NOOP, |_| java("Noop"))
}

inventory::submit! {
    bound("memcpy-java", "memcpy Java", &JAVA, MEMCPY, |_| java("Memcpy"))
}

const NOOP: &[&str] = &["the time of the harness itself"];
const MEMCPY: &[&str] =
    &["copies the message's canonical bytes; project adds them up word by word"];

const fn bound(
    name: &'static str,
    title: &'static str,
    language: &'static RunnerLanguage,
    options: &'static [&'static str],
    emit: fn(&Unit) -> Result<Emission>,
) -> Codec {
    Codec {
        name,
        title,
        format: name,
        language,
        is_bound: true,
        linkage: Linkage::Without,
        options,
        calls: &[],
        needs: language.needs,
        check_type: supported,
        idl: None,
        emit,
    }
}

fn supported(_: &Schema, _: TypeId) -> Support {
    Support::Supported
}

fn rust(bound: &str) -> Result<Emission> {
    let main = format!(
        "fn main() -> std::io::Result<()> {{ wiregauge_runner::serve(wiregauge_runner::{bound}) }}\n"
    );
    Ok(Emission { files: vec![File::new("main.rs", main)], ..Emission::default() })
}

fn cpp(bound: &str) -> Result<Emission> {
    let main = format!(
        "#include \"wiregauge/opaque.hpp\"\n#include \"wiregauge/serve.hpp\"\n\n\
         int main() {{ return wiregauge::serve<wiregauge::{bound}>(); }}\n"
    );
    Ok(Emission {
        files: vec![File::new("main.cpp", main)],
        sources: vec!["main.cpp".into()],
        ..Emission::default()
    })
}

fn python(bound: &str) -> Result<Emission> {
    let codec = format!(
        "from wiregauge_runner import serve\nfrom wiregauge_runner.bounds import {bound}, Opaque\n\n\n\
         def main():\n    serve({bound}, Opaque())\n"
    );
    Ok(Emission { files: vec![File::new("codec.py", codec)], ..Emission::default() })
}

fn java(bound: &str) -> Result<Emission> {
    let main = format!(
        "import wiregauge_runner.Bounds;\nimport wiregauge_runner.Serve;\n\n\
         final class Main {{\n    public static void main(String[] arguments) throws Exception {{\n        \
         Serve.serve(Bounds.{bound}::new, new Bounds.Opaque());\n    }}\n}}\n"
    );
    Ok(Emission { files: vec![File::new("Main.java", main)], ..Emission::default() })
}
