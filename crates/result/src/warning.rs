//! What keeps a figure from being trusted, and what to do about it.
//!
//! Long because: each caution is told here once, with its words and its remedy.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::environment::{changes_programs, Environment};

/// A warning, as it is kept in results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// Stable key for scripts: `virtual-machine`.
    pub code: String,
    /// What is the matter.
    pub text: String,
    /// What to do about it.
    pub remedy: String,
}

/// Load at the start, per usable hardware thread, above which others disturb.
pub const MOST_LOAD: f64 = 0.3;
/// Share of the time that a hypervisor may give to others.
pub const MOST_STEAL: f64 = 0.005;
/// Share of the time that other processes may take during a measurement.
pub const MOST_OTHERS: f64 = 0.1;
/// Step of a good clock, in nanoseconds.
pub const COARSE_STEP_NS: f64 = 1000.0;
/// Memory that should be free, in bytes.
pub const LEAST_MEMORY: u64 = 1 << 30;
/// Shortest good epoch, in steps of the clock.
pub const LEAST_STEPS: f64 = 100.0;
/// Code of the warning that says that a subject failed on one of its cases.
pub const FAILED: &str = "failed";
/// Code of the warning that says that the user stopped the run.
pub const INTERRUPTED: &str = "interrupted";
/// Code of the warning that says that samples were lost.
pub const LOST: &str = "lost";
/// Largest good spread: scaled median absolute deviation over median.
pub const MOST_SPREAD: f64 = 0.1;
/// Largest good share of outliers.
pub const MOST_OUTLIERS: f64 = 0.1;
/// Difference between processes, over the median, that is too small to matter.
pub const SMALL_DIFFERENCE: f64 = 0.01;

/// One thing that spoils figures.
///
/// Its `Display` says what is the matter, [`Caution::remedy`] what to do.
/// A `cell` names what a figure is for: `encode of prost on points=10000`.
#[derive(Clone, Debug, PartialEq)]
pub enum Caution {
    /// The frequency governor, if it is not `performance`.
    Governor(String),
    /// The frequency rises and falls with temperature and load.
    Turbo,
    /// The hypervisor.
    VirtualMachine(String),
    /// Load average over the last minute before the start, and usable threads.
    Load(f64, u32),
    /// Share of the time that the hypervisor gave to others.
    Steal(f64),
    /// Share of the time that other processes took during the measurement.
    Others(f64),
    /// Step of the clock in nanoseconds.
    CoarseClock(f64),
    /// There is one usable hardware thread.
    OneCore,
    /// Free memory in bytes.
    LowMemory(u64),
    /// The machine runs on battery.
    Battery,
    /// Variables of the environment that change all programs.
    Variables(String),
    /// wiregauge was built without optimisation.
    DebugBuild,
    /// A tool is not there.
    MissingTool(MissingTool),
    /// An epoch of so many steps of the clock is too short for it.
    ShortEpoch {
        /// What the figure is for.
        cell: String,
        /// Steps of the clock in an epoch.
        steps: f64,
    },
    /// Samples differ much.
    Spread {
        /// What the figure is for.
        cell: String,
        /// Scaled median absolute deviation over median.
        share: f64,
    },
    /// Many samples are far from the rest.
    Outliers {
        /// What the figure is for.
        cell: String,
        /// Share of the samples.
        share: f64,
    },
    /// Processes differ more than the samples within them.
    Processes {
        /// What the figure is for.
        cell: String,
        /// Spread between processes over spread within them.
        ratio: f64,
    },
    /// A run on a bus says nothing of the transport.
    Invalid {
        /// What the figures are for.
        cell: String,
        /// What happened.
        reason: String,
        /// How bad it was, comparable between runs.
        share: f64,
    },
    /// The system dropped datagrams for want of room.
    Datagrams {
        /// What the figures are for.
        cell: String,
        /// How many.
        datagrams: u64,
    },
    /// More arrived in the windows that count than was sent in them.
    Surplus {
        /// What the figure is for.
        cell: String,
        /// Which one: `throughput/mean`.
        figure: String,
        /// What it is, in MB/s.
        found: f64,
        /// What was offered, in MB/s.
        offered: f64,
    },
    /// What was to load the hosts beside a run did so less than it was asked for.
    Background {
        /// What the figures are for.
        cell: String,
        /// What it did: `took 1.2 of 2 processors`.
        taken: String,
        /// The share of what was asked for.
        share: f64,
    },
    /// Samples were sent that did not arrive whole.
    Lost {
        /// What the figures are for.
        cell: String,
        /// How many, over all receivers.
        lost: u64,
        /// Of how many.
        of: u64,
    },
    /// The user ended it before all was measured.
    Interrupted,
    /// A subject has figures elsewhere, but none here.
    Failed {
        /// What there are no figures for.
        cell: String,
        /// What happened.
        reason: String,
    },
    /// Less time was taken than for doing nothing.
    NegativeNet {
        /// What the figure is for.
        cell: String,
        /// Time beyond that of the no-operation runner, in nanoseconds.
        net_ns: f64,
    },
}

