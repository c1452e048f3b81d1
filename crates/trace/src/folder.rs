//! A recording in a folder: the files that it was split into, one after another.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use wiregauge_schema::file;
use wiregauge_system::text::format_count;

use crate::channel::Channel;
use crate::read::{
    self, Attachment, FileHeader, Loss, MessageCounts, MessageInfo, Metadata, Nanoseconds,
};
use crate::shared_bytes::SharedBytes;

/// The files of a recording: itself, or those that the description in its folder names, as
/// ROS 2 writes it. A recorder that was killed wrote none: then they are those that are there.
///
/// # Errors
/// When the folder is none of a recording.
pub fn list_files(path: &Path) -> Result<Vec<PathBuf>> {
    let origin = path.display();
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let description = path.join("metadata.yaml");
    if !description.exists() {
        let parts = find_numbered_files(path)?;
        ensure!(
            !parts.is_empty(),
            "{origin} has neither metadata.yaml nor the numbered files of a ROS 2 bag; give a file \
             in it"
        );
        return Ok(parts);
    }
    let text = file::read_text(&description)?;
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| line.starts_with("relative_file_paths:"));
    let names = lines.map_while(|line| line.strip_prefix("- "));
    let names = names.map(|name| name.trim().trim_matches(['"', '\'']));
    // Old bags name the folder too.
    let part = |name: &str| match Path::new(name).file_name() {
        Some(name) => path.join(name),
        None => path.join(name),
    };
    let parts: Vec<PathBuf> = names.map(part).map(find_file).collect();
    ensure!(!parts.is_empty(), "{} names no files; give a file of the bag", description.display());
    Ok(parts)
}

/// How a recorder calls files that it packs as a whole, once they are done.
const COMPRESSED_EXTENSIONS: [&str; 4] = ["zstd", "zst", "gz", "xz"];

/// A file, or the one that was packed of it where that alone is there.
fn find_file(path: PathBuf) -> PathBuf {
    if path.exists() {
        return path;
    }
    let named = |end: &&str| {
        let mut name = path.clone().into_os_string();
        name.push(".");
        name.push(end);
        PathBuf::from(name)
    };
    COMPRESSED_EXTENSIONS.iter().map(named).find(|path| path.exists()).unwrap_or(path)
}

/// The number of messages in all that a description says.
fn parse_message_count(description: &str) -> Option<u64> {
    let counts = description.lines().filter_map(|line| {
        let (before, count) = line.split_once("message_count:")?;
        // That of a topic or file stands further in.
        Some((before.len(), count.trim().parse().ok()?)).filter(|_| before.trim().is_empty())
    });
    counts.min_by_key(|(depth, _)| *depth).map(|(_, count)| count)
}

