//! What does not fit is refused, and adds no row.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::Array;
use proptest::prelude::*;
use wiregauge_columns::{ColumnPlan, ColumnReader, Wire};
use wiregauge_schema::msg::{read_text, Dialect};
use wiregauge_schema::proto::read_texts;

use crate::support::{message, rows, schema, write};

fn wire() -> impl Strategy<Value = Wire> {
    prop_oneof![Just(Wire::Cdr), Just(Wire::Ros1), Just(Wire::Protobuf)]
}

#[test]
fn a_record_that_contains_itself_is_no_column() {
    let schema = read_text("uint8 a\nR[] r", "p/msg/R", Dialect::Ros2, "test").unwrap();
    for paths in [vec![], vec!["r".to_owned()], vec!["*".to_owned()]] {
        let error = ColumnPlan::messages(&schema, Wire::Cdr, &paths).unwrap_err().to_string();
        assert!(error.contains("p/msg/R contains itself; name the fields"), "{error}");
    }
    let plan = ColumnPlan::messages(&schema, Wire::Cdr, &["a".into()]).unwrap();
    let mut reader = ColumnReader::new(Arc::new(plan));
    let nested = [vec![0, 1, 0, 0], [1, 0, 0, 0].repeat(10_000)].concat();
    let error = format!("{:#}", reader.push(&nested).unwrap_err());
    assert!(error.contains("nested too deeply"), "{error}");
    assert_eq!(reader.rows(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_damaged_message_adds_no_row(
        (wire, schema) in wire().prop_flat_map(|wire| (Just(wire), schema(wire))),
        seed in 0..1_000_000_u64,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let good = write(&schema, &message(&schema, seed), wire, false);
        let mut bad = good.clone();
        for (at, byte) in damage {
            if !bad.is_empty() {
                let at = at.index(bad.len());
                bad[at] = byte;
            }
        }
        let cut = &good[..cut.index(good.len() + 1)];
        let mut reader =
            ColumnReader::new(Arc::new(ColumnPlan::messages(&schema, wire, &[]).unwrap()));
        let mut count = 0;
        for message in [&good, &bad, &cut.to_vec(), &good] {
            let before = reader.rows();
            match reader.push(message) {
                Ok(rows) => count += rows,
                Err(_) => prop_assert_eq!(reader.rows(), before),
            }
        }
        let all = rows(&reader.finish().unwrap());
        prop_assert_eq!(all.len(), count);
        prop_assert_eq!(format!("{:?}", all[0]), format!("{:?}", all[count - 1]));
    }
}

/// Go's zero time, and the last one that has a number.
#[test]
fn a_time_that_is_too_far_away_is_null() {
    let text = "syntax = \"proto3\"; package p; import \"google/protobuf/timestamp.proto\";
        message R { google.protobuf.Timestamp at = 1; repeated google.protobuf.Timestamp list = 2; }";
    let schema = read_texts(&[("r.proto", text)], Some("p.R")).unwrap();
    let plan = ColumnPlan::messages(&schema, Wire::Protobuf, &[]).unwrap();
    let mut reader = ColumnReader::new(Arc::new(plan));
    let time = |seconds: i64| {
        let mut bytes = vec![0x08];
        let mut left = seconds as u64;
        while left >= 0x80 {
            bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes
    };
    let field = |number: u8, time: &[u8]| [&[number << 3 | 2, time.len() as u8][..], time].concat();
    let (far, near) = (time(-62_135_596_800), time(7));
    reader.push(&[field(1, &far), field(2, &near), field(2, &far)].concat()).unwrap();
    reader.push(&field(1, &near)).unwrap();
    let batch = reader.finish().unwrap();
    assert_eq!((batch.column(0).null_count(), batch.num_rows()), (1, 2));
    let list = batch.column(1).as_list::<i32>().values();
    assert_eq!((list.null_count(), list.len()), (1, 2));
    assert!(list.is_valid(0) && batch.column(0).is_valid(1));
}
