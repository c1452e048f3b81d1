//! Files of the user, written whole or not at all.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use rustix::fs::{fcntl_setfl, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;
use tempfile::NamedTempFile;

use crate::interrupt;

/// How long a named pipe may be without anyone at its other end.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether someone is there, or the user wants to stop.
const PAUSE: Duration = Duration::from_millis(50);
/// What is written to see whether there is room at all.
const PROBE: [u8; 4096] = [0; 4096];
/// Symbolic links that may follow one another, as in Linux.
const LINKS: usize = 40;
/// How the name of a file ends that is being written.
const TEMPORARY_SUFFIX: &str = ".part";
/// So many bytes of a file's name are in that of its temporary file: names have 255 at most.
const LONGEST: usize = 200;
/// Younger ones are left alone: between its making and its locking a file is not locked.
const YOUNG: Duration = Duration::from_secs(1);
/// Other names of standard output. Its file is not to be replaced: what is
/// printed goes there too.
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Where something is to be written: tried out, so that it is known before a
/// long measurement whether its result can be kept.
#[derive(Debug)]
pub struct Target {
    shown: String,
    place: TargetKind,
}

#[derive(Debug)]
enum TargetKind {
    /// Standard output.
    Output,
    /// A regular file, or a new one: written beside and renamed.
    File(PathBuf),
    /// Anything else, such as a device or a pipe: written to.
    Stream(File),
}

impl Target {
    /// Finds out what is there, and whether it can be written. `-` is standard
    /// output. Links are followed.
    ///
    /// # Errors
    /// When nothing can be written there, or it is one of the `inputs`.
    pub fn open(path: &Path, inputs: &[&Path]) -> Result<Target> {
        let shown = path.display().to_string();
        let place = Target::find(path, &shown)?;
        if let TargetKind::File(place) = &place {
            let same = inputs.iter().find(|input| is_same_file(place, input));
            ensure!(
                same.is_none(),
                "{shown} is also the input and would be replaced; name another file"
            );
        }
        Ok(Target { shown, place })
    }

    fn find(path: &Path, shown: &str) -> Result<TargetKind> {
        if STANDARD_OUTPUT.iter().any(|name| path == Path::new(name)) {
            return Ok(TargetKind::Output);
        }
        let cannot = || format!("cannot write {shown}");
        let open = path.starts_with("/dev/fd") || path.starts_with("/proc");
        let place = match fs::metadata(path) {
            Ok(about) if about.is_dir() => bail!("{shown} is a folder; name a file in it"),
            Ok(about) if open || !about.is_file() => {
                return open_stream(path, about.file_type().is_fifo()).map(TargetKind::Stream);
            }
            Ok(_) => {
                // One that is write-protected is so on purpose.
                OpenOptions::new().write(true).open(path).with_context(cannot)?;
                path.canonicalize().with_context(cannot)?
            }
            Err(error) if error.kind() == ErrorKind::NotFound => follow_links(path),
            Err(error) => return Err(error).with_context(cannot),
        };
        remove_leftovers(&place);
        let mut probe = temporary_file(&place, shown)?;
        probe.write_all(&PROBE).with_context(|| disk_full_message(shown))?;
        Ok(TargetKind::File(place))
    }

    /// How the user calls it.
    pub fn display_name(&self) -> &str {
        &self.shown
    }

    /// Whether it is standard output.
    pub fn is_output(&self) -> bool {
        matches!(self.place, TargetKind::Output)
    }

    /// Whether both are one file.
    pub fn is_same(&self, other: &Target) -> bool {
        let (TargetKind::File(a), TargetKind::File(b)) = (&self.place, &other.place) else {
            return false;
        };
        is_same_file(a, b) || absolute(a) == absolute(b)
    }

    /// A file of its own to be written piece by piece.
    ///
    /// # Errors
    /// When it cannot be written, or is standard output.
    pub fn start_draft(self) -> Result<Draft> {
        let Target { shown, place } = self;
        let place = match place {
            TargetKind::Output => {
                bail!("standard output is used for the result; name another file")
            }
            TargetKind::File(place) => DraftTarget::Aside(temporary_file(&place, &shown)?, place),
            TargetKind::Stream(stream) => DraftTarget::Stream(stream),
        };
        Ok(Draft { shown, place })
    }

