//! Every step in a file. docs/cosim.md describes its columns.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use wiregauge_sample_log::row_file::{RowFile, WrittenRows, MOST};
use wiregauge_system::file::Target;
use wiregauge_timing::clock::monotonic;

use crate::host::job::StepTimes;
use crate::master::record::KeptStep;

/// Most steps that are held at a time, until their FMUs have written their logs.
const MAX_HELD_STEPS: u64 = 3_000_000;
/// Rows that are written at a time.
const ROWS_PER_BATCH: usize = 1 << 14;

/// How many steps of a process are kept where there are so many processes in
/// all, and so many at a time.
pub fn steps_kept(processes: u64, at_a_time: u64) -> usize {
    (MAX_HELD_STEPS / at_a_time.max(1)).min(MOST / processes.max(1)) as usize
}

/// Whose steps they are.
pub struct StepOrigin<'a> {
    /// Key of the case.
    pub case: &'a str,
    /// Key of the subject.
    pub subject: &'a str,
    /// Which of its processes, from 0.
    pub process: usize,
    /// Simulation time of the first step, and step size, in seconds.
    pub simulated: (f64, f64),
    /// What a step may take, in nanoseconds.
    pub cycle: u64,
}

/// The five phases of a step, in nanoseconds, as far as the FMUs logged them.
pub type Phases = [Option<f64>; 5];

/// A file of steps.
pub struct StepFile {
    file: RowFile,
    /// When it was begun, on the machine's monotonic clock.
    origin: u64,
}

impl StepFile {
    /// An empty file of steps of these cases and subjects.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(target: Target, cases: Vec<String>, subjects: Vec<String>) -> Result<StepFile> {
        let words = vec![("case", cases), ("subject", subjects)];
        Ok(StepFile { file: RowFile::begin(target, words, numbers())?, origin: monotonic() })
    }

    /// Adds steps of a process, with the phases of all that it did, if its FMUs
    /// logged them. What goes wrong is told in the end.
    pub fn add(&mut self, whose: &StepOrigin, kept: &[KeptStep], phases: &[Phases]) {
        for piece in kept.chunks(ROWS_PER_BATCH) {
            let columns = columns(whose, piece, phases, self.origin);
            self.file.add(&[whose.case, whose.subject], columns);
        }
    }

    /// Moves the file to its place, where there is anything in it.
    pub fn finish(self) -> WrittenRows {
        self.file.finish()
    }
}

/// The columns after those of words.
fn numbers() -> Vec<Field> {
    let time = |name: &str| Field::new(name, DataType::Int64, false);
    let logged = |name: &str| Field::new(name, DataType::Int64, true);
    vec![
        Field::new("process", DataType::UInt32, false),
        Field::new("round", DataType::UInt32, false),
        Field::new("step", DataType::UInt32, false),
        Field::new("counted", DataType::Boolean, false),
        Field::new("simulation_time", DataType::Float64, false),
        time("cycle"),
        time("begin"),
        time("exchange"),
        time("source_do_step"),
        time("get"),
        time("set"),
        time("model_do_step"),
        logged("source_generation"),
        logged("source_serialization"),
        logged("model_deserialization"),
        logged("model_calculation"),
        logged("model_serialization"),
        Field::new("source_size", DataType::UInt64, false),
        Field::new("model_size", DataType::UInt64, false),
    ]
}

