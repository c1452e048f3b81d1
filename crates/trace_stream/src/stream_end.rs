//! The ends of a stream over the bus: how player and recorder find each other.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_build_tools::default_build_folder;
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::catalogue::{self, Reach, TransportEntry};
use wiregauge_bus::run_settings::transport_option::TransportOption;
use wiregauge_participant::control::{Role, PROTOCOL_VERSION};
use wiregauge_participant::stream::frame::MESSAGE_HEADER_SIZE;
use wiregauge_participant::stream::setup::Setup;
use wiregauge_participant::token;
use wiregauge_participant::transport::Topic;
use wiregauge_system::progress::ProgressDisplay;
use wiregauge_trace::read::LARGEST;

/// Largest frame.
pub(crate) const MAX_FRAME: usize = LARGEST as usize + MESSAGE_HEADER_SIZE;
/// What player and recorder find each other by, unless the user says it.
const TOPIC: &str = "wiregauge_trace";
/// Longest topic, and longest token.
const MAX_NAME: usize = 200;

/// Over what messages go.
#[derive(Clone, Debug)]
pub struct StreamTransport {
    /// The transport of the bus.
    pub id: String,
    /// The topic by which player and recorder find each other; none for the usual one.
    pub topic: Option<String>,
    /// Options of the transport.
    pub options: Vec<TransportOption>,
}

/// One end of a stream before it is opened.
pub struct StreamEnd {
    /// The transport.
    pub entry: TransportEntry,
    /// What it is told.
    pub setup: Setup,
}

impl StreamTransport {
    /// The player's end. It sends to recorders at these addresses, or waits so long for so many
    /// of them.
    ///
    /// # Errors
    /// When there is no such transport, topic or option, the transport finds recorders by
    /// something else, or the environment lacks the recorder's token.
    pub fn player(
        &self,
        to: &[String],
        readers: Option<usize>,
        wait: Duration,
    ) -> Result<StreamEnd> {
        let mut end = self.end(Role::Sender, Ipv4Addr::LOCALHOST.into())?;
        let id = end.entry.id;
        match Discovery::from_end(&end) {
            Discovery::Address => {
                ensure!(
                    !to.is_empty(),
                    "over {id} the player needs --recorder; the recorder prints the address"
                );
                ensure!(
                    readers.is_none(),
                    "over {id} leave out --readers; give one --recorder for each reader"
                );
            }
            Discovery::Name => ensure!(
                to.is_empty(),
                "over {id} leave out --recorder; player and recorder find each other by --topic"
            ),
        }
        ensure!(
            !end.has_equal_rooms() || readers.is_none_or(|readers| readers == 1),
            "over {id} only one recorder can receive; for several use dds"
        );
        let setup = &mut end.setup;
        setup.topic.readers = readers.unwrap_or(to.len().max(1));
        setup.endpoints = to.to_vec();
        setup.wait = u64::try_from(wait.as_nanos()).context("--wait is too long")?;
        let made = wiregauge_bus::secret::new_token()?;
        setup.stream = u64::from_str_radix(&made[..16], 16)?;
        if has_token(&end) {
            let told = token_from_environment()?;
            end.setup.topic.token = told.with_context(|| {
                format!(
                    "the recorder prints a token; set the environment variable {} to it",
                    token::ENV_VAR
                )
            })?;
        }
        Ok(end)
    }

    /// The recorder's end, which listens at this address; whether its token was made up, and
    /// the player is to be told of it.
    ///
    /// # Errors
    /// When there is no such transport, topic or option, the transport does not listen at an
    /// address, or what the environment has is no token.
    pub fn recorder(&self, bind: Option<IpAddr>) -> Result<(StreamEnd, bool)> {
        let own = Ipv4Addr::LOCALHOST.into();
        let mut end = self.end(Role::Receiver, bind.unwrap_or(own))?;
        ensure!(
            bind.is_none() || Discovery::from_end(&end) == Discovery::Address,
            "{} does not listen at an address; leave out --bind",
            end.entry.id
        );
        let mut made_up = false;
        if has_token(&end) {
            end.setup.topic.token = match token_from_environment()? {
                Some(told) => told,
                None => {
                    made_up = true;
                    wiregauge_bus::secret::new_token()?
                }
            };
        }
        Ok((end, made_up))
    }

