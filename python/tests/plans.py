"""Tests of plans over recordings: plans.py CHECKOUT FOLDER [NAME …], as installed.py."""

import os
import pathlib
import pickle
import random
import re
import shutil
import struct
import subprocess
import sys
import time

from installed import FOLDER, RECORDINGS, has, refusal, run_checks
from recordings import Recording, osi_field, osi_view, write_clouds, write_osi, write_recording

import wiregauge


def make_drives(name, count, **how):
    """Recordings in a folder whose name has a blank and an umlaut; what is in each."""
    folder = FOLDER / f"{name} für alle"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    seeded = random.Random(name)
    paths = [folder / f"drive {number:04}.mcap" for number in range(count)]
    told = [write_recording(path, seeded, start=at * 10**6, **how) for at, path in enumerate(paths)]
    return folder, paths, told


def rows_of(table):
    import pyarrow

    return pyarrow.table(table).to_pylist()


def by_loop(paths, told, start=None, end=None):
    """The rows of items by a plain loop over what was written."""
    return [
        (str(path), time, number, identity, x)
        for path, messages in zip(paths, told)
        for number, (time, _, items) in enumerate(messages)
        if (start is None or time >= start) and (end is None or time <= end)
        for identity, x in items
    ]


def make_clouds(name, count, seed):
    """Recordings of clouds whose times go to and fro, and the points by a plain loop over them.

    Some clouds have no points; of several recordings all clouds of the first one.
    """
    folder = FOLDER / f"{name} für alle"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    seeded, paths, wanted = random.Random(seed), [], []
    for number in range(count):
        path = folder / f"drive {number:04}.mcap"
        sizes = (0,) if number == 0 and count > 1 else (0, 1, 3, 200)
        clouds = [
            (number * 10**6 + seeded.randrange(9000), [
                tuple(seeded.randrange(1000) for _ in range(3)) + (seeded.randrange(256),)
                for _ in range(seeded.choice(sizes))
            ])
            for _ in range(seeded.randrange(4, 16))
        ]  # fmt: skip
        if sizes != (0,):
            clouds.insert(seeded.randrange(len(clouds)), (number * 10**6 + 4000, [(1, 2, 3, 4)]))
        write_clouds(path, clouds, end_chunk=lambda: seeded.random() < 0.6)
        paths.append(path)
        wanted += [
            (str(path), time, at, x, ring)
            for at, (time, points) in enumerate(clouds)
            for x, _, _, ring in points
        ]
    return folder, paths, wanted


def facts(rows, columns=("id", "x")):
    keys = ("file", "log_time", "message", *columns)
    rows = [tuple(row[key] for key in keys) for row in rows]
    return [(file, getattr(time, "value", time), *rest) for file, time, *rest in rows]


def check_a_recording_says_what_is_in_it():
    _, (path,), (told,) = make_drives("said", 1)
    drive = wiregauge.open(path)
    assert drive.path == path and repr(drive).startswith("<Recording ")
    found = [(one.topic, one.encoding, one.schema_name, one.count) for one in drive.channels]
    counts = (len(told), 200 - len(told))
    assert found == [(f"/{name}", "cdr", "car/msg/State", count)
                     for name, count in zip(("state", "other"), counts)]  # fmt: skip
    messages = list(drive.messages())
    times = [one.log_time for one in messages]
    assert (drive.count, drive.start_time, drive.end_time) == (200, min(times), max(times))
    # Without a summary it is read for it.
    _, (bare,), _ = make_drives("said", 1, summary=False)
    other = wiregauge.open(bare)
    assert [one.count for one in other.channels] == list(counts) and other.end_time == max(times)
    for name in ("osi/20240101T000000Z_sv_380_7362_5_made_up.osi", "ros1/plain.bag", "ros2/iron"):
        drive = wiregauge.open(RECORDINGS / name)
        messages = list(drive.messages())
        assert drive.count == len(messages) == sum(one.count for one in drive.channels), name
        times = [one.log_time for one in messages if one.log_time is not None]
        assert (drive.start_time, drive.end_time) == (min(times), max(times)), name


