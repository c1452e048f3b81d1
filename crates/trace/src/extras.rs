//! What recordings hold beside their messages.

use std::collections::BTreeMap;
use std::io::Read;

use anyhow::Result;

use crate::read::{Attachment, FileHeader, Metadata, Nanoseconds, Reader};

/// How many bytes are compared at once.
const PIECE: usize = 1 << 16;

/// What a file holds beside its messages and channels.
pub struct FileExtras {
    /// What it says of itself.
    pub about: FileHeader,
    /// What is said of it.
    pub metadata: Vec<Metadata>,
    /// The files in it.
    pub attachments: Vec<Attachment>,
}

impl FileExtras {
    /// All of it. Messages are hopped over.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn read(reader: &mut dyn Reader) -> Result<FileExtras> {
        skip_to_end(reader)?;
        Ok(FileExtras {
            about: reader.file_header(),
            metadata: reader.metadata().to_vec(),
            attachments: reader.attachments().to_vec(),
        })
    }
}

/// Reads to the end of a file, over messages, of which none is wanted any more.
///
/// # Errors
/// When the file is damaged.
pub fn skip_to_end(reader: &mut dyn Reader) -> Result<()> {
    reader.limit_times(Some(Nanoseconds::MAX), Some(Nanoseconds::MIN));
    while reader.next()?.is_some() {}
    Ok(())
}

/// What several files say of themselves together: the profile of all of them, which is none
/// where they have different ones, and each library once. And the profiles that get lost.
pub(crate) fn merge_headers(all: &[FileHeader]) -> (FileHeader, Vec<String>) {
    let mut libraries: Vec<&str> = Vec::new();
    for library in all.iter().map(|about| about.library.as_str()) {
        if !library.is_empty() && !libraries.contains(&library) {
            libraries.push(library);
        }
    }
    let mut profiles: Vec<&str> = all.iter().map(|about| about.profile.as_str()).collect();
    profiles.sort_unstable();
    profiles.dedup();
    let library = libraries.join("; ");
    match profiles[..] {
        [one] => (FileHeader { profile: one.to_owned(), library }, Vec::new()),
        _ => {
            let named = profiles.iter().filter(|profile| !profile.is_empty());
            let lost =
                named.map(|profile| format!("profile {profile}, which some inputs do not have"));
            (FileHeader { profile: String::new(), library }, lost.collect())
        }
    }
}

/// What was taken of several files. What is equal in two of them, as in the parts of one that
/// was split, is taken once; what one file has twice is taken twice.
#[derive(Default)]
pub(crate) struct UniqueExtras {
    metadata: BTreeMap<(String, BTreeMap<String, String>), u64>,
    /// By name, media type, times and size.
    attachments: BTreeMap<AttachmentKey, Vec<TakenAttachment>>,
}

type AttachmentKey = (String, String, (u64, u64), u64);

/// An attachment, how often it was taken, and how often this file has it.
struct TakenAttachment {
    attachment: Attachment,
    taken: u64,
    here: u64,
}

impl UniqueExtras {
    /// The metadata of the next file that were not taken yet.
    pub fn metadata<'m>(&mut self, own: &'m [Metadata]) -> Vec<&'m Metadata> {
        let mut here = BTreeMap::new();
        let is_new = |one: &&Metadata| {
            let key = (one.name.clone(), one.entries.clone());
            let count: &mut u64 = here.entry(key.clone()).or_default();
            *count += 1;
            let taken = self.metadata.entry(key).or_default();
            let is_new = *count > *taken;
            *taken = (*taken).max(*count);
            is_new
        };
        own.iter().filter(is_new).collect()
    }

    /// The attachments of the next file that were not taken yet.
    pub fn attachments<'a>(&mut self, own: &'a [Attachment]) -> Result<Vec<&'a Attachment>> {
        self.attachments.values_mut().flatten().for_each(|held| held.here = 0);
        let mut new = Vec::new();
        for one in own {
            let kind = (one.name.clone(), one.media_type.clone(), one.times, one.size());
            let alike = self.attachments.entry(kind).or_default();
            let mut same = None;
            for held in alike.iter_mut() {
                if is_same(held.attachment.content(), one.content())? {
                    same = Some(held);
                    break;
                }
            }
            let is_new = match same {
                Some(held) => {
                    held.here += 1;
                    let is_new = held.here > held.taken;
                    held.taken = held.taken.max(held.here);
                    is_new
                }
                None => {
                    alike.push(TakenAttachment { attachment: one.clone(), taken: 1, here: 1 });
                    true
                }
            };
            if is_new {
                new.push(one);
            }
        }
        Ok(new)
    }
}

/// Whether two files of one length are the same.
fn is_same(mut one: impl Read, mut other: impl Read) -> Result<bool> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        (&mut one).take(PIECE as u64).read_to_end(&mut left)?;
        (&mut other).take(PIECE as u64).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}