/// A tool that is not on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingTool {
    /// Its name: `flatc`.
    pub tool: String,
    /// The package that brings it: `flatbuffers-compiler`.
    pub package: String,
}

impl Caution {
    /// Stable key for scripts, the same for all cautions of a kind.
    pub fn code(&self) -> &'static str {
        match self {
            Caution::Governor(_) => "governor",
            Caution::Turbo => "turbo",
            Caution::VirtualMachine(_) => "virtual-machine",
            Caution::Load(..) => "load",
            Caution::Steal(_) => "steal",
            Caution::Others(_) => "other-processes",
            Caution::CoarseClock(_) => "clock",
            Caution::OneCore => "one-core",
            Caution::LowMemory(_) => "memory",
            Caution::Battery => "battery",
            Caution::Variables(_) => "variables",
            Caution::DebugBuild => "debug-build",
            Caution::MissingTool(_) => "missing-tool",
            Caution::ShortEpoch { .. } => "short-epoch",
            Caution::Spread { .. } => "spread",
            Caution::Outliers { .. } => "outliers",
            Caution::Processes { .. } => "processes",
            Caution::Invalid { .. } => "invalid",
            Caution::Datagrams { .. } => "datagrams",
            Caution::Surplus { .. } => "surplus",
            Caution::Background { .. } => "background",
            Caution::Lost { .. } => LOST,
            Caution::Interrupted => INTERRUPTED,
            Caution::Failed { .. } => FAILED,
            Caution::NegativeNet { .. } => "negative-net",
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            Caution::Governor(_) => "set it with `sudo cpupower frequency-set -g performance`",
            Caution::Turbo => {
                "turn it off in the firmware or under /sys/devices/system/cpu \
                 (intel_pstate/no_turbo, cpufreq/boost), or trust ratios only"
            }
            Caution::VirtualMachine(_) => "measure on bare metal, or trust ratios only",
            Caution::Load(..) => "wait, or stop other programs, and measure again",
            Caution::Steal(_) => "measure again when the host is quiet, or on your own machine",
            Caution::Others(_) => "stop other programs and measure again",
            Caution::CoarseClock(_) => {
                "use longer epochs, or choose the clock source tsc if the machine offers it"
            }
            Caution::OneCore => {
                "give the machine or the container a second core: the runner and wiregauge share \
                 this one"
            }
            Caution::LowMemory(_) => "free memory, or measure smaller messages",
            Caution::Battery => "connect the charger",
            Caution::Variables(_) => "unset this, unless its effect is what you measure",
            Caution::DebugBuild => "build with `cargo build --release`",
            Caution::MissingTool(missing) => {
                // Debian has it from 13 on, Ubuntu from 24.04 on.
                let other =
                    if missing.package == "rustup" { ", or by https://rustup.rs" } else { "" };
                return format!("install it: `sudo apt-get install {}`{other}", missing.package);
            }
            Caution::ShortEpoch { .. } => "measure with longer epochs",
            Caution::Spread { .. } => {
                "make the machine quieter (see `wiregauge doctor`) or measure more rounds"
            }
            Caution::Outliers { .. } => {
                "look for programs that run now and then on the machine; no sample was dropped"
            }
            Caution::Processes { .. } => {
                "measure more processes: the layout of memory changes the times"
            }
            Caution::Invalid { .. } => "do not use these figures; measure again on a quiet machine",
            Caution::Datagrams { .. } => {
                "make socket buffers larger with `sudo sysctl -w net.core.rmem_max=33554432`"
            }
            Caution::Surplus { .. } => {
                "something paused and then caught up: see the late samples, and measure again"
            }
            Caution::Background { .. } => {
                "read the figures as those beside the load that was there; a load that fits into the \
                 machine and the link is taken whole"
            }
            Caution::Lost { .. } => {
                "send less or less often, or choose a transport that waits for its readers"
            }
            Caution::Interrupted => "measure again to complete it",
            Caution::Failed { .. } => "correct this and measure again",
            Caution::NegativeNet { .. } => {
                "its cost is below what this run can measure; measure longer epochs and more rounds"
            }
        }
        .to_owned()
    }

    /// How bad it is; comparable between cautions of the same code only.
    fn severity(&self) -> f64 {
        match self {
            Caution::ShortEpoch { steps, .. } => -steps,
            Caution::Spread { share, .. } | Caution::Outliers { share, .. } => *share,
            Caution::Invalid { share, .. } => *share,
            Caution::Datagrams { datagrams, .. } => *datagrams as f64,
            Caution::Processes { ratio, .. } => *ratio,
            Caution::Surplus { found, offered, .. } => found / offered,
            Caution::Background { share, .. } => -share,
            Caution::NegativeNet { net_ns, .. } => -net_ns,
            _ => 0.0,
        }
    }
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caution::Governor(name) => {
                write!(f, "the frequency governor is {name} and not performance")
            }
            Caution::Turbo => {
                f.write_str("turbo is on: the frequency changes with temperature and load")
            }
            Caution::VirtualMachine(name) => {
                write!(f, "this is a virtual machine ({name}), which others may slow down")
            }
            Caution::Load(load, threads) => {
                let plural = if *threads == 1 { "" } else { "s" };
                write!(f, "the load was {load:.2} at the start, on {threads} usable CPU{plural}")
            }
            Caution::Steal(share) => {
                write!(f, "the hypervisor gave {} of the time to others", percent(*share))
            }
            Caution::Others(share) => {
                write!(f, "other processes took {} of the time of all CPUs", percent(*share))
            }
            Caution::CoarseClock(step) => write!(f, "the clock steps by {step:.0} ns"),
            Caution::OneCore => f.write_str("only one CPU is usable"),
            Caution::LowMemory(bytes) => write!(f, "only {} MiB of memory are free", bytes >> 20),
            Caution::Battery => f.write_str("the machine runs on battery"),
            Caution::Variables(names) => {
                write!(f, "what is measured loads other code or takes memory otherwise, by {names}")
            }
            Caution::DebugBuild => f.write_str("wiregauge was built without optimisation"),
            Caution::MissingTool(missing) => write!(f, "{} is not installed", missing.tool),
            Caution::ShortEpoch { cell, steps } => {
                write!(f, "{cell}: an epoch takes only {steps:.0} steps of the clock")
            }
            Caution::Spread { cell, share } => {
                write!(f, "{cell}: samples spread by {} around the median", percent(*share))
            }
            Caution::Outliers { cell, share } => {
                write!(f, "{cell}: {} of the samples are outliers", percent(*share))
            }
            Caution::Processes { cell, ratio } => {
                write!(f, "{cell}: processes differ {ratio:.1} times as much as samples within one")
            }
            Caution::Invalid { cell, reason, .. } => write!(f, "{cell}: invalid, {reason}"),
            Caution::Datagrams { cell, datagrams } => {
                write!(f, "{cell}: the system dropped {datagrams} datagrams")
            }
            Caution::Surplus { cell, figure, found, offered } => {
                write!(
                    f,
                    "{cell}: {figure} is {found:.3} MB/s, more than the offered {offered:.3} MB/s"
                )
            }
            Caution::Background { cell, taken, .. } => {
                write!(f, "{cell}: the background load {taken}")
            }
            Caution::Lost { cell, lost, of } => {
                write!(f, "{cell}: {lost} of {of} samples did not arrive")
            }
            Caution::Interrupted => {
                f.write_str("it was interrupted: the result has what was measured until then")
            }
            Caution::Failed { cell, reason } => write!(f, "{cell}: failed, {reason}"),
            Caution::NegativeNet { cell, net_ns } => {
                write!(f, "{cell}: it took {:.1} ns less than an empty operation", -net_ns)
            }
        }
    }
}

