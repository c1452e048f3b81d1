//! The processor.

use std::thread;

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use super::files::Files;

const CPUS: &str = "sys/devices/system/cpu";

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

impl Cpu {
    /// What the files say of it.
    pub(super) fn read(files: &Files) -> Cpu {
        let cpus: Vec<String> = files
            .names(CPUS)
            .into_iter()
            .filter(|name| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok()))
            .collect();
        let each = |file: &str| -> IndexSet<String> {
            cpus.iter().filter_map(|cpu| files.line(&format!("{CPUS}/{cpu}/{file}"))).collect()
        };
        let listed = files
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
            model: files
                .value("proc/cpuinfo", "model name")
                .or_else(|| files.value("proc/cpuinfo", "Model"))
                .or_else(|| files.text("proc/device-tree/model")),
            cores: Some(cores).filter(|&count| count > 0).or(threads),
            threads,
            usable: usable(files),
            caches: caches(files),
            governor: Some(governors.join(", ")).filter(|text| !text.is_empty()),
            turbo: turbo(files),
            minimum_mhz: megahertz("cpufreq/scaling_min_freq")
                .map(|all| all.into_iter().fold(f64::INFINITY, f64::min) / 1e3),
            maximum_mhz: megahertz("cpufreq/scaling_max_freq")
                .map(|all| all.into_iter().fold(0.0, f64::max) / 1e3),
        }
    }
}

/// Threads that affinity and the quota of the container leave, at least 1.
fn usable(files: &Files) -> u32 {
    let allowed = files
        .value("proc/self/status", "Cpus_allowed_list")
        .map(|list| list_length(&list))
        .filter(|&count| count > 0)
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, |n| n.get() as u32));
    let quota = files.line("sys/fs/cgroup/cpu.max").and_then(|line| {
        let (quota, period) = line.split_once(' ')?;
        Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
    });
    quota.map_or(allowed, |quota| allowed.min(quota as u32)).max(1)
}

fn turbo(files: &Files) -> Option<bool> {
    match files.line(&format!("{CPUS}/intel_pstate/no_turbo")) {
        Some(off) => Some(off == "0"),
        None => Some(files.line(&format!("{CPUS}/cpufreq/boost"))? == "1"),
    }
}

fn caches(files: &Files) -> Vec<Cache> {
    let folder = format!("{CPUS}/cpu0/cache");
    let read = |index: String| {
        let size = files.line(&format!("{folder}/{index}/size"))?;
        let (digits, factor) = match size.strip_suffix('K') {
            Some(digits) => (digits, 1 << 10),
            None => (size.strip_suffix('M')?, 1 << 20),
        };
        Some(Cache {
            level: files.number(&format!("{folder}/{index}/level"))?,
            kind: files.line(&format!("{folder}/{index}/type"))?.to_lowercase(),
            bytes: digits.parse::<u64>().ok()? * factor,
        })
    };
    let mut caches: Vec<Cache> = files.names(&folder).into_iter().filter_map(read).collect();
    caches.sort_by_key(|cache| cache.level);
    caches
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

    #[test]
    fn counts_lists_of_ranges() {
        assert_eq!(list_length("0-1,4"), 3);
        assert_eq!(list_length("7"), 1);
        assert_eq!(list_length(""), 0);
        assert_eq!(list_length("3-1"), 0);
    }
}
