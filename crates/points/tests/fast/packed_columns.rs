//! Columns of the packed field come out as they went in: in their types, and to the bit.

use crate::support::*;
use arrow_schema::DataType;
use proptest::prelude::*;
use wiregauge_packed::{
    Column, Element, Extent, Half, Kind, Message as PackedMessage, Reduced, Reduction, Root,
};
use wiregauge_points::{ChannelPoints, PointSource, Points, SensorConventions, Type, Values};

/// What OSI has a column as.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Number,
    Identifier,
    Entry,
}

/// Columns of a lidar's detections.
const COLUMNS: [(&str, Meaning); 5] = [
    ("existence_probability", Meaning::Number),
    ("position_rmse.distance", Meaning::Number),
    ("object_id", Meaning::Identifier),
    ("intensity", Meaning::Number),
    ("classification", Meaning::Entry),
];

/// Offset and scale that lose nothing of 32 bits.
const SCALE: (f64, f64) = (0.5, 0.25);

/// A column to write: the bits of its elements.
#[derive(Clone, Debug)]
struct PackedColumn {
    name: &'static str,
    meaning: Meaning,
    element: Element,
    is_scaled: bool,
    is_reduced: bool,
    present: Option<Vec<bool>>,
    bits: Vec<u64>,
}

/// Does the same with elements of each type.
macro_rules! typed {
    ($element:expr, $bits:expr, $list:ident => $what:expr) => {{
        macro_rules! of {
            ($make:expr) => {{
                let $list: Vec<_> = $bits.iter().map(|bits: &u64| $make(*bits)).collect();
                $what
            }};
        }
        match $element {
            Element::F64 => of!(f64::from_bits),
            Element::F32 => of!(|bits| f32::from_bits(bits as u32)),
            Element::F16 => of!(|bits| Half(bits as u16)),
            Element::U64 => of!(|bits: u64| bits),
            Element::U32 => of!(|bits| bits as u32),
            Element::U16 => of!(|bits| bits as u16),
            Element::U8 => of!(|bits| bits as u8),
            Element::I64 => of!(|bits| bits as i64),
            Element::I32 => of!(|bits| bits as i32),
            Element::I16 => of!(|bits| bits as i16),
            Element::I8 => of!(|bits| bits as i8),
            Element::None => unreachable!("a column has elements"),
        }
    }};
}

/// A SensorData with these columns in the packed field.
fn encode(columns: &[PackedColumn]) -> Vec<u8> {
    let bitmap = |present: &Vec<bool>| -> Vec<u8> {
        let bits = present.chunks(8).map(|eight| {
            eight.iter().enumerate().map(|(at, present)| u8::from(*present) << at).sum()
        });
        bits.collect()
    };
    let reduced: Vec<Option<Reduced>> = columns
        .iter()
        .map(|column| {
            let bits = column.present.as_ref().map(bitmap);
            column.is_reduced.then(|| {
                typed!(column.element, column.bits, list => {
                    Reduced::new(column.name, &list, bits.as_deref(), &Reduction::exact()).unwrap()
                })
            })
        })
        .collect();
    let described: Vec<Column> = columns
        .iter()
        .zip(&reduced)
        .map(|(column, reduced)| Column {
            optional: column.present.is_some(),
            scale: column.is_scaled.then_some(SCALE),
            reduced: reduced.as_ref().map(|of| Extent { resolution: None, size: of.size() }),
            ..Column::new(column.name, column.element)
        })
        .collect();
    let rows = columns[0].bits.len() as u64;
    let mut message = PackedMessage::new(Root::SensorData, &[]);
    message.add(Kind::LidarDetections, &described, rows, &[]).unwrap();
    let mut buffer = vec![0; message.plan().unwrap()];
    let mut tables = message.write(&mut buffer).unwrap();
    for ((out, column), reduced) in tables[0].columns().iter_mut().zip(columns).zip(&reduced) {
        match reduced {
            Some(reduced) => out.put(reduced).unwrap(),
            None => typed!(column.element, column.bits, list => out.sink().unwrap().fill(list)),
        }
        for (row, present) in column.present.iter().flatten().enumerate() {
            if *present {
                out.set_present(row);
            }
        }
    }
    drop(tables);
    buffer
}

