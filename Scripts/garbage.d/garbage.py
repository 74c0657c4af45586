"""Says garbage to both doors of a daemon: see Scripts/garbage."""

import collections
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from control import Control
from page import LetIn, Page

HERE = pathlib.Path(__file__).parent
MOST_GROWTH = 200  # MB: what a few hundred careless clients at once may hold, and no more.
MOST_OPEN = 100  # Careless clients of a door at once: more than the page has places.
PATIENCE = 30  # Seconds that a good client waits for its answer.


class GoodClient(threading.Thread):
    """Comes again and again, and must be answered each time."""

    def __init__(self, door):
        super().__init__(daemon=True)
        self.door, self.over = door, threading.Event()
        self.count, self.slowest, self.failure = 0, 0.0, None

    def run(self):
        while not self.over.wait(0.02):
            began = time.monotonic()
            try:
                self.door.ask(PATIENCE, op="phones")
            except (OSError, ValueError) as error:
                self.failure = error
                return
            self.count += 1
            self.slowest = max(self.slowest, time.monotonic() - began)


class CarelessClients:
    """All of one door, some of whom stay."""

    def __init__(self, door):
        self.door, self.counts, self.open, self.clients = door, collections.Counter(), [], 0

    def say(self, chance):
        self.clients += 1
        self.open.append(self.door.say(chance, self.counts))
        if len(self.open) > MOST_OPEN:
            gone = self.open.pop(chance.randrange(len(self.open)))
            if chance.random() < 0.3:
                # The other end hears of a reset, not of an end.
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            gone.close()

    def leave(self):
        for client in self.open:
            client.close()


class Daemon:
    def __init__(self, program, folder):
        self.errors = folder / "errors"
        (folder / "belt.yaml").write_text((HERE.parent / "crash.d" / "quiet-belt.yaml").read_text())
        (folder / "phone.yaml").write_text(
            "scenario: garbage\ndevices: [{file: belt.yaml, name: belt}]\napps: [{scripted: com.acme.heart, name: heart, "
            "modes: [bluetooth-central, remote-notification], restore-identifier: c, push: {}, "
            "uses: [{device: belt, characteristic: 2A37}], on: [{event: any, work: 1s, then: end}]}]\n"
        )
        # What is freed is kept for a while, to be found when it is used; of that here less than the usual 256 MB.
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=32", SWIFT_BACKTRACE="enable=no")
        path = folder / "c.sock"
        command = [program, "serve", "--state", str(folder / "state"), "--socket", str(path), "--http"]
        self.process = subprocess.Popen(command, stderr=self.errors.open("wb"), env=environment)
        end = time.monotonic() + 2 * PATIENCE
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)\n", self.said)) or not path.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                sys.exit(f"no address of the page and no socket from the daemon within {2 * PATIENCE} s, but: {self.said}")
            time.sleep(0.05)
        self.doors = [Control(str(path)), Page(int(found.group(1)), found.group(2))]
        self.doors[0].ask(PATIENCE, op="create", phone="one", scenario=str(folder / "phone.yaml"))
        self.doors[0].ask(PATIENCE, op="boot", phone="one")

    @property
    def said(self):
        return self.errors.read_text(errors="replace")

    @property
    def is_gone(self):
        return self.process.poll() is not None

    def resident(self):
        """In MB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found.group(1)) / 1000 if found else 0


def play(daemon, seconds, chance):
    """Lets all of them speak, and returns what was wrong."""
    good = [GoodClient(door) for door in daemon.doors]
    careless = [CarelessClients(door) for door in daemon.doors]
    for client in good:
        client.start()
    wrong, warm, largest, now = [], 0, 0, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end and not (wrong or daemon.is_gone or any(client.failure for client in good)):
        for clients in careless:
            try:
                clients.say(chance)
            except LetIn as error:
                wrong.append(str(error))
            except OSError:
                clients.counts["not taken"] += 1
        now = daemon.resident()
        warm = warm if warm or time.monotonic() < end - seconds * 0.9 else now
        largest = max(largest, now)
    for client in good:
        client.over.set()
        client.join()
    for clients in careless:
        clients.leave()
        said = ", ".join(f"{count} {what}" for what, count in sorted(clients.counts.items()))
        print(f"{clients.door.name}: {clients.clients} careless clients in {seconds:.0f} s: {said}")
    for client in good:
        print(f"{client.door.name}: {client.count} good requests answered, the slowest after {client.slowest * 1000:.0f} ms")
    time.sleep(1)
    last = 0 if daemon.is_gone else daemon.resident()
    print(f"memory: {warm:.0f} MB after a tenth of the time, {largest:.0f} MB at most, {last:.0f} MB at the end")
    wrong += [f"the good client of the {client.door.name} was not answered: {client.failure}" for client in good if client.failure]
    if largest > warm + MOST_GROWTH:
        wrong.append("memory grew")
    return wrong


def main():
    program, seconds, seed = os.path.abspath(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="wakebench-garbage-") as name:
        daemon = Daemon(program, pathlib.Path(name))
        wrong = play(daemon, seconds, random.Random(seed))
        ended = daemon.is_gone
        daemon.process.terminate()
        if daemon.process.wait() != 0 or ended:
            wrong.append(f"the daemon ended with {daemon.process.returncode}")
        if "AddressSanitizer" in daemon.said or "Fatal error" in daemon.said:
            wrong.append(daemon.said[-3000:])
        if wrong:
            sys.exit("\n".join(wrong))


main()
