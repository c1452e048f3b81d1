//! Another machine that is reached over ssh.

use std::fmt;
use std::str::FromStr;

use anyhow::{ensure, Result};

/// Another machine: `[USER@]HOST[:FOLDER]`, where FOLDER is an absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// As ssh takes it: a host, or a name in its configuration.
    pub(crate) host: String,
    /// Where the bundle goes; none for its folder of temporary files.
    pub(crate) folder: Option<String>,
}

impl FromStr for Board {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Board> {
        let (host, folder) = match text.find(":/") {
            Some(at) => (&text[..at], Some(text[at + 1..].to_owned())),
            None => (text, None),
        };
        let is_host = !host.is_empty() && !host.starts_with('-');
        let is_host = is_host && host.chars().all(|c| c.is_ascii_graphic() && !"'\"\\".contains(c));
        let is_folder = folder.as_deref().is_none_or(is_plain_word);
        ensure!(is_host && is_folder, "write USER@HOST, or USER@HOST:/FOLDER without blanks");
        Ok(Board { host: host.into(), folder })
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)
    }
}

/// Whether every shell takes a word as it is written.
pub(crate) fn is_plain_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._,=@%+:-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_a_host_and_perhaps_a_folder() {
        let board: Board = "root@board:/data/tmp".parse().unwrap();
        assert_eq!((&*board.host, board.folder.as_deref()), ("root@board", Some("/data/tmp")));
        assert_eq!("board".parse::<Board>().unwrap().folder, None);
        for text in ["", "-oProxyCommand=x", "a b", "board:/a b", "board:/$(x)", "it's"] {
            assert!(text.parse::<Board>().is_err(), "{text}");
        }
    }
}
