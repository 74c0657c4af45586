"""Scenario files as tests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Callable

import pytest
from conftest import QUIET, night

from wakebench import Program, WakebenchError
from wakebench.plugin import HEAD, is_scenario

# A run that nothing but an interrupt ends.
ENDLESS = QUIET.replace("1s", "1h")
REAL = "--wakebench-arg=--clock real"


def write(folder: pytest.Pytester, name: str, text: str) -> Path:
    path = folder.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("scenario: night\n", True),
        ("# A night.\n---\nprofile: ios13\nscenario: night\n", True),
        ("\ufeffscenario: night\n", True),
        ("{scenario: night, steps: []}\n", True),
        ('"scenario": "night"\n', True),
        ("device: ibeacon\n", False),
        ("device: ibeacon\nnotes:\n  scenario: night\n", False),
        ("# scenario: night\n", False),
        ("scenario:\n  name: default\n", False),
        ("scenarios: [night]\n", False),
        ("#" * HEAD + "\nscenario: night\n", False),
        ("", False),
    ],
)
def test_a_file_with_the_key_near_its_beginning_is_a_scenario(tmp_path: Path, text: str, is_one: bool) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text, "utf-8")
    assert is_scenario(file) == is_one


def test_bytes_that_are_no_text_are_no_scenario(tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_bytes(bytes(range(256)) * 300)
    assert not is_scenario(file)


def test_each_scenario_is_one_test_named_by_its_file_and_a_device_is_none(folder: pytest.Pytester) -> None:
    write(folder, "nights/night.yaml", QUIET)
    write(folder, "nights/day.yml", QUIET)
    result = folder.runpytest_inprocess("--collect-only", "-q")
    assert result.outlines[:3] == ["nights/day.yml::day", "nights/night.yaml::night", ""]


def test_a_word_of_k_chooses_by_the_name(folder: pytest.Pytester) -> None:
    write(folder, "swiped-away.yaml", QUIET)
    write(folder, "night.yaml", QUIET)
    folder.runpytest_inprocess("-k", "swiped-away").assert_outcomes(passed=1, deselected=1)


def test_the_ini_file_says_where_scenarios_are(folder: pytest.Pytester) -> None:
    folder.makeini("[pytest]\ntestpaths = tests\nwakebench_scenarios = nights\n")
    write(folder, "nights/deep/night.yaml", QUIET)
    write(folder, "tests/data.yaml", QUIET)
    write(folder, "tests/test_nothing.py", "def test_nothing(): pass\n")

    def collected(*words: str) -> list[str]:
        lines = folder.runpytest_inprocess("--collect-only", "-q", *words).outlines
        return [line for line in lines if "::" in line]

    assert collected() == ["tests/test_nothing.py::test_nothing", "nights/deep/night.yaml::night"]
    assert collected("tests") == ["tests/test_nothing.py::test_nothing"]
    assert collected("nights") == ["nights/deep/night.yaml::night"]
    assert collected("tests/data.yaml") == ["tests/data.yaml::data"]
    folder.makeini("[pytest]\nwakebench_scenarios =\n")
    assert collected() == ["tests/test_nothing.py::test_nothing"]


def test_a_folder_of_the_ini_file_that_is_not_there_is_told_of(folder: pytest.Pytester) -> None:
    folder.makeini("[pytest]\nwakebench_scenarios = nigths\n")
    result = folder.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: wakebench_scenarios: no folder */nigths; name folders *"])


def test_what_is_not_met_is_shown_with_place_decisions_and_commands_and_without_python(folder: pytest.Pytester) -> None:
    text = night("{app: pulse, verdict: relaunch, count: 1}", "{app: pulse, verdict: resume}")
    write(folder, "nights/night.yaml", text.replace("belt.yaml", "../belt.yaml"))
    result = folder.runpytest_inprocess("--wakebench-out", "out")
    result.assert_outcomes(failed=1)
    run = folder.path / "out/nights/night"
    result.stdout.fnmatch_lines(
        [
            "pulse relaunch: 1; found 0  [[]nights/night.yaml:14[]]",
            "  nearest decisions about com.example.pulse:",
            "    T+00:00:22.*  characteristic-notified belt/2A37  resume, Resumed [[]LIFE-4[]]  (e-*)",
            f"  * why com.example.pulse --run {run}",
            f"report: {run}/report.html",
            "FAILED nights/night.yaml::night - Failed: pulse relaunch: 1; found 0*",
        ]
    )
    assert (run / "report.html").exists()
    assert "plugin.py" not in result.stdout.str() and "Traceback" not in result.stdout.str()
    why = re.search(r"^ *(\S+ why .*)$", result.stdout.str(), re.MULTILINE)
    assert (
        why
        and "com.example.pulse" in subprocess.run(why[1], shell=True, check=True, capture_output=True, text=True).stdout
    )


def test_a_scenario_that_cannot_be_read_is_an_error_in_the_programs_line(folder: pytest.Pytester) -> None:
    write(folder, "night.yaml", QUIET + "stepz: 1\n")
    result = folder.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    line = "wakebench: night.yaml:5: unknown key 'stepz' in a scenario; expected *  [[]invalid-file, exit code 11[]]"
    result.stdout.fnmatch_lines([line])
    assert "During handling" not in result.stdout.str()


def test_a_step_that_waited_in_vain_is_an_error_with_the_nearest_decisions(folder: pytest.Pytester) -> None:
    step = "  - {when: {app: pulse, verdict: deny}, within: 5s, note: never}\nuntil: 1m\n"
    write(folder, "night.yaml", night().replace("until: 1m\n", step))
    result = folder.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "wakebench: night.yaml:12: waited 5.0 s for 1 deny of pulse; saw 0  [[]timeout, exit code 6[]]",
            "nearest decisions *",
        ]
    )


def test_what_else_run_is_given_reaches_it(folder: pytest.Pytester) -> None:
    write(folder, "night.yaml", night())
    folder.runpytest_inprocess(
        "--wakebench-out=out", "--wakebench-arg=--profile ios13 --seed 7", "--wakebench-arg=--set 'wakeWindow=first'"
    ).assert_outcomes(passed=1)
    head = (folder.path / "out/night/decisions.ndjson").read_text().splitlines()[0]
    assert '"seed":7' in head and '"profile":"ios13"' in head and '"wakeWindow":"first"' in head


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--profile ios99", "wakebench: unknown profile 'ios99'; expected one of ios6, *  [[]usage, exit code 2[]]"),
        ("--seeds 1-3", "wakebench: --seeds plays several runs, and this is one; use pytest.mark.parametrize, *"),
        ("--out x", "wakebench: --out is the plug-in's to say; leave it out; *"),
    ],
)
def test_what_run_does_not_take_is_an_error(folder: pytest.Pytester, words: str, line: str) -> None:
    write(folder, "night.yaml", QUIET)
    result = folder.runpytest_inprocess(f"--wakebench-arg={words}")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([line])


def test_an_option_that_names_no_program_is_refused_at_once(folder: pytest.Pytester) -> None:
    result = folder.runpytest_inprocess("--wakebench=./nothing")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --wakebench ./nothing: no such program; name wakebench by its path, or leave it out"]
    )


def test_the_program_is_looked_for_in_the_order_of_the_help(
    folder: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def program(name: str) -> str:
        path = write(folder, name, "#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    def used(*words: str) -> str:
        lines = folder.runpytest_inprocess("inner", *words).outlines
        return next((line[len("wakebench: ") :] for line in lines if line.startswith("wakebench: ")), "")

    (folder.path / "inner").mkdir()
    folder.makeini("[pytest]")
    monkeypatch.setenv("PATH", str(folder.path / "bin"))
    monkeypatch.delenv("WAKEBENCH")
    for name in (".build/release/wakebench", ".build/debug/wakebench", "bin/wakebench"):
        before = used()
        assert before != program(name) == used()
    monkeypatch.setenv("WAKEBENCH", program("variable/wakebench"))
    assert used() == str(folder.path / "variable/wakebench")
    assert used(f"--wakebench={program('option/wakebench')}") == str(folder.path / "option/wakebench")


def test_without_a_program_the_error_says_where_it_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAKEBENCH")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(WakebenchError) as caught:
        Program.find(None, Path("/nowhere/deep"), Path("/"))
    assert caught.value.name == "not-found"
    assert caught.value.line == (
        "no program wakebench on PATH, and none built in /nowhere/deep or above it; "
        "put it on PATH, or name it with --wakebench or in the variable WAKEBENCH"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("#!/bin/sh\necho oh >&2; echo no >&2; exit 12\n", "no  [[]environment, exit code 12[]]"),
        ("#!/bin/sh\nkill -KILL $$\n", "wakebench was ended by SIGKILL: it said nothing  [[]internal, exit code -9[]]"),
        ("#!/bin/sh\necho '{}'\n", "it said nothing  [[]internal, exit code 0[]]"),
        ("#!/nowhere\n", "*/wakebench: cannot be started: No such file or directory; name another *[[]environment, *"),
    ],
)
def test_a_program_that_dies_or_is_another_is_an_error(folder: pytest.Pytester, text: str, line: str) -> None:
    write(folder, "night.yaml", QUIET)
    write(folder, "wakebench", text).chmod(0o755)
    result = folder.runpytest_inprocess("--wakebench=./wakebench")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"wakebench: {line}"])


def test_a_file_outside_of_the_root_folder_is_played_and_kept_too(folder: pytest.Pytester) -> None:
    write(folder, "night.yaml", night("{app: pulse, verdict: relaunch}"))
    (folder.path / "root").mkdir()
    result = folder.runpytest_inprocess("--rootdir=root", "night.yaml", "--wakebench-out=out")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["pulse relaunch: at least 1; found 0  [[]../night.yaml:14[]]"])
    assert (folder.path / "out/night/report.html").exists()


def test_a_folder_that_cannot_be_made_is_an_error(folder: pytest.Pytester) -> None:
    write(folder, "night.yaml", QUIET)
    result = folder.runpytest_inprocess("--wakebench-out=belt.yaml")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["wakebench: */belt.yaml/night: cannot be made anew: *; give another folder with *"])


def test_a_kept_run_is_replaced_by_the_next_session_and_so_is_one_that_broke_off(
    folder: pytest.Pytester, bench: str
) -> None:
    file = write(folder, "night.yaml", ENDLESS)
    out = folder.path / "out/night"
    process = subprocess.Popen([bench, "run", str(file), "--clock", "real", "--out", str(out)])
    journal, outcomes = out / "journal.sqlite", out / "outcomes.ndjson"
    wait_for("journal and outcomes", lambda: journal.exists() and outcomes.exists(), out)
    process.kill()
    process.wait()
    file.write_text(QUIET)
    for _ in range(2):
        folder.runpytest_inprocess("--wakebench-out=out").assert_outcomes(passed=1)
    assert (out / "results.json").exists()


def test_x_ends_a_session_at_the_first_that_fails(folder: pytest.Pytester) -> None:
    write(folder, "a.yaml", QUIET + "expect: [{app: pulse, verdict: resume}]\n")
    write(folder, "b.yaml", QUIET)
    folder.runpytest_inprocess("-x").assert_outcomes(failed=1)


def test_two_workers_play_and_report_as_one_and_junit_has_failures_and_errors(folder: pytest.Pytester) -> None:
    # Each worker has to find the same tests as the session does alone.
    folder.makeini("[pytest]\ntestpaths = tests\nwakebench_scenarios = nights\n")
    (folder.path / "tests").mkdir()
    write(folder, "nights/met.yaml", QUIET)
    write(folder, "nights/unmet.yaml", night("{app: pulse, verdict: relaunch}").replace("belt.yaml", "../belt.yaml"))
    write(folder, "nights/unread.yaml", QUIET + "stepz: 1\n")
    result = folder.runpytest_subprocess("-n", "2", "--junitxml=junit.xml", "--wakebench-out=out")
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(["pulse relaunch: at least 1; found 0  [[]nights/unmet.yaml:14[]]"])
    cases = {case.get("name"): case for case in ElementTree.parse(folder.path / "junit.xml").iter("testcase")}
    assert [
        [child.tag for child in cases[name] if child.tag != "properties"] for name in ("met", "unmet", "unread")
    ] == [
        [],
        ["failure"],
        ["error"],
    ]
    assert cases["unmet"].find("properties/property[@name='wakebench_run']").get("value") == str(
        folder.path / "out/nights/unmet"
    )


PATIENCE = 60


def wait_for(what: str, holds: Callable[[], bool], run: Path) -> None:
    """Waits for a condition about a run folder, a minute at most."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            ends = {each.name: each.read_bytes()[-500:] for each in run.glob("*.*json")}
            pytest.fail(f"no {what} within {PATIENCE} s, but {sorted(run.glob('*'))}, {ends}")
        time.sleep(0.02)


