"""The fixtures, and what a run says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import BELT, QUIET, night

from wakebench import Run, Scenario, Wakebench, WakebenchError
from wakebench.writing import written


@pytest.fixture
def belt(tmp_path: Path) -> str:
    path = tmp_path / "belt.yaml"
    path.write_text(BELT)
    return str(path)


@pytest.fixture
def played(wakebench: Wakebench, belt: str) -> Run:
    """The run of a night in which the belt resumes the app once or more."""
    return wakebench.run(night().replace("belt.yaml", belt), seed=7)


def test_a_run_has_its_folder_report_expectations_and_apps(played: Run) -> None:
    assert played.ok and played.fault is None
    assert played.report == played.folder / "report.html" and played.report.exists()
    assert [(each.expected, each.met) for each in played.expectations] == [("pulse resume: at least 1", True)]
    assert [(each.file, each.line) for each in played.expectations] == [(played.file, 14)]
    assert played.expectations[0].place == f"{played.file}:14" and played.file.endswith("/scenario.yaml")
    assert played.apps == {"pulse": "com.example.pulse"}
    assert played.log("pulse") == ""


def test_the_page_is_made_where_the_program_left_it_out(played: Run) -> None:
    played.report.unlink()
    assert played.story() == f"report: made by {played.program.word} report {played.folder}"
    assert played.report.exists()
    assert played.story() == f"report: {played.report}"


def test_decisions_are_those_of_the_log_and_are_chosen_by_what_they_have(played: Run) -> None:
    log = subprocess.run(
        [played.program.path, "log", played.folder], check=True, capture_output=True
    ).stdout.splitlines()
    assert list(played.decisions) == [json.loads(line) for line in log[1:]]
    resumed = played.decisions(app="pulse", verdict="resume", reason="Resumed", kind="characteristic-notified")
    assert len(resumed) == len(played.decisions(app="com.example.pulse")(rule="LIFE-4", subject="belt/2A37")) > 0
    assert {each["verdict"] for each in resumed} == {"resume"}
    assert resumed and not played.decisions(verdict="relaunch")
    assert played.decisions(verdict="relaunch").first is None


def test_decisions_are_read_no_further_than_asked(played: Run) -> None:
    decisions = iter(played.decisions)
    assert next(decisions)["seq"] == 1
    decisions.close()
    assert next(iter(played.decisions))["seq"] == 1


@pytest.mark.parametrize(
    ("filters", "line"),
    [
        ({"app": "pluse"}, "the scenario has no app 'pluse'; it has pulse (com.example.pulse)"),
        ({"verdict": "resumed"}, "unknown verdict 'resumed'; expected "),
        ({"reason": "Forcequit"}, "unknown reason 'Forcequit'; expected "),
        ({"kind": "notified"}, "unknown kind of event 'notified'; expected "),
    ],
)
def test_a_word_that_nothing_can_have_is_no_empty_answer(played: Run, filters: dict, line: str) -> None:
    with pytest.raises(WakebenchError) as caught:
        len(played.decisions(**filters))
    assert caught.value.line.startswith(line)


def test_an_expectation_that_does_not_hold_says_what_was_decided_instead(played: Run) -> None:
    played.expect(app="pulse", verdict="resume")
    played.expect(app="pulse", verdict="relaunch", count=0)
    with pytest.raises(AssertionError) as caught:
        played.expect(app="pulse", verdict="relaunch", kind="characteristic-notified", at_least=2)
    lines = str(caught.value).splitlines()
    assert lines[0] == "pulse relaunch characteristic-notified: at least 2; found 0"
    assert lines[1] == "nearest decisions about pulse:"
    assert any("characteristic-notified belt/2A37: resume, Resumed [LIFE-4]" in line for line in lines)
    assert lines[-2].endswith(f"why com.example.pulse --run {played.folder}")
    assert lines[-1] == f"report: {played.folder}/report.html"


def test_decisions_that_are_none_show_the_nearest(played: Run) -> None:
    shown = repr(played.decisions(app="pulse", verdict="relaunch", kind="characteristic-notified"))
    assert shown.startswith("<Decisions pulse relaunch characteristic-notified: none; nearest T+00:00:")
    assert "characteristic-notified belt/2A37: resume, Resumed [LIFE-4]" in shown


def test_why_is_the_programs_answer(played: Run) -> None:
    assert "Resumed" in played.why("pulse") and played.why("pulse", "LIFE-4").startswith("com.example.pulse")


def test_a_scenario_that_cannot_be_read_raises_the_programs_error(wakebench: Wakebench) -> None:
    with pytest.raises(WakebenchError) as caught:
        wakebench.run(QUIET + "stepz: 1\n")
    error = caught.value
    assert (error.name, error.code) == ("invalid-file", 11)
    assert error.message.endswith("scenario.yaml:5: unknown key 'stepz' in a scenario")
    assert error.hint.startswith("expected ")
    assert error.place.endswith("scenario.yaml:5:1")


@pytest.mark.parametrize(
    ("options", "name"), [({"profile": "ios99"}, "usage"), ({"frob": True}, "usage"), ({"json": True}, "usage")]
)
def test_an_option_that_run_does_not_have_is_wrong_usage(wakebench: Wakebench, options: dict, name: str) -> None:
    with pytest.raises(WakebenchError) as caught:
        wakebench.run(QUIET, **options)
    assert caught.value.name == name


def test_a_file_that_is_nowhere_is_told_of_with_where_it_was_looked_for(wakebench: Wakebench) -> None:
    with pytest.raises(WakebenchError, match=r"no scenario file 'nigth.yaml'; expected it in .*/tests or "):
        wakebench.run("nigth.yaml")


def test_each_run_of_a_test_has_a_folder_of_its_own(wakebench: Wakebench) -> None:
    first, second = wakebench.run(QUIET), wakebench.run(QUIET, seed=2, set={"wakeWindow": "first"}, no_journal=True)
    assert first.folder != second.folder and first.ok and second.ok


def test_a_built_scenario_has_devices_of_files_texts_and_data(scenario: Scenario, device, app, belt: str) -> None:
    names = [
        device(belt),
        device(BELT.replace("55", "56"), name="second"),
        device(
            {
                "device": "ibeacon",
                "address": "C2:00:00:00:00:01",
                "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
                "distance": [{"after": "1s", "metres": 2}],
            }
        ),
    ]
    assert names == ["belt", "second", "device3"]
    pulse = app("com.example.pulse", modes=["bluetooth-central"], uses=[{"device": "second", "characteristic": "2A37"}])
    assert pulse == "pulse"
    scenario.step(at=0, launch=pulse)
    scenario.step(at="3s", notify="second", characteristic="2A37", value=b"\x00\x50")
    scenario.expect(app=pulse, kind="characteristic-notified", at_least=2)
    scenario.set(until="10s", settings={"wakeWindow": "first"})
    run = scenario.run()
    assert run.ok
    assert [each["event"]["subject"] for each in run.decisions(kind="characteristic-notified")] == ["second/2A37"] * 2


def test_a_built_scenario_that_is_wrong_names_its_file_and_line(scenario: Scenario, app) -> None:
    scenario.step(at=0, lunch=app("com.example.pulse"))
    with pytest.raises(WakebenchError, match=r"scenario\.yaml:\d: .*'lunch'"):
        scenario.run()


def test_what_is_written_is_read_as_the_same_texts() -> None:
    data = {
        "scenario": "night",
        "yes": True,
        "none": [],
        "list": [{"a": b"\x00\x48", "b": [1, 2.5, "10s"]}, "plain-text", 'quo"te\\ # : \u2028\x7f\ud83d\n'],
        "UPPER: case": {"time-zone": "+01:00"},
    }
    assert written(data) == (
        "scenario: night\n"
        "yes: true\n"
        "none: []\n"
        "list:\n"
        '  - {a: "0048", b: [1, 2.5, "10s"]}\n'
        "  - plain-text\n"
        '  - "quo\\"te\\\\ # : \\u2028\\x7f\\ud83d\\x0a"\n'
        '"UPPER: case": {time-zone: "+01:00"}\n'
    )


def test_what_is_no_plain_data_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot be written in a scenario; give "):
        written({"until": None})


def test_a_failing_test_shows_the_runs_that_it_made(folder: pytest.Pytester) -> None:
    folder.makepyfile(
        f"""
        def test_night(wakebench):
            run = wakebench.run({night("{app: pulse, verdict: relaunch}")!r})
            assert run.ok
        """
    )
    result = folder.runpytest_inprocess("--wakebench-out=out")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*where False = <Run scenario: not met: pulse relaunch: at least 1; found 0  [[]*/scenario.yaml:14[]]>.ok",
            "*Captured wakebench call*",
            "  nearest decisions about com.example.pulse:",
            f"report: {folder.path}/out/test_a_failing_test_shows_the_runs_that_it_made/test_night/run/report.html",
        ]
    )
    assert "wakebench/run.py" not in result.stdout.str()


def test_an_option_of_a_run_wins_over_the_sessions_words(folder: pytest.Pytester) -> None:
    folder.makepyfile(
        f"""
        def test_night(wakebench):
            run = wakebench.run({QUIET!r}, seed=7)
            head = (run.folder / "decisions.ndjson").read_text().splitlines()[0]
            assert '"seed":7' in head and '"profile":"ios13"' in head
        """
    )
    folder.runpytest_inprocess("--wakebench-arg=--seed 3 --profile ios13").assert_outcomes(passed=1)
