//! How times went in the course of a run: window by window, and its slowest
//! samples.

use wiregauge_participant::window::Window;
use wiregauge_result::run::{Curve, SlowestSample};
use wiregauge_sample_log as sample_log;
use wiregauge_timing::slowest::{SlowSample, MAX_SLOWEST};

use crate::result::measured_trial::MeasuredTrial;

/// A figure of a window's times.
type Figure = fn(&Window) -> Option<u64>;

/// What is told of each window.
const REPORTED_FIGURES: [(&str, Figure); 3] = [
    ("p50", |window| window.times.quantile(0.5)),
    ("p99", |window| window.times.quantile(0.99)),
    ("max", |window| (window.times.count > 0).then_some(window.times.most)),
];

impl MeasuredTrial<'_> {
    /// Latency and step over time, with all windows; of several receivers the
    /// slowest in a window tells it.
    pub fn timelines(&self) -> Vec<Curve> {
        let received = self.record.received.iter().map(|r| &r.windows[..]).collect::<Vec<_>>();
        let steps = [&self.record.sent.steps[..]];
        let mut curves = Vec::new();
        for (metric, all) in [("latency", &received[..]), ("step", &steps[..])] {
            for (name, figure) in REPORTED_FIGURES {
                let points = largest_by_window(all, figure);
                if !points.is_empty() {
                    curves.push(Curve {
                        case: self.case.into(),
                        subject: self.subject.into(),
                        metric: format!("{metric}/{name}"),
                        unit: "ns".into(),
                        over: "time".into(),
                        points,
                    });
                }
            }
        }
        curves
    }

    /// The slowest steps in discrete mode, and the slowest samples of all
    /// receivers.
    pub fn slowest_samples(&self) -> Vec<SlowestSample> {
        let sent = self.record.sent.slowest.iter();
        let mut all: Vec<SlowestSample> = sent.map(|slow| self.slow("step", None, slow)).collect();
        let receivers = (0..).zip(&self.record.received);
        let each = receivers.flat_map(|(at, r)| r.slowest.iter().map(move |slow| (at, slow)));
        let mut received: Vec<(u64, &SlowSample)> = each.collect();
        received.sort_by_key(|(_, slow)| std::cmp::Reverse(slow.time));
        received.truncate(MAX_SLOWEST);
        all.extend(received.iter().map(|(at, slow)| self.slow("latency", Some(*at), slow)));
        all
    }

    fn slow(&self, metric: &str, receiver: Option<u64>, slow: &SlowSample) -> SlowestSample {
        SlowestSample { receiver, ..sample_log::slow_sample(self.case, self.subject, metric, slow) }
    }
}

/// The largest figure of each window of all, over when the first one's windows
/// ended, in seconds since its first sample.
fn largest_by_window(all: &[&[Window]], figure: Figure) -> Vec<(f64, f64)> {
    let Some(first) = all.first() else { return Vec::new() };
    let mut end = 0;
    let mut points = Vec::new();
    for (number, window) in first.iter().enumerate() {
        end += window.span;
        let figures = all.iter().filter_map(|windows| figure(windows.get(number)?));
        points.extend(figures.max().map(|most| (end as f64 / 1e9, most as f64)));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_timing::latency::Distribution;

    fn window(span: u64, p50: u64, most: u64) -> Window {
        let times = Distribution { count: 9, most, shares: vec![(0.5, p50)], ..Default::default() };
        Window { span, times, ..Window::default() }
    }

    #[test]
    fn the_slowest_receiver_tells_a_window() {
        const S: u64 = 1_000_000_000;
        let one = [window(S, 10, 90), window(2 * S, 30, 40), window(S, 1, 1)];
        let other = [window(S, 20, 21), window(S, 25, 80)];
        let all = [&one[..], &other[..]];
        assert_eq!(
            largest_by_window(&all, REPORTED_FIGURES[0].1),
            [(1.0, 20.0), (3.0, 30.0), (4.0, 1.0)]
        );
        assert_eq!(
            largest_by_window(&all, REPORTED_FIGURES[2].1),
            [(1.0, 90.0), (3.0, 80.0), (4.0, 1.0)]
        );
        // Too few samples for a hundredth.
        assert_eq!(largest_by_window(&all, REPORTED_FIGURES[1].1), []);
        assert_eq!(largest_by_window(&[], REPORTED_FIGURES[0].1), []);
    }
}
