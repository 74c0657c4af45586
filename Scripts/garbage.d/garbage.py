"""Says garbage to a daemon's control socket: see Scripts/garbage."""

import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
MOST_GROWTH = 200  # MB: what a few hundred careless clients at once may hold, and no more.


def connect(path):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(path)
    return client


def answer(client, **request):
    client.sendall(json.dumps(request).encode() + b"\n")
    data = b""
    while not data.endswith(b"\n"):
        more = client.recv(65536)
        if not more:
            raise ConnectionError(f"no answer to {request}")
        data += more
    return json.loads(data)


def good(chance):
    """A request that means something, with things of its own."""
    steps = [
        {"launch": "heart"}, {"home": "heart"}, {"phone": chance.choice(["lock", "unlock", "reboot"])},
        {"notify": "belt", "characteristic": "2A37", "value": "%04x" % chance.randrange(65536)},
        {"terminate": "heart", "cause": "memory"}, {"disconnect": "belt"}, {"in-range": "belt"}, {"out-of-range": "belt"},
        {"push": {"app": "heart", "payload": {"aps": {"content-available": 1}}}}, {"note": "x" * chance.randrange(2000)},
        {"position": {"latitude": chance.uniform(-90, 90), "longitude": chance.uniform(-180, 180)}},
    ]
    return chance.choice(
        [
            {"op": "do", "phone": "one", "wait": False, "command": {"step": chance.choice(steps)}},
            {"op": "do", "phone": "one", "command": {"advance": chance.randrange(1 << 62)}},
            {"op": "phones"}, {"op": "apps", "phone": "one"}, {"op": "devices", "phone": "booted"}, {"op": "hello"},
            {"op": "wait", "phone": "one", "app": "heart", "state": "suspended", "timeout": 0.01},
            {"op": "can-wake", "phone": "one", "app": "heart", "event": "characteristic-notified"},
            {"op": "follow", "phone": "one", "after": chance.randrange(100)},
            {"op": "snapshot", "phone": "one", "action": "list"}, {"op": "create", "phone": f"p{chance.randrange(3)}"},
            {"op": "delete", "phone": f"p{chance.randrange(3)}"},
        ]
    )


def value(chance, depth=0):
    kind = chance.randrange(8 if depth < 4 else 6)
    if kind == 6:
        return [value(chance, depth + 1) for _ in range(chance.randrange(5))]
    if kind == 7:
        return {chance.choice(["op", "phone", "x", "step", "\u0000"]): value(chance, depth + 1) for _ in range(chance.randrange(5))}
    return chance.choice([None, True, -1, 1 << 63, 1e308, "", "one", "\ud83d\ude00", "../..", "a" * 5000, 0.5])


def mutated(chance):
    request = good(chance)
    kind = chance.randrange(5)
    if kind == 0:
        request[chance.choice(list(request))] = value(chance)
    elif kind == 1:
        request["command"] = value(chance)
    elif kind == 2 and "command" in request:
        step = request["command"].get("step")
        if isinstance(step, dict):
            step[chance.choice(list(step) + ["every", "at", "value"])] = value(chance)
    line = bytearray(json.dumps(request).encode())
    if kind == 3:
        for _ in range(chance.randrange(1, 8)):
            line[chance.randrange(len(line))] = chance.randrange(256)
    elif kind == 4:
        line = line[: chance.randrange(len(line))]
    return bytes(line)


def say(chance, path, counts):
    """One careless client."""
    client = connect(path)
    client.settimeout(0.05)
    try:
        for _ in range(chance.randrange(1, 20)):
            kind = chance.randrange(10)
            if kind < 7:
                client.sendall(mutated(chance) + b"\n")
                counts["requests"] += 1
            elif kind == 7:
                client.sendall(chance.randbytes(chance.randrange(1, 4000)))
                counts["garbage"] += 1
            elif kind == 8:
                # A half message: the end never comes.
                client.sendall(mutated(chance)[: chance.randrange(1, 60)])
                counts["halves"] += 1
            else:
                counts["oversized"] += 1
                for _ in range(chance.randrange(1, 40)):
                    client.sendall(b"[" * 65536)
            if chance.random() < 0.5:
                client.recv(65536)
    except OSError:
        pass
    return client


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1000
    return 0


def main():
    program, seconds, seed = os.path.abspath(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="wakebench-garbage-") as name:
        folder = pathlib.Path(name)
        path = str(folder / "c.sock")
        (folder / "belt.yaml").write_text((HERE.parent / "crash.d" / "quiet-belt.yaml").read_text())
        (folder / "phone.yaml").write_text(
            "scenario: garbage\ndevices: [{file: belt.yaml, name: belt}]\napps: [{scripted: com.acme.heart, name: heart, "
            "modes: [bluetooth-central, remote-notification], restore-identifier: c, push: {}, "
            "uses: [{device: belt, characteristic: 2A37}], on: [{event: any, work: 1s, then: end}]}]\n"
        )
        errors = open(folder / "errors", "wb")
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", SWIFT_BACKTRACE="enable=no")
        command = [program, "serve", "--state", str(folder / "state"), "--socket", path]
        daemon = subprocess.Popen(command, stderr=errors, env=environment)
        while not os.path.exists(path):
            if daemon.poll() is not None:
                sys.exit((folder / "errors").read_text())
            time.sleep(0.05)
        well = connect(path)
        assert answer(well, op="create", phone="one", scenario=str(folder / "phone.yaml"))["ok"]
        assert answer(well, op="boot", phone="one")["ok"]
        counts = {"requests": 0, "garbage": 0, "halves": 0, "oversized": 0, "clients": 0, "good": 0}
        open_clients, slowest, warm, largest = [], 0.0, None, 0.0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            open_clients.append(say(chance, path, counts))
            counts["clients"] += 1
            if len(open_clients) > 40:
                open_clients.pop(chance.randrange(len(open_clients))).close()
            began = time.monotonic()
            if not answer(well, op="phones")["ok"]:
                sys.exit("the good client was refused")
            slowest = max(slowest, time.monotonic() - began)
            counts["good"] += 1
            if daemon.poll() is not None:
                break
            now = resident(daemon.pid)
            if warm is None and time.monotonic() > end - seconds * 0.9:
                warm = now
            largest = max(largest, now)
        for client in open_clients:
            client.close()
        last = resident(daemon.pid) if daemon.poll() is None else 0
        said = (folder / "errors").read_text(errors="replace")
        print(
            f"{seconds:.0f} s: {counts['clients']} clients said {counts['requests']} requests that were changed, "
            f"{counts['garbage']} pieces of garbage, {counts['halves']} halves and {counts['oversized']} oversized ones; "
            f"{counts['good']} good requests answered, the slowest after {slowest * 1000:.0f} ms"
        )
        print(f"memory: {warm or 0:.0f} MB after a tenth of the time, {largest:.0f} MB at most, {last:.0f} MB at the end")
        if daemon.poll() is not None or "AddressSanitizer" in said or "Fatal error" in said:
            print(said[-3000:])
            sys.exit("the daemon ended, or a sanitizer complained")
        daemon.terminate()
        if daemon.wait() != 0 or largest > (warm or 0) + MOST_GROWTH:
            sys.exit(f"exit code {daemon.returncode}, or memory grew")


main()
