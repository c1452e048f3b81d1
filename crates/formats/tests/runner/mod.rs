//! A runner under test.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A runner under test, spoken to as docs/runner-protocol.md says.
pub struct Runner {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Runner {
    /// One of a program.
    #[allow(dead_code, reason = "not all tests start runners so")]
    pub fn start(program: &Path) -> Runner {
        Runner::spawn(Command::new(program))
    }

    /// One of a program whose speed is not what is proven: Java does without its second
    /// compiler, which takes longer than what it is to make faster, and does not wait for the
    /// first one before it counts allocations.
    #[allow(dead_code, reason = "not all tests start runners so")]
    pub fn start_quickly(program: &Path) -> Runner {
        let machine = "-XX:+UseSerialGC";
        let quickly = "-XX:TieredStopAtLevel=1 -Dwiregauge.compiled=0";
        let script = fs::read_to_string(program).unwrap_or_default();
        let java = script.contains(machine).then(|| {
            let mut shell = Command::new("sh");
            let both = format!("{machine} {quickly}");
            shell.arg("-c").arg(script.replace(machine, &both)).arg(program);
            shell
        });
        Runner::spawn(java.unwrap_or_else(|| Command::new(program)))
    }

    fn spawn(mut command: Command) -> Runner {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the runner starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Runner { child, input, output }
    }

    /// The reply, or the codec's or the process's error.
    pub fn ask(&mut self, request: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let broken = |error: std::io::Error| format!("the runner died on '{request}': {error}");
        let line = match request {
            "message" | "decode" => format!("{request} {}\n", payload.len()),
            other => format!("{other}\n"),
        };
        self.input.write_all(line.as_bytes()).map_err(broken)?;
        self.input.write_all(payload).map_err(broken)?;
        self.input.flush().map_err(broken)?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(broken)?;
        let (word, size) =
            line.trim_end().split_once(' ').ok_or(format!("the runner died on '{request}'"))?;
        let mut reply = vec![0; size.parse().map_err(|_| format!("bad reply {line:?}"))?];
        self.output.read_exact(&mut reply).map_err(broken)?;
        match word {
            "ok" => Ok(reply),
            "rejected" => Err(format!("rejected: {}", String::from_utf8_lossy(&reply))),
            _ => Err(String::from_utf8_lossy(&reply).into_owned()),
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
