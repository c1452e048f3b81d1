//! Rust, C++ and Python reduce to the same bytes, restore the same elements, and
//! refuse the same damaged blocks.

mod common;

use std::fs;
use std::process::Command;

use common::tools::TOOLS;
use common::{blessing, compare, compile, damage, hash, run, verdict, Random, HERE};
use wiregauge_packed::{
    first, pack, unpack, Column, Element, Error, Half, Kind, Layout, Message, Number, PackOptions,
    Reduced, Reduction, Root, UnpackOptions, View,
};
use wiregauge_testkit::seeds::Seeds;

/// A column to be reduced, as `tool.cpp` and `tool.py` read it.
struct Case {
    element: Element,
    how: Reduction,
    rows: usize,
    presence: Option<Vec<u8>>,
    elements: Vec<u8>,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        let flags = u8::from(self.how.resolution.is_some())
            | u8::from(self.how.whole_bytes) << 1
            | u8::from(self.presence.is_some()) << 2;
        let mut out = vec![self.element as u8, flags, 0, 0, 0, 0, 0, 0];
        out.extend(self.how.resolution.unwrap_or_default().to_le_bytes());
        out.extend((self.rows as u64).to_le_bytes());
        out.extend(self.presence.iter().flatten());
        out.extend(&self.elements);
        out
    }

    fn reduce<T: Number>(&self) -> Result<(Vec<u8>, f64), Error> {
        let values: Vec<T> = self.elements.chunks_exact(T::SIZE).map(T::load).collect();
        let presence = self.presence.as_deref();
        let reduced = Reduced::new("a", &values, presence, &self.how)?;
        let column = Column { optional: presence.is_some(), ..Column::reduced("a", &reduced) };
        let layout = Layout::plan(&[column], self.rows as u64, 0, 8)?;
        let mut field = vec![0; layout.size()];
        let mut table = layout.write(&mut field)?;
        let mut columns = table.columns();
        columns[0].put(&reduced)?;
        if let (Some(from), Some(to)) = (presence, columns[0].presence()) {
            to.copy_from_slice(from);
            // Bits behind the last row are 0.
            if !self.rows.is_multiple_of(8) {
                to[self.rows / 8] &= (1 << (self.rows % 8)) - 1;
            }
        }
        Ok((field, reduced.error()))
    }
}

/// Calls a generic function with the type of an element.
macro_rules! with_element {
    ($element:expr, $call:ident($($argument:expr),*)) => {
        with_element!(@ $element, $call($($argument),*), F64 f64, F32 f32, F16 Half, U64 u64,
            U32 u32, U16 u16, U8 u8, I64 i64, I32 i32, I16 i16, I8 i8)
    };
    (@ $element:expr, $call:ident $arguments:tt, $($name:ident $type:ty),*) => {
        match $element {
            $(Element::$name => with_element!(@@ $call $type, $arguments),)*
            Element::None => unreachable!("no element"),
        }
    };
    (@@ $call:ident $type:ty, ($($argument:expr),*)) => { $call::<$type>($($argument),*) };
}

fn reduce<T: Number>(case: &Case) -> Result<(Vec<u8>, f64), Error> {
    case.reduce::<T>()
}

fn append<T: Number>(value: T, out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + T::SIZE, 0);
    value.store(&mut out[begin..]);
}

const ELEMENTS: [Element; 11] = [
    Element::F64,
    Element::F32,
    Element::F16,
    Element::U64,
    Element::U32,
    Element::U16,
    Element::U8,
    Element::I64,
    Element::I32,
    Element::I16,
    Element::I8,
];

