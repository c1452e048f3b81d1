//! Clouds and scans of Foxglove in Protobuf.

use proptest::prelude::*;
use wiregauge_points::{Column, PointSource, Points, Pose, SensorConventions, Values};

use crate::support::{channel, message, vector, Bytes, Double, Field, Message, Number};

fn read(kind: &str, message: &[u8]) -> anyhow::Result<Points> {
    let channel = channel("/points", &format!("foxglove.{kind}"), "protobuf");
    let source = PointSource::from_channel(&channel).unwrap();
    Ok(source.points(message, SensorConventions::default())?.remove(0))
}

/// A field of four bytes.
fn fixed32(number: u8, value: u32) -> Vec<u8> {
    [&[number << 3 | 5][..], &value.to_le_bytes()].concat()
}

/// The description of a field of points.
fn element(name: &str, offset: u32, kind: u64) -> Field {
    let parts = [message(&[Bytes(1, name.into()), Number(3, kind)]), fixed32(2, offset)];
    Bytes(5, parts.concat())
}

fn cloud(stride: u32, fields: &[(&str, u32, u64)], data: &[u8]) -> Vec<u8> {
    let fields = fields.iter().map(|(name, offset, kind)| element(name, *offset, *kind));
    let fields: Vec<Field> = fields.chain([Bytes(6, data.to_vec())]).collect();
    [fixed32(4, stride), message(&fields)].concat()
}

fn values<'p>(points: &'p Points, name: &str) -> &'p Values {
    let is_it = |column: &&Column| column.name == name;
    &points.columns.iter().find(is_it).unwrap().values
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn clouds_are_read_in_any_layout(
        rows in prop::collection::vec((any::<u16>(), any::<i8>(), any::<[u32; 2]>(), any::<u64>()), 0..40),
        gaps in prop::array::uniform5(0..5usize),
    ) {
        let sizes = [2, 1, 4, 4, 8];
        let mut starts = [0; 5];
        let mut stride = 0;
        for at in 0..5 {
            starts[at] = stride + gaps[at];
            stride = starts[at] + sizes[at];
        }
        let mut data = vec![0xa5; rows.len() * stride];
        for (point, (a, b, [c, d], e)) in data.chunks_mut(stride).zip(&rows) {
            let parts = [&a.to_le_bytes()[..], &b.to_le_bytes(), &c.to_le_bytes(), &d.to_le_bytes(), &e.to_le_bytes()];
            for (start, part) in starts.iter().zip(parts) {
                point[*start..start + part.len()].copy_from_slice(part);
            }
        }
        let names = ["a", "b", "x", "y", "e"].into_iter().zip(starts).zip([3, 2, 5, 7, 8]);
        let fields: Vec<_> =
            names.map(|((name, start), kind)| (name, start as u32, kind)).collect();
        let points = read("PointCloud", &cloud(stride as u32, &fields, &data)).unwrap();
        prop_assert_eq!(points.count, rows.len());
        prop_assert_eq!(points.unplaced, None);
        prop_assert_eq!(values(&points, "a"), &Values::U16(rows.iter().map(|row| row.0).collect()));
        prop_assert_eq!(values(&points, "b"), &Values::I8(rows.iter().map(|row| row.1).collect()));
        prop_assert_eq!(values(&points, "x"), &Values::U32(rows.iter().map(|row| row.2[0]).collect()));
        let Values::F32(floats) = values(&points, "y") else { panic!("floats") };
        prop_assert!(floats.iter().zip(&rows).all(|(value, row)| value.to_bits() == row.2[1]));
        let Values::F64(doubles) = values(&points, "e") else { panic!("doubles") };
        prop_assert!(doubles.iter().zip(&rows).all(|(value, row)| value.to_bits() == row.3));
    }
}

