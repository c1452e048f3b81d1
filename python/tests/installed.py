"""Tests of the package as it is installed: installed.py CHECKOUT FOLDER [NAME …].

The interpreter is the one that it is installed for. NumPy and pyarrow come by PYTHONPATH; what
needs them is left out where they are not there, which is said. Each function that begins
with `check_` is a test.
"""

import doctest
import gc
import gzip
import importlib.util
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings

import wiregauge

CHECKOUT, FOLDER = map(pathlib.Path, sys.argv[1:3])
RECORDINGS = CHECKOUT / "crates/trace/tests/recordings"
PROGRAM = [sys.executable, "-m", "wiregauge"]

#: A recording of each container, also packed as a whole or message by message.
FILES = [
    "ros1/plain.bag", "ros1/bz2.bag", "ros1/lz4.bag", "ros2/iron/iron.db3", "ros2/iron",
    "ros2/packed", "ros2/jazzy", "mcap/ros1.mcap", "mcap/ros2-zstd.mcap", "mcap/ros2-lz4.mcap",
    "mcap/ros2-chunks.mcap", "mcap/ros2-bare.mcap", "mcap/protobuf.mcap", "mcap/others.mcap",
    "osi/20240101T000000Z_sv_380_7362_5_made_up.osi", "osi/zstd.mcap", "osi/lz4-no-metadata.mcap",
]  # fmt: skip


def has(name):
    there = importlib.util.find_spec(name) is not None
    if not there:
        print(f"left out: {name} is not installed")
    return there


def run_program(*arguments):
    """What the installed program says: its output, its errors, its status."""
    done = subprocess.run([*PROGRAM, *arguments], capture_output=True, stdin=subprocess.DEVNULL)
    return done.stdout, done.stderr.decode(), done.returncode


def address(view):
    import numpy

    return numpy.frombuffer(view, numpy.uint8).ctypes.data


