//! Connections to who listens already, over a link that may be down for a moment.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// How long a way may be gone when a participant sets out.
pub const MAX_OUTAGE: Duration = Duration::from_secs(5);
/// Between two attempts.
pub const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Connects, and tries again for so long where there is no way at the moment. Who
/// is there and does not listen is not asked again.
///
/// # Errors
/// What the last attempt said.
pub fn connect_with_retry(address: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
    let no_way = |error: &io::Error| {
        matches!(error.kind(), ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable)
    };
    retry(patience, no_way, |left| TcpStream::connect_timeout(&address, left))
}

/// Connects to one who may not listen yet: whatever was said, it is tried again
/// for so long.
///
/// # Errors
/// What the last attempt said.
pub fn await_listener(address: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
    retry(patience, |_| true, |left| TcpStream::connect_timeout(&address, left))
}

fn retry<T>(
    patience: Duration,
    again: impl Fn(&io::Error) -> bool,
    mut connect: impl FnMut(Duration) -> io::Result<T>,
) -> io::Result<T> {
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match connect(left.max(RETRY_PAUSE)) {
            Err(error) if again(&error) && Instant::now() + RETRY_PAUSE < deadline => {
                thread::sleep(RETRY_PAUSE);
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_way_that_comes_back_is_taken() {
        let mut tries = 0;
        let no_way = |error: &io::Error| error.kind() == ErrorKind::NetworkUnreachable;
        let outcome = retry(Duration::from_secs(5), no_way, |_| {
            tries += 1;
            match tries {
                3 => Ok(tries),
                _ => Err(ErrorKind::NetworkUnreachable.into()),
            }
        });
        assert_eq!(outcome.unwrap(), 3);
        let gone: io::Result<()> =
            retry(
                Duration::from_millis(250),
                no_way,
                |_| Err(ErrorKind::NetworkUnreachable.into()),
            );
        assert_eq!(gone.unwrap_err().kind(), ErrorKind::NetworkUnreachable);
    }

    #[test]
    fn who_does_not_listen_is_asked_once_or_awaited() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let refused = connect_with_retry(address, Duration::from_secs(60)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let later = thread::spawn(move || {
            thread::sleep(Duration::from_millis(300));
            TcpListener::bind(address).map(|listener| listener.accept().map(|_| ()))
        });
        assert!(await_listener(address, Duration::from_secs(10)).is_ok());
        later.join().unwrap().unwrap().unwrap();
    }
}
