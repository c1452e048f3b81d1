//! What is shown, before any format.

mod common;

use wiregauge_gauge::run::Slope;
use wiregauge_report::kind::shown;
use wiregauge_report::phase::phases;
use wiregauge_report::reference::{beside, of_one, slopes};
use wiregauge_report::sweep::sweeps;
use wiregauge_report::table::Table;

#[test]
fn bounds_are_neither_best_nor_ranked_and_come_last() {
    let run = common::run(10);
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
fn close_codecs_share_the_first_place() {
    let run = common::run(10);
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
    let run = common::run(10);
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
    let run = common::run(10);
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
fn sweeps_are_fitted() {
    let run = common::run(10);
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
    let run = common::run(10);
    let columns = beside(&run, run.reference.as_ref().unwrap());
    let encode = &columns[0];
    assert_eq!((encode.metric, encode.rows.len()), ("encode", 8));
    let lcm = encode.rows.iter().find(|row| row.figure.name == "Lcm").unwrap();
    assert_eq!((lcm.published.rank, lcm.measured.unwrap().rank), (Some(1), Some(2)));
    assert!((0.0..1.0).contains(&encode.agreement().unwrap()));

    // Published, but not measured: shown, and left out of both rankings.
    let mut run = run;
    run.measurements.retain(|m| m.subject != "lcm-c");
    let columns = beside(&run, run.reference.as_ref().unwrap());
    let lcm = columns[0].rows.iter().find(|row| row.figure.name == "Lcm").unwrap();
    assert_eq!((lcm.published.rank, lcm.measured), (None, None));
    let next = columns[0].rows.iter().find(|row| row.figure.name == "FastCdr").unwrap();
    assert_eq!(next.published.rank, Some(1));
}

#[test]
fn co_simulation_is_swept_over_the_size_too() {
    let mut run = common::run(3);
    assert_eq!(sweeps(&run).len(), 1);
    run.kind = "cosim".into();
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
    let mut run = common::run(3);
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
    let mut run = common::run(3);
    assert_eq!(shown(&run).0.len(), 3);
    let last = run.cases.last().unwrap().clone();
    for number in 0..6 {
        let mut case = last.clone();
        case.id = format!("points={}", 20_000 + number);
        case.parameter.as_mut().unwrap().value = f64::from(20_000 + number);
        run.cases.push(case);
    }
    let (cases, others) = shown(&run);
    assert_eq!(
        cases.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(),
        ["points=100", "points=20005"]
    );
    assert!(others.unwrap().starts_with("7 cases between points=100 and points=20005"));
    // Cases that are no sweep are all shown.
    run.cases[0].parameter = None;
    assert_eq!(shown(&run).0.len(), 9);
}

#[test]
fn what_was_published_of_one_thing_is_not_ranked() {
    let mut run = common::run(3);
    let mut reference = run.reference.take().unwrap();
    assert!(of_one(&run, &reference, "-").is_none(), "several were published");
    for figure in &mut reference.figures {
        figure.name = "The bus".into();
    }
    let rows = of_one(&run, &reference, "-").unwrap();
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
