"""What a notification costs over linked controllers, by the bridge of Scripts/radio, beside other programs doing the same job.

    air.py FOLDER PROGRAMS [SECONDS]

FOLDER has the bundle NotificationBenchmarkApp.app and counter.py of Sources/Benchmarks; PROGRAMS the release build.

A belt on the second controller counts: 200 times a second, then as fast as the link has room. On the first controller are in turn
wakebench with that app (its bridge, on its own bus), bleak on the bridge's bus, and Bumble's own host without a bus. Processor time
is the kernel's count of each process between two values. The bench's own is compared with that on a stand-in bluetoothd's bus, as
Scripts/bench ble measures it.
"""

import asyncio
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "air.d"))

import world  # noqa: E402
from plays import CLIENTS  # noqa: E402

# Values before the measured ones, and the most of them: the counter has 16 bits, and its last value says the end.
WARM_UP, MOST = 400, 60_000
# The most that the bench may take of a processor, as a multiple of what it takes on a stand-in bluetoothd's bus. The tenth is for
# noise, and assumed.
MOST_OF_BENCH = 1.1

BELT = """# A belt that counts as fast as it is told to, and then says that it was the last.
device: bluetooth-peripheral
name: Fast Belt
address: "F0:11:22:33:44:55"
advertising: {{interval: 100ms, services: [180D]}}
gatt:
  - service: 180D
    characteristics:
      - uuid: 2A37
        properties: [notify]
        stream: {stream}
        notifications:
          - {{after: 1s, counter: {{prefix: "", from: 0, count: {count}, every: {every}}}}}
          - {{after: 2s, values: ["ffff"]}}
"""
SCENARIO = """# One app in the foreground counts the values of a fast belt, and ends by itself after the last.
scenario: fast-belt
devices: [{file: belt.yaml, name: belt}]
apps: [{bundle: NotificationBenchmarkApp.app, name: counter}]
steps:
  - {at: 0, launch: counter}
  - {when: {app: counter, kind: characteristic-notified}, within: 2m, note: first value}
  - {when: {app: counter, state: not-running}, within: 10m, note: last value}
"""