def in_front() -> None:
    """Makes a process the first of its group, with SIGINT as usual: what a shell starts behind itself ignores it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Session:
    """A pytest that plays a scenario which does not end, in a process group of its own."""

    def __init__(self, folder: pytest.Pytester, *words: str) -> None:
        write(folder, "a.yaml", ENDLESS)
        self.run = folder.path / "out/a"
        self.results = self.run / "results.json"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "--wakebench-out=out", REAL, *words],
            cwd=folder.path,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=in_front,
        )
        wait_for("outcomes", lambda: (self.run / "outcomes.ndjson").exists() and self.lines() > 1, self.run)

    def was_interrupted(self) -> bool:
        """Whether the run has its results, which say so."""
        return self.results.exists() and '"kind":"interrupted"' in self.results.read_text()

    def lines(self) -> int:
        return (self.run / "outcomes.ndjson").read_bytes().count(b"\n")

    def wait_until_interrupted(self) -> None:
        wait_for("results of a run that was interrupted", self.was_interrupted, self.run)


def test_an_interrupt_ends_the_run_with_its_reports_before_the_session(folder: pytest.Pytester) -> None:
    session = Session(folder)
    session.process.send_signal(signal.SIGINT)
    output, _ = session.process.communicate(timeout=PATIENCE)
    assert session.process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert session.was_interrupted()


def test_an_interrupt_ends_the_runs_of_workers(folder: pytest.Pytester) -> None:
    session = Session(folder, "-n", "2")
    os.killpg(session.process.pid, signal.SIGINT)
    output, _ = session.process.communicate(timeout=PATIENCE)
    assert session.process.returncode == pytest.ExitCode.INTERRUPTED, output
    session.wait_until_interrupted()


def test_a_session_that_is_killed_leaves_no_run(folder: pytest.Pytester) -> None:
    session = Session(folder)
    session.process.kill()
    session.process.communicate(timeout=PATIENCE)
    session.wait_until_interrupted()
