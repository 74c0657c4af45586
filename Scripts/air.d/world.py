"""What a play stands on: processes that are waited for by their words, a bus, the bridge, devices on linked controllers."""

import asyncio
import contextlib
import ctypes
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RADIO = ROOT / "Scripts/radio"
OUT = ROOT / ".build/air"
# Seconds that a word of a process is waited for, and that a process may take to end.
BOUND, ENDING = 60, 20
# Characters of a line that are read, and lines of a process that are shown when a play fails.
LONGEST, TAIL = 1 << 20, 12


class Failed(Exception):
    """What a play was to prove does not hold."""


class Missing(Exception):
    """Something that is needed is not here; its text names the remedy."""


def place(variable, otherwise):
    """What a variable of the environment names, or a path of this checkout."""
    found = pathlib.Path(os.environ.get(variable) or ROOT / otherwise).absolute()
    if not found.exists():
        raise Missing(f"no {found}; build it by Scripts/test.d/build, or name another with {variable}")
    return found


def wakebench():
    return str(place("WAKEBENCH", ".build/release/wakebench"))


def bundles():
    return str(place("WAKEBENCH_BUNDLES", ".build/apps"))


def program(name):
    """One of the tests' programs."""
    return str(place("WAKEBENCH_PROGRAMS", ".build/debug") / name)


@functools.cache
def python(requirements="Scripts/radio/requirements.txt"):
    """The Python of an environment, which Scripts/venv makes once."""
    made = subprocess.run([ROOT / "Scripts/venv", ROOT / requirements], stdout=subprocess.PIPE, text=True)
    if made.returncode:
        raise Missing(f"no environment of {requirements}; see what pip says above")
    return f"{made.stdout.strip()}/bin/python"


