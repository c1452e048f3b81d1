//! What a process does in a scenario: by names that its user gives, or by its rank in a job,
//! which the launcher that started it says in the environment.
//!
//! Rank 0 is the first sender and leads; the ranks from 1 on are the other senders and then the
//! receivers, in the scenario's order. The leader is found by its host, which the launcher tells or
//! `--peer` gives, and by the port in the scenario's `listen`: so no folder must be shared, and no
//! file of an earlier job misleads.

use std::net::{IpAddr, SocketAddr};

use anyhow::{bail, ensure, Context, Result};

use crate::machines::agent::resolve_addresses;
use crate::scenario::Scenario;

/// What a launcher says to the processes that it starts.
struct Launcher {
    /// The variable with the number of the process.
    rank: &'static str,
    /// Those with how many there are; the first that is there counts.
    sizes: &'static [&'static str],
    /// Those with the hosts, on the first of which rank 0 runs.
    hosts: &'static [&'static str],
    /// Whether it may itself be started by Slurm, whose variables then are another process's.
    in_slurm: bool,
    /// How as many processes are started as there should be.
    start: &'static str,
}

const LAUNCHERS: [Launcher; 4] = [
    Launcher {
        rank: "OMPI_COMM_WORLD_RANK",
        sizes: &["OMPI_COMM_WORLD_SIZE"],
        hosts: &["SLURM_JOB_NODELIST"],
        in_slurm: true,
        start: "mpirun -n",
    },
    Launcher {
        rank: "PMI_RANK",
        sizes: &["PMI_SIZE"],
        hosts: &["SLURM_JOB_NODELIST"],
        in_slurm: true,
        start: "mpiexec -n",
    },
    Launcher {
        rank: SLURM_RANK,
        sizes: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        hosts: &["SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"],
        in_slurm: false,
        start: "srun --ntasks",
    },
    Launcher {
        rank: "JOB_COMPLETION_INDEX",
        sizes: &[],
        hosts: &[],
        in_slurm: false,
        start: "completions:",
    },
];

const SLURM_RANK: &str = "SLURM_PROCID";

/// Looks up a variable of the environment.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What a process does in a scenario.
#[derive(Debug)]
pub struct OwnPart {
    /// Its participants.
    pub names: Vec<String>,
    /// Whether the timing master is among them, the first sender, so that it leads.
    pub leads: bool,
    /// For who leads: the only addresses from which others may join, if any.
    pub only: Vec<IpAddr>,
    /// Whether its rank said so.
    pub ranked: bool,
    /// For who joins: where the leader is.
    leader: LeaderAddress,
}

/// Where the leader is.
#[derive(Debug)]
enum LeaderAddress {
    Known(Vec<SocketAddr>),
    /// A name that may be known only once the leader runs, and a port.
    Named(String, u16),
}

impl OwnPart {
    /// That of participants of these names, with the leader or those who may join at `peers`.
    ///
    /// # Errors
    /// A name that the scenario has not, a host that nobody knows, others without a leader.
    pub fn by_names(scenario: &Scenario, names: &[String], peers: &[String]) -> Result<OwnPart> {
        scenario.roles_of(names)?;
        let port = scenario.listen.port();
        let peers = peers.iter().map(|peer| resolve_addresses(peer, port));
        let peers = peers.collect::<Result<Vec<_>>>()?;
        let master = scenario.timing_master();
        let leads = names.iter().any(|name| name == master);
        ensure!(
            leads || peers.len() == 1,
            "--peer must name the one machine on which '{master}' runs, which leads, and not that \
             of {}",
            names.join(", ")
        );
        let addresses: Vec<SocketAddr> = peers.into_iter().flatten().collect();
        Ok(OwnPart {
            names: names.to_vec(),
            leads,
            only: addresses.iter().map(|address| address.ip().to_canonical()).collect(),
            ranked: false,
            leader: LeaderAddress::Known(addresses),
        })
    }

