//! How often wiregauge is installed: whoever has it twice may call another one than he means.

use std::path::PathBuf;

use wiregauge_build_tools::find_programs;
use wiregauge_result::doctor::{MachineFinding, MachineState};

/// That a shell finds several programs of this name, and which it takes; none where it finds one
/// or none.
pub fn find_installations() -> Option<MachineFinding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    explain_several(&find_programs(&path, "wiregauge"))
}

fn explain_several(programs: &[PathBuf]) -> Option<MachineFinding> {
    let [first, others @ ..] = programs else { return None };
    let others: Vec<String> = others.iter().map(|other| other.display().to_string()).collect();
    (!others.is_empty()).then(|| MachineFinding {
        name: "installations".into(),
        state: MachineState::Bad,
        text: format!("the shell starts {}, and there is {}", first.display(), others.join(", ")),
        remedy: Some("remove those that you do not use".into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_installations_are_told_and_one_is_well() {
        let [one, two] = ["/usr/bin/wiregauge", "/opt/bin/wiregauge"].map(PathBuf::from);
        assert_eq!(explain_several(&[]), None);
        assert_eq!(explain_several(std::slice::from_ref(&one)), None);
        let finding = explain_several(&[two, one]).unwrap();
        let wanted = "the shell starts /opt/bin/wiregauge, and there is /usr/bin/wiregauge";
        assert_eq!(finding.text, wanted);
    }
}