    /// Writes a file beside its place and moves it there, so that a full disk
    /// or an interruption never leaves half a file where a good one was. That
    /// the reader of standard output went away, as `head` does, is no error.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(self, bytes: &[u8]) -> Result<()> {
        let shown = &self.shown;
        match self.place {
            TargetKind::Output => print(bytes),
            TargetKind::File(place) => replace(&place, shown, bytes),
            TargetKind::Stream(mut stream) => {
                stream.write_all(bytes).with_context(|| format!("cannot write {shown}"))
            }
        }
    }
}

/// A file that is written piece by piece: like [`Target::write`] it is there
/// whole, or not at all.
#[derive(Debug)]
pub struct Draft {
    shown: String,
    place: DraftTarget,
}

#[derive(Debug)]
enum DraftTarget {
    Aside(NamedTempFile, PathBuf),
    Stream(File),
}

impl Draft {
    /// Whether what is written cannot be taken back: it goes to a device or a pipe.
    pub fn is_stream(&self) -> bool {
        matches!(self.place, DraftTarget::Stream(_))
    }

    /// Moves it to its place. Without this it was never there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<()> {
        match self.place {
            DraftTarget::Aside(file, place) => move_into_place(file, &place, &self.shown),
            DraftTarget::Stream(_) => Ok(()),
        }
    }
}

/// That a file cannot be written, with its name.
#[derive(Debug)]
pub struct WriteError(String);

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WriteError {}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What is underneath would name a temporary file, or nothing.
        let written = match &mut self.place {
            DraftTarget::Aside(file, _) => file.as_file_mut().write(bytes),
            DraftTarget::Stream(stream) => stream.write(bytes),
        };
        written.map_err(|error| match error.kind() {
            ErrorKind::Interrupted | ErrorKind::BrokenPipe => error,
            kind => {
                let why = WriteError(format!("{}: {error}", disk_full_message(&self.shown)));
                io::Error::new(kind, why)
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            DraftTarget::Aside(file, _) => file.flush(),
            DraftTarget::Stream(stream) => stream.flush(),
        }
    }
}

/// A folder that is made for files. Where none comes into it, it goes again.
#[derive(Debug)]
pub struct Folder {
    /// What was made, the innermost first.
    made: Vec<PathBuf>,
}

impl Folder {
    /// Makes a folder where it is not there, and those that it is in.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path) -> Result<Folder> {
        let absent = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = path.ancestors().take_while(absent).map(Path::to_owned).collect();
        let folder = Folder { made };
        fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // One that is not empty stays.
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Writes a file as [`Target::write`] does.
///
/// # Errors
/// When it cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    Target::open(path, &[])?.write(bytes)
}