def check_arrow_libraries_take_what_is_read():
    if not has("pyarrow"):
        return
    import pyarrow

    _, paths, told = make_drives("libraries", 2)
    drive = wiregauge.open(paths[0])
    plan = wiregauge.plan(paths, "/state", ["number"], split=500, file_column="file")
    count = sum(map(len, told))
    for source, wanted in (
        (drive.messages("/state"), len(told[0])),
        (drive.fields("/state", ["number", "value"]), len(told[0])),
        (drive.rows("/state", "items"), sum(len(items) for *_, items in told[0])),
        (plan, count),
        (plan.splits[0], plan.splits[0].messages),
        (plan.files, 2),
        (wiregauge.check(paths), len(wiregauge.check(paths))),
    ):
        table = pyarrow.table(source)
        table.validate(full=True)
        assert table.num_rows == wanted and table.schema == pyarrow.schema(source), source
        names = table.column_names
        if has("polars"):
            import polars

            frame = polars.DataFrame(source)
            assert frame.shape == table.shape and frame.columns == names, source
        if has("duckdb"):
            import duckdb

            assert duckdb.sql("select count(*) from source").fetchall() == [(wanted,)], source
            assert duckdb.sql("select * from source").columns == names, source
        if has("pandas"):
            import pandas

            frame = pandas.DataFrame.from_arrow(source)
            assert frame.shape == table.shape and list(frame.columns) == names, source
    # The bytes of messages are those, wherever they lie.
    ours = [(one.topic, one.log_time, bytes(one.data)) for one in drive.messages()]
    rows = rows_of(drive.messages())
    assert [(row["channel"], row["log_time"].value, row["data"]) for row in rows] == ours
    path = FOLDER / "short.mcap"
    short, sizes = Recording(path), [0, 1, 12, 13, 40]
    for number, size in enumerate(sizes):
        short.add_bytes(1, number, number, bytes(range(size)))
    short.finish()
    found = [row["data"] for row in rows_of(wiregauge.open(path).messages())]
    assert found == [bytes(range(size)) for size in sizes]


def check_each_row_is_in_one_split():
    if not has("pyarrow"):
        return
    _, paths, told = make_drives("splits", 3, messages=80)
    for start, end in ((None, None), (50_000, None), (1_050_000, 2_050_000), (None, 3), (7, 6)):
        limits = dict(from_time=start, to_time=end)
        wanted = by_loop(paths, told, start, end)
        for split in (1, 700, "64MiB"):
            plan = wiregauge.plan(paths, "/state", rows="items", split=split, file_column="file", **limits)
            assert facts(rows_of(plan)) == wanted, (start, end, split)
            # Written down and read elsewhere, each by itself.
            apart = [pickle.loads(pickle.dumps(split)) for split in plan.splits]
            assert facts(row for one in apart for row in rows_of(one)) == wanted
            assert all(len(pickle.dumps(one)) < 3000 for one in plan.splits)
            read = [len({row["message"] for row in rows_of(one)}) for one in plan.splits]
            assert all(split.messages >= read for split, read in zip(plan.splits, read))
        # One file, without a plan.
        rows = rows_of(wiregauge.open(paths[1]).rows("/state", "items", None, start, end)) \
            if any(path == str(paths[1]) for path, *_ in wanted) else []
        found = [(str(paths[1]), *fact[1:]) for fact in facts({**row, "file": ""} for row in rows)]
        assert found == [row for row in wanted if row[0] == str(paths[1])]
    plan = wiregauge.plan(paths, "/state", ["number"], split=700)
    assert len(plan) > 15 and sum(split.messages for split in plan.splits) == sum(map(len, told))
    assert [row["number"] for row in rows_of(plan)] == [n for one in told for _, n, _ in one]
    assert plan.column_names == ["log_time", "publish_time", "sequence", "number"]
    # Of a file that does not have the channel there is nothing, and nothing is wrong.
    plan = wiregauge.plan([*paths, RECORDINGS / "mcap/ros2-chunks.mcap"], "/state", ["number"])
    assert plan.files.to_pylist()[3]["splits"] == 0


