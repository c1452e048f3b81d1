//! What is shown, before any format.

use crate::common::bus;
use wiregauge_report::model::curve::{find_curves, shares, value_at, window_curves};
use wiregauge_report::model::figure::{definition, FigureTopic};
use wiregauge_report::model::group::{
    failed_transports, groups, split_by_loss, transport_name, without_headroom,
};
use wiregauge_report::model::phase::phases;
use wiregauge_report::model::reference::{published_columns, single_publication_table, slopes};
use wiregauge_report::model::requirements;
use wiregauge_report::model::run_labels::select_cases;
use wiregauge_report::model::sweep::sweeps;
use wiregauge_report::model::table::Table;
use wiregauge_report::text::{junit, markdown, terminal};
use wiregauge_result::run::{Curve, Measurement, NewestRelease, Origin, Run, Slope};
use wiregauge_result::run_kind::RunKind;
use wiregauge_result::verdict::RequirementVerdict;

#[test]
fn bounds_are_neither_best_nor_ranked_and_come_last() {
    let run = crate::common::run(10);
    let table = Table::timings(&run, &run.cases[2]);
    let encode = table.column("encode").unwrap();
    for (subject, cell) in table.cells(encode) {
        assert_eq!(cell.rank.is_none(), subject.bound, "{}", subject.id);
        assert!(subject.bound || cell.ratio.unwrap() >= 1.0);
    }
    let bounds: Vec<bool> = table.rows.iter().map(|row| row.subject.bound).collect();
    assert!(bounds.is_sorted());
    // Skipped, rejected and failed subjects have no row.
    assert_eq!(table.rows.len(), 12);
}

#[test]
fn a_course_over_time_is_no_search() {
    let mut run = bus::bus();
    let case = run.cases[0].clone();
    assert!(without_headroom(&run, &case).is_empty());
    let (subject, metric) = (run.subjects[0].id.clone(), "latency/max".to_owned());
    let (unit, over_time, points) = ("ns".into(), "time".into(), vec![(1.0, 5.0), (2.0, 7.0)]);
    run.curves.push(Curve {
        case: case.id.clone(),
        subject,
        metric,
        unit,
        over: over_time,
        points,
    });
    assert!(without_headroom(&run, &case).is_empty());
    let course = find_curves(&run, &case, "time");
    assert_eq!((course.len(), course[0].lines[0].points.len()), (1, 2));
}

#[test]
fn close_codecs_share_the_first_place() {
    let run = crate::common::run(10);
    let table = Table::timings(&run, &run.cases[2]);
    let winners = |metric: &str| -> Vec<&str> {
        let column = table.column(metric).unwrap();
        table.winners(column).iter().map(|(subject, _)| subject.id.as_str()).collect()
    };
    // Their costs differ by 2 %, their processes by as much.
    assert_eq!(winners("encode"), ["flatbuffers-cpp-structs", "lcm-c"]);
    assert_eq!(winners("decode"), ["flatbuffers-cpp-structs"]);
    assert_eq!(winners("size"), ["bincode"]);
}

#[test]
fn equal_counts_share_a_rank() {
    let run = crate::common::run(10);
    let table = Table::sizes(&run, &run.cases[2]);
    let column = table.column("size").unwrap();
    let rank = |id: &str| {
        table.cells(column).find(|(subject, _)| subject.id == id).and_then(|(_, cell)| cell.rank)
    };
    assert_eq!(rank("prost"), rank("protobuf-cpp"));
    assert_eq!(rank("serde-json"), Some(10));
}

#[test]
fn phases_and_compression_are_no_experiments() {
    let run = crate::common::run(10);
    let case = &run.cases[0];
    let timings = Table::timings(&run, case);
    let metrics: Vec<&str> = timings.columns.iter().map(|c| c.metric.as_str()).collect();
    assert_eq!(metrics, ["encode", "decode", "project", "fixed", "element", "size"]);
    let found = phases(&run, case);
    let names: Vec<&str> = found.iter().map(|phases| phases.metric.as_str()).collect();
    assert_eq!(names, ["encode", "decode"]);
    assert_eq!(found[0].names, ["populate", "write"]);
    assert_eq!(Table::compression(&run, case).columns.len(), 4);
}

