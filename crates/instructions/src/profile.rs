//! What callgrind counted in each function, from its dumps:
//! <https://valgrind.org/docs/manual/cl-format.html>.

use std::collections::{BTreeMap, HashMap};

use anyhow::{bail, ensure, Context, Result};

/// What code is called that no symbol names, as in a library without its own.
pub const UNNAMED: &str = "(without a name)";

/// A function of a program or of a library that it loads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// The file that it is in, without folders: `libc.so.6`.
    pub object: String,
    /// As it is written in its language, as far as callgrind knows.
    pub name: String,
}

/// What was counted in a function, without what it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// A number for each event of the profile; of a difference less than 0, perhaps.
    pub events: Vec<i64>,
    /// How often it was called.
    pub calls: i64,
}

/// A line of a source, as it was compiled into a function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// The function that has its instructions.
    pub function: Function,
    /// The source; empty where the program does not tell.
    pub source: String,
    /// The number of the line; 0 where the program does not tell.
    pub number: u32,
}

/// What was counted, function by function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// What is counted, as callgrind calls it: `Ir`, `Bcm`.
    pub events: Vec<String>,
    /// In which functions.
    pub functions: BTreeMap<Function, Cost>,
    /// The first event alone, in which lines: all together have what all functions have.
    pub lines: BTreeMap<Line, i64>,
}

impl Profile {
    /// Reads a dump.
    ///
    /// # Errors
    /// When it is damaged, or what is counted in functions is not what is counted in all.
    pub fn parse(dump: &str) -> Result<Profile> {
        let mut reader = Reader::default();
        for (at, line) in dump.lines().enumerate() {
            reader.read(line).with_context(|| format!("line {} of callgrind's dump", at + 1))?;
        }
        reader.finish()
    }

    /// All functions together, a number for each event.
    pub fn totals(&self) -> Vec<i64> {
        let mut totals = vec![0i64; self.events.len()];
        for cost in self.functions.values() {
            for (total, own) in totals.iter_mut().zip(&cost.events) {
                *total = total.saturating_add(*own);
            }
        }
        totals
    }

    /// Adds another profile so many times: 1 to add, -1 to subtract.
    ///
    /// # Errors
    /// When it counts other events.
    pub fn add(&mut self, other: &Profile, times: i64) -> Result<()> {
        if self.events.is_empty() {
            self.events.clone_from(&other.events);
        }
        ensure!(self.events == other.events, "callgrind counted other events than before");
        for (function, cost) in &other.functions {
            let own = self.functions.entry(function.clone()).or_default();
            own.events.resize(self.events.len(), 0);
            for (sum, more) in own.events.iter_mut().zip(&cost.events) {
                *sum = sum.saturating_add(more.saturating_mul(times));
            }
            own.calls = own.calls.saturating_add(cost.calls.saturating_mul(times));
        }
        for (line, count) in &other.lines {
            let own = self.lines.entry(line.clone()).or_default();
            *own = own.saturating_add(count.saturating_mul(times));
        }
        self.lines.retain(|_, count| *count != 0);
        self.functions
            .retain(|_, cost| cost.calls != 0 || cost.events.iter().any(|count| *count != 0));
        Ok(())
    }
}

/// A dump while it is read.
#[derive(Default)]
struct Reader {
    profile: Profile,
    /// Numbers before the costs of a line.
    positions: usize,
    /// By the numbers that stand for names.
    functions: HashMap<String, String>,
    objects: HashMap<String, String>,
    sources: HashMap<String, String>,
    /// Where what follows was counted.
    object: String,
    function: Option<Function>,
    source: String,
    /// The line that was counted before, from which the next one may be told.
    line: u32,
    /// What is called next.
    called_object: Option<String>,
    called: Option<String>,
    /// Whether the next line counts what a called function took.
    is_call: bool,
    totals: Option<String>,
}

