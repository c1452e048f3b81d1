"""Recordings as a data source of Spark 4.1 or newer: spark.read.format("wiregauge").

    import wiregauge.spark

    wiregauge.spark.register(spark)
    reader = spark.read.format("wiregauge").option("channel", "/imu")
    reader.option("fields", "header.stamp,angular_velocity").load("/drives/*.mcap")
    points = spark.read.format("wiregauge").options(channel="/lidar", points=True)
    points.load("/drives/*.mcap")                               # a row a point

Options are the arguments of `wiregauge.plan`; several values are parted by commas. Each split is
a partition, planned by summaries and indexes. Limits of time are the options `from_time` and
`to_time`: filters are not pushed down, as Spark 4.3 would apply those of one query to the next
query of the same frame, too. With the option `table` set to "skipped" the rows are what errors="skip" leaves
out; with "files" what was planned of each file.

Spark has no numbers without a sign and no nanoseconds: such numbers become the next larger ones
with a sign, and times are nanoseconds since 1970 as BIGINT. All machines need this package.
"""

import json
from typing import Any, Dict, Iterator, Sequence

import wiregauge

try:
    import pyarrow
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
    from pyspark.sql.pandas.types import from_arrow_schema
except ImportError as error:
    raise ImportError(f"wiregauge.spark needs pip install 'pyspark>=4.1' pyarrow ({error})") from None

#: What Spark has for numbers without a sign.
SIGNED = {
    pyarrow.uint8(): pyarrow.int16(),
    pyarrow.uint16(): pyarrow.int32(),
    pyarrow.uint32(): pyarrow.int64(),
    pyarrow.uint64(): pyarrow.decimal128(20, 0),
    pyarrow.float16(): pyarrow.float32(),
}


def register(spark: Any) -> None:
    """Lets a session know the format "wiregauge"."""
    spark.dataSource.register(RecordingSource)


def spark_type(kind: Any) -> Any:
    """The type of Arrow that Spark takes for another one."""
    if pyarrow.types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if pyarrow.types.is_timestamp(kind):
        return pyarrow.int64()
    if pyarrow.types.is_fixed_size_binary(kind):
        return pyarrow.binary()
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([field.with_type(spark_type(field.type)) for field in kind])
    if pyarrow.types.is_list(kind) or pyarrow.types.is_fixed_size_list(kind):
        return pyarrow.list_(spark_type(kind.value_type))
    return SIGNED.get(kind, kind)


def spark_schema(source: Any) -> Any:
    fields = source.schema if isinstance(source, pyarrow.Table) else pyarrow.schema(source)
    return pyarrow.schema([field.with_type(spark_type(field.type)) for field in fields])


class SplitPartition(InputPartition):
    """A split, or rows that are known already."""

    def __init__(self, split: Any) -> None:
        self.split = split


class RecordingSource(DataSource):
    """The format "wiregauge"."""

    @classmethod
    def name(cls) -> str:
        return "wiregauge"

    def arguments(self) -> Dict[str, Any]:
        """The arguments of wiregauge.plan."""
        options = {name.lower(): value for name, value in self.options.items()}
        options.pop("table", None)
        several = json.loads(options.pop("paths", "[]"))
        arguments: Dict[str, Any] = {"files": several or options.pop("path", "")}
        for name, value in options.items():
            if name == "fields":
                arguments[name] = [path.strip() for path in value.split(",")]
            elif name in ("from_time", "to_time"):
                arguments[name] = int(value)
            elif name == "points":
                if value.lower() not in ("true", "false"):
                    raise ValueError(f"points is true or false, and not {value!r}")
                arguments[name] = value.lower() == "true"
            else:
                arguments[name] = value
        if "channel" not in arguments:
            raise ValueError('give the topic: .option("channel", "/imu")')
        return arguments

    def schema(self) -> Any:
        plan = wiregauge.plan(**self.arguments())
        table = self.options.get("table", "rows")
        return from_arrow_schema(spark_schema(plan if table == "rows" else getattr(plan, table)))

    def reader(self, schema: Any) -> "RecordingReader":
        return RecordingReader(self.arguments(), self.options.get("table", "rows"))


class RecordingReader(DataSourceReader):
    """Reads what the options want."""

    def __init__(self, arguments: Dict[str, Any], table: str) -> None:
        self.arguments, self.table = arguments, table

    def partitions(self) -> Sequence[InputPartition]:
        plan = wiregauge.plan(**self.arguments)
        if self.table == "files":
            return [SplitPartition(pyarrow.table(plan.files))]
        parts = [SplitPartition(split) for split in plan.splits]
        if self.table == "skipped":
            parts.append(SplitPartition(pyarrow.table(plan.skipped)))
        return parts or [SplitPartition(pyarrow.schema(plan).empty_table())]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        source = partition.split  # type: ignore[attr-defined]
        if self.table == "skipped" and isinstance(source, wiregauge.Split):
            for _ in pyarrow.RecordBatchReader.from_stream(source):
                pass
            source = source.skipped
        schema = spark_schema(source)
        for batch in pyarrow.RecordBatchReader.from_stream(source):
            yield batch.cast(schema)
