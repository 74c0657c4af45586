"""What a daemon keeps as it grows old, in virtual and in real time: see Scripts/bench soak."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from phones import connect, memory

HERE = pathlib.Path(__file__).parent
DEVICES = HERE.parent.parent / "Devices"
# What memory and files may differ by between the middle of the time and its end.
MEMORY, FILES = 1.15, 1.3


def files(run):
    """Bytes of the journal, and of the logs and all else."""
    journal = logs = 0
    for path in run.rglob("*"):
        if path.is_file():
            size = path.stat().st_size
            if path.name.startswith("journal"):
                journal += size
            else:
                logs += size
    return journal, logs


class Watch:
    def __init__(self, daemon, run):
        self.daemon, self.run, self.rows = daemon, run, []
        print(f"{'at':>14}{'decisions':>11}{'resident':>10}{'journal':>10}{'logs':>9}", flush=True)

    def look(self, at, decisions):
        journal, logs = files(self.run)
        row = (memory(self.daemon.pid)[0], journal / 1e6, logs / 1e6)
        self.rows.append(row)
        print(f"{at:>14}{decisions:>11}{row[0]:>7.0f} MB{row[1]:>7.1f} MB{row[2]:>6.1f} MB", flush=True)

    def is_flat(self):
        """Whether the second half of the time needed about as much as the first."""
        half = len(self.rows) // 2
        early, late = self.rows[:half], self.rows[half:]
        flat = True
        for column, name, bound in ((0, "memory", MEMORY), (1, "journal", FILES), (2, "logs", FILES)):
            before, after = max(row[column] for row in early), max(row[column] for row in late)
            print(f"{name}: at most {before:.1f} MB in the first half, {after:.1f} MB in the second")
            flat = flat and after <= before * bound + 1
        return flat


def virtual(arguments, client, daemon, folder):
    """A day of 66 belts and 100 apps."""
    scenario = str(DEVICES / "Scenarios" / "day-of-belts.yaml")
    client.ask(op="create", phone="day", scenario=scenario, options=["--clock=virtual"])
    client.ask(op="boot", phone="day")
    watch = Watch(daemon, folder / "state" / "phones" / "day" / "run")
    for hour in range(1, arguments.hours + 1):
        answer = client.ask(op="do", phone="day", command={"advance": hour * 3_600_000_000_000})
        watch.look(answer["at"], client.ask(op="apps", phone="day")["seq"])
    client.ask(op="shutdown", phone="day")
    return watch.is_flat()


def real(arguments, client, daemon, folder):
    """A real app whose belt notifies many times a second, launched anew now and then."""
    shutil.copy(HERE.parent / "crash.d" / "quiet-belt.yaml", folder)
    (folder / "soak.yaml").write_text(
        "scenario: soak\ndevices: [{file: quiet-belt.yaml, name: belt}]\n"
        "apps: [{bundle: HeartRate.app, name: heart}]\nsteps: [{at: 0, launch: heart}]\n"
    )
    options = [f"--apps={os.path.abspath(arguments.apps)}", "--set=bluetoothWindow=100ms"]
    client.ask(op="create", phone="real", scenario=str(folder / "soak.yaml"), options=options)
    client.ask(op="boot", phone="real")
    watch = Watch(daemon, folder / "state" / "phones" / "real" / "run")
    began = time.monotonic()
    number, look = 0, 0.0
    while time.monotonic() - began < arguments.real:
        number += 1
        kind = number % 500
        step = {"notify": "belt", "characteristic": "2A37", "value": f"00{number % 256:02x}"}
        if kind == 250:
            step = {"home": "heart"}
        elif kind == 490:
            step = {"terminate": "heart", "cause": "memory"}
        elif kind == 499:
            step = {"launch": "heart"}
        answer = client.ask(op="do", phone="real", id=f"s{number}", command={"step": step})
        if time.monotonic() - began >= look:
            watch.look(answer["at"], client.ask(op="apps", phone="real")["seq"])
            look += arguments.real / 24
        time.sleep(0.01)
    return watch.is_flat()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--apps", required=True)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--real", type=float, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wakebench-soak-") as name:
        folder = pathlib.Path(name)
        command = [os.path.abspath(arguments.program), "serve", "--state", str(folder / "state"), "--socket", str(folder / "c")]
        daemon = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            client = connect(daemon, folder / "c")
            flat = True
            if arguments.hours:
                flat = virtual(arguments, client, daemon, folder) and flat
            if arguments.real:
                flat = real(arguments, client, daemon, folder) and flat
        finally:
            daemon.terminate()
            daemon.wait()
        sys.exit(0 if flat else "memory or files grow with age")


main()
