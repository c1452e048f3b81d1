//! A folder of one run, for what libraries leave in the file system: files of
//! their own, and shared memory under its name. It is the user's alone. Who made
//! it holds it by a lock, which the kernel gives up however that process ends;
//! whoever finds one that nobody holds removes it with all that belongs to it. What a library
//! leaves under a name of its own is on a list in the folder ([`OutsideFiles`]).

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::statvfs;
use rustix::process::geteuid;

/// Where shared memory lies.
const SHARED_MEMORY_FOLDER: &str = "/dev/shm";
/// How all of them are called, before the user and what tells them apart.
const PREFIX: &str = "wg-";
/// Where a participant finds the folder of its run from the beginning.
pub const ENV_VAR: &str = "WIREGAUGE_SCRATCH";

/// Younger ones are left alone: between its making and its locking a folder is
/// not locked.
const MIN_AGE: Duration = Duration::from_secs(1);
/// From one look at a lock to the next.
const LOCK_RETRY_PAUSE: Duration = Duration::from_millis(20);

/// A run's folder, held.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _held: File,
}

impl Scratch {
    /// Makes a new one, and removes those that nobody holds any more.
    ///
    /// # Errors
    /// When there can be none.
    pub fn new() -> io::Result<Scratch> {
        remove_abandoned();
        let path = create_folder()?;
        let held = File::open(&path)?;
        // Where folders cannot be locked, nobody can find this one unlocked.
        let _ = held.lock();
        Ok(Scratch { path, _held: held })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Makes a folder that is not there yet.
fn create_folder() -> io::Result<PathBuf> {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Short, as the paths of sockets in it have 108 bytes at most.
    let mut number = (time.as_nanos() as u32).wrapping_add(std::process::id().rotate_left(16));
    loop {
        let path = std::env::temp_dir().join(format!("{}{number:08x}", name_prefix()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                number = number.wrapping_add(1);
            }
            made => return made.map(|()| path),
        }
    }
}

/// What the names of its shared memory begin with.
pub fn shared_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}_")
}

/// Looks whether shared memory has room for so many bytes: the system kills who writes where
/// there is none.
///
/// # Errors
/// That it has not, and what to do.
pub fn check_shared_memory(wanted: u64) -> io::Result<()> {
    let there = statvfs(SHARED_MEMORY_FOLDER)?;
    let free = there.f_bavail * there.f_frsize;
    if wanted <= free {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{} MB of shared memory are needed, but {SHARED_MEMORY_FOLDER} has {} MB free; enlarge it by \
         'mount -o remount,size={}M {SHARED_MEMORY_FOLDER}', or in a container by --shm-size",
        wanted / 1_000_000,
        free / 1_000_000,
        (wanted >> 20) + 64
    )))
}

/// The folder that a participant was told of when it was started.
pub fn from_environment() -> Option<PathBuf> {
    std::env::var_os(ENV_VAR).map(PathBuf::from)
}

/// Removes what a participant's own run left, where its conductor is gone: also
/// where another participant did so before, as this one may have left more since.
/// Whoever named the folder: only one with the name of a run's is touched. One that
/// is held is looked at again for so long, as the end of a process takes its time.
pub fn remove_leftovers(path: &Path, patience: Duration) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.starts_with(&name_prefix()) || (path.exists() && !is_ours(path)) {
        return;
    }
    let held = || File::open(path).is_ok_and(|folder| folder.try_lock_shared().is_err());
    let deadline = Instant::now() + patience;
    while held() {
        if Instant::now() >= deadline {
            return;
        }
        thread::sleep(LOCK_RETRY_PAUSE);
    }
    remove(path);
}

/// What the names of this user's folders begin with.
fn name_prefix() -> String {
    format!("{PREFIX}{}-", geteuid().as_raw())
}

fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == geteuid().as_raw())
}

/// Removes a run's folder and its shared memory, where nobody holds it.
fn remove_if_abandoned(path: &Path) {
    if !is_ours(path) {
        return;
    }
    let Ok(folder) = File::open(path) else { return };
    let made = folder.metadata().and_then(|data| data.modified());
    let old = made.is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= MIN_AGE));
    if old && folder.try_lock_shared().is_ok() {
        remove(path);
    }
}

/// Removes all that nobody holds.
fn remove_abandoned() {
    let user = name_prefix();
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&user) {
            remove_if_abandoned(&entry.path());
        }
    }
}

/// Files that are not in the run's folder and have no name of the run's, as a list in the folder.
/// Those that use them hold it.
#[derive(Debug)]
pub struct OutsideFiles(File);

/// The list's name.
const OUTSIDE: &str = "outside";
/// What parts a file's path and the lock of who uses it.
const PARTS: char = '\t';

