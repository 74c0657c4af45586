"""A running bench: its phones by the control socket, with a clock that the test sets forward and with a real app."""

from __future__ import annotations

import datetime
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
from conftest import BELT

from wakebench import Following, LiveBench, Program, ServedBench, WakebenchError
from wakebench.control import Control, usual_socket
from wakebench.live import nanoseconds

NOTIFIED = "characteristic-notified"
PATIENCE = 60
REPOSITORY = Path(__file__).resolve().parents[3]

# A belt that says nothing by itself.
SILENT = BELT[: BELT.index("        notifications:")]

EVENING = """\
scenario: evening
devices: [{file: belt.yaml, name: belt}]
apps:
  - scripted: com.example.pulse
    name: pulse
    count: 2
    modes: [bluetooth-central]
    restore-identifier: central
    uses: [{device: belt, characteristic: 2A37}]
"""


@pytest.fixture
def evening(tmp_path: Path) -> Path:
    (tmp_path / "belt.yaml").write_text(SILENT)
    (tmp_path / "evening.yaml").write_text(EVENING)
    return tmp_path / "evening.yaml"


@pytest.fixture
def phone(wakebench_phone, evening):
    """A phone with a virtual clock and two scripted apps, of which pulse.1 is suspended and follows the belt."""
    phone = wakebench_phone(evening, clock="virtual")
    pulse = phone.app("pulse.1")
    pulse.launch()
    phone.advance("5s")
    pulse.home()
    phone.advance("30s")
    assert pulse.state == "suspended"
    return phone


def test_time_goes_on_by_what_the_test_says(phone):
    assert phone.now == "T+00:00:35.000"
    assert phone.advance(datetime.timedelta(hours=8)).at == "T+08:00:35.000"
    assert phone.until("T+09:00:00").at == "T+09:00:00.000"
    assert phone.until("1h").at == "T+09:00:00.000"


def test_a_notification_of_a_device_resumes_the_app(phone):
    outcome = phone.device("belt").notify("2A37", b"\x00\x49")
    record = outcome.expect(app="pulse.1", verdict="resume", kind=NOTIFIED)
    assert record["event"]["subject"] == "belt/2A37" and record["app"]["bundle"] == phone.app("pulse.1").bundle
    assert outcome.decided(app="pulse.2") == []
    assert [each["verdict"] for each in outcome.decided(kind=NOTIFIED, rule="LIFE-4")] == ["resume"]


def test_what_was_not_decided_is_said_with_what_was(phone):
    outcome = phone.device("belt").notify("2A37", "0049")
    with pytest.raises(AssertionError, match="relaunch: none on .*; instead(?s:.)*resume, Resumed"):
        outcome.expect(verdict="relaunch")
    with pytest.raises(AssertionError, match="nothing was decided"):
        phone.lock().expect(verdict="resume")


def test_an_app_that_was_swiped_away_is_not_woken(phone):
    pulse = phone.app("pulse.1")
    pulse.force_quit()
    assert pulse.state == "not-running"
    phone.device("belt").notify("2A37", "0049")
    assert phone.advance("1m").decided(verdict="relaunch") == []
    phone.device("belt").out_of_range()
    phone.advance("10s")
    assert phone.device("belt").connected is False


def test_a_command_with_an_identifier_is_carried_out_once(phone):
    belt = phone.device("belt")
    first = belt.notify("2A37", "0049", id="the only one")
    again = belt.notify("2A37", "0049", id="the only one")
    assert not first.repeated and again.repeated and again.command == first.command
    assert len(first.decided(kind=NOTIFIED, app="pulse.1")) == 1
    assert (again.at, again.settled, again.decisions, again.happened, again.notes) == (
        first.at,
        first.settled,
        first.decisions,
        first.happened,
        first.notes,
    )
    assert phone.advance("1s").decided(kind=NOTIFIED) == []


def test_an_identifier_knows_an_advance_by_the_time_that_was_said(phone):
    first = phone.advance("1m", id="on")
    again = phone.advance("60s", id="on")
    assert not first.repeated and again.repeated and again.at == first.at
    with pytest.raises(WakebenchError, match="another command"):
        phone.advance("8h", id="on")
    assert phone.until(first.at, id="to").at == first.at
    with pytest.raises(WakebenchError, match="another command"):
        phone.until("T+08:00:00", id="to")