/// The files of a bag that are in a folder, in the order of the numbers in their names.
fn find_numbered_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if strip_compression(&path).extension().is_some_and(|end| end == "mcap" || end == "db3") {
            found.push(path);
        }
    }
    // A recorder numbers its files: bag_0.mcap, bag_1.mcap. Others are no parts of a bag.
    let number = |path: &PathBuf| {
        let path = strip_compression(path);
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

/// A file's name without how it is packed.
fn strip_compression(path: &Path) -> PathBuf {
    match path
        .extension()
        .is_some_and(|end| COMPRESSED_EXTENSIONS.iter().any(|known| end == *known))
    {
        true => path.with_extension(""),
        false => path.to_owned(),
    }
}

/// What opens a file of the recording.
pub type Opener = Box<dyn Fn(&Path) -> Result<Box<dyn read::Reader>> + Send>;

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
    /// How many messages the description says, unless not all are read; and how many came.
    said: Option<u64>,
    count: u64,
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
        let parts = list_files(folder)?;
        let mut total = 0;
        for part in &parts {
            total += file::open(part)?.metadata().map(|about| about.len()).unwrap_or(0);
        }
        let mut remarks = Vec::new();
        if !folder.join("metadata.yaml").exists() {
            remarks.push(format!(
                "{} has no metadata.yaml, probably because the recorder was killed; its files are \
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
            said: None,
            count: 0,
            done: 0,
            total,
        };
        reader.add_channels()?;
        if let Ok(description) = file::read_text(&folder.join("metadata.yaml")) {
            reader.said = parse_message_count(&description);
        }
        Ok(reader)
    }

    /// Takes the channels of the current file that are not known yet.
    fn add_channels(&mut self) -> Result<()> {
        let (numbers, channels) = (&mut self.numbers, &mut self.channels);
        number_channels(self.part.channels(), numbers, channels)
    }

    /// Tells where the description says another number of messages.
    fn check_message_count(&mut self) {
        if let Some(said) = self.said.take().filter(|said| *said != self.count) {
            let (said, there) = (format_count(said, "message"), self.count);
            self.remarks.push(format!("its metadata.yaml declares {said}, but there are {there}"));
        }
    }

    /// Takes what else the current file holds, and what is to be told of it.
    fn finish_file(&mut self) {
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

/// Gives numbers here to the channels of a file that have none yet.
fn number_channels(
    own: &BTreeMap<u16, Channel>,
    numbers: &mut BTreeMap<u16, u16>,
    channels: &mut BTreeMap<u16, Channel>,
) -> Result<()> {
    if numbers.len() == own.len() {
        return Ok(());
    }
    for (id, channel) in own {
        if numbers.contains_key(id) {
            continue;
        }
        let known = channels.iter().find(|(_, known)| *known == channel);
        let number = match known {
            Some((number, _)) => *number,
            None => {
                let number = u16::try_from(channels.len());
                let number = number.context("more than 65536 channels")?;
                channels.insert(number, channel.clone());
                number
            }
        };
        numbers.insert(*id, number);
    }
    Ok(())
}

impl read::Reader for Reader {
    fn channels(&self) -> &BTreeMap<u16, Channel> {
        &self.channels
    }

    fn next(&mut self) -> Result<Option<MessageInfo>> {
        while !self.path.as_os_str().is_empty() {
            let head = self.part.next()?;
            self.add_channels()?;
            if let Some(head) = head {
                self.count += 1;
                return Ok(Some(MessageInfo { channel: self.numbers[&head.channel], ..head }));
            }
            self.finish_file();
            let Some(next) = self.left.pop_front() else {
                self.path.clear();
                self.check_message_count();
                break;
            };
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
                self.part.limit_times(from, to);
            }
            self.numbers.clear();
            self.add_channels()?;
        }
        Ok(None)
    }

    fn first_bytes(&mut self, most: usize) -> Result<&[u8]> {
        self.part.first_bytes(most)
    }

    fn data(&mut self) -> Result<&[u8]> {
        self.part.data()
    }

    fn shared_data(&mut self) -> Result<SharedBytes> {
        self.part.shared_data()
    }

    fn limit_times(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        self.window = (from, to);
        self.said = None;
        self.part.limit_times(from, to);
    }

    fn select_channels(&mut self, wanted: &dyn Fn(&Channel) -> bool) {
        self.said = None;
        self.part.select_channels(wanted);
    }

    fn skip_messages(&mut self, wanted: &dyn Fn(&Channel) -> bool, most: u64) -> Result<u64> {
        self.said = None;
        self.part.skip_messages(wanted, most)
    }

    /// Where all files tell it nothing is left to be read.
    fn indexed_counts(&mut self) -> Result<Option<MessageCounts>> {
        let (mut all, mut metadata, mut remarks) =
            (MessageCounts::default(), Vec::new(), Vec::new());
        for path in std::iter::once(&self.path).chain(&self.left) {
            let mut part = (self.open)(path)?;
            let Some(counted) = part.indexed_counts()? else { return Ok(None) };
            let mut numbers = BTreeMap::new();
            number_channels(part.channels(), &mut numbers, &mut self.channels)?;
            for (channel, count) in counted.by_channel {
                *all.by_channel.entry(numbers[&channel]).or_default() += count;
            }
            counted.times.into_iter().for_each(|times| all.widen(times));
            metadata.extend_from_slice(part.metadata());
            remarks.extend(part.remarks());
        }
        self.metadata = metadata;
        self.remarks.extend(remarks);
        self.left.clear();
        self.path.clear();
        self.count = all.messages();
        self.check_message_count();
        Ok(Some(all))
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

    fn file_header(&self) -> FileHeader {
        self.part.file_header()
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
