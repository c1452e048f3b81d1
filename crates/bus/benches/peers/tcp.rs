//! The bare loop over TCP: two processes that write and read, and nothing else.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{bail, Result};

use crate::support::median;

/// The argument that makes this program the other side of the bare loop.
pub const PEER: &str = "peer";
/// A step of the bare loop: a sample with its length, and an acknowledgement.
const SAMPLE: usize = 504;
const ACKNOWLEDGEMENT: usize = 4;

/// Steps per second of a sample written and acknowledged, and nothing else.
pub fn bare_loop(duration: Duration) -> Result<f64> {
    let (mut child, [mut there, mut back]) = start_peer(ACKNOWLEDGEMENT)?;
    let (sample, mut acknowledgement) = ([1; SAMPLE], [0; ACKNOWLEDGEMENT]);
    let (start, mut steps) = (Instant::now(), 0u64);
    while start.elapsed() < duration {
        there.write_all(&sample)?;
        back.read_exact(&mut acknowledgement)?;
        steps += 1;
    }
    let rate = steps as f64 / start.elapsed().as_secs_f64();
    drop((there, back));
    child.wait()?;
    Ok(rate)
}

/// The median of so many round trips of a sample, one in each cycle, in
/// nanoseconds. Each way has a connection, as each topic has.
pub fn bare_round_trips(cycle: Duration, count: u32) -> Result<f64> {
    let (mut child, [mut there, mut back]) = start_peer(SAMPLE)?;
    let (mut sample, mut times, start) = ([1; SAMPLE], Vec::new(), Instant::now());
    for number in 0..count {
        std::thread::sleep((start + cycle * number).saturating_duration_since(Instant::now()));
        let sent = Instant::now();
        there.write_all(&sample)?;
        back.read_exact(&mut sample)?;
        times.push(sent.elapsed().as_nanos() as f64);
    }
    drop((there, back));
    child.wait()?;
    Ok(median(&times))
}

/// The other side of a bare loop, in a process of its own, and the connections to
/// it and from it: one and the same where it only acknowledges.
fn start_peer(answer: usize) -> Result<(Child, [TcpStream; 2])> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let words = [PEER, &listener.local_addr()?.to_string(), &answer.to_string()];
    let child = Command::new(std::env::current_exe()?).args(words).spawn()?;
    let connected = || -> Result<TcpStream> {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    let there = connected()?;
    let back = if answer == SAMPLE { connected()? } else { there.try_clone()? };
    Ok((child, [there, back]))
}

/// The other side of a bare loop.
pub fn peer(address: &str, answer: &str) -> Result<()> {
    let mut here = TcpStream::connect(address)?;
    let answer: usize = answer.parse()?;
    let mut back = if answer == SAMPLE { TcpStream::connect(address)? } else { here.try_clone()? };
    back.set_nodelay(true)?;
    let mut sample = [0; SAMPLE];
    while here.read_exact(&mut sample).is_ok() {
        if back.write_all(&sample[..answer]).is_err() {
            bail!("the other side is gone");
        }
    }
    Ok(())
}