def test_the_end_of_a_process_is_said(phone):
    happened = phone.app("pulse.1").terminate().happened
    assert [(each["app"], each["what"], each["reason"]) for each in happened] == [
        (phone.app("pulse.1").bundle, "terminate (memory)", "-"),
        (phone.app("pulse.1").bundle, "process ended", "memory"),
    ]


@pytest.mark.parametrize(
    ("ask", "code", "kind", "message", "hint"),
    [
        (lambda phone: phone.app("pluse"), 3, "not-found", "pluse", "pulse"),
        (lambda phone: phone.app("pulse"), 2, "usage", "'pulse' are 2 apps", "pulse.1, pulse.2"),
        (lambda phone: phone.device("strap"), 3, "not-found", "no device 'strap'", "it has belt"),
        (
            lambda phone: phone.do({"notify": "strap", "characteristic": "2A37", "value": ""}),
            2,
            "usage",
            "strap",
            "belt",
        ),
        (lambda phone: phone.do({"dance": 1}), 2, "usage", "", ""),
        (lambda phone: phone.app("pulse.1").wait("active", timeout=0), 6, "timeout", "pulse.1", ""),
        (lambda phone: phone.app("pulse.1").wait("awake"), 2, "usage", "'awake'", "suspended"),
        (lambda phone: phone.delete(), 4, "wrong-state", "is booted", "shut it down"),
        (lambda phone: phone.bench.create(phone.name), 4, "wrong-state", "already", "another name"),
        (lambda phone: phone.bench.phone("nobody").boot(), 3, "not-found", "no phone 'nobody'", ""),
        (lambda phone: phone.advance("soon"), 2, "usage", "'soon' is no time", "1h30m"),
        (lambda phone: phone.bench.ask("sing"), 2, "usage", "operation 'sing'", "hello"),
        (lambda phone: phone.bench.create("x", "/nowhere.yaml"), 11, "invalid-file", "/nowhere.yaml", ""),
    ],
)
def test_what_is_refused_has_code_kind_message_and_hint(phone, ask, code, kind, message, hint):
    with pytest.raises(WakebenchError) as caught:
        ask(phone)
    error = caught.value
    assert (error.code, error.name) == (code, kind)
    assert message in error.message and hint in error.hint, str(error)
    # The connection goes on.
    assert phone.now == "T+00:00:35.000"


def test_who_follows_hears_decisions_and_what_is_none(phone):
    with phone.follow(timeout=PATIENCE) as news:
        assert news.header["phones"][0]["name"] == phone.name
        phone.device("belt").notify("2A37", "0049")
        phone.advance("1s")
        phone.lock()
        record = news.first(verdict="resume")
        assert record["event"]["kind"] == NOTIFIED
        rows = (each for each in news if each["type"] == "row")
        assert "lock" in json.dumps(next(rows))
    with phone.follow(after=0, timeout=PATIENCE) as again:
        assert next(again)["seq"] == 1
        assert again.first(verdict="resume") == record


def test_nothing_to_hear_is_an_error_after_the_time_given_and_the_stream_goes_on(phone):
    with phone.follow(timeout=0.05) as news:
        with pytest.raises(WakebenchError, match="nothing was heard") as caught:
            next(news)
        assert caught.value.code == 6
        phone.device("belt").notify("2A37", "0049")
        phone.advance("1s")
        news.timeout = PATIENCE
        assert news.first(verdict="resume")


def test_a_reader_that_was_too_slow_hears_what_it_missed_from_the_log(phone):
    belt = phone.device("belt")
    with phone.follow(timeout=PATIENCE) as news:
        last = news.header["phones"][0]["seq"]
    for _ in range(200):
        belt.notify("2A37", "0049")
    phone.advance("1m")
    with phone.follow(after=last, timeout=PATIENCE) as again:
        assert [next(again)["seq"] for _ in range(200)] == list(range(last + 1, last + 201))


def test_a_gap_is_news(tmp_path):
    path = str(tmp_path / "s")
    hello = b'{"request":1,"schema":"wake.control/1","ok":true}\n'
    header = b'{"request":2,"schema":"wake.stream/1","ok":true,"type":"header"}\n'
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        thread = threading.Thread(target=_say, args=(listening, hello, header + b'{"type":"gap","dropped":7}\n'))
        thread.start()
        with Following(path, "all", None, 30) as news:
            assert list(news) == [{"type": "gap", "dropped": 7}]
        thread.join()


