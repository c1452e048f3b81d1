//! Two hosts on one machine with a link of a known rate between them.
//!
//! What they do to each other goes over a pair of virtual Ethernet interfaces,
//! and a token bucket at either end lets through what the rate allows. They
//! share the machine's processors and its clock.
//!
//! Any program can run there:
//!
//! ```no_run
//! use std::process::Command;
//! use wiregauge_bus::placement::emulation::Emulation;
//!
//! # fn main() -> anyhow::Result<()> {
//! let emulation = Emulation::build("1gbit".parse()?)?;
//! let mut server = Command::new("iperf3");
//! server.args(["--server", "--one-off"]);
//! emulation.receiver.enter(&mut server)?;
//! let mut server = server.spawn()?;
//! let mut client = Command::new("iperf3");
//! client.args(["--client", &emulation.receiver.address().to_string()]);
//! emulation.sender.enter(&mut client)?;
//! client.status()?;
//! server.wait()?;
//! # Ok(())
//! # }
//! ```

mod host;

use std::fs;
use std::net::Ipv4Addr;

use anyhow::{Context, Result};

pub use host::Host;

pub use crate::link_rate::Rate;

/// The interface at either end. The hosts' own networks are the only place
/// where it is ever seen, so that emulations at the same time do not meet.
const INTERFACE: &str = "bus0";
/// What may pass at once, and what may wait, as `tc` takes it.
const BUCKET: &str = "burst 64k limit 2mb";
/// The senders' address and the receivers'.
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];

/// Two hosts and the link between them. It goes away with its last copy and the
/// last program that runs in it.
#[derive(Clone, Debug)]
pub struct Emulation {
    /// Where the sender runs.
    pub sender: Host,
    /// Where all receivers run.
    pub receiver: Host,
    rate: Rate,
    /// How TCP adapts to the link.
    congestion: String,
}

impl Emulation {
    /// Makes both hosts and the link.
    ///
    /// # Errors
    /// Without the right to do so, when `ip`, `tc` or `ethtool` is missing, or
    /// when the kernel lacks something.
    pub fn build(rate: Rate) -> Result<Emulation> {
        let [sender, receiver] = ADDRESSES;
        let (sender, receiver) = (Host::new(sender)?, Host::new(receiver)?);
        let there = receiver.network();
        sender
            .run_tool(&format!(
                "ip link add name {INTERFACE} type veth peer name {INTERFACE} netns {there}"
            ))
            .context("cannot join the emulated hosts; the kernel needs CONFIG_VETH")?;
        for host in [&sender, &receiver] {
            host.run_tool(&format!("ip address add {}/24 dev {INTERFACE}", host.address()))?;
            // Otherwise packets of 64 KiB would cross, which no wire carries.
            host.run_tool(&format!("ethtool -K {INTERFACE} tso off gso off gro off"))?;
            host.run_tool(&format!("tc qdisc add dev {INTERFACE} root {}", bucket_arguments(rate)))
                .context("cannot shape the emulated link; the kernel needs CONFIG_NET_SCH_TBF")?;
            bring_up(host)?;
        }
        let congestion = sender
            .run_inside(|| fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control"))?
            .unwrap_or_default()
            .trim()
            .to_owned();
        Ok(Emulation { sender, receiver, rate, congestion })
    }

    /// Cuts the link, as if someone pulled the plug: both ends lose the carrier,
    /// and what is on its way is lost.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn cut(&self) -> Result<()> {
        self.receiver.run_tool(&format!("ip link set dev {INTERFACE} down"))
    }

    /// Plugs it in again.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn restore(&self) -> Result<()> {
        bring_up(&self.receiver)
    }

    /// What the reader of a figure must know.
    pub fn notes(&self) -> Vec<String> {
        vec![
            "two hosts emulated on one machine, whose processors and clock they share".into(),
            format!(
                "emulated link: veth, tc {} at both ends, tso, gso and gro off; TCP congestion \
                 control {}",
                bucket_arguments(self.rate),
                self.congestion
            ),
        ]
    }
}

/// The token bucket of an end, as `tc` takes it.
fn bucket_arguments(rate: Rate) -> String {
    format!("tbf rate {rate} {BUCKET}")
}

/// Opens an end of the link, for multicast too: the route goes when it closes.
fn bring_up(host: &Host) -> Result<()> {
    host.run_tool(&format!("ip link set dev {INTERFACE} up"))?;
    host.run_tool(&format!("ip route replace 224.0.0.0/4 dev {INTERFACE}"))
}
