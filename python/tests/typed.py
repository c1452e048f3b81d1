"""A program that uses all of the package, for mypy --strict. It is never run."""

from pathlib import Path
from typing import List, Optional

import wiregauge

times: List[Optional[int]] = []
drive: wiregauge.Recording = wiregauge.open(Path("a.mcap"))
messages: wiregauge.Messages = drive.messages(["/a"], from_time=1, to_time=2)
for message in messages:
    view: memoryview = message.data
    times.append(message.log_time or message.publish_time)
    print(message.topic, message.schema_name, message.encoding, message.sequence + 1, len(view))
    channel: wiregauge.Channel = message.channel
    print(channel.schema + b"", channel.schema_encoding, channel.metadata.get("callerid"))
try:
    osi = wiregauge.open("a.osi", osi_type="SensorView", definition=b"")
    print(osi.points("a", ["x"], 1, 2, elevation="up", rays="edges").column_names)
    print(osi.fields(None, ["a"]).column_names, osi.rows("a", "b", ["c"], 1, 2).column_names)
except wiregauge.WiregaugeError as error:
    print(error)
figures = wiregauge.run_json("run.json")
print(figures.column_names, len(figures), figures.raw["kind"], wiregauge.__version__)
print(figures.__arrow_c_stream__())
print([channel.count for channel in drive.channels], drive.count, drive.start_time, drive.end_time)
plan: wiregauge.Plan = wiregauge.plan(["a.mcap", Path("b.mcap")], "/a", ["b"], split="1MiB")
for split in plan.splits:
    print(split.file, split.messages, split.size, split.skipped.to_pylist())
print(len(plan), len(plan.files), len(plan.skipped), len(wiregauge.check("a.mcap")))