def check_each_point_is_in_one_split():
    """Splits of any size, read apart and in any order, have the points that were written."""
    if not has("pyarrow"):
        return
    import pyarrow

    columns = ("x", "ring")
    for seed in range(16):
        seeded = random.Random(seed)
        _, paths, wanted = make_clouds("points", 1 + seed % 3, seed)
        times = sorted({time for _, time, *_ in wanted})
        early, late = times[len(times) // 4], times[len(times) * 3 // 4]
        start, end = seeded.choice(((None, None), (early, None), (None, late), (early, late)))
        inside = [row for row in wanted
                  if (start is None or row[1] >= start) and (end is None or row[1] <= end)]  # fmt: skip
        for split in (1, seeded.randrange(1, 9000), "64MiB"):
            plan = wiregauge.plan(paths, "/points", ["ring", "x"], points=True, split=split,
                                  file_column="file", from_time=start, to_time=end)  # fmt: skip
            assert pyarrow.schema(plan).names == ["file", "log_time", "message", "ring", "x"]
            assert facts(rows_of(plan), columns) == inside, (seed, split)
            apart = [pickle.loads(pickle.dumps(split)) for split in plan.splits]
            order = list(range(len(apart)))
            seeded.shuffle(order)
            read = {at: facts(rows_of(apart[at]), columns) for at in order}
            assert [row for at in range(len(apart)) for row in read[at]] == inside, (seed, split)
            messages = sum(split.messages for split in apart)
            assert messages >= len({row[:3] for row in inside})
            assert all(len(pickle.dumps(split)) < 3000 for split in apart)
            assert all(pyarrow.schema(split) == pyarrow.schema(plan) for split in apart)


def make_views():
    """Messages of OSI with the reflections of one or two sensors."""
    sensors = ([[number + 0.5, 7.0], [number / 4]][: 1 + number % 2] for number in range(9))
    return [osi_view(number, lists) for number, lists in enumerate(sensors)]


def facts_of(points):
    """The rows but for columns that no point has a value of."""
    rows = points.to_pylist()
    return [(row["message"], row["list"], row["signal_strength"]) for row in rows]


def check_points_of_all_kinds_are_planned():
    if not has("pyarrow"):
        return
    import pyarrow

    # OSI's have a column that says their list, and packed ones keep their types.
    views = make_views()
    kinds = {"plain": views}
    if has("numpy"):
        from wiregauge.packed import Encoding, pack

        narrow = {"signal_strength": Encoding("f32")}
        kinds["packed"] = [pack("SensorView", one, narrow) for one in views]
    for name, messages in kinds.items():
        path = FOLDER / f"{name}_sv.osi"
        write_osi(path, messages)
        whole = pyarrow.table(wiregauge.open(path).points())
        assert len(whole) == 9 * 2 + 4 and whole.column_names[:3] == ["log_time", "message", "list"]
        kind = whole.schema.field("signal_strength").type
        assert kind == (pyarrow.float32() if name == "packed" else pyarrow.float64())
        plan = wiregauge.plan(path, "*", points=True, split=1)
        assert len(plan) > 3 and pyarrow.schema(plan) == whole.schema
        wanted = facts_of(whole)
        assert facts_of(pyarrow.table(plan)) == wanted
        apart = [pyarrow.table(pickle.loads(pickle.dumps(split))) for split in plan.splits]
        assert [row for one in apart for row in facts_of(one)] == wanted
    # Where the first reflections have no values, those behind them have their list, too.
    write_osi(path, [osi_view(0, []) + osi_field(1002, osi_field(2, b"")), *views])
    plan = pyarrow.table(wiregauge.plan(path, "*", ["signal_strength"], points=True))
    assert plan.column_names[2:] == ["list", "signal_strength"] and len(plan) == 22
    # A file with other columns than the first one is an error, or left out and counted.
    path, other = FOLDER / "cloud.mcap", FOLDER / "other.mcap"
    write_clouds(path, [(1, [(1, 2, 3, 4)]), (2, [(5, 6, 7, 8)])])
    write_clouds(other, [(3, [(1, 2, 3, 4)])], names="xyzi")
    plan = wiregauge.plan([path, other], "/points", points=True)
    try:
        pyarrow.table(plan)
    except pyarrow.ArrowInvalid as error:
        assert "it has a column i, which those before lack; name the columns" in str(error)
    else:
        raise AssertionError("it was read")
    plan = wiregauge.plan([path, other], "/points", points=True, errors="skip")
    assert len(pyarrow.table(plan)) == 2 and plan.skipped.to_pylist()[0]["messages"] == 1
    plan = wiregauge.plan([path, other], "/points", ["x"], points=True)
    assert pyarrow.table(plan)["x"].to_pylist() == [1, 5, 1]
    # At times without points, in the summary or not, there are the same columns, and no rows.
    for start, end in ((9, None), (None, 0), (2, 1)):
        empty = wiregauge.plan([path, other], "/points", ["x"], points=True, from_time=start, to_time=end)
        assert pyarrow.schema(empty) == pyarrow.schema(plan) and not rows_of(empty), (start, end)
    said = refusal(lambda: wiregauge.plan(path, "/none", points=True, from_time=9))
    assert "has no channel /none" in said, said
    said = refusal(lambda: wiregauge.plan(path, "/points", ["v"], points=True))
    assert "the points have no column v" in said, said
    said = refusal(lambda: wiregauge.plan(path, "/points", rows="data", points=True))
    assert "not both" in said, said


def check_a_pattern_names_files():
    if not has("pyarrow"):
        return
    folder, paths, told = make_drives("pattern", 3)
    plan = wiregauge.plan(str(folder / "*.mcap"), "/state", ["number"], file_column="file")
    assert [row["file"] for row in plan.files.to_pylist()] == list(map(str, paths))
    assert "no file is called" in refusal(lambda: wiregauge.plan("none/*.mcap", "/state"))
    # Relative paths are whole in splits: who reads them may be elsewhere.
    os.chdir(folder)
    split = pickle.dumps(wiregauge.plan("drive 0000.mcap", "/state", ["number"]).splits[0])
    os.chdir(FOLDER)
    assert len(rows_of(pickle.loads(split))) == len(told[0])


def check_what_is_planned_wrong_is_refused():
    _, paths, _ = make_drives("wrong", 2)
    path = paths[0]
    for wrong, said in (
        (lambda: wiregauge.plan(path, "/none"), "has no channel /none; it has /state, /other"),
        (lambda: wiregauge.plan(path, "/state", ["x"]), "has no field 'x'"),
        (lambda: wiregauge.plan(path, "/state", split="many"), "split"),
        (lambda: wiregauge.plan(path, "/state", split=0), "split"),
        (lambda: wiregauge.plan(path, "/state", errors="x"), "errors is"),
        (lambda: wiregauge.plan([], "/state"), "there are no files"),
        (lambda: wiregauge.plan(FOLDER / "missing.mcap", "/state"), "missing.mcap"),
        (lambda: wiregauge.plan(path, "/state", file_column="number"), "another file_column"),
        (lambda: wiregauge.plan(path, "*"), "there are /state and /other; choose one"),
    ):
        assert said in refusal(wrong), refusal(wrong)
    if not has("pyarrow"):
        return
    plan = wiregauge.plan(paths, "/state", ["number"])
    write_recording(path, random.Random(3), messages=50)
    try:
        rows_of(plan)
    except Exception as error:
        assert "was changed since it was planned" in str(error), error
    else:
        raise AssertionError("a file that was changed is read")


def check_broken_files_are_told():
    if not has("pyarrow"):
        return
    folder, paths, told = make_drives("broken", 40, messages=60)
    whole = paths[5].read_bytes()
    paths[5].write_bytes(whole[: len(whole) // 2])
    damaged = bytearray(paths[11].read_bytes())
    # Within the last message of its third chunk.
    split = wiregauge.plan(paths[11], "/state", ["number"], split=1).splits[3]
    damaged[int(re.search("from byte ([0-9]+)", repr(split))[1]) - 240] ^= 0x55
    paths[11].write_bytes(damaged)
    paths[17].write_bytes(b"no recording")
    assert "drive 0017.mcap" in refusal(lambda: wiregauge.plan(paths, "/state", rows="items"))
    good = [(path, rows) for path, rows in zip(paths, told)
            if path not in (paths[5], paths[11], paths[17])]  # fmt: skip
    results = set()
    for split in (300, "64MiB"):
        plan = wiregauge.plan(paths, "/state", rows="items", errors="skip", split=split, file_column="file")
        rows = facts(rows_of(plan))
        results.add(tuple(rows))
        ours = by_loop(*zip(*good))
        bad = {str(paths[5]), str(paths[11])}
        assert [row for row in rows if row[0] not in bad] == ours
        # Before and behind the damage is more.
        for path, at in ((paths[5], 5), (paths[11], 11)):
            found = [row for row in rows if row[0] == str(path)]
            everything = by_loop([path], [told[at]])
            assert 0 < len(found) < len(everything), (path, len(found), len(everything))
            # No value is a wrong one: of a chunk whose checksum is wrong nothing is believed.
            bare = [{(one[1], *one[3:]) for one in rows} for rows in (found, everything)]
            assert bare[0] <= bare[1], path
        skipped = plan.skipped.to_pylist()
        files = {row["file"] for row in skipped}
        assert files == bad | {str(paths[17])}, skipped
        assert all(row["reason"] for row in skipped)
    assert len(results) == 1, "what is left out depends on the size of splits"
    # As an error it is told with the file, and the rows before it come first.
    plan = wiregauge.plan([paths[11]], "/state", rows="items")
    try:
        rows_of(plan)
    except Exception as error:
        assert "drive 0011.mcap is damaged" in str(error), error
    else:
        raise AssertionError("damage is not told")


def check_points_behind_a_damaged_chunk_are_read():
    if not has("pyarrow"):
        return
    path = FOLDER / "damaged cloud.mcap"
    clouds = [(1, [(123.25, 2, 3, 4)]), (2, [(5, 6, 7, 8)])]
    for count, left in ((1, [5.0]), (2, [])):
        write_clouds(path, clouds)
        damaged = bytearray(path.read_bytes())
        for (_, ((x, *_),)) in clouds[:count]:
            at = damaged.index(struct.pack("<f", x))
            damaged[at + 1] ^= 0x55
        path.write_bytes(damaged)
        # The first message with points says which columns there are.
        said = refusal(lambda: wiregauge.plan(path, "/points", points=True))
        assert "damaged cloud.mcap is damaged" in said, said
        if not left:
            said = refusal(lambda: wiregauge.plan(path, "/points", points=True, errors="skip"))
            assert "damaged cloud.mcap is damaged" in said, said
            continue
        plan = wiregauge.plan(path, "/points", points=True, errors="skip")
        assert [row["x"] for row in rows_of(plan)] == left
        (skipped,) = plan.skipped.to_pylist()
        assert skipped["file"] == str(path) and skipped["messages"] == 1 and skipped["reason"], skipped


def check_a_type_that_changes_is_told():
    if not has("pyarrow"):
        return
    _, paths, told = make_drives("types", 2)
    changed = write_recording(paths[1], random.Random(1), changed=True)
    said = refusal(lambda: wiregauge.plan(paths, "/state", ["number", "value"]))
    assert "'value' is Float64 there and Float32 here" in said and "0001.mcap" in said, said
    # What both have is one table.
    plan = wiregauge.plan(paths, "/state", ["number"])
    assert len(rows_of(plan)) == len(told[0]) + len(changed)
    plan = wiregauge.plan(paths, "/state", ["value"], errors="skip")
    assert len(rows_of(plan)) == len(told[0])
    assert [row["file"] for row in plan.skipped.to_pylist()] == [str(paths[1])]
    # A file without a summary shows it when it is read.
    changed = write_recording(paths[1], random.Random(1), changed=True, summary=False)
    plan = wiregauge.plan(paths, "/state", ["value"], errors="skip")
    assert "no summary" in plan.files.to_pylist()[1]["remark"]
    assert len(rows_of(plan)) == len(told[0]) and len(plan.skipped) == 1


def check_findings_are_those_of_the_program():
    import json

    from installed import PROGRAM

    names = ["osi/zstd.mcap", "osi/lz4-no-metadata.mcap", "mcap/ros1.mcap"]
    paths = [RECORDINGS / name for name in names]
    said = subprocess.run(
        [*PROGRAM, "trace", "check", "--format", "json", *paths], capture_output=True, check=False
    )
    wanted = [
        (entry["file"], one["rule"], one["level"], one["found"], one["place"], one["count"])
        for entry in json.loads(said.stdout)
        for one in entry["findings"]
    ]
    rows = wiregauge.check(paths).to_pylist()
    keys = ("file", "rule", "level", "found", "place", "count")
    assert sorted(tuple(row[key] for key in keys) for row in rows) == sorted(wanted) and wanted
    said = refusal(lambda: wiregauge.check(RECORDINGS / "osi/20240101T000000Z_sv_380_7362_5_made_up.osi"))
    assert "give an encoded FileDescriptorSet" in said, said


def check_other_threads_run_while_a_plan_is_read():
    if not has("pyarrow"):
        return
    import threading

    _, paths, told = make_drives("threads", 4)
    plan = wiregauge.plan(paths, "/state", ["number"], split=300)
    wanted, failures = sum(map(len, told)), []

    def read():
        for _ in range(3):
            if len(rows_of(plan)) != wanted:
                failures.append("rows")

    threads = [threading.Thread(target=read) for _ in range(4)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and time.monotonic() - begun < 60
    # Whoever takes only the first batch leaves nothing behind.
    import pyarrow

    for _ in range(20):
        next(pyarrow.RecordBatchReader.from_stream(plan))
    assert len(os.listdir("/proc/self/task")) < 40


if __name__ == "__main__":
    run_checks(globals())
