//! FlatBuffers in Python: the format's own library, from the definition with tables
//! only and from the one with structs.

use std::collections::BTreeSet;

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Schema, TypeDef, TypeId};

use super::{field_name, may_lose_sign, Dialect, ElementKind, Style, ARRAYS, FLATC, SIGN};
use crate::build::languages::python::PYTHON;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::flattened_field::{self, FlattenedField};
use crate::language::python::glue::{self, PythonLibrary};
use crate::language::python::message::PythonMessage;
use crate::language::python::negative_zero;

const NEEDS: &[Need] = &[Need::Program("python3", "python3-venv"), FLATC];

const GENERATED: &str =
    "classes by the machine's flatc (tested: 2.0.8 and 25.12.19) and the library's newest version \
     in Python; lists of numbers by NumPy in both directions (CreateNumpyVector, AsNumpy), where \
     reading copies nothing; one call for each other value";
const BUILDER: &str = "one builder is cleared and reused; Output() copies its bytes";
const READING: &str =
    "read in place by the accessors; elements by their index; the length of a text by its bytes; \
     the library has no verifier, but it checks each access against the length of the bytes";
const STRUCTS: &str =
    "records of plain data are structs, except structs with an array of structs: flatc's versions \
     read these in two different ways, so they are tables";

inventory::submit! {
    Codec {
        name: "flatbuffers-python",
        title: "FlatBuffers Python tables",
        format: "flatbuffers-tables",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("flatbuffers"),
        options: &["every record is a table", GENERATED, ARRAYS, SIGN, BUILDER, READING],
        calls: &[
            "encode: builder.Clear(); CreateNumpyVector, CreateString, XStart, XAddY and XEnd from the leaves up; builder.Finish(root); builder.Output()",
            "decode: X.GetRootAs(bytes); every accessor",
            "project, fixed, element: X.GetRootAs(bytes), then the accessors on the way; x.Y(i)",
        ],
        needs: NEEDS,
        check_type: |schema, id| check_type(schema, id, Style::Tables),
        idl: Some(|schema| idl(schema, Style::Tables)),
        emit: |unit| emit(unit, Style::Tables),
    }
}

inventory::submit! {
    Codec {
        name: "flatbuffers-python-structs",
        title: "FlatBuffers Python structs",
        format: "flatbuffers",
        language: &PYTHON,
        is_bound: false,
        linkage: Linkage::Wheel("flatbuffers"),
        options: &[STRUCTS, GENERATED, ARRAYS, SIGN, BUILDER, READING],
        calls: &[
            "encode: as with tables; XStartYVector(builder, count) and CreateY(builder, …) for each struct of a list, from the last to the first",
            "decode: X.GetRootAs(bytes); every accessor",
            "project, fixed, element: X.GetRootAs(bytes), then the accessors on the way; x.Y(i)",
        ],
        needs: NEEDS,
        check_type: |schema, id| check_type(schema, id, Style::Structs),
        idl: Some(|schema| idl(schema, Style::Structs)),
        emit: |unit| emit(unit, Style::Structs),
    }
}

fn check_type(schema: &Schema, id: TypeId, style: Style) -> Support {
    let structs = structs(schema);
    let dialect = dialect(schema, style, &structs);
    if let TypeDef::Record(_) = &schema.types[id] {
        if let Some(name) = clash(dialect, id) {
            return Support::Rejected(format!("{name} is a name that flatc takes in Python"));
        }
    }
    super::check_type_in(dialect, id)
}

fn idl(schema: &Schema, style: Style) -> Result<File> {
    let structs = structs(schema);
    Ok(File::new("message.fbs", super::text(dialect(schema, style, &structs), "wg")))
}

fn dialect<'a>(schema: &'a Schema, style: Style, structs: &'a BTreeSet<TypeId>) -> Dialect<'a> {
    Dialect { structs: Some(structs), ..Dialect::new(schema, style) }
}