def peak():
    """Most memory that this process had so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def osi_message(number, size):
    """A SensorView with a time stamp and a field of zeros that no reader knows."""
    stamp = bytes([0x12, 2, 0x08, number % 100])
    length = bytes([size >> shift & 127 | 128 for shift in (0, 7, 14)] + [size >> 21])
    return stamp + b"\xfa\x3f" + length + bytes(size)


def check_the_program_has_the_version_of_the_package():
    said, _, status = run_program("--version")
    assert status == 0 and said.decode().split()[1] == wiregauge.__version__, said


def check_messages_are_those_of_the_program():
    for name in FILES:
        path = RECORDINGS / name
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            messages = list(wiregauge.open(path).messages())
        assert messages, name
        for topic in sorted({one.topic for one in messages}):
            arguments = ["--format", "raw", "--channel", topic, str(path)]
            raw, errors, status = run_program("trace", "cat", *arguments)
            assert status == 0, errors
            ours = [one.data for one in messages if one.topic == topic]
            assert b"".join(struct.pack("<I", len(one)) + one for one in ours) == raw, name
        info, errors, status = run_program("trace", "info", "--all", "--format", "json", str(path))
        assert status == 0, errors
        compare_facts(name, messages, info)


def compare_facts(name, messages, info):
    (told,) = json.loads(info)
    assert told["messages"] == len(messages), name
    for channel in told["channels"]:
        ours = [one for one in messages if one.topic == channel["topic"]]
        assert len(ours) == channel["messages"], (name, channel["topic"])
        if not ours:
            continue
        described = ours[0].channel
        assert described.schema_name == ours[0].schema_name == channel["type"], name
        assert described.encoding == ours[0].encoding == channel["encoding"], name
        assert described.metadata == channel["metadata"], name
        assert all(one.channel is described for one in ours), name
        times = [one.log_time for one in ours if one.log_time is not None]
        facts = channel["read"]
        assert [min(times), max(times)] == facts["times"], name
        sizes = [len(one.data) for one in ours]
        found = [sum(sizes), min(sizes), max(sizes)]
        assert found == [facts["bytes"], facts["smallest"], facts["largest"]], name


def check_bytes_of_a_chunk_are_not_copied():
    if not has("numpy"):
        return
    for name in ["mcap/ros2-zstd.mcap", "mcap/ros2-chunks.mcap", "osi/zstd.mcap"]:
        messages = list(wiregauge.open(RECORDINGS / name).messages())
        places = [(address(one.data), len(one.data)) for one in messages]
        # Before each message of MCAP stand its kind, its length and what is said of it.
        follows = [a + size + 9 + 22 == b for (a, size), (b, _) in zip(places, places[1:])]
        assert any(follows), name
        assert messages[0].data is messages[0].data and messages[0].data.readonly
    first, second = list(wiregauge.open(RECORDINGS / FILES[-3]).messages())[:2]
    assert address(second.data) == address(first.data) + len(first.data) + 4


def check_bytes_stay_as_long_as_they_are_kept():
    for name in FILES:
        path = FOLDER / "kept" / pathlib.Path(name).name
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir()
        (shutil.copytree if (RECORDINGS / name).is_dir() else shutil.copy)(RECORDINGS / name, path)
        views = [message.data[1:] for message in wiregauge.open(path).messages()]
        shutil.rmtree(path.parent)
        gc.collect()
        other = [bytes(one.data) for one in wiregauge.open(RECORDINGS / name).messages()]
        assert [bytes(view) for view in views] == [one[1:] for one in other], name


def check_views_are_read_only():
    data = next(wiregauge.open(RECORDINGS / FILES[0]).messages()).data
    for view in (data, memoryview(data.obj)):
        assert view.readonly and view.format == "B" and view.contiguous and view.ndim == 1
        try:
            view[0] = 1
        except TypeError:
            continue
        raise AssertionError("a message can be written")
    # readinto asks for a buffer to write into.
    try:
        open(__file__, "rb").readinto(data.obj)
    except (TypeError, BufferError):
        return
    raise AssertionError("a message can be written")


def check_memory_is_bounded():
    path = FOLDER / "large_sv.osi"
    size = (1 << 20) - 10
    with open(path, "wb") as file:
        for number in range(300):
            message = osi_message(number, size)
            file.write(struct.pack("<I", len(message)) + message[:10])
            # Zeros that need no room on the disk.
            file.seek(len(message) - 10, os.SEEK_CUR)
        file.truncate()
    next(wiregauge.open(path).messages())
    before, count, kept = peak(), 0, None
    for message in wiregauge.open(path).messages():
        count += 1
        kept = message.data
        assert len(kept) == len(osi_message(0, size))
    assert count == 300
    assert peak() - before < 64 << 20, f"{peak() - before} bytes"
    os.remove(path)


def check_channels_and_times_are_chosen():
    path = RECORDINGS / "osi/zstd.mcap"
    everything = list(wiregauge.open(path).messages())
    topics = sorted({one.topic for one in everything})
    assert len(topics) == 2
    for topic in topics:
        wanted = [one.log_time for one in everything if one.topic == topic]
        assert [one.log_time for one in wiregauge.open(path).messages(topic)] == wanted
        assert [one.log_time for one in wiregauge.open(path).messages(channels=[topic])] == wanted
    times = sorted(one.log_time for one in everything)
    start, end = times[2], times[-2]
    found = sorted(one.log_time for one in wiregauge.open(path).messages(None, start, end))
    assert found == [time for time in times if start <= time <= end] and found != times
    with_channels = wiregauge.open(path).messages()
    assert [one.topic for one in with_channels.channels] and "Messages" in repr(with_channels)
    assert next(with_channels).channel.schema
    for wrong in (dict(channels=3), dict(from_time=1.5), dict(to_time="x")):
        try:
            wiregauge.open(path).messages(**wrong)
        except TypeError:
            continue
        raise AssertionError(wrong)


def refusal(action):
    try:
        action()
    except wiregauge.WiregaugeError as error:
        text = str(error)
        assert "\n" not in text, text
        return text
    raise AssertionError("it is not refused")


def check_errors_are_those_of_the_program():
    whole = (RECORDINGS / "osi/zstd.mcap").read_bytes()
    plain = (RECORDINGS / "mcap/ros2-chunks.mcap").read_bytes()
    damaged = bytearray(plain)
    for at in range(len(plain) // 2, len(plain) // 2 + 64):
        damaged[at] ^= 0x55
    osi = (RECORDINGS / FILES[-3]).read_bytes()
    faults = {
        "cut.mcap": whole[: len(whole) // 3],
        "damaged.mcap": bytes(damaged),
        "cut_sv.osi": osi[:-5],
        "cut.bag": (RECORDINGS / "ros1/lz4.bag").read_bytes()[:3000],
        "cut.db3": (RECORDINGS / "ros2/iron/iron.db3").read_bytes()[:5000],
        "text.mcap": b"no recording",
        "none.osi": b"",
    }
    for name, content in faults.items():
        path = FOLDER / name
        path.write_bytes(content)
        # An MCAP would get OSI's definitions, which may have to be downloaded.
        output = FOLDER / ("out_sv.osi" if path.suffix == ".osi" else "out.mcap")
        _, said, _ = run_program("trace", "convert", str(path), "-o", str(output))
        count = 0
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                for message in wiregauge.open(path).messages():
                    count += len(message.data) >= 0
            except wiregauge.WiregaugeError as error:
                assert said == f"wiregauge: {error}\n", (name, said, str(error))
            else:
                assert all(one.category is wiregauge.WiregaugeWarning for one in told)
                lines = "".join(f"{one.message}\n" for one in told)
                assert lines or not content, f"{name}: {said}"
                assert lines in said or not count, (name, said, lines)
        print(f"{name}: {count} messages, then: {said.strip()}")
    missing = refusal(lambda: wiregauge.open(FOLDER / "missing.mcap"))
    assert "missing.mcap" in missing
    lacking = refusal(lambda: list(wiregauge.open(RECORDINGS / "osi/zstd.mcap").messages("/none")))
    assert "has no channel /none; it has" in lacking, lacking
    messages = wiregauge.open(FOLDER / "cut.mcap").messages()
    refusal(lambda: list(messages))
    assert list(messages) == [], "asked again, there is no more"


def packed_trace(path, messages):
    """A trace that takes long to unpack and little room: each message packed alone."""
    message = osi_message(1, 16_000_000)
    member = gzip.compress(struct.pack("<I", len(message)) + message, 1)
    with open(path, "wb") as file:
        for _ in range(messages):
            file.write(member)


def check_other_threads_run_meanwhile():
    path = FOLDER / "threads_sv.osi.gz"
    packed_trace(path, 20)
    count, stop = 0, threading.Event()

    def tick():
        nonlocal count
        while not stop.wait(0.001):
            count += 1

    thread = threading.Thread(target=tick)
    thread.start()
    refusal(lambda: list(wiregauge.open(path).messages("none")))
    stop.set()
    thread.join()
    assert count > 5, count
    # Several threads take each message once.
    path, found = RECORDINGS / "mcap/ros2-chunks.mcap", []
    messages = wiregauge.open(path).messages()
    threads = [threading.Thread(target=lambda: found.extend(messages)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    def facts(messages):
        return sorted((one.topic, one.log_time, one.sequence, bytes(one.data)) for one in messages)

    assert facts(found) == facts(wiregauge.open(path).messages())


def check_an_interruption_ends_it():
    path = FOLDER / "interrupted_sv.osi.gz"
    packed_trace(path, 4000)
    text = """if True:
        import signal, sys, wiregauge
        # A shell's jobs in the background ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            print("begins", flush=True)
            list(wiregauge.open(sys.argv[1]).messages("none"))
        except KeyboardInterrupt as error:
            print("interrupted after", error.__context__)
    """
    child = subprocess.Popen([sys.executable, "-c", text, path], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begins\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    # Unpacking all of it takes minutes.
    said, _ = child.communicate(timeout=60)
    assert said == "interrupted after None\n", said
    os.remove(path)


def check_columns_have_the_values_of_the_messages():
    if not has("pyarrow"):
        return
    import pyarrow

    path = RECORDINGS / "osi/zstd.mcap"
    columns = wiregauge.open(path).fields("/SensorView", ["timestamp", "version"])
    tables = [pyarrow.table(columns), pyarrow.table(columns)]
    assert tables[0].equals(tables[1]) and pyarrow.schema(columns) == tables[0].schema
    tables[0].validate(full=True)
    wanted = [one for one in wiregauge.open(path).messages("/SensorView")]
    times = [one.value for one in tables[0]["log_time"]]
    assert times == [one.log_time for one in wanted] and times
    said, errors, status = run_program("trace", "cat", "--channel", "/SensorView", str(path))
    assert status == 0, errors
    shown = [json.loads(line)["message"]["timestamp"] for line in said.splitlines()]
    ours = tables[0]["timestamp"].to_pylist()
    for one, other in zip(ours, shown):
        found = {name: int(value) for name, value in other.items()}
        assert {name: one[name] or 0 for name in found} == found, (one, other)
    # What the program writes has the same rows.
    out = FOLDER / "columns.arrow"
    options = ["--channel", "/SensorView", "--fields", "timestamp,version"]
    _, errors, status = run_program("trace", "convert", str(path), "-o", str(out), *options)
    assert status == 0, errors
    assert pyarrow.ipc.open_file(out).read_all().equals(tables[0])
    if has("polars"):
        import polars

        assert polars.DataFrame(columns).height == len(wanted)
    if has("duckdb"):
        import duckdb

        assert duckdb.sql("select count(*) from columns").fetchall() == [(len(wanted),)]
    fields = wiregauge.open(path).fields
    some = pyarrow.table(fields("/SensorView", from_time=times[1], to_time=times[2]))
    assert some.num_rows == 2
    assert "/SensorView" in refusal(lambda: fields("/none"))
    assert "has no field 'x'" in refusal(lambda: fields("/SensorView", ["x"]))
    try:
        pyarrow.table(fields())
    except Exception as error:
        assert "a table holds the messages of one channel" in str(error), error
    else:
        raise AssertionError("two channels are one table")


def check_points_are_those_of_the_clouds():
    if not has("pyarrow"):
        return
    from random import Random

    import pyarrow

    from recordings import write_clouds, write_recording

    clouds = [(1000 * n, [(k, n, k * n, k % 256) for k in range(n % 3 * 700)]) for n in range(9)]
    path = FOLDER / "clouds.mcap"
    write_clouds(path, clouds)
    drive = wiregauge.open(path)
    points = drive.points("/points")
    tables = [pyarrow.table(points), pyarrow.table(points)]
    assert tables[0].equals(tables[1]) and pyarrow.schema(points) == tables[0].schema
    tables[0].validate(full=True)
    rows = [(time, n, *point) for n, (time, told) in enumerate(clouds) for point in told]
    names = ["log_time", "message", "x", "y", "z", "ring"]
    assert tables[0].column_names == points.column_names == names
    values = [column.cast("int64").to_pylist() for column in tables[0].columns]
    assert list(zip(*values)) == rows
    # The number is that in the channel, also where those before are not wanted.
    some = pyarrow.table(drive.points(columns=["z", "x"], from_time=4000, to_time=5000))
    values = [column.cast("int64").to_pylist() for column in some.columns]
    wanted = [(time, n, z, x) for time, n, x, _, z, _ in rows if 4000 <= time <= 5000]
    assert some.column_names == ["log_time", "message", "z", "x"]
    assert list(zip(*values)) == wanted and wanted
    assert "no column range" in refusal(lambda: drive.points(columns=["range"]))
    assert "/none" in refusal(lambda: drive.points("/none"))
    assert "no points" in refusal(lambda: drive.points(to_time=0))
    write_recording(FOLDER / "states.mcap", Random(1))
    states = wiregauge.open(FOLDER / "states.mcap")
    assert "has no points" in refusal(lambda: states.points("/state"))
    try:
        raise AssertionError(drive.points(elevation="left"))
    except ValueError as error:
        assert "elevation is 'down' or 'up', not 'left'" in str(error)


def check_reflections_are_points():
    if not has("pyarrow"):
        return
    import pyarrow

    def field(number, data):
        numbers = (number << 3 | 2, len(data))
        heads = [bytes([n & 127 | 128, n >> 7 & 127 | 128, n >> 14]) for n in numbers]
        return b"".join(heads) + data

    path = FOLDER / "20240101T000000Z_sv_380_32112_3_made.osi"
    told = [[(k / 2, k * 0.125) for k in range(300 * n)] for n in range(3)]
    with open(path, "wb") as out:
        for rows in told:
            rows = [field(2, struct.pack("<BdBd", 9, one, 17, other)) for one, other in rows]
            message = field(1002, b"".join(rows))
            out.write(struct.pack("<I", len(message)) + message)
    columns = ["time_of_flight", "signal_strength"]
    table = pyarrow.table(wiregauge.open(path).points(columns=columns))
    assert table.column_names == ["log_time", "message", "list", *columns]
    found = list(zip(*(table[name].to_pylist() for name in ["message", *columns])))
    assert found == [(n, other, one) for n, rows in enumerate(told) for one, other in rows]
    assert set(table["list"].to_pylist()) == {"lidar_sensor_view[0]"}


def check_figures_are_those_of_the_csv():
    if not has("pyarrow"):
        return
    import csv

    import pyarrow

    runs = [CHECKOUT / "crates/wiregauge/tests/golden/run.json", FOLDER / "record.json"]
    record = (CHECKOUT / "docs/records/2026-11-26-lidar.json.gz").read_bytes()
    runs[1].write_bytes(gzip.decompress(record))
    for run in runs:
        figures = wiregauge.run_json(run)
        table = pyarrow.table(figures)
        assert table.equals(pyarrow.table(pyarrow.record_batch(figures)))
        table.validate(full=True)
        said, errors, status = run_program("report", str(run), "--format", "csv")
        assert status == 0, errors
        rows = list(csv.DictReader(said.decode().splitlines()))
        assert len(rows) == len(figures) == table.num_rows and rows
        assert list(rows[0])[1:] == figures.column_names == table.column_names
        for row, ours in zip(rows, table.to_pylist()):
            for name, value in ours.items():
                text = row[name]
                if value is None:
                    assert text == "", (name, row)
                elif isinstance(value, bool):
                    assert text == str(value).lower(), (name, row)
                elif isinstance(value, (int, float)):
                    assert float(text) == value, (name, row)
                else:
                    assert text == value, (name, row)
        assert pyarrow.schema(figures) == table.schema
        assert len(figures.raw["subjects"]) and figures.raw["format"] == "wiregauge.run"
    for name in ("polars", "duckdb", "pandas"):
        if not has(name):
            continue
        if name == "polars":
            import polars

            assert polars.DataFrame(figures).shape == table.shape
        elif name == "duckdb":
            import duckdb

            assert duckdb.sql("select count(*) from figures").fetchall() == [(len(figures),)]
        else:
            assert table.to_pandas().shape == table.shape
    # What nobody takes is let go.
    for _ in range(100):
        figures.__arrow_c_stream__(), figures.__arrow_c_array__(), figures.__arrow_c_schema__()
    wrong = FOLDER / "wrong.json"
    wrong.write_text("{}")
    assert "wrong.json is not a result of wiregauge" in refusal(lambda: wiregauge.run_json(wrong))


def make_examples():
    """What the examples of the documentation read, in the folder where they run."""
    from random import Random

    from recordings import write_clouds, write_recording

    clouds = [(1000, [(1, 2, 3, 7), (4, 5, 6, 8)]), (2000, [(7, 8, 9, 9)])]
    write_clouds(FOLDER / "cloud.mcap", clouds)
    shutil.copy(RECORDINGS / FILES[-3], FOLDER / "drive_sv.osi")
    shutil.copy(RECORDINGS / "osi/zstd.mcap", FOLDER / "drive.mcap")
    shutil.copy(CHECKOUT / "crates/wiregauge/tests/golden/run.json", FOLDER / "run.json")
    shutil.rmtree(FOLDER / "drives", ignore_errors=True)
    (FOLDER / "drives").mkdir()
    for seed, name in enumerate(("one", "two")):
        write_recording(FOLDER / f"drives/{name}.mcap", Random(seed))
    os.chdir(FOLDER)


def check_the_examples_of_documents():
    if not (has("numpy") and has("pyarrow") and has("duckdb")):
        return
    tried = 0
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    documents = ("docs/fleet.md", "docs/python.md", "python/README.md")
    texts = {name: (CHECKOUT / name).read_text("utf-8") for name in documents}
    names = ("open", "plan", "check", "run_json")
    texts.update({name: getattr(wiregauge, name).__doc__ for name in names})
    names = ("messages", "fields", "points")
    texts.update({name: getattr(wiregauge.Recording, name).__doc__ for name in names})
    for name, text in texts.items():
        make_examples()
        result = runner.run(parser.get_doctest(text, {}, name, name, 0))
        assert result.attempted and not result.failed, name
        tried += result.attempted
    assert tried > 10
    for name in wiregauge.__all__:
        assert name == "__version__" or getattr(wiregauge, name).__doc__, f"{name} is not described"
    assert set(wiregauge.__all__) <= set(dir(wiregauge))


def run_checks(functions):
    wanted = sys.argv[3:]
    assert all(name in functions for name in wanted), f"there is no check of each name of {wanted}"
    for name, check in sorted(functions.items()):
        if name.startswith("check_") and (not wanted or name in wanted):
            begun = time.monotonic()
            check()
            print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    run_checks(globals())
