//! Carries the messages of a trace over a transport: a player sends them when they are due,
//! a listener hands on what comes. There is no conductor; each is a child of the command
//! that reads or writes the file ([`setup`]) and ends with it. What goes over the transport
//! is in [`frame`].

pub mod frame;
pub mod listener;
pub mod player;
pub mod setup;
pub mod starter;

use std::process::ExitCode;

use anyhow::{Context, Result};

use self::setup::{Said, Setup};
use self::starter::Starter;
use crate::control::Role;
use crate::transport::Transport;

/// Does what who started this program says, by one of these transports.
pub fn host(transports: &[&'static dyn Transport]) -> ExitCode {
    let (mut starter, setup) = match Starter::hear() {
        Ok(heard) => heard,
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::FAILURE;
        }
    };
    match carry(&setup, transports, &mut starter) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Heard as long as there is someone to hear.
            let _ = starter.say(&Said::Failed(format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

fn carry(
    setup: &Setup,
    transports: &[&'static dyn Transport],
    starter: &mut Starter,
) -> Result<()> {
    let transport = transports.iter().find(|transport| transport.name() == setup.transport);
    let transport =
        *transport.with_context(|| format!("this program has no '{}'", setup.transport))?;
    setup.topic.check_options(transport)?;
    match setup.role {
        Role::Sender => {
            let sent = player::play(setup, transport, starter)?;
            starter.say(&Said::Sent(sent))
        }
        Role::Receiver => listener::listen(setup, transport, starter),
    }
}
