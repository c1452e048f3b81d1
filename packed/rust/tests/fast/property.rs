//! Whatever the rows: they come back to the bit. Whatever the bytes: they are
//! read or refused.

use crate::common::damage;
use crate::common::Random;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wiregauge_packed::{
    find, first, pack, unpack, Element, Encoding, Fault, Kind, PackOptions, Root, UnpackOptions,
    View,
};

/// Protobuf's own writing, apart from the crate's.
mod proto {
    pub fn varint(mut value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        while value > 127 {
            out.push((value % 128 + 128) as u8);
            value /= 128;
        }
        out.push(value as u8);
        out
    }

    pub fn bytes(number: u64, content: &[u8]) -> Vec<u8> {
        [varint(number * 8 + 2), varint(content.len() as u64), content.to_vec()].concat()
    }

    pub fn double(number: u64, bits: u64) -> Vec<u8> {
        [varint(number * 8 + 1), bits.to_le_bytes().to_vec()].concat()
    }

    pub fn integer(number: u64, value: u64) -> Vec<u8> {
        [varint(number * 8), varint(value)].concat()
    }
}

/// One LidarDetection by its fields: numbers 1, 5 to 8, 10 to 12; identifiers 2
/// and 13; spherical 3 and 4; classification 9.
#[derive(Clone, Debug)]
struct Detection {
    doubles: Vec<Option<u64>>,
    identifiers: Vec<Option<Option<u64>>>,
    spherical: Vec<Option<Vec<Option<u64>>>>,
    classification: Option<i32>,
}

impl Detection {
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for number in 1..=13 {
            let double = [1, 5, 6, 7, 8, 10, 11, 12].iter().position(|&n| n == number);
            if let Some(bits) = double.and_then(|i| self.doubles[i]) {
                out.extend(proto::double(number, bits));
            }
            let identifier = [2, 13].iter().position(|&n| n == number);
            if let Some(value) = identifier.and_then(|i| self.identifiers[i]) {
                let content = value.map(|value| proto::integer(1, value)).unwrap_or_default();
                out.extend(proto::bytes(number, &content));
            }
            let spherical = [3, 4].iter().position(|&n| n == number);
            if let Some(parts) = spherical.and_then(|i| self.spherical[i].as_ref()) {
                let content: Vec<u8> = parts
                    .iter()
                    .enumerate()
                    .flat_map(|(i, bits)| bits.map(|bits| proto::double(i as u64 + 1, bits)))
                    .flatten()
                    .collect();
                out.extend(proto::bytes(number, &content));
            }
            if let (9, Some(value)) = (number, self.classification) {
                out.extend(proto::integer(9, value as i64 as u64));
            }
        }
        out
    }
}

/// Sometimes all, sometimes none, sometimes some of the rows have a field.
fn detections() -> impl Strategy<Value = Vec<Detection>> {
    let chances = vec(prop_oneof![Just(1e-6), Just(1.0 - 1e-6), Just(0.5)], 13);
    chances.prop_flat_map(|chance| {
        let maybe = |i: usize| proptest::option::weighted(chance[i], any::<u64>());
        let doubles: Vec<_> = (0..8).map(maybe).collect();
        let identifiers: Vec<_> =
            (8..10).map(|i| proptest::option::weighted(chance[i], maybe(i + 2))).collect();
        let spherical: Vec<_> =
            (10..12).map(|i| proptest::option::weighted(chance[i], vec(maybe(12), 3))).collect();
        let classification = proptest::option::weighted(chance[12], any::<i32>());
        let one = (doubles, identifiers, spherical, classification).prop_map(
            |(doubles, identifiers, spherical, classification)| Detection {
                doubles,
                identifiers,
                spherical,
                classification,
            },
        );
        vec(one, 0..20)
    })
}

