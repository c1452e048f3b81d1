//! A measurement on another machine: a bundle is copied there over ssh and measured, and
//! nothing stays there.
//!
//! One connection owns the folder there: a shell that removes it when its program has ended,
//! and whose program ends when the connection does. Another one copies the files.

use std::io::{self, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Result};
use wiregauge_child_process::child::{Child, ChildFailure, Death, Limits};
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::text::escape_short;

use crate::board::{is_plain_word, Board};
use crate::board_check::{now, BoardFacts};
use crate::bundle_files::BundleFiles;
use crate::manifest::Manifest;
use crate::served_run::{PROGRESS, RESULT, SILENCE};

/// How ssh is called: it asks for nothing, and notices a dead connection. The connection is its
/// own, so that it ends with this program; no terminal, agent, display or port goes along.
const SSH: [&str; 17] = [
    "-T",
    "-a",
    "-x",
    "-o",
    "BatchMode=yes",
    "-o",
    "ControlMaster=no",
    "-o",
    "ControlPath=none",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "ConnectTimeout=15",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=6",
];
/// How long the first answer may take: the connection, and what the machine says of itself. One that
/// is not there is noticed by ssh itself, and much earlier.
const CONNECT: Duration = Duration::from_secs(180);
/// How long the machine may take to remove the folder.
const CLEAN: Duration = Duration::from_secs(180);

/// What the shell there does, in words that every login shell hands over as they are: one line
/// without single quotes. `FOLDER` and `ARGUMENTS` are replaced.
const SCRIPT: &str = "\
    LC_ALL=C; export LC_ALL; umask 077; \
    d=$(mktemp -d \"FOLDER/wiregauge-XXXXXXXX\") || exit 1; \
    clean() { cd /; rm -rf \"$d\"; }; \
    trap clean EXIT; trap \"exit 1\" HUP INT TERM PIPE; \
    echo \"machine $(uname -m)\"; \
    echo \"libc $(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)\"; \
    echo \"clock $(date +%s)\"; \
    echo \"space $(df -Pk \"$d\" | tail -n 1)\"; \
    echo \"folder $d\"; \
    read -r word && [ \"$word\" = start ] && cd \"$d\" && \
    ./wiregauge codecs --bundle . --serve ARGUMENTS";

/// A measurement on another machine.
pub struct RemoteRun<'a> {
    /// Which.
    pub board: &'a Board,
    /// What is copied there.
    pub files: &'a BundleFiles,
    /// What these are.
    pub manifest: &'a Manifest,
    /// The words for the program there: how it measures.
    pub arguments: &'a [String],
}