/// The type in which a column comes out.
fn wanted_type(column: &PackedColumn) -> (Type, DataType) {
    let wide = match column.meaning {
        Meaning::Number => (Type::F64, DataType::Float64),
        Meaning::Identifier => (Type::U64, DataType::UInt64),
        Meaning::Entry => (Type::I32, DataType::Int32),
    };
    match (column.element, column.meaning) {
        _ if column.is_scaled => wide,
        (Element::F32 | Element::F16, _) => (Type::F32, DataType::Float32),
        (Element::U32, Meaning::Entry) => wide,
        (Element::I8 | Element::I16 | Element::I32, Meaning::Identifier) => wide,
        (Element::U8, _) => (Type::U8, DataType::UInt8),
        (Element::U16, _) => (Type::U16, DataType::UInt16),
        (Element::U32, _) => (Type::U32, DataType::UInt32),
        (Element::U64, _) => (Type::U64, DataType::UInt64),
        (Element::I8, _) => (Type::I8, DataType::Int8),
        (Element::I16, _) => (Type::I16, DataType::Int16),
        (Element::I32, _) => (Type::I32, DataType::Int32),
        _ => wide,
    }
}

/// The bits of the elements that a column was made of.
fn elements_of(values: &Values, column: &PackedColumn) -> Vec<u64> {
    let size = 8 * column.element.size();
    let cut = |bits: u64| if size < 64 { bits & ((1 << size) - 1) } else { bits };
    if column.is_scaled {
        let Values::F64(list) = values else { panic!("{values:?}") };
        let raw = list.iter().zip(present(column));
        let raw = raw.map(|(value, present)| match present {
            true => ((value - SCALE.0) / SCALE.1) as i64 as u64,
            false => 0,
        });
        return raw.map(cut).collect();
    }
    match values {
        Values::F64(list) => list.iter().map(|value| value.to_bits()).collect(),
        Values::F32(list) if column.element == Element::F16 => {
            list.iter().map(|value| Half::from_f64(f64::from(*value)).0.into()).collect()
        }
        Values::F32(list) => list.iter().map(|value| value.to_bits().into()).collect(),
        Values::U64(list) => list.iter().map(|value| cut(*value)).collect(),
        Values::U32(list) => list.iter().map(|value| (*value).into()).collect(),
        Values::U16(list) => list.iter().map(|value| (*value).into()).collect(),
        Values::U8(list) => list.iter().map(|value| (*value).into()).collect(),
        Values::I32(list) => list.iter().map(|value| cut(*value as u64)).collect(),
        Values::I16(list) => list.iter().map(|value| cut(*value as u64)).collect(),
        Values::I8(list) => list.iter().map(|value| cut(*value as u64)).collect(),
    }
}

fn present(column: &PackedColumn) -> Vec<bool> {
    column.present.clone().unwrap_or_else(|| vec![true; column.bits.len()])
}

fn conventions() -> SensorConventions {
    SensorConventions::default()
}

/// The points of a message, with the columns that were packed alone.
fn read(message: &[u8], columns: &[PackedColumn]) -> Points {
    let names: Vec<String> = columns.iter().map(|column| column.name.replace('.', "_")).collect();
    let source = PointSource::from_channel(&sensor_data()).unwrap().with_columns(&names);
    let mut lists = source.points(message, conventions()).unwrap();
    assert_eq!(lists.len(), 1);
    lists.remove(0)
}

fn element(meaning: Meaning) -> impl Strategy<Value = Element> {
    let elements = match meaning {
        Meaning::Number => &[
            Element::F64,
            Element::F32,
            Element::F16,
            Element::U64,
            Element::U32,
            Element::U16,
            Element::U8,
            Element::I32,
            Element::I16,
            Element::I8,
        ][..],
        Meaning::Identifier => {
            &[Element::U64, Element::U32, Element::U16, Element::U8, Element::I32, Element::I8][..]
        }
        Meaning::Entry => {
            &[Element::I32, Element::I16, Element::I8, Element::U32, Element::U16, Element::U8][..]
        }
    };
    proptest::sample::select(elements)
}

