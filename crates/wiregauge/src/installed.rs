//! The machine's release, and the libraries that it brings for codecs.

use wiregauge_formats::release::Library;
use wiregauge_result::doctor::{Finding, State};
use wiregauge_result::environment::Environment;

/// The name and version of the operating system.
pub fn release(environment: &Environment) -> Finding {
    let os = environment.system.os.clone();
    Finding {
        name: "release".into(),
        state: if os.is_some() { State::Good } else { State::Unknown },
        text: os.unwrap_or_else(|| "cannot be read on this machine".into()),
        remedy: None,
    }
}

/// Each library that is installed: its version, the year of its release, and the
/// rows that are measured with it.
pub fn found() -> Vec<Finding> {
    let found = |library: &Library| Some(finding(library, &library.installed()?));
    Library::all().into_iter().filter_map(found).collect()
}

fn finding(library: &Library, installed: &str) -> Finding {
    let rows: Vec<&str> = library.codecs().iter().map(|codec| codec.title).collect();
    let rows = rows.join(", ");
    let (state, text) = match library.year(installed) {
        Some(year) if installed == library.newest.0 => {
            (State::Good, format!("{installed} of {year}, the newest, for {rows}"))
        }
        Some(year) => {
            let (newest, month) = library.newest;
            let of = month.split('-').next().unwrap_or_default();
            let text = format!("{installed} of {year}, the newest is {newest} of {of}, for {rows}");
            (State::Good, text)
        }
        None => match library.refused(installed) {
            Some(old) => (State::Bad, format!("{old}; not measured: {rows}")),
            None => {
                let unknown = library.unknown(installed).unwrap_or_default();
                (State::Unknown, format!("{unknown}; it is tried, for {rows}"))
            }
        },
    };
    Finding { name: library.name.into(), state, text, remedy: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_has_its_year_and_its_rows() {
        let library = Library::all().into_iter().find(|l| l.name == "Fast CDR").unwrap();
        let known = finding(library, "2.2.5");
        assert_eq!(known.state, State::Good);
        assert_eq!(known.text, "2.2.5 of 2024, the newest is 2.3.6 of 2026, for CDR C++ FastCDR");
        let old = finding(library, "0.9.1");
        assert_eq!(old.state, State::Bad);
        assert!(old.text.contains("1.0.23 is the oldest that works"), "{}", old.text);
        let unknown = finding(library, "9.1.0");
        assert_eq!(unknown.state, State::Unknown);
        assert!(unknown.text.contains("9.1.0 is not known"), "{}", unknown.text);
    }
}