impl RemoteRun<'_> {
    /// Checks the machine, copies the bundle there, measures, and returns the result as it was
    /// written there. The folder there is gone when this returns, and when the connection is
    /// lost.
    ///
    /// # Errors
    /// When the machine cannot be reached or cannot measure it: one line, with the remedy.
    pub fn measure(&self, progress: &dyn Fn(&str, usize, usize)) -> Result<Vec<u8>> {
        let board = self.board;
        if let Some(word) = self.arguments.iter().find(|word| !is_plain_word(word)) {
            bail!("'{word}' cannot be handed to {board}: it has characters of the shell's");
        }
        progress(&format!("connecting to {board}"), 0, 0);
        let folder = board.folder.as_deref().unwrap_or("${TMPDIR:-/tmp}");
        let script = SCRIPT.replace("FOLDER", folder);
        let script = script.replace("ARGUMENTS", &self.arguments.join(" "));
        let mut owner = self.connect(&[], &script)?;
        let folder = self.check(&mut owner)?;
        self.copy(&folder, progress)?;
        self.say(&mut owner, "start\n")?;
        let result = self.listen(&mut owner, progress)?;
        let ended = owner.finish(Instant::now() + CLEAN);
        ended.map_err(|failure| self.explain(failure, "it may not have removed its folder"))?;
        Ok(result)
    }

    fn connect(&self, options: &[&str], script: &str) -> Result<Child> {
        let mut command = Command::new("ssh");
        command.args(SSH).args(options).args(["--", &self.board.host]);
        command.arg(format!("exec sh -c '{script}'"));
        Child::spawn(command, Limits::default())
            .context("cannot start ssh; apt-get install openssh-client")
    }

    /// Reads what the machine says of itself, and refuses it where it cannot measure. Returns
    /// the folder that it made.
    fn check(&self, owner: &mut Child) -> Result<String> {
        let asked = now();
        let deadline = Instant::now() + CONNECT;
        let mut value = |name: &str| -> Result<String> {
            let line = owner.read_line(deadline);
            let line = line.map_err(|failure| self.explain(failure, "it gave no answer"))?;
            let value = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
            value.map(str::to_owned).with_context(|| {
                let (board, said) = (self.board, escape_short(&line));
                format!("{board} says '{said}' on its own; its shell must start in silence")
            })
        };
        let (machine, libc) = (value("machine")?, value("libc")?);
        let clock = value("clock")?.parse().unwrap_or(0);
        // POSIX, df -P: the fourth word is what is free, in units of -k.
        let space = value("space")?;
        let free = space.split_whitespace().nth(3).and_then(|word| word.parse::<u64>().ok());
        let folder = value("folder")?;
        let facts = BoardFacts { machine, libc, clock, free: free.map(|free| free * 1024) };
        // What it took to connect makes no difference of clocks.
        let asked = asked.max(clock.min(now()));
        facts.check(self.manifest, &self.board.host, Some(asked))?;
        let is_plain = folder.starts_with('/') && is_plain_word(&folder);
        ensure!(
            is_plain,
            "{} made a folder with an unusual name; name one: --on HOST:/FOLDER",
            self.board
        );
        Ok(folder)
    }

    fn copy(&self, folder: &str, progress: &dyn Fn(&str, usize, usize)) -> Result<()> {
        let script = format!("cd {folder} && exec tar -xf -");
        let mut child = self.connect(&["-o", "Compression=yes"], &script)?;
        let mut upload = Upload {
            child: &mut child,
            failure: None,
            sent: 0,
            told: 0,
            show: &|sent| {
                let megabyte = |bytes: u64| (bytes / 1_000_000) as usize;
                let all = megabyte(self.manifest.bytes());
                progress(&format!("copying to {} (MB)", self.board), megabyte(sent).min(all), all);
            },
        };
        if let Err(error) = self.files.write_archive(self.manifest, &mut upload) {
            return Err(match upload.failure {
                Some(failure) => self.explain(failure, "it cannot take the files"),
                None => error,
            });
        }
        let death = child.finish(Instant::now() + CLEAN);
        let death = death.map_err(|failure| self.explain(failure, "it cannot take the files"))?;
        match death.status {
            Some(status) if status.success() => Ok(()),
            _ => Err(self.explain(ChildFailure::Died(death), "it cannot take the files")),
        }
    }

    /// Waits for the result; each news is answered, by which the machine knows that this one
    /// is there.
    fn listen(&self, owner: &mut Child, progress: &dyn Fn(&str, usize, usize)) -> Result<Vec<u8>> {
        loop {
            let line = owner.read_line(Instant::now() + SILENCE);
            let line =
                line.map_err(|failure| self.explain(failure, "it was not heard any more"))?;
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            if word == RESULT {
                let size =
                    rest.parse().ok().with_context(|| format!("{} says no size", self.board))?;
                let result = owner.read_exact(size, Instant::now() + CONNECT);
                return result.map_err(|failure| self.explain(failure, "its result did not come"));
            }
            let mut numbers = rest.splitn(3, ' ');
            let mut number = || numbers.next().and_then(|word| word.parse::<usize>().ok());
            if let (PROGRESS, Some(done), Some(total)) = (word, number(), number()) {
                let what = numbers.next().unwrap_or_default();
                progress(&format!("{}: {what}", self.board), done, total);
            }
            self.say(owner, "\n")?;
        }
    }

    fn say(&self, owner: &mut Child, text: &str) -> Result<()> {
        let said = owner.write_all(text.as_bytes(), Instant::now() + SILENCE);
        said.map_err(|failure| self.explain(failure, "it was not heard any more"))
    }

    /// Why a connection ended, in a line with the remedy.
    fn explain(&self, failure: ChildFailure, otherwise: &str) -> anyhow::Error {
        let board = self.board;
        match failure {
            ChildFailure::Interrupted => Interrupted.into(),
            ChildFailure::Died(Death { status, stderr, .. }) => {
                // ssh tells of keys that are new to it.
                let is_news = |line: &&str| line.is_empty() || line.starts_with("Warning: ");
                let last = stderr.lines().map(str::trim).rfind(|line| !is_news(line));
                let said = escape_short(last.unwrap_or(otherwise));
                let is_ssh = status.is_none_or(|status| status.code() == Some(255));
                explain_end(&self.board.host, is_ssh, &said)
            }
            failure => anyhow!("{board}: {otherwise}: {failure}"),
        }
    }
}

