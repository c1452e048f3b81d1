//! Points instead of the messages that hold them: the arguments for that.

use std::path::Path;

use wiregauge_columns::TableFormat;
use wiregauge_points::{Elevation, Rays, SensorConventions};
use wiregauge_trace_edit::copy_job::CopyOptions;
use wiregauge_trace_edit::message_filter::MessageFilter;
use wiregauge_trace_edit::points_job::PointsJob;

use super::error_policy::ErrorPolicy;

/// The arguments that say what points become.
#[derive(clap::Args)]
pub struct PointsArgs {
    /// Write reflections, detections and point clouds as foxglove.PointCloud, a
    /// channel for each list.
    #[arg(long)]
    points: bool,
    /// With --points: also keep all messages.
    #[arg(long, requires = "points")]
    keep_messages: bool,
    /// For points: the direction of positive elevations. OSI defines it as down; many
    /// models mean up.
    #[arg(long, value_enum, value_name = "WAY")]
    elevation: Option<Elevation>,
    /// For points: where a lidar's rays are, if it gives only a grid of rays in its field
    /// of view.
    #[arg(long, value_enum, value_name = "WHERE")]
    rays: Option<Rays>,
    /// For points and tables: what to do with a message that cannot be read.
    #[arg(long, value_enum, value_name = "WAY", default_value = "stop")]
    errors: ErrorPolicy,
}

impl PointsArgs {
    /// Whether points are wanted: asked for, or as a table by the file's name.
    pub fn is_wanted(&self, output: &Path) -> bool {
        self.points || TableFormat::from_path(output).is_some()
    }

    /// The points of the selected messages of a file.
    pub fn job<'j>(
        &self,
        input: &'j Path,
        filter: &'j MessageFilter,
        options: &'j CopyOptions,
    ) -> PointsJob<'j> {
        PointsJob {
            input,
            filter,
            options,
            conventions: SensorConventions { elevation: self.elevation, rays: self.rays },
            keeps_messages: self.keep_messages,
            skips_failed: self.skips_failed(),
        }
    }

    /// Whether messages that cannot be read are left out.
    pub fn skips_failed(&self) -> bool {
        self.errors == ErrorPolicy::Skip
    }
}
