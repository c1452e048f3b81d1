//! Measurements of the bus, as the command line calls them, and where their results go.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_bus::catalogue::engine;
use wiregauge_bus::series::context::SeriesContext;
use wiregauge_bus::series::result_builder::BusResult;
use wiregauge_bus::series::{MeasuredSeries, Series};
use wiregauge_codec_run::tools;
use wiregauge_report::result_target::ResultTarget;

use crate::exit_status::{exit_code, INTERRUPTED};

/// Measures a series, writes the result and prints it. Something is done before each
/// load over a transport.
///
/// # Errors
/// Those of the series, and of its result and its samples.
pub fn measure_series(series: Series, outlet: ResultTarget, before: &dyn Fn()) -> Result<ExitCode> {
    let versions: fn() -> _ = match series.cargo {
        // Those of engines are among them.
        Some(_) => tools::versions,
        None => engine::tool_versions,
    };
    let MeasuredSeries { result, samples } =
        SeriesContext::with_progress(&versions, |context| series.measure(context, before))?;
    let code = result.and_then(|result| write_bus_result(result, outlet));
    if let Some(samples) = samples {
        samples.announce("samples")?;
    }
    code
}

/// Writes a result and prints it. The exit status says that it was interrupted, and of
/// losses of what promises none.
///
/// # Errors
/// When it cannot be written.
pub fn write_bus_result(result: BusResult, outlet: ResultTarget) -> Result<ExitCode> {
    let BusResult { mut run, interrupted, has_losses } = result;
    let verdict = outlet.write(&mut run)?;
    Ok(match (interrupted, has_losses) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (_, true) => ExitCode::FAILURE,
        _ => exit_code(verdict),
    })
}
