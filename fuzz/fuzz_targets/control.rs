//! What comes over a control connection, in pieces: a participant's reports, a
//! conductor's orders, a leader's tasks and an agent's news.
#![cfg_attr(fuzzing, no_main)]

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use anyhow::{ensure, Result};
use serde::de::DeserializeOwned;
use serde::Serialize;
use wiregauge_bus::machines::message::{AgentReport, Task};
use wiregauge_fuzz_support::check_error;
use wiregauge_participant::control::{Order, Report};
use wiregauge_participant::inbox::Inbox;
use wiregauge_participant::seal::{Seal, SharedSeal};

pub fn read(data: &[u8]) {
    let Some((&how, rest)) = data.split_first() else { return };
    match how % 4 {
        0 => hear::<Report>(how, rest),
        1 => hear::<Order>(how, rest),
        2 => hear::<AgentReport>(how, rest),
        _ => hear::<Task>(how, rest),
    }
}

fn hear<M: DeserializeOwned + Serialize + PartialEq + Debug>(how: u8, data: &[u8]) {
    const LONGEST: usize = 1 << 12;
    let seal: Option<SharedSeal> = (how & 4 != 0).then(|| Arc::new(Mutex::new(Sum)) as SharedSeal);
    let mut inbox = Inbox::new(seal);
    inbox.limit_message_size((how & 8 != 0).then_some(LONGEST));
    for piece in data.chunks(usize::from(how >> 4) * 8 + 1) {
        if check_error(inbox.push_bytes(piece)).is_none() {
            return;
        }
        loop {
            match check_error(inbox.next_message::<M>()) {
                None => return,
                Some(None) => break,
                Some(Some(message)) => {
                    let text = serde_json::to_string(&message).expect("it was JSON");
                    assert_eq!(serde_json::from_str::<M>(&text).expect("and is"), message);
                }
            }
        }
    }
}

/// Stands for a seal: the first byte is the sum of the others.
#[derive(Debug)]
struct Sum;

impl Seal for Sum {
    fn encrypt(&mut self, plain: &[u8]) -> Result<Vec<u8>> {
        Ok([&[plain.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))], plain].concat())
    }

    fn decrypt(&mut self, sealed: &[u8]) -> Result<Vec<u8>> {
        let plain = sealed.get(1..).unwrap_or_default();
        ensure!(self.encrypt(plain)? == sealed, "another sum");
        Ok(plain.to_vec())
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
