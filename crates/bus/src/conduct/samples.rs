//! Every sample of a series in a file. docs/bus.md describes its columns.

use std::sync::Arc;

use anyhow::{ensure, Result};
use arrow_array::{ArrayRef, Int64Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use wiregauge_sample_log::row_file::{RowFile, WrittenRows, MOST};
use wiregauge_system::file::Target;

use crate::load::Load;

/// Most samples of a run that are kept where nothing says how many there will be.
const UNPACED: u64 = 10_000_000;

/// Some samples of a run, one after the other. Times are in nanoseconds; those at
/// which something was done are since the run's epoch.
pub struct SampleRows<'a> {
    /// Names of the receivers.
    pub receivers: &'a [String],
    /// Sequence of the first of them.
    pub first: u64,
    /// When the first sample of the run was due; none without a pace.
    pub start: Option<u64>,
    /// When each was sent, the time in the call that sends, and the step.
    pub sent: Vec<[Option<u64>; 3]>,
    /// For each receiver when they arrived; it may have fewer.
    pub received: Vec<Vec<Option<u64>>>,
}

/// How many samples of each run are kept, where each load is sent by so many
/// rows of the result: as many as there will be, or if nothing says how many, as
/// there is room for.
///
/// # Errors
/// When there would be more than a file has.
pub fn samples_per_run(
    loads: &[Load],
    times: usize,
    duration: std::time::Duration,
) -> Result<Vec<u64>> {
    let nanoseconds = duration.as_nanos() as u64;
    let count = |load: &Load| {
        load.rate().map(|_| (nanoseconds / load.cycle.as_nanos().max(1) as u64).max(1))
    };
    let rows = |load: &Load| load.receivers as u64 * times as u64;
    let paced: u64 = loads.iter().filter_map(|load| Some(count(load)? * rows(load))).sum();
    let unpaced: u64 = loads.iter().filter(|load| count(load).is_none()).map(rows).sum();
    ensure!(
        paced <= MOST,
        "--samples would keep {paced} samples, but a file can hold {MOST}; give a shorter \
         --duration, a longer --cycle or fewer loads"
    );
    let each = UNPACED.min((MOST - paced) / unpaced.max(1));
    Ok(loads.iter().map(|load| count(load).unwrap_or(each)).collect())
}

/// What the words in a file may be.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Keys of the cases.
    pub cases: Vec<String>,
    /// Keys of the subjects.
    pub subjects: Vec<String>,
    /// Names of the receivers.
    pub receivers: Vec<String>,
}

/// A file of samples.
pub struct SampleFile(RowFile);

impl SampleFile {
    /// An empty file of samples with these words.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(target: Target, words: Labels) -> Result<SampleFile> {
        let Labels { cases, subjects, receivers } = words;
        let words = vec![("case", cases), ("subject", subjects), ("receiver", receivers)];
        Ok(SampleFile(RowFile::begin(target, words, number_fields())?))
    }

    /// Adds samples of a run. What goes wrong is told in the end.
    pub fn add(&mut self, case: &str, subject: &str, load: &Load, rows: &SampleRows) {
        for (receiver, received) in rows.receivers.iter().zip(&rows.received) {
            self.0.add(&[case, subject, receiver], columns(load, rows, received));
        }
    }

    /// Moves the file to its place, where there is anything in it.
    pub fn finish(self) -> WrittenRows {
        self.0.finish()
    }
}

/// What is in those columns.
fn columns(load: &Load, rows: &SampleRows, received: &[Option<u64>]) -> Vec<ArrayRef> {
    let sent = || rows.sent.iter().copied();
    let cycle = load.cycle.as_nanos() as u64;
    let sequences = || rows.first..rows.first + rows.sent.len() as u64;
    let arrivals = || (0..rows.sent.len()).map(|at| received.get(at).copied().flatten());
    let times = |times: &mut dyn Iterator<Item = Option<u64>>| -> ArrayRef {
        Arc::new(times.map(|time| time.map(|time| time as i64)).collect::<Int64Array>())
    };
    let latency = |(times, received): ([Option<u64>; 3], Option<u64>)| {
        // No less than nothing, as in the figures: clocks may differ a little.
        Some(received?.saturating_sub(times[0]?))
    };
    vec![
        Arc::new(UInt64Array::from_value(load.size as u64, rows.sent.len())),
        times(&mut sequences().map(|_| (cycle > 0).then_some(cycle))),
        Arc::new(sequences().map(|sequence| sequence as u32).collect::<UInt32Array>()),
        times(&mut sequences().map(|sequence| Some(rows.start? + sequence * cycle))),
        times(&mut sent().map(|[time, ..]| time)),
        times(&mut arrivals()),
        times(&mut sent().zip(arrivals()).map(latency)),
        times(&mut sent().map(|[_, write, _]| write)),
        times(&mut sent().map(|[.., step]| step)),
    ]
}

