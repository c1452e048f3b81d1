//! Messages as columns: in CDR, ROS 1, Protobuf and FlatBuffers, as rows and as the elements of a
//! list.
#![cfg_attr(fuzzing, no_main)]

use std::sync::Arc;

use wiregauge_columns::{ColumnPlan, ColumnReader, Wire};
use wiregauge_flatbuffers::Definition;
use wiregauge_fuzz_support::{check_error, one_of_each, DESCRIPTORS};
use wiregauge_schema::msg::Dialect;
use wiregauge_trace::protobuf::Decoder;
use wiregauge_trace::{cdr, ros1};

/// What reads a message in each way.
fn plans() -> Vec<Arc<ColumnPlan>> {
    let osi = Decoder::new(DESCRIPTORS, "osi3.SensorView").expect("it is one");
    let osi = osi.schema();
    let plans = [
        ColumnPlan::messages(&one_of_each(Dialect::Ros2), Wire::Cdr, &[]),
        ColumnPlan::messages(&one_of_each(Dialect::Ros1), Wire::Ros1, &[]),
        ColumnPlan::messages(osi, Wire::Protobuf, &[]),
        ColumnPlan::elements(osi, Wire::Protobuf, "point", &[]),
        flat(include_bytes!("../corpus/flatbuffers/tables-whole-flat")),
        flat(include_bytes!("../corpus/flatbuffers/structs-whole-flat")),
    ];
    plans.into_iter().map(|plan| Arc::new(plan.expect("its own fields"))).collect()
}

/// The columns of a definition, which stands behind its length.
fn flat(input: &[u8]) -> anyhow::Result<ColumnPlan> {
    let (length, rest) = input.split_first_chunk::<4>().expect("a length");
    let definition = &rest[..u32::from_le_bytes(*length) as usize];
    ColumnPlan::from_flatbuffers(&Definition::read(definition)?, "", None, &[])
}

pub fn read(data: &[u8]) {
    thread_local! {
        static PLANS: Vec<Arc<ColumnPlan>> = plans();
    }
    let Some((&which, message)) = data.split_first() else { return };
    let (which, plan) = PLANS.with(|plans| {
        let which = usize::from(which) % plans.len();
        (which, Arc::clone(&plans[which]))
    });
    let mut reader = ColumnReader::new(plan);
    let rows = check_error(reader.push(message));
    assert_eq!(reader.rows(), rows.unwrap_or(0));
    // The decoders of whole messages take what columns take.
    if rows.is_some() && which < 2 {
        let decoded = match which {
            0 => cdr::decode(&one_of_each(Dialect::Ros2), message),
            _ => ros1::decode(&one_of_each(Dialect::Ros1), message),
        };
        decoded.expect("its columns were read");
    }
    // What was refused has left nothing that a later message meets.
    let again = reader.push(message).ok();
    assert_eq!(again, rows);
    let batch = reader.finish().expect("all columns have as many rows");
    assert_eq!(batch.num_rows(), 2 * rows.unwrap_or(0));
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
