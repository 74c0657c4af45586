"""The control socket of a daemon, and what careless clients say to it: see Scripts/garbage."""

import json
import socket

from mutated import mutated


class Control:
    name = "socket"

    def __init__(self, path):
        self.path = path

    def connect(self, timeout):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.settimeout(timeout)
        client.connect(self.path)
        return client

    def ask(self, timeout, **request):
        """What a client who speaks well is answered."""
        with self.connect(timeout) as client:
            client.sendall(json.dumps(request).encode() + b"\n")
            answer = json.loads(client.makefile("rb").readline() or b"{}")
        if not answer.get("ok"):
            raise ConnectionError(f"{request}: {answer}")

    def say(self, chance, counts):
        """One careless client, which stays connected."""
        client = self.connect(0.05)
        try:
            for _ in range(chance.randrange(1, 20)):
                kind = chance.randrange(10)
                if kind < 7:
                    counts["mutated requests"] += 1
                    client.sendall(mutated(chance) + b"\n")
                elif kind == 7:
                    counts["garbage"] += 1
                    client.sendall(chance.randbytes(chance.randrange(1, 4000)))
                elif kind == 8:
                    # The end never comes.
                    counts["half requests"] += 1
                    client.sendall(mutated(chance)[: chance.randrange(1, 60)])
                else:
                    counts["oversized lines"] += 1
                    for _ in range(chance.randrange(1, 40)):
                        client.sendall(b"[" * 65536)
                if chance.random() < 0.5:
                    client.recv(65536)
        except OSError:
            pass
        return client
