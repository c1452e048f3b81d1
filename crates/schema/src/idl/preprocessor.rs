//! The words of a text of IDL, as a preprocessor leaves them: with the files that it includes,
//! macros and branches. What depends on how a compiler is called is refused.

use std::cell::Cell;
use std::collections::HashMap;

use anyhow::{bail, ensure, Context, Result};

/// The words of a text, with those of the files that it includes, and where each is from.
#[derive(Default)]
pub(super) struct Code {
    pub(super) words: Vec<String>,
    /// The file and the line of each word.
    places: Vec<(usize, usize)>,
    /// The text itself, then the files that it includes.
    origins: Vec<String>,
    /// The words that are braces and not closed yet.
    braces: Vec<usize>,
}

impl Code {
    /// The brace within which the next word stands.
    pub(super) fn open_brace(&self) -> Option<usize> {
        self.braces.last().copied()
    }

    /// Whether a word is in the text itself, and not in a file that it includes.
    pub(super) fn is_own(&self, word: usize) -> bool {
        self.places.get(word).is_some_and(|(file, _)| *file == 0)
    }

    /// Where a word is, or the last one: FILE:LINE.
    pub(super) fn place(&self, word: usize) -> String {
        match self.places.get(word).or(self.places.last()) {
            Some((file, line)) => format!("{}:{line}", self.origins[*file]),
            None => self.origins.first().cloned().unwrap_or_default(),
        }
    }

    /// Says of the words that were added last where they are from.
    fn set_place(&mut self, file: usize, line: usize) {
        for at in self.places.len()..self.words.len() {
            match self.words[at].as_str() {
                "{" => self.braces.push(at),
                "}" => drop(self.braces.pop()),
                _ => {}
            }
            self.places.push((file, line));
        }
    }
}

/// Reads a file that another one includes, into the words so far: its name, and where it is
/// included.
pub(super) type Include<'i> =
    &'i mut dyn FnMut(&mut Preprocessor, &mut Code, &str, &str) -> Result<()>;

/// What is defined so far, in all files.
#[derive(Default)]
pub(super) struct Preprocessor {
    macros: HashMap<String, Macro>,
    /// How many words were macros, or in files that had been read before.
    expanded: Cell<usize>,
}

enum Macro {
    Words(Vec<String>),
    WithParameters,
    /// By `#undef`.
    Undefined,
}

/// A branch that has not ended.
struct Branch {
    is_active: bool,
    /// No later branch of the same condition is taken, as one was, or it is within one that is
    /// not.
    is_decided: bool,
}

/// The most words that may be macros, or in files that had been read before: a few lines can stand
/// for more than fits into memory.
const MOST_EXPANDED: usize = 1_000_000;
/// The most macros of which each stands for the next one.
const MOST_NESTED: usize = 200;

