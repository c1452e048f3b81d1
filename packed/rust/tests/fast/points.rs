//! Arrays of point structures: every byte comes back where columns are exact or plain,
//! and no coordinate is further away than half of its resolution.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wiregauge_packed::{
    Element, Fault, How, Plan, PointField, Points, Preset, Rule, View, MAXIMUM_SIZE,
};

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

fn field(name: &str, offset: usize, element: Element) -> PointField {
    PointField { name: name.into(), offset, element }
}

/// Fields one behind the other with gaps between them.
fn points() -> impl Strategy<Value = Points> {
    let one = (0..ELEMENTS.len(), 0..4usize);
    (vec(one, 0..9), 0..5usize, any::<bool>()).prop_map(|(all, tail, big_endian)| {
        let mut at = 0;
        let mut fields = Vec::new();
        for (index, (element, gap)) in all.into_iter().enumerate() {
            let element = ELEMENTS[element];
            fields.push(field(&format!("f[{index}]"), at + gap, element));
            at += gap + element.size();
        }
        Points::new(fields, at + tail, big_endian).unwrap()
    })
}

fn plans() -> impl Strategy<Value = Plan> {
    (0..3, any::<bool>()).prop_map(|(kind, whole_bytes)| Plan {
        presets: if kind == 0 { vec![] } else { vec![Preset::find("lidar-exact").unwrap()] },
        rules: match kind {
            2 => vec![Rule { column: "f[1]".into(), how: How::Plain }],
            _ => vec![],
        },
        whole_bytes,
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/seeds/points.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_byte_of_every_point_comes_back(
        points in points(),
        plan in plans(),
        rows in prop_oneof![0..3usize, 1000..1050usize],
        bytes in vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 1..300),
    ) {
        let size = rows * points.step();
        let data: Vec<u8> = bytes.iter().copied().cycle().take(size).collect();
        let (packed, costs) = points.pack(&data, &plan).unwrap();
        prop_assert_eq!(points.unpack(&packed, MAXIMUM_SIZE).unwrap(), data);
        prop_assert!(costs.iter().all(|cost| cost.error == 0.0 && cost.kind.is_none()));
        let view = View::open(&packed).unwrap();
        prop_assert_eq!(costs.len(), view.columns().len());
        for (cost, column) in costs.iter().zip(view.columns()) {
            prop_assert_eq!((cost.name.as_str(), cost.bytes), (column.name, column.data.len()));
            prop_assert_eq!(cost.reduction.is_some(), column.is_reduced());
        }
    }

    #[test]
    fn coordinates_are_within_half_of_their_resolution(
        values in vec(prop_oneof![-200.0..200.0f32, Just(f32::NAN)], 0..2100),
        step in prop_oneof![Just(1e-3), Just(0.25), 1e-6..1.0],
    ) {
        let points = Points::new(vec![field("x", 2, Element::F32)], 8, false).unwrap();
        let data: Vec<u8> =
            values.iter().flat_map(|x| [&[0, 0][..], &x.to_le_bytes(), &[9, 0]].concat()).collect();
        let rules = vec![Rule { column: "x".into(), how: How::Resolution(step, "m") }];
        let plan = Plan { rules, ..Plan::default() };
        let (packed, costs) = points.pack(&data, &plan).unwrap();
        let back = points.unpack(&packed, MAXIMUM_SIZE).unwrap();
        let mut largest = 0.0f64;
        for (x, point) in values.iter().zip(back.chunks_exact(8)) {
            prop_assert_eq!((&point[..2], &point[6..]), (&[0, 0][..], &[9, 0][..]));
            let back = f32::from_le_bytes(point[2..6].try_into().unwrap());
            if x.is_nan() {
                prop_assert_eq!(x.to_bits(), back.to_bits());
                continue;
            }
            largest = largest.max((f64::from(back) - f64::from(*x)).abs());
        }
        prop_assert!(largest <= step / 2.0);
        prop_assert_eq!(costs[0].error, largest, "what is told is what was made");
    }
}

#[test]
fn points_that_are_none_are_refused() {
    let refused = |fields, step| Points::new(fields, step, false).unwrap_err();
    let x = || field("x", 0, Element::F32);
    assert_eq!(refused(vec![x()], 3).fault, Fault::Points);
    assert_eq!(refused(vec![x(), x()], 8).fault, Fault::Duplicate);
    assert_eq!(refused(vec![x(), field("y", 3, Element::U8)], 8).name, "y");
    assert_eq!(refused(vec![field("a b", 0, Element::U8)], 8).fault, Fault::Name);
    assert_eq!(refused(vec![field("y", 0, Element::None)], 8).fault, Fault::Element);
    assert_eq!(refused(vec![field("y", usize::MAX, Element::U8)], 8).fault, Fault::Points);

    let points = Points::new(vec![x()], 6, false).unwrap();
    let plan = Plan::default();
    assert_eq!(points.pack(&[0; 7], &plan).unwrap_err().fault, Fault::Buffer);
    let none = Points::new(vec![], 0, false).unwrap();
    assert_eq!(none.pack(&[0], &plan).unwrap_err().fault, Fault::Buffer);
    let (packed, _) = points.pack(&[1; 12], &plan).unwrap();
    assert_eq!(points.unpack(&packed, 11).unwrap_err().fault, Fault::Limit);
    // A field of the points that is not there, of another type, or one more.
    for fields in [vec![x(), field("y", 4, Element::U8)], vec![field("x", 0, Element::U32)], vec![]]
    {
        let others = Points::new(fields, 6, false).unwrap();
        assert_eq!(others.unpack(&packed, 12).unwrap_err().fault, Fault::Points);
    }
    // Padding that is within a field of these points, or beyond them.
    for (fields, step) in [(vec![x(), field("padding.5", 5, Element::U16)], 7), (vec![x()], 5)] {
        let others = Points::new(fields, step, false).unwrap();
        assert_eq!(others.unpack(&packed, 14).unwrap_err().fault, Fault::Points);
    }
    // A huge point of no rows takes nothing.
    let huge = Points::new(vec![], usize::MAX, true).unwrap();
    let (empty, _) = huge.pack(&[], &plan).unwrap();
    assert_eq!(huge.unpack(&empty, 0).unwrap(), [0u8; 0]);
    assert_eq!(huge.unpack(&packed, MAXIMUM_SIZE).unwrap_err().fault, Fault::Limit);
}