#[test]
fn what_is_checked_first_is_an_experiment_and_no_phase() {
    let mut run = crate::common::run(10);
    let case = run.cases[0].clone();
    let of = |m: &&Measurement| m.case == case.id && m.metric == "decode";
    let mut checked = run.measurements.iter().find(of).unwrap().clone();
    checked.metric = "decode/checked".into();
    run.measurements.push(checked);
    let timings = Table::timings(&run, &case);
    assert!(timings.column("decode/checked").is_some());
    let found = phases(&run, &case);
    let decode = found.iter().find(|phases| phases.metric == "decode").unwrap();
    assert_eq!(decode.names, ["parse", "extract"]);
}

#[test]
fn what_is_required_is_told_line_by_line() {
    let mut run = crate::common::run(10);
    assert!(requirements::requirement_rows(&run).is_empty());
    let text = "size of prost <= 1 GB, encode < 1ns, encode of prost < 1 min, latency < 1s";
    run.require = Some(text.parse().unwrap());
    let rows = requirements::requirement_rows(&run);
    let verdicts: Vec<RequirementVerdict> = rows.iter().map(|row| row.verdict).collect();
    let wanted = [
        RequirementVerdict::Pass,
        RequirementVerdict::Fail,
        RequirementVerdict::Pass,
        RequirementVerdict::CannotTell,
    ];
    assert_eq!(verdicts, wanted, "{rows:#?}");
    assert!(rows[0].held == rows[0].of && rows[0].others.is_empty());
    assert_eq!((rows[1].held, rows[1].others.len()), (0, 11), "ten are named, and how many more");
    assert!(rows[1].others[0].contains(": fail, "), "{}", rows[1].others[0]);
    assert_eq!(rows[2].of, run.cases.len());
    assert!(rows[3].others[0].contains("'latency' was not measured"), "{}", rows[3].others[0]);
    let marks = ["FAIL        encode < 1ns   0 of ", "1ns | **fail** | 0 of "];
    let forms = [terminal::render(&[run.clone()], None), markdown::render(&[run.clone()])];
    for (mark, form) in marks.iter().zip(forms) {
        assert!(form.contains(mark), "no '{mark}'");
    }
    let xml = junit::render(&run, run.require.as_ref().unwrap()).unwrap();
    assert!(xml.contains("<testsuites name=\"wiregauge\"") && xml.contains("<failure "), "{xml}");
}

#[test]
fn sweeps_are_fitted() {
    let run = crate::common::run(10);
    let sweeps = sweeps(&run);
    assert_eq!(sweeps.len(), 1);
    let curves = sweeps[0].curves.iter().find(|curves| curves.metric == "encode").unwrap();
    let line = curves.lines.iter().find(|line| line.subject.id == "fastcdr").unwrap();
    let fit = line.fit.unwrap();
    // Made as 45 ns + 11.2 ns a point.
    assert!(fit.slope.low < 11.4 && fit.slope.high > 11.0, "{fit:?}");
    assert!(fit.r_squared > 0.99);
}

#[test]
fn the_reference_is_ranked_among_its_own() {
    let run = crate::common::run(10);
    let columns = published_columns(&run, run.reference.as_ref().unwrap());
    let encode = &columns[0];
    assert_eq!((encode.metric, encode.rows.len()), ("encode", 8));
    let lcm = encode.rows.iter().find(|row| row.figure.name == "Lcm").unwrap();
    assert_eq!((lcm.published.rank, lcm.measured.unwrap().rank), (Some(1), Some(2)));
    assert!((0.0..1.0).contains(&encode.agreement().unwrap()));

    // Published, but not measured: shown, and left out of both rankings.
    let mut run = run;
    run.measurements.retain(|m| m.subject != "lcm-c");
    let columns = published_columns(&run, run.reference.as_ref().unwrap());
    let lcm = columns[0].rows.iter().find(|row| row.figure.name == "Lcm").unwrap();
    assert_eq!((lcm.published.rank, lcm.measured), (None, None));
    let next = columns[0].rows.iter().find(|row| row.figure.name == "FastCdr").unwrap();
    assert_eq!(next.published.rank, Some(1));
}

#[test]
fn co_simulation_is_swept_over_the_size_too() {
    let mut run = crate::common::run(3);
    assert_eq!(sweeps(&run).len(), 1);
    run.kind = RunKind::Cosim;
    let sweeps = sweeps(&run);
    let parameters: Vec<&str> = sweeps.iter().map(|s| s.parameter.as_str()).collect();
    assert_eq!(parameters, ["points", "kB"]);
    // FlatBuffers' message has 64 B and 16 B a point, its encoding 8.7 ns a point.
    let line = |sweep: usize| {
        let curves = sweeps[sweep].curves.iter().find(|c| c.metric == "encode").unwrap();
        curves.lines.iter().find(|l| l.subject.id == "flatbuffers-cpp-structs").unwrap()
    };
    assert_eq!(line(1).points.iter().map(|p| p.0).collect::<Vec<_>>(), [1.664, 16.064, 160.064]);
    let per_point = line(0).fit.unwrap().slope.value;
    let per_kilobyte = line(1).fit.unwrap().slope.value;
    assert!((per_kilobyte / (per_point * 1000.0 / 16.0) - 1.0).abs() < 1e-6);
}

