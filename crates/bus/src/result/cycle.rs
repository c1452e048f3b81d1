//! The cycle of a run with a codec, from encoding to decoding, and its phases.

use wiregauge_participant::control::ReceiverResult;
use wiregauge_participant::window::Window;

use crate::record::windows::counted_windows;
use crate::record::RunRecord;
use crate::result::measured_trial::MeasuredTrial;

/// What a cycle is made of, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Phases {
    encode: f64,
    write: f64,
    wire: f64,
    wake_up: f64,
    decode: f64,
}

impl Phases {
    /// Splits the one-way latency into the call that sends, the wire, and the
    /// wake-up. The receiver may have a sample before the call returns: then
    /// there is no more of the call in the cycle than that.
    fn new(encode: f64, write: f64, latency: f64, wake_up: f64, decode: f64) -> Phases {
        let write = write.min(latency);
        let wake_up = wake_up.min(latency - write);
        Phases { encode, write, wire: latency - write - wake_up, wake_up, decode }
    }

    fn sum(&self) -> f64 {
        self.encode + self.write + self.wire + self.wake_up + self.decode
    }
}

impl MeasuredTrial<'_> {
    /// With a codec: the cycle and its phases, of each receiver and window.
    pub(super) fn cycle(&self) -> Vec<(&'static str, Vec<Vec<Option<f64>>>)> {
        let RunRecord { sent, received, .. } = self.record;
        if sent.encodes.is_empty() {
            return Vec::new();
        }
        let median = |windows: &[Window], at: usize| {
            counted_windows(windows)
                .get(at)
                .and_then(|window| window.times.quantile(0.5))
                .map(|time| time as f64)
        };
        let phases = |receiver: &ReceiverResult, at: usize| -> Option<Phases> {
            let latency = median(&receiver.windows, at)?;
            let wake_up = receiver.wake_up.quantile(0.5)? as f64;
            Some(Phases::new(
                median(&sent.encodes, at)?,
                median(&sent.writes, at)?,
                latency,
                wake_up,
                median(&receiver.decodes, at)?,
            ))
        };
        let of = |figure: fn(&Phases) -> f64| -> Vec<Vec<Option<f64>>> {
            let windows = |r: &ReceiverResult| {
                (0..counted_windows(&r.windows).len())
                    .map(|at| phases(r, at).as_ref().map(figure))
                    .collect()
            };
            received.iter().map(windows).collect()
        };
        vec![
            ("cycle", of(Phases::sum)),
            ("cycle/encode", of(|p| p.encode)),
            ("cycle/write", of(|p| p.write)),
            ("cycle/wire", of(|p| p.wire)),
            ("cycle/wake-up", of(|p| p.wake_up)),
            ("cycle/decode", of(|p| p.decode)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phases_add_up_to_the_cycle() {
        let phases = Phases::new(100.0, 20.0, 50.0, 10.0, 200.0);
        assert_eq!((phases.write, phases.wire, phases.wake_up), (20.0, 20.0, 10.0));
        assert_eq!(phases.sum(), 350.0);
        // It arrived before the call had returned, or sooner than a wake-up takes.
        let phases = Phases::new(100.0, 60.0, 50.0, 10.0, 200.0);
        assert_eq!((phases.write, phases.wire, phases.wake_up), (50.0, 0.0, 0.0));
        let phases = Phases::new(100.0, 20.0, 25.0, 10.0, 200.0);
        assert_eq!((phases.write, phases.wire, phases.wake_up), (20.0, 0.0, 5.0));
    }
}
