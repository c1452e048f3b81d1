//! A host that this machine emulates: a network of its own, and shared memory
//! and mounts of its own, as shared memory would cross networks.
//!
//! Nothing in the file system names it. It is there as long as this process
//! holds its descriptors or a program runs in it. When the last of them is gone
//! the kernel removes it with its interfaces, however they ended.

use std::env;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Result};
use rustix::io::Errno;
use rustix::mount::{mount, mount_change, MountFlags, MountPropagationFlags};
use rustix::thread::{move_into_link_name_space, unshare_unsafe, LinkNameSpaceType, UnshareFlags};
use wiregauge_child_process::child::{Child, ChildFailure, Limits};
use wiregauge_system::interrupt::Interrupted;
use wiregauge_timing::threads::explain_no_thread;

/// How long a tool may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A host that this machine emulates. Copies are the same host.
#[derive(Clone, Debug)]
pub struct Host {
    address: Ipv4Addr,
    namespaces: Arc<Namespaces>,
}

/// What keeps a host there while no program runs in it.
#[derive(Debug)]
struct Namespaces {
    network: OwnedFd,
    ipc: OwnedFd,
    mounts: OwnedFd,
}

impl Host {
    /// A host with a loopback and nothing else; it is to get this address.
    ///
    /// # Errors
    /// Without the right to make one.
    pub(super) fn new(address: Ipv4Addr) -> Result<Host> {
        // In a thread, as only that is moved into what it makes.
        let made = thread::scope(|scope| {
            let maker = thread::Builder::new().name("host".into());
            maker.spawn_scoped(scope, Namespaces::new).map(|maker| maker.join())
        });
        let namespaces =
            explain_no_thread(made)?.map_err(|_| anyhow!("cannot create an emulated host"))??;
        let host = Host { address, namespaces: Arc::new(namespaces) };
        host.run_tool("ip link set dev lo up")?;
        Ok(host)
    }

    /// Its address on the link.
    pub fn address(&self) -> IpAddr {
        self.address.into()
    }

    /// Makes a program start in this host, in the folder that the command has
    /// by now, or else in ours.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn enter(&self, command: &mut Command) -> Result<()> {
        let mut folder = env::current_dir().context("the current folder was removed")?;
        if let Some(other) = command.get_current_dir() {
            folder.push(other);
        }
        let folder = CString::new(folder.into_os_string().into_vec())?;
        let namespaces = Arc::clone(&self.namespaces);
        // SAFETY: between fork and exec it makes system calls alone: no allocation and
        // no lock. `folder` and `namespaces` were made before.
        unsafe {
            command.pre_exec(move || {
                namespaces.enter()?;
                // With other mounts one is back at their root.
                Ok(rustix::process::chdir(folder.as_c_str())?)
            });
        }
        Ok(())
    }

    /// Does something in this host's network, in a thread: sockets that it
    /// opens stay there.
    ///
    /// # Errors
    /// When the system refuses the thread or the network.
    pub fn run_inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        let work = || -> io::Result<T> {
            let network = self.namespaces.network.as_fd();
            move_into_link_name_space(network, Some(LinkNameSpaceType::Network))?;
            Ok(work())
        };
        let done = thread::scope(|scope| {
            let thread = thread::Builder::new().name("host".into());
            thread.spawn_scoped(scope, work).map(|thread| thread.join())
        });
        match explain_no_thread(done)? {
            Ok(done) => done.context("cannot enter an emulated host"),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Listens at this host's loopback: who talks to us from here loads no link.
    ///
    /// # Errors
    /// When there is no port.
    pub fn listen(&self) -> Result<TcpListener> {
        let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let listener = self.run_inside(|| TcpListener::bind(address))?;
        listener.with_context(|| format!("cannot listen at {address} of an emulated host"))
    }

    /// Where the network is found as long as this process holds it.
    pub(super) fn network(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.namespaces.network.as_raw_fd())
    }

    /// Carries out a command line of a tool that sets up networks.
    ///
    /// # Errors
    /// When the tool is missing or fails, or the user asks to stop.
    pub(super) fn run_tool(&self, line: &str) -> Result<()> {
        let mut words = line.split_whitespace();
        let tool = words.next().context("no tool")?;
        let mut command = Command::new(tool);
        // Where they are, and where not every root looks.
        let path = env::var("PATH").unwrap_or_default();
        command.args(words).env("PATH", format!("{path}:/usr/sbin:/sbin"));
        self.enter(&mut command)?;
        let child = match Child::spawn(command, Limits::default()) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let package = if tool == "ethtool" { "ethtool" } else { "iproute2" };
                bail!("{tool} is not installed; apt-get install {package}");
            }
            child => child.with_context(|| format!("cannot start {tool}"))?,
        };
        match child.finish(Instant::now() + PATIENCE) {
            Ok(death) => {
                let done = death.status.is_some_and(|status| status.success());
                ensure!(done, "'{line}' fails: {death}");
                Ok(())
            }
            Err(ChildFailure::Interrupted) => Err(Interrupted.into()),
            Err(broken) => Err(broken).with_context(|| format!("'{line}' fails")),
        }
    }
}

impl Namespaces {
    /// Makes them and moves the calling thread there.
    fn new() -> Result<Namespaces> {
        let flags = UnshareFlags::NEWNET | UnshareFlags::NEWIPC | UnshareFlags::NEWNS;
        // SAFETY: without UnshareFlags::FILES descriptors go on being shared, which is
        // what the call is called unsafe for.
        match unsafe { unshare_unsafe(flags) } {
            Err(Errno::PERM) => bail!(
                "an emulated link needs CAP_SYS_ADMIN and CAP_NET_ADMIN; run wiregauge as root, or \
                 by 'unshare --map-root-user' if the system allows it"
            ),
            made => made
                .context("this kernel cannot emulate a host; it needs CONFIG_NET_NS and IPC_NS")?,
        }
        // What is mounted here is not seen outside.
        let private = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
        mount_change("/", private).context("cannot separate the mounts of an emulated host")?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("shm", "/dev/shm", "tmpfs", flags, c"mode=1777")
            .context("cannot give an emulated host its own /dev/shm")?;
        let open = |name: &str| -> Result<OwnedFd> {
            let path = format!("/proc/thread-self/ns/{name}");
            Ok(File::open(&path).with_context(|| format!("cannot open {path}"))?.into())
        };
        Ok(Namespaces { network: open("net")?, ipc: open("ipc")?, mounts: open("mnt")? })
    }

    /// Moves the calling process there, which has one thread.
    fn enter(&self) -> io::Result<()> {
        for (namespace, kind) in [
            (&self.network, LinkNameSpaceType::Network),
            (&self.ipc, LinkNameSpaceType::InterProcessCommunication),
            (&self.mounts, LinkNameSpaceType::Mount),
        ] {
            move_into_link_name_space(namespace.as_fd(), Some(kind))?;
        }
        Ok(())
    }
}
