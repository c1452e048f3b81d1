//! What the parser of `.proto` texts does not know, said in words that it does.
//! Lines keep their numbers, so that its errors name the right ones.
//!
//! The options of extension ranges go: they say who may extend a message. So do
//! options of `inf` or `nan`, which the library takes for the names of values of an
//! enum alone: what is no default counts nowhere. Of an edition: its name becomes a
//! `syntax`, reserved names their quoted form, and `export`, `local` and
//! `import option` go, as they say who may see a name.

use std::ops::Range;

use anyhow::{bail, ensure, Context, Result};

/// Deepest nesting of braces and brackets. The parser calls itself for each.
const DEEPEST: usize = 100;

/// A text that the parser reads.
pub struct PreparedText {
    /// The text.
    pub text: String,
    /// The edition that it is of, if it has one: `2023`.
    pub edition: Option<String>,
}

/// Makes a text readable; `name` is for errors. Fails where it nests too deeply.
pub fn prepare_text(name: &str, text: &str) -> Result<PreparedText> {
    let tokens = tokens(text);
    check_depth(name, text, &tokens)?;
    let word = |at: usize| tokens.get(at).map_or("", |token| &text[token.clone()]);
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let blanked = |range: Range<usize>| (range.clone(), blank(&text[range]));
    let mut edition = None;
    if word(0) == "edition" && word(1) == "=" {
        edition = Some(word(2).trim_matches(['"', '\'']).to_owned());
        changes.push((tokens[0].clone(), "syntax".into()));
        if let Some(token) = tokens.get(2) {
            changes.push((token.clone(), "\"proto3\"".into()));
        }
    }
    for at in 0..tokens.len() {
        let starts = at == 0 || matches!(word(at - 1), ";" | "{" | "}");
        let before = if at == 0 { "" } else { word(at - 1) };
        match word(at) {
            "[" => changes.extend(numberless(&tokens, at, word).into_iter().map(blanked)),
            "option" if starts => {
                let end = (at..tokens.len()).find(|at| matches!(word(*at), ";" | "{" | "}"));
                if let Some(end) = end.filter(|end| is_numberless(at + 1..*end, word)) {
                    changes.push(blanked(tokens[at].start..tokens[end].end));
                }
            }
            "extensions" if starts && word(at + 1).starts_with(|c: char| c.is_ascii_digit()) => {
                let first =
                    (at..tokens.len()).find(|at| matches!(word(*at), "[" | ";" | "{" | "}"));
                let range = first.filter(|first| word(*first) == "[");
                if let Some((first, last)) = range.and_then(|first| brackets(&tokens, first, word))
                {
                    changes.push(blanked(tokens[first].start..tokens[last].end));
                }
            }
            "reserved" if starts && edition.is_some() => {
                for token in tokens[at + 1..].iter().take_while(|t| &text[(*t).clone()] != ";") {
                    let name = &text[token.clone()];
                    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                        && !word(at + 1).starts_with(|c: char| c.is_ascii_digit() || c == '-')
                    {
                        changes.push((token.clone(), format!("\"{name}\"")));
                    }
                }
            }
            // The parser takes a default for proto2's alone.
            "default"
                if edition.is_some() && matches!(before, "[" | ",") && word(at + 1) == "=" =>
            {
                changes.push((tokens[at].clone(), "features.default".into()));
                // Of what an option is it takes no word below zero.
                if word(at + 2) == "-" && matches!(word(at + 3), "inf" | "nan") {
                    let range = tokens[at + 2].start..tokens[at + 3].end;
                    changes.push((
                        range,
                        if word(at + 3) == "inf" { "\"-inf\"" } else { "nan" }.into(),
                    ));
                }
            }
            "export" | "local"
                if edition.is_some() && starts && matches!(word(at + 1), "message" | "enum") =>
            {
                changes.push((tokens[at].clone(), String::new()));
            }
            "import" if edition.is_some() && starts && word(at + 1) == "option" => {
                let end = (at..tokens.len()).find(|at| word(*at) == ";").unwrap_or(at + 2);
                let range = tokens[at].start..tokens.get(end).map_or(text.len(), |t| t.start);
                changes.push(blanked(range));
            }
            _ => {}
        }
    }
    Ok(PreparedText { text: apply(text, changes), edition })
}

fn apply(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let mut changed = String::with_capacity(text.len());
    let mut at = 0;
    for (range, with) in changes {
        // What goes as a whole has nothing in it that would change.
        if range.start >= at {
            changed += &text[at..range.start];
            changed += &with;
            at = range.end;
        }
    }
    changed + &text[at..]
}

/// A text's lines, empty.
fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect()
}

/// The places of a bracket and of the one that closes it.
fn brackets<'a>(
    tokens: &[Range<usize>],
    first: usize,
    word: impl Fn(usize) -> &'a str,
) -> Option<(usize, usize)> {
    let mut depth = 0usize;
    for at in first..tokens.len() {
        match word(at) {
            "[" => depth += 1,
            "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((first, at));
        }
    }
    None
}

