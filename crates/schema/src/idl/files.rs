//! Files of OMG IDL as users of DDS have them, with the files that they include.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};

use super::definitions::IdlDefinitions;
use super::parser::add_code;
use super::preprocessor::{Code, Preprocessor};
use super::types::{IdlDefinition, IdlType, DEEPEST};
use crate::file;
use crate::model::Schema;

/// Reads a struct of a file: the one of this name, or the only one that no other struct of the
/// file uses. Files that it includes are looked for beside it, then in `folders`.
///
/// # Errors
/// Also when there are several, or a struct is mutable: on the wire its members have numbers,
/// which the model has not.
pub fn read_file(path: &Path, type_name: Option<&str>, folders: &[PathBuf]) -> Result<Schema> {
    let origin = path.display().to_string();
    let own = IdlFile::read(path, folders)?;
    let name = match type_name {
        Some(wanted) => own.find(wanted, &origin)?,
        None => match &own.messages()[..] {
            [only] => only.clone(),
            [] => bail!("{origin} defines no struct"),
            several => bail!(
                "{origin} has several messages; choose one with {origin}:Type among {}",
                list_names(several)
            ),
        },
    };
    own.schema(&name).with_context(|| origin)
}

/// Reads all structs of a file that no other struct of it uses.
///
/// # Errors
/// Also when there is none.
pub fn read_all(path: &Path, folders: &[PathBuf]) -> Result<Vec<Schema>> {
    let own = IdlFile::read(path, folders)?;
    let names = own.messages();
    ensure!(!names.is_empty(), "{} defines no struct", path.display());
    let schemas = names.iter().map(|name| own.schema(name));
    schemas.collect::<Result<_>>().with_context(|| path.display().to_string())
}

/// The structs of a file that no other struct of it uses, as `module/Type`.
///
/// # Errors
/// When it, or what it includes, cannot be read.
pub fn messages(path: &Path, folders: &[PathBuf]) -> Result<Vec<String>> {
    let names = IdlFile::read(path, folders)?.messages();
    Ok(names.iter().map(|name| name.replace("::", "/")).collect())
}

/// The enums of a file, as `module/Type`. None where it has typedefs or constants too: of those a
/// schema does not tell whether they are used.
///
/// # Errors
/// When it, or what it includes, cannot be read.
pub fn enums(path: &Path, folders: &[PathBuf]) -> Result<Option<Vec<String>>> {
    let file = IdlFile::read(path, folders)?;
    let is_enum = |name: &String| matches!(file.library.0[name], IdlDefinition::Enum { .. });
    let has_others = !file.own.iter().all(is_enum);
    Ok((!has_others).then(|| file.own.iter().map(|name| name.replace("::", "/")).collect()))
}

/// What a file defines.
struct IdlFile {
    library: IdlDefinitions,
    /// The names of what it defines itself, and not a file that it includes.
    own: BTreeSet<String>,
}

impl IdlFile {
    fn read(path: &Path, folders: &[PathBuf]) -> Result<IdlFile> {
        let mut files = IncludedFiles { folders, entered: HashMap::new(), open: 0 };
        let (mut code, mut library) = (Code::default(), IdlDefinitions::default());
        files.read(path, &mut Preprocessor::default(), &mut code)?;
        let own = add_code(&code, &mut library)?;
        Ok(IdlFile { library, own })
    }

    fn structs(&self) -> impl Iterator<Item = &String> {
        let is_struct =
            |name: &&String| matches!(self.library.0[*name], IdlDefinition::Struct { .. });
        self.own.iter().filter(is_struct)
    }

    /// Structs that no other struct uses; all where they use each other in a circle.
    fn messages(&self) -> Vec<String> {
        let mut used = BTreeSet::new();
        for name in self.structs() {
            let IdlDefinition::Struct { base, members, .. } = &self.library.0[name] else {
                continue;
            };
            let kinds = members.iter().map(|member| &member.kind).chain(base);
            kinds.for_each(|kind| self.add_used(kind, name, &mut used, 0));
        }
        let roots = self.structs().filter(|name| !used.contains(*name)).cloned();
        let roots: Vec<String> = roots.collect();
        if roots.is_empty() {
            self.structs().cloned().collect()
        } else {
            roots
        }
    }

