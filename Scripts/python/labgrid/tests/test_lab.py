"""A lab on this machine: labgrid's coordinator, the exporter of a bench, and what is reserved through them."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import asyncssh
import pytest
from labgrid import Environment

from wakebench import ServedBench

REPOSITORY = Path(__file__).resolve().parents[4]
EXAMPLE = REPOSITORY / "Scripts/python/labgrid/example"
PROGRAMS = Path(sys.executable).parent
PATIENCE = 60


def commands(program: str) -> list[list[str]]:
    """The words of the commands with a program in the README's section on labgrid."""
    section = (REPOSITORY / "Scripts/python/README.md").read_text().partition("## labgrid")[2]
    found = [shlex.split(line[2:]) for line in section.splitlines() if line.startswith(f"$ {program} ")]
    assert found
    return [words[1:] for words in found]


class Process:
    """A process of a lab, and what it says."""

    def __init__(self, environment: dict[str, str], folder: Path, *words: str) -> None:
        self._said: list[str] = []
        self._changed = threading.Condition()
        self._is_over = False
        self._process = subprocess.Popen(
            [str(PROGRAMS / words[0]), *words[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            cwd=folder,
        )
        threading.Thread(target=self._hear, daemon=True).start()

    def _hear(self) -> None:
        for line in self._process.stdout:
            with self._changed:
                self._said.append(line)
                self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Waits until it says a line."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._find(pattern), PATIENCE)
            found = self._find(pattern)
        assert found, f"no '{pattern}' within {PATIENCE} s, but: {''.join(self._said)}"
        return found

    def _find(self, pattern: str) -> re.Match[str] | None:
        return next(filter(None, (re.search(pattern, line) for line in self._said)), None)

    def end(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)


class Lab:
    """The coordinator and the exporter of a bench, and labgrid's clients."""

    def __init__(self, folder: Path, bench: ServedBench, program: str) -> None:
        self.folder, self.bench = folder, bench
        self.environment = {
            **os.environ,
            "WAKEBENCH_SOCKET": bench.socket,
            "WAKEBENCH": program,
            "PYTHONUNBUFFERED": "1",
        }
        self.environment.pop("LG_TOKEN", None)
        self.processes: list[Process] = []
        self.coordinator = self.begin("labgrid-coordinator", "-l", "127.0.0.1:0")
        self.address = self.coordinator.wait_for(r"listening on (\S+)")[1]
        self.environment["LG_COORDINATOR"] = self.address

    def begin(self, *words: str) -> Process:
        process = Process(self.environment, self.folder, *words)
        self.processes.append(process)
        return process

    def export(self, *words: str) -> None:
        """Starts the exporter, and waits until the coordinator has what it exports."""
        self.exporter = self.begin("wakebench-labgrid-exporter", "-n", "here", *words, str(EXAMPLE / "exporter.yaml"))
        self.exporter.wait_for("Exporter ready")
        self.coordinator.wait_for("set_resource bench belt")

    def end(self) -> None:
        for process in reversed(self.processes):
            process.end()

    def client(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [str(PROGRAMS / "labgrid-client"), *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def pytest(self, *words: str) -> subprocess.CompletedProcess[str]:
        own = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(EXAMPLE), "--lg-coordinator", self.address]
        return subprocess.run(
            [sys.executable, "-m", "pytest", *own, *words],
            env=self.environment,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=5 * PATIENCE,
        )


@pytest.fixture
def lab(tmp_path, wakebench):
    """A lab with a place of the tag kind=wakebench, which has the phone `evening` and its belt."""
    with ServedBench(wakebench.program, tmp_path / "bench") as bench:
        lab = Lab(tmp_path, bench, wakebench.program.path)
        try:
            for command in commands("wakebench"):
                words = [lab.environment["WAKEBENCH"], *command]
                subprocess.run(words, env=lab.environment, cwd=REPOSITORY, check=True, timeout=PATIENCE)
            lab.export()
            for command in commands("labgrid-client"):
                lab.client(*command)
            yield lab
        finally:
            lab.end()


def test_a_place_is_reserved_and_acquired_and_its_phone_booted_and_woken(lab):
    said = lab.client("-v", "resources")
    assert "NetworkWakebenchPhone[/phone]" in said and "NetworkWakebenchAccessory[/belt]" in said
    [command] = commands("pytest")
    done = lab.pytest(*command)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout
    # It was given back, and its phone shut down.
    assert "acquired: None" in lab.client("-p", "evening", "show")
    assert lab.client("reservations") == ""
    assert lab.bench.phone("evening").state == "shutdown"


def test_labgrids_client_switches_the_phone_and_brings_it_into_states(lab):
    environment = lab.folder / "environment.yaml"
    environment.write_text((EXAMPLE / "environment.yaml").read_text().replace("name: +", "name: evening"))
    own = ("-p", "evening", "-c", str(environment))
    lab.client("-p", "evening", "acquire")
    assert "is off" in lab.client(*own, "power", "get")
    lab.client(*own, "power", "on")
    assert "is on" in lab.client(*own, "power", "get")
    lab.client(*own, "power", "cycle")
    assert lab.bench.phone("evening").state == "booted"
    lab.client(*own, "-s", "off", "power", "get")
    assert lab.bench.phone("evening").state == "shutdown"
    assert "no state 'asleep' of a phone; expected one of off, booted, unlocked" in lab.client(
        *own, "-s", "asleep", "power", "get", code=2
    )
    lab.client("-p", "evening", "release")


def test_a_phone_is_handed_out_as_it_was_made(lab):
    phone = lab.bench.phone("evening").boot()
    phone.app("pulse").launch()
    assert phone.app("pulse").state == "active"
    lab.client("-p", "evening", "acquire")
    assert phone.state == "shutdown"
    assert phone.boot().app("pulse").state == "not-running"
    lab.client("-p", "evening", "release")


def test_what_is_gone_is_not_handed_out(lab):
    lab.bench.phone("evening").delete()
    assert "Failed to acquire resources" in lab.client("-p", "evening", "acquire", code=1)
    # labgrid keeps the reason to its logs.
    lab.exporter.wait_for("no phone 'evening'")
    assert "acquired: None" in lab.client("-p", "evening", "show")
    lab.bench.create("evening", EXAMPLE / "evening.yaml")
    lab.client("-p", "evening", "acquire")
    lab.client("-p", "evening", "release")


def test_a_place_that_nobody_has_cannot_be_used(lab):
    environment = ("--lg-env", str(EXAMPLE / "environment.yaml"))
    done = lab.pytest(*environment, str(EXAMPLE / "test_place.py"))
    assert done.returncode != 0 and "passed" not in done.stdout
    done = lab.pytest(*environment, "--wakebench-reserve", "teapot", str(EXAMPLE / "test_place.py"))
    assert "labgrid-client reserve ended with 1" in done.stdout and "'teapot' is not a valid filter" in done.stdout


def test_labgrids_own_exporter_hands_on_what_it_does_not_know(lab):
    entry = f"{{host: localhost, socket: {lab.bench.socket}, phone: evening}}"
    (lab.folder / "plain.yaml").write_text(f"plain: {{NetworkWakebenchPhone: {entry}}}\n")
    lab.begin("labgrid-exporter", "-n", "plain", str(lab.folder / "plain.yaml"))
    lab.coordinator.wait_for("set_resource plain NetworkWakebenchPhone")
    lab.client("-p", "plain", "create")
    lab.client("-p", "plain", "add-match", "plain/*/*")
    lab.client("-p", "plain", "acquire")
    environment = lab.folder / "environment.yaml"
    driver = "drivers: {WakebenchPhoneDriver: {}}"
    resources = "resources: {RemotePlace: {name: plain}}"
    environment.write_text(f"imports: [wakebench.labgrid]\ntargets: {{main: {{{resources}, {driver}}}}}\n")
    lab.client("-p", "plain", "-c", str(environment), "power", "on")
    assert lab.bench.phone("evening").state == "booted"
    lab.client("-p", "plain", "release")


def test_a_scenario_file_is_a_test_beside_labgrids_plug_in(lab):
    shutil.copy(EXAMPLE / "belt.yaml", lab.folder)
    (lab.folder / "evening.yaml").write_text((EXAMPLE / "evening.yaml").read_text() + "until: 1s\n")
    done = lab.pytest(str(lab.folder / "evening.yaml"))
    assert "1 passed" in done.stdout, done.stdout


def test_the_bench_of_another_machine_is_reached_by_ssh(lab, tmp_path, monkeypatch):
    keys = tmp_path / "keys"
    keys.mkdir()
    with SSHServer(keys) as port:
        programs = keys / "bin"
        programs.mkdir()
        (programs / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {keys}/config "$@"\n')
        (programs / "ssh").chmod(0o755)
        (keys / "config").write_text(
            f"Host elsewhere\nHostName 127.0.0.1\nPort {port}\nUser tester\nIdentityFile {keys}/user\n"
            f"UserKnownHostsFile {keys}/known_hosts\nHostKeyAlias elsewhere\n"
        )
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        script = (
            "import wakebench.labgrid as w\n"
            "from labgrid import Target\n"
            "from labgrid.util.ssh import sshmanager\n"
            "target = Target('main')\n"
            f"where = dict(host='elsewhere', socket={lab.bench.socket!r}, phone='evening')\n"
            "resource = w.NetworkWakebenchPhone(target, name=None, **where)\n"
            "resource.avail = True\n"
            "resource.poll = lambda: None\n"
            "resource.manager.poll = lambda: None\n"
            "driver = w.WakebenchPhoneDriver(target, name=None)\n"
            "target.activate(driver)\n"
            "driver.on()\n"
            "print('booted' if driver.get() else 'not', driver.bench.socket)\n"
            "target.deactivate(driver)\n"
            "sshmanager.close_all()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], env=dict(os.environ), capture_output=True, text=True, timeout=PATIENCE
        )
    assert done.returncode == 0, done.stderr
    said, path = done.stdout.split()
    assert said == "booted" and path != lab.bench.socket and not os.path.exists(path)
    assert lab.bench.phone("evening").state == "booted"


class SSHServer:
    """An ssh server that forwards Unix sockets, in a thread: with a key of its own, and one that it lets in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> int:
        self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result(PATIENCE)

    async def _begin(self) -> int:
        host, user = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
        user.write_private_key(str(self._folder / "user"))
        (self._folder / "user").chmod(0o600)
        (self._folder / "known_hosts").write_text(f"elsewhere {host.export_public_key().decode()}")
        user.write_public_key(str(self._folder / "authorized"))

        class Server(asyncssh.SSHServer):
            def unix_connection_requested(self, path: str) -> bool:
                return True

        async def cat(process: asyncssh.SSHServerProcess) -> None:
            await process.stdin.read()
            process.exit(0)

        self._server = await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=Server,
            server_host_keys=[host],
            authorized_client_keys=str(self._folder / "authorized"),
            process_factory=cat,
        )
        return self._server.get_port()

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._finish(), self._loop).result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    async def _finish(self) -> None:
        self._server.close()
        await self._server.wait_closed()


def test_a_bench_makes_phones_on_the_adapter_of_its_place(wakebench, tmp_path):
    with ServedBench(wakebench.program, tmp_path / "bench") as bench:
        (tmp_path / "environment.yaml").write_text(
            "imports: [wakebench.labgrid]\n"
            "targets:\n"
            "  main:\n"
            "    resources:\n"
            f"      WakebenchBench: {{socket: {bench.socket}}}\n"
            f"      WakebenchAdapter: {{socket: {bench.socket}, address: '00:1A:7D:DA:71:13'}}\n"
            "    drivers: {WakebenchBenchDriver: {}}\n"
        )
        driver = Environment(str(tmp_path / "environment.yaml")).get_target("main").get_driver("WakebenchBenchDriver")
        driver.create("real")
        assert [each.name for each in driver.phones()] == ["real"]
        settings = (tmp_path / "bench/phones/real/phone.json").read_text()
        assert "bluez" in settings and "00:1A:7D:DA:71:13" in settings
        assert driver.create("emulated", str(EXAMPLE / "evening.yaml"), backend="simulated").boot().state == "booted"