impl From<&Caution> for Warning {
    fn from(caution: &Caution) -> Self {
        Warning { code: caution.code().into(), text: caution.to_string(), remedy: caution.remedy() }
    }
}

impl Environment {
    /// What of the machine and its state spoils figures. Before
    /// [`Environment::finish`] it cannot know what happens during a
    /// measurement.
    pub fn cautions(&self) -> Vec<Caution> {
        let mut cautions = Vec::new();
        if self.build == "debug" {
            cautions.push(Caution::DebugBuild);
        }
        if let Some(name) = &self.system.virtual_machine {
            if name != "none" {
                cautions.push(Caution::VirtualMachine(name.clone()));
            }
        }
        if self.system.power.as_deref() == Some("battery") {
            cautions.push(Caution::Battery);
        }
        if let Some(governor) = &self.cpu.governor {
            if governor != "performance" {
                cautions.push(Caution::Governor(governor.clone()));
            }
        }
        if self.cpu.turbo == Some(true) {
            cautions.push(Caution::Turbo);
        }
        if self.cpu.usable == 1 {
            cautions.push(Caution::OneCore);
        }
        if let Some(bytes) = self.memory.available_bytes.filter(|&bytes| bytes < LEAST_MEMORY) {
            cautions.push(Caution::LowMemory(bytes));
        }
        if self.clock.step_ns > COARSE_STEP_NS {
            cautions.push(Caution::CoarseClock(self.clock.step_ns));
        }
        let changing = self.variables.keys().filter(|name| changes_programs(name));
        let changing: Vec<&str> = changing.map(String::as_str).collect();
        if !changing.is_empty() {
            cautions.push(Caution::Variables(changing.join(", ")));
        }
        if let Some([load, ..]) = self.activity.load_before {
            if load > MOST_LOAD * f64::from(self.cpu.usable) {
                cautions.push(Caution::Load(load, self.cpu.usable));
            }
        }
        if let Some(share) = self.activity.steal.filter(|&share| share > MOST_STEAL) {
            cautions.push(Caution::Steal(share));
        }
        if let Some(share) = self.activity.others.filter(|&share| share > MOST_OTHERS) {
            cautions.push(Caution::Others(share));
        }
        cautions
    }
}

