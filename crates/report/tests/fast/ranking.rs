//! Several results held against each other: what changes places is named, and nothing else is.
//! To accept a change of the golden files, run the tests with `WIREGAUGE_BLESS=1` and read the
//! difference.

use std::path::PathBuf;

use crate::common::Random;
use wiregauge_report::model::ranking::experiment_ranking::{ExperimentRanking, RankedCell};
use wiregauge_report::model::ranking::named_result::NamedResult;
use wiregauge_report::model::ranking::Ranking;
use wiregauge_report::page;
use wiregauge_report::text::ranking::{render_json, render_markdown, render_terminal};
use wiregauge_result::run::{Fact, Origin, Run, Status};
use wiregauge_testkit::seeds::Seeds;

const CASE: &str = "points=10000";

/// A result of so many codecs on one case, with two experiments, of a machine.
fn result(codecs: usize, cpu: &str) -> Run {
    let mut run = crate::common::run(codecs);
    let wanted = ["encode", "decode"];
    run.cases.retain(|case| case.id == CASE);
    run.measurements.retain(|m| m.case == CASE && wanted.contains(&m.metric.as_str()));
    run.facts.clear();
    run.subjects.retain(|subject| subject.status == Status::Measured);
    run.reference = None;
    run.environment.cpu.model = Some(cpu.into());
    run.environment.cpu.threads = Some(8);
    run.environment.system.architecture = "x86_64".into();
    run.environment.wiregauge = "0.1.0".into();
    run.environment.build = "release".into();
    run
}

/// The codecs' ids.
fn codecs(run: &Run) -> Vec<String> {
    run.subjects.iter().filter(|s| !s.bound).map(|s| s.id.clone()).collect()
}

/// Makes the times of a codec longer by a factor, with a little noise of each sample.
fn slow_down(run: &mut Run, subject: &str, metric: &str, factor: f64, random: &mut Random) {
    for measurement in &mut run.measurements {
        if measurement.subject == subject && measurement.metric == metric {
            for sample in measurement.samples.iter_mut().flatten().flatten() {
                *sample *= factor * (0.002 * random.normal()).exp();
            }
        }
    }
}

/// Gives each of two codecs the samples of the other.
fn exchange(run: &mut Run, one: &str, other: &str, metric: &str) {
    for measurement in run.measurements.iter_mut().filter(|m| m.metric == metric) {
        if measurement.subject == one {
            measurement.subject = other.into();
        } else if measurement.subject == other {
            measurement.subject = one.into();
        }
    }
}

fn named(runs: Vec<(&str, Run)>) -> Vec<NamedResult> {
    let files = runs.into_iter().map(|(name, run)| (PathBuf::from(name), run));
    NamedResult::from_files(files.collect())
}

fn rank(runs: Vec<(&str, Run)>) -> Ranking {
    Ranking::from_results(&named(runs)).expect("they can be ranked")
}

fn experiment<'a>(ranking: &'a Ranking, metric: &str) -> &'a ExperimentRanking {
    ranking.experiments.iter().find(|one| one.metric == metric).expect("it is there")
}

/// The pairs that change places in an experiment, each in the order of its names.
fn exchanged(experiment: &ExperimentRanking) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = experiment
        .pairs
        .exchanged
        .iter()
        .map(|pair| {
            let (one, other) = (pair.first.clone(), pair.second.clone());
            if one < other {
                (one, other)
            } else {
                (other, one)
            }
        })
        .collect();
    pairs.sort();
    pairs
}