    /// Adds the structs that a type of a struct's member stands for.
    fn add_used(&self, kind: &IdlType, user: &str, used: &mut BTreeSet<String>, depth: usize) {
        match kind {
            _ if depth > DEEPEST => {}
            IdlType::List(inner, _) => self.add_used(inner, user, used, depth + 1),
            IdlType::Named(name, scope) => match self.library.find(name, scope) {
                Ok((_, IdlDefinition::Alias(inner, ..))) => {
                    self.add_used(inner, user, used, depth + 1);
                }
                Ok((full, IdlDefinition::Struct { .. })) if full != user => {
                    used.insert(full.to_owned());
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// The full name of a struct by that, or by its last part.
    fn find(&self, wanted: &str, origin: &str) -> Result<String> {
        let wanted = wanted.replace(['/', '.'], "::");
        let is_it = |name: &&String| {
            name.strip_suffix(wanted.as_str())
                .is_some_and(|before| before.is_empty() || before.ends_with("::"))
        };
        let found: Vec<&String> = self.structs().filter(is_it).collect();
        match found[..] {
            [only] => Ok(only.clone()),
            [] => bail!("{origin} has no struct {wanted}; it has {}", list_names(self.structs())),
            _ => match found.iter().find(|name| ***name == wanted) {
                Some(exact) => Ok((*exact).clone()),
                None => {
                    bail!("{origin} has several {wanted}; choose one among {}", list_names(found))
                }
            },
        }
    }

    fn schema(&self, name: &str) -> Result<Schema> {
        let schema = self.library.schema(name)?;
        for def in &schema.types {
            let name = def.original().replace('/', "::");
            let is_mutable = matches!(
                self.library.0.get(&name),
                Some(IdlDefinition::Struct { is_mutable: true, .. })
            );
            ensure!(
                !is_mutable,
                "{name} is mutable, so its members have numbers on the wire, which wiregauge does \
                 not read; remove the annotation to take it as final"
            );
        }
        Ok(schema)
    }
}

/// Names as they can stand behind the colon of `FILE:Type`.
fn list_names<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    names.into_iter().map(|name| name.replace("::", "/")).collect::<Vec<_>>().join(", ")
}

/// Deepest nesting of files, as compilers have it.
const MOST_OPEN: usize = 200;

/// The files that a file includes.
struct IncludedFiles<'f> {
    /// Where they are looked for, behind the folder of the file that includes one.
    folders: &'f [PathBuf],
    /// Those that were read, and the braces within which they were: what two modules include is in
    /// both.
    entered: HashMap<PathBuf, HashSet<Option<usize>>>,
    /// How many files are open, of which each includes the next one.
    open: usize,
}

impl IncludedFiles<'_> {
    /// Adds the words of a file to `code`, where they are not there yet.
    fn read(
        &mut self,
        path: &Path,
        preprocessor: &mut Preprocessor,
        code: &mut Code,
    ) -> Result<()> {
        let text = file::read_text(path)?;
        let braces = self.entered.entry(path.canonicalize()?).or_default();
        let is_again = !braces.is_empty();
        if !braces.insert(code.open_brace()) {
            return Ok(());
        }
        self.open += 1;
        ensure!(self.open <= MOST_OPEN, "{}: includes are nested too deeply", path.display());
        let mut include =
            |preprocessor: &mut Preprocessor, code: &mut Code, name: &str, place: &str| {
                let folders =
                    path.parent().into_iter().chain(self.folders.iter().map(PathBuf::as_path));
                let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
                let found = found.with_context(|| {
                    format!(
                        "{place}: there is no {name}; put it beside the file, or give its folder \
                         by -I"
                    )
                })?;
                self.read(&found, preprocessor, code)
            };
        let before = code.words.len();
        preprocessor.read(&text, &path.display().to_string(), code, &mut include)?;
        if is_again {
            let words = code.words.len() - before;
            preprocessor.count_expanded(words).with_context(|| path.display().to_string())?;
        }
        self.open -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::model::{Cardinality, Element, Field, Scalar, TypeDef};

    /// What dds programs have: a header that others share, typedefs, constants and guards.
    const SCAN: &str = r#"
#ifndef SCAN_IDL
#define SCAN_IDL
#include "base/stamp.idl"
module lidar {
  const long AXES = 3;
  typedef float Vector[AXES];
  @bit_bound(8) enum State { OFF, @value(7) ON, BROKEN };
  @final struct Point { Vector position; octet intensity; };
  struct Scan : base::Stamp {
    @key string<32> frame;
    State state;
    sequence<Point> points;
    sequence<octet> raw;
  };
  struct Other { long a, b; };
};
#endif
"#;

    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn scan(folder: &Path) -> PathBuf {
        write(folder, "include/base/stamp.idl", "module base { struct Stamp { int64 ns; }; };");
        write(folder, "scan.idl", SCAN)
    }

    /// The only message of a file that includes no other one.
    fn schema_of(text: &str) -> Schema {
        let folder = tempfile::tempdir().unwrap();
        read_file(&write(folder.path(), "only.idl", text), None, &[]).unwrap()
    }

    fn field_names(schema: &Schema) -> Vec<&str> {
        schema.root().fields.iter().map(|field| field.name.original.as_str()).collect()
    }

    #[test]
    fn files_have_structs_of_their_own_and_included_ones() {
        let folder = tempfile::tempdir().unwrap();
        let (path, include) = (scan(folder.path()), folder.path().join("include"));
        let folders = [include];
        assert_eq!(messages(&path, &folders).unwrap(), ["lidar/Other", "lidar/Scan"]);
        let schema = read_file(&path, Some("Scan"), &folders).unwrap();
        assert_eq!(schema.root().name.original, "lidar/Scan");
        assert_eq!(field_names(&schema), ["ns", "frame", "state", "points", "raw"]);
        let Element::Record(point) = schema.root().fields[3].element else { panic!("{schema:?}") };
        let position = &schema.record(point).fields[0];
        assert_eq!(position.element, Element::Scalar(Scalar::F32));
        assert_eq!(position.cardinality, Cardinality::Array { len: 3 });
        let Element::Enum(state) = schema.root().fields[2].element else { panic!("{schema:?}") };
        let TypeDef::Enum(state) = &schema.types[state] else { panic!("{schema:?}") };
        let numbers: Vec<i64> = state.values.iter().map(|value| value.number).collect();
        assert_eq!((state.repr, numbers), (Scalar::U8, vec![0, 7, 8]));
        assert_eq!(read_all(&path, &folders).unwrap().len(), 2);
    }

    #[test]
    fn lengths_bounds_and_values_are_expressions_of_constants() {
        let text = r#"
            module image {
              const long WIDTH = 0x10;
              const octet BASE = 0x80 | 1;
              const double RATIO = 1.5;
              const string NAME = "a";
              module inner { const long HEIGHT = (WIDTH << 1) - 2; };
              local interface Camera { void take(); };
              exception Broken { long code; };
              @bit_bound(value = 4 * 2) enum Kind { @value(0x10) A, B, @value(BASE) C };
              typedef octet Row[WIDTH * 3];
              @::vendor::data_representation(XCDR2)
              struct Image {
                Kind kind;
                Row rows[inner::HEIGHT];
                sequence<octet, image::WIDTH + 1> tag;
              };
            };"#;
        let schema = schema_of(text);
        assert_eq!(schema.root().name.original, "image/Image");
        let shape = |at: usize| schema.root().fields[at].cardinality;
        assert_eq!(shape(1), Cardinality::Array { len: 48 * 30 });
        assert_eq!(shape(2), Cardinality::List { bound: Some(17) });
        let Element::Enum(kind) = schema.root().fields[0].element else { panic!("{schema:?}") };
        let TypeDef::Enum(kind) = &schema.types[kind] else { panic!("{schema:?}") };
        let numbers: Vec<i64> = kind.values.iter().map(|value| value.number).collect();
        assert_eq!((kind.repr, numbers), (Scalar::U8, vec![16, 17, 129]));
    }

    #[test]
    fn words_of_the_language_are_names_behind_an_underscore() {
        let text = r#"
            module _module {
              const long _const = 3;
              struct _struct { octet _octet[_module::_const]; };
              struct Whole { _struct _any; module::struct __other; };
            };"#;
        let schema = schema_of(text);
        assert_eq!(schema.root().name.original, "module/Whole");
        assert_eq!(field_names(&schema), ["any", "_other"]);
        let Element::Record(inner) = schema.root().fields[0].element else { panic!("{schema:?}") };
        let inner = schema.record(inner);
        assert_eq!(inner.name.original, "module/struct");
        assert_eq!(inner.fields[0].cardinality, Cardinality::Array { len: 3 });
    }

    #[test]
    fn macros_and_branches_are_those_of_a_preprocessor() {
        let folder = tempfile::tempdir().unwrap();
        let text = r##"
            #if !defined(LIMITS)
            #define LIMITS
            #define LENGTH 4 // Of all of them.
            #define WIDTH (LENGTH * 2)
            #define EXTRA \
              long extra; \
              short more;
            #endif
            #if defined LIMITS
            #else
            not read
            #endif
            #undef LIMITS"##;
        write(folder.path(), "limits.idl", text);
        let text = r##"
            #include <limits.idl>
            /* #if in a
            #if comment */
            #if 0
            #if UNKNOWN > 2
            not read
            #else
            #endif
            #elif 1
            #ifndef LIMITS
            typedef struct Inner { float values[WIDTH]; } Alias;
            #else
            not read
            #endif
            #else
            not read
            #endif
            #define loop loop
            struct Whole { Alias inner; EXTRA octet loop; string<LENGTH> name; };"##;
        let path = write(folder.path(), "whole.idl", text);
        let schema = read_file(&path, None, &[]).unwrap();
        assert_eq!(field_names(&schema), ["inner", "extra", "more", "loop", "name"]);
        let Element::Record(inner) = schema.root().fields[0].element else { panic!("{schema:?}") };
        assert_eq!(schema.record(inner).fields[0].cardinality, Cardinality::Array { len: 8 });
        // A few lines stand for more than fits into memory.
        let chain = |length: usize, times: usize| -> String {
            let define = |number| {
                format!("#define a{number} {}\n", format!("a{} ", number + 1).repeat(times))
            };
            (0..length).map(define).collect::<String>() + "struct S { a0 };\n"
        };
        for (text, wanted) in [
            (chain(64, 2), "m.idl:65: macros, and files that are included again, stand for more than 1000000 words"),
            (chain(10_000, 1), "m.idl:10001: macros are nested too deeply"),
        ] {
            let path = write(folder.path(), "m.idl", &text);
            let said = format!("{:#}", read_file(&path, None, &[]).unwrap_err());
            assert!(said.contains(wanted), "{said}");
        }
        // Each file includes the next one.
        for number in 0..1000 {
            let text = format!("#include \"{}.idl\"\n", number + 1);
            write(folder.path(), &format!("{number}.idl"), &text);
        }
        let said = read_file(&folder.path().join("0.idl"), None, &[]).unwrap_err().to_string();
        assert!(said.contains("200.idl: includes are nested too deeply"), "{said}");
    }

    #[test]
    fn what_is_included_stands_where_it_is_included() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "point.idl", "struct Point { float x, y; };\n");
        write(folder.path(), "head.idl", "long long stamp;\n");
        let text = r#"
            module first {
            #include "point.idl"
            };
            module second {
            #include "point.idl"
            #include "point.idl"
              struct Scan {
            #include "head.idl"
                Point here;
                first::Point there;
              };
            };"#;
        let path = write(folder.path(), "scan.idl", text);
        assert_eq!(messages(&path, &[]).unwrap(), ["second/Scan"]);
        let schema = read_file(&path, None, &[]).unwrap();
        let named = |field: &Field| match field.element {
            Element::Record(id) => schema.record(id).name.original.clone(),
            _ => field.name.original.clone(),
        };
        let names: Vec<String> = schema.root().fields.iter().map(named).collect();
        assert_eq!(names, ["stamp", "second/Point", "first/Point"]);
        // What is wrong in it is said with its own line.
        write(folder.path(), "head.idl", "long long stamp;\nlong;\n");
        let said = format!("{:#}", read_file(&path, None, &[]).unwrap_err());
        assert!(said.contains("head.idl:2: expected a name, found ';'"), "{said}");
        // A few files stand for more than fits into memory.
        for number in 0..30 {
            let inner =
                |module| format!("module {module} {{\n#include \"{}.idl\"\n}};\n", number + 1);
            let text = inner("a") + &inner("b");
            write(folder.path(), &format!("{number}.idl"), &text);
        }
        write(folder.path(), "30.idl", "struct S { long a; };");
        let said = format!("{:#}", read_file(&folder.path().join("0.idl"), None, &[]).unwrap_err());
        assert!(said.contains("included again, stand for more than 1000000 words"), "{said}");
    }