/// Whether an epoch is too short for the clock, both in nanoseconds.
pub fn short_epoch(cell: &str, epoch_ns: f64, step_ns: f64) -> Option<Caution> {
    let steps = epoch_ns / step_ns;
    (steps < LEAST_STEPS).then(|| Caution::ShortEpoch { cell: cell.into(), steps })
}

/// Whether samples spread too much: their median and their scaled median
/// absolute deviation, in the same unit.
pub fn spread(cell: &str, median: f64, deviation: f64) -> Option<Caution> {
    let share = deviation / median;
    (share > MOST_SPREAD).then(|| Caution::Spread { cell: cell.into(), share })
}

/// Whether too many of the samples are outliers.
pub fn outliers(cell: &str, outliers: usize, samples: usize) -> Option<Caution> {
    let share = outliers as f64 / samples as f64;
    (share > MOST_OUTLIERS).then(|| Caution::Outliers { cell: cell.into(), share })
}

/// Whether processes differ more than samples within a process: the spread of
/// the processes' medians, the spread within a process, and the median of all,
/// in the same unit.
pub fn processes(cell: &str, between: f64, within: f64, median: f64) -> Option<Caution> {
    let matters = between > SMALL_DIFFERENCE * median;
    (matters && between > within)
        .then(|| Caution::Processes { cell: cell.into(), ratio: between / within })
}