#[test]
fn time_frame_and_pose_are_read_also_in_pieces() {
    let piece = |field| message(&[Message(1, vec![field])]);
    let turned = Message(2, vec![Double(3, 1.0), Double(4, 0.0)]);
    let whole = [
        piece(Number(1, 7)),
        piece(Number(2, 5)),
        message(&[Bytes(2, "lidar".into()), Message(3, vec![vector(1, [1.0, 2.0, 3.0]), turned])]),
    ];
    let points = read("PointCloud", &whole.concat()).unwrap();
    assert_eq!((points.time, points.count), (Some(7_000_000_005), 0));
    assert_eq!(points.frame.as_deref(), Some("lidar"));
    let pose = Pose { position: [1.0, 2.0, 3.0], orientation: [0.0, 0.0, 1.0, 0.0] };
    assert_eq!(points.pose, Some(pose));
    let moved = message(&[Message(3, vec![vector(1, [1.0, 0.0, 0.0])])]);
    let pose = read("PointCloud", &moved).unwrap().pose.unwrap();
    assert_eq!(pose.orientation, Pose::ORIGIN.orientation);
    let nothing = read("LaserScan", &[]).unwrap();
    assert_eq!((nothing.count, nothing.time, nothing.pose), (0, None, None));
}

#[test]
fn scans_are_read_packed_and_one_by_one() {
    let ranges = [1.0, 2.0, f64::INFINITY];
    let angles = [Double(4, 0.0), Double(5, std::f64::consts::PI)];
    let packed = |number, list: &[f64]| {
        Bytes(number, list.iter().flat_map(|value| value.to_le_bytes()).collect())
    };
    let alone = ranges.map(|range| Double(6, range));
    let forms = [message(&[packed(6, &ranges), packed(7, &[4.0, 5.0, 6.0])]), message(&alone)];
    for (form, has_intensities) in forms.iter().zip([true, false]) {
        let points = read("LaserScan", &[message(&angles), form.clone()].concat()).unwrap();
        let [x, y] = ["x", "y"].map(|name| match values(&points, name) {
            Values::F64(list) => list.clone(),
            _ => panic!("doubles"),
        });
        assert!((x[0] - 1.0).abs() < 1e-12 && x[1].abs() < 1e-12, "{x:?}");
        assert!(y[0].abs() < 1e-12 && (y[1] - 2.0).abs() < 1e-12, "{y:?}");
        assert!(x[2].is_nan() && !points.columns[0].has(2) && points.columns[0].has(1));
        assert_eq!(values(&points, "range"), &Values::F64(ranges.to_vec()));
        let has = points.columns.iter().any(|column| column.name == "intensity");
        assert_eq!(has, has_intensities);
    }
}

#[test]
fn what_is_no_cloud_is_said() {
    let float = [("x", 0, 7)];
    for (message, told) in [
        (cloud(4, &float, &[0; 10]), "10 bytes are no whole number of points of 4 bytes"),
        (cloud(0, &[], &[0; 10]), "a point has 0 bytes"),
        (cloud(4, &[("x", 2, 7)], &[0; 8]), "field x lies outside of the point"),
        (cloud(4, &[("x", 0, 9)], &[0; 8]), "field x has the unknown type 9"),
        (cloud(4, &[("x", 0, 0)], &[0; 8]), "field x has the unknown type 0"),
        (cloud(1 << 20, &float, &[0; 1 << 20]), "1048576 bytes"),
        (vec![0x0a, 5, 1], "not a valid Protobuf message"),
    ] {
        let error = format!("{:#}", read("PointCloud", &message).unwrap_err());
        assert!(error.contains(told), "{error}");
    }
    let uneven = message(&[Bytes(6, vec![0; 16]), Bytes(7, vec![0; 8])]);
    let error = format!("{:#}", read("LaserScan", &uneven).unwrap_err());
    assert!(error.contains("2 ranges, but 1 intensities"), "{error}");
    let error = format!("{:#}", read("LaserScan", &message(&[Bytes(6, vec![0; 9])])).unwrap_err());
    assert!(error.contains("9 bytes are no list of doubles"), "{error}");
}
