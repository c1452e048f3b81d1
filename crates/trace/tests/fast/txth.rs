//! Traces as text are read where they tell for certain where a message ends.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::traces::{describe, descriptors, view, OSI};
use crate::common::{error, recording};
use wiregauge_system::file::Target;
use wiregauge_trace::copy::{copy, CopySource};
use wiregauge_trace::open::{open, open_with, OpenHints};
use wiregauge_trace::read::Reader;
use wiregauge_trace::select::Selection;
use wiregauge_trace::write::{ChunkOptions, OutputFormat};

fn definitions() -> anyhow::Result<Vec<u8>> {
    Ok(descriptors())
}

fn text(path: &Path) -> Box<dyn Reader> {
    open_with(path, &OpenHints::default(), &definitions).unwrap()
}

fn write(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("made_sv.txth");
    fs::write(&path, text).unwrap();
    path
}

/// What is read, or what is wrong.
fn read(path: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut reader = open_with(path, &OpenHints::default(), &definitions)?;
    let mut found = Vec::new();
    while let Some(head) = reader.next()? {
        let data = reader.data()?.to_vec();
        assert_eq!(head.size, data.len() as u64);
        found.push(data);
    }
    Ok(found)
}

#[test]
fn what_was_written_as_text_is_the_same_message_again() {
    let folder = tempfile::tempdir().unwrap();
    let messages: Vec<Vec<u8>> = [0, 100, 200].map(view).to_vec();
    let bytes = messages
        .iter()
        .flat_map(|message| [&(message.len() as u32).to_le_bytes(), message.as_slice()].concat());
    let osi = folder.path().join("made_sv.osi");
    fs::write(&osi, bytes.collect::<Vec<u8>>()).unwrap();
    let there = folder.path().join("there_sv.txth");
    let all = Selection::default();
    let convert = |mut reader: Box<dyn Reader>, to: &Path| {
        let mut sources = [CopySource::new("in", reader.as_mut(), &all).unwrap()];
        let draft = Target::open(to, &[]).unwrap().start_draft().unwrap();
        let mut writer =
            OutputFormat::from_path(to).unwrap().begin(draft, ChunkOptions::default()).unwrap();
        let mut described = |_: usize, channel: &_| Ok(describe(channel));
        copy(&mut sources, writer.as_mut(), &mut described, &mut |_, _| {}).unwrap();
        writer.finish().unwrap();
    };
    convert(open(&osi, &OpenHints::default()).unwrap(), &there);
    assert_eq!(read(&there).unwrap(), messages);
    let back = folder.path().join("back_sv.osi");
    convert(text(&there), &back);
    assert_eq!(fs::read(&osi).unwrap(), fs::read(&back).unwrap());
    let mcap = folder.path().join("back.mcap");
    convert(text(&there), &mcap);
    assert_eq!(crate::common::traces::all_of(&mcap).len(), 3);
    let mut reader = text(&there);
    let head = reader.next().unwrap().unwrap();
    assert_eq!((head.time, head.place.at), (Some(0), 0));
    assert!(reader.next().unwrap().unwrap().place.at > 0);
}

#[test]
fn a_message_ends_where_the_first_field_comes_again() {
    let folder = tempfile::tempdir().unwrap();
    let one = "version { major: 3 } timestamp { seconds: 1 }";
    let count = |text: &str| read(&write(folder.path(), text)).map(|found| found.len());
    for (text, wanted) in [
        (one.to_owned(), 1),
        (format!("{one}\n{one}{one}"), 3),
        (format!("# version {{\n{one} # {{ \"\n{one}\n"), 2),
        // One of them has fewer fields.
        (format!("{one} version {{ }} {one}"), 3),
        ("timestamp <seconds: 2> timestamp: {seconds: 3}".into(), 2),
        (String::new(), 0),
        ("  # nothing\n".into(), 0),
    ] {
        assert_eq!(count(&text).unwrap(), wanted, "{text}");
    }
    for (text, words) in [
        (format!("{one} timestamp {{ seconds: 2 }}"), "byte 46: timestamp is repeated but version"),
        (format!("{one} nix: 1"), "byte 46: SensorView has no field nix"),
        ("version { major: 3".into(), "it ends within a message"),
        (format!("{one} }}"), "byte 46: a bracket is closed that was not opened"),
        ("$$__$$".into(), "byte 0: this is not text of Protobuf"),
        ("version { major: x }".into(), "the message at byte 0"),
        ("version { nix: 1 }".into(), "the message at byte 0"),
    ] {
        let error = error(count(&text));
        assert!(error.contains(words), "{error}, not {words}");
    }
    let path = write(folder.path(), one);
    let refused = error(open(&path, &OpenHints::default()));
    assert!(refused.contains("wiregauge trace convert"), "{refused}");
    let nameless = folder.path().join("made.txth");
    fs::rename(&path, &nameless).unwrap();
    assert!(error(read(&nameless)).contains("has no type of messages"));
    let wish = OpenHints { osi_type: Some("sv".into()) };
    assert!(open_with(&nameless, &wish, &definitions).unwrap().next().unwrap().is_some());
    // Any other file is opened as ever.
    assert!(open_with(&recording(OSI), &wish, &definitions).is_ok());
}
