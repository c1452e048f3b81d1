//! A whole conversation with a runner, which may end in it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// Gives requests with their payloads to a program until it ends: its exit code, and the
/// replies with their first words.
pub fn converse(
    program: &Path,
    requests: &[(&str, &[u8])],
) -> (Option<i32>, Vec<(String, Vec<u8>)>) {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the runner starts");
    let mut input = child.stdin.take().expect("piped");
    let mut text = Vec::new();
    for (word, payload) in requests {
        text.extend(format!("{word} {}\n", payload.len()).into_bytes());
        text.extend(*payload);
    }
    // It may end before it has read all.
    let writer = thread::spawn(move || input.write_all(&text));
    let output = child.wait_with_output().expect("it ends");
    let _ = writer.join().expect("no panic");
    let mut rest = &output.stdout[..];
    let mut replies = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let (word, size) = head.split_once(' ').expect("a reply");
        let size: usize = size.parse().expect("a size");
        replies.push((word.to_owned(), rest[end + 1..][..size].to_vec()));
        rest = &rest[end + 1 + size..];
    }
    (output.status.code(), replies)
}
