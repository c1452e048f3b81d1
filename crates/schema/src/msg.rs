//! Reader for ROS 1 and ROS 2 message definitions: plain `.msg` files, and the
//! concatenated form in which recordings carry a definition with all that it
//! uses (parts separated by a line of 80 `=` and headed `MSG: pkg/Type`).
//!
//! Single fields become required ones. `uint8[]` becomes bytes. `wstring`
//! becomes a string, and the bound of a bounded string is dropped: the model
//! has neither.
//!
//! The two dialects share most of their syntax. They differ in what `byte` is
//! (`i8` in ROS 1, `u8` in ROS 2) and in the types of time (`time` and
//! `duration`, or `builtin_interfaces/Time` and `Duration`).

mod definitions;
mod dialect;
mod folder;
mod interface;
mod line;

use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};

use self::definitions::MsgDefinitions;
pub use self::dialect::Dialect;
use self::folder::{find_in_folders, short_name};
pub use self::folder::{folders, usual_file};
use self::interface::interface_message;
pub use self::interface::interface_messages;
use crate::file;
use crate::model::Schema;
use crate::package::package_of;

/// Reads a concatenated definition, as a recording carries it.
///
/// `name` is the root's type, `pkg/Type` or `pkg/msg/Type`; `origin` says in
/// errors where the text is from.
pub fn read_text(text: &str, name: &str, dialect: Dialect, origin: &str) -> Result<Schema> {
    let mut library = MsgDefinitions::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    library.add_text(text, name, origin, None)?;
    let root = library.definitions.keys().next().expect("a text has a first part").clone();
    library.complete()?;
    library.schema(&root, Some(dialect))
}

/// Reads a `.msg` file, plain or concatenated.
///
/// A type that the file does not define is looked for in other files: as
/// `../../pkg/msg/Type.msg`, `../pkg/Type.msg` and `pkg/Type.msg`, each relative
/// to the file that uses it, then in `folders` (see [`folders`]), and as
/// `Type.msg` beside the file unless its place says that it is of another
/// package. The root is the file's first part, or the part called `type_name`.
///
/// The dialect is ROS 2 if the file uses anything that only ROS 2 has: a default,
/// a bound, `wstring`, `builtin_interfaces/` or a type spelled `pkg/msg/Type`.
/// Otherwise it is ROS 1 if it uses `time`, `duration`, a `byte` below zero or an array
/// of no elements.
/// Where it uses none of these the files that it uses tell, and the `Header`
/// shortcut; it is ROS 2 if these do not either. Files of both are refused.
pub fn read_file(path: &Path, type_name: Option<&str>, folders: &[PathBuf]) -> Result<Schema> {
    read_file_as(None, path, type_name, folders)
}

/// Reads it as [`read_file`] does, in this dialect where one is given. Of a service or an action
/// (`.srv`, `.action`) the type is one of its messages, by default the first: `Name_Request`, or of
/// an action `Name_Goal`.
pub fn read_file_as(
    dialect: Option<Dialect>,
    path: &Path,
    type_name: Option<&str>,
    folders: &[PathBuf],
) -> Result<Schema> {
    let origin = path.display().to_string();
    let text = file::read_text(path)?;
    let own = interface_message(path, type_name);
    let name = own.unwrap_or_else(|| path_type_name(path));
    let mut library = MsgDefinitions { folders: folders.to_vec(), ..MsgDefinitions::default() };
    library.add_text(&text, &name, &origin, Some(path))?;
    let root = match type_name {
        None => library.definitions.keys().next().expect("a text has a first part").clone(),
        Some(wanted) => library.find(wanted, &origin)?,
    };
    library.complete()?;
    library.schema(&root, dialect)
}

/// The type that a file is by its place: `pkg/Type`, or `Type` where that tells no
/// package.
pub fn path_type_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match package_of(path, "msg") {
        Some(package) => format!("{package}/{stem}"),
        None => stem.into_owned(),
    }
}

