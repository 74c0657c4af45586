"""Kills a daemon at random points while it saves and loads snapshots of a phone, and counts what was lost or was not whole: see
Scripts/crash --snapshots."""

import argparse
import atexit
import collections
import os
import pathlib
import random
import select
import shutil
import statistics
import sys
import tempfile
import time

from daemon import Daemon

# Files beside the phone's own, so that a copy takes a while; each holds the number of the state that it belongs to.
FILES, SIZE = 60, 64 << 10
NAMES = ["a", "b"]
# Requests that are answered before the first kill, to learn how long one takes.
LEARNED = 4


def clock(number):
    """What the phone says when its clock stands at so many seconds: each state has its own number, and 0 is an erased one."""
    return f"T+{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000"


class Phone:
    """The folder of a phone that is shut down, and what must be in it."""

    def __init__(self, path):
        self.path = path
        self.number, self.snapshots = 0, {}

    def write(self, number):
        folder = self.path / "run" / "files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for each in range(FILES):
            (folder / str(each)).write_bytes(f"{number}\n".encode().ljust(SIZE, b"."))

    @staticmethod
    def read(folder):
        """The number of the state that a folder holds as a whole; None where it does not."""
        if not (folder / "run").exists():
            return 0
        numbers = set()
        for each in range(FILES):
            file = folder / "run" / "files" / str(each)
            if not file.exists() or file.stat().st_size != SIZE:
                return None
            numbers.add(int(file.read_bytes().split(b"\n")[0]))
        return numbers.pop() if len(numbers) == 1 and (folder / "run" / "journal.sqlite").exists() else None

    def leftovers(self):
        own = ["phone.json", "apps.ndjson", "run", "snapshots"]
        # The first two are written beside, and what a kill left there is written over.
        names = {each.name for each in self.path.iterdir()} - {*own, *(f"{name}.new" for name in own[:2])}
        kept = self.path / "snapshots"
        return names | ({each.name for each in kept.iterdir()} - set(NAMES) if kept.exists() else set())


class Play:
    def __init__(self, arguments, folder):
        self.seed = arguments.seed
        self.chance = random.Random(self.seed)
        self.daemon = Daemon(arguments.program, folder, None)
        self.phone = Phone(folder / "state" / "phones" / "one")
        self.last, self.spans, self.recoveries = 0, [], []
        self.wrong = collections.Counter()
        self.said = []
        self.counts = collections.Counter()

    def find(self, what, text):
        self.wrong[what] += 1
        self.said.append(f"{what}: {text}")

    def begin(self):
        self.daemon.start()
        # Whatever stops the script, its daemon does not outlive it.
        atexit.register(lambda: self.daemon.kill())
        self.client = self.daemon.connect()
        self.client.ask(op="create", phone="one", scenario=str(self.daemon.folder / "phone.yaml"), options=["--clock=virtual"])
        self.go_on()

    def go_on(self):
        """Boots the phone, sees that it is what it is to be, and brings it to a state that was never there."""
        if not self.asked(op="boot", phone="one"):
            return
        at = self.client.ask(op="apps", phone="one")["at"]
        if at != clock(self.phone.number):
            self.find("lost", f"the phone is at {at} in place of {clock(self.phone.number)}")
        self.last += 1
        self.client.ask(op="do", phone="one", command={"advance": self.last * 10**9})
        self.client.ask(op="shutdown", phone="one")
        self.phone.number = self.last
        self.phone.write(self.last)

    def asked(self, **request):
        self.client.send(request)
        answer = self.client.read()
        if not answer["ok"]:
            self.find("refused", f"{request}: {answer['error']['message']}")
        return answer["ok"]

    def request(self):
        """What is asked for, with the phone's number and the snapshots after it."""
        kept, number = dict(self.phone.snapshots), self.phone.number
        name = self.chance.choice(NAMES)
        kind = self.chance.random()
        if name not in kept or kind < 0.5:
            return {"op": "snapshot", "action": "save", "name": name}, number, kept | {name: number}
        if kind < 0.9:
            return {"op": "snapshot", "action": "load", "name": name}, kept[name], kept
        return {"op": "erase"}, 0, kept

    def kill_in(self, request, delay):
        """Whether it was answered before the kill."""
        self.client.send({**request, "phone": "one"})
        began = time.monotonic()
        answered = bool(select.select([self.client.socket], [], [], delay)[0])
        if answered:
            self.spans.append(time.monotonic() - began)
            answer = self.client.read()
            if not answer["ok"]:
                self.find("refused", f"{request}: {answer['error']['message']}")
        self.daemon.kill()
        self.client.socket.close()
        return answered

    def recover(self):
        # A tenth of the kills hits the recovery.
        while self.chance.random() < 0.1:
            self.daemon.start()
            time.sleep(self.chance.random() * 0.05)
            self.daemon.kill()
            self.counts["kills of recoveries"] += 1
        began = time.monotonic()
        self.daemon.start()
        self.client = self.daemon.connect()
        self.client.ask(op="snapshot", phone="one", action="list")
        self.recoveries.append(time.monotonic() - began)

    def one(self, delay):
        request, number, snapshots = self.request()
        answered = self.kill_in(request, delay)
        self.counts["answered" if answered else "cut off"] += 1
        self.recover()
        listed = self.client.ask(op="snapshot", phone="one", action="list")["snapshots"]
        # What was answered has happened; what was not may have.
        before = (self.phone.number, self.phone.snapshots)
        wanted = [(number, snapshots)] if answered else [before, (number, snapshots)]
        kept = {name: self.phone.read(self.phone.path / "snapshots" / name) for name in listed}
        found = (self.phone.read(self.phone.path), kept)
        if None in (found[0], *kept.values()):
            sys.exit(f"not whole after {request} of {before}, answered {answered}: {found}; seed {self.seed}")
        if found not in wanted:
            self.find("lost", f"{request} of {before}, answered {answered}: {found}")
        if not answered and found == before:
            self.counts["undone"] += 1
        if left := self.phone.leftovers():
            self.find("left over", f"{request}: {sorted(left)}")
        self.phone.number, self.phone.snapshots = found
        self.go_on()


def play(arguments, folder):
    (folder / "phone.yaml").write_text("scenario: kept\napps: []\n")
    run = Play(arguments, folder)
    run.begin()
    for _ in range(LEARNED):
        run.one(60)
    run.counts.clear()
    group = max(1, arguments.kills // 10)
    print(f"{'kills':>7}{'answered':>10}{'undone':>8}{'done':>7}{'recovery: median':>18}{'longest':>10}{'wrong':>7}")
    for kill in range(1, arguments.kills + 1):
        run.one(run.chance.random() * 1.1 * statistics.median(run.spans))
        if kill % group == 0:
            counts, times = run.counts, run.recoveries[-group:]
            print(
                f"{kill:>7}{counts['answered']:>10}{counts['undone']:>8}{counts['cut off'] - counts['undone']:>7}"
                f"{statistics.median(times) * 1000:>15.0f} ms{max(times) * 1000:>7.0f} ms{sum(run.wrong.values()):>7}",
                flush=True,
            )
    print(
        f"{run.counts['answered'] + run.counts['cut off']} kills and {run.counts['kills of recoveries']} of recoveries: "
        f"{run.wrong['lost']} times something was lost, {run.wrong['refused']} requests refused, "
        f"{run.wrong['left over']} times something left over; seed {arguments.seed}"
    )
    for line in run.said[:10]:
        print(line)
    return 1 if run.wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    folder = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="wakebench-crash-"))
    folder.mkdir(exist_ok=True)
    try:
        sys.exit(play(arguments, folder))
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
