//! One builder of a result: what each measurement says of itself in the same way.

use std::time::{Instant, SystemTime};

use indexmap::IndexMap;

use crate::environment::Environment;
use crate::run::{Run, Settings, FORMAT, VERSION};
use crate::run_kind::RunKind;

/// A result while it is measured: when that began, by which command line, on which machine.
pub struct RunBuilder {
    kind: RunKind,
    command: Vec<String>,
    started: SystemTime,
    began: Instant,
    environment: Environment,
}

impl RunBuilder {
    /// A measurement that begins now, by the command line of this program.
    pub fn begin(kind: RunKind) -> RunBuilder {
        RunBuilder {
            kind,
            command: command_line(),
            started: SystemTime::now(),
            began: Instant::now(),
            environment: Environment::default(),
        }
    }

    /// Looks at the machine, and watches it from now on: after builds, whose load is not the
    /// measurement's. `tools` are the versions and flags that the caller knows of.
    pub fn watch_machine(&mut self, tools: IndexMap<String, String>) {
        self.environment = Environment::probe(tools);
    }

    /// Looks at the machine again, at the end of a measurement, when all children are reaped.
    pub fn stop_watching(&mut self) {
        self.environment.finish();
    }

    /// The result, with no figures yet. The measurement took the time until now.
    pub fn finish(mut self, title: String, settings: Settings) -> Run {
        // Looking at the machine takes time, too.
        let seconds = self.began.elapsed().as_secs_f64();
        self.stop_watching();
        Run {
            format: FORMAT.into(),
            version: VERSION,
            title,
            kind: self.kind,
            command: self.command,
            started: format_time(self.started),
            seconds,
            environment: self.environment,
            warnings: Vec::new(),
            settings,
            cases: Vec::new(),
            subjects: Vec::new(),
            measurements: Vec::new(),
            facts: Vec::new(),
            curves: Vec::new(),
            slowest: Vec::new(),
            explanations: Vec::new(),
            reference: None,
            require: None,
            compared: None,
        }
    }
}

/// The command line of this program, as a shell takes it.
pub fn command_line() -> Vec<String> {
    std::iter::once("wiregauge".to_owned()).chain(std::env::args().skip(1)).collect()
}

/// A time to the second, by RFC 3339 in UTC.
fn format_time(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_result_says_when_and_how_it_was_made() {
        let before = SystemTime::now() - Duration::from_secs(1);
        let mut builder = RunBuilder::begin(RunKind::Codecs);
        builder.watch_machine(IndexMap::from([("c++".to_owned(), "12.2.0".to_owned())]));
        std::thread::sleep(Duration::from_millis(5));
        let run = builder.finish("a title".into(), Settings { seed: 7, ..Settings::default() });
        let started = humantime::parse_rfc3339(&run.started).unwrap();
        assert!(before <= started && started <= SystemTime::now());
        assert!((0.005..60.0).contains(&run.seconds), "{}", run.seconds);
        assert_eq!((run.format.as_str(), run.version), (FORMAT, VERSION));
        assert_eq!((run.title.as_str(), run.settings.seed), ("a title", 7));
        assert_eq!(
            (run.command[0].as_str(), &*run.environment.tools["c++"]),
            ("wiregauge", "12.2.0")
        );
        assert!(run.environment.start.is_none() && run.measurements.is_empty());
    }
}
