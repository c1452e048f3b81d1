//! Functions that write and read a record on a wire, field after field. Numbers
//! whose distance is known move together in one call of the struct module.

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, TypeId};

use super::known_offset::KnownOffset;
use super::module::{code_of, numpy_kind, Module};
use crate::layout;
use crate::wire::Wire;

/// Most numbers of a record inside another one that move together with its own.
const MOST_TOGETHER: usize = 64;

/// What `_Writer` and `_Reader` of a wire are called.
pub fn class(wire: Wire) -> &'static str {
    match wire {
        Wire::RosMsg => "_",
        Wire::Cdr => "_Cdr",
        Wire::Xcdr2 => "_Xcdr2",
        Wire::SomeIp => "_SomeIp",
        Wire::Protobuf => unreachable!("it does not write field after field"),
    }
}

/// A step of writing or reading a record.
enum WireStep {
    /// To a multiple of so many bytes.
    Align(usize),
    /// So many numbers at once, by their codes with the gaps.
    Run { codes: String, count: usize },
    /// The field at this place.
    Field(usize),
}

impl Module<'_> {
    /// The code of each number of a field that moves with its neighbours: a
    /// number, or a record of nothing but single ones.
    fn adjacent_numbers(&self, field: &Field) -> Option<Vec<Scalar>> {
        if !matches!(field.cardinality, Cardinality::Required | Cardinality::Implicit) {
            return None;
        }
        match field.element {
            Element::Record(id) => {
                let record = self.schema.record(id);
                let mut all = Vec::new();
                for field in &record.fields {
                    all.extend(self.adjacent_numbers(field)?);
                }
                (!all.is_empty() && all.len() <= MOST_TOGETHER).then_some(all)
            }
            other => Some(vec![self.schema.scalar(other)?]),
        }
    }

    /// The steps of a record.
    fn steps(&self, wire: Wire, record: &Record) -> Vec<WireStep> {
        let mut steps = Vec::new();
        let mut place = KnownOffset::UNKNOWN;
        let (mut codes, mut count) = (String::new(), 0);
        for (at, field) in record.fields.iter().enumerate() {
            for number in self.adjacent_numbers(field).unwrap_or_default() {
                let size = number.size().min(wire.alignment());
                match place.gap(size) {
                    Some(gap) => codes.extend((0..gap).map(|_| 'x')),
                    None => {
                        end(&mut steps, &mut codes, &mut count);
                        steps.push(WireStep::Align(size));
                    }
                }
                place = place.aligned(size).after(number.size());
                // Truth values are octets: struct takes any for one.
                codes += if number == Scalar::Bool { "B" } else { code_of(number) };
                count += 1;
            }
            if self.adjacent_numbers(field).is_none() {
                end(&mut steps, &mut codes, &mut count);
                steps.push(WireStep::Field(at));
                place = self.offset_after(wire, field);
            }
        }
        end(&mut steps, &mut codes, &mut count);
        steps
    }

    /// The functions that write and read a record.
    pub(super) fn functions(
        &self,
        wire: Wire,
        id: TypeId,
        record: &Record,
        code: &mut SourceWriter,
    ) {
        let (name, suffix) = (self.names.type_name(id), wire.name().replace('-', "_"));
        let prefix = format!("_{}_{name}", suffix.to_ascii_uppercase());
        let steps = self.steps(wire, record);
        code.line("\n");
        let mut runs = 0;
        for step in &steps {
            if let WireStep::Run { codes, .. } = step {
                let order = order(wire);
                code.line(format!("{prefix}_{runs} = struct.Struct(\"{order}{codes}\")"));
                runs += 1;
            }
        }
        if let Some(row) = layout::gapped_row(self.schema, id, wire).filter(|_| self.is_listed(id))
        {
            let mut codes = String::new();
            for (gap, number) in row.numbers {
                codes.extend((0..gap).map(|_| 'x'));
                codes += code_of(number);
            }
            codes.extend((0..row.gap).map(|_| 'x'));
            let (rows, dtype) = (self.rows(wire, id), self.rows_dtype(wire, id, &mut 0, row.gap));
            code.line(format!("{rows} = _Rows(\"<{codes}\", {}, {dtype})", row.gap));
            runs += 1;
        }
        if runs > 0 {
            code.line("\n");
        }
        let class = class(wire);
        code.open(format!("def _write_{suffix}_{name}(m: {name}, w: {class}Writer) -> None:"));
        self.write(wire, id, record, &steps, &prefix, code);
        code.outdent();
        code.line("\n");
        code.open(format!("def _read_{suffix}_{name}(r: {class}Reader) -> {name}:"));
        self.read(wire, id, record, &steps, &prefix, code);
        code.outdent();
    }

    fn write(
        &self,
        wire: Wire,
        id: TypeId,
        record: &Record,
        steps: &[WireStep],
        prefix: &str,
        code: &mut SourceWriter,
    ) {
        if record.fields.is_empty() {
            code.line(if wire.has_filler() { "w.put(b\"\\0\")" } else { "pass" });
        }
        let mut values = Vec::new();
        for (at, field) in record.fields.iter().enumerate() {
            let member = format!("m.{}", self.names.member(id, at));
            let Some(numbers) = self.adjacent_numbers(field) else { continue };
            let mut own = vec![member.clone()];
            if let Element::Record(inner) = field.element {
                own.clear();
                self.spread(inner, self.schema.record(inner), &member, &mut own);
            }
            values.extend(numbers.iter().zip(own).map(|(number, value)| match number {
                Scalar::Bool => format!("bool({value})"),
                _ => value,
            }));
        }
        let (mut values, mut runs) = (values.into_iter(), 0);
        for step in steps {
            match step {
                WireStep::Align(size) => code.line(format!("w.align({size})")),
                WireStep::Run { codes, count } => {
                    let values: Vec<String> = values.by_ref().take(*count).collect();
                    let (run, values) = (format!("{prefix}_{runs}"), values.join(", "));
                    code.line(match codes.contains('f') {
                        true => format!("w.put(_packed({run}, {values}))"),
                        false => format!("w.put({run}.pack({values}))"),
                    });
                    runs += 1;
                }
                WireStep::Field(at) => {
                    let member = format!("m.{}", self.names.member(id, *at));
                    self.write_field(wire, record, *at, &member, code);
                }
            }
        }
    }

    fn read(
        &self,
        wire: Wire,
        id: TypeId,
        record: &Record,
        steps: &[WireStep],
        prefix: &str,
        code: &mut SourceWriter,
    ) {
        if record.fields.is_empty() && wire.has_filler() {
            code.line("r.block(1)");
        }
        let (mut values, mut runs) = (Vec::new(), 0);
        for step in steps {
            match step {
                WireStep::Align(size) => code.line(format!("r.align({size})")),
                WireStep::Run { codes, count } => {
                    let take = if codes.contains('f') { "take_floats" } else { "take" };
                    code.line(format!("t{runs} = r.{take}({prefix}_{runs})"));
                    values.extend((0..*count).map(|at| format!("t{runs}[{at}]")));
                    runs += 1;
                }
                WireStep::Field(at) => self.read_field(wire, record, *at, code),
            }
        }
        let mut values = values.into_iter();
        let fields = record.fields.iter().enumerate();
        let made = fields.map(|(at, field)| match self.adjacent_numbers(field) {
            Some(_) => self.construct_field(field, &mut values),
            None => format!("v{at}"),
        });
        let made: Vec<String> = made.collect();
        code.line(format!("return {}({})", self.names.type_name(id), made.join(", ")));
    }

    /// A field of single numbers from their values.
    fn construct_field(&self, field: &Field, values: &mut dyn Iterator<Item = String>) -> String {
        if let Element::Record(inner) = field.element {
            let fields = self.schema.record(inner).fields.iter();
            let fields: Vec<String> =
                fields.map(|field| self.construct_field(field, values)).collect();
            return format!("{}({})", self.names.type_name(inner), fields.join(", "));
        }
        let value = values.next().expect("a value for each number");
        match self.schema.scalar(field.element) {
            Some(Scalar::Bool) => format!("_flag({value})"),
            _ => value,
        }
    }

    /// What is known of the place behind a field of variable size.
    fn offset_after(&self, wire: Wire, field: &Field) -> KnownOffset {
        let size = match (self.code(field), field.cardinality) {
            (Some((_, size)), Cardinality::List { .. }) => size.min(4),
            (Some((_, size)), Cardinality::Array { .. }) => size,
            _ => 1,
        };
        KnownOffset { modulus: size.min(wire.alignment()), rest: 0 }
    }

    fn write_field(
        &self,
        wire: Wire,
        record: &Record,
        at: usize,
        member: &str,
        code: &mut SourceWriter,
    ) {
        let field = &record.fields[at];
        // A name of its own, as its type is another one for each field.
        let item = format!("e{at}");
        let suffix = wire.name().replace('-', "_");
        let text_bound = self.package.text_bound(record, field);
        let most = |bound: Option<u32>| bound.map_or(String::new(), |bound| format!(", {bound}"));
        let one = |value: &str, code: &mut SourceWriter| match field.element {
            Element::String => code.line(format!("w.text({value}{})", most(text_bound))),
            Element::Bytes => code.line(format!("w.octets({value})")),
            Element::Record(id) => {
                code.line(format!("_write_{suffix}_{}({value}, w)", self.names.type_name(id)));
            }
            other => {
                let scalar = self.schema.scalar(other).expect("a number");
                code.line(format!("w.align({})", scalar.size()));
                code.line(match scalar {
                    Scalar::F32 if wire.is_big_endian() => {
                        format!("w.put(_float4({value})[::-1])")
                    }
                    Scalar::F32 => format!("w.put(_float4({value}))"),
                    _ => {
                        let order = order(wire);
                        format!("w.put(struct.pack(\"{order}{}\", {value}))", code_of(scalar))
                    }
                });
            }
        };
        let is_delimited = self.is_delimited(wire, field);
        if is_delimited {
            code.line(format!("s{at} = w.open()"));
        }
        match (field.cardinality, self.code(field), field.element) {
            (Cardinality::List { bound }, Some((kind, size)), _) => {
                code.line(format!("w.numbers({member}, \"{kind}\", {size}{})", most(bound)));
            }
            (Cardinality::Array { len }, Some((kind, size)), _) => {
                code.line(format!("w.fixed({member}, \"{kind}\", {size}, {len})"));
            }
            (Cardinality::List { bound }, None, _) if wire.counts_bytes() => {
                if let Some(bound) = bound {
                    code.line(format!("w.most(len({member}), {bound})"));
                }
                code.line(format!("s{at} = w.open()"));
                code.open(format!("for {item} in {member}:"));
                one(&item, code);
                code.outdent();
                code.line(format!("w.close(s{at})"));
            }
            (Cardinality::Optional, ..) if wire.counts_bytes() => {
                code.line(format!("s{at} = w.open()"));
                code.open(format!("if {member} is not None:"));
                one(member, code);
                code.outdent();
                code.line(format!("w.close(s{at})"));
            }
            (Cardinality::List { bound }, None, element) => {
                let bound = bound.map_or("_MOST".into(), |bound| bound.to_string());
                code.line(format!("w.count(len({member}), {bound})"));
                match element {
                    Element::Record(id) if layout::row(self.schema, id, wire).is_some() => {
                        let block = layout::row(self.schema, id, wire).expect("a block");
                        let alignment = block.alignment.min(wire.alignment());
                        let first = self.first(id).size().min(wire.alignment());
                        if alignment == 1 {
                            let name = self.names.type_name(id);
                            code.line(format!("w.put(_records({name}, {member}))"));
                            return self.close(is_delimited, 'w', at, code);
                        }
                        // The first number aligns the list; the block fits if that
                        // is enough for all of them.
                        code.open(format!("if {member}:"));
                        code.line(format!("w.align({first})"));
                        code.outdent();
                        let fits = match first == alignment {
                            true => String::new(),
                            false => format!("if w.size % {alignment} == 0:"),
                        };
                        let name = self.names.type_name(id);
                        let put = format!("w.put(_records({name}, {member}))");
                        if fits.is_empty() {
                            code.line(put);
                        } else {
                            code.open(fits);
                            code.line(put);
                            code.outdent();
                            code.open("else:");
                            code.open(format!("for {item} in {member}:"));
                            one(&item, code);
                            code.outdent();
                            code.outdent();
                        }
                    }
                    Element::Record(id) if layout::gapped_row(self.schema, id, wire).is_some() => {
                        let first = self.first(id).size().min(wire.alignment());
                        let (name, rows) = (self.names.type_name(id), self.rows(wire, id));
                        code.open(format!("if {member}:"));
                        code.line(format!("w.align({first})"));
                        code.outdent();
                        code.line(format!("w.put(_gapped({name}, {rows}, {member}))"));
                    }
                    _ => {
                        code.open(format!("for {item} in {member}:"));
                        one(&item, code);
                        code.outdent();
                    }
                }
            }
            (Cardinality::Array { len }, None, _) => {
                code.line(format!("w.check(len({member}), {len})"));
                code.open(format!("for {item} in {member}:"));
                one(&item, code);
                code.outdent();
            }
            (Cardinality::Optional, ..) if wire.is_delimited() => {
                code.line(format!("w.put(b\"\\0\" if {member} is None else b\"\\1\")"));
                code.open(format!("if {member} is not None:"));
                one(member, code);
                code.outdent();
            }
            (Cardinality::Optional, _, Element::Record(_)) => {
                code.line(format!("w.count({member} is not None, 1)"));
                code.open(format!("if {member} is not None:"));
                one(member, code);
                code.outdent();
            }
            (Cardinality::Optional, ..) => {
                let empty = match field.element {
                    Element::String => "\"\"",
                    Element::Bytes => "b\"\"",
                    _ => "0",
                };
                code.line(format!("w.put(b\"\\0\" if {member} is None else b\"\\1\")"));
                one(&format!("{empty} if {member} is None else {member}"), code);
            }
            (Cardinality::Required | Cardinality::Implicit, ..) => one(member, code),
        }
        self.close(is_delimited, 'w', at, code);
    }

    /// Whether the size of a field stands before it.
    fn is_delimited(&self, wire: Wire, field: &Field) -> bool {
        let is_list =
            matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
        is_list && layout::is_delimited(wire, field.element)
    }

    fn close(&self, is_delimited: bool, walk: char, at: usize, code: &mut SourceWriter) {
        if is_delimited {
            code.line(format!("{walk}.close(s{at})"));
        }
    }

    /// What the rows of a plain record with gaps are called.
    fn rows(&self, wire: Wire, id: TypeId) -> String {
        let suffix = wire.name().replace('-', "_").to_ascii_uppercase();
        format!("_{suffix}_{}_ROWS", self.names.type_name(id))
    }

    /// NumPy's type of a record at a place in such a row, which has moved behind it then, with
    /// a gap at its end.
    fn rows_dtype(&self, wire: Wire, id: TypeId, at: &mut usize, gap: usize) -> String {
        let record = self.schema.record(id);
        let start = *at;
        let (mut names, mut formats, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
        for (place, field) in record.fields.iter().enumerate() {
            names.push(format!("\"{}\"", self.names.member(id, place)));
            let first = match field.element {
                Element::Record(inner) => self.first(inner),
                other => self.schema.scalar(other).expect("a number"),
            };
            *at = at.next_multiple_of(first.size().min(wire.alignment()));
            offsets.push((*at - start).to_string());
            formats.push(match field.element {
                Element::Record(inner) => self.rows_dtype(wire, inner, at, 0),
                other => {
                    let scalar = self.schema.scalar(other).expect("a number");
                    let len = match field.cardinality {
                        Cardinality::Array { len } => Some(len),
                        _ => None,
                    };
                    *at += scalar.size() * len.map_or(1, |len| len as usize);
                    let format = format!("\"<{}{}\"", numpy_kind(scalar), scalar.size());
                    len.map_or(format.clone(), |len| format!("({format}, ({len},))"))
                }
            });
        }
        format!(
            "{{\"names\": [{}], \"formats\": [{}], \"offsets\": [{}], \"itemsize\": {}}}",
            names.join(", "),
            formats.join(", "),
            offsets.join(", "),
            *at - start + gap
        )
    }

    /// The first number of a plain record.
    fn first(&self, id: TypeId) -> Scalar {
        layout::numbers(self.schema, self.schema.record(id)).expect("a plain record")[0]
    }

    fn read_field(&self, wire: Wire, record: &Record, at: usize, code: &mut SourceWriter) {
        let field = &record.fields[at];
        let suffix = wire.name().replace('-', "_");
        let most = |bound: Option<u32>| bound.map_or(String::new(), |bound| format!(", {bound}"));
        let text_bound = self.package.text_bound(record, field);
        let one = match field.element {
            Element::String => match text_bound {
                Some(bound) => format!("r.text({bound})"),
                None => "r.text()".into(),
            },
            Element::Bytes => "r.octets()".into(),
            Element::Record(id) => format!("_read_{suffix}_{}(r)", self.names.type_name(id)),
            other => match self.schema.scalar(other).expect("a number") {
                Scalar::Bool => "_flag(r.block(1)[0])".into(),
                Scalar::F32 => "r.float4()".into(),
                scalar => {
                    let (order, size) = (order(wire), scalar.size());
                    format!("r.number(\"{order}{}\", {size})", code_of(scalar))
                }
            },
        };
        let value = format!("v{at}");
        let least = layout::min_element_size(self.schema, field.element, wire);
        let is_delimited = self.is_delimited(wire, field);
        if is_delimited {
            code.line(format!("s{at} = r.open()"));
        }
        match (field.cardinality, self.code(field), field.element) {
            (Cardinality::List { bound }, Some((kind, size)), _) => {
                code.line(format!("{value} = r.numbers(\"{kind}\", {size}{})", most(bound)));
            }
            (Cardinality::Array { len }, Some((kind, size)), _) => {
                code.line(format!("{value} = r.fixed(\"{kind}\", {size}, {len})"));
            }
            (Cardinality::List { bound }, None, Element::Record(id))
                if layout::row(self.schema, id, wire).is_some() =>
            {
                self.read_block(wire, id, bound, &value, &one, code);
            }
            (Cardinality::List { bound }, None, Element::Record(id))
                if layout::gapped_row(self.schema, id, wire).is_some() =>
            {
                let first = self.first(id).size().min(wire.alignment());
                let (name, rows) = (self.names.type_name(id), self.rows(wire, id));
                code.line(format!("n = r.count({least}{})", most(bound)));
                code.open("if n:");
                code.line(format!("r.align({first})"));
                code.outdent();
                code.line(format!("{value} = _gapped_at(r, {name}, {rows}, n)"));
            }
            (Cardinality::List { bound }, None, _) if wire.counts_bytes() => {
                code.line(format!("s{at} = r.open()"));
                code.line(format!("{value}: list[Any] = []"));
                code.open(format!("while r.at < s{at}:"));
                code.line(format!("{value}.append({one})"));
                code.outdent();
                code.line(format!("r.close(s{at})"));
                if let Some(bound) = bound {
                    code.line(format!("r.most(len({value}), {bound})"));
                }
            }
            (Cardinality::Optional, ..) if wire.counts_bytes() => {
                code.line(format!("s{at} = r.open()"));
                code.line(format!("{value} = {one} if r.at < s{at} else None"));
                code.line(format!("r.close(s{at})"));
            }
            (Cardinality::List { bound }, None, _) => {
                let count = format!("r.count({least}{})", most(bound));
                code.line(format!("{value} = [{one} for _ in range({count})]"));
            }
            (Cardinality::Array { len }, None, _) => {
                code.line(format!("{value} = [{one} for _ in range({len})]"));
            }
            (Cardinality::Optional, ..) if wire.is_delimited() => {
                code.line(format!("{value} = {one} if _flag(r.block(1)[0]) else None"));
            }
            (Cardinality::Optional, _, Element::Record(_)) => {
                code.line(format!("{value} = {one} if r.count({least}, 1) else None"));
            }
            (Cardinality::Optional, ..) => {
                code.line(format!("p{at} = _flag(r.block(1)[0])"));
                code.line(format!("o{at} = {one}"));
                code.line(format!("{value} = o{at} if p{at} else None"));
            }
            (Cardinality::Required | Cardinality::Implicit, ..) => {
                code.line(format!("{value} = {one}"));
            }
        }
        self.close(is_delimited, 'r', at, code);
    }

    /// A list of records that are one block where it begins aligned.
    fn read_block(
        &self,
        wire: Wire,
        id: TypeId,
        bound: Option<u32>,
        value: &str,
        one: &str,
        code: &mut SourceWriter,
    ) {
        let block = layout::row(self.schema, id, wire).expect("a block");
        let first = self.first(id).size().min(wire.alignment());
        let alignment = block.alignment.min(wire.alignment());
        let name = self.names.type_name(id);
        let most = bound.map_or(String::new(), |bound| format!(", {bound}"));
        let whole = format!("_records_at(r, {name}, n)");
        code.line(format!("n = r.count({}{most})", block.size));
        if wire.alignment() > 1 {
            code.open("if n:");
            code.line(format!("r.align({first})"));
            code.outdent();
        }
        if first == alignment {
            code.line(format!("{value} = {whole}"));
            return;
        }
        code.line(format!("{value}: Sequence[{name}]"));
        code.open(format!("if r.at % {alignment} == 0:"));
        code.line(format!("{value} = {whole}"));
        code.outdent();
        code.open("else:");
        code.line(format!("{value} = [{one} for _ in range(n)]"));
        code.outdent();
    }
}

/// The letter of the order of bytes in the module struct.
fn order(wire: Wire) -> char {
    if wire.is_big_endian() {
        '>'
    } else {
        '<'
    }
}

fn end(steps: &mut Vec<WireStep>, codes: &mut String, count: &mut usize) {
    if *count > 0 {
        let codes = std::mem::take(codes);
        steps.push(WireStep::Run { codes, count: std::mem::take(count) });
    }
}
