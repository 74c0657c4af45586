"""Runs the steps of Scripts/test, several at a time, and says what each took: run.py PART."""
import collections
import fcntl
import os
import pathlib
import queue
import re
import shutil
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
# Seconds that a step that is told to end has for ending what it began.
GRACE = 8


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Outcome:
    """What came of a step: its exit code, its seconds of wall time and of processor time. The code is None where it was left out,
    and negative where a signal ended it."""

    def __init__(self, step, code, wall=0.0, processor=0.0, why="", needs=None):
        self.step, self.code, self.wall, self.processor, self.why = step, code, wall, processor, why
        # The step that failed, so that this one was not run.
        self.needs = needs

    @property
    def word(self):
        if self.why:
            return self.why
        if self.code == 0:
            return "ok"
        # A shell says 128 and more for the signal that ended what it ran.
        number = -self.code if self.code < 0 else self.code - 128
        return f"killed by {signal.Signals(number).name}" if number in set(signal.Signals) else f"failed with {self.code}"


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
        assert not self.waiting, f"never begun: {', '.join(step.name for step in self.waiting)}"
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
                self.settle(step, 1, f"not run: {failed} failed", needs=failed)
            elif absent := next((outcome.step.name for outcome in before if outcome.code is None), None):
                self.settle(step, None, f"left out, as {absent} is")
            elif self.is_ready(step) and step.unless and (why := step.unless()):
                self.settle(step, None, f"left out: {why}")
                self.say(f"{step.name}: left out: {why}")

    def settle(self, step, code, why, needs=None):
        self.waiting.remove(step)
        self.outcomes[step.name] = Outcome(step, code, why=why, needs=needs)

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
        watches = [
            threading.Timer(step.limit, lambda: (overdue.set(), kill(process, signal.SIGTERM))),
            threading.Timer(step.limit + GRACE, lambda: kill(process, signal.SIGKILL)),
        ]
        for watch in watches:
            watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        for watch in watches:
            watch.cancel()
        # Its first process may have been told to end before those that it began, whose traps end others in turn.
        if overdue.is_set() or self.is_stopped:
            wait_for_group(process, GRACE)
        # Without what it may have left running.
        kill(process, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(status)
        why = f"killed: it had not ended after {step.limit} s" if overdue.is_set() else ""
        code = process.returncode or int(overdue.is_set())
        processor = usage.ru_utime + usage.ru_stime
        self.ended.put(Outcome(step, code, time.monotonic() - began, processor, why))

    def stop(self, number, frame):
        if self.is_stopped:
            return
        self.end()
        print(f"stopped; the logs are in {self.folder}", file=sys.stderr)
        os._exit(128 + number)

    def end(self):
        """Ends what is running."""
        self.is_stopped = True
        for process in self.running.values():
            kill(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE + 2
        while self.running and time.monotonic() < deadline:
            try:
                self.running.pop(self.ended.get(timeout=0.1).step, None)
            except queue.Empty:
                continue
        for process in self.running.values():
            kill(process, signal.SIGKILL)


def kill(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def wait_for_group(process, seconds):
    """Until no process of the step's group is left; nothing but asking again tells that."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)


def table(outcomes, wall):
    print(f"\n{'STEP':<28} {'RESULT':<18} {'WALL':>6} {'PROCESSOR':>10}")
    for outcome in outcomes:
        if outcome.wall:
            print(f"{outcome.step.name:<28} {outcome.word:<18} {clock(outcome.wall):>6} {clock(outcome.processor):>10}")
    print(f"{'all':<28} {'':<18} {clock(wall):>6} {clock(sum(outcome.processor for outcome in outcomes)):>10}")
    for outcome in outcomes:
        if outcome.code is None:
            print(f"{outcome.step.name}: {outcome.word}")


def failures(outcomes, folder):
    """What failed is said once more at the end: in an output this long nobody finds it elsewhere."""
    failed = [outcome for outcome in outcomes if outcome.code not in (0, None) and not outcome.needs]
    for outcome in failed:
        log = folder / f"{outcome.step.file}.log"
        print(f"\n== {outcome.step.name}: {outcome.word} ({log.relative_to(ROOT)}) ==")
        found, last = read_log(log)
        for line in found:
            print(line)
        if found:
            print("...")
        for line in last:
            print(line)
    return failed


def read_log(log):
    """The lines of a log that tell of trouble, as many as are printed, and its last lines, of whatever length it is."""
    found, last = [], collections.deque(maxlen=TAIL)
    with open(log, errors="replace") as lines:
        for line in lines:
            if len(last) == TAIL and len(found) < TAIL and TROUBLE.search(last[0]):
                found.append(last[0])
            last.append(line.rstrip("\n")[:500])
    return found, last


def not_run(outcomes):
    """One line for each step that failed, of those that need it."""
    needing = {}
    for outcome in outcomes:
        if outcome.needs:
            needing.setdefault(outcome.needs, []).append(outcome.step.name)
    return [f"not run, as '{name}' failed: {', '.join(steps)}" for name, steps in needing.items()]


def open_folder(part):
    """The logs' folder, emptied. Parts share what they build and write, so that a checkout has one run at a time; a test that runs
    a part has a folder of its own, and no turn to wait for."""
    outer = os.environ.get("WAKEBENCH_PART")
    folder = ROOT / ".build/test" / (f"{part}-in-{outer}" if outer else part)
    folder.parent.mkdir(parents=True, exist_ok=True)
    turn = None
    if not outer:
        turn = open(folder.parent / "turn", "w")
        try:
            fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("Scripts/test: another run goes on in this checkout; wait for its end, or stop it")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder, turn


def main():
    # What a step says is printed wherever this is run.
    sys.stdout.reconfigure(errors="replace")
    part = sys.argv[1]
    folder, turn = open_folder(part)
    os.environ.update(steps.environment(part))
    runner = Runner(steps.chosen(part), folder)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, runner.stop)
    try:
        outcomes = runner.run()
    finally:
        runner.end()
    wall = time.monotonic() - runner.began
    streams = [outcome.step.events for outcome in outcomes if outcome.step.events and outcome.code == 0]
    tests = results.read(folder, streams)
    if tests.count:
        results.slowest(tests)
    table(outcomes, wall)
    failed = failures(outcomes, folder)
    wrong = (results.skipped(tests, part) if tests.count else []) + tests.cut_off
    ends = wrong + [f"failed: {name}" for name in sorted(tests.failures)] + not_run(outcomes)
    for line in ends + [f"failed: {outcome.step.name}" for outcome in failed]:
        print(line)
    if tests.count:
        print(f"\n{tests.passed} passed, {tests.failed} failed, {len(tests.skipped)} skipped")
    if failed or wrong or tests.failed:
        sys.exit(1)
    print(f"all passed in {clock(wall)}")


if __name__ == "__main__":
    main()