def test_a_phone_is_shut_down_and_goes_on_erased_and_brought_back(phone):
    phone.shutdown()
    assert phone.state == "shutdown"
    assert phone.snapshot("save", name="evening") == ["evening"]
    assert phone.boot().now == "T+00:00:35.000"
    phone.shutdown()
    phone.erase()
    assert phone.boot().now == "T+00:00:00.000"
    phone.shutdown()
    phone.snapshot("load", name="evening")
    assert phone.clone(phone.name[:40] + ".copy").boot().now == "T+00:00:35.000"


def test_a_real_app_is_woken_by_its_belt(wakebench_phone, tmp_path):
    (tmp_path / "belt.yaml").write_text(SILENT)
    scenario = (
        "scenario: real\ndevices: [{file: belt.yaml, name: belt}]\napps: [{bundle: HeartRatePython.app, name: heart}]\n"
    )
    (tmp_path / "real.yaml").write_text(scenario)
    phone = wakebench_phone(tmp_path / "real.yaml", apps=REPOSITORY / ".build" / "apps", set={"wakeWindow": "first"})
    heart, belt = phone.app("heart"), phone.device("belt")
    with phone.follow(timeout=60) as news:
        heart.launch(timeout="60s")
        news.first(kind="notification-state-changed", verdict="foreground-deliver")
    assert belt.connected and belt.info["apps"] == ["heart"] and heart.pid > 0
    heart.home()
    heart.wait("suspended", timeout="60s")
    belt.notify("2A37", "0049", timeout="60s").expect(app="heart", verdict="resume")
    assert [each["verdict"] for each in heart.can_wake(NOTIFIED)] != []
    heart.wait("suspended", timeout="60s")
    heart.terminate(timeout="60s")
    heart.wait("not-running", timeout="60s")
    belt.notify("2A37", "004a", timeout="60s").expect(app="com.example.heartrate.python", verdict="relaunch")


def test_a_daemon_that_cannot_serve_says_why(wakebench_bench, wakebench, tmp_path):
    (tmp_path / "phones").write_text("in the way")
    with pytest.raises(WakebenchError) as caught:
        ServedBench(wakebench.program, tmp_path)
    assert caught.value.code == 12 and str(tmp_path) in caught.value.message


def test_a_daemon_that_dies_leaves_no_answer_behind(wakebench, tmp_path):
    bench = ServedBench(wakebench.program, tmp_path)
    other = LiveBench(bench.socket)
    heard: list[object] = []
    news = bench.follow()
    reader = threading.Thread(target=lambda: heard.extend(news))
    reader.start()
    number = os.pidfd_open(bench.hello["pid"])
    signal.pidfd_send_signal(number, signal.SIGKILL)
    assert select.select([number], [], [], PATIENCE)[0], f"the daemon still ran {PATIENCE} s after it was killed"
    os.close(number)
    with pytest.raises(WakebenchError, match="is gone") as caught:
        other.ask("phones")
    assert caught.value.code == 9
    reader.join(PATIENCE)
    assert not reader.is_alive() and heard == []
    with pytest.raises(WakebenchError, match="SIGKILL"):
        bench.stop()
    with pytest.raises(WakebenchError, match="no daemon at") as caught:
        LiveBench(bench.socket)
    assert caught.value.name == "daemon-unreachable"


def test_phones_go_on_under_the_next_daemon(wakebench, tmp_path, evening):
    with ServedBench(wakebench.program, tmp_path / "state") as bench:
        bench.create("one", evening, clock="virtual").boot().advance("1h")
    with ServedBench(wakebench.program, tmp_path / "state") as bench:
        assert [each.name for each in bench.phones()] == ["one"]
        assert bench.phone().now == "T+01:00:00.000"


def test_what_answers_otherwise_is_no_daemon(tmp_path):
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        for answer, message in (
            (b"HTTP/1.1 400 Bad Request\n", "is no daemon of wakebench"),
            (b'{"ok":true,"schema":"wake.control/2"}\n', "speaks wake.control/2, and this wake.control/1"),
            (b'{"ok":tr', "is gone"),
        ):
            thread = threading.Thread(target=_say, args=(listening, answer))
            thread.start()
            with pytest.raises(WakebenchError, match=message) as caught:
                Control(path)
            assert caught.value.code == 9
            thread.join()