/// Two machines, one of them twice; instructions of two of the three.
fn three_results() -> Vec<NamedResult> {
    let mut random = Random(7);
    let mut laptop = result(6, "Fast CPU");
    let mut server = result(6, "Wide CPU");
    let mut again = result(6, "Fast CPU");
    for subject in codecs(&laptop) {
        for metric in ["encode", "decode"] {
            slow_down(&mut server, &subject, metric, 0.6 + 0.1 * random.uniform(), &mut random);
            slow_down(&mut again, &subject, metric, 1.05, &mut random);
        }
    }
    exchange(&mut server, "prost", "fastcdr", "encode");
    again.started = "2026-03-02T09:30:00Z".into();
    server.started = "2026-03-03T09:30:00Z".into();
    server.environment.system.kernel = Some("6.1.0".into());
    for (run, compiler) in
        [(&mut laptop, "gcc 12.2"), (&mut server, "gcc 14.2"), (&mut again, "gcc 12.2")]
    {
        run.environment.tools.insert("C++ compiler".into(), compiler.into());
    }
    let lcm = server.subjects.iter_mut().find(|subject| subject.id == "lcm-c").unwrap();
    lcm.status = Status::Failed("it crashed".into());
    server.measurements.retain(|m| m.subject != "lcm-c");
    let prost = again.subjects.iter_mut().find(|subject| subject.id == "prost").unwrap();
    prost.library = "prost 0.15.0".into();
    prost.origin = Some(Origin { compiler: "rustc 2".into(), ..Origin::default() });
    for (run, share) in [(&mut laptop, 1.0), (&mut server, 1.3)] {
        for (at, subject) in codecs(run).into_iter().enumerate() {
            // The last two differ by less than counts are told apart by.
            let value = share * 1e5 * (1.0 + at.min(4) as f64) + 200.0 * at as f64;
            run.facts.push(Fact {
                case: CASE.into(),
                subject,
                metric: "instructions/encode".into(),
                unit: "1".into(),
                value,
            });
        }
    }
    named(vec![("laptop.json", laptop), ("server.json", server), ("week/laptop.json", again)])
}

#[track_caller]
fn golden(name: &str, text: &str) {
    wiregauge_testkit::golden::compare(env!("CARGO_MANIFEST_DIR"), name, text);
}

#[test]
fn rankings_as_text() {
    let ranking = Ranking::from_results(&three_results()).unwrap();
    golden("ranking.txt", &render_terminal(&ranking, None));
    golden("ranking.md", &render_markdown(&ranking));
    let wide = render_terminal(&ranking, Some(80));
    let wide: Vec<&str> = wide.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(wide, [""; 0]);
}

