//! A transport, with a codec or without, as a row of the result: its program,
//! and what came of its loads.

use anyhow::{bail, Result};
use wiregauge_build_tools::default_build_folder;
use wiregauge_participant::control::TransportInfo;
use wiregauge_participant::sample::HEADER_SIZE;
use wiregauge_participant::transport::{CODEC, IN_PLACE};
use wiregauge_result::run::{Status, Subject};
use wiregauge_result::warning::Caution;
use wiregauge_system::interrupt::Interrupted;

use crate::catalogue::program::Program;
use crate::catalogue::TransportEntry;
use crate::load::Load;
use crate::placement::Placement;
use crate::run_settings::transport_option::TransportOption;
use crate::series::context::SeriesContext;
use crate::series::payload::PayloadCodec;

/// Why a codec has no figures in place.
const NOT_IN_PLACE: &str = "it writes and reads messages in memory of its own only \
                            (docs/bus.md, Codecs in place)";

/// A transport with what came of it.
pub struct TransportRow {
    /// The transport.
    pub entry: TransportEntry,
    /// The program that brings it, where there is one.
    pub program: Option<Program>,
    /// The codec whose bytes it carries, if not generated content.
    pub codec: Option<PayloadCodec>,
    subject: Subject,
    /// Whether it carried any load.
    worked: bool,
    /// Loads that it failed at, and why.
    failures: Vec<(String, String)>,
}

impl TransportRow {
    /// The rows of these transports. Without a program, or out of its reach, a
    /// transport has no figures, and the reason.
    ///
    /// # Errors
    /// That the user asks to stop.
    pub fn for_transports(
        entries: &[TransportEntry],
        placement: &Placement,
        context: &SeriesContext,
    ) -> Result<Vec<TransportRow>> {
        entries
            .iter()
            .map(|entry| TransportRow::new(entry, find_program(entry, placement, context)))
            .collect()
    }

    fn new(entry: &TransportEntry, program: Result<Program>) -> Result<TransportRow> {
        let (program, status) = match program {
            Ok(program) => (Some(program), Status::Measured),
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) => (None, Status::Skipped(format!("{error:#}"))),
        };
        let subject = Subject { status, ..Subject::new(entry.id, entry.title, "") };
        let (codec, worked, failures) = (None, false, Vec::new());
        Ok(TransportRow { entry: *entry, program, codec, subject, worked, failures })
    }

    /// The same transport with what this codec writes. Without a codec that
    /// works, or that works in place where it has to, there are no figures, and the reason.
    pub fn with_codec(&self, codec: &PayloadCodec, choices: &[TransportOption]) -> TransportRow {
        let mut subject = self.subject.clone();
        let by = &codec.subject;
        subject.id = format!("{}+{}", subject.id, by.id);
        subject.title = format!("{}, {}", subject.title, by.title);
        subject.language.clone_from(&by.language);
        subject.lowerings.clone_from(&by.lowerings);
        if codec.coding.is_none() && self.program.is_some() {
            subject.status = by.status.clone();
        }
        let mut works = codec.coding.is_some();
        if works && !codec.in_place && self.program.is_some() && self.is_in_place(choices) {
            subject.status = Status::Skipped(NOT_IN_PLACE.into());
            works = false;
        }
        TransportRow {
            entry: self.entry,
            program: self.program.clone().filter(|_| works),
            codec: Some(codec.clone()),
            subject,
            worked: false,
            failures: Vec::new(),
        }
    }

    /// Whether codecs write and read its samples in place.
    fn is_in_place(&self, choices: &[TransportOption]) -> bool {
        let own = self.entry.options.contains(&(CODEC, IN_PLACE));
        let is_chosen = |choice: &TransportOption| {
            choice.transport == self.entry.transport()
                && (choice.name.as_str(), choice.value.as_str()) == (CODEC, IN_PLACE)
        };
        own || choices.iter().any(is_chosen)
    }

    /// Its key.
    pub fn id(&self) -> &str {
        &self.subject.id
    }

    /// Its name in tables.
    pub fn title(&self) -> &str {
        &self.subject.title
    }

    /// A load as this row carries it.
    pub fn carried_load(&self, load: &Load) -> Load {
        let size = self.codec.as_ref().map_or(load.size, |codec| HEADER_SIZE + codec.size);
        Load { size, ..*load }
    }

    /// It carried a load; this is what it says of itself, and what the user said to transports.
    pub fn mark_measured(&mut self, about: &TransportInfo, choices: &[TransportOption]) {
        self.worked = true;
        self.subject.library = about.library.clone();
        // What makes it this row comes first.
        let own = self.entry.options.iter().map(|(name, value)| format!("{name}={value}"));
        let chosen = choices.iter().filter(|choice| choice.transport == about.name);
        let chosen = chosen.map(|TransportOption { name, value, .. }| format!("{name}={value}"));
        self.subject.options = own.chain(chosen).chain(about.options.iter().cloned()).collect();
        if let Some(codec) = &self.codec {
            self.subject.library += &format!("; {}", codec.subject.library);
            self.subject.options.extend(codec.subject.options.iter().cloned());
        }
    }

    /// It failed at this load.
    pub fn mark_failed(&mut self, load: &str, error: &anyhow::Error) {
        self.failures.push((load.into(), format!("{error:#}")));
    }

    /// The row as it goes into the result, with a caution for each failure. The
    /// transport has failed if it carried no load at all: for one reason, or for
    /// each load its own.
    pub fn into_subject(self) -> (Subject, Vec<Caution>) {
        let TransportRow { mut subject, worked, failures, .. } = self;
        if let Some((_, first)) = failures.first().filter(|_| !worked) {
            let alike = failures.iter().all(|(_, reason)| reason == first);
            let each = failures.iter().map(|(load, reason)| format!("at {load}: {reason}"));
            let each = || each.collect::<Vec<_>>().join("; ");
            subject.status = Status::Failed(if alike { first.clone() } else { each() });
        }
        let caution = |(load, reason)| Caution::Failed {
            cell: format!("{} at {load}", subject.title),
            reason,
        };
        let cautions = failures.into_iter().map(caution).collect();
        (subject, cautions)
    }
}

