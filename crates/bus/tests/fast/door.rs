//! Strangers at the door of the machine that leads.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use wiregauge_bus::machines::join_listener::{JoinListener, MAX_AT_ONCE, MAX_DURING_RUNS};

/// Threads of this process that hear who is at the door.
fn heard() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.trim() == "visitor").count()
}

#[test]
fn no_more_strangers_are_heard_at_the_door_than_there_may_be() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let door = JoinListener::open(listener, None, BTreeMap::new()).unwrap();
    for (most, begin) in [(MAX_AT_ONCE, false), (MAX_DURING_RUNS, true)] {
        if begin {
            door.close_for_runs(&[]);
        }
        let strangers: Vec<TcpStream> =
            (0..2 * MAX_AT_ONCE).map(|_| TcpStream::connect(address).unwrap()).collect();
        let sent_away = thread::spawn(move || {
            for mut stranger in strangers {
                assert_eq!(stranger.read(&mut [0; 16]).unwrap_or(0), 0, "it is answered");
            }
        });
        let mut seen = 0;
        while !sent_away.is_finished() {
            seen = seen.max(heard());
            thread::sleep(Duration::from_millis(1));
        }
        sent_away.join().unwrap();
        assert!((1..=most).contains(&seen), "{seen} are heard, and {most} may be");
        // Those who were heard last are still being sent away.
        while heard() > 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
}
