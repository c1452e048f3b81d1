//! `wiregauge bus transports`: what is available, and why something is not.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_build_tools::default_build_folder;
use wiregauge_bus::catalogue;
use wiregauge_bus::catalogue::engine::Engine;
use wiregauge_system::output::print;
use wiregauge_system::progress::ProgressDisplay;

/// List the transports, and what this machine lacks for them.
#[derive(clap::Args)]
pub struct Arguments {
    /// Build the programs of the transports that are not built yet.
    #[arg(long)]
    build: bool,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let folder = default_build_folder()?;
        if self.build {
            let progress = ProgressDisplay::new();
            for engine in
                catalogue::engines().into_iter().filter(|engine| engine.missing_tool().is_none())
            {
                engine.build(&folder, &progress.named(engine.name))?;
            }
        }
        let state = |engine: &Engine| match (engine.missing_tool(), engine.find_built(&folder)) {
            (_, Some(_)) => "available".to_owned(),
            (Some(missing), _) => {
                format!("missing: {}; apt-get install {}", missing.tool, missing.package)
            }
            (None, None) => "built on first use, or by 'wiregauge bus transports --build'".into(),
        };
        let mut text = String::new();
        for entry in catalogue::all() {
            let state = entry.engine().map_or("available".into(), state);
            text += &format!("{:<14} {}\n{:<14} {state}\n", entry.id, entry.about, "");
        }
        print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}