/// The records that may be structs.
fn structs(schema: &Schema) -> BTreeSet<TypeId> {
    fn may_be(schema: &Schema, id: TypeId) -> bool {
        schema.record(id).fields.iter().all(|field| match (field.element, field.cardinality) {
            (Element::Record(_), Cardinality::Array { .. }) => false,
            (Element::Record(inner), _) => may_be(schema, inner),
            _ => true,
        })
    }
    schema.records().map(|(id, _)| id).filter(|id| may_be(schema, *id)).collect()
}

/// A name that an accessor or function of flatc's would have twice.
fn clash(dialect: Dialect, id: TypeId) -> Option<String> {
    let class = dialect.type_name(id);
    let names: Vec<String> = dialect.slots(id).iter().map(|slot| camel(&slot.field)).collect();
    let mut taken: BTreeSet<String> =
        ["GetRootAs", "Init", "SizeOf"].into_iter().map(String::from).collect();
    taken.insert(format!("GetRootAs{class}"));
    for name in &names {
        taken.extend(["AsNumpy", "IsNone", "Length"].iter().map(|end| format!("{name}{end}")));
    }
    let functions = names
        .iter()
        .flat_map(|name| [format!("Add{name}"), format!("Start{name}Vector")])
        .chain(["Start".into(), "End".into()]);
    names
        .iter()
        .find(|name| taken.contains(*name))
        .cloned()
        .or_else(|| functions.into_iter().find(|function| *function == class))
}

/// What flatc calls the accessor of a field.
fn camel(field: &Field) -> String {
    let name = field_name(field);
    let mut camel = String::new();
    let mut is_start = true;
    for (at, letter) in name.char_indices() {
        // A last underscore stays.
        if letter == '_' && at + 1 < name.len() {
            is_start = true;
        } else {
            camel.push(if is_start { letter.to_ascii_uppercase() } else { letter });
            is_start = false;
        }
    }
    camel
}

fn emit(unit: &Unit, style: Style) -> Result<Emission> {
    let form = PythonMessage::new(unit)?;
    let structs = structs(unit.schema);
    let library = Accessors { form: &form, dialect: dialect(unit.schema, style, &structs) };
    let mut head = "\nimport numpy\n".to_owned();
    for (id, _) in form.records() {
        head += &format!(
            "import wg.{} as {}\n",
            library.dialect.type_name(id),
            library_module(&form, id)
        );
    }
    if library.dialect.has_bytes_lists() {
        head += &format!("import wg.{} as Octets\n", library.dialect.bytes_name());
    }
    head += "from vectors import Vector, offsets, structs\n\n";
    if library.dialect.has_bytes_lists() {
        head += &octets_table(&library.dialect.bytes_name());
    }
    let root = unit.schema.root;
    head += &format!("Root = {}.{}", library_module(&form, root), library.dialect.type_name(root));
    let mut glue = glue::glue_file(&form, &library, &head);
    glue += &library.builders();
    glue += &negative_zero::loses_sign_functions(&form, |id, field| {
        !library.dialect.is_struct(id) && may_lose_sign(unit.schema, field)
    });
    let files = vec![
        idl(unit.schema, style)?,
        File::new("codec.py", include_str!("python/codec.py")),
        File::new("vectors.py", include_str!("python/vectors.py")),
        File::new("glue.py", glue),
    ];
    let steps = vec![GeneratorStep::command(["flatc", "--python", "message.fbs"])];
    let requirements = include_str!("python/requirements.txt");
    Ok(Emission { files, steps, requirements, ..Emission::default() })
}

/// The function that writes the table around octets in a list.
fn octets_table(table: &str) -> String {
    format!(
        "\ndef octets_table(b, value):\n    value = b.CreateByteVector(value)\n    \
         Octets.{table}Start(b)\n    Octets.{table}AddValue(b, value)\n    \
         return Octets.{table}End(b)\n\n\n"
    )
}

