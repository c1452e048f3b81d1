//! zserio in Python: its makers' own library and compiler, both of one wheel.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use wiregauge_build_tools::python::PythonEnvironment;
use wiregauge_build_tools::{run, Need};
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Field, Record, Schema, TypeDef, TypeId};

use crate::build::languages::python::PYTHON;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::flattened_field::FlattenedField;
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;
use crate::lowering::Lowering;

inventory::submit! {
    Codec {
        name: "zserio-python",
        title: "zserio Python",
        format: "zserio",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("zserio"),
        options: &[
            "classes by the compiler in the library's own wheel",
            "arrays are not packed: no delta compression, the format's default",
            "the library is written in Python and works bit by bit; it has no blocks for lists: \
             each value is written and read by one call",
            "the elements of a list of records without fields take no bytes, so nothing limits its \
             length: a damaged list is read for as long as its length says",
            "no partial reads: the whole message is parsed for one number",
        ],
        calls: &[
            "encode: zserio.serialize_to_bytes(object)",
            "decode, project, fixed, element: zserio.deserialize_from_bytes(Message, bytes)",
        ],
        needs: &[
            Need::Program("python3", "python3-venv"),
            Need::Program("java", "default-jdk-headless"),
        ],
        check_type,
        idl: Some(idl),
        emit,
    }
}

const REQUIREMENTS: &str = include_str!("python/requirements.txt");

/// The module of the generated package that has all classes.
const API: &str = "Api";

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration().and("the bytes are the same")]);
    };
    if record.name.legal == API {
        return Support::Rejected(
            "the generated package has a module of its own of this name".into(),
        );
    }
    Support::lowered(super::lowerings(record))
}

/// `wg.zs`.
fn idl(schema: &Schema) -> Result<File> {
    Ok(File::new("wg.zs", super::definition(schema, member, |_| false)))
}

/// What a field is called: its legal name, unless a generated class has that for itself.
fn member(record: &Record, field: &Field) -> String {
    const OWN: [&str; 12] = [
        "bitsizeof",
        "bitsizeof_packed",
        "from_reader",
        "from_reader_packed",
        "init_packing_context",
        "initialize_offsets",
        "initialize_offsets_packed",
        "property",
        "read",
        "read_packed",
        "write",
        "write_packed",
    ];
    let legal = &field.name.legal;
    let tells = |other: &Field| {
        let name = &other.name.legal;
        other.cardinality == Cardinality::Optional
            && [format!("is_{name}_set"), format!("is_{name}_used"), format!("reset_{name}")]
                .contains(legal)
    };
    match OWN.contains(&legal.as_str()) || record.fields.iter().any(tells) {
        // Legal names do not end like this.
        true => format!("{legal}_"),
        false => legal.clone(),
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let mut head = "\nfrom wg import api\n".to_owned();
    for (id, record) in form.records() {
        head += &format!("{} = api.{}\n", library_class(&form, id), record.name.legal);
    }
    head += &format!("Root = {}", library_class(&form, unit.schema.root));
    let library = Classes { schema: unit.schema };
    let files = vec![
        idl(unit.schema)?,
        File::new("codec.py", include_str!("python/codec.py")),
        File::new("glue.py", glue::glue_file(&form, &library, &head)),
    ];
    let steps = vec![GeneratorStep::Call(Box::new(compile))];
    Ok(Emission { files, steps, requirements: REQUIREMENTS, ..Emission::default() })
}

/// Runs zserio's compiler, which makes the package `wg`.
fn compile(folder: &Path) -> Result<()> {
    let python = PythonEnvironment::create_for_step(folder, REQUIREMENTS)?;
    let mut command = Command::new(python.program);
    command.args(["-I", "-m", "zserio", "-python", ".", "wg.zs"]).current_dir(folder);
    run(&mut command, "zserio's compiler").map(|_| ())
}

/// What the glue calls the library's class of a record.
fn library_class(form: &PythonMessage, id: TypeId) -> String {
    format!("Own{}", form.class(id))
}

/// Its classes.
struct Classes<'a> {
    schema: &'a Schema,
}

impl PythonLibrary for Classes<'_> {
    fn is_octets(&self, field: &Field) -> bool {
        super::is_octets(field)
    }

    fn get(&self, at: &str, id: TypeId, field: &Field, _: usize) -> String {
        format!("{at}.{}", member(self.schema.record(id), field))
    }

    fn make(
        &self,
        form: &PythonMessage,
        id: TypeId,
        values: &[(FlattenedField, String)],
    ) -> Option<String> {
        let values: Vec<&str> = values.iter().map(|(_, value)| value.as_str()).collect();
        Some(format!("{}({})", library_class(form, id), values.join(", ")))
    }

    /// The library has octets as `bytearray`.
    fn octets_from_library(&self, value: &str) -> String {
        format!("bytes({value})")
    }
}
