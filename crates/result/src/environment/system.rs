//! The operating system, and what it runs in.

use serde::{Deserialize, Serialize};

use super::clock::CLOCK;
use super::files::Files;

const DMI: &str = "sys/class/dmi/id";

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

impl System {
    /// What the files say of it.
    pub(super) fn read(files: &Files) -> System {
        System {
            os: files.value("etc/os-release", "PRETTY_NAME"),
            kernel: files.line("proc/sys/kernel/osrelease"),
            architecture: std::env::consts::ARCH.into(),
            virtual_machine: virtual_machine(files),
            container: container(files),
            power: power(files),
            address_randomisation: files.number("proc/sys/kernel/randomize_va_space"),
        }
    }
}

/// Asks, in this order: the processor, the firmware, the clocks that the
/// hypervisor offers.
fn virtual_machine(files: &Files) -> Option<String> {
    let flags = files.value("proc/cpuinfo", "flags");
    let has_flag =
        flags.as_ref().map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    let vendor = files.line(&format!("{DMI}/sys_vendor")).unwrap_or_default();
    let product = files.line(&format!("{DMI}/product_name")).unwrap_or_default();
    let firmware = format!("{vendor} {product}");
    let clocks = files.line(&format!("{CLOCK}/available_clocksource")).unwrap_or_default();
    let kernel = files.line("proc/sys/kernel/osrelease").unwrap_or_default();
    let signs = [
        (kernel.contains("microsoft"), "WSL"),
        (firmware.contains("VMware"), "VMware"),
        (firmware.contains("VirtualBox") || firmware.contains("innotek"), "VirtualBox"),
        (firmware.contains("Parallels"), "Parallels"),
        (firmware.contains("Microsoft Corporation Virtual Machine"), "Hyper-V"),
        (clocks.contains("hyperv"), "Hyper-V"),
        (firmware.contains("Xen") || files.exists("proc/xen"), "Xen"),
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

fn container(files: &Files) -> Option<String> {
    let groups = files.text("proc/1/cgroup")?;
    let variable = files.text("proc/1/environ").and_then(|environ| {
        environ.split('\0').find_map(|entry| Some(entry.strip_prefix("container=")?.to_owned()))
    });
    let name = variable
        .or_else(|| files.line("run/systemd/container"))
        .or_else(|| files.exists("run/.containerenv").then(|| "podman".into()))
        .or_else(|| groups.contains("kubepods").then(|| "kubernetes".into()))
        .or_else(|| files.exists(".dockerenv").then(|| "docker".into()))
        .or_else(|| groups.contains("docker").then(|| "docker".into()))
        .or_else(|| groups.contains("lxc").then(|| "lxc".into()));
    Some(name.unwrap_or_else(|| "none".into()))
}

/// A battery that is drained means battery; a mouse's does not count.
fn power(files: &Files) -> Option<String> {
    const SUPPLIES: &str = "sys/class/power_supply";
    let mut known = None;
    for name in files.names(SUPPLIES) {
        let of = |file: &str| files.line(&format!("{SUPPLIES}/{name}/{file}"));
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
