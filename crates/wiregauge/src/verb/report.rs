//! `wiregauge report`: results as a page, or in another form, or beside a cycle.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_report::model::ranking::named_result::NamedResult;
use wiregauge_report::model::ranking::Ranking;
use wiregauge_report::page;
use wiregauge_report::result_files::read_results;
use wiregauge_report::text::budget::{self, Budget};
use wiregauge_report::text::{ranking, render, ResultFormat};
use wiregauge_result::run::Run;
use wiregauge_system::file::Target;
use wiregauge_system::notice::print_notice;
use wiregauge_system::output::{line_width, print};
use wiregauge_system::quantity::{parse_rate, parse_speed};

/// Show results: as one self-contained page, or as text.
///
/// Several results of codecs are held against each other: the ratios of the codecs
/// in each, and whether their order holds.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge report run.json -o report.html
      the page, for any browser, offline
  wiregauge report run.json --format md        Markdown on standard output
  wiregauge report laptop.json server.json board.json
      does the ranking of the codecs hold on all of these machines?
  wiregauge report laptop.json server.json -o both.html
      the same as a page, with both results below
  wiregauge report run.json --rate 10Hz --vehicle-speed 100km/h
      what each codec takes of a cycle, and how far a vehicle gets meanwhile")]
pub struct Arguments {
    /// Results that wiregauge wrote.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Write the page here; - is standard output.
    #[arg(short, long, value_name = "PATH", conflicts_with = "format")]
    output: Option<PathBuf>,
    /// Write this to standard output instead.
    #[arg(long, value_enum)]
    format: Option<ResultFormat>,
    /// Show what encode and decode take of a cycle, with so many messages per second:
    /// 10Hz.
    #[arg(long, value_name = "RATE", value_parser = parse_rate, conflicts_with = "output")]
    rate: Option<f64>,
    /// Speed of a vehicle, which moves in that time: 100km/h, 60mph or 30m/s.
    #[arg(long, value_name = "SPEED", value_parser = parse_speed, default_value = "100km/h", requires = "rate")]
    vehicle_speed: f64,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let listed = self.rate.is_some() || self.format == Some(ResultFormat::Csv);
        let runs: Vec<Run> = if self.runs.len() > 1 && !listed {
            let results = read_results(&self.runs)?;
            match Ranking::from_results(&results) {
                Ok(ranked) => return self.show_ranking(&ranked, &results),
                Err(why) => print_notice(&format!("wiregauge: shown but not ranked: {why:#}")),
            }
            results.into_iter().map(|result| result.run).collect()
        } else {
            self.runs.iter().map(|path| Run::read(path)).collect::<Result<_>>()?
        };
        match (&self.output, self.rate) {
            (Some(path), _) => self.write_page(path, &page::render(&runs))?,
            (None, Some(rate_hz)) => print(&self.cycle(&runs, rate_hz)?)?,
            (None, None) => {
                print(&render(&runs, self.format.unwrap_or(ResultFormat::Table), line_width()))?
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Shows several results held against each other.
    fn show_ranking(&self, ranked: &Ranking, results: &[NamedResult]) -> Result<ExitCode> {
        match &self.output {
            Some(path) => self.write_page(path, &page::render_ranking(ranked, results))?,
            None => {
                let form = self.format.unwrap_or(ResultFormat::Table);
                let text = ranking::render(ranked, form, line_width());
                print(&text.context("--format csv ranks nothing")?)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn write_page(&self, path: &Path, page: &str) -> Result<()> {
        let inputs: Vec<&Path> = self.runs.iter().map(PathBuf::as_path).collect();
        Target::open(path, &inputs)?.write(page.as_bytes())
    }

    /// What a result takes of a cycle.
    fn cycle(&self, runs: &[Run], rate_hz: f64) -> Result<String> {
        let ([run], [path]) = (runs, &self.runs[..]) else {
            bail!("--rate needs exactly one result");
        };
        let budget = Budget { rate_hz, speed_mps: self.vehicle_speed };
        ensure!(
            !budget.entries(run).is_empty(),
            "{} has no encode or decode times to compare with a cycle",
            path.display()
        );
        let form = self.format.unwrap_or(ResultFormat::Table);
        let text = budget::render(run, budget, form, line_width());
        text.context("--rate has no CSV form; use --format json")
    }
}
