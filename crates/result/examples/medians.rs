//! Prints the median of each row of a result:
//!
//!     cargo run --example medians -- run.json

use wiregauge_result::run::Run;
use wiregauge_result::stats::Summary;

fn main() -> anyhow::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "run.json".into());
    // A file that is newer than this crate, damaged or no result is refused in one line.
    let run = Run::read(path.as_ref())?;
    println!("{} ({})", run.title, run.started);
    for measurement in &run.measurements {
        let Some(summary) = Summary::from_measurement(measurement) else { continue };
        let subject = run.subject(&measurement.subject).map_or("", |subject| &subject.title);
        let (case, metric, unit) = (&measurement.case, &measurement.metric, &measurement.unit);
        println!("{case}  {subject}  {metric}: {:.1} {unit}", summary.median);
    }
    for fact in run.facts.iter().filter(|fact| fact.metric == "size") {
        println!("{}  {}  size: {} {}", fact.case, fact.subject, fact.value, fact.unit);
    }
    Ok(())
}
