//! What a run's subjects are, in a word.

use wiregauge_gauge::run::Run;

/// What one of the run's subjects is called: `codec`.
pub fn noun(run: &Run) -> &'static str {
    match run.kind.as_str() {
        "cosim" => "encoding",
        _ => "codec",
    }
}
