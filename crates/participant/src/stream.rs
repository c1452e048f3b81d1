//! Carries the messages of a trace over a transport: a player sends them when they are due,
//! a listener hands on what comes. There is no conductor; each is a child of the command
//! that reads or writes the file ([`setup`]) and ends with it. What goes over the transport
//! is in [`frame`].

pub mod frame;
pub mod listener;
pub mod parent_process;
pub mod player;
pub mod setup;

use std::process::ExitCode;

use anyhow::{Context, Result};

use self::parent_process::ParentProcess;
use self::setup::{Setup, StreamReport};
use crate::control::Role;
use crate::stderr::print_line;
use crate::transport::Transport;

/// Does what who started this program says, by one of these transports.
pub fn serve(transports: &[&'static dyn Transport]) -> ExitCode {
    let (mut starter, setup) = match ParentProcess::read_setup() {
        Ok(heard) => heard,
        Err(error) => {
            print_line(format_args!("{error:#}"));
            return ExitCode::FAILURE;
        }
    };
    match run_stream(&setup, transports, &mut starter) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Heard as long as there is someone to hear.
            let _ = starter.send_report(&StreamReport::Failed(format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

fn run_stream(
    setup: &Setup,
    transports: &[&'static dyn Transport],
    starter: &mut ParentProcess,
) -> Result<()> {
    let transport = transports.iter().find(|transport| transport.name() == setup.transport);
    let transport =
        *transport.with_context(|| format!("this program has no '{}'", setup.transport))?;
    setup.topic.check_options(transport)?;
    setup.topic.refuse_codec_in_place()?;
    match setup.role {
        Role::Sender => {
            let sent = player::play(setup, transport, starter)?;
            starter.send_report(&StreamReport::Sent(sent))
        }
        Role::Receiver => listener::listen(setup, transport, starter),
    }
}
