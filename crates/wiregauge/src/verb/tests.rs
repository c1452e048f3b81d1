//! What holds of the flags of all verbs, and of all pages of help.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use clap::{Arg, Command, CommandFactory, Parser};

use super::Arguments;

/// The table of flags is here.
const GUIDE: &str = include_str!("../../../../CONTRIBUTING.md");
/// How wide a page of help may be.
const WIDTH: usize = 80;

/// All verbs that are shown, with their words, such as `trace cat`.
fn verbs() -> Vec<(String, Command)> {
    fn collect(command: &Command, words: &str, all: &mut Vec<(String, Command)>) {
        all.push((words.to_owned(), command.clone()));
        for verb in command.get_subcommands() {
            if !verb.is_hide_set() && verb.get_name() != "help" {
                collect(verb, format!("{words} {}", verb.get_name()).trim(), all);
            }
        }
    }
    let mut command = Arguments::command().term_width(WIDTH);
    command.build();
    let mut all = Vec::new();
    collect(&command, "", &mut all);
    all
}

/// The flags that a verb shows, but for --help and --version.
fn flags(verb: &Command) -> impl Iterator<Item = &Arg> {
    let arguments = verb.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set());
    arguments.filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()))
}

/// What a flag takes, one or several of it.
fn value(flag: &Arg) -> String {
    if !flag.get_action().takes_values() {
        return String::new();
    }
    let names = flag.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(" ").trim_end_matches(",…").to_owned()
}

/// A row of the table: what a flag takes, and the verbs that have it, by their first words;
/// `all` where the program itself has it.
#[derive(Debug, Default, PartialEq)]
struct Row {
    short: String,
    value: String,
    verbs: BTreeSet<String>,
}

/// The table by clap's definitions. What takes two kinds of values is told.
fn defined() -> (BTreeMap<String, Row>, Vec<String>) {
    let (mut rows, mut faults) = (BTreeMap::<String, Row>::new(), Vec::new());
    for (words, verb) in verbs() {
        for flag in flags(&verb) {
            let Some(name) = flag.get_long() else {
                faults.push(format!("{words}: {} has no long name", flag.get_id()));
                continue;
            };
            let short = flag.get_short().map(|short| short.to_string()).unwrap_or_default();
            let first = words.split(' ').next().unwrap_or_default().to_owned();
            let new = Row { short, value: value(flag), verbs: BTreeSet::from([first]) };
            match rows.get_mut(name) {
                None => drop(rows.insert(name.to_owned(), new)),
                Some(row) if row.value == new.value && row.short == new.short => {
                    row.verbs.extend(new.verbs);
                }
                Some(row) => faults.push(format!("{words}: --{name} is {new:?} and {row:?}")),
            }
        }
    }
    for row in rows.values_mut().filter(|row| row.verbs.contains("")) {
        row.verbs = BTreeSet::from(["all".to_owned()]);
    }
    (rows, faults)
}

