//! What `wiregauge trace` leaves where it cannot finish: nothing.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::traces::OSI;
use crate::support::{recording, refuses, run, wiregauge};

#[test]
fn a_full_disk_and_an_interruption_leave_no_half_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::os::unix::fs::symlink("/dev/full", at.join("full.mcap")).unwrap();
    refuses(
        at,
        &["trace", "convert", &recording("osi/zstd.mcap"), "-o", "full.mcap"],
        &["No space left"],
    );
    // Large enough to be interrupted in: a sparse message a hundred times.
    let path = at.join("large_sv.osi");
    let file = fs::File::create(&path).unwrap();
    let size = (256u64 << 20).to_le_bytes();
    for n in 0..40 {
        let at = n * ((256 << 20) + 4);
        std::os::unix::fs::FileExt::write_all_at(&file, &size[..4], at).unwrap();
    }
    file.set_len(40 * ((256 << 20) + 4)).unwrap();
    let mut child = wiregauge()
        .args(["trace", "cut", "large_sv.osi", "-o", "out_sv.osi"])
        .current_dir(at)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let names = |at: &Path| fs::read_dir(at).unwrap().count();
    while names(at) < 3 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    crate::support::send_signal("-INT", child.id() as i32);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!at.join("out_sv.osi").exists());
    assert_eq!(names(at), 2, "and nothing beside it");
}

#[test]
fn what_is_left_of_a_run_that_was_killed_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let (at, osi) = (folder.path(), recording(OSI));
    // A pipe that nobody writes to, so that it waits with its output begun.
    let mut child = wiregauge()
        .args(["trace", "record", "-o", "heard.mcap", "--over", "tcp"])
        .current_dir(at)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let parts = || {
        let all = fs::read_dir(at).unwrap().map(|one| one.unwrap().file_name());
        let all = all.map(|name| name.into_string().unwrap());
        all.filter(|name| name.ends_with(".part")).collect::<Vec<_>>()
    };
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut said, &mut String::new()).unwrap();
    let name = format!(".heard.mcap.wiregauge-{}-", child.id());
    assert!(parts().len() == 1 && parts()[0].starts_with(&name), "{:?}", parts());
    std::thread::sleep(Duration::from_millis(1_100));
    // One that is being written stays.
    run(at, &["trace", "convert", &osi, "-o", "heard.mcap"]).expect_code(0);
    assert_eq!(parts().len(), 1);
    crate::support::send_signal("-KILL", child.id() as i32);
    child.wait().unwrap();
    assert_eq!(parts().len(), 1);
    run(at, &["trace", "convert", &osi, "-o", "other.mcap"]).expect_code(0);
    assert_eq!(parts().len(), 1, "that of another file stays");
    run(at, &["trace", "convert", &osi, "-o", "heard.mcap"]).expect_code(0);
    assert_eq!(parts(), Vec::<String>::new());
}

#[test]
fn parts_that_cannot_all_be_written_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // Five small messages, and one that is larger than a file may be.
    let small = fs::read(recording(OSI)).unwrap();
    let length = u32::from_le_bytes(small[..4].try_into().unwrap()) as usize;
    let field = [&[0x82, 0x7d, 0x80, 0x80, 0x10][..], &vec![7; 1 << 18]].concat();
    let large = [&small[4..4 + length], &field].concat();
    let bytes = [&small[..], &(large.len() as u32).to_le_bytes(), &large].concat();
    fs::write(at.join("drive_sv.osi"), bytes).unwrap();
    let split = ["trace", "split", "drive_sv.osi", "-o", "new/parts", "--by-size", "200kB"];
    let limited = |arguments: &[&str]| {
        let limit = "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"";
        let mut shell = crate::support::wiregauge_in("sh");
        shell.args(["-c", limit, env!("CARGO_BIN_EXE_wiregauge")]).args(arguments);
        crate::support::to_said(shell.current_dir(at).output().unwrap())
    };
    let full = limited(&split);
    full.expect_code(2);
    assert!(full.err.contains("cannot write new/parts/drive_sv_001.osi"), "{}", full.err);
    assert_eq!(full.err.trim_end().lines().count(), 1, "{}", full.err);
    assert!(!at.join("new").exists(), "and no folder");
    fs::create_dir(at.join("there")).unwrap();
    assert_eq!(limited(&[&split[..4], &["there"], &split[5..]].concat()).code, Some(2));
    assert_eq!(fs::read_dir(at.join("there")).unwrap().count(), 0);
    let bad = ["trace", "split", "drive_sv.osi", "-o", "new", "--by-channel", "--channel", "x"];
    refuses(at, &bad, &["has no channel x"]);
    assert!(!at.join("new").exists());
    run(at, &split).expect_code(0);
    assert_eq!(fs::read_dir(at.join("new/parts")).unwrap().count(), 2);
}
