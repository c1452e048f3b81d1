//! Methods that deal with the fields of a record one after another: a method in Java has
//! 64 KiB of code at most, so that of many fields each has its part in one of several.

use wiregauge_normalized::SourceWriter;

/// Most fields in a method. The virtual machine compiles none of more than 8,000 bytes.
pub const MOST: usize = 64;

/// A method without a result.
pub struct Method<'a> {
    pub access: &'a str,
    pub name: &'a str,
    /// `Writer writer`, and what they are called: `writer`.
    pub parameters: (&'a str, &'a str),
    pub fails: bool,
}

impl Method<'_> {
    /// The method, with what it does for each item.
    pub fn write<T>(
        &self,
        items: &[T],
        code: &mut SourceWriter,
        each: impl Fn(&T, &mut SourceWriter),
    ) {
        let (parameters, arguments) = self.parameters;
        let throws = if self.fails { " throws WireException" } else { "" };
        let head =
            |access: &str, name: &str| format!("{access} void {name}({parameters}){throws} {{");
        let body = |items: &[T], code: &mut SourceWriter| {
            items.iter().for_each(|item| each(item, code));
        };
        if items.len() <= MOST {
            return code.block(head(self.access, self.name), "}\n", |code| body(items, code));
        }
        let parts = items.chunks(MOST).enumerate();
        let parts = parts.map(|(at, items)| (format!("{}Part{at}", self.name), items));
        let parts: Vec<(String, &[T])> = parts.collect();
        code.block(head(self.access, self.name), "}\n", |code| {
            parts.iter().for_each(|(name, _)| code.line(format!("{name}({arguments});")));
        });
        for (name, items) in parts {
            code.block(head("private", &name), "}\n", |code| body(items, code));
        }
    }
}

/// Makes a result of the parts of an expression, and what joins them: at once, or by
/// methods that `head` begins by their end and `call` calls.
pub fn joined(
    parts: &[String],
    join: &str,
    head: impl Fn(usize) -> String,
    call: impl Fn(usize) -> String,
) -> (String, Vec<(String, String)>) {
    let whole = |parts: &[String]| parts.join(&format!("\n        {join} "));
    if parts.len() <= MOST + 1 {
        return (whole(parts), Vec::new());
    }
    let chunks = parts.chunks(MOST).enumerate();
    let calls: Vec<String> = chunks.clone().map(|(part, _)| call(part)).collect();
    (whole(&calls), chunks.map(|(part, parts)| (head(part), whole(parts))).collect())
}