/// The program of a transport, if it is of use here.
fn find_program(
    entry: &TransportEntry,
    placement: &Placement,
    context: &SeriesContext,
) -> Result<Program> {
    if let Some(why) = placement.unreachable_reason(entry.reach) {
        bail!("{why}");
    }
    let program =
        Program::prepare(entry.engine(), &default_build_folder()?, &|what, done, total| {
            (context.show)(&format!("{}: {what}", entry.title), done, total);
        })?;
    if placement.has_remote() {
        (context.show)(&format!("{}: on the other machines", entry.title), 0, 0);
    }
    placement.prepare(entry.engine())?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::all;
    use anyhow::anyhow;

    fn row() -> TransportRow {
        TransportRow::new(&all()[0], Ok(Program::BuiltIn)).unwrap()
    }

    fn about() -> TransportInfo {
        let (name, library) = ("tcp".into(), "Linux TCP".into());
        TransportInfo { name, library, options: Vec::new(), knows: Vec::new() }
    }

    #[test]
    fn a_load_that_fails_is_a_caution_where_another_works() {
        for failed_first in [true, false] {
            let mut row = row();
            if !failed_first {
                row.mark_measured(&about(), &[]);
            }
            row.mark_failed("10 MB", &anyhow!("no room"));
            if failed_first {
                row.mark_measured(&about(), &[]);
            }
            let (subject, cautions) = row.into_subject();
            assert_eq!((subject.status, subject.library.as_str()), (Status::Measured, "Linux TCP"));
            let [Caution::Failed { cell, reason }] = &cautions[..] else { panic!("{cautions:?}") };
            assert_eq!((cell.as_str(), reason.as_str()), ("TCP at 10 MB", "no room"));
        }
    }

    #[test]
    fn a_row_says_its_own_options_and_then_those_of_the_user() {
        let mut row = row();
        row.entry = row.entry.variant("tcp:a=1").unwrap();
        let choice = |transport: &str| TransportOption {
            transport: transport.into(),
            name: "port".into(),
            value: "7".into(),
        };
        let about = TransportInfo { options: vec!["TCP_NODELAY".into()], ..about() };
        row.mark_measured(&about, &[choice("dds"), choice("tcp")]);
        let (subject, _) = row.into_subject();
        assert_eq!(subject.options, ["a=1", "port=7", "TCP_NODELAY"]);
    }

    #[test]
    fn a_transport_without_a_load_that_works_has_failed() {
        let mut row = row();
        row.mark_failed("10 B", &anyhow!("no port"));
        row.mark_failed("10 MB", &anyhow!("no room"));
        let (subject, cautions) = row.into_subject();
        assert_eq!(subject.status, Status::Failed("at 10 B: no port; at 10 MB: no room".into()));
        assert_eq!(cautions.len(), 2, "each load that failed is named");
    }

    #[test]
    fn what_fails_all_loads_is_not_said_of_one() {
        let mut row = row();
        row.mark_failed("10 B", &anyhow!("beta is lost"));
        row.mark_failed("10 MB", &anyhow!("beta is lost"));
        let (subject, cautions) = row.into_subject();
        assert_eq!(subject.status, Status::Failed("beta is lost".into()));
        assert_eq!(cautions.len(), 2);
    }
}
