//! The machine, its state and the tools: what a reader must know to judge a
//! figure. Linux tells it in `/proc` and `/sys`; what cannot be read is left
//! out, and never guessed.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};

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
    /// Versions and flags of compilers and libraries, by name.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub tools: IndexMap<String, String>,
    /// What [`Environment::finish`] compares with; none after it.
    #[serde(skip)]
    pub start: Option<Start>,
}

/// The operating system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct System {
    /// Name and version: `Debian GNU/Linux 12 (bookworm)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// Release of the kernel: `6.1.0-18-amd64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Instruction set that wiregauge was built for: `x86_64`.
    pub architecture: String,
    /// The hypervisor and its machine, such as `KVM (Google Compute Engine)`,
    /// or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_machine: Option<String>,
    /// The kind of container, such as `docker`, or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// `mains` or `battery`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<String>,
    /// Randomisation of addresses: 0 none, 1 without the heap, 2 full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_randomisation: Option<u8>,
}

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// Name of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Cores of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Hardware threads of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Hardware threads that this process may use, by affinity and quota.
    pub usable: u32,
    /// Caches that the first core sees, from the nearest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<Cache>,
    /// Frequency governor; several, if cores differ: `performance, powersave`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Whether the frequency may exceed the nominal one while it is cool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turbo: Option<bool>,
    /// Lowest frequency that the governor may choose, in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_mhz: Option<f64>,
    /// Highest frequency that the governor may choose, in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum_mhz: Option<f64>,
}

/// A cache of the processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u8,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// The memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Memory of the machine in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Memory that was free for use at the start, in bytes, under the limit of
    /// the container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_bytes: Option<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huge_pages: Option<String>,
}

/// The monotonic clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// Source of the kernel: `tsc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Smallest difference that two readings showed, in nanoseconds.
    pub step_ns: f64,
    /// Time that a reading takes, in nanoseconds.
    pub cost_ns: f64,
}

/// What else the machine did. Shares are of the time of all its hardware
/// threads between start and end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activity {
    /// Load averages over 1, 5 and 15 minutes at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_before: Option<[f64; 3]>,
    /// The same at the end, with what was measured in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_after: Option<[f64; 3]>,
    /// Share that the hypervisor gave to others, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// Share that other processes took, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// Context switches of the whole machine per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_switches_per_second: Option<f64>,
}

/// Where to look, and what the counters said at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    root: PathBuf,
    time: Instant,
    counters: Option<Counters>,
}

/// Counters since the machine started. Times in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counters {
    total: u64,
    idle: u64,
    steal: u64,
    /// Ours and those of the children that we reaped.
    own: u64,
    context_switches: u64,
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
        let cpu = files.cpu();
        Environment {
            wiregauge: env!("CARGO_PKG_VERSION").into(),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.into(),
            system: files.system(),
            cpu,
            memory: files.memory(),
            clock: Clock { source: files.line(&format!("{CLOCK}/current_clocksource")), ..clock() },
            activity: Activity { load_before: files.load(), ..Activity::default() },
            tools,
            start: Some(Start {
                root: root.to_owned(),
                time: Instant::now(),
                counters: files.counters(),
            }),
        }
    }

    /// Looks again, at the end of a measurement, when all children are reaped.
    /// Only the first call does anything.
    pub fn finish(&mut self) {
        let Some(start) = self.start.take() else { return };
        let files = Files(&start.root);
        self.activity.load_after = files.load();
        let (Some(before), Some(after)) = (start.counters, files.counters()) else { return };
        let past = |of: fn(&Counters) -> u64| of(&after).saturating_sub(of(&before)) as f64;
        let total = past(|c| c.total);
        if total > 0.0 {
            let steal = past(|c| c.steal);
            let others = total - past(|c| c.idle) - steal - past(|c| c.own);
            self.activity.steal = Some(steal / total);
            // Ticks are counted by sampling: ours may come out as the more.
            self.activity.others = Some(others.max(0.0) / total);
        }
        let seconds = start.time.elapsed().as_secs_f64();
        self.activity.context_switches_per_second =
            Some(past(|c| c.context_switches) / seconds.max(1e-9));
    }
}