    /// That of a rank, which is given or is the launcher's. `peers` is the leader, also for
    /// itself, as all processes of a job have the same command line. The scenario becomes one of
    /// this job.
    ///
    /// # Errors
    /// No rank, two that differ, one that the scenario has no participant for, a leader that
    /// nobody tells of.
    pub fn by_rank(
        scenario: &mut Scenario,
        given: Option<usize>,
        peers: &[String],
        variable: Variable,
    ) -> Result<OwnPart> {
        let place = JobPlace::find(given, variable)?;
        scenario.job = variable("SLURM_JOB_ID").map(|id| format!("Slurm {id}"));
        let ranked = scenario.ranked();
        place.check(ranked.len())?;
        let names = vec![ranked[place.rank].to_owned()];
        let port = scenario.listen.port();
        let (leads, only, ranked) = (place.rank == 0, Vec::new(), true);
        if leads {
            let leader = LeaderAddress::Known(Vec::new());
            return Ok(OwnPart { names, leads, only, ranked, leader });
        }
        ensure!(peers.len() < 2, "with --rank, --peer names one machine, on which rank 0 runs");
        let leader = match (peers.first(), place.host) {
            (Some(peer), _) => peer.clone(),
            (None, Some(host)) => host,
            (None, None) if place.is_pod => bail!(
                "Kubernetes does not tell where rank 0 runs; give --peer JOB-0.SERVICE, with the \
                 names of the indexed job and of its headless service"
            ),
            (None, None) => bail!(
                "nothing tells where rank 0 runs; give its host by --peer, the same to all ranks"
            ),
        };
        ensure!(
            port != 0
                || resolve_addresses(&leader, 0)
                    .map_or(true, |all| all.iter().all(|one| one.port() != 0)),
            "with --rank, 'listen' must have a port that all ranks know, such as 0.0.0.0:{}",
            crate::machines::party::PORT
        );
        Ok(OwnPart { names, leads, only, ranked, leader: LeaderAddress::Named(leader, port) })
    }

    /// The addresses of the leader, as they are known now.
    ///
    /// # Errors
    /// A name that is not known yet.
    pub fn leader(&self) -> Result<Vec<SocketAddr>> {
        match &self.leader {
            LeaderAddress::Known(addresses) => Ok(addresses.clone()),
            LeaderAddress::Named(name, port) => resolve_addresses(name, *port),
        }
    }
}

/// The place of a process in a job.
#[derive(Debug, PartialEq)]
struct JobPlace {
    rank: usize,
    /// How many processes there are, the variable that says so, and how they are started.
    size: Option<(usize, &'static str, &'static str)>,
    /// The host of rank 0.
    host: Option<String>,
    is_pod: bool,
}