impl Reader {
    fn read(&mut self, line: &str) -> Result<()> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            return self.read_costs(line);
        }
        if let Some((key, value)) = line.split_once('=').filter(|(key, _)| !key.contains(':')) {
            return self.read_place(key, value);
        }
        let (key, value) = line.split_once(':').context("is no line of this format")?;
        match key {
            "positions" => self.positions = value.split_whitespace().count(),
            "events" => {
                self.profile.events = value.split_whitespace().map(str::to_owned).collect();
            }
            "totals" | "summary" => self.totals = Some(value.trim().to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn read_place(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "ob" => self.object = file_name(&name(&mut self.objects, value)?),
            "fn" => {
                let name = function_name(name(&mut self.functions, value)?);
                self.function = Some(Function { object: self.object.clone(), name });
            }
            "cob" => self.called_object = Some(file_name(&name(&mut self.objects, value)?)),
            "cfn" => self.called = Some(function_name(name(&mut self.functions, value)?)),
            "calls" => {
                let count = value.split_whitespace().next().unwrap_or_default();
                let count: u32 = count.parse().context("says no number of calls")?;
                let name = self.called.take().context("calls a function without a name")?;
                let object = self.called_object.take().unwrap_or_else(|| self.object.clone());
                let called = self.profile.functions.entry(Function { object, name }).or_default();
                called.calls += i64::from(count);
                self.is_call = true;
            }
            "fl" | "fi" | "fe" => self.source = name(&mut self.sources, value)?,
            // The name may stand for a number that comes later.
            "cfi" | "cfl" => drop(name(&mut self.sources, value)?),
            // Where it jumps to.
            "jump" | "jcnd" => {}
            _ => bail!("'{key}' is unknown"),
        }
        Ok(())
    }

    fn read_costs(&mut self, line: &str) -> Result<()> {
        let place = line.split_whitespace().next().unwrap_or_default();
        self.line = line_number(place, self.line).unwrap_or(0);
        // Counted where it was executed.
        if std::mem::take(&mut self.is_call) {
            return Ok(());
        }
        let function = self.function.clone().context("counts outside of a function")?;
        let own = self.profile.functions.entry(function.clone()).or_default();
        own.events.resize(self.profile.events.len(), 0);
        for (at, count) in line.split_whitespace().skip(self.positions.max(1)).enumerate() {
            let sum = own.events.get_mut(at).context("counts more than there are events")?;
            *sum = add_count(*sum, count)?;
            if at == 0 {
                let is_told = self.line != 0 && self.source != "???";
                let (source, number) =
                    if is_told { (self.source.clone(), self.line) } else { Default::default() };
                let own =
                    self.profile.lines.entry(Line { function: function.clone(), source, number });
                let sum = own.or_default();
                *sum = add_count(*sum, count)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Profile> {
        let events = self.profile.events.len();
        ensure!(events > 0, "callgrind does not say what it counted");
        for cost in self.profile.functions.values_mut() {
            cost.events.resize(events, 0);
        }
        let totals = self.totals.context("callgrind wrote no sum")?;
        ensure!(!totals.is_empty(), "callgrind's sum is empty; its dump is cut");
        let mut wanted = vec![0i64; events];
        for (at, count) in totals.split_whitespace().enumerate() {
            let sum = wanted.get_mut(at).context("callgrind's sum has more than its events")?;
            *sum = add_count(0, count)?;
        }
        ensure!(
            self.profile.totals() == wanted,
            "callgrind's functions do not add up to its sum; its dump is cut or damaged"
        );
        Ok(self.profile)
    }
}

/// The number of a line, which may be told by that of the line before: `+3`, `-3`, `*`.
fn line_number(text: &str, before: u32) -> Option<u32> {
    match text.as_bytes().first()? {
        b'*' => Some(before),
        b'+' => before.checked_add(text[1..].parse().ok()?),
        b'-' => before.checked_sub(text[1..].parse().ok()?),
        _ => text.parse().ok(),
    }
}

fn add_count(sum: i64, count: &str) -> Result<i64> {
    let count: u64 = count.parse().with_context(|| format!("counted '{count}'"))?;
    let sum = i64::try_from(count).ok().and_then(|count| sum.checked_add(count));
    sum.context("counted more than fits 63 bits")
}

/// A name, which stands once behind its number, and then is its number alone.
fn name(names: &mut HashMap<String, String>, text: &str) -> Result<String> {
    let Some((number, name)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return Ok(text.to_owned());
    };
    // C++ has names such as `(anonymous namespace)::take`.
    if !number.chars().all(|c| c.is_ascii_digit()) || number.is_empty() {
        return Ok(text.to_owned());
    }
    let name = name.trim();
    if !name.is_empty() {
        names.insert(number.to_owned(), name.to_owned());
    }
    names.get(number).cloned().with_context(|| format!("nothing is named by ({number}) before"))
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Without the version of its symbol; what has an address alone is one.
fn function_name(name: String) -> String {
    if name.starts_with("0x") || name == "???" {
        return UNNAMED.to_owned();
    }
    match name.split_once("@@").or_else(|| name.split_once('@')) {
        Some((plain, version)) if version.starts_with("GLIBC") || version.starts_with("CXXABI") => {
            plain.to_owned()
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "# callgrind format
version: 1
creator: callgrind-3.19.0
desc: Trigger: --dump-before=clock_gettime@@GLIBC_2.17

positions: line
events: Ir Dr Bcm
summary: 148 11 1

ob=(1) /usr/lib/libc.so.6
fl=(1) ./malloc/malloc.c
fn=(854) malloc
3281 10 0 1
+7 4 2
fi=(162) arena.c
* 4
cfn=(870) _int_malloc
calls=2 1338
* 50 3
fe=(1)

fn=(870)
1338 50 3

ob=(6) /built/bin/prost
fl=(140) ???
fn=(12) (anonymous namespace)::take(int&)
0 20 4
cob=(1)
cfi=(1)
cfn=(854)
calls=2 3281
0 68 5
cfn=(99) 0x000000000002fe90
calls=1 0
0 60 2

fn=(99)
0 60 2

totals: 148 11 1
";

    fn function(object: &str, name: &str) -> Function {
        Function { object: object.into(), name: name.into() }
    }

    #[test]
    fn each_function_has_what_it_took_itself() {
        let profile = Profile::parse(DUMP).unwrap();
        assert_eq!(profile.events, ["Ir", "Dr", "Bcm"]);
        let wanted = [
            (function("libc.so.6", "_int_malloc"), vec![50, 3, 0], 2),
            (function("libc.so.6", "malloc"), vec![18, 2, 1], 2),
            (function("prost", "(anonymous namespace)::take(int&)"), vec![20, 4, 0], 0),
            (function("prost", UNNAMED), vec![60, 2, 0], 1),
        ];
        assert_eq!(profile.functions.len(), wanted.len(), "{profile:#?}");
        for (function, events, calls) in wanted {
            assert_eq!(profile.functions[&function], Cost { events, calls }, "{function:?}");
        }
        assert_eq!(profile.totals(), [148, 11, 1]);
    }

    /// Those of another file that are compiled into a function, and those of no known line.
    #[test]
    fn each_line_has_what_was_compiled_from_it() {
        let dump = DUMP.replace("fe=(1)\n", "fe=(1)\n-2 6\n").replace("148 11 1", "154 11 1");
        let profile = Profile::parse(&dump).unwrap();
        let line = |name: &str, source: &str, number, count| {
            let object =
                if name == "malloc" || name == "_int_malloc" { "libc.so.6" } else { "prost" };
            let function = function(object, name);
            (Line { function, source: source.into(), number }, count)
        };
        let wanted = [
            line("_int_malloc", "./malloc/malloc.c", 1338, 50),
            line("malloc", "./malloc/malloc.c", 3281, 10),
            line("malloc", "./malloc/malloc.c", 3286, 6),
            line("malloc", "./malloc/malloc.c", 3288, 4),
            line("malloc", "arena.c", 3288, 4),
            line("(anonymous namespace)::take(int&)", "", 0, 20),
            line(UNNAMED, "", 0, 60),
        ];
        assert_eq!(profile.lines, BTreeMap::from(wanted));
        let mut twice = profile.clone();
        twice.add(&profile, 1).unwrap();
        assert_eq!(twice.lines.values().sum::<i64>(), 308);
        twice.add(&profile, -2).unwrap();
        assert!(twice.lines.is_empty());
        assert_eq!(line_number("-7", 6), None);
    }

    #[test]
    fn profiles_are_added_and_subtracted_by_function() {
        let one = Profile::parse(DUMP).unwrap();
        let mut sum = Profile::default();
        for _ in 0..3 {
            sum.add(&one, 1).unwrap();
        }
        assert_eq!(sum.totals(), [444, 33, 3]);
        assert_eq!(sum.functions[&function("libc.so.6", "malloc")].calls, 6);
        sum.add(&one, -3).unwrap();
        assert!(sum.functions.is_empty(), "{sum:?}");
        let other = Profile { events: vec!["Ir".into()], ..Profile::default() };
        assert!(sum.add(&other, 1).is_err());
    }

    #[test]
    fn names_lose_the_version_of_their_symbol_alone() {
        let names = [("memcpy@@GLIBC_2.14", "memcpy"), ("a@b", "a@b"), ("0x12", UNNAMED)];
        for (name, wanted) in names {
            assert_eq!(function_name(name.into()), wanted);
        }
    }

    /// A wrong number is refused, as functions must add up to the sum.
    #[test]
    fn damaged_dumps_are_refused_and_never_panic() {
        for (from, to) in [
            ("1338 50 3", "1338 51 3"),
            ("fn=(870)\n", "fn=(871)\n"),
            ("events: Ir Dr Bcm\n", ""),
            ("totals: 148 11 1\n", "totals: 148 11 2\n"),
            ("calls=2 1338", "calls=x"),
            ("0 20 4", "0 20 4 1 1"),
            ("fl=(140) ???", "what=(1)"),
            ("* 4\n", "* -4\n"),
            ("+7 4 2", "+7 99999999999999999999 2"),
        ] {
            assert!(DUMP.contains(from), "{from}");
            assert!(Profile::parse(&DUMP.replace(from, to)).is_err(), "{from} to {to}");
        }
        for end in 0..DUMP.len() {
            // Only the last line may be missing: the sum stands in the head, too.
            let is_whole = Profile::parse(&DUMP[..end]).is_ok();
            assert!(!is_whole || end > DUMP.find("60 2\n\nt").unwrap(), "cut at {end}");
            for byte in ["(", "=", ":", "9", "*", "\u{e9}", "\n"] {
                let mut damaged = DUMP.to_owned();
                damaged.replace_range(end..=end, byte);
                let _ = Profile::parse(&damaged);
            }
        }
        let huge = format!("events: Ir\nfn=f\n0 {0}\n0 {0}\ntotals: 0\n", i64::MAX);
        assert!(Profile::parse(&huge).is_err());
        assert!(Profile::parse("").is_err());
    }
}
