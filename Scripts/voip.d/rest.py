"""What watched sockets cost at rest: ten apps with a thousand marked sockets each, whose peers are other processes; the
bench's own processor time over a minute. Usage: rest.py WAKEBENCH FOLDER [SOCKETS] [SECONDS]"""

import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from suspended import wait_until_suspended

wakebench, folder = sys.argv[1], os.path.abspath(sys.argv[2])
sockets = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 60
apps = 10
each = sockets // apps

APP = """#!/usr/bin/python3
import array, json, os, socket
bench = socket.socket(fileno=int(os.environ.pop("WAKEBENCH_SOCKET")))
def say(message, *descriptors):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    bench.sendmsg([json.dumps(message).encode()], rights)
say({"type": "hello", "version": 1, "client": "python", "pid": os.getpid()})
bench.recv(65536)
lines = []
granted = 0
for number in range(1, EACH + 1):
    line = socket.create_connection(("127.0.0.1", PORT))
    lines.append(line)
    say({"type": "voip.watch", "id": number, "socket": number}, line.fileno())
    granted += json.loads(bench.recv(65536)).get("granted") is True
print(os.getpid(), granted, flush=True)
say({"type": "launched"})
while True:
    packet = bench.recv(65536)
    if not packet:
        break
    message = json.loads(packet)
    if "delivery" in message:
        say({"type": "ack", "delivery": message["delivery"]})
"""

PLIST = """<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>CFBundleIdentifier</key><string>com.example.rest{number}</string>
<key>CFBundleExecutable</key><string>program</string>
<key>DTSDKName</key><string>iphoneos9.3</string>
<key>UIBackgroundModes</key><array><string>voip</string></array>
</dict></plist>
"""


def peer():
    """A process that takes connections and keeps them, and its port."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(each)
    pid = os.fork()
    if pid:
        port = listener.getsockname()[1]
        listener.close()
        return pid, port
    kept = []
    while True:
        kept.append(listener.accept())


def ticks(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


peers = [peer() for _ in range(apps)]
steps = []
entries = []
for number in range(apps):
    bundle = f"{folder}/Rest{number}.app"
    os.makedirs(bundle, exist_ok=True)
    with open(f"{bundle}/program", "w") as file:
        file.write(APP.replace("PORT", str(peers[number][1])).replace("EACH", str(each)))
    os.chmod(f"{bundle}/program", 0o755)
    with open(f"{bundle}/Info.plist", "w") as file:
        file.write(PLIST.format(number=number))
    entries.append(f"  - {{bundle: Rest{number}.app, name: rest{number}}}")
    steps.append(f"  - {{at: {number * 2}s, launch: rest{number}}}")
steps.append(f"  - {{at: {apps * 2 + 4}s, home: rest{apps - 1}}}")
scenario = f"{folder}/rest.yaml"
with open(scenario, "w") as file:
    file.write("scenario: rest\nbackends: {voip: socket}\napps:\n" + "\n".join(entries))
    file.write("\nsteps:\n" + "\n".join(steps) + "\nuntil: 1h\n")
bench = subprocess.Popen(
    [wakebench, "run", scenario, "--apps", folder, "--out", f"{folder}/rest", "--quiet"],
    stdout=subprocess.DEVNULL,
)
try:
    granted = 0
    for number in range(apps):
        log = f"{folder}/rest/apps/com.example.rest{number}.log"
        end = time.monotonic() + 120
        words = []
        while len(words) < 2:
            if bench.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"app {number} did not come up, but {words}; the bench ended with {bench.poll()}; see {log}")
            time.sleep(0.05)
            if os.path.exists(log):
                with open(log) as file:
                    words = file.read().split()
        granted += int(words[1])
        if number < apps - 1:
            continue
        pids = []
        for other in range(apps):
            with open(f"{folder}/rest/apps/com.example.rest{other}.log") as file:
                pids.append(int(file.read().split()[0]))
        for pid in pids:
            wait_until_suspended(pid)
    # What follows the last suspension is over.
    time.sleep(2)
    held = sum(
        os.readlink(f"/proc/{bench.pid}/fd/{name}").startswith("socket:")
        for name in os.listdir(f"/proc/{bench.pid}/fd")
    )
    before = ticks(bench.pid)
    time.sleep(seconds)
    spent = ticks(bench.pid) - before
finally:
    bench.terminate()
    bench.wait()
    for pid, _ in peers:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

print(f"voip: {granted} watched sockets of {apps} suspended apps at rest, {held} sockets open in the bench:")
print(f"  {spent} ticks of {1000 // os.sysconf('SC_CLK_TCK')} ms in {seconds} s   at most 1: {'holds' if spent <= 1 else 'DOES NOT HOLD'}")
sys.exit(0 if spent <= 1 and granted == each * apps else 1)