def processor_time(pid):
    """Seconds that a process has had of processors, with all its threads: its clock (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


def children(pid):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        yield from map(int, (task / "children").read_text().split())


def named(pid, text):
    """The child of a process with a text in its command line."""
    [found] = [each for each in children(pid) if text in pathlib.Path(f"/proc/{each}/cmdline").read_bytes()]
    return found


class Load:
    """So many values, each after a pause; by signals of the bus or by packets of a socket."""

    def __init__(self, name, way, count, every):
        self.name, self.way, self.count, self.every = name, way, count, every


class Round:
    """A belt and a client on the air."""

    def __init__(self, load, folder):
        self.load, self.folder = load, folder
        self.air = world.World(f"bench-{load.way}")
        (folder / "scenario.yaml").write_text(SCENARIO)
        belt = BELT.format(stream=str(load.way == "acquire").lower(), count=load.count, every=load.every)
        (folder / "belt.yaml").write_text(belt)

    async def measure(self, begin):
        """`begin(self)` starts the client, and gives the file that counts and the processes, by name, once it is begun."""
        try:
            await self.air.link(2)
            belt = await self.air.devices(self.folder / "belt.yaml", hci=self.air.transport(1))
            client, counted, processes = await begin(self)
            first = await self.sent(belt, WARM_UP)
            pids = processes()
            before, began = {name: processor_time(pid) for name, pid in pids.items()}, time.monotonic()
            await self.sent(belt, self.load.count - 1, first)
            after, took = {name: processor_time(pid) for name, pid in pids.items()}, time.monotonic() - began
            if code := await client.code():
                raise world.Failed(f"{client.name} ended with {code}; see {client.log}")
            values = self.load.count - 1 - WARM_UP
            received = int(re.search("counted values=(\\d+)", counted())[1])
            return {
                "rate": values / took, "lost": self.load.count - received,
                "times": {name: (after[name] - before[name]) / values * 1e6 for name in pids},
            }
        finally:
            for text in await self.air.end():
                print(text, file=sys.stderr)

    async def sent(self, belt, number, place=0):
        """Waits until the belt has sent a value. The place of its line."""
        wanted = f" notified 2A37 {number:04x}"
        async with belt.news:
            while True:
                while place < len(belt.lines):
                    if belt.lines[place].endswith(wanted):
                        return place
                    place += 1
                if belt.is_over:
                    raise world.Failed(f"the belt ended before its value {number}; see {belt.log}")
                await belt.news.wait()


async def bench(round):
    run = await round.air.on_hci(
        "run", "run", round.folder / "scenario.yaml", "--backend", "bluetooth=hci", "--apps", round.folder, "--out",
        round.air.out / "run", "--quiet",
    )
    log = round.air.out / "run/apps/com.example.notificationbenchmark.log"
    pid = run.process.pid
    return run, log.read_text, lambda: {
        "bench": pid, "bridge": round.air.bridge_of(run), "app": named(pid, b"NotificationBenchmarkApp"),
    }


async def bleak(round):
    bridge = await round.air.bridge()
    client = await round.air.begin(
        "bleak", world.python(CLIENTS), "-B", round.folder / "counter.py", round.load.way,
        DBUS_SYSTEM_BUS_ADDRESS=round.air.bus,
    )
    return client, lambda: "\n".join(client.lines), lambda: {
        "bleak": client.process.pid, "bridge": bridge.process.pid,
    }


async def host(round):
    client = await round.air.begin(
        "host", world.python(), "-B", HERE / "air/counter.py", round.air.transport(0)
    )
    return client, lambda: "\n".join(client.lines), lambda: {"Bumble's own host": client.process.pid}


def stand_in(folder, programs, seconds):
    """Microseconds a value that the bench takes on a stand-in bluetoothd's bus, by signals and by packets."""
    said = subprocess.run(
        [programs / "NotificationBenchmark", folder, programs, folder.parent / "bleak", str(seconds), "1"],
        stdout=subprocess.PIPE, text=True,
    ).stdout
    found = re.findall("wakebench with journal, app +[0-9.]+ +\\(([0-9.]+) \\+", said)
    if len(found) != 2:
        raise world.Failed(f"NotificationBenchmark said\n{said}")
    return dict(zip(("start", "acquire"), map(float, found)))


@contextlib.contextmanager
def awake():
    """Gives each processor something to do that anything else goes before, as NotificationBenchmark does: in a virtual machine,
    falling asleep and waking at each value costs more than the work."""
    spinners = [
        subprocess.Popen(["taskset", "-c", str(each), "chrt", "--idle", "0", "sh", "-c", "while :; do :; done"])
        for each in os.sched_getaffinity(0)
    ]
    try:
        yield
    finally:
        for each in spinners:
            each.terminate()


async def main(folder, programs, seconds=60):
    folder, programs, seconds = pathlib.Path(folder), pathlib.Path(programs), int(seconds)
    count = min(MOST, 200 * seconds + WARM_UP + 1)
    loads = [
        Load("200 values a second by StartNotify", "start", count, "5ms"),
        # A pause that is shorter than what any of them takes: the belt waits for the link.
        Load("as many as the link carries by AcquireNotify", "acquire", min(MOST, 500 * seconds + WARM_UP + 1), "0.1ms"),
    ]
    baseline = stand_in(folder, programs, 10)
    holds = True
    for load in loads:
        print(f"{load.name}: us of processor time a value", flush=True)
        for name, begin in (("wakebench", bench), ("bleak", bleak), ("Bumble", host)):
            with awake():
                found = await Round(load, folder).measure(begin)
            times = ", ".join(f"{name} {took:.1f}" for name, took in found["times"].items())
            print(f"  {name:<10} {found['rate']:.0f} a second, lost {found['lost']}: {times}", flush=True)
            holds = holds and found["lost"] == 0
            if begin is bench:
                own, other = found["times"]["bench"], baseline[load.way]
                word = "holds" if own <= MOST_OF_BENCH * other else "DOES NOT HOLD"
                print(f"  the bench beside a stand-in bluetoothd's bus: {own:.1f} to {other:.1f}: {word}", flush=True)
                holds = holds and word == "holds"
    print("nothing is lost, and the bench is within its limit: " + ("holds" if holds else "DOES NOT HOLD"))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
