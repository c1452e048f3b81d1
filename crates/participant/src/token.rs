//! The run's token: who comes to a port of a participant says it first. It keeps
//! strangers out who scan the network, and programs of another run; it is no
//! protection from who can read what goes over the wire.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Where a participant finds the token that it is to say to its conductor: not
/// on its command line, which all users of the machine can read.
pub const ENV_VAR: &str = "WIREGAUGE_TOKEN";
/// How long who comes may take to say it.
const PATIENCE: Duration = Duration::from_millis(500);

/// Says the token to whom was come to.
///
/// # Errors
/// When the other side is gone.
pub fn send_token(mut stream: &TcpStream, token: &str) -> Result<()> {
    stream.write_all(token.as_bytes()).context("the other side does not listen")
}

/// Hands over the connections of those who come and say the token, until one is enough; an
/// error says `who` was waited for.
/// Whether it was in so long. Nobody waits at the listener.
///
/// # Errors
/// When the system refuses, and those of who takes them.
pub fn accept_with_token(
    listener: &TcpListener,
    token: &str,
    who: &str,
    patience: Duration,
    mut take: impl FnMut(TcpStream) -> Result<ControlFlow<()>>,
) -> Result<bool> {
    let mut deadline = None;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                if receives_token(&stream, token) && take(stream)?.is_break() {
                    return Ok(true);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if Instant::now() >= *deadline.get_or_insert_with(|| Instant::now() + patience) {
                    return Ok(false);
                }
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error).with_context(|| format!("cannot accept {who}")),
        }
    }
}

/// Whether who came says the token, and soon. Its connection then blocks, and
/// has no time-out.
pub fn receives_token(mut stream: &TcpStream, token: &str) -> bool {
    let deadline = Instant::now() + PATIENCE;
    let mut said = vec![0; token.len()];
    let mut filled = 0;
    if stream.set_nonblocking(false).is_err() {
        return false;
    }
    while filled < said.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return false;
        }
        match stream.read(&mut said[filled..]) {
            Ok(count) if count > 0 => filled += count,
            _ => return false,
        }
    }
    constant_time_eq(&said, token.as_bytes()) && stream.set_read_timeout(None).is_ok()
}

/// Whether both are the same, in a time that does not tell where they differ.
pub fn constant_time_eq(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn who_does_not_say_it_is_sent_away_soon() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let words = [("secret", true), ("secreT", false), ("GET / HTTP", false), ("", false)];
        for (word, known) in words {
            let stream = TcpStream::connect(address).unwrap();
            send_token(&stream, word).unwrap();
            let (came, _) = listener.accept().unwrap();
            assert_eq!(receives_token(&came, "secret"), known, "{word}");
        }
    }
}
