"""A program that uses all of the package, for mypy --strict. It is never run."""

from pathlib import Path
from typing import List, Optional

import wiregauge

times: List[Optional[int]] = []
messages: wiregauge.Messages = wiregauge.read(Path("a.mcap"), topics=["/a"], start=1, end=2)
for message in messages:
    view: memoryview = message.data
    times.append(message.log_time or message.publish_time)
    print(message.topic, message.schema_name, message.encoding, message.sequence + 1, len(view))
    channel: wiregauge.Channel = message.channel
    print(channel.schema + b"", channel.schema_encoding, channel.metadata.get("callerid"))
try:
    wiregauge.read("a.osi", "a", osi_type="SensorView")
except wiregauge.WiregaugeError as error:
    print(error)
figures = wiregauge.run_json("run.json")
print(figures.column_names, len(figures), figures.raw["kind"], wiregauge.__version__)
print(figures.__arrow_c_stream__())