/// Whether an operation took less time than none at all, both in nanoseconds.
pub fn negative_net(cell: &str, operation_ns: f64, nothing_ns: f64) -> Option<Caution> {
    let net_ns = operation_ns - nothing_ns;
    (net_ns < 0.0).then(|| Caution::NegativeNet { cell: cell.into(), net_ns })
}

/// The warnings to keep and show. Cautions about several cells become one
/// warning that names the worst and says how many more there are; missing
/// tools and failures stay apart, since each is mended in its own way.
pub fn merge(cautions: &[Caution]) -> Vec<Warning> {
    let mut groups: IndexMap<(&str, &str), (&Caution, usize)> = IndexMap::new();
    for caution in cautions {
        let apart = match caution {
            Caution::MissingTool(missing) => missing.tool.as_str(),
            Caution::Failed { cell, .. } | Caution::Lost { cell, .. } => cell.as_str(),
            _ => "",
        };
        let (worst, count) = groups.entry((caution.code(), apart)).or_insert((caution, 0));
        if caution.severity() > worst.severity() {
            *worst = caution;
        }
        *count += 1;
    }
    let warn = |((_, apart), (worst, count)): ((&str, &str), (&Caution, usize))| {
        let mut warning = Warning::from(worst);
        if count > 1 && apart.is_empty() {
            warning.text += &format!(" (the worst of {count})");
        }
        warning
    };
    groups.into_iter().map(warn).collect()
}

