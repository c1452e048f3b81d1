//! The machine, its state and the tools: what a reader must know to judge a
//! figure. Linux tells it in `/proc` and `/sys`; what cannot be read is left
//! out, and never guessed.

mod activity;
mod clock;
mod cpu;
mod files;
mod memory;
mod system;
mod variables;

use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

pub use self::activity::{Activity, ActivityStart};
pub use self::clock::Clock;
pub use self::cpu::{Cache, Cpu};
use self::files::Files;
pub use self::memory::Memory;
pub use self::system::System;
pub(crate) use self::variables::changes_programs;

/// The machine, its state before and after a measurement, and the tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Version of wiregauge.
    pub wiregauge: String,
    /// How wiregauge itself was built: `release` or `debug`.
    pub build: String,
    /// The operating system.
    pub system: System,
    /// The processor.
    pub cpu: Cpu,
    /// The memory.
    pub memory: Memory,
    /// The clock that figures are taken with.
    pub clock: Clock,
    /// What else the machine did.
    pub activity: Activity,
    /// Variables that change what programs load, how they take memory and how middleware is
    /// set, by name: `LD_PRELOAD`.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub variables: IndexMap<String, String>,
    /// Versions and flags of compilers and libraries, by name.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub tools: IndexMap<String, String>,
    /// What [`Environment::finish`] compares with; none after it.
    #[serde(skip)]
    pub start: Option<ActivityStart>,
}

impl Environment {
    /// Looks at this machine, at the start of a measurement. `tools` are the
    /// versions and flags that the caller knows of.
    pub fn probe(tools: IndexMap<String, String>) -> Environment {
        Environment::probe_at(Path::new("/"), tools)
    }

    /// Looks at the machine whose `proc`, `sys` and `etc` lie in a folder.
    /// The clock is this machine's.
    pub fn probe_at(root: &Path, tools: IndexMap<String, String>) -> Environment {
        let files = Files(root);
        Environment {
            wiregauge: env!("CARGO_PKG_VERSION").into(),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.into(),
            system: System::read(&files),
            cpu: Cpu::read(&files),
            memory: Memory::read(&files),
            clock: Clock::read(&files),
            activity: Activity::read(&files),
            variables: variables::read(&files),
            tools,
            start: Some(ActivityStart::capture(root)),
        }
    }

