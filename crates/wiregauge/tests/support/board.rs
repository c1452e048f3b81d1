//! Another machine, which in tests is a server of ssh on loopback with a folder of its own for
//! what is brought to it.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use wiregauge_testkit::prerequisites::SSH_SERVER;

use crate::support::{processes_below, wiregauge};

/// A machine that is reached by `ssh board`; `ssh locked` asks for a password.
pub struct TestBoard {
    folder: TempDir,
    server: Child,
}

impl TestBoard {
    /// Starts one.
    pub fn start() -> TestBoard {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["client", "programs", "files"] {
            fs::create_dir(at(name)).unwrap();
        }
        for key in ["host", "user", "stranger"] {
            let words = ["-q", "-t", "ed25519", "-N", "", "-f"];
            let made = Command::new("ssh-keygen").args(words).arg(at(key)).status().unwrap();
            assert!(made.success(), "ssh-keygen makes a key");
        }
        fs::copy(at("user.pub"), at("authorized")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let path = |name: &str| at(name).display().to_string();
        let server = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
             StrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication yes\n\
             SetEnv TMPDIR={} PATH={}:/usr/bin:/bin\n",
            path("host"),
            path("authorized"),
            path("files"),
            path("programs")
        );
        fs::write(at("server"), server).unwrap();
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        let host = |name: &str, key: &str| {
            format!(
                "Host {name}\nHostName 127.0.0.1\nPort {port}\nUser {}\nIdentityFile {}\n\
                 IdentitiesOnly yes\nUserKnownHostsFile {}\nStrictHostKeyChecking accept-new\n",
                user.trim(),
                path(key),
                path("known")
            )
        };
        let client = host("board", "user") + &host("locked", "stranger");
        fs::write(at("client/config"), client).unwrap();
        let ssh = format!("exec /usr/bin/ssh -F {} \"$@\"\n", path("client/config"));
        write_program(&at("client/ssh"), &ssh);
        // As root it wants this folder, which the system's service makes otherwise.
        let _ = fs::create_dir("/run/sshd");
        let server = Command::new(SSH_SERVER)
            .args(["-D", "-e", "-f", &path("server")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(at("server.log")).unwrap())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = fs::read_to_string(at("server.log")).unwrap();
            assert!(begun.elapsed() < Duration::from_secs(60), "sshd does not start: {log}");
            thread::sleep(Duration::from_millis(20));
        }
        TestBoard { folder, server }
    }

    /// The program, which finds this machine by ssh.
    pub fn wiregauge(&self) -> Command {
        let mut command = wiregauge();
        let path = std::env::var("PATH").unwrap();
        let client = self.folder.path().join("client");
        command.env("PATH", format!("{}:{path}", client.display()));
        command
    }

    /// Puts a program there that goes before the system's.
    pub fn replace(&self, name: &str, script: &str) {
        write_program(&self.folder.path().join("programs").join(name), script);
    }

    /// Removes such a program.
    pub fn restore(&self, name: &str) {
        fs::remove_file(self.folder.path().join("programs").join(name)).unwrap();
    }

    /// Where things that are brought to it lie.
    pub fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// Waits until a program that was brought there by this child, whose errors are piped, has
    /// started others. On a loaded machine it takes minutes to compress what is brought.
    pub fn await_measurement(&self, child: &mut Child) {
        while processes_below(&self.files()) < 3 {
            if let Some(status) = child.try_wait().unwrap() {
                let mut said = String::new();
                child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
                panic!("it ended before it measured, by {status}: {said}");
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until nothing is left there, neither a file nor a process.
    pub fn await_nothing(&self) {
        let begun = Instant::now();
        while fs::read_dir(self.files()).unwrap().next().is_some()
            || processes_below(&self.files()) > 0
        {
            assert!(begun.elapsed() < Duration::from_secs(120), "something is left");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for TestBoard {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn write_program(path: &Path, script: &str) {
    wiregauge_build_tools::write_script(path, &format!("#!/bin/sh\n{script}")).unwrap();
}