impl OutsideFiles {
    /// The list of this folder, for one that uses them as long as it lives.
    ///
    /// # Errors
    /// When there can be none.
    pub fn hold(folder: &Path) -> io::Result<OutsideFiles> {
        let mut options = File::options();
        let file = options.create(true).read(true).append(true).open(folder.join(OUTSIDE))?;
        file.lock_shared()?;
        Ok(OutsideFiles(file))
    }

    /// The list of this folder, for one that only looks at it.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(folder: &Path) -> io::Result<OutsideFiles> {
        Ok(OutsideFiles(File::options().read(true).append(true).open(folder.join(OUTSIDE))?))
    }

    /// Puts a file on the list, or all whose paths begin so with `*` behind it. With the file of a
    /// lock, they are somebody's who holds that.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, path: &str, lock: Option<&str>) -> io::Result<()> {
        // In one go, as others write too.
        let line = format!("{path}{PARTS}{}\n", lock.unwrap_or_default());
        (&self.0).write_all(line.as_bytes())
    }

    /// Waits until all are gone that use the files.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn await_last(&self) -> io::Result<()> {
        self.0.lock()
    }

    /// Removes the files, but those that somebody has by now.
    pub fn remove(&self) {
        let mut list = String::new();
        let mut file = &self.0;
        if file.rewind().and_then(|()| file.read_to_string(&mut list)).is_err() {
            return;
        }
        for (path, lock) in list.lines().filter_map(|line| line.split_once(PARTS)) {
            let held = File::open(lock);
            if held.as_ref().is_ok_and(|lock| lock.try_lock_shared().is_err()) {
                continue;
            }
            let Some(prefix) = path.strip_suffix('*') else {
                let _ = fs::remove_file(path);
                continue;
            };
            let folder = Path::new(prefix).parent().map(fs::read_dir);
            for entry in folder.into_iter().flatten().flatten().flatten() {
                if entry.path().to_string_lossy().starts_with(prefix) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }
}

fn remove(path: &Path) {
    if let Ok(outside) = OutsideFiles::open(path) {
        outside.remove();
    }
    let prefix = shared_prefix(path);
    for entry in fs::read_dir(SHARED_MEMORY_FOLDER).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // The system puts this before the name of a semaphore.
        if name.strip_prefix("sem.").unwrap_or(&name).starts_with(&prefix) {
            let _ = fs::remove_file(entry.path());
        }
    }
    // Another that found it dead may be at it as well.
    let _ = fs::remove_dir_all(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_one_goes_with_its_shared_memory_and_a_held_one_stays() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        let shared = Path::new(SHARED_MEMORY_FOLDER).join(format!("{}data", shared_prefix(&path)));
        fs::write(&shared, "x").unwrap();
        let old = SystemTime::now() - std::time::Duration::from_secs(10);
        File::open(&path).unwrap().set_modified(old).unwrap();
        remove_if_abandoned(&path);
        assert!(path.exists() && shared.exists(), "it is held");
        // As if its process had been killed: the lock is gone, and the folder not.
        let Scratch { path: _, _held } = &scratch;
        _held.unlock().unwrap();
        remove_if_abandoned(&path);
        assert!(!path.exists() && !shared.exists());
    }

    #[test]
    fn what_lies_outside_goes_with_it_unless_somebody_has_it_by_now() {
        let there = Scratch::new().unwrap();
        let [free, held, own, other] =
            ["free", "held", "own_1", "free_1"].map(|name| there.path().join(name));
        for path in [&free, &held, &own, &other] {
            fs::write(path, "x").unwrap();
        }
        let lock = there.path().join("lock");
        let holder = File::create(&lock).unwrap();
        holder.lock().unwrap();
        let scratch = Scratch::new().unwrap();
        let text = |path: &Path| path.display().to_string();
        let outside = OutsideFiles::hold(scratch.path()).unwrap();
        outside.add(&text(&free), Some(&text(&there.path().join("none")))).unwrap();
        outside.add(&text(&held), Some(&text(&lock))).unwrap();
        outside.add(&text(&there.path().join("own_*")), None).unwrap();
        drop(scratch);
        let stay = [&free, &held, &own, &other].map(|path| path.exists());
        assert_eq!(stay, [false, true, false, true]);
        holder.unlock().unwrap();
        // The list is still there for who has it open.
        outside.remove();
        assert!(!held.exists());
    }

    #[test]
    fn a_participant_removes_what_its_conductor_left_and_nothing_else() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        remove_leftovers(&path, Duration::ZERO);
        assert!(path.exists(), "it is held");
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(100));
                scratch._held.unlock().unwrap();
            });
            // However young it is.
            remove_leftovers(&path, Duration::from_secs(60));
        });
        assert!(!path.exists());
        let other =
            std::env::temp_dir().join(format!("not-{}{}", name_prefix(), std::process::id()));
        fs::create_dir(&other).unwrap();
        remove_leftovers(&other, Duration::ZERO);
        assert!(other.exists());
        fs::remove_dir(other).unwrap();
    }
}
