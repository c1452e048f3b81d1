//! What takes turns and is compared, as ratios within one run.

use std::time::Instant;

use anyhow::Result;

/// How often what is compared takes turns.
const TURNS: usize = 10;

/// Measures once; seconds.
pub type Measure<'m> = Box<dyn FnMut() -> Result<f64> + 'm>;

/// The seconds that some work takes.
pub fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64())
}

/// What each took, in turns.
pub fn turns<const N: usize>(measures: &mut [Measure; N]) -> Result<[Vec<f64>; N]> {
    let mut taken = [(); N].map(|()| Vec::new());
    for turn in 0..=TURNS {
        for (measure, taken) in measures.iter_mut().zip(&mut taken) {
            let seconds = measure()?;
            // The first turn warms up.
            if turn > 0 {
                taken.push(seconds);
            }
        }
    }
    Ok(taken)
}

/// The middle one.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// Says how many times as fast ours was as theirs.
pub fn say(what: &str, theirs: &[f64], ours: &[f64], wanted: f64) {
    let ratios: Vec<f64> = theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours).collect();
    let (least, most) = ratios.iter().fold((f64::MAX, 0f64), |(a, b), r| (a.min(*r), b.max(*r)));
    let ratio = median(&ratios);
    let took = median(ours) * 1e3;
    println!(
        "| {what} | {ratio:.2}× ({least:.2}–{most:.2}), {took:.1} ms | at least {wanted}× | {} |",
        verdict(ratio >= wanted)
    );
}

/// Whether what is aimed at was reached.
pub fn verdict(met: bool) -> &'static str {
    if met {
        "met"
    } else {
        "**missed**"
    }
}