#[test]
fn slopes_stand_beside_the_fitted_ones() {
    let mut run = crate::common::run(3);
    let slope = |subject: &str, value: f64| Slope {
        parameter: "points".into(),
        name: subject.to_uppercase(),
        subject: subject.into(),
        metric: "encode".into(),
        unit: "ns".into(),
        value,
        deviation: Some(0.5),
    };
    let reference = run.reference.as_mut().unwrap();
    reference.slopes = vec![slope("lcm-c", 10.0), slope("fastcdr", 30.0), slope("other", 20.0)];
    let rows = slopes(&run, run.reference.as_ref().unwrap());
    let published: Vec<_> = rows.iter().map(|row| row.published_ratio).collect();
    assert_eq!(published, [Some(1.0), Some(3.0), Some(2.0)]);
    assert_eq!(rows[0].measured_ratio, Some(1.0));
    // 11.2 ns a point to 8.9, give or take the noise.
    assert!((rows[1].measured_ratio.unwrap() / (11.2 / 8.9) - 1.0).abs() < 0.1);
    assert!(rows[2].measured.is_none() && rows[2].subject.is_none());
}

#[test]
fn a_long_sweep_is_shown_by_its_ends() {
    let mut run = crate::common::run(3);
    assert_eq!(select_cases(&run).0.len(), 3);
    let last = run.cases.last().unwrap().clone();
    for number in 0..6 {
        let mut case = last.clone();
        case.id = format!("points={}", 20_000 + number);
        case.parameter.as_mut().unwrap().value = f64::from(20_000 + number);
        run.cases.push(case);
    }
    let (cases, others) = select_cases(&run);
    assert_eq!(
        cases.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(),
        ["points=100", "points=20005"]
    );
    assert!(others.unwrap().starts_with("7 cases between points=100 and points=20005"));
    // Cases that are no sweep are all shown.
    run.cases[0].parameter = None;
    assert_eq!(select_cases(&run).0.len(), 9);
}

#[test]
fn what_was_published_of_one_thing_is_not_ranked() {
    let mut run = crate::common::run(3);
    let mut reference = run.reference.take().unwrap();
    assert!(single_publication_table(&run, &reference, "-").is_none(), "several were published");
    for figure in &mut reference.figures {
        figure.name = "The bus".into();
    }
    let rows = single_publication_table(&run, &reference, "-").unwrap();
    let first = &reference.figures[0];
    assert_eq!(rows[0][1], first.metric);
    assert_eq!(rows[1][0], format!("{}: The bus", first.case));
    // Under it those that stand for it and were measured, and no others.
    let titles: Vec<&str> = rows[2..].iter().map(|row| row[0].trim()).collect();
    assert!(!titles.is_empty());
    for title in titles.iter().filter(|title| !title.contains(": The bus")) {
        let subject = run.subjects.iter().find(|s| s.title == *title).unwrap();
        assert!(reference.figures.iter().any(|figure| figure.subject == subject.id), "{title}");
    }
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
}

#[test]
fn every_figure_of_the_bus_is_in_one_group() {
    for run in [bus::bus(), bus::fan_out(), bus::headroom(), bus::codecs()] {
        for case in &run.cases {
            let groups = groups(&run, case);
            for fact in run.facts.iter().filter(|fact| fact.case == case.id) {
                let with = groups.iter().filter(|g| g.table.column(&fact.metric).is_some());
                // Said by the name, the row of what was offered, or the phases.
                let elsewhere = ["valid", "offered", "cycle/time"].contains(&&*fact.metric);
                assert!(with.count() == 1 || elsewhere, "{}", fact.metric);
            }
            assert!(groups.iter().all(|group| group.part != FigureTopic::Other));
            let order = |group: &wiregauge_report::model::group::Group| -> Vec<String> {
                group.table.rows.iter().map(|row| row.subject.id.clone()).collect()
            };
            let orders: Vec<_> = groups.iter().map(order).collect();
            // One without headroom has fewer figures.
            let same = |pair: &[Vec<String>]| pair[0].starts_with(&pair[1]);
            assert!(orders.windows(2).all(same), "{orders:?}");
        }
    }
}

