//! Figures of a case over something that is no case: a distribution over its
//! shares, a latency over the rates that a search tried, a throughput over
//! time.

use wiregauge_result::run::{Case, Run};

use crate::model::sweep::{Curves, Line};

/// Metric of the throughput of each window.
const WINDOWS: &str = "throughput/window";

/// The curves of a case over `share`, `time`, `rate` or `size`, one for each metric.
pub fn find_curves<'a>(run: &'a Run, case: &Case, what: &str) -> Vec<Curves<'a>> {
    let mut all: Vec<Curves> = Vec::new();
    for curve in run.curves.iter().filter(|c| c.case == case.id && c.over == what) {
        let Some(subject) = run.subject(&curve.subject) else { continue };
        let finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
        let points: Vec<(f64, f64)> = curve.points.iter().filter(finite).copied().collect();
        if points.is_empty() {
            continue;
        }
        let line = Line { subject, points, fit: None };
        match all.iter_mut().find(|curves| curves.metric == curve.metric) {
            Some(curves) => curves.lines.push(line),
            None => all.push(Curves {
                metric: curve.metric.clone(),
                unit: curve.unit.clone(),
                lines: vec![line],
            }),
        }
    }
    all
}

/// The throughput of a case window by window, over the seconds since the first
/// window that counts. A window ends a little later than that, as a sample ends
/// it. Of several receivers the one that got least in a window tells it.
pub fn window_curves<'a>(run: &'a Run, case: &Case) -> Option<Curves<'a>> {
    let length = run.settings.epoch_ns as f64 / 1e9;
    let mut curves = Curves { metric: WINDOWS.to_owned(), unit: String::new(), lines: Vec::new() };
    for measurement in run.measurements.iter().filter(|m| m.case == case.id && m.metric == WINDOWS)
    {
        let Some(subject) = run.subject(&measurement.subject) else { continue };
        let last = measurement.samples.iter().map(Vec::len).max().unwrap_or(0);
        let least = |window: usize| {
            let of_all = measurement.samples.iter().filter_map(|of| *of.get(window)?);
            of_all.min_by(f64::total_cmp)
        };
        let point = |window: usize| Some(((window + 1) as f64 * length, least(window)?));
        let points: Vec<(f64, f64)> = (0..last).filter_map(point).collect();
        if !points.is_empty() {
            curves.unit = measurement.unit.clone();
            curves.lines.push(Line { subject, points, fit: None });
        }
    }
    (!curves.lines.is_empty()).then_some(curves)
}

/// The shares of a distribution that make a table: half of all, and one nine
/// after the other as far as any line tells.
pub fn shares(curves: &Curves) -> Vec<f64> {
    let told = |share: &f64| curves.lines.iter().any(|line| value_at(line, *share).is_some());
    [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999].into_iter().filter(told).collect()
}

/// The value of a cumulative curve at a share that it tells.
pub fn value_at(line: &Line, share: f64) -> Option<f64> {
    line.points.iter().find(|point| (point.0 - share).abs() < 1e-12).map(|point| point.1)
}