/// A column of a kind that a sensor, a simulator or a vandal makes.
fn case(random: &mut Random, most: usize) -> Case {
    let element =
        if random.below(2) == 0 { Element::F64 } else { ELEMENTS[random.below(ELEMENTS.len())] };
    let rows = [random.below(most), random.below(20), 1024.min(most)][random.below(3)];
    let kind = random.below(8);
    let odd = [0, 0, 5, 200][random.below(4)];
    let mut walk = 0.0;
    let mut elements = Vec::new();
    for row in 0..rows {
        let unit = random.next() as f64 / u64::MAX as f64 - 0.5;
        walk += unit * if random.below(20) == 0 { 100.0 } else { 0.1 };
        let special = [f64::NAN, f64::INFINITY, -0.0, 5e-324, 1e16, 4.5e15, f64::MAX];
        let value = match kind {
            _ if odd != 0 && random.below(odd) == 0 => special[random.below(special.len())],
            0 => walk,
            1 => (walk * 100.0).round() / 100.0,
            2 => f64::from(walk as f32),
            3 => (row / 100) as f64,
            4 => f64::from_bits(random.next()),
            5 => (unit * 1e6).round() * 1e-7,
            6 => (walk * 4.0).round() / 4.0 + 0.125, // ties at a resolution of 0.25
            _ => 42.125,
        };
        match element {
            Element::F64 => append(value, &mut elements),
            Element::F32 => append(value as f32, &mut elements),
            Element::F16 => append(Half::from_f64(value), &mut elements),
            _ => {
                let bits = if kind == 4 { random.next() as i64 } else { value as i64 };
                elements.extend(&bits.to_le_bytes()[..element.size()]);
            }
        }
    }
    let resolution = [0.001, 0.25, 1.0 / 3.0, 1e-12, 0.0, -1.0, f64::NAN][random.below(7)];
    let presence = (random.below(3) == 0).then(|| {
        let dense = random.below(2) == 0;
        let byte = |_| random.next() as u8 | if dense { 0xfe } else { 0 };
        (0..rows.div_ceil(8)).map(byte).collect()
    });
    let how = Reduction {
        resolution: (random.below(3) != 0).then_some(resolution),
        whole_bytes: random.below(4) == 0,
    };
    Case { element, how, rows, presence, elements }
}

fn stream<'a>(parts: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        out.extend((part.len() as u32).to_le_bytes());
        out.extend(part);
    }
    out
}

/// The fields of cases, empty where refused, and what is said of each.
fn reduced(cases: &[Case]) -> (Vec<Vec<u8>>, String) {
    let mut fields = Vec::new();
    let mut told = String::new();
    for case in cases {
        match with_element!(case.element, reduce(case)) {
            Ok((field, error)) => {
                told += &format!("error {:016x}\n", error.to_bits());
                fields.push(field);
            }
            Err(error) => {
                told += &format!("{error}\n");
                fields.push(Vec::new());
            }
        }
    }
    (fields, told)
}

fn all_reduce_alike(cases: &[Case]) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let (given, out) = (folder.path().join("cases"), folder.path().join("fields"));
    let written: Vec<Vec<u8>> = cases.iter().map(Case::bytes).collect();
    fs::write(&given, stream(&written)).unwrap();
    let (fields, expected) = reduced(cases);
    for (tool, command) in TOOLS {
        let told = run(command().arg("reduce").arg(&given).arg(&out));
        for (at, (told, expected)) in told.lines().zip(expected.lines()).enumerate() {
            let Case { element, how, rows, .. } = &cases[at];
            assert_eq!(told, expected, "{tool}: case {at}: {element:?}, {how:?}, {rows} rows");
        }
        let all = fs::read(&out).unwrap();
        let mut at = 0;
        for (number, field) in fields.iter().enumerate() {
            let one = &all[at + 4..][..field.len()];
            assert!(one == field, "{tool} reduces case {number} to other bytes");
            at += 4 + field.len();
        }
        assert_eq!(at, all.len(), "{tool}");
    }
    fields
}

fn restore<T: Number>(view: &View<'_>, out: &mut String) {
    for values in view.columns() {
        for (first, end) in [(0, view.rows()), (view.rows() / 3, view.rows() / 2)] {
            let mut part = vec![T::load(&[0; 8][..T::SIZE]); end - first];
            assert!(values.read(first, &mut part));
            let mut bytes = Vec::new();
            part.into_iter().for_each(|value| append(value, &mut bytes));
            *out += &format!("rows {} {}\n", end - first, hash(&bytes));
        }
    }
}

fn restored(field: &[u8]) -> String {
    let view = View::open(field);
    let mut out = verdict("open", view.as_ref().map(|_| Vec::new()).map_err(Clone::clone));
    let Ok(view) = view else { return out };
    if let Some(element) = view.columns().first().and_then(|values| values.element) {
        if element != Element::None {
            with_element!(element, restore(&view, &mut out));
        }
    }
    out
}