#[test]
fn what_was_offered_and_published_stands_below() {
    let run = bus::bus();
    let arrived = &groups(&run, &run.cases[0])[0];
    assert_eq!(arrived.part, FigureTopic::Arrival);
    let [throughput, rate, samples] =
        ["throughput", "rate", "samples"].map(|metric| arrived.table.column(metric).unwrap());
    let names: Vec<&str> = arrived.references.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["offered", "FEP SDK 3, published"]);
    let (offered, published) = (&arrived.references[0].cells, &arrived.references[1].cells);
    assert_eq!(
        (offered[throughput], offered[rate], offered[samples]),
        (Some(0.5), Some(1e3), None)
    );
    assert_eq!((published[throughput], published[rate]), (Some(0.5), None));
    assert_eq!(published[samples], Some(1_000.631));
    // Each codec makes another load of the same message: then it is a column.
    let codecs = bus::codecs();
    let arrived = &groups(&codecs, &codecs.cases[0])[0];
    assert!(arrived.references.is_empty() && arrived.table.column("offered").is_some());
}

#[test]
fn losses_and_failures_are_told() {
    let run = bus::bus();
    let ids = |subjects: Vec<&wiregauge_result::run::Subject>| -> Vec<String> {
        subjects.into_iter().map(|subject| subject.id.clone()).collect()
    };
    let (whole, not) = split_by_loss(&run, &run.cases[1]);
    assert_eq!(ids(whole), ["tcp", "memory", "dds"]);
    assert_eq!(ids(not), ["zenoh-drop"]);
    let failed =
        |case| ids(failed_transports(&run, case).into_iter().map(|(subject, _)| subject).collect());
    assert_eq!(failed(&run.cases[0]), Vec::<String>::new());
    assert_eq!(failed(&run.cases[1]), ["zenoh"], "and not what was skipped");
    let dds = run.subject("dds").unwrap();
    assert_eq!(transport_name(&run, &run.cases[0], dds), "Cyclone DDS (invalid)");
    assert_eq!(transport_name(&run, &run.cases[1], dds), "Cyclone DDS");
    let arrived = &groups(&run, &run.cases[0])[0];
    let lost = arrived.table.column("lost").unwrap();
    let row = arrived.table.rows.iter().find(|row| row.subject.id == "zenoh-drop").unwrap();
    assert_eq!(arrived.text(row, lost).unwrap(), "2,793 (9.3%)");
    // Of three receivers each lost as much, and the share stays.
    let mut run = bus::fan_out();
    let case = run.cases[1].clone();
    let lost = |f: &&mut wiregauge_result::run::Fact| {
        f.case == case.id && f.subject == "tcp" && f.metric == "lost"
    };
    run.facts.iter_mut().find(lost).unwrap().value = 9_000.0;
    let arrived = &groups(&run, &case)[0];
    let row = arrived.table.rows.iter().find(|row| row.subject.id == "tcp").unwrap();
    let column = arrived.table.column("lost").unwrap();
    assert_eq!(arrived.text(row, column).unwrap(), "9,000 (10%)");
}

#[test]
fn searches_and_distributions_are_curves() {
    let run = bus::headroom();
    let case = &run.cases[0];
    let metrics: Vec<String> =
        find_curves(&run, case, "rate").into_iter().map(|c| c.metric).collect();
    assert_eq!(metrics, ["latency/p50", "latency/p99", "lost"]);
    assert!(
        find_curves(&run, case, "share").is_empty() && find_curves(&run, case, "size").is_empty()
    );
    let none: Vec<&str> = without_headroom(&run, case).iter().map(|s| s.id.as_str()).collect();
    assert_eq!(none, ["zenoh-drop"]);

    let mut run = bus::fan_out();
    let case = run.cases[1].clone();
    let curves = find_curves(&run, &case, "share");
    assert_eq!(shares(&curves[0]), [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999]);
    let p99 = run.fact(&case.id, "tcp", "latency/p99");
    assert_eq!(value_at(&curves[0].lines[0], 0.99), p99);
    // The receiver that got least tells the throughput of a window.
    let tcp = run
        .measurements
        .iter_mut()
        .find(|m| m.case == case.id && m.subject == "tcp" && m.metric == "throughput/window")
        .unwrap();
    tcp.samples[1][4] = Some(0.1);
    let windows = window_curves(&run, &case).unwrap();
    let tcp = windows.lines.iter().find(|line| line.subject.id == "tcp").unwrap();
    assert_eq!(tcp.points[4], (5.0, 0.1));
    assert!(tcp.points[3].1 > 0.4);
}