fn column(
    name: &'static str,
    meaning: Meaning,
    rows: usize,
) -> impl Strategy<Value = PackedColumn> {
    let bits = proptest::collection::vec(any::<u64>(), rows);
    let absent = proptest::option::of(0..rows);
    (element(meaning), any::<[bool; 2]>(), bits, absent).prop_map(
        move |(element, [is_scaled, is_reduced], mut bits, absent)| {
            let is_whole = element.is_integer() && element.size() < 8;
            let is_scaled = is_scaled && is_whole && meaning == Meaning::Number;
            let size = 8 * element.size();
            for bits in &mut bits {
                *bits &= u64::MAX >> (64 - size);
                // Of halves a NaN stays one, and not each of its bits; an entry has 32 bits.
                if element == Element::F16 && *bits & 0x7c00 == 0x7c00 {
                    *bits &= 0xfc00;
                }
            }
            let present = absent.filter(|_| rows > 1).map(|absent| {
                bits[absent] = 0;
                (0..rows).map(|row| row != absent).collect()
            });
            PackedColumn { name, meaning, element, is_scaled, is_reduced, present, bits }
        },
    )
}

fn columns() -> impl Strategy<Value = Vec<PackedColumn>> {
    (1usize..300)
        .prop_flat_map(|rows| COLUMNS.map(|(name, meaning)| column(name, meaning, rows)))
        .prop_map(Vec::from)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packed_columns_come_out_as_they_went_in(columns in columns()) {
        let message = encode(&columns);
        let points = read(&message, &columns);
        let mut again = columns.clone();
        prop_assert_eq!(points.columns.len(), columns.len());
        for column in &mut again {
            let name = column.name.replace('.', "_");
            let own = points.columns.iter().find(|own| own.name == name).unwrap();
            prop_assert_eq!(own.values.kind(), wanted_type(column).0);
            prop_assert_eq!(&own.present, &column.present);
            column.bits = elements_of(&own.values, column);
        }
        // What was read is packed to the same bytes.
        prop_assert_eq!(encode(&again), message);
    }
}

#[test]
fn tables_have_the_types_of_the_packed_field() {
    let column = |(name, meaning), element, bits| PackedColumn {
        name,
        meaning,
        element,
        is_scaled: false,
        is_reduced: false,
        present: None,
        bits,
    };
    let bits = |value: f32| u64::from(value.to_bits());
    let narrow = [
        column(COLUMNS[3], Element::F32, vec![bits(0.1), bits(-2.5)]),
        column(COLUMNS[2], Element::U16, vec![7, 65_535]),
    ];
    let wide = [column(COLUMNS[3], Element::F64, vec![0.1f64.to_bits()])];
    let wanted = ["intensity", "object_id", "height"].map(str::to_owned);
    let begin = || ChannelPoints::new(&sensor_data(), &wanted, conventions()).unwrap();
    let mut points = begin();
    points.push(&head(1, 0), &encode(&narrow)).unwrap();
    let schema = points.schema().unwrap();
    let types: Vec<&DataType> =
        schema.fields()[3..].iter().map(|field| field.data_type()).collect();
    // What the first message lacks has the type of the definition.
    assert_eq!(types, [&DataType::Float32, &DataType::UInt16, &DataType::Float64]);
    let error = format!("{:#}", points.push(&head(2, 0), &encode(&wide)).unwrap_err());
    assert!(error.contains("its column intensity is F64, and F32 in those before"), "{error}");
    assert_eq!(points.finish().unwrap().num_rows(), 2);
    // A wider column takes narrower values.
    let mut points = begin();
    points.push(&head(1, 0), &encode(&wide)).unwrap();
    points.push(&head(2, 0), &encode(&narrow)).unwrap();
    assert_eq!(points.finish().unwrap().num_rows(), 3);
    // Points have rows without a value, too.
    let none = ["beam_id".to_owned()];
    let mut points = ChannelPoints::new(&sensor_data(), &none, conventions()).unwrap();
    assert_eq!(points.push(&head(1, 0), &encode(&narrow)).unwrap(), 2);
}
