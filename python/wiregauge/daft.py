"""Recordings as a data frame of Daft: wiregauge.daft.read(files, channel, …).

    import wiregauge.daft

    frame = wiregauge.daft.read("/drives/*.mcap", "/imu", ["header.stamp"])
    points = wiregauge.daft.read("/drives/*.mcap", "/lidar", points=True)    # a row a point

The arguments are those of `wiregauge.plan`. Each split is a task, planned by summaries and
indexes. All machines need this package.
"""

from typing import Any, AsyncIterator

import wiregauge

try:
    import pyarrow
    from daft.io.source import DataSource, DataSourceTask
    from daft.recordbatch import RecordBatch
    from daft.schema import Schema
except ImportError as error:
    raise ImportError(f"wiregauge.daft needs pip install daft pyarrow ({error})") from None


def read(*arguments: Any, **options: Any) -> Any:
    """The rows of a plan as a data frame."""
    return RecordingSource(wiregauge.plan(*arguments, **options)).read()


def daft_schema(source: Any) -> Any:
    """The columns as Daft has them: words that repeat are text there."""
    fields = pyarrow.schema(source)
    is_word = [pyarrow.types.is_dictionary(field.type) for field in fields]
    plain = (field.with_type(field.type.value_type) if word else field
             for field, word in zip(fields, is_word))  # fmt: skip
    return pyarrow.schema(list(plain))


class RecordingSource(DataSource):
    """A plan as Daft's data source."""

    def __init__(self, plan: Any) -> None:
        self.splits, self.fields = plan.splits, daft_schema(plan)

    @property
    def name(self) -> str:
        return "wiregauge"

    @property
    def schema(self) -> Schema:
        return Schema.from_pyarrow_schema(self.fields)

    async def get_tasks(self, pushdowns: Any) -> AsyncIterator[DataSourceTask]:
        for split in self.splits:
            yield SplitTask(split, self.fields)


class SplitTask(DataSourceTask):
    """Reads a split."""

    def __init__(self, split: Any, fields: Any) -> None:
        self.split, self.fields = split, fields

    @property
    def schema(self) -> Schema:
        return Schema.from_pyarrow_schema(self.fields)

    async def read(self) -> AsyncIterator[RecordBatch]:
        for batch in pyarrow.RecordBatchReader.from_stream(self.split):
            yield RecordBatch.from_arrow_record_batches([batch.cast(self.fields)], self.fields)