#[test]
fn receivers_are_swept_in_each_mode() {
    let run = bus::fan_out();
    let sweeps = sweeps(&run);
    let titles: Vec<String> = sweeps.iter().map(|sweep| sweep.title(&run)).collect();
    assert_eq!(titles, ["receivers, 500 B, 1 ms, continuous", "receivers, 500 B, 1 ms, discrete"]);
    let metrics = |i: usize| -> Vec<&str> {
        sweeps[i].curves.iter().map(|curves| curves.metric.as_str()).collect()
    };
    assert_eq!(
        (metrics(0), metrics(1)),
        (vec!["latency", "slowest latency"], vec!["latency", "slowest latency", "step"])
    );
    let step = &sweeps[1].curves[2];
    let tcp = step.lines.iter().find(|line| line.subject.id == "tcp").unwrap();
    // Made as 2.1 · 7 µs a receiver.
    let slope = tcp.fit.unwrap().slope;
    assert!(slope.low < 14.9e3 && slope.high > 14.5e3, "{slope:?}");
    // Five cases each are few enough to be shown.
    assert_eq!(select_cases(&run).0.len(), 10);
}

#[test]
fn phases_are_held_against_the_cycle() {
    let run = bus::codecs();
    let phases = phases(&run, &run.cases[0]);
    assert_eq!(phases.len(), 1);
    assert_eq!(phases[0].names, ["encode", "write", "wire", "wake-up", "decode"]);
    assert_eq!(phases[0].budget, Some(10e6));
    let row = &phases[0].rows[0];
    assert_eq!(phases[0].share(row), Some(row.sum() / 10e6));
}