/// A SensorData of several lidars, with other fields between and around them.
fn message(sensors: &[Vec<Detection>], other: &[u8]) -> Vec<u8> {
    let mut feature = proto::bytes(1, other);
    for (i, rows) in sensors.iter().enumerate() {
        let mut sensor = proto::bytes(1, other);
        for row in rows {
            sensor.extend(proto::bytes(2, &row.bytes()));
        }
        sensor.extend(proto::bytes(60000, other));
        feature.extend(proto::bytes(3, &sensor));
        feature.extend(proto::integer(900 + i as u64, 7));
    }
    let head = [proto::integer(1, 1), proto::bytes(13, other)].concat();
    [head, proto::bytes(26, &feature), proto::bytes(29, other)].concat()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/seeds/property.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn detections_come_back_to_the_bit(
        sensors in vec(detections(), 0..4),
        other in vec(any::<u8>(), 0..200),
        alignment in 0..13u32,
    ) {
        let message = message(&sensors, &other);
        let options = PackOptions { alignment: 1 << alignment, ..PackOptions::default() };
        let (packed, precision) = pack(Root::SensorData, &message, &options).unwrap();
        prop_assert!(precision.iter().all(|column| column.error == 0.0));

        let found = find(Root::SensorData, &packed).unwrap();
        for (found, rows) in found.iter().zip(&sensors) {
            prop_assert_eq!(found.rows, 0);
            prop_assert_eq!(found.field.is_some(), !rows.is_empty());
            let Some(field) = found.field else { continue };
            let view = View::open(field).unwrap();
            prop_assert_eq!(view.rows(), rows.len());
            for values in view.columns() {
                let at = values.data.as_ptr() as usize - packed.as_ptr() as usize;
                prop_assert_eq!(at % (1 << alignment), 0, "{} is not aligned", values.name);
            }
            for (row, detection) in rows.iter().enumerate() {
                let height = view.column::<f64>("height").filter(|all| all.present(row));
                let height = height.map(|all| all.get(row).to_bits());
                prop_assert_eq!(height, detection.doubles[1]);
            }
        }

        let plain = unpack(Root::SensorData, &packed, &UnpackOptions::default()).unwrap();
        prop_assert!(plain == message);
    }

    #[test]
    fn a_damaged_message_is_read_or_refused(
        sensors in vec(detections(), 1..3),
        seed in any::<u64>(),
    ) {
        let message = message(&sensors, b"other");
        let (packed, _) = pack(Root::SensorData, &message, &PackOptions::default()).unwrap();
        let mut random = Random(seed);
        for bytes in [&message, &packed] {
            let bytes = damage(bytes, &mut random);
            crate::common::verdicts(Root::SensorData, &bytes);
            crate::common::verdicts(Root::SensorView, &bytes);
        }
        for found in find(Root::SensorData, &packed).unwrap() {
            let Some(field) = found.field else { continue };
            if let Ok(view) = View::open(&damage(field, &mut random)) {
                for values in view.columns() {
                    for row in 0..view.rows().min(1000) {
                        std::hint::black_box((values.present(row), values.value(row)));
                    }
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        prop_assert!(View::open(&bytes).is_err());
        crate::common::verdicts(Root::SensorData, &bytes);
        crate::common::verdicts(Root::SensorView, &bytes);
    }

    #[test]
    fn narrow_columns_keep_the_stated_precision(
        values in vec(-500.0..500.0f64, 1..50),
        element in 0..4usize,
    ) {
        let rows: Vec<u8> =
            values.iter().flat_map(|v| proto::bytes(2, &proto::double(1, v.to_bits()))).collect();
        let message = proto::bytes(1002, &rows);
        let scale = Some((3.0, 0.02));
        let (element, scale) = [
            (Element::F32, None),
            (Element::F16, None),
            (Element::I16, scale),
            (Element::I8, Some((0.0, 4.0))),
        ][element];
        let encoding = Encoding { name: "signal_strength".into(), element, scale, reduction: None };
        let options = PackOptions { encodings: vec![encoding], ..PackOptions::default() };
        let (packed, precision) = pack(Root::SensorView, &message, &options).unwrap();
        let view = first(Root::SensorView, &packed, Kind::LidarReflections).unwrap().unwrap();
        let column = view.values("signal_strength").unwrap();
        let mut largest = 0.0f64;
        for (row, value) in values.iter().enumerate() {
            let error = (column.value(row) - value).abs();
            let stated = match element {
                // docs/packed.md, Precision.
                Element::F32 => (value.abs() * 2f64.powi(-24)).max(2f64.powi(-150)),
                Element::F16 => (value.abs() * 2f64.powi(-11)).max(2f64.powi(-25)),
                _ => scale.unwrap().1 / 2.0 * (1.0 + 1e-9),
            };
            prop_assert!(error <= stated, "{value}: {error} > {stated}");
            largest = largest.max(error);
        }
        prop_assert_eq!(precision[0].error, largest);
    }

    #[test]
    fn out_of_range_is_an_error_and_not_a_saturation(
        value in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), 3300.0..1e300, -1e300..-3300.0],
    ) {
        let row = proto::bytes(2, &proto::double(1, value.to_bits()));
        let message = proto::bytes(1002, &row);
        let narrow = |element, scale| {
            let encoding = Encoding { name: "signal_strength".into(), element, scale, reduction: None };
            let options = PackOptions { encodings: vec![encoding], ..PackOptions::default() };
            pack(Root::SensorView, &message, &options).map_err(|error| error.fault)
        };
        prop_assert_eq!(narrow(Element::I16, Some((0.0, 0.1))).unwrap_err(), Fault::Value);
        let too_large = |most: f64| value.is_finite() && value.abs() > most;
        let f32 = narrow(Element::F32, None);
        prop_assert_eq!(f32.is_err(), too_large(f64::from(f32::MAX) * (1.0 + 1e-8)));
        let f16 = narrow(Element::F16, None);
        prop_assert!(!too_large(65520.0) || f16.is_err());
        prop_assert!(too_large(65519.0) || f16.is_ok());
    }
}
