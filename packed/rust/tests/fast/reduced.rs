//! Reduced columns: every bit comes back, or no value is further away than half
//! of the resolution; and blocks that lie are refused.

use crate::common::{damage, Random};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wiregauge_packed::{
    Column, Element, Error, Fault, Half, Layout, Number, Reduced, Reduction, View,
};

/// A field of one reduced column.
fn field(name: &str, elements: &Reduced, rows: usize, presence: Option<&[u8]>) -> Vec<u8> {
    let column = Column::reduced(name, elements);
    let column = if presence.is_some() { column.optional() } else { column };
    let layout = Layout::plan(&[column], rows as u64, 0, 8).unwrap();
    let mut bytes = vec![0xee; layout.size()];
    let mut table = layout.write(&mut bytes).unwrap();
    let mut columns = table.columns();
    columns[0].put(elements).unwrap();
    if let (Some(from), Some(to)) = (presence, columns[0].presence()) {
        to.copy_from_slice(from);
    }
    bytes
}

/// Reduces and restores, also in parts.
fn restored<T: Number + Default>(
    values: &[T],
    presence: Option<&[u8]>,
    how: &Reduction,
) -> Result<Vec<T>, Error> {
    let elements = Reduced::new("a", values, presence, how)?;
    let bytes = field("a", &elements, values.len(), presence);
    let view = View::open(&bytes).unwrap();
    let column = view.values("a").unwrap();
    assert!(column.is_reduced() && column.resolution() == how.resolution);
    assert_eq!(view.minor_version(), 1);
    assert!(view.raw_column::<T>("a").is_none(), "a reduced column is not in place");
    let mut out = vec![T::default(); values.len()];
    assert!(column.read(0, &mut out));
    let mut random = Random(values.len() as u64);
    for _ in 0..3 {
        let first = random.below(values.len());
        let mut part = vec![T::default(); random.below(values.len() - first)];
        assert!(column.read(first, &mut part));
        let same = part.iter().zip(&out[first..]).all(|(a, b)| bits(*a) == bits(*b));
        assert!(same, "rows from {first} on differ from the whole");
    }
    Ok(out)
}

fn bits<T: Number>(value: T) -> Vec<u8> {
    let mut out = vec![0; T::SIZE];
    value.store(&mut out);
    out
}

fn is_present(presence: Option<&[u8]>, row: usize) -> bool {
    presence.is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 != 0)
}

/// Doubles of many kinds: walks, decimals, layers, what is random, what is none.
fn doubles() -> impl Strategy<Value = Vec<f64>> {
    let rows = prop_oneof![0..40usize, 1000..1050usize, 2040..3080usize];
    (rows, any::<u64>(), 0..8, prop_oneof![Just(0), Just(7), Just(300)]).prop_map(
        |(rows, seed, kind, odd)| {
            let mut random = Random(seed);
            let mut walk = 0.0;
            let mut one = |row: usize| {
                let unit = random.next() as f64 / u64::MAX as f64 - 0.5;
                walk += unit * if random.below(20) == 0 { 10.0 } else { 0.01 };
                let special = [f64::NAN, f64::INFINITY, -0.0, 5e-324, f64::MIN, f64::MAX];
                match kind {
                    _ if odd != 0 && random.below(odd) == 0 => special[random.below(special.len())],
                    0 => walk,
                    1 => (walk * 100.0).round() / 100.0,
                    2 => f64::from((walk * 7.0) as f32),
                    3 => (row / 100) as f64,
                    4 => f64::from_bits(random.next()),
                    5 => unit * 1e9,
                    6 => (unit * 1e6).round() * 1e-7,
                    _ => 42.125,
                }
            };
            (0..rows).map(&mut one).collect()
        },
    )
}

fn presence() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop_oneof![Just(None), vec(any::<u8>(), 400).prop_map(Some), Just(Some(vec![0; 400]))]
}

