//! The machine's release, and the libraries that it brings for codecs.

use wiregauge_formats::packaged_library::PackagedLibrary;
use wiregauge_result::doctor::{MachineFinding, MachineState};
use wiregauge_result::environment::Environment;

/// The name and version of the operating system.
pub fn system_release(environment: &Environment) -> MachineFinding {
    let os = environment.system.os.clone();
    MachineFinding {
        name: "release".into(),
        state: if os.is_some() { MachineState::Good } else { MachineState::Unknown },
        text: os.unwrap_or_else(|| "not available on this machine".into()),
        remedy: None,
    }
}

/// Each library that is installed: its version, the year of its release, and the
/// rows that are measured with it.
pub fn find_libraries() -> Vec<MachineFinding> {
    let found =
        |library: &PackagedLibrary| Some(library_finding(library, &library.installed_version()?));
    PackagedLibrary::all().into_iter().filter_map(found).collect()
}

fn library_finding(library: &PackagedLibrary, installed: &str) -> MachineFinding {
    let rows: Vec<&str> = library.codecs().iter().map(|codec| codec.title).collect();
    let rows = rows.join(", ");
    let (state, text) = match library.release_year(installed) {
        Some(year) if installed == library.newest.0 => {
            (MachineState::Good, format!("{installed} of {year}, the newest, for {rows}"))
        }
        Some(year) => {
            let (newest, month) = library.newest;
            let of = month.split('-').next().unwrap_or_default();
            let text = format!("{installed} of {year}, the newest is {newest} of {of}, for {rows}");
            (MachineState::Good, text)
        }
        None => match library.explain_too_old(installed) {
            Some(old) => (MachineState::Bad, format!("{old}; not measured: {rows}")),
            None => {
                let unknown = library.explain_untested(installed).unwrap_or_default();
                (MachineState::Unknown, format!("{unknown}; it is tried, for {rows}"))
            }
        },
    };
    MachineFinding { name: library.name.into(), state, text, remedy: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_has_its_year_and_its_rows() {
        let library = PackagedLibrary::all().into_iter().find(|l| l.name == "Fast CDR").unwrap();
        let known = library_finding(library, "2.2.5");
        assert_eq!(known.state, MachineState::Good);
        assert_eq!(known.text, "2.2.5 of 2024, the newest is 2.3.6 of 2026, for CDR C++ FastCDR");
        let old = library_finding(library, "0.9.1");
        assert_eq!(old.state, MachineState::Bad);
        assert!(old.text.contains("1.0.23 is the oldest that works"), "{}", old.text);
        let unknown = library_finding(library, "9.1.0");
        assert_eq!(unknown.state, MachineState::Unknown);
        assert!(unknown.text.contains("9.1.0 is not known"), "{}", unknown.text);
    }
}
