//! A sweep: its curves and their fits.

use wiregauge_result::run::Run;

use crate::model::sweep::Sweep;
use crate::page::chart;
use crate::page::markup::escape;

/// The section of a sweep.
pub fn section(run: &Run, sweep: &Sweep) -> String {
    let text = format!(
        "<p>{}. The lines are least-squares fits of the relative residuals (weights 1/y²). The \
         bounds are 95% bounds by Student's t.</p>\n",
        escape(&sweep.message)
    );
    text + &chart::sweep_charts(run, sweep)
}