fn config() -> ProptestConfig {
    let seeds = FileFailurePersistence::Direct("tests/seeds/reduced.txt");
    ProptestConfig { failure_persistence: Some(Box::new(seeds)), ..ProptestConfig::default() }
}

/// The bitmap for so many rows, and none for the bits behind them.
fn cut(presence: &Option<Vec<u8>>, rows: usize) -> Option<Vec<u8>> {
    presence.as_ref().map(|bits| bits[..rows.div_ceil(8)].to_vec())
}

fn comes_back<T: Number + Default>(values: &[T], presence: Option<&[u8]>) {
    for how in [Reduction::exact(), Reduction::exact().in_whole_bytes()] {
        let back = restored(values, presence, &how).unwrap();
        for (row, (&a, &b)) in values.iter().zip(&back).enumerate() {
            assert!(bits(a) == bits(b) || !is_present(presence, row), "row {row}");
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_bit_comes_back(values in doubles(), presence in presence()) {
        let presence = cut(&presence, values.len());
        let presence = presence.as_deref();
        comes_back(&values, presence);
        comes_back(&values.iter().map(|&v| v as f32).collect::<Vec<f32>>(), presence);
        comes_back(&values.iter().map(|&v| Half::from_f64(v)).collect::<Vec<Half>>(), presence);
        comes_back(&values.iter().map(|&v| v.to_bits()).collect::<Vec<u64>>(), presence);
        comes_back(&values.iter().map(|&v| v as i64).collect::<Vec<i64>>(), presence);
        comes_back(&values.iter().map(|&v| v.to_bits() as u32).collect::<Vec<u32>>(), presence);
        comes_back(&values.iter().map(|&v| v as i32).collect::<Vec<i32>>(), presence);
        comes_back(&values.iter().map(|&v| (v * 8.0) as u16).collect::<Vec<u16>>(), presence);
        comes_back(&values.iter().map(|&v| v.to_bits() as i16).collect::<Vec<i16>>(), presence);
        comes_back(&values.iter().map(|&v| v as u8).collect::<Vec<u8>>(), presence);
        comes_back(&values.iter().map(|&v| v.to_bits() as i8).collect::<Vec<i8>>(), presence);
    }

    #[test]
    fn no_value_is_further_away_than_half_of_the_resolution(
        values in doubles(),
        presence in presence(),
        resolution in prop_oneof![
            Just(1.0), Just(0.001), Just(0.1), Just(1.0 / 3.0), Just(5e-324), 1e-9..1e9f64,
        ],
        whole in any::<bool>(),
    ) {
        let presence = cut(&presence, values.len());
        let presence = presence.as_deref();
        let how = Reduction { resolution: Some(resolution), whole_bytes: whole };
        within(&values, &values, presence, &how)?;
        let narrow: Vec<f32> = values.iter().map(|&v| v as f32).collect();
        let wide: Vec<f64> = narrow.iter().map(|&v| f64::from(v)).collect();
        within(&narrow, &wide, presence, &how)?;
    }

    #[test]
    fn damaged_blocks_are_read_or_refused(values in doubles(), seed in any::<u64>()) {
        let mut random = Random(seed);
        for how in [Reduction::exact(), Reduction::resolution(0.25)] {
            let Ok(elements) = Reduced::new("a", &values, None, &how) else { continue };
            let bytes = field("a", &elements, values.len(), None);
            for _ in 0..20 {
                if let Ok(view) = View::open(&damage(&bytes, &mut random)) {
                    for column in view.columns() {
                        let mut out = vec![0.0; view.rows()];
                        std::hint::black_box(column.read(0, &mut out));
                    }
                }
            }
        }
    }
}

/// Holds what comes back against the values, which `wide` has as doubles.
fn within<T: Number + Default + Into<f64>>(
    values: &[T],
    wide: &[f64],
    presence: Option<&[u8]>,
    how: &Reduction,
) -> Result<(), TestCaseError> {
    let resolution = how.resolution.unwrap();
    let too_large = |(row, value): (usize, &f64)| {
        is_present(presence, row)
            && value.is_finite()
            && (value / resolution).abs() >= 2f64.powi(51)
    };
    let refused = wide.iter().enumerate().any(too_large);
    let back = match restored(values, presence, how) {
        Err(error) => {
            prop_assert_eq!((error.fault, &*error.name), (Fault::Steps, "a"));
            prop_assert!(refused, "no value is too large");
            return Ok(());
        }
        Ok(back) => back,
    };
    prop_assert!(!refused, "a value that is too large is taken");
    let mut largest = 0.0f64;
    for (row, (&value, &back)) in values.iter().zip(&back).enumerate() {
        if !is_present(presence, row) {
            continue;
        }
        if wide[row].is_finite() {
            let error = (back.into() - wide[row]).abs();
            prop_assert!(error <= resolution / 2.0, "row {}: {}", row, wide[row]);
            largest = largest.max(error);
        } else {
            prop_assert_eq!(bits(value), bits(back));
        }
    }
    let stated = Reduced::new("a", values, presence, how).unwrap().error();
    prop_assert!(stated == largest, "{} is said, {} is made", stated, largest);
    Ok(())
}

#[test]
fn a_resolution_is_a_positive_number_on_floats() {
    for resolution in [0.0, -1.0, f64::NAN, f64::INFINITY, -0.0] {
        let how = Reduction::resolution(resolution);
        let error = Reduced::new("doppler_shift", &[1.0], None, &how).unwrap_err();
        assert_eq!((error.fault, &*error.name), (Fault::Resolution, "doppler_shift"));
    }
    let how = Reduction::resolution(1.0);
    assert_eq!(Reduced::new("a", &[1u8], None, &how).unwrap_err().fault, Fault::Resolution);
    assert_eq!(Reduced::new("a", &[Half(0)], None, &how).unwrap_err().fault, Fault::Resolution);
    let error = Reduced::new("a", &[1e16], None, &how).unwrap_err();
    assert_eq!(error.fault, Fault::Steps);
    assert_eq!(
        error.to_string(),
        "a value of column 'a' is 2^51 of its resolution or more away from 0"
    );
}

/// One column of 1,100 rows in two blocks: differences with two layers of places,
/// then values above a base. The descriptor is at 32, the name at 80, elements
/// at 88: the index at 88, the first block at 96.
fn example() -> Vec<u8> {
    let mut random = Random(1);
    let mut value = 0.0;
    let mut one = |row: usize| {
        if row == 7 {
            return f64::NAN;
        }
        value += match random.below(100) {
            0..3 => 1e5,
            3..30 => 40.0,
            _ => random.below(3) as f64,
        };
        value
    };
    let values: Vec<f64> = (0..1100).map(&mut one).collect();
    let elements = Reduced::new("a", &values, None, &Reduction::resolution(1.0)).unwrap();
    field("a", &elements, 1100, None)
}

#[test]
fn every_check_of_blocks_refuses() {
    let good = example();
    assert!(View::open(&good).is_ok());
    let layers = &good[96 + 3..96 + 10];
    assert!(layers[1] != 0 && layers[2] != 0, "the example has all layers: {layers:?}");
    assert_eq!(&good[96 + 10..96 + 12], [1, 0], "and a value as it is");
    let edit = |what: &str, at: usize, bytes: &[u8], fault| {
        let mut field = good.clone();
        field[at..at + bytes.len()].copy_from_slice(bytes);
        let error = View::open(&field).expect_err(what);
        assert_eq!((error.fault, &*error.name), (fault, "a"), "{what}");
    };
    for resolution in [-1.0, f64::NAN, f64::INFINITY] {
        edit("no resolution", 64, &f64::to_le_bytes(resolution), Fault::Resolution);
    }
    edit("exact, but with steps", 64, &[0; 8], Fault::Blocks);
    edit("a resolution on integers", 78, &[Element::I64 as u8], Fault::Resolution);
    edit("elements without bytes", 78, &[Element::None as u8], Fault::Element);
    edit("other elements", 78, &[Element::F32 as u8], Fault::Blocks);
    edit("a scale on doubles", 79, &[3], Fault::Scale);
    edit("fewer rows", 16, &(1090u16).to_le_bytes(), Fault::Blocks);
    edit("more rows", 16, &(1109u16).to_le_bytes(), Fault::Blocks);
    edit("other blocks", 16, &(1024u16).to_le_bytes(), Fault::Blocks);
    edit("a billion rows", 16, &(1u64 << 30).to_le_bytes(), Fault::Blocks);
    edit("an index beyond the end", 88, &[0xff; 4], Fault::Blocks);
    edit("an index backwards", 92, &[1, 0, 0, 0], Fault::Blocks);
    edit("an empty block", 88, &[0; 4], Fault::Blocks);
    edit("an unknown form", 96, &[3], Fault::Blocks);
    edit("decimals with a resolution", 96, &[2], Fault::Blocks);
    edit("bits with values as they are", 96, &[0], Fault::Blocks);
    edit("an unknown flag", 97, &[2], Fault::Blocks);
    edit("steps with a power", 98, &[1], Fault::Blocks);
    edit("another width", 99, &[good[99] + 8], Fault::Blocks);
    edit("wider than 64 bits", 99, &[65], Fault::Blocks);
    edit("wider than 64 bits in sum", 99, &[63], Fault::Blocks);
    edit("a layer of no bits", 100, &[0], Fault::Blocks);
    edit("more in the second layer", 102, &[0xff, 0xff], Fault::Blocks);
    edit("more in the third layer", 104, &[0xff, 0xff], Fault::Blocks);
    edit("more values as they are", 106, &[2], Fault::Blocks);
    // The first layer's numbers, then the bitmap of those that go on.
    let bitmap = 96 + 20 + 1024 * usize::from(good[99]) / 8;
    edit("another bitmap", bitmap, &[good[bitmap] ^ 1], Fault::Blocks);
    let end = 96 + u32::from_le_bytes(good[88..92].try_into().unwrap()) as usize;
    assert_eq!(&good[end - 10..end - 8], [7, 0]);
    edit("a value beyond the rows", end - 10, &1024u16.to_le_bytes(), Fault::Blocks);
    let mut longer = good.clone();
    longer.push(0);
    longer[40] += 1;
    assert_eq!(View::open(&longer).unwrap_err().fault, Fault::Blocks, "a byte behind the blocks");
    for size in 0..good.len() {
        assert!(View::open(&good[..size]).is_err(), "{size} bytes are taken");
    }
}

#[test]
fn rows_cost_bytes_even_where_all_are_the_same() {
    // What 40 bytes, or any number of them, can claim is bounded by the index.
    let same = vec![42.0; 100_000];
    let elements = Reduced::new("a", &same, None, &Reduction::exact()).unwrap();
    assert_eq!(elements.size(), 98 * 24);
}

#[test]
fn unlike_columns_are_not_put() {
    let few = Reduced::new("a", &[1.0, 2.0], None, &Reduction::exact()).unwrap();
    let many = Reduced::new("a", &vec![0.1; 3000], None, &Reduction::exact()).unwrap();
    let columns = [Column::reduced("a", &few), Column::f64("b")];
    let layout = Layout::plan(&columns, 2, 0, 8).unwrap();
    let mut bytes = vec![0; layout.size()];
    let mut table = layout.write(&mut bytes).unwrap();
    let mut columns = table.columns();
    assert_eq!(columns[0].put(&many).unwrap_err().fault, Fault::Buffer);
    assert_eq!(columns[1].put(&few).unwrap_err().fault, Fault::Buffer);
    assert!(columns[0].sink::<f64>().is_none());
    assert!(!columns[0].set(0, 1.0));
}