    /// Looks again, at the end of a measurement, when all children are reaped.
    /// Only the first call does anything.
    pub fn finish(&mut self) {
        if let Some(start) = self.start.take() {
            self.activity.finish(&start);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A machine in a folder.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new(files: &[(&str, &str)]) -> Machine {
            let machine = Machine(tempfile::tempdir().unwrap());
            for (path, text) in files {
                machine.write(path, text);
            }
            machine
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn probe(&self) -> Environment {
            Environment::probe_at(self.0.path(), IndexMap::new())
        }
    }

    const CPUINFO: &str = "\
processor\t: 0
model name\t: Fast CPU @ 3.00GHz
flags\t\t: fpu sse2

processor\t: 1
model name\t: Fast CPU @ 3.00GHz
flags\t\t: fpu sse2
";

    fn workstation() -> Machine {
        Machine::new(&[
            ("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            ("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
            ("proc/sys/kernel/randomize_va_space", "2\n"),
            ("proc/cpuinfo", CPUINFO),
            ("proc/1/cgroup", "0::/init.scope\n"),
            ("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1\n"),
            ("proc/loadavg", "0.10 0.20 0.30 1/500 1234\n"),
            ("proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\n"),
            ("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1\nctxt 1000\n"),
            ("proc/self/stat", "7 (a) b) S 1 1 1 0 0 0 0 0 0 0 10 10 0 0 20 0\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n"),
            ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "800000\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "4200000\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
            ("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"),
            ("sys/devices/system/cpu/cpu0/cache/index1/level", "3\n"),
            ("sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n"),
            ("sys/devices/system/cpu/cpu0/cache/index1/size", "32M\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("sys/class/power_supply/AC/type", "Mains\n"),
            ("sys/class/power_supply/AC/online", "1\n"),
        ])
    }

    #[test]
    fn reads_a_workstation() {
        let environment = workstation().probe();
        let Environment { system, cpu, memory, clock, activity, .. } = environment;
        assert_eq!(system.os.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(system.kernel.as_deref(), Some("6.1.0-18-amd64"));
        assert_eq!(system.virtual_machine.as_deref(), Some("none"));
        assert_eq!(system.container.as_deref(), Some("none"));
        assert_eq!(system.power.as_deref(), Some("mains"));
        assert_eq!(system.address_randomisation, Some(2));
        assert_eq!(cpu.model.as_deref(), Some("Fast CPU @ 3.00GHz"));
        assert_eq!((cpu.cores, cpu.threads, cpu.usable), (Some(1), Some(2), 2));
        assert_eq!(cpu.governor.as_deref(), Some("performance, powersave"));
        assert_eq!(cpu.turbo, Some(false));
        assert_eq!((cpu.minimum_mhz, cpu.maximum_mhz), (Some(800.0), Some(4200.0)));
        let caches: Vec<_> = cpu.caches.iter().map(|c| (c.level, &*c.kind, c.bytes)).collect();
        assert_eq!(caches, [(1, "data", 32 << 10), (3, "unified", 32 << 20)]);
        assert_eq!(memory.total_bytes, Some(16_000_000 << 10));
        assert_eq!(memory.available_bytes, Some(8_000_000 << 10));
        assert_eq!(memory.huge_pages.as_deref(), Some("madvise"));
        assert_eq!(clock.source.as_deref(), Some("tsc"));
        assert_eq!(activity.load_before, Some([0.1, 0.2, 0.3]));
    }

    #[test]
    fn an_unreadable_machine_is_unknown_and_not_an_error() {
        let mut environment = Machine::new(&[]).probe();
        environment.finish();
        assert_eq!(environment.system.virtual_machine, None);
        assert_eq!(environment.system.container, None);
        assert_eq!(environment.cpu.governor, None);
        assert!(environment.cpu.usable >= 1);
        assert_eq!(environment.activity, Activity::default());
    }

    #[test]
    fn names_hypervisors_and_containers() {
        let machine = workstation();
        machine.write("proc/cpuinfo", &CPUINFO.replace("sse2", "sse2 hypervisor"));
        let name = || machine.probe().system.virtual_machine.unwrap();
        assert_eq!(name(), "unknown hypervisor");
        machine.write("sys/class/dmi/id/sys_vendor", "Google\n");
        machine.write("sys/class/dmi/id/product_name", "Google Compute Engine\n");
        let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
        machine.write(clocks, "kvm-clock tsc\n");
        assert_eq!(name(), "KVM (Google Compute Engine)");
        machine.write("sys/class/dmi/id/sys_vendor", "VMware, Inc.\n");
        machine.write("sys/class/dmi/id/product_name", "VMware Virtual Platform\n");
        assert_eq!(name(), "VMware (VMware Virtual Platform)");
        machine.write("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        machine.write("sys/class/dmi/id/product_name", "m5.large\n");
        assert_eq!(name(), "KVM (Amazon EC2 m5.large)");

        machine.write("proc/1/environ", "HOME=/\0container=lxc\0");
        assert_eq!(machine.probe().system.container.as_deref(), Some("lxc"));
        let docker = Machine::new(&[("proc/1/cgroup", "0::/\n"), (".dockerenv", "")]);
        assert_eq!(docker.probe().system.container.as_deref(), Some("docker"));
    }

    #[test]
    fn a_container_has_its_own_limits() {
        let machine = workstation();
        machine.write("sys/fs/cgroup/cpu.max", "100000 100000\n");
        machine.write("sys/fs/cgroup/memory.max", "1000000\n");
        machine.write("sys/fs/cgroup/memory.current", "400000\n");
        let environment = machine.probe();
        assert_eq!(environment.cpu.usable, 1);
        assert_eq!(environment.memory.available_bytes, Some(600_000));
        machine.write("sys/fs/cgroup/cpu.max", "max 100000\n");
        machine.write("sys/fs/cgroup/memory.max", "max\n");
        assert_eq!(machine.probe().cpu.usable, 2);
        // More than any machine that tests run on, so that it is read from here.
        machine.write("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-8190\n");
        assert_eq!(machine.probe().cpu.usable, 8191);
    }

    #[test]
    fn a_battery_counts_while_it_is_drained() {
        let machine = workstation();
        machine.write("sys/class/power_supply/BAT0/type", "Battery\n");
        machine.write("sys/class/power_supply/BAT0/status", "Charging\n");
        machine.write("sys/class/power_supply/mouse/type", "Battery\n");
        machine.write("sys/class/power_supply/mouse/status", "Discharging\n");
        machine.write("sys/class/power_supply/mouse/scope", "Device\n");
        assert_eq!(machine.probe().system.power.as_deref(), Some("mains"));
        machine.write("sys/class/power_supply/BAT0/status", "Discharging\n");
        assert_eq!(machine.probe().system.power.as_deref(), Some("battery"));
    }

    #[test]
    fn compares_the_end_with_the_start() {
        let machine = workstation();
        let mut environment = machine.probe();
        // 1000 ticks: 500 idle, 100 stolen, 250 ours, so 150 of others.
        machine.write("proc/stat", "cpu  400 0 200 1200 100 0 0 100 0 0\nctxt 5000\n");
        machine.write("proc/self/stat", "7 (a) b) S 1 1 1 0 0 0 0 0 0 0 20 20 200 30 20 0\n");
        machine.write("proc/loadavg", "2.00 0.20 0.30 1/500 1234\n");
        environment.finish();
        let Activity { load_after, steal, others, context_switches_per_second, .. } =
            environment.activity.clone();
        assert_eq!(load_after, Some([2.0, 0.2, 0.3]));
        assert_eq!(steal, Some(0.1));
        assert_eq!(others, Some(0.15));
        assert!(context_switches_per_second.unwrap() > 4000.0);

        let copy = environment.clone();
        environment.finish();
        assert_eq!(environment, copy);
    }

    #[test]
    fn variables_that_change_programs_are_told() {
        let machine = workstation();
        assert!(machine.probe().variables.is_empty());
        let variables = "LD_PRELOAD=/a.so\0HOME=/\0FASTDDS_A=b=c\0MALLOC_CHECK_=\0";
        machine.write("proc/self/environ", variables);
        let wanted = [("FASTDDS_A", "b=c"), ("LD_PRELOAD", "/a.so")];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(machine.probe().variables, IndexMap::from(wanted));
    }

    #[test]
    fn survives_json() {
        let mut tools = IndexMap::new();
        tools.insert("rustc".to_owned(), "1.95.0".to_owned());
        let mut environment = Environment::probe(tools);
        environment.finish();
        assert!(environment.clock.step_ns >= 1.0 && environment.clock.cost_ns > 0.0);
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
        // Results of older versions lack what is new.
        assert_eq!(serde_json::from_str::<Environment>("{}").unwrap(), Environment::default());
    }
}