/// What is in those columns.
fn columns(whose: &StepOrigin, kept: &[KeptStep], phases: &[Phases], origin: u64) -> Vec<ArrayRef> {
    let (start, size) = whose.simulated;
    let small = |of: &dyn Fn(&KeptStep) -> u32| -> ArrayRef {
        Arc::new(kept.iter().map(of).collect::<UInt32Array>())
    };
    let time = |of: &dyn Fn(&StepTimes) -> u64| -> ArrayRef {
        Arc::new(kept.iter().map(|kept| of(&kept.step) as i64).collect::<Int64Array>())
    };
    let bytes = |of: &dyn Fn(&StepTimes) -> u64| -> ArrayRef {
        Arc::new(kept.iter().map(|kept| of(&kept.step)).collect::<UInt64Array>())
    };
    let logged = |phase: usize| -> ArrayRef {
        let of =
            |kept: &KeptStep| phases.get(kept.step.number as usize)?[phase].map(|ns| ns as i64);
        Arc::new(kept.iter().map(of).collect::<Int64Array>())
    };
    let simulated = kept.iter().map(|kept| start + kept.step.number as f64 * size);
    let counted = kept.iter().map(|kept| Some(kept.counted));
    let mut columns: Vec<ArrayRef> = vec![
        small(&|_| whose.process as u32),
        small(&|kept| kept.round),
        small(&|kept| kept.step.number as u32),
        Arc::new(counted.collect::<BooleanArray>()),
        Arc::new(simulated.collect::<Float64Array>()),
        time(&|_| whose.cycle),
        time(&|step| step.began.saturating_sub(origin)),
        time(&StepTimes::exchange),
        time(&|step| step.source),
        time(&|step| step.get),
        time(&|step| step.set),
        time(&|step| step.model),
    ];
    columns.extend((0..5).map(logged));
    columns.push(bytes(&|step| step.source_size));
    columns.push(bytes(&|step| step.model_size));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type, UInt32Type};
    use arrow_array::RecordBatch;
    use arrow_ipc::reader::FileReader;
    use std::fs::File;

    #[test]
    fn a_row_a_step_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("steps.arrow");
        let words = |word: &str| vec!["other".to_owned(), word.to_owned()];
        let target = Target::open(&path, &[]).unwrap();
        let mut samples = StepFile::create(target, words("c"), words("s")).unwrap();
        let origin = samples.origin;
        let kept = |number| KeptStep {
            round: 4,
            counted: number > 1,
            step: StepTimes {
                number,
                began: origin + 10 * number,
                source: 1,
                get: 2,
                set: 3,
                model: 4,
                source_size: 50,
                model_size: 60,
            },
        };
        let all: Vec<KeptStep> = (1..ROWS_PER_BATCH as u64 + 3).map(kept).collect();
        let phases = [[None; 5], [None; 5], [Some(1.0), None, None, Some(4.0), Some(5.0)]];
        let whose =
            StepOrigin { case: "c", subject: "s", process: 3, simulated: (0.0, 0.5), cycle: 9 };
        samples.add(&whose, &all, &phases);
        assert_eq!(samples.finish().count.unwrap(), all.len() as u64);
        let reader = FileReader::try_new(File::open(&path).unwrap(), None).unwrap();
        let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
        assert_eq!(batches.len(), 2);
        let times = |name: &str| -> Vec<Option<i64>> {
            batches[0][name].as_primitive::<Int64Type>().iter().take(3).collect()
        };
        for (name, ns) in [
            ("exchange", 10),
            ("source_do_step", 1),
            ("get", 2),
            ("set", 3),
            ("model_do_step", 4),
            ("cycle", 9),
        ] {
            assert_eq!(times(name), [Some(ns); 3], "{name}");
        }
        assert_eq!(times("begin"), [Some(10), Some(20), Some(30)]);
        assert_eq!(times("source_generation"), [None, Some(1), None]);
        assert_eq!(times("source_serialization"), [None; 3]);
        assert_eq!(times("model_serialization"), [None, Some(5), None]);
        assert_eq!(
            batches[1]["step"].as_primitive::<UInt32Type>().value(1),
            ROWS_PER_BATCH as u32 + 2
        );
        assert_eq!(batches[0]["simulation_time"].as_primitive::<Float64Type>().value(1), 1.0);
        let counted = batches[0]["counted"].as_boolean();
        assert!(!counted.value(0) && counted.value(1));
    }

    #[test]
    fn a_file_and_a_memory_hold_so_many_and_no_more() {
        assert_eq!(steps_kept(5, 1), MAX_HELD_STEPS as usize);
        assert_eq!(steps_kept(5 * 7 * 6, 6), (MOST / 210) as usize);
        assert_eq!(steps_kept(5 * 10, 10), (MAX_HELD_STEPS / 10) as usize);
    }
}