fn all_restore_alike(fields: &[Vec<u8>]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let given = folder.path().join("fields");
    fs::write(&given, stream(fields)).unwrap();
    let expected: String = fields.iter().map(|field| restored(field)).collect();
    for (tool, command) in TOOLS {
        let told = run(command().arg("restore").arg(&given));
        for (at, (told, expected)) in told.lines().zip(expected.lines()).enumerate() {
            assert_eq!(told, expected, "{tool}, line {at}");
        }
        assert_eq!(told.len(), expected.len(), "{tool}");
    }
    expected
}

#[test]
fn all_languages_reduce_to_the_golden_bytes() {
    let mut random = Random(3);
    let cases: Vec<Case> = (0..40).map(|_| case(&mut random, 200)).collect();
    let fields = all_reduce_alike(&cases);
    compare("reduced.fields", &stream(&fields));
    let mut golden = fs::read(common::golden("reduced.fields")).unwrap();
    let mut read = Vec::new();
    while !golden.is_empty() {
        let size = u32::from_le_bytes(golden[..4].try_into().unwrap()) as usize;
        read.push(golden[4..4 + size].to_vec());
        golden.drain(..4 + size);
    }
    assert_eq!(read, fields);
    all_restore_alike(&read);
}

/// Rows of a message whose columns are reduced become the sub-messages that they
/// become in place.
#[test]
fn all_languages_unpack_what_is_reduced() {
    let folder = tempfile::tempdir().unwrap();
    let (given, out) = (folder.path().join("packed"), folder.path().join("plain"));
    let rows = 1500;
    let strength: Vec<f64> = (0..rows).map(|row| f64::from(row % 90) / 7.0).collect();
    let id: Vec<u32> = (0..rows as u32).map(|row| row / 50).collect();
    let mut bitmap = vec![0xffu8; 1500usize.div_ceil(8)];
    (bitmap[3], bitmap[187]) = (0x5a, 0x0f);
    let how = Reduction::resolution(0.01);
    let strength = Reduced::new("signal_strength", &strength, None, &how).unwrap();
    let id = Reduced::new("object_id", &id, Some(&bitmap), &Reduction::exact()).unwrap();
    let columns = [
        Column::reduced("signal_strength", &strength),
        Column::reduced("object_id", &id).optional(),
    ];
    let mut message = Message::new(Root::SensorView, &[]);
    message.add(Kind::LidarReflections, &columns, rows as u64, &[]).unwrap();
    let mut packed = vec![0; message.plan().unwrap()];
    let mut tables = message.write(&mut packed).unwrap();
    let mut columns = tables[0].columns();
    columns[0].put(&strength).unwrap();
    columns[1].put(&id).unwrap();
    columns[1].presence().unwrap().copy_from_slice(&bitmap);
    let plain = unpack(Root::SensorView, &packed, &UnpackOptions::default()).unwrap();
    let (again, _) = pack(Root::SensorView, &plain, &PackOptions::default()).unwrap();
    let view = first(Root::SensorView, &again, Kind::LidarReflections).unwrap().unwrap();
    for row in 0..rows as usize {
        let (value, id) = (view.values("signal_strength").unwrap(), view.values("object_id"));
        assert!((value.value(row) - (row % 90) as f64 / 7.0).abs() <= 0.005);
        assert_eq!(id.unwrap().present(row), bitmap[row / 8] >> (row % 8) & 1 != 0);
        assert!(!id.unwrap().present(row) || id.unwrap().value(row) == (row / 50) as f64);
    }
    fs::write(&given, &packed).unwrap();
    for (tool, command) in TOOLS {
        run(command().args(["unpack", "SensorView"]).arg(&given).arg(&out));
        assert!(fs::read(&out).unwrap() == plain, "{tool} unpacks other bytes");
        let shown = run(command().args(["dump", "SensorView"]).arg(&given));
        assert_eq!(shown, common::dump(Root::SensorView, &packed), "{tool}");
    }
}