/// A share in percent, with as many digits as it needs.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 10.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{Activity, Clock, Cpu, Memory, System};

    /// A machine that nothing is to be said about.
    fn quiet() -> Environment {
        Environment {
            build: "release".into(),
            system: System {
                virtual_machine: Some("none".into()),
                power: Some("mains".into()),
                ..System::default()
            },
            cpu: Cpu {
                governor: Some("performance".into()),
                turbo: Some(false),
                usable: 8,
                ..Cpu::default()
            },
            memory: Memory { available_bytes: Some(8 << 30), ..Memory::default() },
            clock: Clock { step_ns: 20.0, ..Clock::default() },
            activity: Activity {
                load_before: Some([0.1, 5.0, 5.0]),
                steal: Some(0.0),
                others: Some(0.01),
                ..Activity::default()
            },
            ..Environment::default()
        }
    }

    #[test]
    fn a_quiet_machine_needs_no_caution() {
        let mut quiet = quiet();
        assert_eq!(quiet.cautions(), []);
        // As many have it.
        quiet.variables = IndexMap::from([("LD_LIBRARY_PATH".to_owned(), "/cuda".to_owned())]);
        assert_eq!(quiet.cautions(), []);
    }

    #[test]
    fn each_disturbance_is_named() {
        type Disturb = fn(&mut Environment);
        let cases: [(&str, Disturb); 12] = [
            ("debug-build", |e| e.build = "debug".into()),
            ("virtual-machine", |e| e.system.virtual_machine = Some("KVM".into())),
            ("battery", |e| e.system.power = Some("battery".into())),
            ("governor", |e| e.cpu.governor = Some("powersave".into())),
            ("turbo", |e| e.cpu.turbo = Some(true)),
            ("one-core", |e| e.cpu.usable = 1),
            ("memory", |e| e.memory.available_bytes = Some(300 << 20)),
            ("clock", |e| e.clock.step_ns = 4e6),
            ("variables", |e| {
                e.variables = IndexMap::from([("LD_PRELOAD".to_owned(), "/a.so".to_owned())])
            }),
            ("load", |e| e.activity.load_before = Some([2.5, 0.0, 0.0])),
            ("steal", |e| e.activity.steal = Some(0.006)),
            ("other-processes", |e| e.activity.others = Some(0.2)),
        ];
        for (code, disturb) in cases {
            let mut environment = quiet();
            disturb(&mut environment);
            let warnings = merge(&environment.cautions());
            assert_eq!(warnings.iter().map(|w| &*w.code).collect::<Vec<_>>(), [code]);
            assert!(!warnings[0].text.is_empty() && !warnings[0].remedy.is_empty());
        }
    }

    #[test]
    fn what_is_unknown_is_no_caution() {
        let unknown = Environment { build: "release".into(), ..Environment::default() };
        assert_eq!(unknown.cautions(), []);
    }

    #[test]
    fn measurements_have_bounds() {
        assert_eq!(short_epoch("c", 2000.0, 20.0), None);
        assert!(short_epoch("c", 1999.0, 20.0).is_some());
        assert_eq!(spread("c", 100.0, 10.0), None);
        assert!(spread("c", 100.0, 10.1).is_some());
        assert_eq!(outliers("c", 10, 100), None);
        assert!(outliers("c", 11, 100).is_some());
        assert_eq!(outliers("c", 0, 0), None);
        assert_eq!(processes("c", 2.0, 3.0, 100.0), None);
        assert_eq!(processes("c", 0.5, 0.1, 100.0), None);
        assert!(processes("c", 3.0, 2.0, 100.0).is_some());
        assert_eq!(negative_net("c", 5.0, 5.0), None);
        assert!(negative_net("c", 4.0, 5.0).is_some());
    }

    #[test]
    fn many_cells_share_a_warning_that_names_the_worst() {
        let cautions: Vec<_> = [
            spread("encode of lcm", 100.0, 11.0),
            short_epoch("sum of json", 500.0, 20.0),
            spread("decode of prost", 100.0, 42.0),
            short_epoch("sum of cbor", 300.0, 20.0),
            spread("decode of lcm", 100.0, 12.0),
        ]
        .into_iter()
        .flatten()
        .collect();
        let texts: Vec<_> = merge(&cautions).into_iter().map(|warning| warning.text).collect();
        assert_eq!(
            texts,
            [
                "decode of prost: samples spread by 42 % around the median (the worst of 3)",
                "sum of cbor: an epoch takes only 15 steps of the clock (the worst of 2)",
            ]
        );
    }

    #[test]
    fn each_missing_tool_has_its_own_remedy() {
        let missing = |tool: &str, package: &str| {
            Caution::MissingTool(MissingTool { tool: tool.into(), package: package.into() })
        };
        let warnings = merge(&[
            missing("flatc", "flatbuffers-compiler"),
            missing("flatc", "flatbuffers-compiler"),
            missing("idlc", "cyclonedds-tools"),
        ]);
        assert_eq!(warnings.len(), 2);
        assert_eq!(warnings[0].text, "flatc is not installed");
        assert_eq!(warnings[1].remedy, "install it: `sudo apt-get install cyclonedds-tools`");
    }

    #[test]
    fn each_failure_is_told() {
        let failed = |cell: &str| Caution::Failed { cell: cell.into(), reason: "it broke".into() };
        let warnings = merge(&[failed("TCP at 10 B"), failed("TCP at 10 MB")]);
        let texts: Vec<_> = warnings.iter().map(|warning| warning.text.as_str()).collect();
        assert_eq!(texts, ["TCP at 10 B: failed, it broke", "TCP at 10 MB: failed, it broke"]);
        assert!(warnings.iter().all(|warning| warning.code == FAILED));
    }
}
