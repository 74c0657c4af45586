"""Runs the steps of Scripts/test, several at a time, and says what each took: run.py PART."""
import fcntl
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time

import results
import steps

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of a step that failed, so many of its last lines are printed again.
TAIL = 30
# What a log says where something failed: Swift Testing's, the compiler's, a scenario's, and those of the scripts.
TROUBLE = re.compile(r"^✘ .*(recorded an issue|failed)|Fatal error|signal code|error: |warning: |^FAILED|NOT MET|^E  +\S|SURVIVED")
# So often a line says what is still running.
HEARTBEAT = 60


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Outcome:
    """What came of a step: its exit code, its seconds of wall time and of processor time. The code is None where it was left out."""

    def __init__(self, step, code, wall=0.0, processor=0.0, why=""):
        self.step, self.code, self.wall, self.processor, self.why = step, code, wall, processor, why

    @property
    def word(self):
        if self.why:
            return self.why
        return "ok" if self.code == 0 else "failed"


class Runner:
    """Begins each step when what it needs has ended well and processors are free, in the order of the table."""

    def __init__(self, chosen, folder):
        self.waiting, self.folder = list(chosen), folder
        self.running = {}
        self.outcomes = {}
        self.ended = queue.Queue()
        self.began = time.monotonic()
        self.free = float(os.cpu_count())
        self.is_stopped = False

    def say(self, text):
        print(f"{clock(time.monotonic() - self.began):>6}  {text}", flush=True)

    def cost(self, step):
        """In processors; a step that wants more than there are wants all."""
        return min(step.processors, float(os.cpu_count()))

    def run(self):
        while self.waiting or self.running:
            self.leave_out()
            self.begin_what_can()
            if not self.running:
                break
            try:
                outcome = self.ended.get(timeout=HEARTBEAT)
            except queue.Empty:
                self.say(f"running: {', '.join(step.name for step in self.running)}")
                continue
            self.free += self.cost(outcome.step)
            del self.running[outcome.step]
            self.note(outcome)
        return [self.outcomes[step.name] for step in self.order]

    def note(self, outcome):
        self.outcomes[outcome.step.name] = outcome
        times = f"{clock(outcome.wall)}, {clock(outcome.processor)} of a processor"
        self.say(f"{outcome.step.name}: {outcome.word} after {times}")

    @property
    def order(self):
        return sorted((outcome.step for outcome in self.outcomes.values()), key=steps.STEPS.index)

    def leave_out(self):
        """What needs a step that failed is not begun, and what this machine or this commit need not run neither."""
        for step in list(self.waiting):
            before = [self.outcomes[name] for name in step.after if name in self.outcomes]
            failed = next((outcome.step.name for outcome in before if outcome.code not in (0, None)), None)
            if failed:
                self.settle(step, 1, f"not run: {failed} failed")
            elif absent := next((outcome.step.name for outcome in before if outcome.code is None), None):
                self.settle(step, None, f"left out, as {absent} is")
            elif self.is_ready(step) and step.unless and (why := step.unless()):
                self.settle(step, None, f"left out: {why}")
                self.say(f"{step.name}: left out: {why}")

    def settle(self, step, code, why):
        self.waiting.remove(step)
        self.outcomes[step.name] = Outcome(step, code, why=why)

    def is_ready(self, step):
        # A step of another part is not waited for: what it makes is expected to be there.
        return not any(other.name in step.after for other in self.waiting + list(self.running))

    def begin_what_can(self):
        for step in list(self.waiting):
            if not self.is_ready(step) or self.cost(step) > self.free + 0.001 or self.is_full(step.queue):
                continue
            self.waiting.remove(step)
            self.free -= self.cost(step)
            self.begin(step)

    def is_full(self, queue):
        return queue is not None and sum(step.queue == queue for step in self.running) >= 3

    def begin(self, step):
        self.say(f"{step.name}: begins")
        log = open(self.folder / f"{step.file}.log", "wb")
        process = subprocess.Popen(
            ["/bin/bash", "-c", step.command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | step.environment,
            start_new_session=True,
        )
        log.close()
        self.running[step] = process
        threading.Thread(target=self.wait, args=(step, process, time.monotonic()), daemon=True).start()

    def wait(self, step, process, began):
        overdue = threading.Event()
        watch = threading.Timer(step.limit, lambda: (overdue.set(), kill(process, signal.SIGKILL)))
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        watch.cancel()
        # Without what it may have left running.
        kill(process, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(status)
        why = f"killed: it had not ended after {step.limit} s" if overdue.is_set() else ""
        processor = usage.ru_utime + usage.ru_stime
        self.ended.put(Outcome(step, process.returncode, time.monotonic() - began, processor, why))

    def stop(self, number, frame):
        if self.is_stopped:
            return
        self.is_stopped = True
        for process in self.running.values():
            kill(process, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while self.running and time.monotonic() < deadline:
            try:
                del self.running[self.ended.get(timeout=0.1).step]
            except queue.Empty:
                continue
        for process in self.running.values():
            kill(process, signal.SIGKILL)
        print(f"stopped; the logs are in {self.folder}", file=sys.stderr)
        os._exit(128 + number)


def kill(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def table(outcomes, wall):
    print(f"\n{'STEP':<32} {'RESULT':<10} {'WALL':>6} {'PROCESSOR':>10}")
    for outcome in outcomes:
        if outcome.wall:
            print(f"{outcome.step.name:<32} {outcome.word:<10} {clock(outcome.wall):>6} {clock(outcome.processor):>10}")
    print(f"{'all':<32} {'':<10} {clock(wall):>6} {clock(sum(outcome.processor for outcome in outcomes)):>10}")
    for outcome in outcomes:
        if not outcome.wall:
            print(f"{outcome.step.name}: {outcome.word}")


def failures(outcomes, folder):
    """What failed is said once more at the end: in an output this long nobody finds it elsewhere."""
    failed = [outcome for outcome in outcomes if outcome.code not in (0, None)]
    for outcome in failed:
        log = folder / f"{outcome.step.file}.log"
        print(f"\n== {outcome.step.name}: {outcome.word} ({log.relative_to(ROOT)}) ==")
        if not log.exists():
            continue
        lines = log.read_text(errors="replace").splitlines()
        found = [line for line in lines[:-TAIL] if TROUBLE.search(line)]
        for line in found[:TAIL]:
            print(line[:500])
        if found:
            print("...")
        for line in lines[-TAIL:]:
            print(line[:500])
    return failed


def open_folder(part):
    """The logs' folder, emptied; a test that runs another part has another one."""
    folder = ROOT / ".build/test" / part
    folder.mkdir(parents=True, exist_ok=True)
    turn = open(folder.with_suffix(".turn"), "w")
    try:
        fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"Scripts/test: another run of part '{part}' goes on in this checkout; wait for its end, or stop it")
    for old in folder.iterdir():
        old.unlink()
    return folder, turn


def main():
    part = sys.argv[1]
    folder, turn = open_folder(part)
    os.environ.update(steps.environment(part))
    runner = Runner(steps.chosen(part), folder)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, runner.stop)
    outcomes = runner.run()
    wall = time.monotonic() - runner.began
    tests = results.read(folder)
    if tests.count:
        results.slowest(tests)
    table(outcomes, wall)
    failed = failures(outcomes, folder)
    wrong = results.skipped(tests, part) if tests.count else []
    for line in wrong:
        print(line)
    for outcome in failed:
        print(f"failed: {outcome.step.name}")
    if tests.count:
        print(f"\n{tests.passed} passed, {tests.failed} failed, {len(tests.skipped)} skipped")
    turn.close()
    if failed or wrong:
        sys.exit(1)
    print(f"all passed in {clock(wall)}")


if __name__ == "__main__":
    main()
