//! Raw TCP: the physical floor. A sample is its size in four bytes and its
//! bytes; the writer has a connection to each reader and writes to one after
//! the other. It is here, and not beside the other transports, so that a stage of a chain has
//! it whatever program it runs in.

mod reader;
mod topics;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::{Context, Result};
use wiregauge_timing::allocation::resize;

use crate::connect::{connect_with_retry, MAX_OUTAGE};
use crate::tcp::reader::{TcpReader, PREFIX};
use crate::tcp::topics::{TopicsReader, CONNECTED, TAG};
use crate::token::{accept_with_token, send_token};
use crate::transport::{Reader, Topic, Transport, Writer};

/// Raw TCP.
pub struct Tcp;

impl Transport for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn library(&self) -> String {
        let path = "/proc/sys/net/ipv4/tcp_congestion_control";
        let control = std::fs::read_to_string(path).unwrap_or_default();
        format!("Linux TCP, {}", control.trim())
    }

    fn options(&self) -> Vec<String> {
        vec![
            "TCP_NODELAY; one connection to each reader, written to in turn".into(),
            "four bytes of length before each sample; several topics of a sender share its \
             connections, with four bytes more of the topic"
                .into(),
            "steps are acknowledged over the connection that their samples come over".into(),
        ]
    }

    fn option_names(&self) -> &'static [&'static str] {
        &["port"]
    }

    fn receiver_options(&self) -> &'static [&'static str] {
        &["port"]
    }

    fn carries_several(&self) -> bool {
        true
    }

    fn acknowledges_in_band(&self) -> bool {
        true
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let port = match topic.options.get("port") {
            Some(text) => text.parse().with_context(|| format!("'{text}' is not a port"))?,
            None => 0,
        };
        let address = SocketAddr::new(topic.bind, port);
        let listener =
            TcpListener::bind(address).with_context(|| format!("cannot listen at {address}"))?;
        listener.set_nonblocking(true)?;
        let endpoint = listener.local_addr()?.to_string();
        if topic.several.is_some() {
            return Ok((Box::new(TopicsReader::new(listener, topic)), endpoint));
        }
        let (token, size) = (topic.token.clone(), topic.size);
        let waiting = PendingReader { listener, token, open: None, size, varies: topic.varies };
        Ok((Box::new(waiting), endpoint))
    }

    fn writer(&self, topic: &Topic, endpoints: &[String]) -> Result<Box<dyn Writer>> {
        let connect = |endpoint: &String| -> Result<TcpStream> {
            let address: SocketAddr =
                endpoint.parse().with_context(|| format!("'{endpoint}' is not an address"))?;
            let stream = connect_with_retry(address, MAX_OUTAGE)
                .with_context(|| format!("cannot reach the reader at {endpoint}"))?;
            send_token(&stream, &topic.token)?;
            stream.set_nodelay(true)?;
            if topic.varies {
                await_welcome(&stream)
                    .with_context(|| format!("the reader at {endpoint} refused the connection"))?;
            }
            Ok(stream)
        };
        let streams = endpoints.iter().map(connect).collect::<Result<Vec<_>>>()?;
        let start = if topic.several.is_some() { PREFIX + TAG } else { PREFIX };
        let (buffer, varies, first) = (Vec::new(), topic.varies, topic.first_to_write());
        let mut writer = TcpWriter { streams, buffer, start, end: 0, first, varies };
        // Where sizes vary the buffer grows with what is sent.
        writer.prepare(if topic.varies { 0 } else { topic.size })?;
        if topic.several.is_some() {
            writer.choose_topic(0)?;
        }
        Ok(Box::new(writer))
    }
}

struct TcpWriter {
    streams: Vec<TcpStream>,
    /// The largest sample so far with its length before it.
    buffer: Vec<u8>,
    /// Where the sample begins in it, and where it ends.
    start: usize,
    end: usize,
    /// Which of the topics that are read is the first of these.
    first: usize,
    varies: bool,
}

impl TcpWriter {
    /// Makes room for a sample of a size, and writes its length.
    fn prepare(&mut self, size: usize) -> Result<()> {
        self.end = self.start + size;
        let length = u32::try_from(self.end - PREFIX).context("the sample is too large")?;
        if self.buffer.len() < self.end {
            resize(&mut self.buffer, self.end)?;
        }
        self.buffer[..PREFIX].copy_from_slice(&length.to_le_bytes());
        Ok(())
    }
}

