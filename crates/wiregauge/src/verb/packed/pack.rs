//! `wiregauge packed pack`: rows become columns.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_packed::PackOptions;
use wiregauge_packing::packer::Packer;
use wiregauge_packing::structure::Structure;

use super::super::trace::errors::Errors;
use super::super::trace::form::Form;
use super::super::trace::putting::Putting;
use super::super::trace::selecting::Selecting;
use super::reducing::{refuse_text, Reducing};
use super::{points, shown};

/// Pack reflections, detections and points, and tell what each column took and what
/// error it really has.
///
/// Without a preset or a resolution columns are lossless and not reduced: readers
/// find their values in place. Reduced ones are smaller and are decoded by blocks.
/// No value is further away than half of its resolution.
#[derive(clap::Args)]
#[command(after_help = "\
Presets, whose other columns keep every bit:
  lidar-1mm    range to 1 mm (time of flight to 6.67 ps), signal strength to
               0.1 dB; of points x, y and z to 1 mm
  lidar-exact  every bit
  radar-1cm    range to 1 cm, strengths to 0.1 dB, angles to 0.01 degrees, speed to
               1 cm/s (Doppler shift to 5 Hz, as much at 77 GHz)
  radar-exact  every bit

Examples:
  wiregauge packed pack drive.mcap small.mcap --preset lidar-1mm,radar-1cm
  wiregauge packed pack drive_sv.osi small_sv.osi --preset lidar-exact \\
      --resolution time_of_flight=6.67ps --resolution signal_strength=0.1dB
  wiregauge packed pack scans.mcap small.mcap --channel /points --format json \\
      --resolution x=1mm --resolution y=1mm --resolution z=1mm
  wiregauge packed pack scan.bin scan.packed --point x:f32,y:f32,z:f32,ring:f32")]
pub struct Arguments {
    /// What is read: .mcap, .osi, a bag, or with --point an array of points.
    input: PathBuf,
    /// What is written: .mcap or .osi; of an array of points a packed field.
    output: PathBuf,
    #[command(flatten)]
    reducing: Reducing,
    /// The file is an array of points; what each is made of, as x:f32,y:f32,z:f32.
    #[arg(long, value_name = "NAME:TYPE,…")]
    point: Option<Structure>,
    /// What becomes of a message that cannot be packed, as a cloud that is damaged. Where one
    /// is skipped the exit status is 1.
    #[arg(long, value_enum, value_name = "WAY", default_value = "stop")]
    errors: Errors,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    putting: Putting,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let plan = self.reducing.plan();
        let costs = match &self.point {
            Some(Structure(points)) => points::pack(&self.input, &self.output, points, &plan)?,
            None => {
                refuse_text(&self.output)?;
                let options = PackOptions { plan, ..PackOptions::default() };
                let (mut costs, origin) = (None, self.input.display().to_string());
                let outcome = self.putting.write_by(
                    &self.input,
                    &self.selecting,
                    &self.output,
                    |writer| {
                        let (packer, told) = Packer::new(writer, &origin, options);
                        costs = Some(told);
                        Box::new(packer.skip_failed(self.errors == Errors::Skip))
                    },
                )?;
                outcome.tell_of_way(&self.output);
                costs.map(|costs| costs.take()).unwrap_or_default()
            }
        };
        shown::print_costs(&costs, self.format)?;
        let is_whole = costs.iter().all(|channel| channel.skipped == 0);
        Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