/// What ssh or the machine said at the end, with the remedy.
fn explain_end(host: &str, is_ssh: bool, said: &str) -> anyhow::Error {
    let own = said.strip_prefix("wiregauge: ").unwrap_or(said);
    let remedy = match is_ssh {
        true if said.contains("Permission denied") => {
            format!("it asks for a password or key; have your key accepted: ssh-copy-id {host}")
        }
        true if said.contains("Host key verification failed") => {
            format!("connect once and look at its key: ssh {host}")
        }
        true => format!("try whether this works: ssh {host} true"),
        false if said.contains("No space left") => {
            "name a folder with more space: --on HOST:/FOLDER".into()
        }
        false
            if said.starts_with("mktemp")
                || said.contains("Permission denied")
                || said.contains("Read-only") =>
        {
            "name a folder in which you can write and start programs: --on HOST:/FOLDER".into()
        }
        false => return anyhow!("{host}: {own}"),
    };
    anyhow!("{host}: {own}; {remedy}")
}

/// Writes to a child, and keeps why that failed.
struct Upload<'a> {
    child: &'a mut Child,
    failure: Option<ChildFailure>,
    sent: u64,
    told: u64,
    show: &'a dyn Fn(u64),
}

impl Write for Upload<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(failure) = self.child.write_all(bytes, Instant::now() + SILENCE) {
            let error = io::Error::other(failure.to_string());
            self.failure = Some(failure);
            return Err(error);
        }
        self.sent += bytes.len() as u64;
        if self.sent - self.told > 1_000_000 {
            self.told = self.sent;
            (self.show)(self.sent);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_a_line_that_any_shell_hands_over() {
        assert!(!SCRIPT.contains(['\'', '\n', '!']), "{SCRIPT}");
    }

    #[test]
    fn the_end_of_a_connection_has_a_remedy() {
        for (is_ssh, said, word) in [
            (true, "root@board: Permission denied (publickey,password).", "ssh-copy-id board"),
            (true, "Host key verification failed.", "look at its key"),
            (true, "ssh: connect to host board port 22: Connection refused", "ssh board true"),
            (false, "tar: write error: No space left on device", "--on HOST:/FOLDER"),
            (false, "mktemp: failed: Read-only file system", "--on HOST:/FOLDER"),
            (false, "sh: ./wiregauge: Permission denied", "start programs"),
            (false, "wiregauge: unknown codec 'x'", "board: unknown codec 'x'"),
        ] {
            let error = explain_end("board", is_ssh, said).to_string();
            assert!(error.contains(word) && error.starts_with("board: "), "{error}");
        }
    }
}