impl Preprocessor {
    /// Adds the words of a text to `code`. `origin` says in errors where it is from.
    ///
    /// # Errors
    /// When a branch depends on what the text does not say.
    pub(super) fn read(
        &mut self,
        text: &str,
        origin: &str,
        code: &mut Code,
        include: Include,
    ) -> Result<()> {
        let text = remove_comments(text).with_context(|| origin.to_owned())?;
        let file = code.origins.len();
        code.origins.push(origin.to_owned());
        let mut branches: Vec<Branch> = Vec::new();
        let mut lines = text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let place = || format!("{origin}:{}", number + 1);
            let is_active = branches.last().is_none_or(|branch| branch.is_active);
            let Some(directive) = line.trim().strip_prefix('#') else {
                if is_active && !is_between(line.trim()) {
                    self.add_line(line, &mut code.words).with_context(place)?;
                    code.set_place(file, number + 1);
                }
                continue;
            };
            let directive = join_lines(directive, &mut lines);
            let (word, rest) = split_word(directive.trim());
            let undecided = || format!("{}: #{} {BRANCH}", place(), directive.trim());
            match word {
                "if" | "ifdef" | "ifndef" => {
                    let following = lines.clone().map(|(_, line)| line.trim());
                    let is_taken =
                        is_active && self.decide(word, rest, following).with_context(undecided)?;
                    branches
                        .push(Branch { is_active: is_taken, is_decided: is_taken || !is_active });
                }
                "elif" | "else" => {
                    let branch = branches
                        .last_mut()
                        .with_context(|| format!("{}: #{word} without #if", place()))?;
                    branch.is_active = !branch.is_decided
                        && (word == "else"
                            || self
                                .decide("if", rest, std::iter::empty())
                                .with_context(undecided)?);
                    branch.is_decided |= branch.is_active;
                }
                "endif" => {
                    branches.pop().with_context(|| format!("{}: #endif without #if", place()))?;
                }
                _ if !is_active => {}
                "define" => self.define(rest).with_context(place)?,
                "undef" => {
                    self.macros.insert(rest.to_owned(), Macro::Undefined);
                }
                "include" => {
                    let name = rest.trim_matches(['"', '<', '>', ' ']);
                    if name.ends_with(".idl") {
                        include(self, code, name, &place())?;
                    }
                }
                "error" => bail!("{}: #error {rest}", place()),
                _ => {}
            }
        }
        ensure!(branches.is_empty(), "{origin}: a branch of the preprocessor has no #endif");
        Ok(())
    }

    /// Whether a branch is taken, if the text itself says so.
    fn decide<'l>(
        &self,
        word: &str,
        condition: &str,
        following: impl Iterator<Item = &'l str>,
    ) -> Option<bool> {
        let condition = tokenize(condition).ok()?;
        let condition: Vec<&str> = condition.iter().map(String::as_str).collect();
        let (name, is_wanted) = match (word, &condition[..]) {
            ("if", ["0"]) => return Some(false),
            ("if", ["1"]) => return Some(true),
            ("ifdef", [name, ..]) => (*name, true),
            ("ifndef", [name, ..]) => (*name, false),
            ("if", ["defined", name] | ["defined", "(", name, ")"]) => (*name, true),
            ("if", ["!", "defined", name] | ["!", "defined", "(", name, ")"]) => (*name, false),
            _ => return None,
        };
        match self.macros.get(name) {
            Some(Macro::Undefined) => Some(!is_wanted),
            Some(_) => Some(is_wanted),
            // A guard around the file.
            None if !is_wanted => {
                let mut directives = following.filter_map(|line| line.strip_prefix('#'));
                let (word, rest) = split_word(directives.next()?.trim());
                (word == "define" && split_word(rest).0 == name).then_some(true)
            }
            None => None,
        }
    }

    /// Counts words that stand in the files once and are read more often.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn count_expanded(&self, words: usize) -> Result<()> {
        self.expanded.set(self.expanded.get() + words);
        ensure!(
            self.expanded.get() <= MOST_EXPANDED,
            "macros, and files that are included again, stand for more than {MOST_EXPANDED} words"
        );
        Ok(())
    }

    fn define(&mut self, rest: &str) -> Result<()> {
        let (name, words) = split_word(rest);
        ensure!(!name.is_empty(), "#define has no name");
        let body = match rest[name.len()..].starts_with('(') {
            true => Macro::WithParameters,
            false => Macro::Words(tokenize(words)?),
        };
        self.macros.insert(name.to_owned(), body);
        Ok(())
    }

    /// Adds the words of a line, with what macros stand for.
    fn add_line(&self, line: &str, added: &mut Vec<String>) -> Result<()> {
        tokenize(line)?.iter().try_for_each(|word| self.expand(word, &mut Vec::new(), added))
    }

    /// Adds a word, or the words that it stands for. Within those, the names of `open` macros are
    /// plain words.
    fn expand<'m>(
        &'m self,
        word: &'m str,
        open: &mut Vec<&'m str>,
        added: &mut Vec<String>,
    ) -> Result<()> {
        match self.macros.get(word) {
            Some(Macro::Words(words)) if !open.contains(&word) => {
                self.count_expanded(1)?;
                ensure!(open.len() < MOST_NESTED, "macros are nested too deeply");
                open.push(word);
                for inner in words {
                    self.expand(inner, open, added)?;
                }
                open.pop();
            }
            Some(Macro::WithParameters) => {
                bail!(
                    "{word} is a macro with parameters, which wiregauge does not read; give what \
                     'cpp -P' makes of the file"
                );
            }
            _ => added.push(word.to_owned()),
        }
        Ok(())
    }
}

/// Why a line of the preprocessor is refused.
const BRANCH: &str =
    "begins a branch, and whether it is taken, the file does not say; give what 'cpp -P' makes of \
     the file";

/// Whether a line stands between the files of a recording.
fn is_between(line: &str) -> bool {
    let is_ruler = line.len() >= 80 && line.bytes().all(|byte| byte == b'=');
    is_ruler || line.starts_with("IDL:")
}

/// A directive with the lines that it goes on in.
fn join_lines<'l>(first: &str, lines: &mut impl Iterator<Item = (usize, &'l str)>) -> String {
    let mut whole = first.to_owned();
    while let Some(begin) = whole.strip_suffix('\\') {
        let next = lines.next().map_or("", |(_, line)| line.trim_end());
        whole = format!("{begin} {next}");
    }
    whole
}

fn split_word(text: &str) -> (&str, &str) {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let end = text.find(|letter| !is_letter(letter)).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// A text with a blank for each comment, and its lines where they were.
fn remove_comments(text: &str) -> Result<String> {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let (before, from) = rest.split_at(at);
        code += before;
        let length = if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if let Some(inside) = from.strip_prefix("/*") {
            inside.find("*/").context("a comment has no end")? + 4
        } else {
            let length = if from.starts_with('/') { 1 } else { text_length(from) };
            code += &from[..length];
            rest = &from[length..];
            continue;
        };
        code.push(' ');
        code.extend(from[..length].matches('\n'));
        rest = &from[length..];
    }
    Ok(code + rest)
}

/// The length of a text with its quotes, or of the rest of its line where it has no end.
fn text_length(text: &str) -> usize {
    let quote = text.chars().next().unwrap_or_default();
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\n' => return at,
            _ if letter == quote && !is_escaped => return at + 1,
            _ => is_escaped = letter == '\\' && !is_escaped,
        }
    }
    text.len()
}

/// The words of a line.
fn tokenize(line: &str) -> Result<Vec<String>> {
    let (mut words, mut rest) = (Vec::new(), line.trim());
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' || first == '\'' {
            let length = text_length(rest);
            ensure!(length > 1 && rest[..length].ends_with(first), "a text has no end");
            length
        } else if rest.starts_with("::") {
            2
        } else {
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
            match rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()) {
                0 => first.len_utf8(),
                length => length,
            }
        };
        let (word, behind) = rest.split_at(length);
        if word != "\\" || !behind.is_empty() {
            words.push(word.to_owned());
        }
        rest = behind.trim_start();
    }
    Ok(words)
}
