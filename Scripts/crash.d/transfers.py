"""Kills a bench, its app and the process that carries transfers at random points, and counts what was lost and what was given
twice: see Scripts/crash --transfers."""

import argparse
import atexit
import collections
import http.server
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
APP = "com.example.downloader"
# What was acknowledged that long before a kill is committed (s). The bench commits it at once; the rest is for a busy machine.
COMMITTED = 0.5
# For all transfers of a round, with the last of its kills (s).
ROUND_LIMIT = 300
VICTIMS = ["bench", "bench", "bench", "app", "app", "transfers"]


def body(number):
    return random.Random(number).randbytes(1_000 + number * 7)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        number = int(self.path.strip("/"))
        # Most are on their way for long enough to meet a kill.
        time.sleep(self.server.chance.random() * 2)
        content = body(number)
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1_024

    def handle_error(self, *_):
        pass


class Round:
    """One run with all its transfers, until the app has every file."""

    def __init__(self, arguments, folder, server, number):
        self.arguments, self.folder, self.out = arguments, folder, folder / f"out{number}"
        self.log = self.out / "apps" / f"{APP}.log"
        self.environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        self.environment["WAKEBENCH_APP_BASE_URL"] = f"http://127.0.0.1:{server.server_port}"
        self.environment["WAKEBENCH_APP_COUNT"] = str(arguments.files)
        self.errors = open(folder / "errors", "a")
        self.kills = []
        self.bench = None

    def start(self):
        command = [self.arguments.program, "run", str(self.folder / "downloader.yaml"), "--apps", str(self.folder / "apps")]
        command += ["--out", str(self.out), "--quiet"]
        self.bench = subprocess.Popen(command, stdout=self.errors, stderr=self.errors, env=self.environment)

    def kill_bench(self):
        self.bench.kill()
        self.bench.wait()
        self.kills.append(time.monotonic())

    def kill(self, victim):
        """Kills one of the three, where it is there."""
        if victim == "bench":
            self.kill_bench()
            self.start()
            return True
        if victim == "app":
            launches = re.findall(rb"^[\d.]+ (\d+) launch$", self.read(), re.MULTILINE)
            number = int(launches[-1]) if launches else 0
        else:
            number = int((text(self.out / "transfers" / "lock").split() or ["0"])[0])
        if number == 0:
            return False
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.kills.append(time.monotonic())
        return True

    def read(self):
        try:
            return self.log.read_bytes()
        except FileNotFoundError:
            return b""

    def taken(self):
        return len(set(re.findall(rb" finished (\d+) ", self.read())))

    def is_over(self):
        if self.bench.poll() is not None:
            sys.exit(f"the bench ended by itself with {self.bench.returncode}: {text(self.folder / 'errors')[-2000:]}")
        return self.taken() == self.arguments.files

    def finish(self):
        """Ends the run, and says what went wrong in it."""
        self.bench.send_signal(signal.SIGINT)
        self.bench.wait()
        count, wrong = self.arguments.files, []
        files = self.out / "apps" / APP / "files"
        for number in range(1, count + 1):
            place = files / str(number)
            if not place.exists() or place.read_bytes() != body(number):
                wrong.append(f"{number}: its file is not there, or another")
        finished, acknowledged, events = collections.defaultdict(list), {}, collections.Counter()
        for line in self.read().decode().splitlines():
            at, process, what, *rest = line.split()
            if what in ("failed", "nothing"):
                wrong.append(f"{rest[0]}: {what} {rest[1]}")
            elif what == "finished":
                finished[rest[0]].append(float(at))
            elif what == "acknowledged":
                acknowledged.setdefault(rest[0], float(at))
            elif what == "events":
                events[process] += 1
        for number, times in finished.items():
            for again in times[1:]:
                # Given again, though the acknowledgement before was long before a kill.
                kill = next((kill for kill in self.kills if kill > acknowledged.get(number, again)), again)
                if number in acknowledged and kill - acknowledged[number] > COMMITTED:
                    wrong.append(f"{number}: given again {again - acknowledged[number]:.3f} s after it was acknowledged")
        wrong += [f"process {process}: its session was announced {n} times" for process, n in events.items() if n > 1]
        left = list((self.out / "transfers").glob("*.body")) + list(files.parent.glob("Library/**/*.tmp"))
        wrong += [f"{place.name}: left behind" for place in left]
        again = sum(len(times) - 1 for times in finished.values())
        return again, wrong


def text(path):
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""


def scenario(folder):
    """The user looks at the app again and again: results of a process that died wait for the next."""
    steps = "".join(f"  - {{at: {at}ms, launch: downloader}}\n  - {{at: {at + 150}ms, home: downloader}}\n" for at in range(0, 3_600_000, 400))
    (folder / "downloader.yaml").write_text(
        "scenario: downloader\nbackends: {transfer: curl}\napps:\n  - {bundle: Downloader.app, name: downloader}\n"
        f"steps:\n{steps}until: 1h\n"
    )


def play(arguments, folder):
    chance = random.Random(arguments.seed)
    server = Server(("127.0.0.1", 0), Handler)
    server.chance = random.Random(arguments.seed)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    source = HERE / "downloader"
    bundle = [arguments.program, "app", "bundle", str(source / "main.py"), "--info", str(source / "Info.plist")]
    subprocess.run(bundle + ["--out", str(folder / "apps")], check=True, stdout=subprocess.DEVNULL)
    scenario(folder)
    kills, rounds, repeated, wrong, per = 0, 0, 0, [], collections.Counter()
    while kills < arguments.kills:
        rounds += 1
        this = Round(arguments, folder, server, rounds)
        this.start()
        atexit.register(this.bench.kill)
        until, limit = time.monotonic() + ROUND_LIMIT, min(arguments.kills - kills, arguments.per_round)
        done, victim = 0, None
        while not this.is_over():
            if time.monotonic() > until:
                sys.exit(f"round {rounds}: {this.taken()} of {arguments.files} after {ROUND_LIMIT} s; see {folder}")
            time.sleep(chance.random() * 0.3)
            # One that is not there is waited for: otherwise the bench would be nearly every victim.
            victim = victim or chance.choice(VICTIMS)
            if done < limit and this.kill(victim):
                done += 1
                per[victim] += 1
                # Some kills hit the recovery.
                if victim == "bench" and done < limit and chance.random() < 0.2:
                    time.sleep(chance.random() * 0.03)
                    this.kill("bench")
                    done += 1
                    per["bench"] += 1
                victim = None
        atexit.register(this.bench.kill)
        again, found = this.finish()
        kills, repeated = kills + done, repeated + again
        wrong += [f"round {rounds}: {line}" for line in found]
        print(f"round {rounds}: {done} kills, {arguments.files} transfers, {again} given again, {len(found)} wrong", flush=True)
        shutil.rmtree(this.out)
    victims = ", ".join(f"{per[name]} of the {name}" for name in sorted(per))
    print(
        f"{kills} kills ({victims}) in {rounds} round{'s' * (rounds != 1)} of {arguments.files} transfers: {len(wrong)} lost, wrong or twice; "
        f"{repeated} given again that no bench had written down as taken"
    )
    for line in wrong[:20]:
        print(line)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--per-round", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wakebench-crash-"))
    status = play(arguments, folder)
    if status == 0:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print(f"its folder stays: {folder}")
    sys.exit(status)


main()
