"""Kills a bench at random points of one run, and counts what was lost and what was decided twice: see Scripts/crash."""

import argparse
import json
import os
import pathlib
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

INPUTS_AN_HOUR = 4_900
# A journal up to 16 MiB keeps all of its run's inputs; its log is moved into it at 32 MiB (SQLiteJournal.Settings).
JOURNAL_LIMIT = (16 + 4 + 32 + 4) << 20
HERE = pathlib.Path(__file__).parent


class Run:
    """One run in a folder of its own, played by one bench after the other."""

    def __init__(self, arguments, folder):
        self.folder = folder
        self.out = folder / "out"
        for name in ["belt.yaml", "crashes.yaml"]:
            text = (HERE / name).read_text()
            hours = max(1, round(arguments.inputs / INPUTS_AN_HOUR))
            (folder / name).write_text(text.replace("until: 1h", f"until: {hours}h"))
        self.command = [arguments.program, "run", str(folder / "crashes.yaml"), "--out", str(self.out)]
        self.command += ["--seed", str(arguments.seed), "--quiet"]
        self.program = arguments.program

    def start(self):
        errors = open(self.folder / "errors", "w")
        return subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=errors)

    def errors(self):
        return (self.folder / "errors").read_text().strip()

    def size(self, *suffixes):
        """Bytes of the journal's files."""
        sizes = [self.out / ("journal.sqlite" + suffix) for suffix in suffixes]
        return sum(path.stat().st_size for path in sizes if path.exists())

    def written(self):
        """What changes with each commit: the log is written from its beginning again after a checkpoint."""
        path = self.out / "journal.sqlite-wal"
        status = path.stat() if path.exists() else None
        return (status.st_size, status.st_mtime_ns) if status else None

    def look(self, after):
        """The last input that is committed, and the events of those after an input."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for suffix in ["", "-wal"]:
            path = self.out / ("journal.sqlite" + suffix)
            if path.exists():
                shutil.copy(path, copy)
        if not (copy / "journal.sqlite").exists():
            return 0, []
        journal = sqlite3.connect(copy / "journal.sqlite")
        rows = journal.execute("SELECT seq, event FROM inputs WHERE seq > ? ORDER BY seq", (after,)).fetchall()
        last = journal.execute("SELECT coalesce(max(seq), 0) FROM inputs").fetchone()[0]
        journal.close()
        missing = last - after - len(rows)
        if missing > 0:
            sys.exit(f"{missing} inputs between {after} and {last} were rotated away before they were counted")
        return last, [event for _, event in rows if event]


def kill_at_random(run, bench, chance, span):
    """Kills a bench; the seconds from its start to its first commit, nil when it was killed before."""
    began = time.monotonic()
    before = run.written()
    # A quarter of the kills hits the start and the recovery.
    early = began + chance.random() * 0.1 if chance.random() < 0.25 else None
    while bench.poll() is None and run.written() == before:
        if early and time.monotonic() >= early:
            bench.kill()
            bench.wait()
            return None
        time.sleep(0.0005)
    recovered = time.monotonic() - began
    time.sleep(chance.random() * 2 * span)
    bench.kill()
    bench.wait()
    return recovered


def examine(run, accepted):
    """How many accepted events have no final verdict of their app, and how many have more than one."""
    reader = subprocess.Popen([run.program, "log", str(run.out)], stdout=subprocess.PIPE)
    gaps = count = 0
    final, by_decision = {}, {}
    decided = set()
    for line in reader.stdout:
        record = json.loads(line)
        if "seq" not in record:
            continue
        count += 1
        if record["seq"] != count:
            gaps += 1
        event = record["event"]["id"]
        decided.add(int(event[2:]) if event else 0)
        key = (event, (record["app"] or {}).get("bundle"))
        by_decision[record["id"]] = key
        final[key] = final.get(key, 0) + 1
        if record["supersedes"]:
            final[by_decision.pop(record["supersedes"])] -= 1
    if reader.wait() != 0:
        sys.exit("wakebench log failed")
    return {
        "decisions": count,
        "gaps": gaps,
        "lost": len(accepted - decided),
        "twice": sum(1 for key, number in final.items() if number > 1 and key[0]),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=500)
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


def play(arguments, folder):
    chance = random.Random(arguments.seed)
    run = Run(arguments, folder)
    last, accepted, kills, backward = 0, set(), 0, 0
    recoveries, sizes = [], []
    group = max(1, arguments.kills // 10)
    # The mean seconds between a recovery and the kill, so that the kills are spread over the whole run.
    span, played = 0.2, 0.0
    print(f"{'kills':>7}{'inputs':>10}{'recovery: median':>18}{'longest':>10}{'journal: largest':>18}")
    while kills < arguments.kills:
        bench = run.start()
        recovered = kill_at_random(run, bench, chance, span)
        if bench.returncode != -9:
            print(f"the run was over after {kills} kills: {run.errors()}")
            break
        kills += 1
        if recovered is not None and last > 0:
            recoveries.append(recovered)
        sizes.append(run.size("", "-wal"))
        before = last
        last, events = run.look(after=last)
        backward += last < before
        accepted.update(events)
        played += span
        pace = max(1_000, last) / played
        span = max(0.0005, (arguments.inputs - last) / max(1, arguments.kills - kills) / pace)
        if kills % group == 0:
            times, largest = recoveries[-group:], max(sizes[-group:])
            middle = statistics.median(times) * 1_000
            print(
                f"{kills:>7}{last:>10}{middle:>15.0f} ms{max(times) * 1_000:>7.0f} ms{largest / 2**20:>14.1f} MiB",
                flush=True,
            )
    bench = run.start()
    if bench.wait() != 0 and "that run is over" not in run.errors():
        print(f"the run did not come to its end: {run.errors()}")
        return 1
    last, events = run.look(after=last)
    accepted.update(events)
    found = examine(run, accepted)
    print(
        f"{kills} kills, {last} inputs, {len(accepted)} events, {found['decisions']} decisions: {found['lost']} lost, "
        f"{found['twice']} twice, {found['gaps']} gaps, {backward} times committed inputs went back; "
        f"journal at the end {run.size('') / 2**20:.1f} MiB"
    )
    half = len(recoveries) // 2
    early, late = statistics.median(recoveries[half // 2 : half]), statistics.median(recoveries[half:])
    print(f"recovery: median {early * 1_000:.0f} ms in the first half, {late * 1_000:.0f} ms in the second")
    grows = late > early * 1.5 + 0.05 or max(sizes) > JOURNAL_LIMIT
    if grows:
        print("recovery time or journal size grow with the run")
    wrong = found["lost"] + found["twice"] + found["gaps"] + backward
    return 1 if wrong or grows else 0


main()
