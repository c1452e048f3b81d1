"""Tests of plans on engines of several processes: engines.py CHECKOUT FOLDER [NAME …].

The answer of each engine is that of a plain loop over what was written, to the row: also when a
worker is killed in the middle. scripts/test-engines makes the environment and calls it.
"""

import collections
import contextlib
import decimal
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
from plans import by_loop, facts, make_clouds, make_drives, make_views
from recordings import write_osi, write_recording

import wiregauge

#: What all processes find the package and its tests by.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(pathlib.Path(wiregauge.__path__[0]).parent), str(pathlib.Path(__file__).parent)]
)
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
HERE = "127.0.0.1"


#: What an engine is asked for: recordings, the arguments of a plan, the columns that are
#: compared, and the rows of a plain loop.
Workload = collections.namedtuple("Workload", "folder paths arguments columns wanted")


def make_workloads(engine, count, split):
    """Elements of lists, and points of clouds of which the first ones have none."""
    how = {"split": split, "file_column": "file"}
    folder, paths, told = make_drives(f"{engine} items", count)
    wanted = sorted(by_loop(paths, told))
    yield Workload(folder, paths, {"channel": "/state", "rows": "items", **how}, ("id", "x"), wanted)
    folder, paths, wanted = make_clouds(f"{engine} clouds", count, engine)
    arguments = {"channel": "/points", "points": True, "fields": ["x", "ring"], **how}
    yield Workload(folder, paths, arguments, ("x", "ring"), sorted(wanted))


def sort_facts(rows, workload):
    """Rows as facts in one order, with times as numbers."""
    return sorted(facts(rows, workload.columns))


def make_reflections():
    """Points of OSI in two files, with columns of words and of numbers without a sign."""
    paths = [FOLDER / f"drive {number}_sv.osi" for number in range(2)]
    for path in paths:
        write_osi(path, make_views())
    import pyarrow

    plan = wiregauge.plan(paths, "*", points=True, split=1, file_column="file")
    table = pyarrow.table(plan)
    assert len(plan) > 4 and pyarrow.uint64() in table.schema.types, plan
    assert len(table) == 44 and table.schema.field("list").type.value_type == pyarrow.string()
    return paths, table.to_pylist()


def slow_down(batches):
    """Passes batches on, slowly, so that something can happen meanwhile."""
    for batch in batches:
        time.sleep(0.1)
        yield batch


def slow_down_column(column):
    time.sleep(0.2)
    return column


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
            "spark.ui.showConsoleProgress": "false",
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
    with spark_cluster(workers=3) as (session, workers):
        for workload, worker in zip(make_workloads("spark", 8, "4KiB"), workers):
            compare_on_spark(session, workload, worker)
        paths, rows = make_reflections()
        reader = session.read.format("wiregauge").options(channel="*", points=True, split=1, file_column="file")
        found = [row.asDict() for row in reader.load([str(path) for path in paths]).collect()]
        compare_reflections(found, rows)
        try:
            reader.option("points", "yes").load(str(paths[0]))
        except Exception as error:
            assert "points is true or false, and not 'yes'" in str(error), error
        else:
            raise AssertionError("the option is not read")


def compare_reflections(found, wanted):
    """Holds points of OSI against those of a plan in one process, in any order."""
    def bare(rows):
        rows = [{**row, "log_time": getattr(row["log_time"], "value", row["log_time"])} for row in rows]
        return sorted(repr(sorted((name, float(value) if isinstance(value, (int, decimal.Decimal)) else value)
                                  for name, value in row.items())) for row in rows)  # fmt: skip

    assert bare(found) == bare(wanted)