impl Writer for TcpWriter {
    fn readers(&mut self) -> Result<usize> {
        // Who ends a recording closes its connection.
        match self.varies {
            true => Ok(self.streams.iter().filter(|stream| is_open(stream)).count()),
            false => Ok(self.streams.len()),
        }
    }

    fn buffer(&mut self) -> Result<&mut [u8]> {
        Ok(&mut self.buffer[self.start..self.end])
    }

    fn choose_topic(&mut self, number: usize) -> Result<()> {
        let topic = u32::try_from(self.first + number)?;
        self.buffer[PREFIX..self.start].copy_from_slice(&topic.to_le_bytes());
        Ok(())
    }

    fn buffer_of_size(&mut self, size: usize) -> Result<&mut [u8]> {
        self.prepare(size)?;
        self.buffer()
    }

    fn send(&mut self) -> Result<()> {
        for stream in &mut self.streams {
            stream.write_all(&self.buffer[..self.end]).context("the reader disconnected")?;
        }
        Ok(())
    }

    fn answer_connections(&mut self) -> Result<Vec<TcpStream>> {
        Ok(self.streams.iter().map(TcpStream::try_clone).collect::<Result<_, _>>()?)
    }
}

/// Waits for the byte by which a reader that was started apart says that it knows the token:
/// otherwise samples would go to one that has closed the connection.
fn await_welcome(mut stream: &TcpStream) -> Result<()> {
    stream.set_read_timeout(Some(CONNECTED))?;
    stream.read_exact(&mut [0]).context("it expects another token, or it has a writer already")?;
    Ok(stream.set_read_timeout(None)?)
}

/// Whether the other side has not closed a connection over which it says nothing.
fn is_open(stream: &TcpStream) -> bool {
    let mut byte = [0];
    let asked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut byte));
    let open = match asked {
        Ok(count) => count > 0,
        Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
    };
    stream.set_nonblocking(false).is_ok() && open
}

/// A reader whose writer may not be there yet.
struct PendingReader {
    listener: TcpListener,
    token: String,
    open: Option<TcpReader>,
    size: usize,
    varies: bool,
}

impl PendingReader {
    /// The reader, once the writer has come; none if it has not in so long.
    fn accept_writer(&mut self, patience: Duration) -> Result<Option<&mut TcpReader>> {
        let PendingReader { listener, token, open, size, varies } = self;
        if open.is_none() {
            accept_with_token(listener, token, "the writer", patience, |stream| {
                if *varies {
                    (&stream).write_all(&[0]).context("the writer disconnected")?;
                }
                *open = Some(TcpReader::new(stream, *size, *varies)?);
                Ok(ControlFlow::Break(()))
            })?;
        }
        Ok(self.open.as_mut())
    }
}

