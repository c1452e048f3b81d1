//! A recording in a folder: the files that it was split into, one after another.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use wiregauge_schema::file;

use crate::channel::Channel;
use crate::read::{self, About, Attachment, Head, Loss, Metadata, Nanoseconds};

/// The files of a recording: itself, or those that the description in its folder names, as
/// ROS 2 writes it. A recorder that was killed wrote none: then they are those that are there.
///
/// # Errors
/// When the folder is none of a recording.
pub fn parts(path: &Path) -> Result<Vec<PathBuf>> {
    let origin = path.display();
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let description = path.join("metadata.yaml");
    if !description.exists() {
        let parts = there(path)?;
        ensure!(
            !parts.is_empty(),
            "{origin} is a folder without metadata.yaml and without the numbered files of a ROS 2 \
             bag; give a file in it"
        );
        return Ok(parts);
    }
    let text = file::text(&description)?;
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| line.starts_with("relative_file_paths:"));
    let names = lines.map_while(|line| line.strip_prefix("- "));
    let names = names.map(|name| name.trim().trim_matches(['"', '\'']));
    // Old bags name the folder too.
    let part = |name: &str| match Path::new(name).file_name() {
        Some(name) => path.join(name),
        None => path.join(name),
    };
    let parts: Vec<PathBuf> = names.map(part).collect();
    ensure!(!parts.is_empty(), "{}: names no files; give a file of the bag", description.display());
    Ok(parts)
}

/// The files of a bag that are in a folder, in the order of the numbers in their names.
fn there(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.extension().is_some_and(|end| end == "mcap" || end == "db3") {
            found.push(path);
        }
    }
    // A recorder numbers its files: bag_0.mcap, bag_1.mcap. Others are no parts of a bag.
    let number = |path: &PathBuf| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        let (name, number) = stem.rsplit_once('_')?;
        Some((name.to_owned(), number.parse::<u64>().ok()?, path.extension()?.to_owned()))
    };
    let numbers: Option<Vec<_>> = found.iter().map(number).collect();
    let is_one = numbers
        .is_some_and(|all| all.iter().all(|(name, _, end)| *name == all[0].0 && *end == all[0].2));
    if !is_one {
        return Ok(Vec::new());
    }
    found.sort_by_key(|path| number(path).map(|(_, number, _)| number));
    Ok(found)
}

/// What opens a file of the recording.
pub type Opener = Box<dyn Fn(&Path) -> Result<Box<dyn read::Reader>>>;

/// A recording that is read: one of its files at a time.
pub struct Reader {
    open: Opener,
    left: VecDeque<PathBuf>,
    part: Box<dyn read::Reader>,
    path: PathBuf,
    /// The number that each channel of the current file has here.
    numbers: BTreeMap<u16, u16>,
    channels: BTreeMap<u16, Channel>,
    metadata: Vec<Metadata>,
    attachments: Vec<Attachment>,
    /// What was said of files that are done.
    remarks: Vec<String>,
    losses: Vec<Loss>,
    verifies: bool,
    salvages: bool,
    window: (Option<Nanoseconds>, Option<Nanoseconds>),
    /// Bytes of the files that are done, and of all.
    done: u64,
    total: u64,
}

impl Reader {
    /// Opens the files of a folder.
    ///
    /// # Errors
    /// When there are none, or the first one cannot be read.
    pub fn open(folder: &Path, open: Opener) -> Result<Reader> {
        let parts = parts(folder)?;
        let mut total = 0;
        for part in &parts {
            total += file::open(part)?.metadata().map(|about| about.len()).unwrap_or(0);
        }
        let mut remarks = Vec::new();
        if !folder.join("metadata.yaml").exists() {
            remarks.push(format!(
                "{} has no metadata.yaml, as a recorder that was killed leaves it: its files are \
                 read in the order of their numbers",
                folder.display()
            ));
        }
        let mut left = VecDeque::from(parts);
        let path = left.pop_front().context("a recording has files")?;
        let mut reader = Reader {
            part: open(&path)?,
            open,
            left,
            path,
            numbers: BTreeMap::new(),
            channels: BTreeMap::new(),
            metadata: Vec::new(),
            attachments: Vec::new(),
            remarks,
            losses: Vec::new(),
            verifies: false,
            salvages: false,
            window: (None, None),
            done: 0,
            total,
        };
        reader.take()?;
        Ok(reader)
    }

    /// Takes the channels of the current file that are not known yet.
    fn take(&mut self) -> Result<()> {
        if self.numbers.len() == self.part.channels().len() {
            return Ok(());
        }
        for (id, channel) in self.part.channels() {
            if self.numbers.contains_key(id) {
                continue;
            }
            let known = self.channels.iter().find(|(_, known)| *known == channel);
            let number = match known {
                Some((number, _)) => *number,
                None => {
                    let number = u16::try_from(self.channels.len());
                    let number = number.context("more than 65536 channels")?;
                    self.channels.insert(number, channel.clone());
                    number
                }
            };
            self.numbers.insert(*id, number);
        }
        Ok(())
    }

    /// Takes what else the current file holds, and what is to be told of it.
    fn close(&mut self) {
        self.metadata.extend_from_slice(self.part.metadata());
        self.attachments.extend_from_slice(self.part.attachments());
        self.remarks.extend(self.part.remarks());
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.losses.extend(
            self.part
                .losses()
                .iter()
                .map(|loss| Loss { at: loss.at, what: format!("of {name}: {}", loss.what) }),
        );
        self.done += self.part.progress().1;
    }
}

impl read::Reader for Reader {
    fn channels(&self) -> &BTreeMap<u16, Channel> {
        &self.channels
    }

    fn next(&mut self) -> Result<Option<Head>> {
        loop {
            let head = self.part.next()?;
            self.take()?;
            if let Some(head) = head {
                return Ok(Some(Head { channel: self.numbers[&head.channel], ..head }));
            }
            let Some(next) = self.left.pop_front() else {
                if !self.path.as_os_str().is_empty() {
                    self.close();
                    self.path.clear();
                }
                return Ok(None);
            };
            self.close();
            self.part = (self.open)(&next)?;
            self.path = next;
            if self.verifies {
                self.part.verify();
            }
            if self.salvages {
                self.part.salvage();
            }
            let (from, to) = self.window;
            if from.is_some() || to.is_some() {
                self.part.narrow(from, to);
            }
            self.numbers.clear();
            self.take()?;
        }
    }

    fn front(&mut self, most: usize) -> Result<&[u8]> {
        self.part.front(most)
    }

    fn data(&mut self) -> Result<&[u8]> {
        self.part.data()
    }

    fn narrow(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        self.window = (from, to);
        self.part.narrow(from, to);
    }

    fn choose(&mut self, wanted: &dyn Fn(&Channel) -> bool) {
        self.part.choose(wanted);
    }

    fn metadata(&self) -> &[Metadata] {
        &self.metadata
    }

    fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    fn verify(&mut self) {
        self.verifies = true;
        self.part.verify();
    }

    fn about(&self) -> About {
        self.part.about()
    }

    fn salvage(&mut self) {
        self.salvages = true;
        self.part.salvage();
    }

    fn losses(&self) -> &[Loss] {
        &self.losses
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.remarks.clone();
        // Those of a file that is done are there.
        if !self.path.as_os_str().is_empty() {
            remarks.extend(self.part.remarks());
        }
        remarks
    }

    fn progress(&self) -> (u64, u64) {
        let here = if self.path.as_os_str().is_empty() { 0 } else { self.part.progress().0 };
        (self.done + here, self.total)
    }
}
