"""examples/cluster on Slurm, with four nodes that are one machine: scripts/test-cluster starts it.

    slurm.py PROGRAM EXAMPLES FOLDER [CHECK …]

It is the first process of a namespace, so all that it starts ends with it.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from kubernetes_file import validate_file

PROGRAM, EXAMPLES, FOLDER = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
NODES = [f"n{number}" for number in range(1, 5)]
CONFIGURATION = """\
ClusterName=test
SlurmctldHost=cluster(10.77.0.1)
SlurmUser=root
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SlurmdTimeout=15
KillWait=15
ReturnToService=2
MailProg=/bin/true
NodeName=n[1-4] NodeHostname=cluster NodeAddr=10.77.0.[1-4] Port=[17001-17004] CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def call(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def wait_for(what, holds, seconds=120):
    end = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.2)


def start_cluster():
    """The nodes, each with an address and a daemon of its own."""
    socket.sethostname("cluster")
    call("ip", "link", "set", "lo", "up")
    call("ip", "link", "add", "nodes", "type", "veth", "peer", "name", "other")
    for number in range(1, 5):
        call("ip", "address", "add", f"10.77.0.{number}/24", "dev", "nodes")
    call("ip", "link", "set", "nodes", "up")
    call("ip", "link", "set", "other", "up")
    hosts = ["127.0.0.1 localhost", "10.77.0.1 cluster"]
    hosts += [f"10.77.0.{number} n{number}" for number in range(1, 5)]
    (FOLDER / "hosts").write_text("\n".join(hosts) + "\n")
    call("mount", "--bind", str(FOLDER / "hosts"), "/etc/hosts")
    munge = FOLDER / "munge"
    munge.mkdir(mode=0o755)
    FOLDER.chmod(0o755)
    (munge / "key").write_bytes(os.urandom(128))
    (munge / "key").chmod(0o600)
    options = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed", "log-file": "log"}
    options = [f"--{name}={munge}/{file}" for name, file in options.items()]
    call("munged", "--force", *options)
    (FOLDER / "state").mkdir()
    (FOLDER / "slurm.conf").write_text(CONFIGURATION.format(folder=FOLDER))
    os.environ["SLURM_CONF"] = str(FOLDER / "slurm.conf")
    call("slurmctld")
    for node in NODES:
        start_node(node)
    wait_for("four idle nodes", lambda: call("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == "4")


def start_node(node):
    call("slurmd", "-N", node)


def submit(script, *words, options=()):
    return call("sbatch", "--parsable", *options, script, *words, cwd=FOLDER / "jobs").strip()


def state(job):
    """What Slurm says of a job and its tasks."""
    lines = call("scontrol", "-o", "show", "job", job).splitlines()
    return [line.split("JobState=")[1].split()[0] for line in lines]


def await_end(job, seconds=300):
    going = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING"}
    wait_for(f"the end of job {job}", lambda: not going & set(state(job)), seconds)
    return state(job)


def processes(words=""):
    """Those of wiregauge that live and have these words in their command line, with their lines."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                status = (folder / "stat").read_text().rsplit(") ", 1)[1][0]
            except (OSError, IndexError):
                continue
            started = line.split(" ", 1)[0]
            if words in line and started.endswith("wiregauge") and status not in "ZX":
                found[int(folder.name)] = line
    return found


def nothing_is_left():
    wait_for("all processes gone", lambda: not processes(), 20)
    folders = [pathlib.Path("/dev/shm"), FOLDER / "tmp"]
    wait_for("no file left", lambda: not [path for folder in folders for path in folder.iterdir()], 20)


def said(job):
    return (FOLDER / "jobs" / f"bus-{job}.txt").read_text()


def result(job):
    return json.loads((FOLDER / "jobs" / f"bus-{job}.json").read_text())


def set_duration(duration):
    path = FOLDER / "jobs/bus.toml"
    path.write_text((EXAMPLES / "bus.toml").read_text().replace('"15s"', f'"{duration}"'))


def in_the_middle():
    """Waits until the participants run, and some windows of them are counted."""
    wait_for("participants", lambda: len(processes("--control")) == 4)
    time.sleep(8)


def fact(run, case, metric):
    facts = [f["value"] for f in run["facts"] if (f["case"], f["metric"]) == (case, metric)]
    return facts[0] if facts else None


def check_a_job_measures():
    """The example as it is, though shorter: each rank takes its place, and nothing is lost."""
    set_duration("6s")
    job = submit("bus.sbatch")
    assert await_end(job) == ["COMPLETED"], said(job)
    run = result(job)
    notes = str(run["cases"][0]["notes"])
    for number in range(3):
        assert f"receiver-{number} at 10.77.0.1" in notes, notes
    for case in run["cases"]:
        assert fact(run, case["id"], "lost") == 0 and fact(run, case["id"], "sent") > 0, case
    key = (FOLDER / "jobs/bus.key").read_text().strip()
    assert key not in said(job) and key not in json.dumps(run), "the key is shown"
    nothing_is_left()


def check_too_few_tasks_are_refused():
    job = submit("bus.sbatch", options=["--nodes=3"])
    assert await_end(job) == ["FAILED"]
    assert "SLURM_STEP_NUM_TASKS says 3 processes" in said(job), said(job)
    nothing_is_left()


def check_several_tasks_on_a_node():
    set_duration("6s")
    job = submit("bus.sbatch", options=["--nodes=2", "--ntasks-per-node=2"])
    assert await_end(job) == ["COMPLETED"], said(job)
    assert fact(result(job), "500 B, 1 ms, continuous, 4 participants", "lost") == 0
    nothing_is_left()


def check_sixty_five_tasks_come_at_once():
    set_duration("6s")
    path = FOLDER / "jobs/bus.toml"
    text = path.read_text().replace("count = 3", "count = 64").replace('"1ms"', '"100ms"').replace('"10ms"', '"200ms"')
    # They share two processors here.
    path.write_text('alive_within = "20s"\nround_trips = 0\n' + text)
    job = submit("bus.sbatch", options=["--ntasks=65", "--ntasks-per-node=17", "--overcommit"])
    assert await_end(job) == ["COMPLETED"], said(job)
    assert fact(result(job), "500 B, 100 ms, continuous, 65 participants", "lost") == 0
    nothing_is_left()


def check_a_killed_node_is_told():
    """A node is gone with all that ran on it. The leader says so, and writes what it has."""
    set_duration("60s")
    job = submit("bus.sbatch")
    in_the_middle()
    # The daemon first, so that nobody tells of the tasks; then who started the tasks.
    ranks = [id for id in processes("--rank") if environment(id).get("SLURM_NODEID") == "2"]
    assert len(ranks) == 1, ranks
    node = environment(ranks[0])["SLURMD_NODENAME"]
    daemon = int((FOLDER / f"slurmd-{node}.pid").read_text())
    tree = descendants(parent(ranks[0]))
    for id in [daemon, parent(ranks[0]), *tree]:
        os.kill(id, signal.SIGKILL)
    states = await_end(job)
    text = said(job)
    print(f"  {node} killed: job {states[0]}; the leader said:")
    print("".join(f"    {line}\n" for line in text.splitlines() if "lost" in line), end="")
    assert "the machine of receiver-1 at 10.77.0.1 is lost" in text, text
    run = result(job)
    assert "receiver-1" in str([w["text"] for w in run["warnings"] if w["code"] == "failed"])
    assert any(f["metric"].startswith("throughput") for f in run["facts"]) or run["measurements"]
    nothing_is_left()
    start_node(node)
    wait_for("the node is back", lambda: call("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == "4")


def check_a_cancelled_job_leaves_nothing():
    set_duration("60s")
    job = submit("bus.sbatch")
    in_the_middle()
    call("scancel", job)
    states = await_end(job, 60)
    print(f"  job {states[0]}")
    nothing_is_left()
    run = result(job)
    assert "interrupted" in [w["code"] for w in run["warnings"]], run["warnings"]
    assert run["measurements"], "what was measured is gone"


def check_codecs_as_an_array():
    """Four tasks, and one report of all. A task that was cancelled leaves nothing either."""
    folder = FOLDER / "jobs"
    words = ["--language", "cpp", "--codecs", "nanopb", "-o", "codecs.tar.zst"]
    call("wiregauge", "bundle", *words, cwd=folder)
    job = submit("codecs.sbatch", "--quick")
    report = f"wiregauge report codecs-{job}-*.json -o codecs.html"
    after = call("sbatch", "--parsable", f"--dependency=afterany:{job}", "--wrap", report, cwd=folder).strip()
    outputs = folder.glob(f"codecs-{job}-*.txt")
    assert set(await_end(job, 600)) == {"COMPLETED"}, [path.read_text() for path in outputs]
    assert await_end(after) == ["COMPLETED"], (folder / f"slurm-{after}.out").read_text()
    results = sorted(path.name for path in folder.glob(f"codecs-{job}-*.json"))
    assert len(results) == 4, results
    page = (folder / "codecs.html").read_text()
    assert all(name.removesuffix(".json") in page for name in results), "a result is not in the report"
    nothing_is_left()
    job = submit("codecs.sbatch")
    wait_for("tasks that measure", lambda: len(processes("codecs --bundle")) >= 4)
    time.sleep(5)
    call("scancel", job)
    await_end(job, 60)
    nothing_is_left()


def check_the_kubernetes_file_is_valid():
    validate_file(EXAMPLES)


def check_pods_meet():
    """The command of the Kubernetes job with what a pod has in its environment. The leader's name
    is known only when it runs. Its log has both outputs, of which the result is taken as the file
    says."""
    set_duration("6s")
    text = (EXAMPLES / "kubernetes.yaml").read_text()
    words = re.search(r"command: \[(.*)\]", text).group(1).split(", ")
    words += re.findall(r"^ +- (--.*?)(?: #.*)?$", text, re.MULTILINE)
    words = [word.replace("/scenario/", "") for word in words]
    assert len(words) == 7, words
    key = os.urandom(32).hex()

    def start(index):
        own = {"JOB_COMPLETION_INDEX": str(index), "WIREGAUGE_KEY": key}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(words, cwd=FOLDER / "jobs", env={**os.environ, **own}, **pipes)

    pods = [start(index) for index in (1, 2, 3)]
    time.sleep(2)
    with (FOLDER / "hosts").open("a") as hosts:
        hosts.write("10.77.0.1 wiregauge-bus-0.wiregauge-bus\n")
    pods.insert(0, start(0))
    texts = [pod.communicate(timeout=120) for pod in pods]
    assert [pod.returncode for pod in pods] == [0] * 4, texts
    filter = re.search(r"\| sed -n '(.*)'", text).group(1)
    run = json.loads(call("sed", "-n", filter, input=texts[0][0]))
    assert fact(run, "500 B, 1 ms, continuous, 4 participants", "lost") == 0
    assert "waiting for the sender's machine" in texts[1][0], texts[1]
    assert key not in str(texts), "the key is shown"
    nothing_is_left()


def start_ssh():
    """A server on each node's address, and a client that finds them."""
    folder = FOLDER / "ssh"
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
    shutil.copy(folder / "user.pub", folder / "authorized")
    server = f"""\
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
StrictModes no
PidFile none
SetEnv PATH={os.environ["PATH"]} TMPDIR={FOLDER}/tmp
"""
    (folder / "sshd_config").write_text(server)
    client = f"IdentityFile {folder}/user\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
    (folder / "config").write_text(client)
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    call("/usr/sbin/sshd", "-f", str(folder / "sshd_config"))
    program = FOLDER / "bin/ssh"
    program.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {folder}/config "$@"\n')
    program.chmod(0o755)


def check_hosts_over_ssh_meet():
    set_duration("6s")
    start_ssh()
    done = subprocess.run(["./ssh.sh", "n1", "n2", "n3", "n4"], cwd=FOLDER / "jobs", capture_output=True, text=True)
    assert done.returncode == 0, done
    run = json.loads((FOLDER / "jobs/bus.json").read_text())
    assert fact(run, "500 B, 1 ms, continuous, 4 participants", "lost") == 0
    nothing_is_left()
    # Ctrl-C: what was measured is written here, and nothing runs on there.
    (FOLDER / "jobs/bus.json").unlink()
    set_duration("60s")
    script = subprocess.Popen(["./ssh.sh", "n1", "n2", "n3", "n4"], cwd=FOLDER / "jobs", process_group=0, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    in_the_middle()
    os.killpg(script.pid, signal.SIGINT)
    script.wait(30)
    nothing_is_left()
    run = json.loads((FOLDER / "jobs/bus.json").read_text())
    assert "interrupted" in [w["code"] for w in run["warnings"]], run["warnings"]


def environment(id):
    pairs = pathlib.Path(f"/proc/{id}/environ").read_bytes().decode(errors="replace").split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def parent(id):
    return int(pathlib.Path(f"/proc/{id}/stat").read_text().rsplit(") ", 1)[1].split()[1])


def descendants(id):
    ids = [int(folder.name) for folder in pathlib.Path("/proc").iterdir() if folder.name.isdigit()]
    children = []
    for other in ids:
        try:
            if parent(other) == id:
                children.append(other)
        except OSError:
            pass
    return [one for child in children for one in [child, *descendants(child)]]


def main():
    # Of its own, so that what is left there was left by a job.
    call("mount", "-t", "tmpfs", "shm", "/dev/shm")
    (FOLDER / "tmp").mkdir()
    os.environ["TMPDIR"] = str(FOLDER / "tmp")
    start_cluster()
    jobs = FOLDER / "jobs"
    shutil.copytree(EXAMPLES, jobs)
    (jobs / "bus.key").write_text(os.urandom(32).hex())
    (jobs / "bus.key").chmod(0o600)
    tools = FOLDER / "bin"
    tools.mkdir()
    (tools / "wiregauge").symlink_to(PROGRAM)
    os.environ["PATH"] = f"{tools}:{os.environ['PATH']}"
    wanted = sys.argv[4:]
    checks = [name for name in globals() if name.startswith("check_")]
    failed = []
    for name in [name for name in checks if not wanted or name in wanted]:
        begun = time.monotonic()
        try:
            globals()[name]()
            outcome = "ok"
        except Exception as error:
            outcome = f"FAILED: {error} {getattr(error, 'stderr', '')}"
            failed.append(name)
        print(f"{name}: {outcome} ({time.monotonic() - begun:.0f} s)", flush=True)
    sys.exit(1 if failed else 0)


main()