/// Whether what these tokens say is an option of `inf` or `nan`, and no default of a field.
fn is_numberless<'a>(tokens: Range<usize>, word: impl Fn(usize) -> &'a str) -> bool {
    let Some(equals) = tokens.clone().find(|at| word(*at) == "=") else { return false };
    let value: Vec<&str> = (equals + 1..tokens.end).map(&word).collect();
    let is_default = equals == tokens.start + 1 && word(tokens.start) == "default";
    !is_default && matches!(value.as_slice(), ["inf" | "nan"] | ["-", "inf" | "nan"])
}

/// What goes of the options in brackets, with its commas: those of `inf` or `nan`.
fn numberless<'a>(
    tokens: &[Range<usize>],
    first: usize,
    word: impl Fn(usize) -> &'a str + Copy,
) -> Vec<Range<usize>> {
    let Some((first, last)) = brackets(tokens, first, word) else { return Vec::new() };
    let mut entries = Vec::new();
    let (mut start, mut depth) = (first + 1, 0usize);
    for at in first + 1..last {
        match word(at) {
            "[" | "{" => depth += 1,
            "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                entries.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    entries.push(start..last);
    let goes = |entry: &Range<usize>| is_numberless(entry.clone(), word);
    let Some(kept) = entries.iter().position(|entry| !goes(entry)) else {
        let all = tokens[first].start..tokens[last].end;
        return vec![all];
    };
    let places = entries.iter().enumerate().filter(|(_, entry)| goes(entry));
    // Behind one that stays the comma before it goes, else the one behind it.
    let ranges = places.map(|(place, entry)| match place < kept {
        true => tokens[entry.start].start..tokens[entry.end].end,
        false => tokens[entry.start - 1].start..tokens[entry.end - 1].end,
    });
    ranges.collect()
}

fn check_depth(name: &str, text: &str, tokens: &[Range<usize>]) -> Result<()> {
    let mut depth = 0usize;
    for token in tokens {
        match &text[token.clone()] {
            "{" | "[" | "<" => depth += 1,
            "}" | "]" | ">" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            let line = text[..token.start].matches('\n').count() + 1;
            bail!("{name}:{line}: nested more than {DEEPEST} deep; define the messages apart");
        }
    }
    Ok(())
}

/// Words, texts in quotes and single signs; no comments.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = text[at..].find('\n').map_or(bytes.len(), |end| at + end);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = text[at + 2..].find("*/").map_or(bytes.len(), |end| at + end + 4);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                // An escape may have led into a letter of several bytes.
                while !text.is_char_boundary(at) {
                    at += 1;
                }
            }
            byte if is_word(byte) => {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            _ => {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
        tokens.push(start..at);
    }
    tokens
}

/// The number of an edition that is read. Fails on any other.
pub fn edition_number(name: &str, edition: &str) -> Result<i32> {
    ensure!(!edition.is_empty(), "{name}: the edition has no name");
    super::edition::number(edition)
        .with_context(|| format!("{name} has edition {edition}; use 2023 or 2024"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_the_parser_does_not_know_changes() {
        let text = "syntax = \"proto2\";\nmessage A {\n  extensions 4 to max [ // x\n    \
                    declaration = { reserved: [1] }];\n  optional int32 extensions = 1; }";
        let read = prepare_text("a.proto", text).unwrap();
        assert_eq!(read.edition, None);
        assert_eq!(read.text.lines().count(), text.lines().count());
        assert!(!read.text.contains("declaration"), "{}", read.text);
        assert!(read.text.contains("optional int32 extensions = 1; }"), "{}", read.text);
        let text = "syntax = \"proto3\"; message A { reserved a; int32 export = 1; }";
        assert_eq!(prepare_text("a.proto", text).unwrap().text, text);
    }

    #[test]
    fn an_edition_becomes_a_syntax() {
        let text = "// é\nedition = '2024';\nimport option \"x.proto\";\nexport message A {\n  \
                    reserved a, b; reserved 4 to max; int32 local = 1 [default = 5]; }";
        let read = prepare_text("a.proto", text).unwrap();
        assert_eq!(read.edition.as_deref(), Some("2024"));
        let wanted = "// é\nsyntax = \"proto3\";\n                       ;\n message A {\n  \
                      reserved \"a\", \"b\"; reserved 4 to max; int32 local = 1 \
                      [features.default = 5]; }";
        assert_eq!(read.text, wanted);
        assert!(edition_number("a.proto", "2042").is_err());
        assert_eq!(edition_number("a.proto", "2023").unwrap(), 1000);
    }

    #[test]
    fn depth_is_bounded() {
        let text = format!("{}{}", "message A {\n".repeat(10_000), "}".repeat(10_000));
        let error = prepare_text("a.proto", &text).err().unwrap().to_string();
        assert!(error.starts_with("a.proto:101: nested more than 100 deep"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[ -~\u{e9}\n\"'\\\\/*;{}\\[\\]]{0,200}") {
            let _ = prepare_text("a.proto", &text);
            let _ = prepare_text("a.proto", &format!("edition = \"2023\"; {text}"));
        }
    }
}
