//! Results that nobody would measure, and names that nobody would give: every
//! form is made of them in short time, and none carries them out of its text.

use crate::common::bus;
use wiregauge_report::model::ranking::named_result::NamedResult;
use wiregauge_report::model::ranking::Ranking;
use wiregauge_report::page;
use wiregauge_report::text::budget::{self, Budget};
use wiregauge_report::text::compare as comparison;
use wiregauge_report::text::ranking as ranked;
use wiregauge_report::text::{csv, json, markdown, terminal};
use wiregauge_result::run::Run;
use wiregauge_result::stats::{compare, Limits};

/// Every form of a result; that they come back at all is half of the test.
fn forms(run: &Run) -> Vec<String> {
    let runs = std::slice::from_ref(run);
    let budget = Budget { rate_hz: 10.0, speed_mps: 10.0 };
    let compared = compare(run, run, Limits::default());
    let mut forms = vec![
        page::render(runs),
        terminal::render(runs, None),
        terminal::render(runs, Some(60)),
        markdown::render(runs),
        csv::render(runs),
        json::render(runs),
        budget::render_terminal(run, budget, Some(60)),
        budget::render_markdown(run, budget),
        comparison::render_terminal(run, run, &compared, true, Some(60)),
        comparison::render_markdown(run, run, &compared, true),
    ];
    let twice = ["a.json", "b.json"].map(|name| (name.into(), run.clone()));
    let twice = NamedResult::from_files(twice.to_vec());
    // Results of a bus are refused, and so are those without a codec that has figures.
    if let Ok(ranking) = Ranking::from_results(&twice) {
        forms.push(page::render_ranking(&ranking, &[]));
        forms.push(ranked::render_terminal(&ranking, Some(60)));
        forms.push(ranked::render_markdown(&ranking));
    }
    forms
}

fn runs() -> [Run; 4] {
    [crate::common::run(10), bus::bus(), bus::fan_out(), bus::headroom()]
}

#[test]
fn huge_and_tiny_samples_have_a_page() {
    for value in [1e308, f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.0, -1e308] {
        for mut run in runs() {
            for (i, measurement) in run.measurements.iter_mut().enumerate() {
                if i % 3 == 0 {
                    measurement.samples.iter_mut().flatten().take(1).for_each(|v| *v = Some(value));
                }
            }
            run.measurements
                .iter_mut()
                .take(1)
                .flat_map(|m| &mut m.samples)
                .flatten()
                .for_each(|v| *v = Some(value));
            run.facts.iter_mut().step_by(2).for_each(|fact| fact.value = value);
            run.curves
                .iter_mut()
                .flat_map(|c| c.points.first_mut())
                .for_each(|p| *p = (value, value));
            run.cases[0].canonical_bytes = value;
            run.seconds = value;
            for form in forms(&run) {
                assert!(form.len() < 8_000_000, "{value}: {} bytes", form.len());
            }
            let page = page::render(&[run]);
            for place in [" x=", " y=", " x1=", " cx=", " width=", " height=", " points="] {
                assert!(!page.contains(&format!("{place}\"NaN")), "{value:e}: {place}");
            }
        }
    }
}

#[test]
fn nothing_at_all_has_a_page() {
    for run in runs() {
        type Empty = fn(&mut Run);
        let empties: [Empty; 7] = [
            |run| run.cases.clear(),
            |run| run.subjects.clear(),
            |run| run.measurements.clear(),
            |run| run.facts.clear(),
            |run| run.measurements.iter_mut().for_each(|m| m.samples.clear()),
            |run| {
                run.measurements.iter_mut().for_each(|m| m.samples.iter_mut().for_each(Vec::clear))
            },
            |run| run.curves.iter_mut().for_each(|curve| curve.points.clear()),
        ];
        for empty in empties {
            let mut run = run.clone();
            empty(&mut run);
            forms(&run);
        }
    }
}

#[test]
fn names_stay_names() {
    const NAME: &str = "<script>alert(1)</script>\u{1b}[31m\u{9b}\r\n|`*\"'&";
    for mut run in runs() {
        let text = |field: &mut String| field.push_str(NAME);
        text(&mut run.title);
        text(&mut run.started);
        run.command.push(NAME.into());
        text(&mut run.settings.buffers);
        text(&mut run.settings.objects);
        text(&mut run.settings.scratch);
        for case in &mut run.cases {
            text(&mut case.message);
            text(&mut case.source);
            case.notes.push(NAME.into());
            case.fixed = Some(NAME.into());
            if let Some(parameter) = &mut case.parameter {
                text(&mut parameter.name);
            }
        }
        for subject in &mut run.subjects {
            text(&mut subject.title);
            text(&mut subject.library);
            text(&mut subject.built);
            subject.options.push(NAME.into());
            subject.lowerings.push(NAME.into());
        }
        for measurement in &mut run.measurements {
            text(&mut measurement.metric);
            text(&mut measurement.unit);
        }
        run.facts.iter_mut().for_each(|fact| text(&mut fact.unit));
        run.curves.iter_mut().for_each(|curve| text(&mut curve.unit));
        if let Some(reference) = &mut run.reference {
            text(&mut reference.title);
            for figure in &mut reference.figures {
                text(&mut figure.unit);
                text(&mut figure.name);
            }
        }
        let page = page::render(&[run.clone()]);
        assert!(!page.contains("<script>alert"));
        for (i, form) in forms(&run).iter().enumerate().filter(|(i, _)| ![4, 5].contains(i)) {
            let control = form.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(control, None, "form {i}");
        }
    }
}

#[test]
fn thousands_of_cells_have_a_page() {
    let mut run = crate::common::run(10);
    let measurement = run.measurements[0].clone();
    for i in 0..400 {
        let mut more = measurement.clone();
        more.metric = format!("metric {i}");
        more.samples.truncate(1);
        more.samples[0].truncate(3);
        run.measurements.push(more);
    }
    forms(&run);
}
