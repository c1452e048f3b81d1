//! A sweep: its curves and their fits.

use std::fmt::Write;

use wiregauge_result::run::Run;
use wiregauge_result::stats::Bounds;

use crate::model::kind::{fixed_part, noun};
use crate::model::sweep::{Curves, Sweep};
use crate::model::words::{bounded, r_squared, singular};
use crate::page::charts::curves;
use crate::page::drawing::rows::style;
use crate::page::markup::e;

/// The section of a sweep.
pub fn section(run: &Run, sweep: &Sweep) -> String {
    let mut text = format!(
        "<p>{}. The lines are fitted by least squares of the relative residuals (weights 1/y²), \
         the bounds hold with 95% by Student's t.</p>\n",
        e(&sweep.message)
    );
    for curves in &sweep.curves {
        let _ = writeln!(
            text,
            "<div class=\"charts sweep\"><figure><h3>{} over {}</h3>{}</figure>{}</div>",
            e(&curves.metric),
            e(&sweep.parameter),
            curves::curves(curves, &sweep.parameter, style(run)),
            fits(run, curves, &sweep.parameter),
        );
    }
    text
}

fn fits(run: &Run, curves: &Curves, parameter: &str) -> String {
    if curves.lines.iter().all(|line| line.fit.is_none()) {
        return String::new();
    }
    let mut text = format!(
        "<figure><h3>Linear fits</h3><div class=\"scroll\"><table class=\"fits sortable\"><thead><tr>\
         <th class=\"text\"><button type=\"button\">{}</button></th>\
         <th data-metric=\"intercept\"><button type=\"button\">{}</button></th>\
         <th>95% bounds</th>\
         <th data-metric=\"slope\"><button type=\"button\">per {}</button></th>\
         <th>95% bounds</th>\
         <th data-metric=\"r2\"><button type=\"button\">R²</button></th></tr></thead>\n<tbody>",
        noun(run),
        fixed_part(run),
        e(&singular(parameter))
    );
    for line in &curves.lines {
        let Some(fit) = &line.fit else {
            continue;
        };
        let cell = |bounds: &Bounds| {
            let (value, range) = bounded(bounds, &curves.unit);
            format!(
                "<td data-v=\"{}\">{}</td><td class=\"soft\">{}</td>",
                bounds.value,
                e(&value),
                e(&range)
            )
        };
        let _ = writeln!(
            text,
            "<tr><td>{}</td>{}{}<td data-v=\"{}\">{}</td></tr>",
            e(&line.subject.title),
            cell(&fit.intercept),
            cell(&fit.slope),
            fit.r_squared,
            r_squared(fit.r_squared),
        );
    }
    text + "</tbody></table></div></figure>"
}
