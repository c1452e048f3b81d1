//! Parts of a trace of OSI that are read apart: by its index, or by the lengths of its
//! messages.

use std::path::Path;

use anyhow::Result;

use super::index::OsiIndex;
use super::reader::Reader;
use crate::file_range::FileRange;
use crate::input_splits::{FileSplits, InputSplit, SplitBuilder};
use crate::read::{Nanoseconds, Reader as _};
use crate::select::Selection;

/// The parts of a file with about so many bytes each.
pub fn find_splits(
    path: &Path,
    osi_type: Option<&str>,
    selection: &Selection,
    most: u64,
) -> Result<FileSplits> {
    let mut reader = Reader::open(path, osi_type)?;
    let file = FileRange::open(path)?;
    let channels = reader.channels().values();
    let channels = channels.filter(|channel| selection.includes_topic(&channel.topic));
    let channels = Some(channels.cloned().collect::<Vec<_>>());
    if channels.as_ref().is_some_and(Vec::is_empty) {
        return Ok(FileSplits { splits: Vec::new(), channels, remark: "" });
    }
    if !reader.is_plain() {
        let remark = "it is compressed as a whole and is one split";
        return Ok(FileSplits { channels, ..FileSplits::unsplit(file.end(), remark) });
    }
    let is_narrow = selection.from.is_some() || selection.to.is_some();
    if let Some(index) = reader.index().filter(|index| index.rises || !is_narrow) {
        let splits = find_by_index(&index, &file, selection, most)?;
        return Ok(FileSplits { splits, channels, remark: "" });
    }
    let (mut parts, mut bytes) = (SplitBuilder::new(most), 0);
    let is_whole = loop {
        match reader.next() {
            Ok(None) => break true,
            Ok(Some(head)) => {
                bytes += head.size;
                let is_in = |time: Nanoseconds| {
                    selection.from.is_none_or(|from| time >= from)
                        && selection.to.is_none_or(|to| time <= to)
                };
                let is_selected = !is_narrow || head.time.is_some_and(is_in);
                parts.add(head.place.at, 1, u64::from(is_selected), 4 + head.size);
            }
            // Who reads it finds the same.
            Err(_) => break false,
        }
    };
    let mut splits = parts.finish();
    if !is_whole {
        if splits.is_empty() {
            splits = FileSplits::unsplit(file.end(), "").splits;
        }
        if let Some(last) = splits.last_mut() {
            last.messages = None;
        }
    }
    let remark = match bytes > most {
        true => "its lengths were read one by one; 'wiregauge trace index' saves that",
        false => "",
    };
    Ok(FileSplits { splits, channels, remark })
}

/// The parts by an index: where the next one begins is searched for.
fn find_by_index(
    index: &OsiIndex,
    file: &FileRange,
    selection: &Selection,
    most: u64,
) -> Result<Vec<InputSplit>> {
    let position = |number: u64| match number < index.count {
        true => index.entry(number).map(|entry| entry.at),
        false => Ok(file.end()),
    };
    let (from, to) = (selection.from, selection.to);
    let start = from.map_or(Ok(0), |from| index.first(|time| time >= from))?;
    let end = to.map_or(Ok(index.count), |to| index.first(|time| time > to))?;
    let (mut splits, mut number) = (Vec::new(), start);
    while number < end {
        let at = position(number)?;
        // At least one message, and as many as fit.
        let (mut least, mut over) = (number + 1, end + 1);
        while least + 1 < over {
            let middle = least + (over - least) / 2;
            match position(middle)? - at <= most {
                true => least = middle,
                false => over = middle,
            }
        }
        let (first, messages) = (Some(number), Some(least - number));
        let size = position(least)? - at;
        splits.push(InputSplit { from: at, to: position(least)?, first, messages, size });
        number = least;
    }
    if let Some(last) = splits.last_mut() {
        last.to = u64::MAX;
    }
    Ok(splits)
}