/// A field of one column, name `a`, of `rows` rows; elements at 128.
fn one_column(rows: u64, element: Element, flags: u8, factors: (f64, f64), data: &[u8]) -> Vec<u8> {
    let mut field = b"WGPACKED".to_vec();
    for number in [1u16, 1, 32, 48] {
        field.extend(number.to_le_bytes());
    }
    field.extend(rows.to_le_bytes());
    field.extend([1u32, 1].map(u32::to_le_bytes).concat());
    field.extend([128u64, data.len() as u64, 0].map(u64::to_le_bytes).concat());
    field.extend([factors.0, factors.1].map(f64::to_le_bytes).concat());
    field.extend([0, 0, 0, 0, 1, 0, element as u8, flags, b'a']);
    field.resize(128, 0);
    field.extend(data);
    field
}

/// A block of one row, whose number is its base, behind its index.
fn one_block(form: u8, differences: u8, detail: u8, base: i64) -> Vec<u8> {
    let mut data = 20u32.to_le_bytes().to_vec();
    data.extend([form, differences, detail]);
    data.resize(16, 0);
    data.extend(base.to_le_bytes());
    data
}

/// What docs/packed.md says of places that are read in several ways, by its bytes.
#[test]
fn all_languages_read_the_odd_places_as_specified() {
    let both = one_column(1, Element::I16, 3, (10.0, 0.5), &one_block(0, 0, 0, -6));
    // At 32 stands the scale: that of a float's resolution would be form 1.
    let steps_in_both = one_column(1, Element::I16, 3, (10.0, 0.5), &one_block(1, 0, 0, -6));
    let negative = one_column(1, Element::I16, 3, (0.0, -0.5), &one_block(0, 0, 0, -6));
    let zero = one_column(1, Element::I16, 3, (0.0, 0.0), &one_block(0, 0, 0, -6));
    let both_on_doubles = one_column(1, Element::F64, 3, (0.0, 0.5), &one_block(0, 0, 0, 0));
    let steps = |byte| one_column(1, Element::F64, 2, (0.0, 0.5), &one_block(1, 0, byte, -6));
    let differences = |byte| {
        // A layer of no bits: the first difference is 0.
        one_column(1, Element::F64, 2, (0.0, 0.5), &one_block(1, byte, 0, -6))
    };
    let minus_zero = one_column(1, Element::F64, 2, (0.0, -0.0), &one_block(0, 0, 0, 0));
    let ignored = one_column(1, Element::I64, 0, (f64::NAN, 7.0), &3i64.to_le_bytes());
    let ignored_offset = one_column(1, Element::F64, 2, (f64::NAN, 0.5), &one_block(1, 0, 0, -6));
    let at = |offset: u64, rows: u64, flags: u8| {
        let mut field = one_column(rows, Element::None, flags, (0.0, 0.0), &[]);
        field[32..40].copy_from_slice(&offset.to_le_bytes());
        field
    };
    let empty = |offset: u64| {
        let mut field = one_column(0, Element::F64, 0, (0.0, 0.0), &[]);
        field[32..40].copy_from_slice(&offset.to_le_bytes());
        field
    };
    let empty_bitmap = |offset: u64| {
        let mut field = empty(128);
        field[48..56].copy_from_slice(&offset.to_le_bytes());
        field
    };
    let cases = [
        ("both flags", both.clone(), "open 0 "),
        ("both flags and form 1", steps_in_both, "open blocks 0 a"),
        ("both flags, scale below 0", negative, "open 0 "),
        ("both flags, scale 0", zero, "open scale 0 a"),
        ("both flags on doubles", both_on_doubles, "open scale 0 a"),
        ("form 1", steps(0), "open 0 "),
        ("form 1, byte 2 is 7", steps(7), "open blocks 0 a"),
        ("differences 1", differences(1), "open 0 "),
        ("differences 2", differences(2), "open blocks 0 a"),
        ("differences 255", differences(255), "open blocks 0 a"),
        ("resolution -0", minus_zero, "open 0 "),
        ("factors without a flag", ignored, "open 0 "),
        ("an offset without its flag", ignored_offset, "open 0 "),
        ("none, where the names end", at(81, 3, 0), "open 0 "),
        ("none, at the end", at(128, 3, 0), "open 0 "),
        ("none, at 0", at(0, 3, 0), "open overlap 0 a"),
        ("none, within the names", at(80, 3, 0), "open overlap 0 a"),
        ("none, behind the end", at(129, 3, 0), "open range 0 a"),
        ("none, reduced", at(128, 3, 2), "open element 0 a"),
        ("no rows, where the names end", empty(81), "open 0 "),
        ("no rows, at the end", empty(128), "open 0 "),
        ("no rows, at 0", empty(0), "open overlap 0 a"),
        ("no rows, behind the end", empty(129), "open range 0 a"),
        ("no rows, far behind the end", empty(u64::MAX), "open range 0 a"),
        ("a bitmap of no rows at the end", empty_bitmap(128), "open 0 "),
        ("a bitmap of no rows within the names", empty_bitmap(80), "open overlap 0 a"),
        ("a bitmap of no rows behind the end", empty_bitmap(129), "open range 0 a"),
    ];
    for (what, field, expected) in &cases {
        let told = restored(field);
        assert!(told.lines().next().unwrap().starts_with(expected.trim_end()), "{what}: {told}");
    }
    all_restore_alike(&cases.map(|(_, field, _)| field));
    let view = View::open(&both).unwrap();
    let values = view.values("a").unwrap();
    assert_eq!((values.value(0), values.resolution()), (7.0, None));
}

