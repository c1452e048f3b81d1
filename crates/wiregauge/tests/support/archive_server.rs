//! A server of files that is faulty on purpose: the first part of a path says in which way.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request that came.
#[derive(Clone, Debug)]
pub struct Request {
    /// The path, with its escapes.
    pub path: String,
    /// How many bytes of a body were sent.
    pub sent: usize,
}

/// A server until the test ends.
pub struct ArchiveServer {
    /// `127.0.0.1:PORT`.
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// A file: its beginning and its end, between which are zeros.
#[derive(Clone, Default)]
pub struct ServedFile {
    pub front: Vec<u8>,
    pub end: Vec<u8>,
    pub size: u64,
}

impl ServedFile {
    /// A file of these bytes.
    pub fn new(front: Vec<u8>) -> ServedFile {
        ServedFile { size: front.len() as u64, front, end: Vec::new() }
    }

    fn bytes(&self, from: u64, to: u64) -> Vec<u8> {
        let end = self.size - self.end.len() as u64;
        let byte = |at: u64| match self.front.get(at as usize) {
            Some(byte) => *byte,
            None if at >= end => self.end[(at - end) as usize],
            None => 0,
        };
        (from..to).map(byte).collect()
    }
}

impl ArchiveServer {
    /// Serves these files, by their names behind what says how they are served.
    pub fn start(files: &[(&str, ServedFile)]) -> ArchiveServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let files: BTreeMap<String, ServedFile> =
            files.iter().map(|(name, file)| ((*name).to_owned(), file.clone())).collect();
        let (files, requests) = (Arc::new(files), Arc::<Mutex<Vec<Request>>>::default());
        let server = ArchiveServer { address, requests: Arc::clone(&requests) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (files, requests) = (Arc::clone(&files), Arc::clone(&requests));
                thread::spawn(move || serve(stream, &files, &requests));
            }
        });
        server
    }

    /// The requests since it was asked last.
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }
}

/// Answers the requests of a connection. Nobody is told where it ends.
fn serve(
    stream: TcpStream,
    files: &BTreeMap<String, ServedFile>,
    requests: &Mutex<Vec<Request>>,
) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let mut stream = stream;
    loop {
        let first = lines.next()?.ok()?;
        let path = first.split(' ').nth(1)?.to_owned();
        let mut headers = BTreeMap::new();
        loop {
            let line = lines.next()?.ok()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let place = path.split('?').next()?;
        let (way, name) = place.strip_prefix('/')?.split_once('/')?;
        let before = requests.lock().unwrap().iter().filter(|one| one.path == path).count();
        let (head, body, cut) = answer(way, name, files.get(&unescape(name)), &headers, before);
        requests.lock().unwrap().push(Request { path: path.clone(), sent: body.len() });
        if way == "slow" {
            thread::sleep(Duration::from_secs(5));
        }
        let length = if cut { 2 * body.len() } else { body.len() };
        let head = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&body).ok()?;
        if cut {
            return None;
        }
    }
}

/// The status with headers, the body, and whether the connection is cut within it.
fn answer(
    way: &str,
    name: &str,
    file: Option<&ServedFile>,
    headers: &BTreeMap<String, String>,
    before: usize,
) -> (String, Vec<u8>, bool) {
    let refuse = |status: &str, body: String| (status.to_owned(), body.into_bytes(), false);
    match way {
        "forbidden" => {
            // As servers do, with what nobody should see.
            let said = headers.get("authorization").cloned().unwrap_or_default();
            return refuse(
                "403 Forbidden",
                format!("<Error><Code>AccessDenied</Code>{said}</Error>"),
            );
        }
        "down" => return refuse("503 Service Unavailable", String::new()),
        "busy" if before < 2 => return refuse("503 Service Unavailable", String::new()),
        "moved" => return refuse(&format!("302 Found\r\nLocation: /plain/{name}"), String::new()),
        _ => {}
    }
    let Some(file) = file else { return refuse("404 Not Found", String::new()) };
    let tag = if way == "changed" && before > 0 { "\"two\"" } else { "\"one\"" };
    let wanted = headers.get("if-match").filter(|_| way != "changed-silently");
    if wanted.is_some_and(|wanted| wanted != tag) {
        return refuse("412 Precondition Failed", String::new());
    }
    let tag = if way == "changed-silently" && before > 0 { "\"two\"" } else { tag };
    let about = format!("ETag: {tag}\r\nLast-Modified: Thu, 01 Oct 2026 00:00:00 GMT");
    let range =
        headers.get("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let range = range.map(|(from, to)| (from.parse().unwrap(), to.parse::<u64>().unwrap() + 1));
    match range.filter(|_| way != "whole") {
        Some((from, to)) if from < file.size => {
            let to: u64 = to.min(file.size);
            let mut body = file.bytes(from, to);
            // Each second answer is cut.
            let cut = way == "cut" && before.is_multiple_of(2) && body.len() > 1;
            if cut {
                body.truncate(body.len() / 2);
            }
            let size = file.size;
            let head = format!(
                "206 Partial Content\r\n{about}\r\nContent-Range: bytes {from}-{}/{size}",
                to - 1
            );
            (head, body, cut)
        }
        Some(_) => refuse("416 Range Not Satisfiable", String::new()),
        None => (format!("200 OK\r\n{about}"), file.bytes(0, file.size), false),
    }
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let hex = (*first == b'%').then(|| behind.get(..2)).flatten();
        let hex = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(hex.unwrap_or(*first));
        rest = if hex.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).unwrap()
}
