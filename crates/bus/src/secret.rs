//! What keeps strangers out: a key that leader and agents share, and the token
//! of a run.
//!
//! Who has the key proves it before anything else is read, on both sides, by the
//! Noise protocol (`NNpsk0`) of the library snow; all that follows on that
//! connection is encrypted.

use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use rustix::rand::{getrandom, GetRandomFlags};
use snow::{Builder, HandshakeState, TransportState};
use wiregauge_participant::seal::{Seal, SharedSeal};
use wiregauge_system::input::read_text;

/// Where the key may be instead of in a file.
pub const ENV_VAR: &str = "WIREGAUGE_KEY";
/// The handshake: keys of the moment, and the shared one from the first message.
const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/// What both sides are about, so that no other use of the key is taken for it.
const PROLOGUE: &[u8] = b"wiregauge bus agent 1";
/// Size of either message of the handshake: a public key and a tag.
const MESSAGE: usize = 48;
/// How long the handshake may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same for who came, which may have to wait until others were heard.
pub const PATIENCE_TO_BE_HEARD: Duration = Duration::from_secs(10);
/// Bytes that encryption adds.
const TAG: usize = 16;
/// Bytes of a token.
const TOKEN: usize = 16;

/// A key that machines share.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// That of a file, or of the environment; none where neither is there.
    ///
    /// # Errors
    /// A file that others may read, or what is no key.
    pub fn find(path: Option<&Path>) -> Result<Option<Key>> {
        if let Some(path) = path {
            let shown = path.display();
            let text = read_text(path, 1 << 12)?;
            let meta = fs::metadata(path).with_context(|| format!("cannot read {shown}"))?;
            ensure!(
                !meta.is_file() || meta.mode() & 0o077 == 0,
                "other users may read the key {shown}; chmod 600 {shown}"
            );
            return Key::parse(&text).with_context(|| shown.to_string()).map(Some);
        }
        match std::env::var(ENV_VAR) {
            Ok(text) => Key::parse(&text).context(ENV_VAR).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// A key of 64 hexadecimal digits.
    fn parse(text: &str) -> Result<Key> {
        let digits = text.trim().as_bytes();
        let mut key = [0; 32];
        let number = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let legal = digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit);
        ensure!(
            legal,
            "not a key; give 64 hexadecimal digits, such as 'openssl rand -hex 32' prints"
        );
        for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
            *byte = number(pair).context("these are not hexadecimal digits")?;
        }
        Ok(Key(key))
    }

    /// Proves to the other side that this one has the key, and has it prove the
    /// same. `first` is the side that came.
    ///
    /// # Errors
    /// When the other side has another key or none, or does not answer in time.
    pub fn handshake(&self, stream: &mut TcpStream, first: bool) -> Result<SharedSeal> {
        let builder = Builder::new(PATTERN.parse()?).prologue(PROLOGUE)?.psk(0, &self.0)?;
        let mut state =
            if first { builder.build_initiator()? } else { builder.build_responder()? };
        let patience = if first { PATIENCE_TO_BE_HEARD } else { PATIENCE };
        let deadline = Instant::now() + patience;
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        if first {
            send_handshake(&mut state, stream)?;
            receive_handshake(&mut state, stream, deadline)?;
        } else {
            receive_handshake(&mut state, stream, deadline)?;
            send_handshake(&mut state, stream)?;
        }
        let seal: SharedSeal = Arc::new(Mutex::new(Noise(state.into_transport_mode()?)));
        Ok(seal)
    }
}

fn send_handshake(state: &mut HandshakeState, stream: &mut TcpStream) -> Result<()> {
    let mut message = [0; MESSAGE];
    let length = state.write_message(&[], &mut message)?;
    Ok(stream.write_all(&message[..length])?)
}

fn receive_handshake(
    state: &mut HandshakeState,
    stream: &mut TcpStream,
    deadline: Instant,
) -> Result<()> {
    let (mut message, mut filled) = ([0; MESSAGE], 0);
    while filled < MESSAGE {
        let left = deadline.saturating_duration_since(Instant::now());
        ensure!(!left.is_zero(), "it did not prove in time that it has the key");
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut message[filled..]).context("it did not prove that it has the key")? {
            0 => bail!("it closed the connection before it proved that it has the key"),
            count => filled += count,
        }
    }
    state.read_message(&message, &mut []).context("it has another key, or no key")?;
    Ok(())
}

/// The connection after the handshake.
struct Noise(TransportState);

impl fmt::Debug for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Noise")
    }
}

impl Seal for Noise {
    fn encrypt(&mut self, plain: &[u8]) -> Result<Vec<u8>> {
        let mut sealed = vec![0; plain.len() + TAG];
        let length = self.0.write_message(plain, &mut sealed)?;
        sealed.truncate(length);
        Ok(sealed)
    }

    fn decrypt(&mut self, sealed: &[u8]) -> Result<Vec<u8>> {
        let mut plain = vec![0; sealed.len()];
        let length = self.0.read_message(sealed, &mut plain)?;
        plain.truncate(length);
        Ok(plain)
    }
}

/// A token for a run, which nobody can guess.
///
/// # Errors
/// When the system has no randomness.
pub fn new_token() -> Result<String> {
    let mut bytes = [0; TOKEN];
    let count = getrandom(&mut bytes, GetRandomFlags::empty())?;
    ensure!(count == TOKEN, "the system gave no random numbers");
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt;
    use std::thread;
    use wiregauge_participant::control::split_encrypted;

    fn key(digit: &str) -> Key {
        Key::parse(&digit.repeat(64)).unwrap()
    }

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (one, listener.accept().unwrap().0)
    }

    #[test]
    fn who_has_the_key_is_heard_and_nobody_else() {
        let (mut one, mut other) = pair();
        let came = thread::spawn(move || {
            let seal = key("a").handshake(&mut one, true).unwrap();
            let (speaker, _listener) = split_encrypted(one, Some(seal)).unwrap();
            speaker.send(&"x".repeat(200_000)).unwrap();
        });
        let seal = key("a").handshake(&mut other, false).unwrap();
        let (_speaker, mut listener) = split_encrypted(other, Some(seal)).unwrap();
        assert_eq!(listener.receive::<String>().unwrap(), "x".repeat(200_000));
        came.join().unwrap();

        for stranger in [Some(key("b")), None] {
            let (mut one, mut other) = pair();
            let came = thread::spawn(move || match stranger {
                Some(key) => drop(key.handshake(&mut one, true)),
                None => drop(one.write_all(&[b'x'; 4096])),
            });
            let error = key("a").handshake(&mut other, false).unwrap_err().to_string();
            assert!(error.contains("another key, or no key"), "{error}");
            drop(other);
            came.join().unwrap();
        }
    }

    #[test]
    fn a_key_is_the_users_own_and_has_its_form() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, "0f".repeat(32) + "\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = Key::find(Some(&path)).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Key::find(Some(&path)).unwrap().unwrap().0, [15; 32]);
        for text in ["", "0f", &"0g".repeat(32), &"é".repeat(32)] {
            fs::write(&path, text).unwrap();
            let error = format!("{:#}", Key::find(Some(&path)).unwrap_err());
            assert!(error.contains("64 hexadecimal digits"), "{error}");
        }
    }

    #[test]
    fn tokens_differ() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert!(one.len() == 2 * TOKEN && one != other);
    }
}
