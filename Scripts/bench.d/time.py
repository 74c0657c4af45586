"""Virtual time in a real app: usage time.py BINARIES FOLDER [EXCHANGES].

An app with Core Bluetooth on a queue of its own and its state on main gets values from a simulated belt, and answers each
fourth. However it hops between its queues, its log has to be that of the app that does not hop; one that puts its work off
by 50 ms has to be 50 ms late to the nanosecond. Then the same beside a busy loop on each processor. Then a day of it, with a
timer a minute and a value each five minutes, suspended between them and not; beside the same without the library, when the
app's timers run on wall time and never come. Exits with 1 when a log is not what it has to be.
"""

import hashlib
import os
import pathlib
import plistlib
import re
import shutil
import subprocess
import sys
import time

binaries, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
exchanges = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
IDENTIFIER = "com.example.hopping"
failures = 0


def write(name, text):
    (folder / name).write_text(text)


def make(count, every, steps, until):
    """The bundle, a belt that sends so many values, and a scenario."""
    bundle = folder / "apps/Hopping.app"
    bundle.mkdir(parents=True, exist_ok=True)
    shutil.copy(binaries / "HoppingApp", bundle / "HoppingApp")
    information = {
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleExecutable": "HoppingApp",
        "UIBackgroundModes": ["bluetooth-central"],
    }
    (bundle / "Info.plist").write_bytes(plistlib.dumps(information))
    write(
        "belt.yaml",
        "device: bluetooth-peripheral\naddress: F0:11:22:33:44:55\nadvertising: {services: [180D]}\ngatt:\n"
        "  - service: 180D\n    characteristics:\n      - uuid: 2A37\n        properties: [notify]\n"
        f"        notifications: [{{after: 2s, counter: {{count: {count}, every: {every}, width: 2}}}}]\n",
    )
    write(
        "time.yaml",
        "scenario: time\ndevices: [{file: belt.yaml, name: belt}]\napps: [{bundle: Hopping.app, name: hopping}]\n"
        f"steps: [{steps}]\nuntil: {until}\n",
    )


def play(program="wakebench", **variables):
    """One run: the app's log, and the seconds of wall time that it took."""
    environment = dict(os.environ, **{f"WAKEBENCH_APP_{name}": value for name, value in variables.items()})
    begun = time.monotonic()
    subprocess.run(
        [program, "run", "time.yaml", "--apps", "apps", "--out", "out", "--quiet", "--force", "--no-journal"],
        cwd=folder,
        env=environment,
        check=True,
    )
    seconds = time.monotonic() - begun
    return (folder / f"out/apps/{IDENTIFIER}.log").read_text().splitlines(), seconds


def check(isRight):
    global failures
    failures += not isRight
    return "" if isRight else "  WRONG"


def overtaken(log, delay):
    """How many values were not handled so many nanoseconds after they came."""
    late = [re.fullmatch(r"value (\w+) at \d+ handled (\d+) later", line) for line in log if line.startswith("value")]
    return sum(1 for match in late if not match or int(match[2]) != delay), len(late)


def hops(count, runs, what):
    make(count, "60ms", "{at: 0, launch: hopping}", f"{2 + count * 60 // 1000 + 2}s")
    inline, _ = play(bench, HOP="inline")
    wrong, values = overtaken(inline, 0)
    print(f"{what}: inline                {values} values, {wrong} late{check(wrong == 0 and values == count)}")
    for kind in ["main", "global", "task", "mainActor", "asyncAfter"]:
        delay = 50_000_000 if kind == "asyncAfter" else 0
        equal = late = seen = 0
        seconds = 0.0
        for _ in range(runs):
            log, wall = play(bench, HOP=kind)
            wrong, values = overtaken(log, delay)
            late += wrong
            seen += values
            seconds += wall
            # What answers a value that was put off comes later by as much, and so stands elsewhere.
            alike = [line.replace(f"handled {delay} later", "handled 0 later") for line in log if line.startswith("value")]
            equal += log == inline if delay == 0 else alike == [line for line in inline if line.startswith("value")]
        print(
            f"{what}: {kind:10} {runs:3} runs, {equal} logs equal to inline's, {seen} values, {late} overtaken, "
            f"{seconds / seen * 1e6:.0f} us each{check(equal == runs and late == 0 and seen == runs * count)}",
            flush=True,
        )


def day(what, steps, program, runs):
    make(288, "300s", steps, "24h")
    logs, best = set(), None
    for _ in range(runs):
        log, seconds = play(program, MINUTES="1", HOP="main")
        logs.add(hashlib.sha256("\n".join(log).encode()).hexdigest())
        best = seconds if best is None else min(best, seconds)
    values = sum(line.startswith("value") for line in log)
    minutes = sum(line.startswith("minute") for line in log)
    print(f"{what}: {best:.2f} s, {values} values, {minutes} timers, {len(logs)} kinds of log in {runs} runs", flush=True)
    return len(logs)


bench = binaries / "wakebench"
# Without the library beside it a bench gives its apps no time.
alone = folder / "alone"
alone.mkdir()
shutil.copy(bench, alone / "wakebench")

hops(40, 10, "idle")
busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
try:
    hops(exchanges // 5, 1, "beside a busy loop on each processor")
finally:
    for process in busy:
        process.kill()
        process.wait()

suspended = "{at: 0, launch: hopping}, {at: 3s, home: hopping}"
kinds = day("a day, suspended between values", suspended, bench, 2)
kinds += day("a day in the foreground", "{at: 0, launch: hopping}", bench, 2)
day("a day, suspended, without the library", suspended, alone / "wakebench", 1)
day("a day in the foreground, without the library", "{at: 0, launch: hopping}", alone / "wakebench", 1)
if os.geteuid() == 0:
    check(kinds == 2)
sys.exit(1 if failures else 0)