def test_a_daemon_that_is_silent_is_given_up(tmp_path, monkeypatch):
    path = str(tmp_path / "s")
    monkeypatch.setattr("wakebench.control.PATIENCE", 0.1)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        with pytest.raises(WakebenchError, match="has said nothing for 0.1 s") as caught:
            Control(path)
        assert caught.value.code == 9


def _say(listening: socket.socket, *answers: bytes) -> None:
    """Answers a client's requests, and hangs up."""
    connection, _ = listening.accept()
    with connection:
        for answer in answers:
            connection.recv(1 << 16)
            connection.sendall(answer)


# A process of another user at the control socket: it says when it is there, and at its end what it heard.
STRANGER = """\
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print(flush=True)
connection = listener.accept()[0]
heard = connection.recv(1000)
if heard:
    connection.sendall(b'{"ok": true, "schema": "wake.control/1", "request": 1}\\n')
print(heard)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to start a process of another user")
def test_a_daemon_of_another_user_is_asked_for_nothing():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o1777)
        path = f"{folder}/c.sock"
        words = ["/usr/bin/python3", "-c", STRANGER, path]
        with subprocess.Popen(words, user=65534, group=65534, extra_groups=[], cwd="/", stdout=subprocess.PIPE) as stranger:
            assert stranger.stdout.readline() == b"\n"
            with pytest.raises(WakebenchError) as caught:
                Control(path)
            assert stranger.stdout.read() == b"b''\n"
    assert caught.value.name == "environment"
    assert caught.value.message == f"{path}: a process of user 65534 serves there, and not of user 0"


def test_the_usual_socket_is_that_of_the_verbs():
    assert usual_socket({"WAKEBENCH_SOCKET": "/s", "XDG_RUNTIME_DIR": "/run"}.get) == "/s"
    assert usual_socket({"XDG_RUNTIME_DIR": "/run"}.get) == "/run/wakebench/control.sock"
    assert usual_socket({"HOME": "/h"}.get) == "/h/.local/state/wakebench/control.sock"
    assert usual_socket({"WAKEBENCH_STATE": "/w", "HOME": "/h"}.get) == "/w/control.sock"


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("1h30m", 5400 * 10**9),
        ("152.5ms", 152_500_000),
        ("T+01:00:00.25", 3600_250_000_000),
        (0.5, 5 * 10**8),
        ("0", 0),
    ],
)
def test_times_are_those_of_scenario_files(time, expected):
    assert nanoseconds(time) == expected


def test_the_daemon_ends_with_the_session_however_that_ends(folder, bench):
    folder.makepyfile(
        """
        import os, signal

        def test_that_dies(wakebench_bench):
            with open("pid", "w") as file:
                file.write(str(wakebench_bench.hello["pid"]))
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    folder.runpytest_subprocess("-p", "no:cacheprovider")
    pid = int((folder.path / "pid").read_text())
    try:
        number = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    assert select.select([number], [], [], PATIENCE)[0], f"the daemon still ran {PATIENCE} s after the session"
    os.close(number)


def test_run_folders_of_phones_are_kept_and_named_where_a_test_fails(folder, bench):
    folder.makepyfile(
        """
        def test_fails(wakebench_phone):
            wakebench_phone("night.txt", clock="virtual").advance("1s")
            assert False
        """
    )
    (folder.path / "night.txt").write_text(EVENING)
    result = folder.runpytest_subprocess("--wakebench-out", "kept")
    result.assert_outcomes(failed=1)
    kept = next((folder.path / "kept").rglob("decisions.ndjson")).parent
    result.stdout.fnmatch_lines([f"test_fails-1: {kept}"])
    assert Program(bench, folder.path).answer("log", str(kept))


def test_a_stream_is_closed_by_another_thread(phone):
    news = phone.follow()
    assert isinstance(news, Following)
    thread = threading.Timer(0, news.close)
    thread.start()
    assert list(news) == []
    thread.join()


def test_the_example_of_the_readme_is_the_one_that_is_played():
    python = REPOSITORY / "Scripts" / "python"
    block = (python / "README.md").read_text().partition("```python\n")[2].partition("```")[0]
    assert block in (python / "examples" / "test_evening.py").read_text()
