//! What is known of points, and where they are.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_6};

use crate::support::*;
use proptest::prelude::*;
use wiregauge_packed as packed;
use wiregauge_points::{
    each, Column, Elevation, PointSource, Points, Rays, SensorConventions, Values,
};

fn points(data: &[u8], reading: SensorConventions) -> Vec<Points> {
    PointSource::from_channel(&sensor_view()).unwrap().points(data, reading).unwrap()
}

fn of_data(data: &[u8], reading: SensorConventions) -> Vec<Points> {
    PointSource::from_channel(&sensor_data()).unwrap().points(data, reading).unwrap()
}

fn column<'p>(points: &'p Points, name: &str) -> &'p Column {
    let found = points.columns.iter().find(|column| column.name == name);
    found.unwrap_or_else(|| panic!("{name} in {points:?}"))
}

fn doubles<'p>(points: &'p Points, name: &str) -> &'p [f64] {
    let Values::F64(values) = &column(points, name).values else { panic!("{name}") };
    values
}

/// Where a point is.
fn position_of(points: &Points, point: usize) -> [f64; 3] {
    ["x", "y", "z"].map(|name| doubles(points, name)[point])
}

fn is_near(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// Three reflections of a lidar that tells its directions; the last one has no time.
fn lidar() -> Vec<Field> {
    vec![
        Message(
            1,
            vec![
                Message(2, vec![vector(1, [1.0, 2.0, 3.0]), vector(2, [0.0, 0.0, FRAC_PI_2])]),
                vector(11, [1.0, 0.0, 0.0]),
                vector(11, [0.0, 0.6, 0.8]),
                vector(11, [0.0, 0.0, -1.0]),
            ],
        ),
        Message(2, vec![Double(1, -3.0), Double(2, flight(10.0)), Message(6, vec![Number(1, 7)])]),
        Message(2, vec![Double(1, -6.0), Double(2, flight(5.0)), vector(5, [1.0, 0.0, 0.0])]),
        Message(2, vec![Double(1, -9.0)]),
    ]
}

#[test]
fn reflections_are_along_their_rays_and_half_as_far_as_light_went() {
    let found = points(&stamped(vec![Message(1002, lidar())]), SensorConventions::default());
    let [view] = &found[..] else { panic!("{found:?}") };
    assert_eq!((view.list.as_str(), view.count), ("lidar_sensor_view[0]", 3));
    assert!(is_near(position_of(view, 0), [10.0, 0.0, 0.0]), "{:?}", position_of(view, 0));
    assert!(is_near(position_of(view, 1), [0.0, 3.0, 4.0]), "{:?}", position_of(view, 1));
    assert!(position_of(view, 2).iter().all(|value| value.is_nan()));
    assert_eq!(column(view, "x").present, Some(vec![true, true, false]));
    assert_eq!(doubles(view, "signal_strength"), [-3.0, -6.0, -9.0]);
    assert_eq!(column(view, "signal_strength").present, None);
    assert_eq!(column(view, "signal_strength").unit, "dB");
    assert_eq!(column(view, "object_id").values, Values::U64(vec![7, 0, 0]));
    assert_eq!(column(view, "object_id").present, Some(vec![true, false, false]));
    assert_eq!(column(view, "normal_to_surface_x").present, Some(vec![false, true, false]));
    // What no point has is no column.
    assert!(view.columns.iter().all(|column| column.name != "doppler_shift"));
    assert_eq!(view.time, Some(2_000_000_005));
    let pose = view.pose.unwrap();
    assert_eq!((view.frame.as_deref(), pose.position), (Some("vehicle"), [1.0, 2.0, 3.0]));
    let half = 0.5f64.sqrt();
    let wanted = [0.0, 0.0, half, half];
    assert!(pose.orientation.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn a_positive_elevation_points_down_unless_the_user_knows_better() {
    let detections = vec![
        Message(1, vec![Message(3, vec![vector(1, [1.5, 0.0, 0.5])])]),
        Message(2, vec![spherical(10.0, FRAC_PI_2, FRAC_PI_6), Double(7, 50.0), Number(9, 3)]),
        Message(2, vec![Number(9, 5), Message(13, vec![Number(1, u64::MAX)])]),
    ];
    let radar = vec![Message(2, vec![spherical(2.0, 0.0, 0.0), Double(7, -12.0)])];
    // The field comes in two pieces, which belong together.
    let data = stamped(vec![
        Message(26, vec![Message(3, detections)]),
        Message(26, vec![Message(2, radar)]),
    ]);
    let found = of_data(&data, SensorConventions::default());
    let lists: Vec<&str> = found.iter().map(|points| points.list.as_str()).collect();
    assert_eq!(lists, ["feature_data.radar_sensor[0]", "feature_data.lidar_sensor[0]"]);
    let lidar = &found[1];
    let aside = 10.0 * FRAC_PI_6.cos();
    assert!(is_near(position_of(lidar, 0), [0.0, aside, -5.0]), "{:?}", position_of(lidar, 0));
    assert!(lidar.by_elevation);
    assert_eq!(column(lidar, "x").present, Some(vec![true, false]));
    assert_eq!(column(lidar, "classification").values, Values::I32(vec![3, 5]));
    assert_eq!(column(lidar, "beam_id").values, Values::U64(vec![0, u64::MAX]));
    assert_eq!(doubles(lidar, "position_azimuth")[0], FRAC_PI_2);
    assert_eq!(lidar.pose.unwrap().position, [1.5, 0.0, 0.5]);
    assert_eq!(found[0].pose, None);
    let up = SensorConventions { elevation: Some(Elevation::Up), rays: None };
    assert!(is_near(position_of(&of_data(&data, up)[1], 0), [0.0, aside, 5.0]));
}

#[test]
fn points_of_cameras_are_somewhere_and_what_has_no_direction_is_not() {
    let mounted = Message(1, vec![Message(3, vec![vector(1, [1.0, 0.0, 2.0])])]);
    let place = |distance| vector(2, [distance, FRAC_PI_2, 0.0]);
    let camera = vec![
        mounted,
        Message(
            2,
            vec![
                Message(2, vec![Number(1, 9)]),
                Number(4, 3),
                Number(13, 1),
                Number(19, 0),
                Number(31, 1),
                Number(32, 2),
            ],
        ),
        Message(4, vec![Double(1, 0.5), place(3.0)]),
        Message(4, vec![Message(2, vec![Double(2, 0.1), Double(3, 0.2)])]),
        Message(4, vec![place(4.0), vector(3, [0.1, 0.2, 0.3])]),
    ];
    let ultrasonic = vec![
        Message(2, vec![Double(1, 0.9), Message(2, vec![Number(1, 4)]), Double(3, 1.5)]),
        Message(4, vec![Double(3, 2.5), Double(4, 1.0), vector(6, [0.1, 0.2, 0.3])]),
    ];
    let features = vec![Message(4, ultrasonic), Message(5, camera), Message(5, Vec::new())];
    let found = of_data(&stamped(vec![Message(26, features)]), SensorConventions::default());
    let lists: Vec<(&str, usize, bool)> = found
        .iter()
        .map(|points| (points.list.as_str(), points.count, points.unplaced.is_some()))
        .collect();
    let wanted = [
        ("feature_data.ultrasonic_sensor[0]", 1, true),
        ("feature_data.ultrasonic_sensor[0].indirect_detection", 1, true),
        ("feature_data.camera_sensor[0]", 1, true),
        ("feature_data.camera_sensor[0].point", 3, false),
        ("feature_data.camera_sensor[1].point", 0, false),
    ];
    assert_eq!(lists, wanted);
    let [direct, indirect, shapes, dots, _] = &found[..] else { panic!("{found:?}") };
    assert_eq!(doubles(direct, "distance"), [1.5]);
    assert_eq!(column(direct, "distance").unit, "m");
    assert!(direct.unplaced.unwrap().contains("no direction"));
    assert_eq!(doubles(indirect, "ellipsoid_radial"), [2.5]);
    assert_eq!(doubles(indirect, "receiver_origin_z"), [0.3]);
    let values = |name: &str| column(shapes, name).values.clone();
    assert_eq!(values("object_id"), Values::U64(vec![9]));
    assert_eq!(values("image_shape_type"), Values::I32(vec![3]));
    assert_eq!(values("shape_classification_non_driving_lane"), Values::U8(vec![1]));
    assert_eq!(values("shape_classification_traffic_light"), Values::U8(vec![0]));
    assert_eq!(values("first_point_index"), Values::U32(vec![1]));
    assert_eq!(values("number_of_points"), Values::U32(vec![2]));
    assert!(
        is_near(position_of(dots, 0), [0.0, 3.0, 0.0])
            && is_near(position_of(dots, 2), [0.0, 4.0, 0.0])
    );
    assert!(!column(dots, "x").has(1), "it has no distance");
    assert!(dots.by_elevation);
    assert_eq!(dots.pose.unwrap().position, [1.0, 0.0, 2.0]);
    assert_eq!(doubles(dots, "point_rmse_elevation")[2], 0.3);
}

#[test]
fn radar_views_and_logical_detections_are_found_wherever_they_are() {
    let reflection = vec![Double(2, flight(4.0)), Double(4, -FRAC_PI_2), Double(5, 0.0)];
    let radar = Message(1001, vec![Message(2, reflection)]);
    let detection = vec![vector(3, [1.0, 2.0, 3.0]), vector(5, [0.5, 0.0, 0.0]), Double(7, 9.0)];
    let data = stamped(vec![
        Message(6, vec![vector(1, [4.0, 0.0, 0.0])]),
        Message(8, vec![radar]),
        Message(27, vec![Message(3, detection)]),
    ]);
    let found = of_data(&data, SensorConventions::default());
    let [radar, logical] = &found[..] else { panic!("{found:?}") };
    assert_eq!(radar.list, "sensor_view[0].radar_sensor_view[0]");
    assert!(is_near(position_of(radar, 0), [0.0, -4.0, 0.0]), "{:?}", position_of(radar, 0));
    assert_eq!(logical.list, "logical_detection_data");
    assert_eq!(position_of(logical, 0), [1.0, 2.0, 3.0]);
    assert_eq!(doubles(logical, "velocity_x"), [0.5]);
    assert!(!logical.by_elevation);
    assert_eq!(logical.pose.unwrap().position, [4.0, 0.0, 0.0]);
}

/// A lidar of two lines of three rays.
fn grid(reflections: usize) -> Vec<u8> {
    let configuration = vec![Double(4, 2.0), Double(5, 1.0), Number(6, 3), Number(7, 2)];
    let reflection = || Message(2, vec![Double(2, flight(1.0))]);
    let rows = (0..reflections).map(|_| reflection());
    stamped(vec![Message(1002, [Message(1, configuration)].into_iter().chain(rows).collect())])
}

#[test]
fn rays_of_a_grid_stand_where_the_user_says() {
    let of = |rays| SensorConventions { rays, elevation: None };
    let nowhere = points(&grid(6), of(None));
    assert!(nowhere[0].unplaced.unwrap().contains("give --rays edges or --rays centers"));
    assert!(nowhere[0].columns.iter().all(|column| column.name != "x"));
    let edges = &points(&grid(6), of(Some(Rays::Edges)))[0];
    let ray =
        |azimuth: f64, up: f64| [up.cos() * azimuth.cos(), up.cos() * azimuth.sin(), up.sin()];
    // From left to right, y being left; from top to bottom.
    for (point, wanted) in
        [(0, ray(1.0, 0.5)), (1, ray(0.0, 0.5)), (2, ray(-1.0, 0.5)), (5, ray(-1.0, -0.5))]
    {
        assert!(
            is_near(position_of(edges, point), wanted),
            "{point}: {:?}",
            position_of(edges, point)
        );
    }
    let centers = &points(&grid(6), of(Some(Rays::Centers)))[0];
    let wanted = ray(2.0 / 3.0, 0.25);
    assert!(is_near(position_of(centers, 0), wanted), "{:?}", position_of(centers, 0));
    for other in [5, 7] {
        let why = points(&grid(other), of(Some(Rays::Edges)))[0].unplaced.unwrap();
        assert!(why.contains("neither directions nor a grid with one ray per reflection"), "{why}");
    }
    let mut fields = lidar();
    fields.pop();
    let few = points(&stamped(vec![Message(1002, fields)]), SensorConventions::default());
    assert!(few[0].unplaced.unwrap().contains("directions and the reflections differ in number"));
}

fn pack(root: packed::Root, plain: &[u8], options: &packed::PackOptions) -> Vec<u8> {
    packed::pack(root, plain, options).unwrap().0
}

#[test]
#[allow(clippy::unnecessary_cast, reason = "one of the types is a double")]
fn the_packed_field_says_the_same() {
    let detection = |distance: f64| {
        Message(
            2,
            vec![Double(1, 0.5), Message(2, vec![Number(1, 9)]), spherical(distance, 0.1, 0.2)],
        )
    };
    let data = stamped(vec![Message(
        26,
        vec![Message(3, vec![detection(1.0), detection(2.5), Message(2, vec![Number(9, 2)])])],
    )]);
    let view = stamped(vec![Message(1002, lidar())]);
    for (root, channel, plain) in [
        (packed::Root::SensorView, sensor_view(), view),
        (packed::Root::SensorData, sensor_data(), data),
    ] {
        let all = match root {
            packed::Root::SensorView => ["signal_strength", "time_of_flight"],
            packed::Root::SensorData => ["position.distance", "position.azimuth"],
        };
        let reduced = all.map(|name| packed::Encoding {
            name: name.into(),
            element: packed::Element::F64,
            scale: None,
            reduction: Some(packed::Reduction::exact()),
        });
        let reduced = packed::PackOptions {
            encodings: reduced.to_vec(),
            alignment: 8,
            ..packed::PackOptions::default()
        };
        // These values stay as they are in fewer bytes.
        let elements = [packed::Element::F32, packed::Element::F16, packed::Element::I16];
        let narrow = elements.map(|element| packed::PackOptions {
            encodings: vec![packed::Encoding {
                name: all[0].into(),
                element,
                scale: (element == packed::Element::I16).then_some((0.5, 0.25)),
                reduction: None,
            }],
            alignment: 8,
            ..packed::PackOptions::default()
        });
        for options in [packed::PackOptions::default(), reduced].iter().chain(&narrow) {
            let packed = pack(root, &plain, options);
            assert_ne!(packed, plain);
            let source = PointSource::from_channel(&channel).unwrap();
            let [plain, packed] = [&plain, &packed]
                .map(|data| source.points(data, SensorConventions::default()).unwrap());
            // The packed field keeps its types, of which doubles have all values here. NaN is
            // not equal to itself; what is absent is not compared.
            let shown = |points: &[Points]| {
                let mut points = points.to_vec();
                for column in points.iter_mut().flat_map(|points| &mut points.columns) {
                    let doubles =
                        each!(&column.values, list => list.iter().map(|it| *it as f64).collect());
                    column.values = Values::F64(doubles);
                }
                format!("{points:?}")
            };
            assert_eq!(shown(&plain), shown(&packed));
            assert!(plain[0].count > 2);
        }
    }
}

/// Two rows of two points in CDR: `x`, `y` of four bytes, a gap of four, `ring` of two.
fn cloud(is_big_endian: bool, encoding: &str) -> Vec<u8> {
    let mut out: Vec<u8> = if encoding == "cdr" { vec![0, 1, 0, 0] } else { Vec::new() };
    let align = |out: &mut Vec<u8>| {
        while encoding == "cdr" && !out.len().is_multiple_of(4) {
            out.push(0);
        }
    };
    let number = |out: &mut Vec<u8>, value: u32| {
        align(out);
        out.extend(value.to_le_bytes());
    };
    let text = |out: &mut Vec<u8>, text: &str| {
        let end = usize::from(encoding == "cdr");
        number(out, (text.len() + end) as u32);
        out.extend(text.bytes());
        out.resize(out.len() + end, 0);
    };
    if encoding == "ros1" {
        number(&mut out, 1);
    }
    number(&mut out, 7);
    number(&mut out, 9);
    text(&mut out, "lidar");
    number(&mut out, 2);
    number(&mut out, 2);
    number(&mut out, 3);
    for (name, offset, datatype) in [("x", 0, 7), ("y", 4, 7), ("ring", 12, 4)] {
        text(&mut out, name);
        number(&mut out, offset);
        out.push(datatype);
        number(&mut out, 1);
    }
    out.push(u8::from(is_big_endian));
    number(&mut out, 14);
    number(&mut out, 30);
    number(&mut out, 60);
    let order = |mut bytes: Vec<u8>| {
        if is_big_endian {
            bytes.reverse();
        }
        bytes
    };
    for row in 0..2u16 {
        for point in 0..2u16 {
            let n = row * 2 + point;
            out.extend(order(f32::from(n).to_le_bytes().to_vec()));
            out.extend(order((f32::from(n) + 0.5).to_le_bytes().to_vec()));
            out.extend([0xee; 4]);
            out.extend(order((n * 256).to_le_bytes().to_vec()));
        }
        out.extend([0xdd; 2]);
    }
    out.push(1);
    out
}

#[test]
fn clouds_of_ros_are_read_by_the_fields_that_they_describe() {
    for (name, encoding) in
        [("sensor_msgs/msg/PointCloud2", "cdr"), ("sensor_msgs/PointCloud2", "ros1")]
    {
        let source = PointSource::from_channel(&channel("/points", name, encoding)).unwrap();
        for is_big_endian in [false, true] {
            let data = cloud(is_big_endian, encoding);
            let found = &source.points(&data, SensorConventions::default()).unwrap()[0];
            assert_eq!((found.count, found.list.as_str()), (4, ""));
            assert_eq!(found.time, Some(7_000_000_009));
            assert_eq!((found.frame.as_deref(), found.pose), (Some("lidar"), None));
            let wanted = [
                ("x", Values::F32(vec![0.0, 1.0, 2.0, 3.0])),
                ("y", Values::F32(vec![0.5, 1.5, 2.5, 3.5])),
                ("ring", Values::U16(vec![0, 256, 512, 768])),
            ];
            for (column, (name, values)) in found.columns.iter().zip(wanted) {
                assert_eq!((column.name.as_str(), &column.values), (name, &values));
            }
            for cut in 0..data.len() - 1 {
                assert!(
                    source.points(&data[..cut], SensorConventions::default()).is_err(),
                    "{cut} bytes"
                );
            }
        }
    }
    for (name, encoding) in
        [("sensor_msgs/msg/PointCloud2", "protobuf"), ("sensor_msgs/msg/Imu", "cdr")]
    {
        assert!(PointSource::from_channel(&channel("/points", name, encoding)).is_none());
    }
}

#[test]
fn a_cloud_of_ros_cannot_claim_what_is_not_there() {
    let source =
        PointSource::from_channel(&channel("/points", "sensor_msgs/msg/PointCloud2", "cdr"))
            .unwrap();
    let data = cloud(false, "cdr");
    let find =
        |wanted: &[u8]| data.windows(wanted.len()).position(|window| window == wanted).unwrap();
    let steps = find(&[14, 0, 0, 0, 30, 0, 0, 0]);
    let ring = find(b"ring\0");
    for (at, value, wanted) in [
        (24, u32::MAX, "rows of 2 points"),
        (28, u32::MAX, "longer than row_step"),
        (steps, 0, "a point has 0 bytes"),
        (steps + 4, 10, "longer than row_step"),
        (ring + 8, 13, "field ring lies outside of the point"),
        (ring + 8, u32::MAX, "field ring lies outside of the point"),
    ] {
        let mut damaged = data.clone();
        damaged[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let error =
            format!("{:#}", source.points(&damaged, SensorConventions::default()).unwrap_err());
        assert!(error.contains(wanted), "{error}, not {wanted}");
    }
    // No points, and so no bytes that would bound what fields count.
    let mut damaged = data.clone();
    damaged[24..28].fill(0);
    damaged[steps..steps + 4].fill(0xff);
    let error = format!("{:#}", source.points(&damaged, SensorConventions::default()).unwrap_err());
    assert!(error.contains("a point has 4294967295 bytes"), "{error}");
}

proptest! {
    #[test]
    fn damaged_messages_never_panic(at in any::<prop::sample::Index>(), byte: u8, cut: bool) {
        let view = stamped(vec![Message(1002, lidar())]);
        let packed = pack(packed::Root::SensorView, &view, &Default::default());
        let ros = channel("/points", "sensor_msgs/msg/PointCloud2", "cdr");
        for (channel, mut data) in [
            (sensor_view(), view),
            (sensor_view(), packed),
            (ros, cloud(false, "cdr")),
        ] {
            let at = at.index(data.len());
            data[at] = byte;
            if cut {
                data.truncate(at);
            }
            let _ = PointSource::from_channel(&channel).unwrap().points(&data, SensorConventions::default());
        }
    }
}