impl Reader for PendingReader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        match self.accept_writer(patience)? {
            Some(open) => open.next(patience),
            None => Ok(None),
        }
    }

    fn answer_connection(&mut self) -> Result<Option<TcpStream>> {
        let open = self.accept_writer(CONNECTED)?.context("no writer has connected yet")?;
        Ok(Some(open.stream.try_clone()?))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const LOCAL: Ipv4Addr = Ipv4Addr::LOCALHOST;

    fn topic(size: usize) -> Topic {
        Topic { size, ..Topic::example(&[]) }
    }

    #[test]
    fn carries_what_comes_in_pieces_and_in_lumps() {
        let (mut reader, endpoint) = Tcp.reader(&topic(3)).unwrap();
        let mut stream = TcpStream::connect(&endpoint).unwrap();
        let soon = Duration::from_millis(50);
        stream.write_all(&[3, 0, 0]).unwrap();
        assert!(reader.next(soon).unwrap().is_none());
        stream.write_all(&[0, 1]).unwrap();
        assert!(reader.next(soon).unwrap().is_none());
        stream.write_all(&[2, 3, 3, 0, 0, 0, 4, 5, 6, 3, 0]).unwrap();
        assert_eq!(reader.next(soon).unwrap().unwrap(), [1, 2, 3]);
        assert_eq!(reader.next(soon).unwrap().unwrap(), [4, 5, 6]);
        stream.write_all(&[0, 0, 7, 8, 9]).unwrap();
        assert_eq!(reader.next(soon).unwrap().unwrap(), [7, 8, 9]);
        drop(stream);
        assert!(reader.next(soon).is_err());
    }

    #[test]
    fn carries_any_size_up_to_the_largest() {
        let topic = Topic { varies: true, ..topic(3_000_000) };
        let (mut reader, endpoint) = Tcp.reader(&topic).unwrap();
        let sizes = [0, 1, 200_000, 0, 0, 3_000_000, 65_536, 3, 0, 70_000];
        let sends = std::thread::spawn(move || {
            let mut writer = Tcp.writer(&topic, &[endpoint]).unwrap();
            for size in sizes {
                let room = writer.buffer_of_size(size).unwrap();
                assert_eq!(room.len(), size);
                room.fill(size as u8 | 1);
                writer.send().unwrap();
            }
            while writer.readers().unwrap() > 0 {
                std::thread::yield_now();
            }
        });
        for size in sizes {
            let sample = reader.next(Duration::from_secs(10)).unwrap().unwrap();
            assert_eq!(sample.len(), size);
            assert!(sample.iter().all(|&byte| byte == size as u8 | 1));
        }
        // Who writes sees that nobody reads any more.
        drop(reader);
        sends.join().unwrap();
    }

    #[test]
    fn a_size_beyond_the_largest_reserves_nothing() {
        let topic = Topic { varies: true, ..topic(1000) };
        let (mut reader, endpoint) = Tcp.reader(&topic).unwrap();
        let mut stream = TcpStream::connect(&endpoint).unwrap();
        stream.write_all(&[2, 0, 0, 0, 7, 8, 0xff, 0xff, 0xff, 0x7f]).unwrap();
        let error = reader.next(Duration::from_secs(10)).unwrap_err();
        assert!(error.to_string().contains("has 2147483647 bytes"), "{error}");
    }

    #[test]
    fn carries_what_no_socket_holds() {
        let topic = topic(20_000_000);
        let (mut reader, endpoint) = Tcp.reader(&topic).unwrap();
        let sends = std::thread::spawn(move || {
            let mut writer = Tcp.writer(&topic, &[endpoint]).unwrap();
            for value in 1..=3 {
                writer.buffer().unwrap().fill(value);
                writer.send().unwrap();
            }
        });
        for value in 1..=3 {
            let sample = reader.next(Duration::from_secs(10)).unwrap().unwrap();
            assert!(sample.len() == 20_000_000 && sample.iter().all(|&byte| byte == value));
        }
        sends.join().unwrap();
    }

    #[test]
    fn who_does_not_say_the_token_is_not_the_writer() {
        let topic = Topic { token: "secret".into(), ..topic(3) };
        let (mut reader, endpoint) = Tcp.reader(&topic).unwrap();
        let mut stranger = TcpStream::connect(&endpoint).unwrap();
        stranger.write_all(&[3, 0, 0, 0, 1, 2, 3]).unwrap();
        let mut writer = Tcp.writer(&topic, &[endpoint]).unwrap();
        writer.buffer().unwrap().copy_from_slice(&[4, 5, 6]);
        writer.send().unwrap();
        let sample = reader.next(Duration::from_secs(5)).unwrap().unwrap();
        assert_eq!(sample, [4, 5, 6]);
    }

    #[test]
    fn nonsense_is_refused() {
        let (mut reader, endpoint) = Tcp.reader(&topic(10)).unwrap();
        let mut stream = TcpStream::connect(&endpoint).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        let error = reader.next(Duration::from_secs(10)).unwrap_err();
        assert!(error.to_string().contains("another program"), "{error}");
    }

    #[test]
    fn a_port_in_use_is_named() {
        let taken = TcpListener::bind((LOCAL, 0)).unwrap();
        let mut topic = topic(10);
        let port = taken.local_addr().unwrap().port().to_string();
        topic.options.insert("port".into(), port.clone());
        let error = Tcp.reader(&topic).err().expect("it is taken");
        assert!(format!("{error:#}").contains(&port), "{error:#}");
    }
}
