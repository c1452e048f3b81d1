//! Holders in Java: compiled with all that the compiler and Javadoc's checks warn of, and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{compiled, succeeds};

/// The sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut sources: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "java")).collect();
    sources.sort();
    sources
}

/// The compiler, which warns of all it knows. It ends before its best machine code would
/// pay off.
fn javac() -> Command {
    let mut javac = Command::new("javac");
    javac.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
    javac.args(["--release", "17", "-Xlint:all", "-Werror"]);
    javac
}

/// Compiles all packages in a folder, without their documentation.
pub fn compile_bare(folder: &Path) {
    let packages = fs::read_dir(folder).expect("a folder");
    let packages = packages.map(|entry| entry.expect("an entry").path());
    let packages: Vec<PathBuf> = packages.filter(|path| path.is_dir()).collect();
    let own: Vec<PathBuf> = packages.iter().flat_map(|package| sources(package)).collect();
    let mut javac = javac();
    javac.args(["-proc:none", "-Xmaxerrs", "1000"]);
    javac.args(["-encoding", "US-ASCII", "-d"]).arg(folder.join("classes")).args(own);
    compiled::compile(&mut javac, folder, &[]);
}

/// Compiles what is generated, with these sources that use it.
pub fn compile(holders: &Path, name: &str, users: &[PathBuf]) -> PathBuf {
    let mut own = sources(&holders.join(name));
    own.extend(sources(&holders.join("wiregauge")));
    let (library, program) = (holders.join("library"), holders.join("program"));
    // They are ASCII, whatever a compiler takes them for. Their comments are checked as
    // Javadoc checks them, without the pages that it would write.
    let mut holder = javac();
    holder.args(["-Xdoclint:all/protected", "-encoding", "US-ASCII", "-d"]).arg(&library);
    compiled::compile(holder.args(own), holders, &[]);
    if users.is_empty() {
        return library;
    }
    let mut user = javac();
    user.args(["-encoding", "UTF-8", "-d"]).arg(&program).arg("-cp").arg(&library);
    let inputs: Vec<&Path> = users.iter().map(PathBuf::as_path).collect();
    compiled::compile(user.args(users), holders, &inputs);
    std::env::join_paths([library, program]).expect("paths").into()
}

/// A program of the tests.
fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/java/{name}.java"))
}

/// Compiles what is generated with a program, and says what that says.
pub fn run_program(holders: &Path, name: &str, main: &str) -> String {
    let classes = compile(holders, name, &[program(main)]);
    succeeds(Command::new("java").arg("-cp").arg(classes).arg(main))
}

/// Has a message of Protobuf read and write the cases in a file.
pub fn run_cases(holders: &Path, name: &str, kind: &str, bare: bool, cases: &Path) -> String {
    let types = holders.join("Types.java");
    // Whether CDR is the message too, where there are holders of it.
    let same = match bare {
        true => "return true;".into(),
        false => format!(
            "{name}.{kind} again = make();\nreturn java.util.Arrays.equals(\
             wiregauge.Wire.CDR.serialize(message).array(), cdr)\n&& \
             wiregauge.Wire.CDR.deserialize(java.nio.ByteBuffer.wrap(cdr), again).equals(message);"
        ),
    };
    let text = format!(
        "final class Types {{\nprivate Types() {{}}\n\
         static {name}.{kind} make() {{\nreturn new {name}.{kind}();\n}}\n\
         static boolean isSame({name}.{kind} message, byte[] cdr)\n\
         throws wiregauge.WireException {{\n{same}\n}}\n}}\n"
    );
    fs::write(&types, text).expect("written");
    let classes = compile(holders, name, &[program("Cases"), types]);
    succeeds(Command::new("java").arg("-cp").arg(classes).arg("Cases").arg(cases))
}

/// Has what is generated read and write the messages in a folder.
pub fn run(holders: &Path, name: &str, messages: &Path) -> String {
    let mut entries = String::new();
    for path in sources(&holders.join(name)) {
        let kind = path.file_stem().expect("a name").to_string_lossy();
        if fs::read_to_string(&path).expect("a source").contains("implements Sequential") {
            entries += &format!("TYPES.put({name}.{kind}.NAME, {name}.{kind}::new);\n");
        }
    }
    let text = format!(
        "import java.util.*; import java.util.function.Supplier; import wiregauge.Sequential;\n\
         final class Types {{\n\
         static final Map<String, Supplier<Sequential>> TYPES = new HashMap<>();\n\
         private Types() {{}}\nstatic {{\n{entries}}}\n}}\n"
    );
    let types = holders.join("Types.java");
    fs::write(&types, text).expect("written");
    let classes = compile(holders, name, &[program("Cross"), types]);
    succeeds(Command::new("java").arg("-cp").arg(classes).arg("Cross").arg(messages))
}