#[test]
fn what_the_documentation_defines_is_defined_here() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bus.md");
    let text = std::fs::read_to_string(path).unwrap();
    let table = text.split("## The figures").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut count = 0;
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let names = line.split('|').nth(1).unwrap();
        for name in names.split('`').skip(1).step_by(2) {
            let name = name.trim_end_matches("/…");
            assert!(definition(name).is_some(), "{name} is not in figure.rs");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

/// A run in which the empty operation takes 3 ns in Rust and 4 ns in C++, and
/// codecs take these times for `fixed`.
fn floors(times: &[(&str, &str, bool, f64)]) -> wiregauge_result::run::Run {
    let mut run = crate::common::run(10);
    run.cases.truncate(1);
    let case = run.cases[0].id.clone();
    let like = run.measurements[0].clone();
    let subject = run.subjects.iter().find(|subject| subject.bound).unwrap().clone();
    (run.subjects, run.measurements) = (Vec::new(), Vec::new());
    run.facts.clear();
    for (id, language, bound, time) in times {
        let mut subject = subject.clone();
        (subject.id, subject.title) = (id.to_string(), id.to_string());
        (subject.language, subject.bound) = (language.to_string(), *bound);
        run.subjects.push(subject);
        let mut measurement = like.clone();
        (measurement.case, measurement.subject) = (case.clone(), id.to_string());
        measurement.metric = "fixed".into();
        measurement.samples = vec![vec![Some(*time); 7]; 7];
        run.measurements.push(measurement);
    }
    run
}

#[test]
fn what_is_at_the_floor_shares_the_first_rank_and_has_no_ratio() {
    let run = floors(&[
        ("noop", "Rust", true, 3.0),
        ("noop-cpp", "C++", true, 4.0),
        ("a", "Rust", false, 5.9),
        ("b", "C++", false, 7.9),
        ("c", "Rust", false, 7.8),
        ("d", "C++", false, 80.0),
        ("e", "Java", false, 800.0),
    ]);
    let table = Table::timings(&run, &run.cases[0]);
    let cell = |id: &str| table.cells(0).find(|(subject, _)| subject.id == id).unwrap().1;
    for (id, relation, rank) in [
        ("a", "floor", 1),
        ("b", "floor", 1),
        ("c", "≥ 1.30×", 3),
        ("d", "≥ 10.0×", 4),
        ("e", "≥ 100×", 5),
    ] {
        let cell = cell(id);
        assert_eq!((cell.relation().as_deref(), cell.rank), (Some(relation), Some(rank)), "{id}");
        assert!(cell.ratio.is_none() || cell.at_least, "{id}");
    }
    assert!(table.has_floor());
    let text = wiregauge_report::text::terminal::render(std::slice::from_ref(&run), None);
    assert!(text.contains("5.90 ns") && text.contains("floor: less than twice"), "{text}");
    // Without a bound of their own language there is no floor for them.
    let run = floors(&[("noop", "Rust", true, 3.0), ("a", "C++", false, 4.0)]);
    let table = Table::timings(&run, &run.cases[0]);
    assert!(!table.has_floor());
    assert_eq!(table.cells(0).next().unwrap().1.ratio, Some(1.0));
}

#[test]
fn codecs_at_the_floor_share_the_first_rank_beside_a_publication() {
    let mut run = floors(&[
        ("noop", "Rust", true, 3.0),
        ("a", "Rust", false, 5.9),
        ("b", "Rust", false, 5.0),
        ("c", "Rust", false, 60.0),
    ]);
    let mut reference = crate::common::run(10).reference.unwrap();
    let figure = reference.figures[0].clone();
    let figure = |name: &str, value| wiregauge_result::run::Figure {
        case: run.cases[0].id.clone(),
        name: name.into(),
        subject: name.into(),
        metric: "fixed".into(),
        value,
        ..figure.clone()
    };
    reference.figures = vec![figure("a", 1.0), figure("b", 2.0), figure("c", 3.0)];
    run.reference = Some(reference.clone());
    let columns = published_columns(&run, &reference);
    let places: Vec<(String, Option<usize>)> = columns[0]
        .rows
        .iter()
        .map(|row| (row.measured.unwrap().relation("-"), row.measured.unwrap().rank))
        .collect();
    let wanted = [("floor", 1), ("floor", 1), ("≥ 10.0×", 3)];
    let wanted = wanted.map(|(relation, rank)| (relation.to_owned(), Some(rank)));
    assert_eq!(places, wanted);
}

/// A run in every form that names its subjects: table, Markdown, page, comparison.
fn forms(run: &Run) -> [String; 4] {
    let runs = [run.clone()];
    let compared = wiregauge_result::stats::compare(run, run, Default::default());
    [
        terminal::render(&runs, None),
        markdown::render(&runs),
        wiregauge_report::page::render(&runs),
        wiregauge_report::text::compare::render_terminal(run, run, &compared, true, None),
    ]
}

#[test]
fn unchecked_rows_are_marked_in_every_form() {
    let mut run = crate::common::run(10);
    // Publications have names of their own.
    run.reference = None;
    run.subjects.iter_mut().find(|s| s.id == "bincode").unwrap().unchecked = true;
    for text in forms(&run) {
        assert!(text.contains("† reads without checking the bytes first"));
        assert!(text.contains("Bincode†"), "{text}");
        assert_eq!(text.matches("Bincode").count(), text.matches("Bincode†").count());
    }
    assert!(wiregauge_report::text::csv::render(&[run]).contains(",true,"));
}

#[test]
fn libraries_that_are_far_behind_are_marked_in_every_form() {
    let mut run = crate::common::run(10);
    run.reference = None;
    let newest = NewestRelease { version: "9.0".into(), released: "2025-01".into() };
    let origin = |released: &str| Origin {
        released: Some(released.into()),
        newest: Some(newest.clone()),
        ..Origin::default()
    };
    let mut row = |id: &str, released: &str| {
        let subject = run.subjects.iter_mut().find(|subject| subject.id == id).unwrap();
        (subject.library, subject.origin) = (format!("{id} 1.0"), Some(origin(released)));
    };
    // Two years, and two years and a month.
    row("prost", "2023-01");
    row("bincode", "2022-12");
    for text in forms(&run) {
        assert!(text.contains("two years after it: bincode 1.0 of 2022 (newest 9.0 of 2025)"));
        assert_eq!(text.matches("Bincode").count(), text.matches("Bincode‡").count());
        assert!(!text.contains("Prost‡"), "{text}");
    }
}

#[test]
fn the_longest_phases_have_whole_bars() {
    let mut run = crate::common::run(10);
    for (i, measurement) in run.measurements.iter_mut().enumerate() {
        let factor = if measurement.subject == "prost" { 1_000.0 } else { 1.0 + i as f64 * 1e-9 };
        measurement.samples.iter_mut().flatten().flatten().for_each(|v| *v *= factor);
    }
    let page = wiregauge_report::page::render(&[run]);
    let phases = page.split("Phases of encode").nth(1).unwrap().split("</svg>").next().unwrap();
    assert!(!phases.contains('→'), "a bar is cut");
}