    fn end(&self, role: Role, bind: IpAddr) -> Result<StreamEnd> {
        let id = &self.id;
        let mut known = catalogue::all().into_iter();
        let entry = known.find(|entry| entry.id == *id).with_context(|| {
            let known: Vec<&str> = catalogue::all().iter().map(|entry| entry.id).collect();
            format!("unknown transport '{id}'; choose from {}", known.join(", "))
        })?;
        ensure!(
            entry.reach != Reach::Process,
            "{id} works within one process, but player and recorder are two; to copy a file use \
             'wiregauge trace convert'"
        );
        let transport = entry.transport();
        let own = entry.options.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        if let Some(other) = self.options.iter().find(|choice| choice.transport != transport) {
            bail!("an option is for '{}', but the transport is {transport}", other.transport);
        }
        let chosen = self.options.iter().map(|choice| (choice.name.clone(), choice.value.clone()));
        let name = self.topic.clone().unwrap_or_else(|| TOPIC.to_owned());
        check_name(&name)?;
        let topic = Topic {
            several: None,
            name,
            size: MAX_FRAME,
            varies: true,
            bind,
            readers: 1,
            token: String::new(),
            scratch: None,
            options: chosen.chain(own).collect(),
        };
        let (version, transport, endpoints) = (PROTOCOL_VERSION, transport.to_owned(), Vec::new());
        let setup = Setup { version, role, transport, topic, endpoints, wait: 0, stream: 0 };
        Ok(StreamEnd { entry, setup })
    }
}

impl StreamEnd {
    /// The program that carries the stream, which is built if it is missing.
    ///
    /// # Errors
    /// Those of [`Program::prepare`].
    pub(crate) fn prepare_program(&self) -> Result<Program> {
        let Some(engine) = self.entry.engine() else { return Ok(Program::BuiltIn) };
        let progress = ProgressDisplay::new();
        let show = progress.named(engine.name);
        Program::prepare(Some(engine), &default_build_folder()?, &show)
    }

    /// Whether the transport wants to know the largest frame, as all its rooms are so large.
    pub(crate) fn has_equal_rooms(&self) -> bool {
        self.entry.transport() == "iceoryx2"
    }

    /// What a player of a file says to come here, in a shell.
    pub(crate) fn invitation(&self, endpoint: &str, made_up: bool) -> String {
        let Setup { topic, .. } = &self.setup;
        let mut line = String::new();
        if made_up {
            line += &format!("{}={} ", token::ENV_VAR, topic.token);
        }
        line += &format!("wiregauge trace play FILE --over {}", self.entry.id);
        if Discovery::from_end(self) == Discovery::Address {
            line += &format!(" --recorder {endpoint}");
        }
        if topic.name != TOPIC {
            line += &format!(" --topic {}", topic.name);
        }
        if let Some(domain) = topic.options.get("domain") {
            line += &format!(" --option {}.domain={domain}", self.entry.transport());
        }
        line
    }
}

/// How player and recorder find each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Discovery {
    /// The recorder listens at an address.
    Address,
    /// By the topic's name.
    Name,
}

impl Discovery {
    fn from_end(end: &StreamEnd) -> Discovery {
        match end.entry.transport() {
            "tcp" | "zenoh" => Discovery::Address,
            _ => Discovery::Name,
        }
    }
}

/// Whether who comes says a token first.
fn has_token(end: &StreamEnd) -> bool {
    end.entry.transport() == "tcp"
}

/// The token that the environment tells.
fn token_from_environment() -> Result<Option<String>> {
    let Some(told) = std::env::var_os(token::ENV_VAR) else { return Ok(None) };
    let told = told.into_string().ok().filter(|told| (16..=MAX_NAME).contains(&told.len()));
    let told = told.with_context(|| {
        format!(
            "{} must have 16 to {MAX_NAME} letters; make one by 'openssl rand -hex 16'",
            token::ENV_VAR
        )
    })?;
    Ok(Some(told))
}

/// Whether a name is one for every transport.
fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let part = |part: &str| !part.is_empty() && part.chars().all(plain);
    ensure!(
        name.len() <= MAX_NAME && name.split('/').all(part),
        "a topic can have at most {MAX_NAME} letters, digits and _, with / between parts, such as \
         lidar/front"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_for_every_transport() {
        for name in ["wiregauge_trace", "a/b_1", "7"] {
            check_name(name).unwrap();
        }
        for name in ["", "/a", "a/", "a//b", "a-b", "a b", "**", "ä", &"x".repeat(201)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
