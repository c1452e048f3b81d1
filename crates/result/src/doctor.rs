//! What on this machine will spoil figures, and what to do about each.

use std::fmt::Write;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::warning::{Caution, MissingTool};

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineFinding {
    /// What: `cpu governor`.
    pub name: String,
    /// How it is.
    pub state: MachineState,
    /// What was found.
    pub text: String,
    /// What to do about it, if it is bad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineState {
    /// As it should be.
    Good,
    /// It spoils figures.
    Bad,
    /// It cannot be read on this machine.
    Unknown,
}

/// Looks at everything that [`Environment::cautions`] may be about.
///
/// Steal and other processes are known after [`Environment::finish`]: probe,
/// wait for a second, finish, examine.
pub fn examine(environment: &Environment, missing_tools: &[MissingTool]) -> Vec<MachineFinding> {
    let Environment { build, system, cpu, memory, clock, activity, variables, .. } = environment;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    // What each is called, the caution that may be about it, and how it is.
    let looked_at = [
        ("build", "debug-build", Some(build.clone())),
        ("virtual machine", "virtual-machine", system.virtual_machine.clone()),
        ("power", "battery", system.power.clone()),
        ("cpu governor", "governor", cpu.governor.clone()),
        ("turbo", "turbo", cpu.turbo.map(|on| if on { "on" } else { "off" }.into())),
        ("usable cpus", "one-core", Some(cpu.usable.to_string())),
        (
            "free memory",
            "memory",
            memory.available_bytes.map(|bytes| format!("{} MiB", bytes >> 20)),
        ),
        ("clock", "clock", Some(format!("steps by {:.0} ns", clock.step_ns))),
        ("variables", "variables", Some(describe_variables(variables))),
        ("load", "load", activity.load_before.map(|[load, ..]| format!("{load:.2}"))),
        ("steal", "steal", activity.steal.map(percent)),
        ("other processes", "other-processes", activity.others.map(percent)),
    ];
    let cautions = environment.cautions();
    let mut findings: Vec<MachineFinding> = looked_at
        .into_iter()
        .map(|(name, code, text)| {
            let caution = cautions.iter().find(|caution| caution.code() == code);
            let state = match (&text, caution) {
                (_, Some(_)) => MachineState::Bad,
                (Some(_), None) => MachineState::Good,
                (None, None) => MachineState::Unknown,
            };
            MachineFinding {
                name: name.into(),
                state,
                text: text.unwrap_or_else(|| "not available on this machine".into()),
                remedy: caution.map(Caution::remedy),
            }
        })
        .collect();
    findings.extend(missing_tools.iter().map(|missing| MachineFinding {
        name: missing.tool.clone(),
        state: MachineState::Bad,
        text: "not installed".into(),
        remedy: Some(Caution::MissingTool(missing.clone()).remedy()),
    }));
    if missing_tools.is_empty() {
        findings.push(MachineFinding {
            name: "tools".into(),
            state: MachineState::Good,
            text: "all installed".into(),
            remedy: None,
        });
    }
    findings
}

/// Variables with their values, in a line.
fn describe_variables(variables: &IndexMap<String, String>) -> String {
    if variables.is_empty() {
        return "none that changes what is measured".into();
    }
    let each = variables.iter().map(|(name, value)| format!("{name}={value}"));
    each.collect::<Vec<_>>().join(", ")
}

/// One line a finding: `ok  cpu governor: performance`.
pub fn render(findings: &[MachineFinding]) -> String {
    let mut text = String::new();
    for MachineFinding { name, state, text: found, remedy } in findings {
        let mark = match state {
            MachineState::Good => "ok",
            MachineState::Bad => "!!",
            MachineState::Unknown => "??",
        };
        let remedy = remedy.as_ref().map(|remedy| format!(" → {remedy}")).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{mark}  {name}: {found}{remedy}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_good_bad_and_unknown() {
        let mut environment = Environment { build: "release".into(), ..Environment::default() };
        environment.system.virtual_machine = Some("KVM".into());
        environment.cpu.governor = Some("performance".into());
        environment.cpu.usable = 4;
        environment.clock.step_ns = 20.0;
        environment.memory.available_bytes = Some(4 << 30);
        environment.activity.load_before = Some([0.5, 0.0, 0.0]);
        environment.activity.steal = Some(0.02);
        let missing = MissingTool { tool: "flatc".into(), package: "flatbuffers-compiler".into() };
        let findings = examine(&environment, &[missing]);
        assert_eq!(
            render(&findings),
            "\
ok  build: release
!!  virtual machine: KVM → measure on bare metal, or trust ratios only
??  power: not available on this machine
ok  cpu governor: performance
??  turbo: not available on this machine
ok  usable cpus: 4
ok  free memory: 4096 MiB
ok  clock: steps by 20 ns
ok  variables: none that changes what is measured
ok  load: 0.50
!!  steal: 2.0 % → measure again when the host is quiet, or on your own machine
??  other processes: not available on this machine
!!  flatc: not installed → install it: `sudo apt-get install flatbuffers-compiler`
"
        );
        let json = serde_json::to_string(&findings).unwrap();
        assert_eq!(serde_json::from_str::<Vec<MachineFinding>>(&json).unwrap(), findings);
        assert!(json.contains("\"state\":\"unknown\""));
    }

    #[test]
    fn every_caution_about_the_machine_has_its_line() {
        let mut environment = Environment { build: "debug".into(), ..Environment::default() };
        environment.system.virtual_machine = Some("Xen".into());
        environment.system.power = Some("battery".into());
        environment.cpu.governor = Some("powersave".into());
        environment.cpu.turbo = Some(true);
        environment.cpu.usable = 1;
        environment.memory.available_bytes = Some(1 << 20);
        environment.clock.step_ns = 1e6;
        environment.variables.insert("LD_PRELOAD".into(), "/a.so".into());
        environment.activity.load_before = Some([3.0, 0.0, 0.0]);
        environment.activity.steal = Some(0.5);
        environment.activity.others = Some(0.5);
        let findings = examine(&environment, &[]);
        let bad = findings.iter().filter(|finding| finding.state == MachineState::Bad).count();
        assert_eq!(bad, environment.cautions().len());
        assert_eq!(findings.last().unwrap().text, "all installed");
    }
}