/// Measures the step and the cost of the clock.
fn clock() -> Clock {
    const READINGS: u32 = 1000;
    let mut step = f64::INFINITY;
    let mut cost = f64::INFINITY;
    // The least of several goes, since an interruption only ever adds.
    for _ in 0..20 {
        let start = Instant::now();
        let mut last = start;
        for _ in 0..READINGS {
            let now = Instant::now();
            let difference = now.duration_since(last).as_nanos();
            if difference > 0 {
                step = step.min(difference as f64);
            }
            last = now;
        }
        cost = cost.min(last.duration_since(start).as_nanos() as f64 / f64::from(READINGS));
    }
    // A clock that stood still all the while has a step of at least that while.
    let step_ns = if step.is_finite() { step } else { 1e6 };
    Clock { source: None, step_ns, cost_ns: cost }
}

const CPUS: &str = "sys/devices/system/cpu";
const CLOCK: &str = "sys/devices/system/clocksource/clocksource0";
const DMI: &str = "sys/class/dmi/id";

/// The files under a root.
struct Files<'a>(&'a Path);

impl Files<'_> {
    /// A file as text, without surrounding blanks; none if it is not there or
    /// empty.
    fn text(&self, path: &str) -> Option<String> {
        // Firmware strings need not be UTF-8, and device-tree ones end in NUL.
        let bytes = fs::read(self.0.join(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The first line of a file.
    fn line(&self, path: &str) -> Option<String> {
        Some(self.text(path)?.lines().next()?.trim().to_owned())
    }

    fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.line(path)?.parse().ok()
    }

    fn exists(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }

    /// Names in a folder, sorted.
    fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(path)).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The first value of `key` in a file of lines like `key: value`.
    fn value(&self, path: &str, key: &str) -> Option<String> {
        self.text(path)?.lines().find_map(|line| {
            let (name, value) = line.split_once([':', '='])?;
            let value = value.trim().trim_matches('"');
            (name.trim() == key && !value.is_empty()).then(|| value.to_owned())
        })
    }

    fn system(&self) -> System {
        System {
            os: self.value("etc/os-release", "PRETTY_NAME"),
            kernel: self.line("proc/sys/kernel/osrelease"),
            architecture: std::env::consts::ARCH.into(),
            virtual_machine: self.virtual_machine(),
            container: self.container(),
            power: self.power(),
            address_randomisation: self.number("proc/sys/kernel/randomize_va_space"),
        }
    }

    /// Asks, in this order: the processor, the firmware, the clocks that the
    /// hypervisor offers.
    fn virtual_machine(&self) -> Option<String> {
        let flags = self.value("proc/cpuinfo", "flags");
        let has_flag =
            flags.as_ref().map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
        let vendor = self.line(&format!("{DMI}/sys_vendor")).unwrap_or_default();
        let product = self.line(&format!("{DMI}/product_name")).unwrap_or_default();
        let firmware = format!("{vendor} {product}");
        let clocks = self.line(&format!("{CLOCK}/available_clocksource")).unwrap_or_default();
        let kernel = self.line("proc/sys/kernel/osrelease").unwrap_or_default();
        let signs = [
            (kernel.contains("microsoft"), "WSL"),
            (firmware.contains("VMware"), "VMware"),
            (firmware.contains("VirtualBox") || firmware.contains("innotek"), "VirtualBox"),
            (firmware.contains("Parallels"), "Parallels"),
            (firmware.contains("Microsoft Corporation Virtual Machine"), "Hyper-V"),
            (clocks.contains("hyperv"), "Hyper-V"),
            (firmware.contains("Xen") || self.exists("proc/xen"), "Xen"),
            (clocks.contains("kvm-clock") || firmware.contains("KVM"), "KVM"),
            (firmware.contains("QEMU") || firmware.contains("Bochs"), "QEMU"),
        ];
        let sign = signs.iter().find(|(found, _)| *found).map(|(_, name)| *name);
        let hypervisor = match (has_flag, sign) {
            // A metal instance of a cloud has the cloud's firmware.
            (Some(false), _) => return Some("none".into()),
            (_, Some(name)) => name,
            (Some(true), None) => "unknown hypervisor",
            (None, None) => return None,
        };
        // Many products name their vendor again.
        let brand = vendor.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let machine = if product.contains(brand) { &product } else { firmware.trim() };
        Some(match machine {
            "" => hypervisor.into(),
            machine => format!("{hypervisor} ({machine})"),
        })
    }

    fn container(&self) -> Option<String> {
        let groups = self.text("proc/1/cgroup")?;
        let variable = self.text("proc/1/environ").and_then(|environ| {
            environ.split('\0').find_map(|entry| Some(entry.strip_prefix("container=")?.to_owned()))
        });
        let name = variable
            .or_else(|| self.line("run/systemd/container"))
            .or_else(|| self.exists("run/.containerenv").then(|| "podman".into()))
            .or_else(|| groups.contains("kubepods").then(|| "kubernetes".into()))
            .or_else(|| self.exists(".dockerenv").then(|| "docker".into()))
            .or_else(|| groups.contains("docker").then(|| "docker".into()))
            .or_else(|| groups.contains("lxc").then(|| "lxc".into()));
        Some(name.unwrap_or_else(|| "none".into()))
    }

    /// A battery that is drained means battery; a mouse's does not count.
    fn power(&self) -> Option<String> {
        const SUPPLIES: &str = "sys/class/power_supply";
        let mut known = None;
        for name in self.names(SUPPLIES) {
            let of = |file: &str| self.line(&format!("{SUPPLIES}/{name}/{file}"));
            if of("scope").as_deref() == Some("Device") {
                continue;
            }
            match (of("type").as_deref(), of("status").as_deref(), of("online").as_deref()) {
                (Some("Battery"), Some("Discharging"), _) => return Some("battery".into()),
                (Some("Battery"), Some(_), _) | (Some("Mains" | "USB"), _, Some("1")) => {
                    known = Some("mains".into());
                }
                _ => {}
            }
        }
        known
    }

    fn cpu(&self) -> Cpu {
        let cpus: Vec<String> = self
            .names(CPUS)
            .into_iter()
            .filter(|name| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok()))
            .collect();
        let each = |file: &str| -> IndexSet<String> {
            cpus.iter().filter_map(|cpu| self.line(&format!("{CPUS}/{cpu}/{file}"))).collect()
        };
        let listed = self
            .text("proc/cpuinfo")
            .map(|text| text.lines().filter(|line| line.starts_with("processor")).count() as u32);
        let threads = listed.filter(|&count| count > 0);
        // Threads of a core name the same siblings.
        let cores = each("topology/thread_siblings_list").len() as u32;
        let governors: Vec<String> = each("cpufreq/scaling_governor").into_iter().collect();
        let megahertz = |file: &str| {
            let kilohertz = each(file).iter().filter_map(|text| text.parse::<f64>().ok()).collect();
            Some::<Vec<f64>>(kilohertz).filter(|k| !k.is_empty())
        };
        Cpu {
            model: self
                .value("proc/cpuinfo", "model name")
                .or_else(|| self.value("proc/cpuinfo", "Model"))
                .or_else(|| self.text("proc/device-tree/model")),
            cores: Some(cores).filter(|&count| count > 0).or(threads),
            threads,
            usable: self.usable(),
            caches: self.caches(),
            governor: Some(governors.join(", ")).filter(|text| !text.is_empty()),
            turbo: self.turbo(),
            minimum_mhz: megahertz("cpufreq/scaling_min_freq")
                .map(|all| all.into_iter().fold(f64::INFINITY, f64::min) / 1e3),
            maximum_mhz: megahertz("cpufreq/scaling_max_freq")
                .map(|all| all.into_iter().fold(0.0, f64::max) / 1e3),
        }
    }

    /// Threads that affinity and the quota of the container leave, at least 1.
    fn usable(&self) -> u32 {
        let allowed = self
            .value("proc/self/status", "Cpus_allowed_list")
            .map(|list| list_length(&list))
            .filter(|&count| count > 0)
            .unwrap_or_else(|| thread::available_parallelism().map_or(1, |n| n.get() as u32));
        let quota = self.line("sys/fs/cgroup/cpu.max").and_then(|line| {
            let (quota, period) = line.split_once(' ')?;
            Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
        });
        quota.map_or(allowed, |quota| allowed.min(quota as u32)).max(1)
    }

    fn turbo(&self) -> Option<bool> {
        match self.line(&format!("{CPUS}/intel_pstate/no_turbo")) {
            Some(off) => Some(off == "0"),
            None => Some(self.line(&format!("{CPUS}/cpufreq/boost"))? == "1"),
        }
    }

    fn caches(&self) -> Vec<Cache> {
        let folder = format!("{CPUS}/cpu0/cache");
        let read = |index: String| {
            let size = self.line(&format!("{folder}/{index}/size"))?;
            let (digits, factor) = match size.strip_suffix('K') {
                Some(digits) => (digits, 1 << 10),
                None => (size.strip_suffix('M')?, 1 << 20),
            };
            Some(Cache {
                level: self.number(&format!("{folder}/{index}/level"))?,
                kind: self.line(&format!("{folder}/{index}/type"))?.to_lowercase(),
                bytes: digits.parse::<u64>().ok()? * factor,
            })
        };
        let mut caches: Vec<Cache> = self.names(&folder).into_iter().filter_map(read).collect();
        caches.sort_by_key(|cache| cache.level);
        caches
    }

    fn memory(&self) -> Memory {
        let bytes = |key: &str| {
            let value = self.value("proc/meminfo", key)?;
            Some(value.strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
        };
        let left = (|| {
            let most: u64 = self.number("sys/fs/cgroup/memory.max")?;
            Some(most.saturating_sub(self.number("sys/fs/cgroup/memory.current")?))
        })();
        Memory {
            total_bytes: bytes("MemTotal"),
            available_bytes: bytes("MemAvailable").into_iter().chain(left).min(),
            huge_pages: self.line("sys/kernel/mm/transparent_hugepage/enabled").and_then(|line| {
                // The choice stands in brackets: always [madvise] never.
                let (_, rest) = line.split_once('[')?;
                Some(rest.split_once(']')?.0.to_owned())
            }),
        }
    }

    fn load(&self) -> Option<[f64; 3]> {
        let line = self.line("proc/loadavg")?;
        let mut words = line.split(' ').map_while(|word| word.parse().ok());
        Some([words.next()?, words.next()?, words.next()?])
    }

    fn counters(&self) -> Option<Counters> {
        let text = self.text("proc/stat")?;
        let after = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
            Some(line.split_whitespace().map_while(|word| word.parse().ok()).collect::<Vec<u64>>())
        };
        // user nice system idle iowait irq softirq steal, and then guest times,
        // which user and nice contain.
        let cpu = after("cpu")?;
        // The name of the program, in parentheses, may contain anything.
        let line = self.text("proc/self/stat")?;
        let own: Vec<u64> = line
            .rsplit_once(')')?
            .1
            .split_whitespace()
            .skip(11)
            .take(4)
            .map_while(|word| word.parse().ok())
            .collect();
        Some(Counters {
            total: cpu.iter().take(8).sum(),
            idle: cpu.get(3)? + cpu.get(4)?,
            steal: cpu.get(7).copied().unwrap_or(0),
            own: own.iter().sum(),
            context_switches: *after("ctxt")?.first()?,
        })
    }
}

/// How many numbers a list of ranges has: 3 for `0-1,4`.
fn list_length(list: &str) -> u32 {
    list.split(',')
        .filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            Some(last.checked_sub(first)? + 1)
        })
        .sum()
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn counts_lists_of_ranges() {
        assert_eq!(list_length("0-1,4"), 3);
        assert_eq!(list_length("7"), 1);
        assert_eq!(list_length(""), 0);
        assert_eq!(list_length("3-1"), 0);
    }
}
