//! What of points is wanted: the arguments for that.

use wiregauge_codec_run::point_entrants::PointChoice;
use wiregauge_packed::Rule;

/// What of points is wanted, and what makes it small.
#[derive(clap::Args)]
pub struct PointRowArgs {
    /// Take only this channel of recordings. Give it several times for several.
    #[arg(long, value_name = "TOPIC")]
    pub channel: Vec<String>,
    /// Take only these columns of points.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    columns: Vec<String>,
    /// Turn points into a sensor's reflections: time of flight, and signal strength
    /// from the intensity.
    #[arg(long)]
    as_reflections: bool,
    /// Resolution of a column: x=5mm, intensity=0.01; COLUMN=exact keeps every bit. Give
    /// it several times for several.
    #[arg(long, value_name = "COLUMN=VALUE")]
    resolution: Vec<Rule>,
}

impl PointRowArgs {
    /// Whether anything was chosen that is of points alone.
    pub fn is_of_points(&self) -> bool {
        self.as_reflections || !self.resolution.is_empty() || !self.columns.is_empty()
    }

    /// What they say.
    pub fn choice(&self) -> PointChoice {
        PointChoice {
            channels: self.channel.clone(),
            columns: self.columns.clone(),
            as_reflections: self.as_reflections,
            resolutions: self.resolution.clone(),
        }
    }
}
