"""Kills a daemon at random points while a client commands its phone, and counts what was lost and what was done twice: see
Scripts/crash --daemon."""

import argparse
import atexit
import collections
import json
import os
import pathlib
import random
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
# Commands that are on their way at once.
WINDOW = 8
# Kills after which the log is read: long before the parts that are kept of it (RunRecorder.beginPart) are full.
GATHERING = 25
# A journal keeps 16 MiB of inputs, and its log is moved into it at 32 MiB (SQLiteJournal.Settings).
JOURNAL_LIMIT = (16 + 4 + 32 + 4) << 20


class Daemon:
    def __init__(self, program, folder, apps):
        self.program, self.folder = program, folder
        self.socket = folder / "c.sock"
        self.run = folder / "state" / "phones" / "one" / "run"
        self.apps = apps

    def start(self):
        self.errors = open(self.folder / "errors", "a")
        command = [self.program, "serve", "--state", str(self.folder / "state"), "--socket", str(self.socket)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.errors)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def connect(self, deadline=60):
        """A connection that has been answered; its phone has been brought back by then."""
        end = time.monotonic() + deadline
        while time.monotonic() < end:
            try:
                return Client(self.socket)
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"the daemon ended by itself: {(self.folder / 'errors').read_text()[-2000:]}")
                time.sleep(0.0005)
        sys.exit(f"no answer from the daemon within {deadline} s; it says: {(self.folder / 'errors').read_text()[-2000:]}")

    def events(self, after):
        """The last input that is committed, and the events of those after an input."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for suffix in ["", "-wal"]:
            path = self.run / ("journal.sqlite" + suffix)
            if path.exists():
                shutil.copy(path, copy)
        journal = sqlite3.connect(copy / "journal.sqlite")
        rows = journal.execute(
            "SELECT event, text FROM inputs LEFT JOIN names ON number = origin WHERE seq > ? ORDER BY seq", (after,)
        ).fetchall()
        last = journal.execute("SELECT coalesce(max(seq), 0) FROM inputs").fetchone()[0]
        journal.close()
        if last - after - len(rows) > 0:
            sys.exit(f"inputs between {after} and {last} were rotated away before they were counted")
        # About what is installed, and about the restart itself, nothing is decided.
        return last, [event for event, origin in rows if event and origin not in ("install", "bench-restart")]

    def size(self):
        files = [self.run / ("journal.sqlite" + suffix) for suffix in ["", "-wal"]]
        return sum(path.stat().st_size for path in files if path.exists())


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")

    def send(self, request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def read(self):
        line = self.lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError
        return json.loads(line)

    def ask(self, **request):
        self.send(request)
        answer = self.read()
        if not answer["ok"]:
            sys.exit(f"{request}: {answer['error']['message']}")
        return answer


def step(number, chance):
    kind = chance.random()
    if kind < 0.6:
        return {"notify": "belt", "characteristic": "2A37", "value": f"00{number:08x}"}
    if kind < 0.8:
        return {"enter" if number % 2 else "exit": "office"}
    if kind < 0.9:
        return {"push": {"app": "fence", "payload": {"aps": {"content-available": 1}, "number": number}}}
    return {"phone": chance.choice(["lock", "unlock"])}


class Load:
    """Commands, each of which is given again under the same name until it is answered."""

    def __init__(self, chance):
        self.chance = chance
        self.number = 0
        self.open = collections.OrderedDict()
        self.answered = {}
        self.repeated = 0
        self.wrong = []
        # The latest time that the phone has told.
        self.told = ""

    def drive(self, client, until):
        """Commands the phone until the time is over, or the daemon is gone."""
        try:
            waiting = collections.deque(self.open)
            for name in list(self.open):
                client.send(self.open[name])
            while time.monotonic() < until:
                while len(waiting) < WINDOW:
                    self.number += 1
                    name = f"c{self.number}"
                    self.open[name] = {
                        "op": "do", "phone": "one", "id": name, "wait": False,
                        "command": {"step": step(self.number, self.chance)},
                    }
                    client.send(self.open[name])
                    waiting.append(name)
                self.take(client.read(), waiting.popleft())
            return waiting
        except OSError:
            return None

    def take(self, answer, name):
        if not answer["ok"]:
            self.wrong.append(f"{name}: {answer['error']['message']}")
        elif name in self.answered and self.answered[name] != answer["command"]:
            self.wrong.append(f"{name} was carried out twice")
        else:
            self.answered[name] = answer["command"]
            self.repeated += answer.get("repeated", False)
            # Texts of the same width are in the order of time. One given again has the time of its first answer.
            if not answer.get("repeated") and answer["at"] < self.told:
                self.wrong.append(f"{name}: the phone told {answer['at']} after {self.told}")
            self.told = max(self.told, answer["at"])
        del self.open[name]

    def finish(self, client):
        for name in list(self.open):
            client.send(self.open[name])
            self.take(client.read(), name)


def records(program, daemon):
    """The decisions of every part of the log that is left, oldest first."""
    parts = sorted(daemon.run.glob("decisions.*.ndjson"), key=lambda path: int(path.name.split(".")[1]))
    last = daemon.run / "decisions.ndjson"
    # Between two parts there is none for a moment.
    for part in parts + [last] * last.exists():
        folder = daemon.folder / "part"
        folder.mkdir(exist_ok=True)
        shutil.copy(part, folder / "decisions.ndjson")
        reader = subprocess.Popen([program, "log", str(folder)], stdout=subprocess.PIPE)
        for line in reader.stdout:
            record = json.loads(line)
            if "seq" in record:
                yield record
        if reader.wait() != 0:
            sys.exit("wakebench log failed")


def acts(daemon):
    """The numbers of what the user and the phone did, about which nothing is decided."""
    for part in daemon.run.glob("outcomes*.ndjson"):
        for line in part.read_text(errors="replace").splitlines(keepends=True):
            # A kill may have cut the last one.
            if line.startswith('{"schema":"wake.act/1"') and line.endswith("\n"):
                yield int(json.loads(line)["id"][2:])


class Log:
    """What was decided, gathered while the log goes on: it keeps its newest parts only."""

    def __init__(self, program, daemon):
        self.program, self.daemon = program, daemon
        # By number; what a kill undid is decided anew under the same.
        self.records, self.acts = {}, set()

    def gather(self):
        self.acts |= set(acts(self.daemon))
        for record in records(self.program, self.daemon):
            key = (record["event"]["id"], (record["app"] or {}).get("bundle"))
            self.records[record["seq"]] = (record["id"], key, record["supersedes"])

    def examine(self, accepted):
        final, by_decision, decided = collections.Counter(), {}, set(self.acts)
        for _, (decision, key, supersedes) in sorted(self.records.items()):
            decided.add(int(key[0][2:]) if key[0] else 0)
            by_decision[decision] = key
            final[key] += 1
            if supersedes in by_decision:
                final[by_decision.pop(supersedes)] -= 1
        gaps = max(self.records, default=0) - len(self.records)
        twice = sum(1 for key, number in final.items() if number > 1 and key[0])
        return len(self.records), gaps, len(accepted - decided), twice


def given(daemon):
    """How many values a process of the real app was given twice, and how many it was given."""
    log = (daemon.run / "apps" / "com.example.heartrate.python.log").read_text(errors="replace")
    seen = collections.Counter(re.findall(r"didUpdateValue pid=(\d+) count=\d+ value=(\w+)", log))
    return sum(1 for number in seen.values() if number > 1), len(seen)


def play(arguments, folder):
    chance = random.Random(arguments.seed)
    for name in ["phone.yaml", "quiet-belt.yaml"]:
        shutil.copy(HERE / name, folder)
    daemon = Daemon(arguments.program, folder, arguments.apps)
    daemon.start()
    # Whatever stops the script, its daemon does not outlive it.
    atexit.register(lambda: daemon.kill())
    client = daemon.connect()
    client.ask(op="create", phone="one", scenario=str(folder / "phone.yaml"), options=[f"--apps={arguments.apps}"])
    client.ask(op="boot", phone="one")
    if not registrations(client):
        sys.exit("the apps did not come to be registered before the first kill")
    load, log = Load(chance), Log(arguments.program, daemon)
    first = client.ask(op="do", phone="one", command={"step": {"note": "now"}})["command"]
    last, accepted, backward = 0, set(), 0
    recoveries, sizes = [], []
    group = max(1, arguments.kills // 10)
    print(f"{'kills':>7}{'commands':>10}{'inputs':>10}{'recovery: median':>18}{'longest':>10}{'journal: largest':>18}")
    for kill in range(1, arguments.kills + 1):
        # A tenth of the kills hits the recovery.
        if kill > 1 and chance.random() < 0.1:
            daemon.kill()
            daemon.start()
            time.sleep(chance.random() * 0.05)
            daemon.kill()
            daemon.start()
            client = daemon.connect()
        killer = subprocess.Popen(["sleep", f"{chance.random() * 0.25:.4f}"])
        while killer.poll() is None:
            load.drive(client, time.monotonic() + 0.005)
            # What is on its way is answered under its name after the kill.
            client = reconnect(daemon, client)
        daemon.kill()
        before = last
        last, events = daemon.events(after=last)
        backward += last < before
        accepted.update(events)
        sizes.append(daemon.size())
        if kill % GATHERING == 0:
            log.gather()
        began = time.monotonic()
        daemon.start()
        client = daemon.connect()
        client.ask(op="apps", phone="one")
        recoveries.append(time.monotonic() - began)
        if kill % group == 0:
            times, largest = recoveries[-group:], max(sizes[-group:])
            print(
                f"{kill:>7}{load.number:>10}{last:>10}{statistics.median(times) * 1000:>15.0f} ms"
                f"{max(times) * 1000:>7.0f} ms{largest / 2**20:>14.1f} MiB",
                flush=True,
            )
    load.finish(client)
    numbers = sorted(load.answered.values())
    kept = registrations(client)
    client.ask(op="shutdown", phone="one")
    daemon.process.terminate()
    daemon.process.wait()
    last, events = daemon.events(after=last)
    accepted.update(events)
    log.gather()
    count, gaps, lost, twice = log.examine(accepted)
    again, values = given(daemon)
    missing = len(set(range(first + 1, max(numbers) + 1)) - set(numbers))
    print(
        f"{arguments.kills} kills, {load.number} commands ({load.repeated} given again, {missing} carried out and never "
        f"answered, {len(numbers) - len(set(numbers))} with the number of another), {last} inputs, {len(accepted)} events, "
        f"{count} decisions: {lost} lost, {twice} decided twice, {gaps} gaps, {backward} times committed inputs went back; "
        f"{values} values given to processes, {again} of them twice to one; registrations kept: {'yes' if kept else 'NO'}"
    )
    half = len(recoveries) // 2
    early, late = statistics.median(recoveries[:half]), statistics.median(recoveries[half:])
    print(f"recovery: median {early * 1000:.0f} ms in the first half, {late * 1000:.0f} ms in the second")
    grows = late > early * 1.5 + 0.05 or max(sizes) > JOURNAL_LIMIT
    if grows:
        print("recovery time or journal size grow with age")
    for line in load.wrong[:10]:
        print(line)
    wrong = lost + twice + gaps + backward + again + missing + len(numbers) - len(set(numbers)) + len(load.wrong)
    return 1 if wrong or grows or not kept else 0


def reconnect(daemon, client):
    """A connection whose answers are all of commands to come."""
    client.socket.close()
    return daemon.connect()


def registrations(client):
    """Whether the belt still reaches the real app, and the fence the played one."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        answer = client.ask(
            op="do", phone="one", command={"step": {"notify": "belt", "characteristic": "2A37", "value": "00ffffffff"}}
        )
        verdicts = {record["verdict"] for record in answer["decisions"] if record["event"]["subject"].startswith("belt")}
        if verdicts & {"resume", "relaunch", "background-deliver", "foreground-deliver"}:
            break
        time.sleep(0.05)
    else:
        return False
    apps = [set() for _ in "io"]
    for place, way in enumerate(["exit", "enter"]):
        answer = client.ask(op="do", phone="one", command={"step": {way: "office"}})
        apps[place] = {record["app"]["bundle"] for record in answer["decisions"] if record["app"]}
    return "com.example.fence" in apps[0] | apps[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--apps", default=str(HERE.parent.parent / ".build" / "apps"))
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.program, arguments.apps = os.path.abspath(arguments.program), os.path.abspath(arguments.apps)
    folder = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="wakebench-crash-"))
    folder.mkdir(exist_ok=True)
    try:
        sys.exit(play(arguments, folder))
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