/// What the glue calls the module that flatc makes of a record.
fn library_module(form: &PythonMessage, id: TypeId) -> String {
    format!("Own{}", form.class(id))
}

/// The accessors of flatc's classes.
struct Accessors<'a> {
    form: &'a PythonMessage<'a>,
    dialect: Dialect<'a>,
}

impl PythonLibrary for Accessors<'_> {
    fn flattens_arrays(&self, id: TypeId) -> bool {
        !self.dialect.is_struct(id)
    }

    fn get(&self, at: &str, id: TypeId, field: &Field, _: usize) -> String {
        let value = format!("{at}.{}", camel(field));
        let is_number = self.form.type_code(field).is_some();
        match (field.cardinality, field.element) {
            (Cardinality::Array { .. }, _) if is_number && self.dialect.is_struct(id) => {
                format!("{value}()")
            }
            (Cardinality::Array { .. }, _) if is_number => format!("{value}AsNumpy().tolist()"),
            (Cardinality::List { .. }, _) if is_number => format!("{value}AsNumpy()"),
            (Cardinality::Array { .. } | Cardinality::List { .. }, _) => {
                format!("Vector({value}, {value}Length())")
            }
            (_, Element::Bytes) => format!("{value}AsNumpy()"),
            (_, Element::Record(inner)) if self.dialect.is_struct(id) => {
                let class = self.dialect.type_name(inner);
                format!("{value}({}.{class}())", library_module(self.form, inner))
            }
            _ => format!("{value}()"),
        }
    }

    fn is_present(&self, at: &str, _: &Record, field: &Field, value: &str) -> String {
        match field.element {
            Element::Bytes => format!("not {at}.{}IsNone()", camel(field)),
            _ => format!("{value} is not None"),
        }
    }

    fn make(&self, _: &PythonMessage, _: TypeId, _: &[(FlattenedField, String)]) -> Option<String> {
        None
    }

    fn text_from_library(&self, value: &str) -> String {
        format!("{value}.decode()")
    }

    fn text_size(&self, value: &str) -> String {
        format!("len({value})")
    }

    fn octets_from_library(&self, value: &str) -> String {
        match value {
            "e" => "e.ValueAsNumpy().tobytes()".into(),
            value => format!("{value}.tobytes()"),
        }
    }

    fn numbers_from_library(&self, _: &Field, code: &str, value: &str) -> String {
        format!("array(\"{code}\", {value}.tobytes())")
    }

    fn list_from_library(&self, field: &Field, value: &str) -> String {
        match field.cardinality {
            Cardinality::List { .. } => format!("{value}.tolist()"),
            _ => value.to_owned(),
        }
    }

    fn number_from_library(&self, field: &Field, value: &str) -> String {
        match field.cardinality {
            Cardinality::List { .. } => format!("{value}.item()"),
            _ => value.to_owned(),
        }
    }

    fn sum(&self, field: &Field, value: &str) -> String {
        match field.cardinality {
            Cardinality::List { .. } => format!("float({value}.sum(dtype=\"f8\"))"),
            _ => format!("sum({value})"),
        }
    }
}

