"""Recordings as a dataset of Ray: wiregauge.ray.read(files, channel, …).

    import wiregauge.ray

    dataset = wiregauge.ray.read("/drives/*.mcap", "/imu", ["header.stamp"])
    points = wiregauge.ray.read("/drives/*.mcap", "/lidar", points=True)     # a row a point

The arguments are those of `wiregauge.plan`. Each split is a read task, planned by summaries and
indexes; the number of its rows is said where an index has it, and its size is what its rows
take in memory, by a sample. All nodes need this package.
"""

from itertools import islice
from typing import Any, List, Optional

import wiregauge

try:
    import pyarrow
    from ray.data import Dataset, read_datasource
    from ray.data.block import BlockMetadata
    from ray.data.datasource import Datasource, ReadTask
except ImportError as error:
    raise ImportError(f"wiregauge.ray needs pip install 'ray[data]' ({error})") from None

#: Most splits that are read to find out how large rows are.
MOST_SAMPLES = 8


def read(*arguments: Any, parallelism: int = -1, **options: Any) -> Dataset:
    """The rows of a plan as a dataset."""
    source = RecordingDatasource(wiregauge.plan(*arguments, **options))
    return read_datasource(source, override_num_blocks=None if parallelism < 0 else parallelism)


class RecordingDatasource(Datasource):  # type: ignore[misc]
    """A plan as Ray's data source."""

    def __init__(self, plan: Any) -> None:
        super().__init__()
        self.splits, self.schema = plan.splits, pyarrow.schema(plan)
        self.bytes_a_message = self.sample_size()

    def sample_size(self) -> Optional[float]:
        """How many bytes the rows of a message take: by the first splits whose messages are
        known, up to one that has rows, as clouds may be without a point and lists empty."""
        messages = size = 0
        known = (split for split in self.splits if split.messages and split.size <= 1 << 28)
        for split in islice(known, MOST_SAMPLES):
            messages += split.messages
            size += sum(batch.nbytes for batch in pyarrow.RecordBatchReader.from_stream(split))
            if size:
                return size / messages
        return None

    def size_of(self, split: Any) -> int:
        """What the rows of a split take in memory, about."""
        if split.messages is None or self.bytes_a_message is None:
            return int(split.size)
        return int(split.messages * self.bytes_a_message)

    def estimate_inmemory_data_size(self) -> Optional[int]:
        return sum(map(self.size_of, self.splits))

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: Optional[int] = None,
        data_context: Any = None,
    ) -> List[ReadTask]:
        is_row_a_message = "message" not in self.schema.names
        tasks = []
        # Neighbours go together where fewer tasks are wanted than there are splits.
        count = max(1, min(parallelism if parallelism > 0 else 1 << 30, len(self.splits)))
        bounds = [len(self.splits) * at // count for at in range(count + 1)]
        for start, end in zip(bounds, bounds[1:]):
            splits = self.splits[start:end]
            messages = [split.messages for split in splits]
            is_known = is_row_a_message and None not in messages
            metadata = BlockMetadata(
                num_rows=sum(messages) if is_known else None,
                size_bytes=sum(map(self.size_of, splits)),
                input_files=sorted({split.file for split in splits}),
                exec_stats=None,
            )
            tasks.append(ReadTask(BlockReader(splits, self.schema), metadata, self.schema, per_task_row_limit))
        return tasks


class BlockReader:
    """What a read task does; it goes to where it is done with its splits alone."""

    def __init__(self, splits: List[Any], schema: Any) -> None:
        self.splits, self.schema = splits, schema

    def __call__(self) -> Any:
        if not self.splits:
            yield self.schema.empty_table()
        for split in self.splits:
            for batch in pyarrow.RecordBatchReader.from_stream(split):
                yield pyarrow.Table.from_batches([batch])
