//! wiregauge: measures what it costs to move messages in automotive and
//! robotics simulation. One verb a file; see `wiregauge --help`.

mod crew;
mod experiment;
mod lineup;
mod matter;
mod output;
mod progress;
mod tools;
mod verb;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = verb::Arguments::parse();
    // A host of FMUs has one thread, as FMUs may be slower where there are more.
    let listening = if arguments.serves() { Ok(()) } else { wiregauge_gauge::interrupt::install() };
    match listening.map_err(Into::into).and_then(|()| arguments.run()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("wiregauge: {error:#}");
            let interrupted = error.is::<wiregauge_gauge::interrupt::Interrupted>();
            ExitCode::from(if interrupted { 130 } else { 2 })
        }
    }
}