/// `released/packed-1.0.hpp` is the header as version 1.0 had it.
#[test]
fn a_released_reader_skips_what_is_reduced() {
    let program = compile("released", &["packed/rust/tests/released/read.cpp"]);
    let rows = 2000u32;
    let walk: Vec<f64> = (0..rows).map(|row| f64::from(row * row % 77) / 4.0).collect();
    let reduced = Reduced::new("b", &walk, None, &Reduction::resolution(0.5)).unwrap();
    let exact = Reduced::new("d", &walk, None, &Reduction::exact()).unwrap();
    let columns = [
        Column::f64("a"),
        Column::reduced("b", &reduced),
        Column::new("c", Element::U16).scaled(1.0, 0.25).optional(),
        Column::reduced("d", &exact).optional(),
        Column::new("e", Element::I32),
    ];
    let layout = Layout::plan(&columns, rows.into(), 0, 64).unwrap();
    let mut field = vec![0; layout.size()];
    let mut table = layout.write(&mut field).unwrap();
    let mut columns = table.columns();
    columns[0].sink::<f64>().unwrap().fill(walk.iter().copied());
    columns[1].put(&reduced).unwrap();
    for row in 0..rows as usize {
        assert!(columns[2].set(row, 1.5));
        if row % 2 == 0 {
            columns[2].set_present(row);
        }
    }
    columns[3].put(&exact).unwrap();
    columns[4].sink::<i32>().unwrap().fill((0..rows).map(|row| -(row as i32)));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("field");
    fs::write(&file, &field).unwrap();
    let told = run(Command::new(program).arg(&file));
    let sum: f64 = walk.iter().sum();
    assert_eq!(
        told,
        format!("a read {sum}\nb skipped 0\nc read 1500\nd skipped 0\ne read -1999000\n")
    );
}

#[test]
fn all_languages_reduce_and_restore_alike() {
    if blessing() {
        return;
    }
    let name = "all_languages_reduce_and_restore_alike";
    Seeds::new(HERE, "reduced_languages", name).try_each(2, |seed| {
        let mut random = Random(seed);
        let cases: Vec<Case> = (0..120).map(|_| case(&mut random, 2500)).collect();
        let fields = all_reduce_alike(&cases);
        all_restore_alike(&fields);
    });
}

#[test]
fn all_languages_refuse_the_same_damaged_blocks() {
    if blessing() {
        return;
    }
    let told = damaged(5);
    for fault in "element resolution blocks range".split_whitespace() {
        assert!(told.contains(&format!("open {fault} ")), "no damage ended in {fault}");
    }
    let name = "all_languages_refuse_the_same_damaged_blocks";
    Seeds::new(HERE, "reduced_languages", name).try_each(1, |seed| drop(damaged(seed)));
}

fn damaged(seed: u64) -> String {
    let mut random = Random(seed);
    let mut fields = Vec::new();
    while fields.len() < 1500 {
        let (made, _) = reduced(&[case(&mut random, 1200)]);
        for field in made.iter().filter(|field| !field.is_empty()) {
            fields.extend((0..10).map(|_| damage(field, &mut random)));
        }
    }
    // Rows without bytes would take a minute to go through.
    fields.retain(|field| View::open(field).map_or(true, |view| view.rows() < 1 << 16));
    all_restore_alike(&fields)
}