impl JobPlace {
    fn find(given: Option<usize>, variable: Variable) -> Result<JobPlace> {
        let first = |names: &[&'static str]| {
            names.iter().find_map(|name| variable(name).map(|value| (*name, value)))
        };
        let host = |names: &[&'static str]| first(names).map(|(_, hosts)| first_host(&hosts));
        if let Some(rank) = given {
            let host = host(&["SLURM_JOB_NODELIST"]);
            return Ok(JobPlace { rank, size: None, host, is_pod: false });
        }
        let mut found = Vec::new();
        // The script of a job has rank 0 too, and is no task.
        let is_batch = variable(SLURM_RANK).is_some() && variable("SLURM_STEP_ID").is_none();
        for launcher in &LAUNCHERS {
            let rank = variable(launcher.rank).filter(|_| !is_batch || launcher.rank != SLURM_RANK);
            let Some(rank) = rank else { continue };
            let rank = parse_number(launcher.rank, &rank)?;
            let size = match first(launcher.sizes) {
                Some((name, size)) => Some((parse_number(name, &size)?, name, launcher.start)),
                None => None,
            };
            found.push((launcher, rank, size));
        }
        // Of mpirun within a job of Slurm, Slurm's variables are those of mpirun's own helper.
        let numbers = |(_, rank, size): &(&Launcher, usize, Option<(usize, _, _)>)| {
            (*rank, size.as_ref().map(|size| size.0))
        };
        let is_slurm = |one: &(&Launcher, usize, Option<(usize, _, _)>)| one.0.rank == SLURM_RANK;
        let slurm = found.iter().find(|one| is_slurm(one)).map(numbers);
        match slurm {
            Some(slurm) if found.iter().any(|one| one.0.in_slurm && numbers(one) != slurm) => {
                found.retain(|one| !is_slurm(one));
            }
            Some(slurm) => found.retain(|one| is_slurm(one) || numbers(one) != slurm),
            None => {}
        }
        let Some((launcher, rank, size)) = found.first().copied() else {
            ensure!(
                !is_batch,
                "this is the script of a job of Slurm and not a task; start it there by srun"
            );
            let names = LAUNCHERS.map(|launcher| launcher.rank).join(", ");
            bail!(
                "nothing tells the rank of this process, as none of {names} is set; start it by \
                 srun, mpirun or an indexed job, or give --rank N --peer HOST"
            );
        };
        if let Some((other, differs, _)) = found.iter().find(|(_, other, _)| *other != rank) {
            bail!(
                "{} says rank {rank} and {} says rank {differs}; say which it is by --rank N",
                launcher.rank,
                other.rank
            );
        }
        let is_pod = launcher.sizes.is_empty();
        Ok(JobPlace { rank, size, host: host(launcher.hosts), is_pod })
    }

    /// Whether the rank, and how many there are, are those of so many participants.
    fn check(&self, participants: usize) -> Result<()> {
        if let Some((size, variable, start)) = self.size.filter(|(size, ..)| *size != participants)
        {
            bail!(
                "{variable} says {size} processes, and the scenario has {participants} \
                 participants; start one for each ({start} {participants}), or change their 'count'"
            );
        }
        ensure!(
            self.rank < participants,
            "rank {} has no participant, as the scenario has {participants}, of ranks 0 to {}; \
             start one process for each, or raise their 'count'",
            self.rank,
            participants - 1
        );
        Ok(())
    }
}

fn parse_number(variable: &str, text: &str) -> Result<usize> {
    let number = text.trim().parse();
    number
        .with_context(|| format!("{variable}='{text}' is not a number; give --rank N --peer HOST"))
}

/// The first host of a list as Slurm writes it: `rack[0-2]node[1,3-4],other` begins with
/// `rack0node1`.
fn first_host(list: &str) -> String {
    let mut host = String::new();
    let mut rest = list;
    while let Some(at) = rest.find(['[', ',']) {
        host.push_str(&rest[..at]);
        if rest[at..].starts_with(',') {
            return host;
        }
        let inside = &rest[at + 1..];
        host.push_str(inside.split([',', '-', ']']).next().unwrap_or_default());
        rest = inside.split_once(']').map_or("", |(_, behind)| behind);
    }
    host + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(given: Option<usize>, environment: &[(&str, &str)]) -> Result<JobPlace> {
        let step = ("SLURM_STEP_ID", "0");
        let all: Vec<_> = environment.iter().chain([&step]).collect();
        JobPlace::find(given, &|name: &str| {
            all.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_launcher_tells_rank_number_and_leader() {
        let slurm = [
            ("SLURM_PROCID", "2"),
            ("SLURM_NTASKS", "4"),
            ("SLURM_JOB_NODELIST", "n[1-4]"),
            ("SLURM_STEP_NODELIST", "n[2-4]"),
        ];
        let found = place(None, &slurm).unwrap();
        assert_eq!((found.rank, found.size.unwrap().0), (2, 4));
        assert_eq!(found.host.as_deref(), Some("n2"), "the step is not on all nodes of the job");
        // A rank that is given is believed, and is of the whole job.
        let found = place(Some(1), &slurm).unwrap();
        assert_eq!((found.rank, found.size, found.host.as_deref()), (1, None, Some("n1")));
        let mpi = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2")];
        let found = place(None, &mpi).unwrap();
        assert_eq!((found.rank, found.size.unwrap().0, found.host), (0, 2, None));
        let pmi = [("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        assert_eq!(place(None, &pmi).unwrap().size.unwrap().0, 2);
        let found = place(None, &[("JOB_COMPLETION_INDEX", "3")]).unwrap();
        assert_eq!((found.rank, found.size, found.is_pod), (3, None, true));
    }

    #[test]
    fn in_a_job_of_slurm_mpirun_is_believed() {
        // As its helper on the second of four nodes sees it.
        let nested = [
            ("SLURM_PROCID", "0"),
            ("SLURM_STEP_NUM_TASKS", "3"),
            ("SLURM_STEP_NODELIST", "n[2-4]"),
            ("SLURM_JOB_NODELIST", "n[1-4]"),
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
        ];
        let found = place(None, &nested).unwrap();
        assert_eq!((found.rank, found.size.unwrap().0), (1, 4));
        assert_eq!(found.host.as_deref(), Some("n1"));
        // The same rank by chance, and another number.
        let nested = nested
            .map(|(key, value)| (key, if key == "OMPI_COMM_WORLD_RANK" { "0" } else { value }));
        assert_eq!(place(None, &nested).unwrap().size.unwrap().0, 4);
        // Of srun with PMI both say the same, and Slurm knows the nodes of the step.
        let both = [
            ("SLURM_PROCID", "1"),
            ("SLURM_NTASKS", "3"),
            ("SLURM_STEP_NODELIST", "n[2-4]"),
            ("SLURM_JOB_NODELIST", "n[1-4]"),
            ("PMI_RANK", "1"),
            ("PMI_SIZE", "3"),
        ];
        assert_eq!(place(None, &both).unwrap().host.as_deref(), Some("n2"));
    }

    #[test]
    fn the_script_of_a_job_is_no_task() {
        let batch = |name: &str| match name {
            "SLURM_PROCID" => Some("0".to_owned()),
            "SLURM_NTASKS" => Some("4".to_owned()),
            _ => None,
        };
        let error = JobPlace::find(None, &batch).unwrap_err().to_string();
        assert!(error.contains("start it there by srun"), "{error}");
        // mpirun starts some of its processes there.
        let mpi = |name: &str| match name {
            "OMPI_COMM_WORLD_RANK" => Some("1".to_owned()),
            other => batch(other),
        };
        assert_eq!(JobPlace::find(None, &mpi).unwrap().rank, 1);
    }

    #[test]
    fn what_is_no_rank_is_said_with_the_remedy() {
        for (environment, words) in [
            (&[][..], "SLURM_PROCID, JOB_COMPLETION_INDEX is set; start it by srun, mpirun"),
            (&[("SLURM_PROCID", "-1")], "SLURM_PROCID='-1' is not a number; give --rank N"),
            (&[("OMPI_COMM_WORLD_RANK", "")], "OMPI_COMM_WORLD_RANK='' is not a number"),
            (
                &[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "some")],
                "SLURM_NTASKS='some' is not a number",
            ),
            (
                &[("SLURM_PROCID", "1"), ("JOB_COMPLETION_INDEX", "2")],
                "SLURM_PROCID says rank 1 and JOB_COMPLETION_INDEX says rank 2; say which it is",
            ),
            (
                &[("OMPI_COMM_WORLD_RANK", "1"), ("PMI_RANK", "2")],
                "OMPI_COMM_WORLD_RANK says rank 1 and PMI_RANK says rank 2",
            ),
        ] {
            let error = format!("{:#}", place(None, environment).unwrap_err());
            assert!(error.contains(words), "{environment:?}: {error}");
        }
        let check = |environment: &[(&str, &str)]| {
            place(None, environment).unwrap().check(4).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[("SLURM_PROCID", "3"), ("SLURM_NTASKS", "4")]), Ok(()));
        let few = check(&[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "3")]).unwrap_err();
        assert!(few.contains("SLURM_NTASKS says 3") && few.contains("srun --ntasks 4"), "{few}");
        assert_eq!(check(&[("JOB_COMPLETION_INDEX", "3")]), Ok(()));
        let beyond = check(&[("JOB_COMPLETION_INDEX", "4")]).unwrap_err();
        assert!(
            beyond.contains("rank 4 has no participant") && beyond.contains("0 to 3"),
            "{beyond}"
        );
    }

    #[test]
    fn the_first_host_of_a_list() {
        for (list, host) in [
            ("n1", "n1"),
            ("n1,n2", "n1"),
            ("n[1-4]", "n1"),
            ("n[003,007-9],m1", "n003"),
            ("rack[0-2]node[1,3-4],other", "rack0node1"),
            ("a-b[7-8].example.org,c", "a-b7.example.org"),
            ("n[1", "n1"),
            ("", ""),
        ] {
            assert_eq!(first_host(list), host, "{list}");
        }
    }
}
