//! A result file, and every form that it is shown in.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, file};
use wiregauge_report::page;
use wiregauge_report::text::compare as comparison;
use wiregauge_report::text::{csv, json, markdown, terminal};
use wiregauge_result::run::Run;
use wiregauge_result::stats::{compare, Limits};

pub fn read(data: &[u8]) {
    let Some(run) = check_error(Run::read(&file("run.json", data))) else { return };
    let text = run.text().expect("a result has a text");
    let again = Run::read(&file("again.json", text.as_bytes())).expect("what was written is read");
    assert_eq!(again, run);
    let runs = [run, again];
    let [run, again] = &runs;
    let compared = compare(run, again, Limits::default());
    let forms = [
        terminal::render(&runs, Some(80)),
        markdown::render(&runs),
        csv::render(&runs),
        json::render(&runs),
        page::render(&runs),
        comparison::render_terminal(run, again, &compared, true, Some(80)),
        comparison::render_markdown(run, again, &compared, true),
    ];
    for form in forms {
        let obeyed = |c: char| c.is_control() && !"\n\t\r".contains(c);
        assert!(!form.contains(obeyed), "{form:?}");
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
