"""Times readers of recordings on engines: bench_fleet.py FOLDER [ROUNDS]. Prints a table.

One recording of 120 messages of 1.92 MB and 2,400 small ones, uncompressed; each reader counts
the large ones and sums the lengths of their `data`, or only counts them where it hands out the
message as it is. Readers take turns, and their medians are compared with the plain loop's.
scripts/bench-fleet makes the environment and calls it.
"""

import os
import pathlib
import statistics
import struct
import sys
import time

from recordings import Recording

import wiregauge

FOLDER, ROUNDS = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
PATH, COUNT, SIZE = FOLDER / "clouds.mcap", 120, 1_920_000
SPLIT = "32MiB"
PLAN = (str(PATH), "/points", ["data"])


def make_recording():
    definition = "uint32 number\nuint8[] data\n"
    recording = Recording(PATH, ("/points", "/small"), kind="car/msg/Cloud", definition=definition)
    cloud = os.urandom(SIZE)
    for number in range(COUNT * 20):
        time_ns = number * 1_000_000
        if number % 20 == 0:
            head = struct.pack("<BBHII", 0, 1, 0, number, SIZE)
            recording.add_bytes(1, time_ns, number, head + cloud)
            recording.end_chunk()
        recording.add_bytes(2, time_ns, number, struct.pack("<BBHII", 0, 1, 0, number, 0))
    recording.finish()


def loop():
    from mcap.reader import make_reader

    count = size = 0
    with open(PATH, "rb") as file:
        for _, _, message in make_reader(file).iter_messages(topics=["/points"]):
            count, size = count + 1, size + struct.unpack_from("<I", message.data, 8)[0]
    return count, size


def plan_in_duckdb():
    import duckdb

    plan = wiregauge.plan(*PLAN, split=SPLIT)
    return duckdb.sql("select count(*), sum(octet_length(data))::bigint from plan").fetchone()


def plan_in_spark():
    reader = SPARK.read.format("wiregauge").options(channel="/points", fields="data", split=SPLIT)
    return tuple(reader.load(str(PATH)).selectExpr("count(*)", "sum(length(data))").collect()[0])


def plan_in_ray():
    import pyarrow
    import pyarrow.compute
    import wiregauge.ray

    def measure(table):
        size = pyarrow.compute.sum(pyarrow.compute.binary_length(table["data"])).as_py()
        return pyarrow.table({"count": [len(table)], "size": [size or 0]})

    dataset = wiregauge.ray.read(*PLAN, split=SPLIT).map_batches(measure, batch_format="pyarrow")
    rows = dataset.take_all()
    return sum(row["count"] for row in rows), sum(row["size"] for row in rows)


def plan_in_daft():
    import daft
    import wiregauge.daft

    frame = wiregauge.daft.read(*PLAN, split=SPLIT)
    lengths = frame.select(daft.col("data").length().alias("size"))
    rows = lengths.agg(daft.col("size").count().alias("count"), daft.col("size").sum()).to_pylist()
    return rows[0]["count"], rows[0]["size"]


def ray_read_mcap():
    import ray

    return ray.data.read_mcap(str(PATH), topics={"/points"}).count(), None


def daft_read_mcap():
    from daft import read_mcap

    return read_mcap(str(PATH), topics=["/points"]).count_rows(), None


READERS = {
    "mcap, a plain loop": loop,
    "wiregauge.plan in DuckDB": plan_in_duckdb,
    "wiregauge.spark, local[2]": plan_in_spark,
    "wiregauge.ray": plan_in_ray,
    "ray.data.read_mcap, count only": ray_read_mcap,
    "wiregauge.daft": plan_in_daft,
    "daft.read_mcap, count only": daft_read_mcap,
}


def main():
    global SPARK
    import logging

    import ray
    from pyspark.sql import SparkSession

    import wiregauge.spark

    make_recording()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    ray.init(num_cpus=2, log_to_driver=False, logging_level=logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    SPARK = builder.config("spark.driver.memory", "2g").getOrCreate()
    wiregauge.spark.register(SPARK)
    times = {name: [] for name in READERS}
    # The first round warms up what engines start, and the file in memory.
    for number in range(ROUNDS + 1):
        for name, read in READERS.items():
            begun = time.perf_counter()
            count, size = read()
            took = time.perf_counter() - begun
            assert count == COUNT and size in (None, COUNT * SIZE), (name, count, size)
            if number:
                times[name].append(took)
    ratios = {name: statistics.median(one / own for one, own in zip(took, times["mcap, a plain loop"]))
              for name, took in times.items()}  # fmt: skip
    print(f"{PATH.stat().st_size} bytes, {ROUNDS} rounds")
    for name, took in times.items():
        print(f"{name:36} {statistics.median(took):7.3f} s {ratios[name]:8.2f}")


if __name__ == "__main__":
    main()
