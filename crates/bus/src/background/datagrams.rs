//! A paced flow of UDP datagrams, which do not adapt to the link as TCP does: what was
//! sent is what the link was offered.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{anyhow, Context, Result};
use wiregauge_timing::threads::start_thread;

use crate::background::message::FlowEnd;

/// Bytes of a datagram: with its headers it is one packet on any Ethernet.
const DATAGRAM: usize = 1400;
/// Bytes of the headers of UDP and of IP, of version 4 and 6.
const HEADERS: [u64; 2] = [28, 48];
/// From one burst to the next.
const PAUSE: Duration = Duration::from_micros(500);
/// What could not be sent for longer is not sent later: a flow that catches up is another load.
const LONGEST_DEBT: Duration = Duration::from_millis(10);
/// How long to wait for a datagram before looking whether it is enough.
const PATIENCE: Duration = Duration::from_millis(50);

/// An end of the flow that runs.
pub struct Flow {
    /// Where datagrams come, if they do.
    pub port: Option<u16>,
    thread: JoinHandle<u64>,
}

impl Flow {
    /// Starts this end, until it is to stop.
    ///
    /// # Errors
    /// When the system gives no port or no thread.
    pub fn start(end: &FlowEnd, stop: &Arc<AtomicBool>) -> Result<Flow> {
        let stop = Arc::clone(stop);
        match end {
            FlowEnd::Receives { at, token } => {
                let socket = UdpSocket::bind((*at, 0));
                let socket = socket.with_context(|| format!("no datagram can come to {at}"))?;
                socket.set_read_timeout(Some(PATIENCE))?;
                let port = Some(socket.local_addr()?.port());
                let (headers, token) = (header_bytes(*at), token.clone());
                let receive = move || receive_until(&stop, &socket, token.as_bytes(), headers);
                Ok(Flow { port, thread: start_thread("flow", receive)? })
            }
            FlowEnd::Sends { to, rate, token } => {
                let first = to.first().context("the flow goes nowhere")?.ip();
                let any: IpAddr = match first {
                    IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
                    IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
                };
                let socket = UdpSocket::bind((any, 0)).context("no datagram can be sent")?;
                let (to, rate) = (to.clone(), *rate);
                let mut datagram = vec![0; DATAGRAM];
                datagram[..token.len()].copy_from_slice(token.as_bytes());
                let bits = 8 * (DATAGRAM as u64 + header_bytes(first));
                let send = move || send_until(&stop, &socket, &datagram, bits, &to, rate);
                Ok(Flow { port: None, thread: start_thread("flow", send)? })
            }
        }
    }

    /// The bits that went to each host, or came, once it was told to stop.
    ///
    /// # Errors
    /// When it panicked.
    pub fn finish(self) -> Result<u64> {
        self.thread.join().map_err(|_| anyhow!("the flow panicked"))
    }
}

fn header_bytes(of: IpAddr) -> u64 {
    HEADERS[usize::from(of.is_ipv6())]
}

fn receive_until(stop: &AtomicBool, socket: &UdpSocket, token: &[u8], headers: u64) -> u64 {
    let (mut bits, mut datagram) = (0, [0; DATAGRAM]);
    while !stop.load(Ordering::Relaxed) {
        // What others send here is none of it.
        match socket.recv(&mut datagram) {
            Ok(size) if datagram[..size].starts_with(token) => bits += 8 * (size as u64 + headers),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => thread::sleep(PAUSE),
        }
    }
    bits
}

/// Sends to all by turns, and tells how many bits went to the one that got least.
fn send_until(
    stop: &AtomicBool,
    socket: &UdpSocket,
    datagram: &[u8],
    bits: u64,
    to: &[SocketAddr],
    rate: u64,
) -> u64 {
    let mut sent = vec![0; to.len()];
    let (mut since, mut due_sent) = (Instant::now(), 0);
    while !stop.load(Ordering::Relaxed) {
        let owed = Duration::from_secs_f64(due_sent as f64 / rate as f64);
        let now = Instant::now();
        if now > since + owed + LONGEST_DEBT {
            (since, due_sent) = (now, 0);
        } else if now < since + owed {
            thread::sleep(PAUSE);
            continue;
        }
        for (to, sent) in to.iter().zip(&mut sent) {
            // A link that is cut carries nothing, and what was not sent is not counted.
            match socket.send_to(datagram, to) {
                Ok(_) => *sent += bits,
                Err(_) => thread::sleep(PAUSE),
            }
        }
        due_sent += bits;
    }
    sent.into_iter().min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_counted_at_both_ends_without_strangers() {
        let stop = Arc::new(AtomicBool::new(false));
        let at: IpAddr = Ipv4Addr::LOCALHOST.into();
        let receives = FlowEnd::Receives { at, token: "ours".into() };
        let sink = Flow::start(&receives, &stop).unwrap();
        let to = SocketAddr::new(at, sink.port.unwrap());
        let rate = 20_000_000;
        let began = Instant::now();
        let sends = |token: &str| FlowEnd::Sends { to: vec![to], rate, token: token.into() };
        let ends = Arc::new(AtomicBool::new(false));
        let [own, strange] = ["ours", "else"].map(|who| Flow::start(&sends(who), &ends).unwrap());
        thread::sleep(Duration::from_secs(1));
        ends.store(true, Ordering::Relaxed);
        let (sent, other) = (own.finish().unwrap(), strange.finish().unwrap());
        let longest = began.elapsed() + LONGEST_DEBT;
        thread::sleep(PATIENCE);
        stop.store(true, Ordering::Relaxed);
        let came = sink.finish().unwrap();
        assert!(other > 0 && came > 0 && came <= sent, "{came} of {sent}, beside {other}");
        // Never faster than it was asked for, but for the last datagram.
        assert!(sent as f64 <= rate as f64 * longest.as_secs_f64() + 12_000.0, "{sent}");
    }

    #[test]
    fn nobody_to_send_to_is_an_error() {
        let stop = Arc::new(AtomicBool::new(true));
        let nowhere = FlowEnd::Sends { to: Vec::new(), rate: 1, token: String::new() };
        assert!(Flow::start(&nowhere, &stop).is_err());
    }
}
