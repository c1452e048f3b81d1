//! A transport with options of its own, as a row beside the plain one:
//! `dds:reliability=best-effort:history=1`.

use anyhow::{ensure, Context, Result};
use wiregauge_participant::dds_options::{HISTORY, RELIABILITY};

use crate::catalogue::transport_entry::TransportEntry;

/// What parts a transport's name and its options.
const SEPARATOR: char = ':';

/// The name of the transport that a name with options, or one without them, means.
pub fn base_name(name: &str) -> &str {
    name.split(SEPARATOR).next().unwrap_or(name)
}

impl TransportEntry {
    /// The row of a name that begins with this transport's; itself where no options follow.
    ///
    /// # Errors
    /// An option without a name or a value, or one that makes the row what it is.
    pub fn variant(self, name: &str) -> Result<TransportEntry> {
        let mut options = self.options.to_vec();
        let mut title = self.title.to_owned();
        let mut drops = self.drops;
        for option in name.split(SEPARATOR).skip(1) {
            let pair = option.split_once('=').filter(|(key, value)| ![*key, *value].contains(&""));
            let (key, value) = pair.with_context(|| {
                format!(
                    "'{option}' of '{name}' is no option; write {}:NAME=VALUE, such as \
                     dds:reliability=best-effort",
                    self.id
                )
            })?;
            ensure!(
                options.iter().all(|(known, _)| *known != key),
                "{key} of '{name}' is said twice: {} has it already",
                self.id
            );
            drops |= loses(key, value);
            title += &format!(", {option}");
            options.push((forever(key), forever(value)));
        }
        if options.len() == self.options.len() {
            return Ok(self);
        }
        Ok(TransportEntry {
            id: forever(name),
            title: forever(&title),
            options: Vec::leak(options),
            drops,
            // Only the plain one is in every table.
            floor: false,
            ..self
        })
    }
}

/// Whether a writer with this option loses samples by design.
pub fn loses(key: &str, value: &str) -> bool {
    (key == RELIABILITY && value == "best-effort") || (key == HISTORY && value != "all")
}

/// As long as the names of the other rows live: to the program's end.
fn forever(text: &str) -> &'static str {
    String::leak(text.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::catalogue::select;

    fn ids(names: &[&str]) -> Vec<&'static str> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        select(&names).unwrap().iter().map(|entry| entry.id).collect()
    }

    #[test]
    fn rows_with_options_stand_behind_the_plain_one() {
        let newest = "dds:history=1";
        assert_eq!(ids(&[newest, "zenoh", "dds"]), ["tcp", "dds", newest, "zenoh"]);
        assert_eq!(ids(&[newest, newest]), ["tcp", newest]);
        let rows = select(&["fastdds-memory:reliability=best-effort:history=5".into()]).unwrap();
        assert_eq!(rows[1].title, "Fast DDS memory, reliability=best-effort, history=5");
        let options = [("way", "memory"), ("reliability", "best-effort"), ("history", "5")];
        assert_eq!(rows[1].options, options);
        assert_eq!((rows[1].transport(), rows[1].drops), ("fastdds", true));
        assert_eq!(ids(&["tcp:port=7301"]), ["tcp", "tcp:port=7301"]);
    }

    #[test]
    fn a_loss_is_a_fault_of_what_is_reliable_and_keeps_all() {
        let drops = |name: &str| select(&[name.into()]).unwrap()[1].drops;
        for whole in ["dds", "dds:reliability=reliable", "dds:history=all", "dds:wait=listener"] {
            assert!(!drops(whole), "{whole}");
        }
        for lossy in ["dds:reliability=best-effort", "dds:history=3", "zenoh-drop"] {
            assert!(drops(lossy), "{lossy}");
        }
    }

    #[test]
    fn what_is_no_option_is_refused() {
        for (name, why) in [
            ("dds:history", "'history' of 'dds:history' is no option; write dds:NAME=VALUE"),
            ("dds:=1", "'=1' of"),
            ("dds:", "'' of"),
            ("fastdds:way=memory", "way of 'fastdds:way=memory' is said twice: fastdds has it"),
            ("pigeon:history=1", "unknown transport 'pigeon'; choose from tcp"),
        ] {
            let error = select(&[name.into()]).err().unwrap().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