/// Reads the type `pkg/Type` or `pkg/msg/Type` of recorded messages from its
/// file in one of the folders. None where no folder has it. Fails on a
/// `wstring`, which is a string in the model, but not in recorded bytes.
pub fn read_type(name: &str, dialect: Dialect, folders: &[PathBuf]) -> Result<Option<Schema>> {
    let name = short_name(name);
    let Some(path) = find_in_folders(folders, &name)? else { return Ok(None) };
    let mut library = MsgDefinitions { folders: folders.to_vec(), ..MsgDefinitions::default() };
    let (text, origin) = (file::read_text(&path)?, path.display().to_string());
    library.add_text(&text, &name, &origin, Some(&path))?;
    library.complete()?;
    let mut lines = library.definitions.values().flat_map(|definition| &definition.fields);
    ensure!(
        lines.all(|line| line.element != "wstring"),
        "{name} has a wstring, which wiregauge cannot decode"
    );
    Ok(Some(library.schema(&name, Some(dialect))?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::model::{Cardinality, Element, Field, Role, Scalar};

    fn field<'a>(schema: &'a Schema, name: &str) -> &'a Field {
        schema.root().fields.iter().find(|f| f.name.original == name).unwrap()
    }

    fn ros2(text: &str) -> Result<Schema> {
        read_text(text, "pkg/msg/Root", Dialect::Ros2, "test.msg")
    }

    #[test]
    fn reads_every_kind_of_line() {
        let separator = "=".repeat(80);
        let text = format!(
            "# a comment that isn't quoted\n\
             int32 MAX=10\nstring NAME = \"a # b\"  # text\nstring<=5 SHORT=abc\n\n\
             uint8[] octets\nuint8[4] four\nuint8[<=7] seven\nchar c\nbyte b\n\
             string<=10[<=5] words ['a', 'b'] # default\n\
             float64 x 1.5\nstring quoted \"a # b\"  # not in quotes\nwstring wide\nOther other\nOther[] others\n\
             builtin_interfaces/Time stamp\n{separator}\nMSG: pkg/Other\nbool flag\n"
        );
        let schema = ros2(&text).unwrap();
        assert_eq!(schema.root().name.original, "pkg/msg/Root");
        assert_eq!(schema.root().fields.len(), 12);
        assert_eq!(field(&schema, "octets").element, Element::Bytes);
        assert_eq!(field(&schema, "octets").cardinality, Cardinality::Required);
        assert_eq!(field(&schema, "four").cardinality, Cardinality::Array { len: 4 });
        assert_eq!(field(&schema, "seven").cardinality, Cardinality::List { bound: Some(7) });
        assert_eq!(field(&schema, "words").default.as_deref(), Some("['a', 'b']"));
        assert_eq!(field(&schema, "x").default.as_deref(), Some("1.5"));
        assert_eq!(field(&schema, "quoted").default.as_deref(), Some("\"a # b\""));
        assert_eq!(field(&schema, "wide").element, Element::String);
        assert_eq!(field(&schema, "b").element, Element::Scalar(Scalar::U8));
        let Element::Record(stamp) = field(&schema, "stamp").element else { panic!() };
        assert_eq!(schema.record(stamp).role, Role::Timestamp);
        assert_eq!(schema.root, schema.types.len() - 1, "the root stands after what it uses");
    }

    #[test]
    fn comments_constants_and_spellings_are_kept() {
        let text = "# A scan,\n#   of a plane.\n\n#\n# Before\n\n# and above.\nint32 a # behind\n\
                    string NAME= its # all of it\n# Of b.\nstring B=\"q\" # not of it\nint8[4] b\n";
        for (dialect, name, value, comment) in [
            (Dialect::Ros1, "p/R", "its # all of it", ""),
            (Dialect::Ros2, "p/msg/R", "its", "all of it"),
        ] {
            let schema = read_text(text, "p/R", dialect, "test").unwrap();
            let words = schema.wording.find_type(name).unwrap();
            assert_eq!(words.comment, "A scan,\nof a plane.");
            assert_eq!(words.text.as_deref(), Some(text.trim_end()));
            assert_eq!(words.members["a"].comment, "Before\n\nand above.\nbehind");
            assert_eq!(words.members["b"].spelling, "int8[4]");
            assert_eq!(
                (&*words.constants[0].value, &*words.constants[0].comment),
                (value, comment)
            );
            assert!(words.constants[1].comment.starts_with("Of b."));
        }
    }

    #[test]
    fn the_dialects_differ_in_time_and_byte() {
        let schema = read_text("time t\nbyte b", "p/R", Dialect::Ros1, "test").unwrap();
        assert_eq!(field(&schema, "b").element, Element::Scalar(Scalar::I8));
        let Element::Record(time) = field(&schema, "t").element else { panic!() };
        assert_eq!(schema.record(time).fields[0].element, Element::Scalar(Scalar::U32));
        let error = ros2("time t").unwrap_err();
        assert!(error.to_string().contains("builtin_interfaces/Time"), "{error}");
    }

    #[test]
    fn arrays_of_no_elements_are_of_ros_1() {
        let text = "uint8[0] a\nstring[0] b\ntime[0] c\nuint8[00] d\n";
        let schema = read_text(text, "p/R", Dialect::Ros1, "test").unwrap();
        for name in ["a", "b", "c", "d"] {
            assert_eq!(field(&schema, name).cardinality, Cardinality::Array { len: 0 });
        }
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "p/msg/R.msg", "int32[0] a\n");
        assert_eq!(read_file(&path, None, &[]).unwrap().root().name.original, "p/R");
        write(folder.path(), "p/msg/S.msg", "R r\nint32[<=4] b\n");
        let error = read_file(&folder.path().join("p/msg/S.msg"), None, &[]).unwrap_err();
        assert!(format!("{error:#}").contains("R.msg:1 is from ROS 1"), "{error:#}");
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        let error = format!("{:#}", ros2("int32 a\nFoo b").unwrap_err());
        assert!(error.contains("unknown type pkg/Foo in test.msg:2"), "{error}");
        for (text, wanted) in [
            ("int32", "write 'type name'"),
            ("int32 a\nint32 a", "two fields 'a'"),
            ("int32[0] a", "test.msg:1: 'a' is an array of 0 elements, which ROS 2 does not allow"),
            ("int32[<=0] a", "a list of 0 elements"),
            ("string<=0 a", "a string of length 0"),
            ("int32[-1] a", "length"),
            ("int32<=5 a", "only strings"),
            ("int32[x] a", "length"),
            ("Foo! a", "is not a type"),
        ] {
            let error = format!("{:#}", ros2(text).unwrap_err());
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn files_find_their_dependencies() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let scan = write("a/msg/Scan.msg", "Header header\nPoint[] points\n");
        let error = format!("{:#}", read_file(&scan, None, &[]).unwrap_err());
        assert!(error.contains("Scan.msg:1; put std_msgs/Header.msg beside it"), "{error}");

        write("a/msg/Point.msg", "float32 x\n");
        write("std_msgs/msg/Header.msg", "uint32 seq\ntime stamp\nstring frame_id\n");
        let schema = read_file(&scan, None, &[]).unwrap();
        assert_eq!(schema.root().name.original, "a/Scan", "the Header shortcut means ROS 1");
        assert_eq!(schema.types.len(), 4);

        let loose = write("loose.msg", "other/Point p 3\n");
        write("other/Point.msg", "\u{feff}float32 x\n");
        assert_eq!(read_file(&loose, None, &[]).unwrap().root().name.original, "loose");
    }

    /// A file below the folder.
    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn packages_are_found_in_the_folders_given() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let scan = write(at, "own/msg/Scan.msg", "geometry_msgs/Point point\n");
        write(at, "apart/geometry_msgs/msg/Point.msg", "float64 x\n");
        let error = format!("{:#}", read_file(&scan, None, &[]).unwrap_err());
        assert!(error.contains("give the folder of its package with -I"), "{error}");
        for given in ["apart", "apart/geometry_msgs", ""] {
            let schema = read_file(&scan, None, &[at.join(given)]).unwrap();
            assert_eq!(schema.types.len(), 2, "{given}");
        }
        write(at, "prefix/share/geometry_msgs/msg/Point.msg", "float64 x\nfloat64 y\n");
        let both = [at.join("prefix"), at.join("apart")];
        let schema = read_file(&scan, None, &both).unwrap();
        assert_eq!(schema.record(0).fields.len(), 2, "the first folder counts");
        let schema = read_type("geometry_msgs/msg/Point", Dialect::Ros2, &both).unwrap().unwrap();
        assert_eq!(schema.root().name.original, "geometry_msgs/msg/Point");
        assert!(read_type("geometry_msgs/msg/Pose", Dialect::Ros2, &both).unwrap().is_none());
        write(at, "prefix/share/geometry_msgs/srv/Move.srv", "Point to\n---\nbool done\n");
        let schema = read_type("geometry_msgs/srv/Move_Request", Dialect::Ros2, &both);
        assert_eq!(schema.unwrap().unwrap().root().name.original, "geometry_msgs/srv/Move_Request");
    }

    #[test]
    fn a_package_may_have_folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        write(at, "own/msg/a/Point.msg", "float32 x\n");
        let cloud = write(at, "own/msg/b/Cloud.msg", "own/Point[] points\nPoint other\n");
        let schema = read_file(&cloud, None, &[]).unwrap();
        assert_eq!(schema.root().name.original, "own/msg/Cloud");
        assert_eq!(schema.types.len(), 2);
        // From another package, beside it and by a folder that is given.
        let user = write(at, "user/msg/c/User.msg", "own/Point p\nown/Cloud c\n");
        assert_eq!(read_file(&user, None, &[]).unwrap().types.len(), 3);
        let far = write(at, "far/x/msg/Far.msg", "own/Cloud c\n");
        for given in ["", "own"] {
            let schema = read_file(&far, None, &[at.join(given)]).unwrap();
            assert_eq!(schema.types.len(), 3, "{given}");
        }
        let found = read_type("own/msg/Point", Dialect::Ros2, &[at.to_owned()]).unwrap();
        assert_eq!(found.unwrap().root().name.original, "own/msg/Point");
        // Two files for one type: which one is meant?
        write(at, "own/msg/Point.msg", "float64 x\n");
        let error = format!("{:#}", read_file(&cloud, None, &[]).unwrap_err());
        for words in
            ["Cloud.msg:1: ", "msg/Point.msg and ", "msg/a/Point.msg have the same type name"]
        {
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_files_own_dialect_goes_before_that_of_what_it_finds() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        write(at, "geometry_msgs/msg/Point.msg", "float64 x 1.5\n");
        let own = write(at, "own/msg/A.msg", "geometry_msgs/Point p\ntime t\n");
        let error = format!("{:#}", read_file(&own, None, &[]).unwrap_err());
        for words in
            ["own/msg/A.msg:2 is from ROS 1", "geometry_msgs/msg/Point.msg:1 is from ROS 2"]
        {
            assert!(error.contains(words), "{error}");
        }
        // What says nothing itself is what it uses.
        let own = write(at, "own/msg/B.msg", "geometry_msgs/Point p\n");
        assert_eq!(read_file(&own, None, &[]).unwrap().root().name.original, "own/msg/B");
        let error = read_file_as(Some(Dialect::Ros1), &own, None, &[]).unwrap_err().to_string();
        assert!(error.contains("Point.msg:1 is from ROS 2, but must be read as ROS 1"), "{error}");
        let own = write(at, "own/msg/C.msg", "byte LEAST=-128\nint32 x\n");
        assert_eq!(read_file(&own, None, &[]).unwrap().root().name.original, "own/C");
    }

    #[test]
    fn constants_and_defaults_are_of_their_types() {
        let out = "uint8 A=256|uint8 A=-1|int8 A=128|int8 A=-129|uint16 A=65536|int16 A=32768|\
                   uint32 A=4294967296|uint32 A=-1|int32 A=2147483648|uint64 A=-1|\
                   uint64 A=18446744073709551616|int64 A=9223372036854775808|int32 A=1.5|\
                   int32 A=x|int32 A=|char A=256|char A=-1|byte A=256|bool A=2|bool A=yes|\
                   float32 A=x|float64 A=1,5";
        for line in out.split('|') {
            for text in [line.to_owned(), line.replace("A=", "a ")] {
                if text == "int32 a " {
                    continue;
                }
                let error = format!("{:#}", ros2(&format!("int32 x\n{text}")).unwrap_err());
                assert!(error.contains("test.msg:2: the "), "{text}: {error}");
            }
        }
        for line in ["byte A=128", "byte A=-129", "uint8 A=256", "char A=-1", "bool A=yes"] {
            let error = read_text(line, "p/R", Dialect::Ros1, "t.msg").unwrap_err();
            assert!(format!("{error:#}").contains("t.msg:1: the constant A"), "{error:#}");
        }
        let error = format!("{:#}", ros2("uint8[] x [1, 256]").unwrap_err());
        assert!(error.contains("test.msg:1: the default of x"), "{error}");
        ros2("uint8 A=255\nint8 B=-128\nbool C=True\nbool D=0\nfloat32 E=-inf\nint64 F=0x7f")
            .unwrap();
        read_text("byte A=-128\nchar B=255\nint32 x", "p/R", Dialect::Ros1, "t").unwrap();
    }

    #[test]
    fn names_are_whole_or_refused() {
        for (text, wanted) in [
            ("uint8 _x", "the name '_x' does not begin with a letter"),
            ("uint8 _X=1", "the name '_X' does not begin with a letter"),
            ("uint8 3d", "the name '3d' does not begin"),
            (
                "string gr\u{f6}\u{df}e",
                "the name 'gr\u{f6}\u{df}e' has characters other than letters",
            ),
            ("string x[3]", "write a length after the type"),
            ("_Point p", "'_Point' is not a type; the name of a type begins with a letter"),
            ("uint8 =1", "the name after the type is missing"),
        ] {
            for dialect in [Dialect::Ros1, Dialect::Ros2] {
                let error = read_text(text, "p/R", dialect, "t.msg").unwrap_err();
                assert!(format!("{error:#}").contains(wanted), "{text}: {error:#}");
            }
        }
    }

    #[test]
    fn a_line_does_not_end_in_cr_alone() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["uint8 x\ruint8 y\r", "# a\ruint8 x\nuint8 y\n", "string x\rstring y"] {
            let error = format!("{:#}", ros2(text).unwrap_err());
            assert!(error.contains("test.msg:1: the line ends with CR only"), "{error}");
            let file = write(folder.path(), "Cr.msg", text);
            let error = format!("{:#}", read_file(&file, None, &[]).unwrap_err());
            assert!(error.contains("Cr.msg:1: the line ends with CR only"), "{error}");
        }
        let file = write(folder.path(), "Crlf.msg", "uint8 x\r\nuint8 y\r\r\n");
        assert_eq!(read_file(&file, None, &[]).unwrap().root().fields.len(), 2);
        assert_eq!(ros2("uint8 x\r\nuint8 y\r").unwrap().root().fields.len(), 2);
    }

    #[test]
    fn a_namesake_in_another_package_is_another_type() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let point = write(at, "own/msg/Point.msg", "geometry_msgs/Point point\nfloat32 weight\n");
        let error = format!("{:#}", read_file(&point, None, &[]).unwrap_err());
        assert!(error.contains("put geometry_msgs/Point.msg beside it"), "{error}");
        write(at, "geometry_msgs/msg/Point.msg", "float64 x\n");
        let schema = read_file(&point, None, &[]).unwrap();
        assert_eq!(schema.types.len(), 2);
        let both = format!("{0}\nMSG: a/P\nint8 x\n{0}\nMSG: b/P\nint16 x\n", "=".repeat(80));
        let two = write(at, "two.msg", &both);
        let error = format!("{:#}", read_file(&two, Some("P"), &[]).unwrap_err());
        assert!(error.contains("P in several packages; choose one among a/P, b/P"), "{error}");
        assert_eq!(read_file(&two, Some("b/P"), &[]).unwrap().root().name.original, "b/msg/P");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_both_ways() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        write(at, "far/a/msg/A.msg", "b/B b\n");
        write(at, "ws/b/msg/B.msg", "int8 x\n");
        // A package that is linked into a workspace finds its neighbours there.
        std::os::unix::fs::symlink("../far/a", at.join("ws/a")).unwrap();
        assert_eq!(read_file(&at.join("ws/a/msg/A.msg"), None, &[]).unwrap().types.len(), 2);
        // A file that is linked finds those of its source.
        write(at, "far/c/msg/C.msg", "a/A2 a\n");
        write(at, "far/a/msg/A2.msg", "int8 x\n");
        fs::create_dir_all(at.join("ws/c/msg")).unwrap();
        std::os::unix::fs::symlink("../../../far/c/msg/C.msg", at.join("ws/c/msg/C.msg")).unwrap();
        assert_eq!(read_file(&at.join("ws/c/msg/C.msg"), None, &[]).unwrap().types.len(), 2);
    }

    #[test]
    fn a_service_is_no_message() {
        let error = format!("{:#}", ros2("int32 a\n---\nint32 b").unwrap_err());
        assert!(
            error.contains("test.msg:2") && error.contains("a service or an action"),
            "{error}"
        );
    }

    #[test]
    fn a_recursive_message_loads() {
        let schema = ros2("Root[] children\nint32 a").unwrap();
        assert!(schema.is_recursive(schema.root));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(
            lines in prop::collection::vec(
                "[a-z0-9<=\\[\\]/ \
                 .\"'#\t-]{0,20}|(int8|string|wstring|R|time)(<=4)?(\\[[0-9]?\\])? x \
                 ?.{0,5}|={80}|MSG: p/[A-C]",
                0..8,
            ),
        ) {
            let _ = ros2(&lines.join("\n"));
            let _ = read_text(&lines.join("\n"), "R", Dialect::Ros1, "test");
        }
    }
}