/// Writes to standard output. That its reader went away is no error.
///
/// # Errors
/// When it cannot be written, as on a full disk.
pub fn print(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

fn replace(place: &Path, shown: &str, bytes: &[u8]) -> Result<()> {
    let mut file = temporary_file(place, shown)?;
    file.write_all(bytes).with_context(|| disk_full_message(shown))?;
    move_into_place(file, place, shown)
}

/// Moves a temporary file to its place.
fn move_into_place(file: NamedTempFile, place: &Path, shown: &str) -> Result<()> {
    file.as_file().sync_all().with_context(|| disk_full_message(shown))?;
    // Temporary files are private; a result is to be shared like any file.
    let mode = fs::metadata(place).map(|about| about.permissions()).ok();
    let file = file.persist(place).with_context(|| format!("cannot replace {shown}"))?;
    let mode = mode.unwrap_or_else(|| fs::Permissions::from_mode(0o644));
    file.set_permissions(mode).with_context(|| format!("cannot set the permissions of {shown}"))
}

/// A scratch file beside a file of the user, called and held as one that is being written. What
/// a run left of such that was killed is removed.
///
/// # Errors
/// When it cannot be made there.
pub fn scratch_file(place: &Path) -> Result<NamedTempFile> {
    remove_leftovers(place);
    temporary_file(place, &place.display().to_string())
}

/// A temporary file in the folder of another one, which its name tells. Who writes it holds it
/// by a lock, which the kernel gives up however that process ends.
fn temporary_file(place: &Path, shown: &str) -> Result<NamedTempFile> {
    let mut prefix = temporary_prefix(place);
    prefix.push(format!("{}-", std::process::id()));
    let file = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(TEMPORARY_SUFFIX)
        .tempfile_in(folder_of(place))
        .with_context(|| format!("cannot write {shown}: is its folder there and writable?"))?;
    // Where files cannot be locked, nobody can find this one unlocked.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// What the names of the temporary files of another one begin with.
fn temporary_prefix(place: &Path) -> OsString {
    let name = place.file_name().unwrap_or_default().as_bytes();
    let mut beginning = OsString::from(".");
    beginning.push(OsStr::from_bytes(&name[..name.len().min(LONGEST)]));
    beginning.push(".wiregauge-");
    beginning
}

/// Removes what is left of a file where who wrote it was killed.
fn remove_leftovers(place: &Path) {
    let beginning = temporary_prefix(place);
    for entry in fs::read_dir(folder_of(place)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_part = name.as_bytes().ends_with(TEMPORARY_SUFFIX.as_bytes());
        if is_part
            && name.as_bytes().starts_with(beginning.as_bytes())
            && is_abandoned(&entry.path())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether nobody writes a temporary file of ours any more.
fn is_abandoned(path: &Path) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    let age = about.modified().ok().and_then(|time| time.elapsed().ok());
    let is_ours = about.is_file() && about.uid() == geteuid().as_raw();
    let is_old = age.is_some_and(|age| age >= YOUNG);
    is_ours && is_old && File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// The folder that a file is in.
pub fn folder_of(place: &Path) -> &Path {
    match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn disk_full_message(shown: &str) -> String {
    format!("cannot write {shown}: is the disk full?")
}

/// Where a link leads, though there may be nothing yet.
fn follow_links(path: &Path) -> PathBuf {
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&place) {
            Ok(next) => place = place.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => break,
        }
    }
    place
}

/// A place by the names of its folder and its own, though there may be nothing.
fn absolute(place: &Path) -> Option<PathBuf> {
    Some(folder_of(place).canonicalize().ok()?.join(place.file_name()?))
}

/// Whether two paths lead to one file, also by a link.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Opens what is no regular file. A pipe is given time to get a reader.
fn open_stream(path: &Path, pipe: bool) -> Result<File> {
    let (shown, began) = (path.display(), Instant::now());
    loop {
        interrupt::check()?;
        let opened =
            OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path);
        let nobody = Some(Errno::NXIO.raw_os_error());
        match opened {
            Err(error) if pipe && error.raw_os_error() == nobody => {
                ensure!(began.elapsed() < PATIENCE, "{shown} is a pipe without a reader");
                thread::sleep(PAUSE);
            }
            opened => {
                let cannot = || format!("cannot write {shown}");
                let mut file = opened.with_context(cannot)?;
                // A device that takes nothing, such as /dev/full, says so at once.
                file.write(&[]).map(drop).with_context(cannot)?;
                // From now on writing may wait for the reader.
                fcntl_setfl(&file, OFlags::empty())?;
                return Ok(file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::SystemTime;

    fn pipe(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn links_are_followed_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, new] = ["file", "link", "new"].map(|name| folder.path().join(name));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_whole(&link, b"result").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"result");
        fs::remove_file(&file).unwrap();
        write_whole(&link, b"again").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"again");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        write_whole(&new, b"new").unwrap();
        assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_pipe_or_device_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        pipe(&path);
        let error = write_whole(&path, b"x").unwrap_err().to_string();
        assert!(error.contains("without a reader"), "{error}");
        let reader = path.clone();
        let reader = thread::spawn(move || fs::read(reader));
        write_whole(&path, b"result").unwrap();
        assert_eq!(reader.join().unwrap().unwrap(), b"result");
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
        // A link, so that a fault does not cost the machine its device.
        let null = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        write_whole(&null, b"result").unwrap();
        assert!(fs::symlink_metadata(&null).unwrap().is_symlink());
        let full = folder.path().join("full");
        std::os::unix::fs::symlink("/dev/full", &full).unwrap();
        // Before there is anything to write.
        let error = format!("{:#}", Target::open(&full, &[]).unwrap_err());
        assert!(error.contains("cannot write") && error.contains("full"), "{error}");
    }

    #[test]
    fn what_is_written_by_pieces_is_there_in_the_end_or_never() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let mut draft = Target::open(&path, &[]).unwrap().start_draft().unwrap();
        draft.write_all(b"half").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(draft);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let mut draft = Target::open(&path, &[]).unwrap().start_draft().unwrap();
        draft.write_all(b"on").unwrap();
        draft.write_all(b"e").unwrap();
        draft.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(Target::open(Path::new("-"), &[]).unwrap().start_draft().is_err());
    }

    #[test]
    fn what_a_writer_left_that_was_killed_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let names = || {
            let all = fs::read_dir(folder.path()).unwrap();
            let all = all.map(|one| one.unwrap().file_name().into_string().unwrap());
            all.collect::<Vec<_>>()
        };
        let draft = Target::open(&path, &[]).unwrap().start_draft().unwrap();
        let live = names().pop().unwrap();
        assert!(live.starts_with(".run.json.wiregauge-") && live.ends_with(".part"), "{live}");
        // As if their writers had been killed: they are there, and nobody holds them.
        let old = SystemTime::now() - Duration::from_secs(60);
        let left = |name: &str, time| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(time).unwrap();
        };
        left(".run.json.wiregauge-1-abc.part", old);
        left(".run.json.wiregauge-1-young.part", SystemTime::now());
        left(".other.json.wiregauge-1-abc.part", old);
        let held = fs::OpenOptions::new().write(true).open(folder.path().join(&live)).unwrap();
        held.set_modified(old).unwrap();
        write_whole(&path, b"result").unwrap();
        let mut wanted = [
            ".other.json.wiregauge-1-abc.part",
            ".run.json.wiregauge-1-young.part",
            &live,
            "run.json",
        ];
        wanted.sort_unstable();
        let mut there = names();
        there.sort_unstable();
        assert_eq!(there, wanted);
        drop(draft);
        assert_eq!(names().len(), 3);
        // A name as long as there can be.
        let path = folder.path().join("ä".repeat(127));
        write_whole(&path, b"long").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"long");
    }

    #[test]
    fn a_folder_that_stays_empty_goes_again() {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join("a").join("b");
        drop(Folder::create(&inner).unwrap());
        assert!(!top.path().join("a").exists() && top.path().exists());
        let folder = Folder::create(&inner).unwrap();
        fs::write(inner.join("file"), "").unwrap();
        drop(folder);
        assert!(inner.join("file").exists());
        fs::remove_file(inner.join("file")).unwrap();
        drop(Folder::create(&inner).unwrap());
        assert!(inner.exists(), "it was there before");
    }

    #[test]
    fn two_names_of_one_file_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let target = |name: &str| Target::open(&folder.path().join(name), &[]).unwrap();
        fs::write(folder.path().join("there"), "").unwrap();
        fs::hard_link(folder.path().join("there"), folder.path().join("link")).unwrap();
        assert!(target("new").is_same(&target("./new")));
        assert!(target("there").is_same(&target("link")));
        assert!(!target("new").is_same(&target("there")));
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("absent").join("run.json");
        let error = Target::open(&inside, &[]).unwrap_err().to_string();
        assert!(error.contains("absent/run.json") && error.contains("folder there"), "{error}");
        let error = Target::open(folder.path(), &[]).unwrap_err().to_string();
        assert!(error.contains("is a folder"), "{error}");
        let input = folder.path().join("in");
        fs::write(&input, "input").unwrap();
        let other = folder.path().join("other");
        fs::hard_link(&input, &other).unwrap();
        for output in [&input, &other] {
            let error = Target::open(output, &[&input]).unwrap_err().to_string();
            assert!(error.contains("name another file"), "{error}");
        }
        assert!(Target::open(Path::new("-"), &[&input]).unwrap().is_output());
    }
}