def compare_on_spark(session, workload, worker):
    """Holds the rows against those of a loop, also where this worker dies and files are broken."""
    folder, paths, arguments, _, wanted = workload
    files = str(folder / "*.mcap")
    options = {**arguments, "fields": ",".join(arguments.get("fields", []))}
    options = {name: value for name, value in options.items() if value != ""}

    def read(reader):
        return sort_facts((row.asDict() for row in reader.collect()), workload)

    reader = session.read.format("wiregauge").options(**options)
    frame = reader.load(files)
    assert frame.rdd.getNumPartitions() > 24
    assert read(frame) == wanted

    # What one query of a frame leaves out, the next one has.
    times = sorted({row[1] for row in wanted})
    start, end = times[len(times) // 4], times[len(times) // 2]
    rows = [row for row in wanted if start <= row[1] <= end]
    assert read(frame.where(f"log_time >= {start} and log_time <= {end}")) == rows and rows
    assert frame.count() == len(wanted)
    # Limits as options are planned: what they leave out is not read, and no number changes.
    some = session.read.format("wiregauge").options(**options, from_time=start, to_time=end).load(files)
    assert read(some) == rows
    assert some.rdd.getNumPartitions() < frame.rdd.getNumPartitions() / 2

    # At times without rows there are columns.
    none = session.read.format("wiregauge").options(**options, from_time=1 << 50).load(files)
    assert none.columns == frame.columns and none.count() == 0

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
    os.killpg(worker.pid, signal.SIGKILL)
    query.join(180)
    assert not query.is_alive() and not failures, failures
    assert sort_facts((row.asDict() for row in done), workload) == wanted

    # What is broken is told as rows.
    whole = paths[2].read_bytes()
    paths[2].write_bytes(whole[: len(whole) // 2])
    paths[7].write_bytes(b"no recording")
    reader = session.read.format("wiregauge").options(**options, errors="skip")
    rows = read(reader.load(files))
    bad = {str(paths[2]), str(paths[7])}
    assert [row for row in rows if row[0] not in bad] == [row for row in wanted if row[0] not in bad]
    skipped = reader.option("table", "skipped").load(files).collect()
    assert {row.file for row in skipped} == bad and all(row.reason for row in skipped)
    planned = reader.option("table", "files").load(files).collect()
    assert len(planned) == 7 and sum(row.splits for row in planned) > 14


@contextlib.contextmanager
def ray_cluster(nodes=2):
    """A cluster of Ray, and what takes each of its nodes but the first away."""
    import ray
    from ray.cluster_utils import Cluster

    memory = {"object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **memory})
    try:
        added = [cluster.add_node(num_cpus=1, **memory) for _ in range(nodes)]
        ray.init(address=cluster.address, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield [lambda node=node: cluster.remove_node(node, allow_graceful=False) for node in added]
    finally:
        ray.shutdown()
        cluster.shutdown()


def check_ray_has_the_rows_of_a_loop():
    import wiregauge.ray

    with ray_cluster() as losses:
        for workload, lose_node in zip(make_workloads("ray", 12, "2KiB"), losses):
            compare_on_ray(workload, lose_node)
        paths, rows = make_reflections()
        dataset = wiregauge.ray.read(paths, "*", points=True, split=1, file_column="file")
        compare_reflections(dataset.take_all(), rows)


def compare_on_ray(workload, lose_node):
    """Holds the rows against those of a loop, also where a node is lost in the middle."""
    import wiregauge.ray

    folder, paths, arguments, _, wanted = workload

    def read():
        return wiregauge.ray.read(str(folder / "*.mcap"), **arguments)

    dataset = read()
    assert sort_facts(dataset.take_all(), workload) == wanted
    # The size is that of the rows in memory, and not of the files.
    source = wiregauge.ray.RecordingDatasource(wiregauge.plan(paths, **arguments))
    said, found = source.estimate_inmemory_data_size(), dataset.materialize().size_bytes()
    assert 0.5 < said / found < 2, (said, found)
    none = wiregauge.ray.read(paths, from_time=1 << 50, **arguments)
    assert none.count() == 0 and none.schema().names == dataset.schema().names
    if "rows" in arguments:
        fields = wiregauge.ray.read(paths, arguments["channel"], ["number"])
        assert fields.count() == sum(split.messages for split in source.splits)

    def slow(table):
        time.sleep(0.1)
        return table

    done = []
    batches = read().map_batches(slow, batch_format="pyarrow").iter_batches(batch_format="pyarrow")
    for number, table in enumerate(batches):
        done += table.to_pylist()
        if number == 3:
            lose_node()
    assert number > 4 and sort_facts(done, workload) == wanted


def check_daft_has_the_rows_of_a_loop():
    import daft

    daft.set_runner_native()
    for workload in make_workloads("daft", 6, "2KiB"):
        compare_on_daft(workload)


def check_daft_on_ray_has_the_rows_of_a_loop():
    import daft

    with ray_cluster() as losses:
        daft.set_runner_ray(noop_if_initialized=True)
        for workload, lose_node in zip(make_workloads("daft on ray", 6, "2KiB"), losses):
            compare_on_daft(workload)
            frame, done = read_on_daft(workload), []
            slow = daft.func.batch(return_dtype=daft.DataType.float32())(slow_down_column)
            for number, batch in enumerate(frame.with_column("slow", slow(frame["x"])).to_arrow_iter()):
                done += batch.to_pylist()
                if number == 3:
                    lose_node()
            assert number > 6 and sort_facts(done, workload) == workload.wanted, number


def read_on_daft(workload):
    import wiregauge.daft

    return wiregauge.daft.read(str(workload.folder / "*.mcap"), **workload.arguments)


def compare_on_daft(workload):
    """Holds the rows against those of a loop, and what is chosen and counted of them."""
    import daft
    import wiregauge.daft

    name, wanted, frame = workload.columns[0], workload.wanted, read_on_daft(workload)
    assert sort_facts(frame.to_arrow().to_pylist(), workload) == wanted
    value = wanted[0][3]
    counted = frame.where(daft.col(name) == value).count_rows()
    assert counted == sum(row[3] == value for row in wanted)
    assert frame.select("x").limit(5).to_arrow().num_rows == 5
    none = wiregauge.daft.read(workload.paths, from_time=1 << 50, **workload.arguments)
    assert none.count_rows() == 0 and none.column_names == frame.column_names
    paths, rows = make_reflections()
    frame = wiregauge.daft.read(paths, "*", points=True, split=1, file_column="file")
    compare_reflections(frame.to_arrow().to_pylist(), rows)


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
    names = sys.argv[3:] or sorted(name for name in globals() if name.startswith("check_"))
    if len(names) == 1:
        run_checks(globals())
    else:
        # Each in a process of its own: Daft keeps for all of it where it began to run.
        for name in names:
            subprocess.run([sys.executable, *sys.argv[:3], name], check=True)
