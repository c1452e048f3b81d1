"""Tests of plans on engines of several processes: engines.py CHECKOUT FOLDER [NAME …].

The answer of each engine is that of a plain loop over what was written, to the row: also when a
worker is killed in the middle. scripts/test-engines makes the environment and calls it.
"""

import contextlib
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

from installed import CHECKOUT, FOLDER, make_examples, run_checks
from plans import by_loop, facts, make_drives
from recordings import write_recording

import wiregauge

#: What all processes find the package and its tests by.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(pathlib.Path(wiregauge.__path__[0]).parent), str(pathlib.Path(__file__).parent)]
)
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
HERE = "127.0.0.1"


def sort_facts(rows):
    """Rows as facts in one order, with times as numbers."""
    rows = [{**row, "log_time": getattr(row["log_time"], "value", row["log_time"])} for row in rows]
    return sorted(facts(rows))


def slow_down(batches):
    """Passes batches on, slowly, so that something can happen meanwhile."""
    for batch in batches:
        time.sleep(0.1)
        yield batch


@contextlib.contextmanager
def spark_cluster(workers=2):
    """Spark's standalone cluster; a session, and the workers' processes."""
    import pyspark
    from pyspark.sql import SparkSession

    home = pathlib.Path(pyspark.__path__[0])
    with socket.socket() as free:
        free.bind((HERE, 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "SPARK_LOCAL_IP": HERE, "SPARK_HOME": str(home),
                   "SPARK_WORKER_DIR": str(FOLDER / "spark")}  # fmt: skip
    log = open(FOLDER / "spark.log", "ab")

    def start(kind, *arguments):
        name = f"org.apache.spark.deploy.{kind.lower()}.{kind}"
        command = [home / "bin/spark-class", name, "--host", HERE, "--webui-port", "0", *arguments]
        # A group of its own, so that its executors end with it.
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log, process_group=0)

    started = [start("Master", "--port", str(port))]
    session = None
    try:
        url = f"spark://{HERE}:{port}"
        started += [start("Worker", "-c", "1", "-m", "1g", url) for _ in range(workers)]
        builder = SparkSession.builder.master(url).appName("wiregauge")
        for name, value in {
            "spark.driver.host": HERE,
            "spark.driver.bindAddress": HERE,
            "spark.executor.cores": "1",
            "spark.executor.memory": "512m",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            "spark.network.timeout": "60s",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        from wiregauge import spark

        spark.register(session)
        yield session, started[1:]
    finally:
        if session is not None:
            session.stop()
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def check_spark_has_the_rows_of_a_loop():
    folder, paths, told = make_drives("spark", 8)
    wanted = sorted(by_loop(paths, told))
    with spark_cluster() as (session, workers):
        options = dict(channel="/state", rows="items", file_column="file", split="4KiB")
        reader = session.read.format("wiregauge").options(**options)
        frame = reader.load(str(folder / "*.mcap"))
        assert frame.rdd.getNumPartitions() > 24
        assert sort_facts(row.asDict() for row in frame.collect()) == wanted

        # What one query of a frame leaves out, the next one has.
        start, end = 3_020_000, 5_100_000
        rows = [row for row in wanted if start <= row[1] <= end]
        some = frame.where(f"log_time >= {start} and log_time <= {end}")
        assert sort_facts(row.asDict() for row in some.collect()) == rows and rows
        assert frame.count() == len(wanted)
        # Limits as options are planned: what they leave out is not read, and no number changes.
        some = reader.options(from_time=start, to_time=end).load(str(folder / "*.mcap"))
        assert sort_facts(row.asDict() for row in some.collect()) == rows
        assert some.rdd.getNumPartitions() < frame.rdd.getNumPartitions() / 2

        # A worker dies, with all that it runs.
        slow = frame.mapInArrow(slow_down, frame.schema)
        done, failures = [], []

        def collect():
            try:
                done.extend(slow.collect())
            except Exception as error:
                failures.append(error)

        query = threading.Thread(target=collect)
        query.start()
        tracker, finished = session.sparkContext.statusTracker(), 0
        deadline = time.monotonic() + 120
        while finished < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            finished = max([stage.numCompletedTasks for stage in stages if stage], default=0)
        assert finished >= 5 and query.is_alive(), "the query was over"
        os.killpg(workers[0].pid, signal.SIGKILL)
        query.join(180)
        assert not query.is_alive() and not failures, failures
        assert sort_facts(row.asDict() for row in done) == wanted

        # What is broken is told as rows.
        whole = paths[2].read_bytes()
        paths[2].write_bytes(whole[: len(whole) // 2])
        paths[7].write_bytes(b"no recording")
        reader = session.read.format("wiregauge").options(**options, errors="skip")
        rows = sort_facts(row.asDict() for row in reader.load(str(folder / "*.mcap")).collect())
        bad = {str(paths[2]), str(paths[7])}
        assert [row for row in rows if row[0] not in bad] == [r for r in wanted if r[0] not in bad]
        skipped = reader.option("table", "skipped").load(str(folder / "*.mcap")).collect()
        assert {row.file for row in skipped} == bad and all(row.reason for row in skipped)
        files = reader.option("table", "files").load(str(folder / "*.mcap")).collect()
        assert len(files) == 7 and sum(row.splits for row in files) > 14


def check_ray_has_the_rows_of_a_loop():
    import ray
    import wiregauge.ray
    from ray.cluster_utils import Cluster

    folder, paths, told = make_drives("ray", 12)
    wanted = sorted(by_loop(paths, told))
    memory = {"object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **memory})
    try:
        node = cluster.add_node(num_cpus=1, **memory)
        ray.init(address=cluster.address, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False

        def read():
            return wiregauge.ray.read(str(folder / "*.mcap"), "/state", rows="items", split="2KiB", file_column="file")

        dataset = read()
        assert sort_facts(dataset.take_all()) == wanted
        # The size is that of the rows in memory, and not of the files.
        source = wiregauge.ray.RecordingDatasource(wiregauge.plan(paths, "/state", rows="items"))
        said, found = source.estimate_inmemory_data_size(), dataset.materialize().size_bytes()
        assert 0.5 < said / found < 2, (said, found)
        fields = wiregauge.ray.read(paths, "/state", ["number"])
        assert fields.count() == sum(map(len, told))

        def slow(table):
            time.sleep(0.1)
            return table

        done = []
        batches = read().map_batches(slow, batch_format="pyarrow").iter_batches(batch_format="pyarrow")
        for number, table in enumerate(batches):
            done += table.to_pylist()
            if number == 3:
                cluster.remove_node(node, allow_graceful=False)
        assert number > 4 and sort_facts(done) == wanted
    finally:
        ray.shutdown()
        cluster.shutdown()


def check_daft_has_the_rows_of_a_loop():
    import daft
    import wiregauge.daft

    folder, paths, told = make_drives("daft", 6)
    wanted = sorted(by_loop(paths, told))
    frame = wiregauge.daft.read(str(folder / "*.mcap"), "/state", rows="items", split="2KiB", file_column="file")
    assert sort_facts(frame.to_arrow().to_pylist()) == wanted
    counted = frame.where(daft.col("id") == 1).count_rows()
    assert counted == sum(row[3] == 1 for row in wanted)
    assert frame.select("x").limit(5).to_arrow().num_rows == 5


def check_a_thousand_files_of_which_three_are_broken():
    folder = FOLDER / "thousand"
    folder.mkdir(exist_ok=True)
    paths, told = [], []
    for number in range(1000):
        path = folder / f"drive {number:04}.mcap"
        told.append(write_recording(path, random.Random(number), messages=8, chunk=4))
        paths.append(path)
    for number, content in ((3, b""), (400, b"no recording"), (999, paths[999].read_bytes()[:200])):
        paths[number].write_bytes(content)
    begun = time.monotonic()
    plan = wiregauge.plan(str(folder / "*.mcap"), "/state", rows="items", errors="skip", file_column="file")
    planned = time.monotonic() - begun
    import pyarrow

    rows = facts(pyarrow.table(plan).to_pylist())
    bad = {str(paths[number]) for number in (3, 400, 999)}
    assert {row["file"] for row in plan.skipped.to_pylist()} == bad
    good = [(path, one) for path, one in zip(paths, told) if str(path) not in bad]
    assert [row for row in rows if row[0] not in bad] == by_loop(*zip(*good))
    print(f"a thousand files are planned in {planned:.2f} s")


def check_the_examples_of_the_page():
    from pyspark.sql import SparkSession

    make_examples()
    pathlib.Path("drives/three.mcap").write_bytes(b"no recording")
    page = (CHECKOUT / "docs/fleet.md").read_text("utf-8")
    blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    # That of a bucket is tried by archives.py.
    blocks = [block for block in blocks if not block.startswith(">>>") and "s3://" not in block]
    assert len(blocks) == 3
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        for block in blocks:
            exec(block, {"spark": spark})
    finally:
        spark.stop()


def check_an_engine_that_is_not_there_is_named():
    text = "import sys; sys.modules[sys.argv[1]] = None\nimport importlib\n" \
        "try: importlib.import_module('wiregauge.' + sys.argv[2])\n" \
        "except ImportError as error: print(error)"
    for package, name in (("pyspark.sql.datasource", "spark"), ("ray.data", "ray"), ("daft.io.source", "daft")):
        said = subprocess.run([sys.executable, "-c", text, package, name], capture_output=True, text=True, check=True)
        assert said.stdout.startswith(f"wiregauge.{name} needs pip install"), said
        assert said.stdout.count("\n") == 1, said


if __name__ == "__main__":
    run_checks(globals())
