//! `wiregauge bus participant`: this machine's part in a scenario that several
//! machines share.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use wiregauge_build_tools::default_build_folder;
use wiregauge_bus::launcher::OwnPart;
use wiregauge_bus::machines::agent::Agent;
use wiregauge_bus::machines::meeting_args::{print_foreign, MeetingArgs};
use wiregauge_bus::machines::rendezvous::Rendezvous;
use wiregauge_bus::placement::Placement;
use wiregauge_bus::scenario::Scenario;
use wiregauge_bus::series::Series;
use wiregauge_bus::{background, catalogue};
use wiregauge_participant::participant::run_in_threads;
use wiregauge_participant::{stage, stream};
use wiregauge_system::interrupt;
use wiregauge_system::quantity::parse_time;

use super::bus_result::measure_series;
use super::samples_args::SamplesArgs;
use crate::result_args::ResultArgs;

/// Take part in a scenario on two or more machines.
///
/// Start it on each machine with the same scenario, in any order. The machine of the
/// sender, of several the first, leads: it waits for the others, conducts all runs, and
/// has the result. The others end when it is done.
///
/// The duration in the scenario must be longer than five windows. The first three
/// windows and the last one do not count.
#[derive(clap::Args)]
#[command(after_help = "\
docs/bus.md has a whole scenario, and says what a firewall must admit.

Examples:
  wiregauge bus participant --scenario two.toml --name sender
      on one
  wiregauge bus participant --scenario two.toml --name receiver --peer HOST
      on the other, where HOST is the sender's machine
  srun wiregauge bus participant --scenario bus.toml --rank
      one task for each participant: examples/cluster
  openssl rand -hex 32 > bus.key; chmod 600 bus.key
      a key for --key bus.key on both")]
pub struct Arguments {
    /// The scenario, the same on all machines.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["control", "stream", "stage", "load_machine"])]
    scenario: Option<PathBuf>,
    /// The participants of the scenario that run on this machine.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required_unless_present_any = ["stream", "stage", "load_machine", "rank"])]
    name: Vec<String>,
    /// Run the participant of this rank: first the senders, of which 0 leads, then the
    /// receivers, in the scenario's order. Without N the rank is that of Slurm, Open MPI,
    /// PMI or a Kubernetes indexed job.
    #[arg(long, value_name = "N", conflicts_with = "name")]
    rank: Option<Option<usize>>,
    #[command(flatten)]
    meeting: MeetingArgs,
    /// How long to wait for a lost machine before the next load.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_time)]
    return_within: Duration,
    #[command(flatten)]
    keep: SamplesArgs,
    #[command(flatten)]
    delivery: ResultArgs,
    /// Where the conductor of a run is: what it starts participants with.
    #[arg(long, value_name = "ADDRESS:PORT", hide = true, conflicts_with = "scenario")]
    control: Option<SocketAddr>,
    /// Carry a trace, as standard input says.
    #[arg(long, hide = true, conflicts_with_all = ["scenario", "control", "name"])]
    stream: bool,
    /// Run stages of a chain, as standard input says.
    #[arg(long, hide = true, conflicts_with_all = ["scenario", "control", "name", "stream"])]
    stage: bool,
    #[arg(long, hide = true, conflicts_with_all = ["scenario", "control", "name", "stream"])]
    load_machine: bool,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        match (self.stream, self.stage, self.load_machine) {
            (true, ..) => return Ok(stream::serve(&catalogue::built_in())),
            (_, true, _) => return Ok(stage::serve(&catalogue::built_in())),
            (.., true) => return Ok(background::serve()),
            _ => {}
        }
        if let Some(conductor) = self.control {
            run_in_threads(conductor, &self.name, &catalogue::built_in())?;
            return Ok(ExitCode::SUCCESS);
        }
        let path = self.scenario.as_ref().context("--scenario is missing")?;
        let mut scenario = Scenario::read(path)?;
        let variable = |name: &str| std::env::var(name).ok();
        let own = match self.rank {
            Some(rank) => OwnPart::by_rank(&mut scenario, rank, &self.meeting.peer, &variable),
            None => OwnPart::by_names(&scenario, &self.name, &self.meeting.peer),
        };
        let own = own.with_context(|| path.display().to_string())?;
        scenario.terms.realtime.check_permissions()?;
        if own.leads {
            return self.lead(scenario, &own);
        }
        ensure!(
            own.ranked || !self.delivery.is_given() && !self.keep.is_given(),
            "only the machine that leads has the result; give -o, --format, --samples, --require \
             and --junit there"
        );
        let (names, folder) = (&own.names, default_build_folder()?);
        let key = self.meeting.find_key()?;
        let agent = Agent {
            party: &scenario.party(),
            names,
            background: scenario.terms.background,
            stages: None,
            folder: &folder,
            key: key.as_ref(),
            tell: &print_foreign,
        };
        agent.serve(&|| own.leader(), self.meeting.wait, self.return_within)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Waits for the others and conducts all runs.
    fn lead(&self, scenario: Scenario, own: &OwnPart) -> Result<ExitCode> {
        let outlet = self.delivery.open(self.scenario.as_deref().as_slice())?;
        let samples = self.keep.open(self.scenario.as_deref().as_slice(), &outlet)?;
        let key = self.meeting.find_key()?;
        let OwnPart { names, only, ranked, .. } = own;
        let (own, ranked, key, tell) = (names, *ranked, key.as_ref(), &print_foreign);
        let party = &scenario.party();
        let rendezvous = Rendezvous { party, own, ranked, only, key, tell };
        let gathering = rendezvous.await_all(self.meeting.wait)?;
        let machines = gathering.machines();
        let placement = Placement::on_machines(&scenario.participants, machines);
        let series = Series { samples, ..Series::from_scenario(scenario.clone(), placement) };
        let outcome = measure_series(series, outlet, &|| gathering.await_lost(self.return_within));
        gathering.dismiss(outcome.is_ok() && !interrupt::interrupted());
        outcome
    }
}
