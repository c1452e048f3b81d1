//! Strangers who come to every port of a run, say anything, and come again.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How many come at a time.
pub const STRANGERS: usize = 20;

/// A flood; it ends when dropped.
pub struct Flood {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    ends: AtomicBool,
    ports: Mutex<Vec<u16>>,
    connections: AtomicU64,
}

impl Flood {
    /// To the ports of this process and of those that it starts.
    pub fn start() -> Flood {
        let shared = Arc::new(Shared::default());
        let looks = Arc::clone(&shared);
        let look = thread::spawn(move || {
            while !looks.ends.load(Ordering::Relaxed) {
                *looks.ports.lock().unwrap() = ports();
                thread::sleep(Duration::from_millis(20));
            }
        });
        let strangers = (0..STRANGERS).map(|number| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.come(number))
        });
        let threads = strangers.chain([look]).collect();
        Flood { shared, threads }
    }

    /// Connections so far.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Shared {
    fn come(&self, number: usize) {
        let garbage: Vec<u8> = (0..4096).map(|at| (at * 31 + number * 7) as u8).collect();
        while !self.ends.load(Ordering::Relaxed) {
            let ports = self.ports.lock().unwrap().clone();
            for port in ports {
                let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
                let patience = Duration::from_millis(100);
                let Ok(mut stream) = TcpStream::connect_timeout(&address, patience) else {
                    continue;
                };
                self.connections.fetch_add(1, Ordering::Relaxed);
                let _ = stream.set_write_timeout(Some(patience));
                // Half of them say nothing for a while.
                if number.is_multiple_of(2) {
                    thread::sleep(patience);
                }
                let _ = stream.write_all(&garbage);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The ports on loopback that this process and its children listen at.
fn ports() -> Vec<u16> {
    let own = std::process::id().to_string();
    let parent = |process: &str| -> Option<String> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1).map(str::to_owned)
    };
    let mut sockets = HashSet::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry.file_name().to_string_lossy().into_owned();
        if process != own && parent(&process).as_ref() != Some(&own) {
            continue;
        }
        for file in fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten() {
            let target = fs::read_link(file.path()).unwrap_or_default();
            let target = target.to_string_lossy().into_owned();
            let inode = target.strip_prefix("socket:[").and_then(|t| t.strip_suffix(']'));
            sockets.extend(inode.map(str::to_owned));
        }
    }
    const LISTENS: &str = "0A";
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let listens = words.get(3) == Some(&LISTENS) && sockets.contains(*words.get(9)?);
        let port = words.get(1)?.rsplit_once(':')?.1;
        u16::from_str_radix(port, 16).ok().filter(|_| listens)
    };
    table.lines().filter_map(port).collect()
}
