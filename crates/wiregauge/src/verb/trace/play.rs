//! `wiregauge trace play`: messages at their times.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_trace::open::{self, Wish};
use wiregauge_trace::play::{play, Lateness, Pace};

use super::putting::is_gone;
use super::selecting::Selecting;
use crate::output::tell;

/// Hand messages to standard output at the times that they were recorded at.
///
/// Each comes after its length, a little-endian number of four bytes, as it lies in the
/// file; it is read before it is due. How late messages were is told at the end.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace play drive_sv.osi | my-model
  wiregauge trace play drive.mcap --channel /lidar --rate 2 --loops 10 | my-model
  wiregauge trace play drive_sv.osi --rate max > /dev/null
      as fast as the file can be read")]
pub struct Arguments {
    /// What is read: .mcap, .osi, or .osi packed by gzip, xz or zstd.
    input: PathBuf,
    /// How much faster than it was recorded: 2, 0.5, or max for as fast as can be.
    #[arg(long, value_name = "RATE", default_value = "1", value_parser = pace)]
    rate: Pace,
    /// Play it so many times, one right after the other.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    loops: u32,
    /// The type of the messages in an .osi file whose name does not tell it: sv,
    /// SensorView.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    #[command(flatten)]
    selecting: Selecting,
}

fn pace(text: &str) -> Result<Pace> {
    match text {
        "max" => Ok(Pace::unbounded()),
        rate => Pace::at(rate.parse().unwrap_or(f64::NAN)),
    }
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let mut lateness = Lateness::default();
        match self.play(&mut lateness) {
            Err(error) if is_gone(&error) => {}
            outcome => outcome?,
        }
        let micros = |nanos: u64| format!("{:.1} µs", nanos as f64 / 1e3);
        let [half, most, all] = [0.5, 0.99, 1.0].map(|share| micros(lateness.at(share)));
        let (messages, bytes) = (lateness.messages, lateness.bytes);
        tell(&format!(
            "{messages} messages of {bytes} bytes; late by {half} (median), {most} (99 %), {all} (most)"
        ));
        Ok(ExitCode::SUCCESS)
    }

    fn play(&self, lateness: &mut Lateness) -> Result<()> {
        let wish = Wish { osi_type: self.kind.clone() };
        let selection = self.selecting.of(std::slice::from_ref(&self.input), &wish)?;
        let mut out = std::io::stdout().lock();
        for _ in 0..self.loops {
            let mut reader = open::open(&self.input, &wish)?;
            let mut selected = selection.of(reader.as_mut());
            play(&mut selected, self.rate, lateness, &mut |_, data| {
                let length = u32::try_from(data.len())?.to_le_bytes();
                out.write_all(&length)?;
                out.write_all(data)?;
                Ok(out.flush()?)
            })?;
            selection.check(&self.input.display().to_string(), reader.channels().values())?;
            ensure!(lateness.messages > 0, "nothing is wanted of {}", self.input.display());
        }
        Ok(())
    }
}
