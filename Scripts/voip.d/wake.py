"""From bytes on their way to the first line of the app: a suspended app that the bench wakes, beside a process that
systemd-socket-activate launches, in turns. Usage: wake.py WAKEBENCH FOLDER [SAMPLES]; the folder holds the app's bundle."""

import os
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from suspended import wait_until_suspended

wakebench, folder = sys.argv[1], sys.argv[2]
samples = int(sys.argv[3]) if len(sys.argv) > 3 else 100
app = f"{folder}/VoIPBenchmarkApp.app/VoIPBenchmarkApp"


def exactly(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise SystemExit("the other end is gone")
        data += more
    return data


def free_port():
    with socket.socket() as finder:
        finder.bind(("127.0.0.1", 0))
        return finder.getsockname()[1]


listener = socket.socket()
listener.settimeout(60)
listener.bind(("127.0.0.1", 0))
listener.listen()
scenario = f"{folder}/wake.yaml"
with open(scenario, "w") as file:
    file.write(
        "scenario: voip-wake\nvoip: {wakeLimit: off, legacy: on}\nbackends: {voip: socket}\n"
        "apps: [{bundle: VoIPBenchmarkApp.app, name: app}]\n"
        "steps: [{at: 0, launch: app}, {at: 1s, home: app}]\nuntil: 1h\n"
    )
environment = dict(os.environ, WAKEBENCH_APP_VOIP_SERVER=f"127.0.0.1:{listener.getsockname()[1]}")
bench = subprocess.Popen(
    [wakebench, "run", scenario, "--apps", folder, "--out", f"{folder}/run", "--quiet"],
    env=environment,
    stdout=subprocess.DEVNULL,
)
port = free_port()
activator = subprocess.Popen(
    ["systemd-socket-activate", "--accept", "--inetd", "-l", f"127.0.0.1:{port}", app, "activated"],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
try:
    try:
        connection, _ = listener.accept()
    except TimeoutError:
        raise SystemExit(f"no connection of the app within 60 s; the bench ended with {bench.poll()}") from None
    connection.settimeout(60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    (pid,) = struct.unpack("<q", exactly(connection, 8))

    def wake():
        wait_until_suspended(pid)
        # The bench hears of the freeze after the kernel's file says so.
        time.sleep(0.02)
        began = time.monotonic_ns()
        connection.send(b"INVITE\r\n")
        (heard,) = struct.unpack("<q", exactly(connection, 8))
        return heard - began

    def launch():
        with socket.create_connection(("127.0.0.1", port), 60) as once:
            began = time.monotonic_ns()
            once.send(b"INVITE\r\n")
            (heard,) = struct.unpack("<q", exactly(once, 8))
            return heard - began

    end = time.monotonic() + 60
    while True:
        try:
            launch()
            break
        except (OSError, SystemExit) as error:
            if time.monotonic() > end:
                raise SystemExit(f"systemd-socket-activate launched nothing within 60 s: {error}") from None
            time.sleep(0.02)
    rows = {"wakebench wakes a suspended app": [], "systemd-socket-activate launches a process": []}
    for turn in range(samples + 5):
        for row, take in zip(rows.values(), (wake, launch)):
            row.append(take())
finally:
    bench.terminate()
    activator.terminate()
    bench.wait()
    activator.wait()

print(f"voip: from the peer's send to the app's first line; {samples} samples each, in turns")
medians = []
for name, row in rows.items():
    row = sorted(row[5:])
    medians.append(row[len(row) // 2])
    print(f"  {name:44} p50 {row[len(row) // 2] / 1000:9.1f} us   p99 {row[len(row) * 99 // 100] / 1000:9.1f} us")
print(f"  ratio p50: {medians[0] / medians[1]:.2f}")
