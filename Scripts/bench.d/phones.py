"""100 phones with 1 000 apps in one daemon: its memory, what it costs at rest, and what a wake takes, beside one phone in the
same run: see Scripts/bench phones."""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

# A wake is over after this, so that the app is suspended again soon.
WINDOW = "200ms"
PATIENCE = 60
BELT = """device: bluetooth-peripheral
address: "F0:11:22:33:60:01"
advertising: {interval: 100ms, services: [180D]}
gatt:
  - service: 180D
    characteristics: [{uuid: 2A37, properties: [notify]}]
"""
PHONE = """scenario: rack
devices: [{file: belt.yaml, name: belt}, {file: other.yaml, name: other}]
apps:
  - bundle: HeartRate.app
    name: heart
  - scripted: com.example.fence
    name: fence
    count: 5
    location:
      authorization: always
      regions: [{identifier: office, latitude: 52.5, longitude: 13.4, radius: 150m}]
  - scripted: com.example.listener
    name: listener
    count: 4
    modes: [bluetooth-central, remote-notification]
    restore-identifier: central
    push: {}
    uses: [{device: other, characteristic: 2A37}]
    on: [{event: any, work: 1ms, then: end}]
steps:
  - {at: 0, launch: [fence, listener]}
  - {at: 200ms, home: listener}
"""


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")

    def ask(self, **request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(self.lines.readline())
        if not answer["ok"]:
            sys.exit(f"{request}: {answer['error']['message']}")
        return answer

    def step(self, phone, **step):
        return self.ask(op="do", phone=phone, command={"step": step})


def connect(daemon, path):
    """A connection to a daemon that comes up."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return Client(path)
        except OSError as error:
            if daemon.poll() is not None or time.monotonic() > end:
                sys.exit(f"no daemon at {path}: {error}; its process ended with {daemon.poll()}")
        time.sleep(0.01)


def memory(pid):
    """Resident and proportional set, in MB."""
    found = {}
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        words = line.split()
        if words[0] in ("Rss:", "Pss:"):
            found[words[0][:-1]] = int(words[1]) / 1000
    return found["Rss"], found["Pss"]


def processor(pid):
    """Milliseconds of a processor that were used; the kernel counts in nanoseconds."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e6


def launch(client, phone):
    """The real app runs, is connected to the belt, and has been left."""
    client.step(phone, launch="heart")
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        answer = client.step(phone, notify="belt", characteristic="2A37", value="0048")
        if any(record["app"] and record["app"]["bundle"] == "com.example.heartrate" for record in answer["decisions"]):
            break
        time.sleep(0.05)
    else:
        apps = client.ask(op="apps", phone=phone)["apps"]
        sys.exit(f"the app of {phone} does not hear its belt: {apps[0]}, {answer}")
    client.step(phone, home="heart")


def wakes(client, phone, samples):
    """Milliseconds from a command to its answer: the suspended process was resumed, told, and has answered."""
    times = []
    for number in range(samples):
        client.ask(op="wait", phone=phone, app="heart", state="suspended", timeout=PATIENCE)
        began = time.perf_counter()
        answer = client.step(phone, notify="belt", characteristic="2A37", value=f"00{number % 200:02x}")
        took = time.perf_counter() - began
        if not any(r["verdict"] == "resume" and r["app"]["bundle"] == "com.example.heartrate" for r in answer["decisions"]):
            sys.exit(f"{phone}: no resume but {[r['verdict'] for r in answer['decisions']]}")
        times.append(took * 1000)
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--apps", required=True)
    parser.add_argument("--phones", type=int, default=100)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--rest", type=float, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wakebench-phones-") as name:
        measure(arguments, pathlib.Path(name))


def measure(arguments, folder):
    (folder / "belt.yaml").write_text(BELT)
    # The real app looks for belts by the service that they advertise, and by that of the ones that are connected; it is to find
    # this one by neither.
    (folder / "other.yaml").write_text(BELT.replace("60:01", "60:02").replace("180D", "180F"))
    (folder / "phone.yaml").write_text(PHONE)
    path = folder / "c.sock"
    command = [arguments.program, "serve", "--state", str(folder / "state"), "--socket", str(path)]
    daemon = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        client = connect(daemon, path)
        options = [f"--apps={os.path.abspath(arguments.apps)}", f"--set=bluetoothWindow={WINDOW}"]
        names = [f"phone-{number}" for number in range(1, arguments.phones + 1)]
        for name in names:
            client.ask(op="create", phone=name, scenario=str(folder / "phone.yaml"), options=options)
        client.ask(op="boot", phone=names[0])
        launch(client, names[0])
        alone = wakes(client, names[0], arguments.samples)
        one = memory(daemon.pid)
        began = time.perf_counter()
        for name in names[1:]:
            client.ask(op="boot", phone=name)
        booted = time.perf_counter() - began
        launch(client, names[-1])
        apps = sum(phone["apps"] for phone in client.ask(op="phones")["phones"])
        among = wakes(client, names[0], arguments.samples // 2) + wakes(client, names[-1], arguments.samples // 2)
        all_ = memory(daemon.pid)
        print(f"{arguments.phones} phones with {apps} apps booted in {booted:.1f} s")
        print(f"memory of the daemon: {all_[0]:.0f} MB resident ({all_[1]:.0f} MB proportional), {one[0]:.0f} MB with one phone")
        for name in (names[0], names[-1]):
            client.ask(op="wait", phone=name, app="heart", state="suspended", timeout=PATIENCE)
        time.sleep(1)
        before = processor(daemon.pid)
        time.sleep(arguments.rest)
        print(f"at rest for {arguments.rest:.0f} s: {processor(daemon.pid) - before:.1f} ms of a processor")
        first, second = statistics.median(alone), statistics.median(among)
        print(f"a wake: median {first:.2f} ms with one phone, {second:.2f} ms with {arguments.phones}: {second / first:.2f} times")
    finally:
        daemon.terminate()
        daemon.wait()


if __name__ == "__main__":
    main()
