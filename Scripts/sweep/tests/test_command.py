"""Sweeps with a stand-in for wakebench, most of which something dies in."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import psutil
import pytest
from conftest import STAND_IN, until
from wakebench_sweep.command import parser, run
from wakebench_sweep.plan import Refusal

TWO = ("--workers", "2")


def listening(processes):
    """The addresses that processes listen on; those that have ended meanwhile listen on none."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            for socket in process.net_connections("inet"):
                if socket.status == psutil.CONN_LISTEN:
                    yield socket.laddr.ip


def test_a_failing_seed_is_listed_with_its_place_and_only_its_folder_stays(command):
    code, output, errors = command.run("s.yaml", "--seeds", "1-30", "--profile", "ios12,ios17", *TWO, FAILS="7")
    assert (code, errors) == (7, "")
    path = command.folder / "s.yaml"
    assert f"FAILED  {path} ios17 seed 7: a resume: 1; found 0 \\x1b[1m  [s.yaml:9]" in output
    assert f"play the first again: wakebench run {path} --profile ios12 --seed 7" in output
    assert "60 runs: 58 passed, 2 failed" in output
    folders = command.rows("folder", "folder IS NOT NULL")
    assert sorted(folders) == sorted(str(each) for each in command.runs.glob("*/*/*.seed-*")) and len(folders) == 2
    assert command.rows("seed, decisions, exit_code, place", "profile = 'ios12' AND seed < 9 AND seed > 6") == [
        (7, 2, 7, "s.yaml:9"),
        (8, 2, 0, None),
    ]


def test_a_seed_that_kills_its_worker_or_its_program_is_an_error_and_costs_the_others_nothing(command):
    code, output, errors = command.run("s.yaml", "--seeds", "1-40", "--batch", "2", *TWO, KILLS="6", CRASHES="30")
    assert (code, errors) == (1, "")
    assert command.rows("seed") == list(range(1, 41))
    assert command.rows("seed, complaint", "outcome = 'error'") == [
        (6, "internal: each worker that played it died, 2 in all"),
        (30, "internal: wakebench was ended by signal 11 without an answer: wakebench: out of luck"),
    ]
    assert "40 runs: 38 passed, 2 errors" in output
    assert not command.runs.exists()


@pytest.mark.parametrize("death", ["interrupt", "kill"])
def test_what_an_interrupted_sweep_has_done_stands_and_resume_plays_the_rest(command, death):
    process = command.begin("s.yaml", "--seeds", "1-60", "--batch", "5", *TWO, WAITS="31,36,41")
    until("30 rows", lambda: len(command.rows()) >= 30, lambda: command.rows()[-5:])
    family = psutil.Process(process.pid).children(recursive=True)
    assert set(listening([psutil.Process(process.pid), *family])) == {"127.0.0.1"}
    if death == "interrupt":
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.kill()
    code, output, errors = command.end(process)
    done = command.rows("seed")
    assert 30 <= len(done) < 60 and len(set(done)) == len(done)
    if death == "interrupt":
        assert code == 130
        assert errors == f"wakebench-sweep: interrupted with {60 - len(done)} of 60 left; go on with --resume\n"
        assert f"{len(done)} runs: {len(done)} passed" in output
        assert not command.runs.exists()
    (command.folder / "go").touch()
    psutil.wait_procs(family, timeout=60)
    assert [each for each in family if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []

    code, output, errors = command.run("s.yaml", "--seeds", "1-60", "--resume", *TWO)
    assert (code, errors) == (0, "")
    assert f"60 runs: 60 passed; {60 - len(done)} of them now" in output
    assert command.rows("seed") == list(range(1, 61))
    assert not command.runs.exists()


def test_a_worker_without_wakebench_ends_the_sweep_with_the_remedy(command):
    code, output, errors = command.run("s.yaml", *TWO, WAKEBENCH="no-such-wakebench")
    assert code == 12
    assert errors.startswith("wakebench-sweep: the worker ") and "have it on the PATH" in errors
    assert errors.count("\n") == 1
    assert command.rows() == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["missing.yaml"], 3, "missing.yaml: no such file"),
        (["s.yaml", "--seeds", "9-1"], 2, "--seeds 9-1: expected"),
        (["s.yaml", "--batch", "0"], 2, "argument --batch: '0': expected 1 to 1000"),
        (["s.yaml", "--scheduler", "tcp://127.0.0.1:1", "--workers", "2"], 2, "give one"),
        ([], 2, "required"),
    ],
)
def test_a_command_that_cannot_be_is_refused_before_there_is_a_table(command, monkeypatch, words, code, said):
    monkeypatch.chdir(command.folder)
    with pytest.raises(Refusal) as refused:
        run(parser().parse_args([*words, "-o", "t.sqlite"]))
    assert refused.value.code == code and said in str(refused.value)
    assert not (command.folder / "t.sqlite").exists()


@pytest.fixture
def cluster(command):
    """A Dask cluster of two workers, to which the package is unknown."""
    environment = {**os.environ, "WAKEBENCH": str(STAND_IN)}
    environment.pop("PYTHONPATH")
    file = command.folder / "scheduler.json"
    common = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"]
    workers = ["worker", "--nworkers", "2", "--nthreads", "1"]
    kinds = [["scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0"], workers]
    begun = [
        subprocess.Popen([sys.executable, "-m", "dask", *kind, *common], env=environment, stderr=subprocess.DEVNULL)
        for kind in kinds
    ]
    yield file
    for each in reversed(begun):
        each.terminate()
        each.wait()


def told_address(file):
    """What the scheduler has written; it may be half written yet."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        return json.loads(file.read_text()).get("address")


def test_a_clusters_workers_need_not_have_the_package(command, cluster):
    address = until("address of the scheduler", lambda: told_address(cluster), lambda: os.listdir(cluster.parent))
    code, output, errors = command.run("s.yaml", "--seeds", "1-60", "--scheduler", address, FAILS="3")
    # The variables of the client are not the workers'.
    assert (code, errors) == (0, "")
    assert command.rows("seed") == list(range(1, 61))