#[test]
fn the_json_says_what_the_text_says() {
    let ranking = Ranking::from_results(&three_results()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&render_json(&ranking)).unwrap();
    assert_eq!((&value["format"], &value["version"]), (&"wiregauge.ranking".into(), &1.into()));
    assert_eq!(value["conclusion"], ranking.conclusion);
    assert_eq!(value["results"][1]["machine"]["cpu"], "Wide CPU");
    let encode = &value["experiments"][0];
    assert_eq!(encode["metric"], "encode");
    let row = |id: &str| {
        let rows = encode["rows"].as_array().unwrap();
        rows.iter().find(|row| row["subject"] == id).unwrap().clone()
    };
    assert_eq!(row("lcm-c")["cells"][1]["absent"], "failed");
    let spread = &row("prost")["spread"];
    let ratios: Vec<f64> =
        (0..3).map(|i| row("prost")["cells"][i]["ratio"]["ratio"].as_f64().unwrap()).collect();
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / 3.0).exp();
    assert!((spread["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    assert_eq!(spread["least"].as_f64().unwrap(), ratios.iter().copied().fold(f64::MAX, f64::min));
    assert_eq!(spread["most"].as_f64().unwrap(), ratios.iter().copied().fold(0.0, f64::max));
    let exchanged = encode["pairs"]["exchanged"].as_array().unwrap();
    assert!(exchanged.iter().all(|pair| pair["ratios"].as_array().unwrap().len() == 3));
}

#[test]
fn the_page_has_the_ranking_before_the_results() {
    let results = three_results();
    let ranking = Ranking::from_results(&results).unwrap();
    let page = page::render_ranking(&ranking, &results);
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(place("id=\"ranking\"") < place("id=\"r1\""));
    assert!(place("id=\"r1\"") < place("id=\"r3\""));
    // A marker of each row in each result, and one of each result in the legend.
    let figures = ranking.experiments.iter().map(|one| {
        let cells = one.rows.iter().flat_map(|row| &row.cells);
        cells.filter(|cell| cell.ratio().is_some()).count() + one.results.len()
    });
    let (part, _) = page.split_once("id=\"r1\"").unwrap();
    assert_eq!(part.matches("class=\"mark\"").count(), figures.sum::<usize>());
    assert!(!part.contains("NaN"));
}

/// The same result under two names: the order holds, in all experiments, whatever the codecs.
#[test]
fn the_same_result_twice_keeps_its_order() {
    for count in [2, 3, 5, 9, 24] {
        let run = result(count, "Fast CPU");
        let ranking = rank(vec![("a.json", run.clone()), ("b.json", run)]);
        assert_eq!(ranking.experiments.len(), 2);
        for one in &ranking.experiments {
            assert_eq!(one.pairs.exchanged, [], "{}", one.metric);
            assert_eq!(one.pairs.all, count * (count - 1) / 2);
            assert_eq!(one.pairs.same + one.pairs.open, one.pairs.all);
            assert!(one.conclusion.contains("order of") && one.conclusion.contains(" holds "));
        }
        assert!(ranking.conclusion.starts_with("The ranking holds in both results"));
        let said = |text: &str| ranking.limits.iter().any(|line| line.contains(text));
        assert!(said("a and b are the same measurement") && said("of one machine"));
    }
}

/// Two rows that are told apart and have no other between them are exchanged: exactly they are
/// named.
#[test]
fn two_exchanged_rows_are_named_and_no_others() {
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "ranking", "two_exchanged_rows_are_named");
    seeds.try_each(20, |seed| {
        let mut random = Random(seed);
        let run = result(12, "Fast CPU");
        let before = rank(vec![("a.json", run.clone()), ("b.json", run.clone())]);
        let rows: Vec<&String> =
            experiment(&before, "encode").rows.iter().map(|row| &row.subject).collect();
        // Those that are closer than a third are not told apart beside all other pairs.
        let mut turned = run.clone();
        let at = (random.uniform() * (rows.len() - 1) as f64) as usize;
        let (one, other) = (rows[at].clone(), rows[at + 1].clone());
        let mut apart = run;
        for run in [&mut apart, &mut turned] {
            for after in &rows[at + 1..] {
                slow_down(run, after, "encode", 2.0, &mut random);
            }
            for after in &rows[(at + 2).min(rows.len())..] {
                slow_down(run, after, "encode", 2.0, &mut random);
            }
        }
        exchange(&mut turned, &one, &other, "encode");
        let ranking = rank(vec![("a.json", apart), ("b.json", turned)]);
        let wanted = if one < other { (one, other) } else { (other, one) };
        let encode = experiment(&ranking, "encode");
        assert_eq!(exchanged(encode), std::slice::from_ref(&wanted));
        for id in [&wanted.0, &wanted.1] {
            assert!(encode.conclusion.contains(encode.title(id)), "{}", encode.conclusion);
        }
        assert!(encode.conclusion.contains("The order of 10 of 12 codecs holds"));
        assert_eq!(exchanged(experiment(&ranking, "decode")), []);
        assert!(ranking.conclusion.contains("change places in encode (2 of 12)"));
        let limit = "1 pair changes places between results of one machine";
        assert!(ranking.limits.iter().any(|line| line.contains(limit)), "{:?}", ranking.limits);
    });
}

/// Codecs that take the same time are measured in another order each time, by chance alone.
#[test]
fn codecs_that_are_alike_do_not_change_places() {
    let mut random = Random(11);
    let tries = 60;
    let mut alarms = 0;
    for _ in 0..tries {
        let mut alike = || {
            let mut run = result(10, "Fast CPU");
            run.measurements.retain(|m| m.metric == "encode");
            for measurement in run.measurements.iter_mut().filter(|m| m.subject != "noop") {
                for process in &mut measurement.samples {
                    let offset = 0.02 * random.normal();
                    for sample in process.iter_mut() {
                        *sample = Some(1e4 * (offset + 0.03 * random.normal()).exp());
                    }
                }
            }
            run
        };
        let ranking = rank(vec![("a.json", alike()), ("b.json", alike())]);
        let one = experiment(&ranking, "encode");
        alarms += usize::from(!one.pairs.exchanged.is_empty());
        if one.pairs.same == 0 && one.pairs.exchanged.is_empty() {
            assert!(one.conclusion.starts_with("Nothing can be concluded"), "{}", one.conclusion);
        }
    }
    assert!(alarms == 0, "{alarms} of {tries}");
}

#[test]
fn one_process_tells_nothing_apart() {
    let mut short = result(4, "Fast CPU");
    short.settings.processes = 1;
    for measurement in &mut short.measurements {
        measurement.samples.truncate(1);
    }
    let mut turned = short.clone();
    exchange(&mut turned, "lcm-c", "bincode", "encode");
    let only = format!("only a has fixed, verify at {CASE}");
    for name in ["fixed", "verify"] {
        let mut measurement = short.measurements[2].clone();
        measurement.metric = name.into();
        measurement.subject = "bincode".into();
        short.measurements.push(measurement);
    }
    let ranking = rank(vec![("a.json", short), ("b.json", turned)]);
    assert!(ranking.absent.contains(&only), "{:?}", ranking.absent);
    assert_eq!(ranking.conclusion, "Nothing can be concluded of encode, decode.");
    assert!(ranking.limits.iter().any(|line| line.contains("--processes 5")));
}

/// What cannot be told from the harness has no ratio, and no rank.
#[test]
fn what_is_at_the_floor_changes_no_place() {
    let floor = |fast: &str, slow: &str| {
        let mut run = result(6, "Fast CPU");
        run.measurements.retain(|m| m.metric == "encode");
        for measurement in &mut run.measurements {
            let value = match measurement.subject.as_str() {
                id if id == fast => 2.0,
                id if id == slow => 3.0,
                _ => continue,
            };
            measurement.samples.iter_mut().flatten().for_each(|sample| *sample = Some(value));
        }
        run
    };
    let ranking =
        rank(vec![("a.json", floor("prost", "bincode")), ("b.json", floor("bincode", "prost"))]);
    let encode = experiment(&ranking, "encode");
    assert_eq!(encode.pairs.exchanged, []);
    assert!(!["prost", "bincode"].contains(&encode.reference.as_str()));
    for row in encode.rows.iter().filter(|row| ["prost", "bincode"].contains(&row.subject.as_str()))
    {
        assert_eq!(row.cells, [RankedCell::Floor, RankedCell::Floor]);
        assert_eq!(row.spread, None);
    }
    assert!(render_terminal(&ranking, None).contains("floor: less than twice"));
}

#[test]
fn counts_that_are_close_share_a_place() {
    let counted = |figures: [f64; 4]| {
        let mut run = result(4, "Fast CPU");
        run.measurements.clear();
        run.facts = codecs(&run)
            .into_iter()
            .zip(figures)
            .map(|(subject, value)| Fact {
                case: CASE.into(),
                subject,
                metric: "instructions/decode".into(),
                unit: "1".into(),
                value,
            })
            .collect();
        run.settings.rounds = 0;
        run
    };
    let mut arm = counted([1_009.0, 1_000.0, 3_000.0, 2_000.0]);
    arm.environment.system.architecture = "aarch64".into();
    let ranking =
        rank(vec![("a.json", counted([1_000.0, 1_005.0, 2_000.0, 3_000.0])), ("b.json", arm)]);
    let one = experiment(&ranking, "instructions/decode");
    assert_eq!(exchanged(one), [("bincode".to_owned(), "fastcdr".to_owned())]);
    assert_eq!((one.pairs.all, one.pairs.same, one.pairs.open), (6, 4, 1));
    assert!(one.conclusion.starts_with("The order of 2 of 4 codecs holds on both machines"));
}