def end_with_parent():
    """The kernel ends a process that outlives this one (PR_SET_PDEATHSIG, 1)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Process:
    """A process in a group of its own, whose lines are kept in FOLDER/NAME.log and can be waited for."""

    def __init__(self, name, process, log):
        self.name, self.process, self.log = name, process, log
        self.lines, self.news = [], asyncio.Condition()
        self.is_over = False
        self.reading = asyncio.ensure_future(self.read())

    @staticmethod
    async def begin(name, folder, *command, **variables):
        process = await asyncio.create_subprocess_exec(
            *map(str, command), cwd=ROOT, env={**os.environ, **variables}, limit=LONGEST, preexec_fn=end_with_parent,
            start_new_session=True, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        return Process(name, process, folder / f"{name}.log")

    async def read(self):
        with open(self.log, "w", encoding="utf-8") as log:
            try:
                async for line in self.process.stdout:
                    text = line.decode(errors="replace").rstrip("\n")
                    log.write(text + "\n")
                    log.flush()
                    async with self.news:
                        self.lines.append(text)
                        self.news.notify_all()
            except ValueError:
                log.write(f"a line of more than {LONGEST} characters\n")
        async with self.news:
            self.is_over = True
            self.news.notify_all()

    def count(self, pattern):
        return sum(1 for line in self.lines if re.search(pattern, line))

    async def said(self, pattern, count=1, seconds=BOUND):
        """Waits until so many lines match; fails when it ends first, or not in time."""
        async def wait():
            async with self.news:
                await self.news.wait_for(lambda: self.is_over or self.count(pattern) >= count)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(wait(), seconds)
        if (found := self.count(pattern)) < count:
            how = "ended" if self.is_over else f"went on for {seconds} s"
            raise Failed(f"{self.name} {how} without saying '{pattern}' {count} times; it did {found} times")

    async def order(self, line):
        """An order to devices on the air, which is answered by a line."""
        answers = self.count("^(ok|no: )")
        self.process.stdin.write(line.encode() + b"\n")
        await self.said("^(ok|no: )", answers + 1)
        if answer := [each for each in self.lines if re.match("ok|no: ", each)][answers].removeprefix("ok"):
            raise Failed(f"the order '{line}': {answer}")

    async def code(self, seconds=300):
        """The exit code, once all was read that it said."""
        try:
            await asyncio.wait_for(asyncio.shield(self.reading), seconds)
            return await asyncio.wait_for(self.process.wait(), ENDING)
        except asyncio.TimeoutError:
            raise Failed(f"{self.name} had not ended after {seconds} s") from None

    def send(self, number):
        # The library's own looks for its end as well, and then nobody hears of that.
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    async def end(self, number=signal.SIGTERM):
        """Ends it; a text where it did not end as it should, else nothing."""
        self.send(number)
        try:
            await asyncio.wait_for(self.process.wait(), ENDING)
        except asyncio.TimeoutError:
            self.send(signal.SIGKILL)
            await self.process.wait()
            return f"{self.name} did not end {ENDING} s after SIGTERM, and was killed"
        finally:
            # What it started may hold its output open.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.reading
        if any(line.startswith("Traceback") for line in self.lines):
            return f"{self.name} had an error of its own: {self.lines[-1]}"
        return ""


class World:
    """The processes of one play, and the folder that it leaves."""

    def __init__(self, name):
        self.out = OUT / name
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        # The path of a socket has at most 107 bytes.
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="air-"))
        self.bus = f"unix:path={self.sockets}/bus"
        # Transports of controllers that are others' than linked ones: the bench's first.
        self.others = []
        self.processes = []

    async def begin(self, name, *command, **variables):
        process = await Process.begin(name, self.out, *command, **variables)
        self.processes.append(process)
        return process

    async def end(self):
        """Ends all, the last first. Texts of what did not end as it should."""
        wrong = []
        for process in reversed(self.processes):
            wrong.append(await process.end())
        shutil.rmtree(self.sockets, ignore_errors=True)
        return [each for each in wrong if each]

    # The air

    def transport(self, index):
        """The transport of a controller; the first is the bench's."""
        return self.others[index] if self.others else f"unix:{self.sockets}/{index}"

    async def link(self, count):
        """Linked controllers without devices."""
        air = await self.radio("link", "wakebench_radio.link", *(self.transport(index) for index in range(count)))
        await air.said('^{"controllers"')

    async def devices(self, *files, name="devices", hci=None, words=()):
        """Devices on the air, on linked controllers of their own or on the transport `hci`; `words` are options more."""
        where = ["--hci", hci] if hci else ["--link", self.sockets]
        devices = await self.radio(name, "wakebench_radio.air", *(ROOT / each for each in files), *where, *words)
        await devices.said("^air: ready")
        return devices

    async def bridge(self, name="bridge"):
        """org.bluez of the first controller, on a bus of its own, for a client that starts none."""
        bridge = await self.radio(name, "wakebench_radio", "--folder", self.sockets, "--hci", self.transport(0))
        await bridge.said('^{"adapters"')
        return bridge

    async def radio(self, name, module, *words):
        return await self.begin(name, python(), "-B", "-m", module, *words, PYTHONPATH=str(RADIO))

    # The bench

    async def bench(self, name, *words, **variables):
        """Starts wakebench where there is no system bus."""
        return await self.begin(
            name, wakebench(), *words, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={self.sockets}/none", **variables
        )

    async def on_hci(self, name, *words):
        """Starts wakebench with the first controller."""
        return await self.bench(name, *words, "--hci", self.transport(0))

    async def run(self, scenario, *words, apps=None):
        """Starts a run on the air. Its decisions are lines of the process `run`."""
        return await self.on_hci(
            "run", "run", ROOT / scenario, "--backend", "bluetooth=hci", "--apps", apps or bundles(), "--out",
            self.out / "run", "--follow", *words,
        )

    def bridge_of(self, run):
        """The process that is org.bluez of a run."""
        pid = run.process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for child in children:
            if b"wakebench_radio" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
        raise Failed(f"the run has no bridge among its children {children}")

    async def went_well(self, run, seconds=300):
        """Waits for a run whose expectations are met."""
        if code := await run.code(seconds):
            unmet = [line for line in run.lines if line.startswith("NOT MET")]
            raise Failed("; ".join([f"the run ended with {code}", *unmet]))

    async def simulate(self, scenario, name="simulated"):
        run = await self.begin(
            name, wakebench(), "run", ROOT / scenario, "--apps", bundles(), "--out", self.out / name, "--quiet"
        )
        if code := await run.code():
            raise Failed(f"the simulated run ended with {code}")

    async def same(self, one="simulated", other="run"):
        """A run has the verdicts of another."""
        compared = await self.begin("compare", wakebench(), "compare", self.out / one, self.out / other)
        if await compared.code():
            raise Failed("simulated against real:\n" + "\n".join(compared.lines))

    def values(self, run):
        """What the apps of a run were given, in order, as they themselves wrote it down."""
        logs = sorted((self.out / run / "apps").glob("*.log"))
        return [value for log in logs for value in re.findall("value=[0-9a-f]*", log.read_text(errors="replace"))]

    def tails(self):
        """The last lines of each process."""
        for process in self.processes:
            yield f"-- {process.name} ({process.log.relative_to(ROOT)})"
            yield from process.lines[-TAIL:]