    #[test]
    fn what_is_missing_or_not_meant_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = scan(folder.path());
        let error = |path: &Path, name: Option<&str>, folders: &[PathBuf]| {
            format!("{:#}", read_file(path, name, folders).unwrap_err())
        };
        let said = error(&path, None, &[]);
        assert!(said.contains("scan.idl:4: there is no base/stamp.idl"), "{said}");
        let include = [folder.path().join("include")];
        let said = error(&path, None, &include);
        assert!(said.contains("choose one with") && said.contains("lidar/Scan"), "{said}");
        let said = error(&path, Some("Scam"), &include);
        assert!(said.contains("no struct Scam; it has lidar/Other, lidar/Point"), "{said}");
        let own = write(folder.path(), "m.idl", "@mutable struct M { long a; };");
        let said = error(&own, None, &[]);
        assert!(said.contains("M is mutable"), "{said}");
        for branch in ["#ifdef X", "#if A > 1", "#ifndef X\n#include \"a.idl\"", "#if 0\n#elif A"] {
            let text = format!("{branch}\nstruct M {{ long a; }};\n#endif\n");
            let said = error(&write(folder.path(), "b.idl", &text), None, &[]);
            assert!(
                said.contains("begins a branch") && said.contains("cpp -P"),
                "{branch}: {said}"
            );
        }
        for (text, wanted) in [
            (
                "struct M {\n long a;\n};\nstrict N",
                "w.idl:4: expected a definition, found 'strict'",
            ),
            ("/* two\nlines */ struct M {\n long; };", "w.idl:3: expected a name, found ';'"),
            ("@mutable typedef struct S { long a; } T;\nstruct M { T t; };", "S is mutable"),
            ("#if 0\nstruct", "w.idl: a branch of the preprocessor has no #endif"),
            ("\n#endif", "w.idl:2: #endif without #if"),
            ("#else", "w.idl:1: #else without #if"),
            ("#error no", "w.idl:1: #error no"),
            ("#define F(x) x\nstruct M { F(long a;) };", "w.idl:2: F is a macro with parameters"),
            ("struct M { long a; };\nstruct M { short a; };", "w.idl:2: M is defined in two ways"),
            (
                "typedef union U switch (long) { case 1: long a; } V;\nstruct M { V v; };",
                "M.v: a union",
            ),
        ] {
            let said = error(&write(folder.path(), "w.idl", text), None, &[]);
            assert!(said.contains(wanted), "{text}: {said}");
        }
        let own = write(folder.path(), "l.idl", "struct L { long a[2*N]; };");
        let said = error(&own, None, &[]);
        assert!(said.contains("the expression '2 * N': there is no definition of N"), "{said}");
        let own = write(folder.path(), "n.idl", "struct L { long a[2-3]; };");
        assert!(error(&own, None, &[]).contains("a length of -1"));
        let own = write(folder.path(), "e.idl", "enum E { A };");
        assert!(error(&own, None, &[]).contains("defines no struct"));
        let own = write(folder.path(), "c.idl", "#include \"c.idl\"\nstruct C { D d; };");
        assert!(error(&own, None, &[]).contains("there is no definition of D"));
    }
}
