//! Cyclone DDS, by a few functions of C of our own (`dds/dds.c`).

use std::ffi::{c_char, CStr, CString};
use std::process::ExitCode;
use std::ptr;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use wiregauge_participant::participant;
use wiregauge_participant::transport::{Reader, Topic, Transport, Writer};

fn main() -> ExitCode {
    if std::env::var_os(CONFIGURATION).is_none() {
        // Nothing else runs yet that could read it.
        std::env::set_var(CONFIGURATION, BUFFERS);
    }
    participant::main(vec![&Dds])
}

/// Where Cyclone looks for its configuration.
const CONFIGURATION: &str = "CYCLONEDDS_URI";
/// What is set where the user sets nothing: as much room for datagrams as the
/// system gives. Cyclone asks for 1 MiB, which a sample of 10 MB overruns on a
/// fast link.
const BUFFERS: &str = "<CycloneDDS><Domain><Internal><SocketReceiveBufferSize \
                       max=\"32MB\"/></Internal></Domain></CycloneDDS>";

/// Cyclone DDS.
struct Dds;

/// Memory that a reader's unread samples may take, about, in bytes.
const KEPT: usize = 256 << 20;
/// From the time that the writer knows all readers to the first sample, so that
/// they know it too.
const SETTLE: Duration = Duration::from_millis(200);

impl Transport for Dds {
    fn name(&self) -> &'static str {
        "dds"
    }

    fn library(&self) -> String {
        format!("Cyclone DDS {}", env!("WIREGAUGE_CYCLONE"))
    }

    fn options(&self) -> Vec<String> {
        let configuration = std::env::var(CONFIGURATION).unwrap_or_default();
        let room = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap_or_default();
        vec![
            "Reliable, KeepAll; 10 s of blocking before a write fails".into(),
            "the type of ddsperf: sequence, key, octets; 12 bytes more than the sample".into(),
            "a reader keeps up to 256 MiB of samples, at least 16 and at most 10,000".into(),
            format!("{CONFIGURATION}={configuration}"),
            format!("net.core.rmem_max is {}", room.trim()),
        ]
    }

    fn knows(&self) -> &'static [&'static str] {
        &["domain", "topic"]
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let kept = (KEPT / topic.size).clamp(16, 10_000) as i32;
        let end = End::open(topic, kept)?;
        Ok((Box::new(end), String::new()))
    }

    fn writer(&self, topic: &Topic, _: &[String]) -> Result<Box<dyn Writer>> {
        let end = End::open(topic, 0)?;
        let buffer = vec![0; topic.size];
        Ok(Box::new(DdsWriter { end, buffer, complete: None, wanted: topic.readers }))
    }
}

struct DdsWriter {
    end: End,
    buffer: Vec<u8>,
    /// Since when all readers are known.
    complete: Option<Instant>,
    wanted: usize,
}

impl Writer for DdsWriter {
    fn readers(&mut self) -> Result<usize> {
        // SAFETY: the end is open.
        let found = unsafe { wiregauge_dds_readers(self.end.0) };
        let found = check(found).context("cannot count the readers")? as usize;
        if found < self.wanted {
            self.complete = None;
            return Ok(found);
        }
        let settled = self.complete.get_or_insert_with(Instant::now).elapsed() >= SETTLE;
        Ok(if settled { found } else { self.wanted - 1 })
    }

    fn room(&mut self) -> Result<&mut [u8]> {
        Ok(&mut self.buffer)
    }

    fn send(&mut self) -> Result<()> {
        let size = u32::try_from(self.buffer.len()).context("too large a sample")?;
        // SAFETY: the end is open, and the buffer has this size.
        let code = unsafe { wiregauge_dds_write(self.end.0, self.buffer.as_ptr(), size) };
        check(code).context("dds_write fails").map(drop)
    }
}

/// A writer or a reader with all that belongs to it.
struct End(*mut Handle);

impl End {
    /// A reader that keeps so many samples, or a writer for none.
    fn open(topic: &Topic, kept: i32) -> Result<End> {
        let domain = match topic.options.get("domain") {
            Some(text) => text
                .parse()
                .ok()
                .filter(|domain| *domain <= 230)
                .with_context(|| format!("'{text}' is no domain; there are 0 to 230"))?,
            None => 0,
        };
        let name = CString::new(topic.options.get("topic").unwrap_or(&topic.name).as_str())?;
        let mut handle = ptr::null_mut();
        // SAFETY: the string lives during the call.
        let code = unsafe { wiregauge_dds_open(domain, name.as_ptr(), kept, &mut handle) };
        check(code).with_context(|| format!("cannot take part in DDS domain {domain}"))?;
        Ok(End(handle))
    }
}

impl Reader for End {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        let (mut bytes, mut size) = (ptr::null(), 0);
        let patience = patience.as_nanos() as i64;
        // SAFETY: the end is open.
        let code = unsafe { wiregauge_dds_next(self.0, patience, &mut bytes, &mut size) };
        match check(code).context("cannot read from DDS")? {
            0 => Ok(None),
            // SAFETY: the sample is on loan until the next call, which wants
            // the reader for itself.
            _ if size > 0 => Ok(Some(unsafe { std::slice::from_raw_parts(bytes, size as usize) })),
            _ => Ok(Some(&[])),
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody uses it any more.
        unsafe { wiregauge_dds_close(self.0) }
    }
}

fn check(code: i32) -> Result<i32> {
    if code < 0 {
        // SAFETY: the library's own text, which stays.
        let text = unsafe { CStr::from_ptr(wiregauge_dds_error(code)) };
        bail!("Cyclone DDS: {}", text.to_string_lossy());
    }
    Ok(code)
}

#[repr(C)]
struct Handle {
    _opaque: [u8; 0],
}

extern "C" {
    fn wiregauge_dds_open(
        domain: u32,
        topic: *const c_char,
        kept: i32,
        opened: *mut *mut Handle,
    ) -> i32;
    fn wiregauge_dds_readers(dds: *mut Handle) -> i32;
    fn wiregauge_dds_write(dds: *mut Handle, bytes: *const u8, size: u32) -> i32;
    fn wiregauge_dds_next(
        dds: *mut Handle,
        patience: i64,
        bytes: *mut *const u8,
        size: *mut u32,
    ) -> i32;
    fn wiregauge_dds_close(dds: *mut Handle);
    fn wiregauge_dds_error(code: i32) -> *const c_char;
}
