"""Tests of recordings in a bucket: archives.py CHECKOUT FOLDER [NAME …].

The bucket is moto's. What comes of it is held against the same files here. scripts/test-archives
makes the environment and calls it.
"""

import gzip
import http.server
import multiprocessing
import os
import pathlib
import pickle
import random
import socket
import subprocess
import sys
import threading
import time

import boto3
import pyarrow
from installed import CHECKOUT, make_examples, run_checks
from recordings import write_recording

import wiregauge

HERE = "127.0.0.1"
SECRET = "w0ntBeSh0wnToAnyb0dyAtAll0123456789abcde"
NAMES = ("one.mcap", "two.mcap")


def start_server(*options):
    """moto, and the address of its buckets."""
    with socket.socket() as free:
        free.bind((HERE, 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", HERE, "-p", str(port), *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for _ in range(600):
        with socket.socket() as tried:
            if tried.connect_ex((HERE, port)) == 0:
                break
        time.sleep(0.1)
    return server, f"{HERE}:{port}"


def fill_bucket():
    make_examples()
    bucket = boto3.resource("s3").Bucket("drives")
    bucket.create()
    for name in NAMES:
        bucket.upload_file(f"drives/{name}", name)
    bucket.upload_file("drives/one.mcap", "a b/drive ü.mcap")
    return bucket


def check_a_bucket_has_what_is_here():
    for name, there in (("one.mcap", "one.mcap"), ("two.mcap", "two.mcap"), ("one.mcap", "a b/drive ü.mcap")):
        here, there = wiregauge.open(f"drives/{name}"), wiregauge.open(f"s3://drives/{there}")
        assert (there.count, there.start_time) == (here.count, here.start_time)
        messages = [[bytes(one.data) for one in drive.messages()] for drive in (here, there)]
        assert messages[0] == messages[1]
        tables = [pyarrow.table(drive.fields("/state", ["number", "value"])) for drive in (here, there)]
        assert tables[0].equals(tables[1])


def read_split(split):
    return pyarrow.table(split).num_rows


def check_splits_are_read_by_other_processes():
    plan = wiregauge.plan([f"s3://drives/{name}" for name in NAMES], "/state", ["number"], split="4KiB")
    assert len(plan) == 8
    rows = [read_split(split) for split in plan.splits]
    # Those that are forked have what their parent opened, and those that are spawned have not.
    for kind in ("fork", "spawn"):
        with multiprocessing.get_context(kind).Pool(2) as pool:
            assert pool.map(read_split, plan.splits) == rows
    assert sum(rows) == sum(read_split(split) for split in plan.splits) == 267


def check_the_example_of_the_page():
    page = (CHECKOUT / "docs/fleet.md").read_text("utf-8").split("## A bucket")[1].split("\n## ")[0]
    exec(page.split("```python\n")[1].split("```")[0], {})


def check_what_goes_wrong_is_told():
    for address, words in (
        ("s3://drives/none.mcap", "there is no such file"),
        ("s3://nowhere/one.mcap", "there is no such file"),
        ("s3://drives", "it names no file"),
    ):
        try:
            wiregauge.open(address)
        except wiregauge.WiregaugeError as error:
            said = str(error)
        assert address in said and words in said and "\n" not in said and SECRET not in said, said


def put(name, body):
    boto3.client("s3").put_object(Bucket="drives", Key=name, Body=body)


def refusal(read):
    try:
        read()
    except (pyarrow.ArrowException, wiregauge.WiregaugeError, OSError, ValueError) as error:
        return str(error)
    raise AssertionError("it was read")


def check_another_file_of_the_name_and_size_is_not_taken_for_the_same():
    one = pathlib.Path("drives/one.mcap").read_bytes()
    here = wiregauge.open("drives/one.mcap")
    first, whole = here.start_time, pyarrow.table(here.fields("/state"))
    # The same, a nanosecond later.
    write_recording("later.mcap", random.Random(0), start=1)
    other = pathlib.Path("later.mcap").read_bytes()
    assert len(other) == len(one) and wiregauge.open("later.mcap").start_time == first + 1
    for name, pack in (("changes.mcap", bytes), ("changes.mcap.gz", lambda body: gzip.compress(body, 0, mtime=0))):
        put(name, pack(one))
        address = f"s3://drives/{name}"
        plan = wiregauge.plan(address, "/state", ["number"])
        drive = wiregauge.open(address)
        fields, messages = drive.fields("/state"), drive.messages()
        assert pyarrow.table(fields).equals(whole) and drive.count == messages_of(messages)
        put(name, pack(other))
        for read in (
            lambda: pyarrow.table(plan),
            lambda: pyarrow.table(pickle.loads(pickle.dumps(plan.splits[0]))),
            lambda: drive.fields("/state"),
            lambda: pyarrow.table(fields),
            lambda: pyarrow.table(messages),
            drive.messages,
        ):
            said = refusal(read)
            assert address in said and "was changed since it was" in said, said
        # Opened anew it is the other one, though the first one is still open.
        assert wiregauge.open(address).start_time == first + 1
        assert drive.start_time == first


def messages_of(messages):
    return pyarrow.table(messages).num_rows


def check_a_certificate_of_ones_own_is_taken_where_it_is_named():
    request = "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem -out own.pem -subj /CN=localhost"
    extensions = ("subjectAltName=DNS:localhost", "basicConstraints=critical,CA:FALSE")
    words = [word for one in extensions for word in ("-addext", one)]
    subprocess.run(["openssl", *request.split(), *words], check=True, stderr=subprocess.DEVNULL)
    server, address = start_server("--ssl", "--ssl-cert", "own.pem", "--ssl-key", "key.pem")
    pathlib.Path("profile").write_text("[default]\nca_bundle = own.pem\n")
    try:
        url = "https://" + address.replace(HERE, "localhost")
        bucket = boto3.resource("s3", endpoint_url=url, verify="own.pem").Bucket("drives")
        bucket.create()
        bucket.upload_file("drives/one.mcap", "one.mcap")
        environment = {key: value for key, value in os.environ.items() if key not in ("AWS_CA_BUNDLE", "SSL_CERT_FILE")}
        for own, words in (
            ({"AWS_CA_BUNDLE": "own.pem"}, str(wiregauge.open("drives/one.mcap").count)),
            ({"AWS_CONFIG_FILE": "profile"}, str(wiregauge.open("drives/one.mcap").count)),
            ({}, "let SSL_CERT_FILE name a file with the certificate"),
            ({"AWS_CA_BUNDLE": "none.pem"}, "cannot read the certificates in none.pem"),
            ({"AWS_CA_BUNDLE": "profile"}, "cannot read the certificates in profile: there are none"),
        ):
            read = "import wiregauge; print(wiregauge.open('s3://drives/one.mcap').count)"
            done = subprocess.run(
                [sys.executable, "-c", read], env={**environment, "AWS_ENDPOINT_URL": url, **own},
                capture_output=True, text=True,
            )  # fmt: skip
            said = (done.stdout or done.stderr).strip().splitlines()[-1]
            assert said.endswith(words) if words.isdigit() else words in said, (own, said)
    finally:
        server.kill()
        server.wait()


def check_a_server_that_tells_no_version_is_refused_for_plans():
    body = pathlib.Path("drives/one.mcap").read_bytes()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            start, end = self.headers["Range"].removeprefix("bytes=").split("-")
            part = body[int(start) : int(end) + 1]
            self.send_response_only(206)
            self.send_header("Content-Length", str(len(part)))
            self.send_header("Content-Range", f"bytes {start}-{int(start) + len(part) - 1}/{len(body)}")
            self.end_headers()
            self.wfile.write(part)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer((HERE, 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        address = f"http://{HERE}:{server.server_port}/one.mcap"
        assert wiregauge.open(address).count == wiregauge.open("drives/one.mcap").count
        said = refusal(lambda: wiregauge.plan(address, "/state"))
        server.shutdown()
    assert address in said and "tells neither a version" in said, said


if __name__ == "__main__":
    server, address = start_server()
    os.environ.update(
        AWS_ENDPOINT_URL=f"http://{address}", AWS_REGION="us-east-1",
        AWS_ACCESS_KEY_ID="AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY=SECRET,
    )  # fmt: skip
    try:
        fill_bucket()
        run_checks(globals())
    finally:
        server.kill()