/// The table as it is written: flag, value, meaning, verbs.
fn written() -> BTreeMap<String, Row> {
    let rows = GUIDE.lines().skip_while(|line| !line.starts_with("| flag |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let line = line.replace("\\|", "\u{0}");
        let cells: Vec<String> =
            line.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect();
        let [_, flag, value, meaning, verbs, _] = &cells[..] else { panic!("{line}") };
        assert!(!meaning.is_empty(), "{line}: what does it mean?");
        let (flag, short) = flag.split_once(", ").unwrap_or((flag.as_str(), ""));
        let verbs = verbs.split(", ").map(str::to_owned).collect();
        let word = |text: &str| text.trim_matches('`').to_owned();
        let row = Row { short: word(short).replace('-', ""), value: word(value), verbs };
        (word(flag).trim_start_matches('-').to_owned(), row)
    };
    rows.map(row).collect()
}

#[test]
fn a_flag_means_one_thing_and_is_in_the_table() {
    let (defined, faults) = defined();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let written = written();
    let mut wrong = Vec::new();
    for (name, row) in &defined {
        if written.get(name) != Some(row) {
            let verbs = row.verbs.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let value = row.value.replace('|', "\\|");
            let short = match row.short.as_str() {
                "" => String::new(),
                short => format!(", `-{short}`"),
            };
            let value = match value.as_str() {
                "" => String::new(),
                value => format!("`{value}`"),
            };
            wrong.push(format!("| `--{name}`{short} | {value} | … | {verbs} |"));
        }
    }
    assert!(wrong.is_empty(), "CONTRIBUTING.md's table lacks:\n{}", wrong.join("\n"));
    let gone: Vec<&String> = written.keys().filter(|name| !defined.contains_key(*name)).collect();
    assert!(gone.is_empty(), "CONTRIBUTING.md's table has what no verb has: {gone:?}");
}

#[test]
fn a_short_flag_means_one_long_one() {
    let mut long = BTreeMap::new();
    for (words, verb) in verbs() {
        for flag in flags(&verb) {
            let Some(short) = flag.get_short() else { continue };
            let known = long.entry(short).or_insert(flag.get_long().map(str::to_owned));
            assert_eq!(known.as_deref(), flag.get_long(), "{words} -{short}");
        }
    }
}

#[test]
fn what_is_written_goes_by_output() {
    for (words, verb) in verbs() {
        let names = verb.get_positionals().map(|argument| argument.get_id().as_str());
        let outputs: Vec<&str> = names.filter(|name| name.contains("output")).collect();
        assert!(outputs.is_empty(), "{words} {outputs:?}: inputs alone have no flag");
    }
}

#[test]
fn help_is_eighty_columns_wide_and_examples_are_not_wrapped() {
    let mut faults = Vec::new();
    for (words, mut verb) in verbs() {
        let [help, short] = [verb.render_long_help(), verb.render_help()].map(|h| h.to_string());
        let is_wide = |line: &&str| line.chars().count() > WIDTH;
        for line in help.lines().chain(short.lines()).filter(is_wide) {
            faults.push(format!("{words} --help: too wide: {line}"));
        }
        let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in after.lines().filter(|line| !help.lines().any(|shown| shown == *line)) {
            faults.push(format!("{words} --help: wrapped: {line}"));
        }
        let examples = after.split_once("Examples:\n").map_or("", |(_, examples)| examples);
        for line in examples.lines().filter(|line| !line.starts_with("  ")) {
            faults.push(format!("{words} --help: behind the examples: {line}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The words of a command, as a shell takes them, up to a pipe or a comment.
fn split_words(line: &str) -> Vec<String> {
    let (mut words, mut quote, mut blanks) = (vec![String::new()], None, 0);
    for letter in line.chars() {
        let last = words.last_mut().expect("one word");
        match (letter, quote) {
            ('\'', None) => quote = Some('\''),
            ('\'', Some(_)) => quote = None,
            (' ', None) => {
                blanks += 1;
                if !last.is_empty() {
                    words.push(String::new());
                }
            }
            _ => last.push(letter),
        }
        if letter != ' ' {
            // What stands apart is a comment.
            if blanks > 1 {
                words.pop();
                break;
            }
            blanks = 0;
        }
    }
    words.retain(|word| !word.is_empty());
    let end = words.iter().position(|word| ["|", ">", "#"].contains(&word.as_str()));
    words.truncate(end.unwrap_or(words.len()));
    words
}

/// The commands in a text, each with its words: indented, or in a block of code.
fn commands(text: &str, indent: &str) -> Vec<Vec<String>> {
    let (mut commands, mut is_code) = (Vec::new(), false);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        is_code ^= line.trim_start().starts_with("```");
        let command = line.trim().trim_start_matches("$ ").trim_start_matches("sudo ");
        let command = command.replace("cargo run --locked -- ", "wiregauge ");
        let mut command = command.replace("target/release/wiregauge ", "wiregauge ");
        if command.starts_with("wiregauge ") && (is_code || line.starts_with(indent)) {
            while let Some(part) = command.strip_suffix('\\') {
                command = part.to_owned() + lines.next().unwrap_or_default().trim();
            }
            commands.push(split_words(&command));
        }
    }
    commands
}

#[test]
fn examples_are_understood() {
    let mut texts: Vec<(String, String, &str)> = verbs()
        .into_iter()
        .map(|(words, verb)| {
            let after = verb.get_after_help().map(ToString::to_string);
            (format!("{words} --help"), after.unwrap_or_default(), "  ")
        })
        .collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).expect("there are docs").flatten();
    let docs =
        docs.map(|entry| entry.path()).filter(|path| path.extension() == Some("md".as_ref()));
    for path in docs.chain(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name))) {
        let text = fs::read_to_string(&path).expect("readable");
        texts.push((path.display().to_string(), text, "    "));
    }
    let (mut faults, mut count) = (Vec::new(), 0);
    for (place, text, indent) in &texts {
        for command in commands(text, indent) {
            // What is added by the guide is not there, and a shell's `<(…)` is a file.
            if command.iter().any(|word| word.starts_with("<(")) {
                continue;
            }
            if command.iter().any(|word| ["imu", "unix", "…"].contains(&word.as_str())) {
                continue;
            }
            count += 1;
            if let Err(error) = Arguments::try_parse_from(&command) {
                let error = error.to_string();
                let error = error.lines().next().unwrap_or_default();
                faults.push(format!("{place}: {}: {error}", command.join(" ")));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 150, "{count} commands");
}

#[test]
fn clap_finds_no_fault() {
    Arguments::command().debug_assert();
}