/// The columns after those of words.
fn number_fields() -> Vec<Field> {
    let time = DataType::Int64;
    vec![
        Field::new("size", DataType::UInt64, false),
        Field::new("cycle", time.clone(), true),
        Field::new("sequence", DataType::UInt32, false),
        Field::new("due", time.clone(), true),
        Field::new("sent", time.clone(), true),
        Field::new("received", time.clone(), true),
        Field::new("latency", time.clone(), true),
        Field::new("write", time.clone(), true),
        Field::new("step", time, true),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, Int64Type};
    use arrow_array::{RecordBatch, StringArray};
    use arrow_ipc::reader::FileReader;
    use std::fs::File;
    use std::time::Duration;
    use wiregauge_participant::control::Mode;

    const LOAD: Load =
        Load { receivers: 2, ..Load::new(10, Duration::from_millis(1), Mode::Discrete) };

    fn labels() -> Labels {
        let of = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        Labels { cases: of(&["c", "d"]), subjects: of(&["t"]), receivers: of(&["a", "b"]) }
    }

    #[test]
    fn a_row_a_sample_and_receiver_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.arrow");
        let open = || SampleFile::create(Target::open(&path, &[]).unwrap(), labels()).unwrap();
        assert_eq!(open().finish().count.unwrap(), 0);
        assert!(!path.exists(), "nothing is no file");
        let mut samples = open();
        let receivers = ["a", "b"].map(str::to_owned);
        let rows = SampleRows {
            receivers: &receivers,
            first: 7,
            start: Some(1000),
            sent: vec![[Some(7_001_100), Some(5), Some(90)], [Some(8_001_100), Some(6), None]],
            received: vec![vec![Some(7_001_150), Some(8_001_000)], vec![None]],
        };
        samples.add("d", "t", &LOAD, &rows);
        assert!(!path.exists(), "it is there when it is whole");
        assert_eq!(samples.finish().count.unwrap(), 4);
        let batches = FileReader::try_new(File::open(&path).unwrap(), None).unwrap();
        let batches: Vec<RecordBatch> = batches.map(Result::unwrap).collect();
        let column = |name: &str| -> Vec<Option<i64>> {
            let of = |b: &RecordBatch| {
                b.column_by_name(name)
                    .unwrap()
                    .as_primitive::<Int64Type>()
                    .iter()
                    .collect::<Vec<_>>()
            };
            batches.iter().flat_map(of).collect()
        };
        assert_eq!(column("due")[..2], [Some(7_001_000), Some(8_001_000)]);
        // A clock that is behind makes no time less than nothing.
        assert_eq!(column("latency"), [Some(50), Some(0), None, None]);
        assert_eq!(column("received"), [Some(7_001_150), Some(8_001_000), None, None]);
        assert_eq!(column("step"), [Some(90), None, Some(90), None]);
        assert_eq!(column("cycle"), [Some(1_000_000); 4]);
        let words = |name: &str| -> Vec<String> {
            let of = |b: &RecordBatch| {
                let words = b.column_by_name(name).unwrap().as_dictionary::<Int32Type>();
                let words = words.downcast_dict::<StringArray>().unwrap();
                words.into_iter().map(|word| word.unwrap().to_owned()).collect::<Vec<_>>()
            };
            batches.iter().flat_map(of).collect()
        };
        assert_eq!(words("case"), ["d"; 4]);
        assert_eq!(words("receiver"), ["a", "a", "b", "b"]);
    }

    #[test]
    fn a_file_holds_so_many_and_no_more() {
        let second = Duration::from_secs(1);
        let fast = Load { fast: true, receivers: 1, ..LOAD };
        assert_eq!(samples_per_run(&[LOAD, fast], 3, 10 * second).unwrap(), [10_000, UNPACED]);
        let most = 100_000_000 / 2 / 5 / 1000;
        let full = samples_per_run(&[LOAD, fast], 5, most * second).unwrap();
        assert_eq!(full, [10_000_000, 0]);
        let error = samples_per_run(&[LOAD], 5, (most + 1) * second).unwrap_err().to_string();
        assert!(error.contains("100010000") && error.contains("100000000"), "{error}");
    }
}
