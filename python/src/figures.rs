//! The figures of a result as columns, which Arrow's libraries take as they are.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use wiregauge_report::model::statistic::{statistics, Statistic};
use wiregauge_result::run::Run;
use wiregauge_result::stats::Basis;

use crate::arrow::{array_capsules, schema_capsule, stream_capsule};
use crate::error::to_python;

/// The figures of a result, one row for each cell: a subject on a case for a metric. It is
/// Arrow data: pyarrow, Polars, pandas and DuckDB take it as it is.
#[pyclass(module = "wiregauge", frozen)]
pub struct Figures {
    batch: RecordBatch,
    text: String,
}

/// The figures of a result, as `wiregauge report RUN --format csv` writes them: one row for
/// each cell, with its interval, its ratio to the best and its flags.
///
/// Raises WiregaugeError, in one line, where the file is no result of wiregauge.
///
/// >>> import pyarrow, wiregauge
/// >>> table = pyarrow.table(wiregauge.run_json("run.json"))
/// >>> table.num_rows > 0 and table.schema.field("value").type
/// DataType(double)
/// >>> {"decode", "encode"} <= set(table["metric"].to_pylist())
/// True
#[pyfunction]
pub fn run_json(python: Python<'_>, path: PathBuf) -> PyResult<Figures> {
    python
        .detach(|| -> Result<Figures> {
            let run = Run::read(&path)?;
            Ok(Figures { batch: batch(&statistics(1, &run))?, text: run.text()? })
        })
        .map_err(to_python)
}

#[pymethods]
impl Figures {
    /// The whole result as a dictionary, as docs/run-format.md describes it: all samples, the
    /// machine, the warnings.
    #[getter]
    fn raw<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python.import("json")?.call_method1("loads", (&self.text,))
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<Figures: {} rows of {}>", self.batch.num_rows(), self.column_names().join(", "))
    }

    /// The types of the columns, by Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(python, &self.batch.schema())
    }

    /// Types and columns as one record batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        python: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // Other types may be wished for, and need not be given.
        let _ = requested_schema;
        array_capsules(python, &self.batch)
    }

    /// The same as a stream of one record batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        python: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        stream_capsule(python, batches)
    }
}

/// The statistics as columns. Their names and their order are those of the CSV, without the
/// number of the run: there is one.
fn batch(rows: &[Statistic]) -> Result<RecordBatch> {
    let text = |of: fn(&Statistic) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let number = |of: fn(&Statistic) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Float64Array>())
    };
    let count = |of: fn(&Statistic) -> Option<usize>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| of(row).map(|n| n as u64)).collect::<UInt64Array>())
    };
    let flag = |of: fn(&Statistic) -> bool| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(of(row))).collect::<BooleanArray>())
    };
    let columns = [
        ("case", text(|row| Some(row.case.into()))),
        ("parameter", text(|row| row.parameter.map(Into::into))),
        ("parameter_value", number(|row| row.parameter_value)),
        ("subject", text(|row| Some(row.subject.into()))),
        ("title", text(|row| Some(row.title.into()))),
        ("bound", flag(|row| row.bound)),
        ("metric", text(|row| Some(row.metric.into()))),
        ("unit", text(|row| Some(row.unit.into()))),
        ("value", number(|row| Some(row.value))),
        ("low", number(|row| row.low)),
        ("high", number(|row| row.high)),
        ("basis", text(|row| row.basis.map(|basis| basis_name(basis).into()))),
        ("ratio", number(|row| row.ratio)),
        ("ratio_low", number(|row| row.ratio_low)),
        ("ratio_high", number(|row| row.ratio_high)),
        ("rank", count(|row| row.rank)),
        ("at_floor", flag(|row| row.at_floor)),
        ("at_least", flag(|row| row.at_least)),
        ("unchecked", flag(|row| row.unchecked)),
        ("mean", number(|row| row.mean)),
        ("deviation", number(|row| row.deviation)),
        ("min", number(|row| row.min)),
        ("lower_quartile", number(|row| row.lower_quartile)),
        ("upper_quartile", number(|row| row.upper_quartile)),
        ("max", number(|row| row.max)),
        ("processes", count(|row| row.processes)),
        ("epochs", count(|row| row.epochs)),
        ("lost", count(|row| row.lost)),
        ("outliers", count(|row| row.outliers)),
        ("between", number(|row| row.between)),
        ("within", number(|row| row.within)),
    ];
    let always = ["case", "subject", "title", "metric", "unit", "value"];
    let is_nullable =
        |name: &str, kind: &DataType| *kind != DataType::Boolean && !always.contains(&name);
    let fields = columns.iter().map(|(name, column)| {
        let kind = column.data_type();
        Field::new(*name, kind.clone(), is_nullable(name, kind))
    });
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    Ok(RecordBatch::try_new(Arc::new(schema), columns)?)
}

/// What an interval rests on, as a result calls it.
fn basis_name(basis: Basis) -> &'static str {
    match basis {
        Basis::Order => "order",
        Basis::Student => "student",
        Basis::Rounds => "rounds",
    }
}
