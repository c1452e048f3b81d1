//! The page in a real browser: what it shows, that it sorts, and that it asks
//! for nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wiregauge_report::model::number_format::format_quantity;
use wiregauge_report::model::ranking::named_result::NamedResult;
use wiregauge_report::model::ranking::Ranking;
use wiregauge_report::page;
use wiregauge_result::run::Run;
use wiregauge_result::stats::Summary;
use wiregauge_testkit::prerequisites;

/// The browser; none where it is left out.
#[track_caller]
fn browser() -> Option<PathBuf> {
    prerequisites::BROWSER.is_met().then(|| prerequisites::browser().expect("it is there"))
}

/// The page's elements after its scripts have run.
fn dump(browser: &Path, page: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    fs::write(&file, page).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A page with a script at its end that writes lines into `<pre id="probe">`.
fn probed(run: &Run, script: &str) -> String {
    with_probe(&page::render(std::slice::from_ref(run)), script)
}

fn with_probe(page: &str, script: &str) -> String {
    let probe = format!(
        "<pre id=\"probe\"></pre><script>{{\
         const say = (line) => document.getElementById('probe').append(line + '\\n');\
         {script} }}</script></body>"
    );
    page.replace("</body>", &probe)
}

fn probe(browser: &Path, page: &str) -> Vec<String> {
    let dom = dump(browser, page);
    let text = dom.split("<pre id=\"probe\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let text = text.expect("the page has no probe");
    text.lines().map(|line| line.replace("&amp;", "&").replace("&lt;", "<")).collect()
}

#[test]
fn the_table_shows_what_the_run_says() {
    let Some(browser) = browser() else { return };
    let run = crate::common::run(10);
    let script = "const table = document.querySelector('#r1-3 table.figures');\
        const heads = [...table.tHead.rows[0].cells];\
        for (const row of table.querySelectorAll('tbody tr'))\
          [...row.cells].forEach((cell, i) => { if (heads[i].dataset.metric && cell.dataset.v)\
            say([row.dataset.subject, heads[i].dataset.metric, cell.dataset.v,\
              cell.querySelector('.value').textContent].join('|')); });";
    let shown = probe(&browser, &probed(&run, script));
    let case = "points=10000";
    let mut wanted = 0;
    for measurement in run.measurements.iter().filter(|m| m.case == case) {
        if measurement.metric.contains('/') {
            continue;
        }
        let median = Summary::from_measurement(measurement).unwrap().median;
        let text = format_quantity(median, "ns");
        let line = format!("{}|{}|{median}|{text}", measurement.subject, measurement.metric);
        assert!(shown.contains(&line), "{line} is not in {shown:#?}");
        wanted += 1;
    }
    for fact in run.facts.iter().filter(|f| f.case == case && f.metric == "size") {
        let text = format_quantity(fact.value, "B");
        let line = format!("{}|size|{}|{text}", fact.subject, fact.value);
        assert!(shown.contains(&line), "{line} is not in {shown:#?}");
        wanted += 1;
    }
    assert_eq!(shown.len(), wanted);
}

#[test]
fn heads_sort_the_table_both_ways() {
    let Some(browser) = browser() else { return };
    let script = "const table = document.querySelector('#r1-3 table.figures');\
        const head = table.querySelector('th[data-metric=size]');\
        const column = head.cellIndex;\
        const list = () => say([...table.tBodies[0].rows].map((r) => r.cells[column].dataset.v));\
        head.querySelector('button').click(); say(head.getAttribute('aria-sort')); list();\
        head.querySelector('button').click(); say(head.getAttribute('aria-sort')); list();\
        table.querySelector('th button').click();\
        say([...table.tBodies[0].rows].map((r) => r.cells[0].dataset.v));\
        say([...table.tBodies[1].rows].length);";
    let lines = probe(&browser, &probed(&crate::common::run(10), script));
    let numbers = |line: &str| -> Vec<f64> {
        line.split(',').map(|number| number.parse().unwrap()).collect()
    };
    assert_eq!((lines[0].as_str(), lines[2].as_str()), ("ascending", "descending"));
    let (up, down) = (numbers(&lines[1]), numbers(&lines[3]));
    assert_eq!(up.len(), 10);
    assert!(up.is_sorted() && down.iter().rev().is_sorted(), "{lines:#?}");
    let names: Vec<String> = lines[4].split(',').map(str::to_lowercase).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(lines[5], "2", "bounds stay apart");
}

#[test]
fn the_page_is_whole_and_asks_for_nothing() {
    let Some(browser) = browser() else { return };
    let runs = [crate::common::run(4), crate::common::run(3)];
    let page = page::render(&runs);
    for reference in [" src=", "http://", "https://", "@import", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(reference), "the page contains {reference}");
    }
    for link in page.split("href=\"").skip(1) {
        assert!(link.starts_with('#') || link.starts_with("data:,\""), "{}", &link[..40]);
    }
    let script = "addEventListener('error', (e) => say('error ' + e.message), true);\
        say('requests ' + performance.getEntriesByType('resource')\
          .filter((r) => !r.name.startsWith('data:')).length);\
        say('broken ' + [...document.querySelectorAll('a')]\
          .filter((a) => !document.getElementById(a.hash.slice(1))).length);\
        say('pictures ' + (document.querySelectorAll('svg.chart').length > 20));\
        say('injected ' + document.querySelectorAll('article b b, td b format').length);\
        say('nan ' + /NaN|undefined|Infinity/.test(document.body.innerHTML.split('<script>')[0]));";
    let lines = probe(&browser, &probed(&runs[0], script));
    assert_eq!(lines, ["requests 0", "broken 0", "pictures true", "injected 0", "nan false"]);
}

/// Whether links lead somewhere, and whether each text is within its picture and on no other.
const LEGIBLE: &str = "say('broken ' + [...document.querySelectorAll('a')]\
          .filter((a) => !document.getElementById(a.hash.slice(1))).length);\
        say('nan ' + /NaN|undefined|Infinity/.test(document.body.innerHTML.split('<script>')[0]));\
        const over = [];\
        for (const svg of document.querySelectorAll('svg.chart')) {\
          const edge = svg.getBoundingClientRect();\
          const all = [...svg.querySelectorAll('text')].map((text) =>\
            [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);\
          for (const [text, box] of all)\
            if (box.left < edge.left - 1 || box.right > edge.right + 1) over.push(text + ' is cut');\
          all.forEach(([a, p], i) => all.slice(i + 1).forEach(([b, q]) => {\
            const [x, y] = [Math.min(p.right, q.right) - Math.max(p.left, q.left),\
              Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top)];\
            if (x > 1 && y > 4) over.push(a + ' on ' + b); }));\
        }\
        say('over ' + over.join(', '));\
        say('wide ' + (document.documentElement.scrollWidth > innerWidth));\
        say('pictures ' + document.querySelectorAll('svg.chart').length);";

#[test]
fn pages_of_the_bus_are_whole_and_legible() {
    let Some(browser) = browser() else { return };
    // Two distributions, windows and a box of two cases, of which one has steps
    // too; those of ten cases with one more box, of which five have steps, and
    // five sweeps; three for each search; a cycle in phases with boxes of all.
    for (run, pictures) in [
        (crate::common::bus::bus(), 4 + 6),
        (crate::common::bus::fan_out(), 5 * 5 + 5 * 7 + 5),
        (crate::common::bus::headroom(), 3 + 3),
        (crate::common::bus::codecs(), 1 + 1 + 5),
    ] {
        let lines = probe(&browser, &probed(&run, LEGIBLE));
        let pictures = format!("pictures {pictures}");
        let wanted = ["broken 0", "nan false", "over ", "wide false", &pictures];
        assert_eq!(lines, wanted, "{}", run.title);
    }
}

#[test]
fn a_page_of_several_results_is_whole_and_legible() {
    let Some(browser) = browser() else { return };
    let results = several_results();
    let ranking = Ranking::from_results(&results).unwrap();
    let page = page::render_ranking(&ranking, &results);
    let lines = probe(&browser, &with_probe(&page, LEGIBLE));
    assert_eq!(lines[..4], ["broken 0", "nan false", "over ", "wide false"]);
    let script = "const table = document.querySelector('#ranking-0 table');\
        const column = 4;\
        table.tHead.rows[0].cells[column].querySelector('button').click();\
        say([...table.tBodies[0].rows].map((row) => row.cells[column].dataset.v));\
        say(document.querySelectorAll('#ranking-0 svg.chart .mark').length);";
    let lines = probe(&browser, &with_probe(&page, script));
    let spreads: Vec<f64> = lines[0].split(',').map(|v| v.parse().unwrap()).collect();
    assert!(spreads.len() == 8 && spreads.is_sorted(), "{spreads:?}");
    assert_eq!(lines[1], "24");
}

/// Three results of eight codecs, each other codec of which is slower each time.
fn several_results() -> Vec<NamedResult> {
    let names = ["laptop.json", "a-server-with-a-long-name.json", "board.json"];
    let results = (1u8..).zip(names).map(|(factor, name)| {
        let mut run = crate::common::run(8);
        let odd: Vec<String> = run.subjects.iter().step_by(2).map(|s| s.id.clone()).collect();
        for measurement in run.measurements.iter_mut().filter(|m| odd.contains(&m.subject)) {
            for sample in measurement.samples.iter_mut().flatten().flatten() {
                *sample *= f64::from(factor);
            }
        }
        (PathBuf::from(name), run)
    });
    NamedResult::from_files(results.collect())
}

#[test]
fn long_names_are_not_cut() {
    let page = page::render(&[crate::common::bus::codecs()]);
    let name = ">Cyclone DDS, FlatBuffers C++ structs</text>";
    assert_eq!(page.matches(name).count(), 7, "in the bars and in each box plot");
}

#[test]
fn names_cannot_break_out() {
    let mut run = crate::common::run(2);
    let evil = "</td></svg><script>say('evil')</script>\"'<img src=x onerror=1>";
    run.title = evil.into();
    run.subjects[2].title = evil.into();
    run.subjects[2].library = evil.into();
    run.cases[0].source = evil.into();
    run.command.push(evil.into());
    let page = page::render(&[run]);
    assert!(!page.contains("<script>say") && !page.contains("<img"));
    assert!(page.contains("&lt;script&gt;say(&#39;evil&#39;)"));
}

/// Writes pages to look at: `WIREGAUGE_PAGES=folder cargo test -p
/// wiregauge-report --test fast browser -- --ignored`.
#[test]
#[ignore = "writes pages to look at into $WIREGAUGE_PAGES"]
fn pages_to_look_at() {
    let folder = PathBuf::from(std::env::var_os("WIREGAUGE_PAGES").expect("WIREGAUGE_PAGES"));
    let write =
        |name: &str, runs: &[Run]| fs::write(folder.join(name), page::render(runs)).unwrap();
    write("small.html", &[crate::common::run(10)]);
    write("large.html", &[crate::common::run(24)]);
    write("several.html", &[crate::common::run(4), crate::common::run(5)]);
    write("bus.html", &[crate::common::bus::bus()]);
    write("fan_out.html", &[crate::common::bus::fan_out()]);
    write("headroom.html", &[crate::common::bus::headroom()]);
    write("bus_codecs.html", &[crate::common::bus::codecs()]);
    let results = several_results();
    let ranking = Ranking::from_results(&results).unwrap();
    fs::write(folder.join("ranking.html"), page::render_ranking(&ranking, &results)).unwrap();
}