impl Accessors<'_> {
    /// `create_X(b, m)` for structs and `build_X(b, m)` for tables.
    fn builders(&self) -> String {
        let mut code = SourceWriter::indented(4);
        for (id, _) in self.form.records() {
            code.line("\n");
            if self.dialect.is_struct(id) {
                self.create(id, &mut code);
            } else {
                self.build(id, &mut code);
            }
        }
        code.line(format!("\n\nbuild = build_{}", self.form.class(self.form.schema.root)));
        code.finish()
    }

    fn create(&self, id: TypeId, code: &mut SourceWriter) {
        let class = self.form.class(id);
        let mut numbers = Vec::new();
        self.numbers(id, "m", &mut numbers);
        code.open(format!("def create_{class}(b, m):"));
        let function =
            format!("{}.Create{}", library_module(self.form, id), self.dialect.type_name(id));
        code.line(format!("return {function}(b, {})", numbers.join(", ")));
        code.outdent();
    }

    /// The numbers of a struct, those of structs inside with it, as CreateX takes them.
    fn numbers(&self, id: TypeId, at: &str, numbers: &mut Vec<String>) {
        for (place, field) in self.form.schema.record(id).fields.iter().enumerate() {
            let value = format!("{at}.{}", self.form.member(id, place));
            match field.element {
                Element::Record(inner) => self.numbers(inner, &value, numbers),
                _ => numbers.push(value),
            }
        }
    }

    fn build(&self, id: TypeId, code: &mut SourceWriter) {
        let (module, table) = (library_module(self.form, id), self.dialect.type_name(id));
        code.open(format!("def build_{}(b, m):", self.form.class(id)));
        let mut adds = Vec::new();
        for (number, slot) in
            flattened_field::flatten_fields(self.form.schema, self.form.schema.record(id))
                .iter()
                .enumerate()
        {
            let field = &slot.field;
            let value = self.form.member_access("m", id, slot);
            let kind = self.dialect.kind(field.element);
            let start = format!("{module}.{table}Start{}Vector", camel(field));
            let is_optional = field.cardinality == Cardinality::Optional;
            let is_list =
                matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
            let add = format!("{module}.{table}Add{}", camel(field));
            if !is_list && matches!(kind, ElementKind::Scalar(_) | ElementKind::Struct(_)) {
                let inline = match kind {
                    ElementKind::Struct(inner) => {
                        format!("create_{}(b, {value})", self.form.class(inner))
                    }
                    _ => value.clone(),
                };
                adds.push((is_optional.then_some(value), format!("{add}(b, {inline})")));
                continue;
            }
            let v = format!("v{number}");
            let before = match (kind, is_list) {
                (_, true) => self.vector(kind, field, &start, &value),
                (_, false) => self.child_statement(kind, &value),
            };
            code.line(match is_optional {
                true => format!("{v} = None if {value} is None else {before}"),
                false => format!("{v} = {before}"),
            });
            adds.push((is_optional.then_some(v.clone()), format!("{add}(b, {v})")));
        }
        code.line(format!("{module}.{table}Start(b)"));
        for (there, add) in adds {
            match there {
                Some(value) => {
                    code.open(format!("if {value} is not None:"));
                    code.line(add);
                    code.outdent();
                }
                None => code.line(add),
            }
        }
        code.line(format!("return {module}.{table}End(b)"));
        code.outdent();
    }

    /// What is written before the table that refers to it.
    fn child_statement(&self, kind: ElementKind, value: &str) -> String {
        match kind {
            ElementKind::Text => format!("b.CreateString({value})"),
            ElementKind::Bytes => format!("b.CreateByteVector({value})"),
            ElementKind::Table(inner) => format!("build_{}(b, {value})", self.form.class(inner)),
            ElementKind::Scalar(_) | ElementKind::Struct(_) => unreachable!("in the table itself"),
        }
    }

    fn vector(&self, kind: ElementKind, field: &Field, start: &str, value: &str) -> String {
        match kind {
            ElementKind::Scalar(_) => {
                let code = self.form.type_code(field).expect("a number");
                let is_array = matches!(field.cardinality, Cardinality::List { .. }) && code != "?";
                match is_array {
                    true => format!("b.CreateNumpyVector(numpy.asarray({value}))"),
                    false => format!("b.CreateNumpyVector(numpy.array({value}, \"{code}\"))"),
                }
            }
            ElementKind::Struct(inner) => {
                format!("structs(b, {start}, create_{}, {value})", self.form.class(inner))
            }
            ElementKind::Bytes => {
                format!("offsets(b, {start}, [octets_table(b, e) for e in {value}])")
            }
            ElementKind::Text | ElementKind::Table(_) => {
                format!(
                    "offsets(b, {start}, [{} for e in {value}])",
                    self.child_statement(kind, "e")
                )
            }
        }
    }
}
