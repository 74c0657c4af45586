"""The page of a daemon, and what careless clients and strangers say to it: see Scripts/garbage."""

import http.client
import json
import re
import socket

from mutated import mutated

# What the daemon takes at most (WakeHTTP/HTTPServer.swift).
BODY, HEAD = 256 << 10, 32 << 10
METHODS = ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "HEAD", "get", "PRI", "M" * 3000]
PATHS = ["/", "/events", "/ask", "/none", "/../../etc/passwd", "//", "/%2e%2e/", "*", "http://evil.example/"]
PHONES = ["one", "one", "p0", "p1", "nobody", "", "..%2F..", "all", "%00", "a" * 5000]


class LetIn(Exception):
    """Somebody was answered who may not be."""


class Page:
    name = "page"

    def __init__(self, port, token):
        self.port, self.token = port, token
        self.host = f"127.0.0.1:{port}"
        # What is said, how, and how often among the rest.
        self.kinds = {
            "broken heads": (self.broken, 3), "giant heads": (self.giant, 1), "wrong methods": (self.method, 2),
            "wrong tokens": (self.tokenless, 2), "foreign pages": (self.foreign, 2), "long bodies": (self.long, 1),
            "bodies without an end": (self.endless, 2), "mutated requests": (self.mutated, 8), "half requests": (self.half, 3),
            "streams that nobody reads": (self.stream, 5),
        }

    # What may never be answered as if it were good.
    REFUSED = {"giant heads", "wrong methods", "wrong tokens", "foreign pages", "long bodies", "bodies without an end"}

    def connect(self, timeout):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(self, timeout, **request):
        """What a client who speaks well is answered, as the page does it."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        fields = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Origin": f"http://{self.host}"}
        try:
            client.request("POST", "/ask", json.dumps(request), fields)
            answer = json.loads(client.getresponse().read())
        finally:
            client.close()
        if not answer.get("ok"):
            raise ConnectionError(f"{request}: {answer}")

    def say(self, chance, counts):
        """One careless client, which stays connected. Raises LetIn."""
        kind = chance.choices(list(self.kinds), [often for _, often in self.kinds.values()])[0]
        client = self.connect(0.2)
        heard = b""
        try:
            for _ in range(chance.randrange(1, 5)):
                counts[kind] += 1
                for piece in self.kinds[kind][0](chance):
                    client.sendall(piece)
                if kind != "streams that nobody reads":
                    heard += client.recv(65536)
        except OSError:
            pass
        for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", heard):
            counts["answered " + status.decode()] += 1
            if kind in self.REFUSED and status.startswith(b"2"):
                raise LetIn(f"{kind} were answered: {heard[:500]}")
        return client

    # What is said: pieces of bytes.

    def head(self, line, **fields):
        """A head that the page takes, but for what is given; None leaves a field out."""
        all_ = {"Host": self.host, "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"} | fields
        said = "".join(f"{name.replace('_', '-')}: {text}\r\n" for name, text in all_.items() if text is not None)
        return f"{line}\r\n{said}\r\n".encode()

    def request(self, body, **fields):
        return self.head("POST /ask HTTP/1.1", Content_Length=len(body), **fields) + body

    def broken(self, chance):
        head = bytearray(self.head("GET / HTTP/1.1", Content_Length=0))
        kind = chance.randrange(4)
        if kind == 0:
            yield chance.randbytes(chance.randrange(1, 4000))
        elif kind == 1:
            for _ in range(chance.randrange(1, 8)):
                head[chance.randrange(len(head))] = chance.randrange(256)
            yield bytes(head)
        elif kind == 2:
            lines = ["GET", "GET / HTTP/9.9", " / HTTP/1.1", "GET /\tHTTP/1.1", "GET / HTTP/1.1 x", "GET /%zz?%&=&&=%f HTTP/1.1", "\r\n"]
            yield self.head(chance.choice(lines))
        else:
            wrong = [
                {"Content_Length": "-1"}, {"Content_Length": "9" * 40}, {"Content_Length": "5, 6"}, {"Content_Length": "0x10"},
                {"": "x"}, {"A b": "x"}, {"X": "a\r\n b\r\n\tc"}, {"X": "\0"}, {"Transfer_Encoding": "x"}, {"Expect": "200-maybe"},
                {"Content_Length": "3", "Transfer_Encoding": "chunked"},
            ]
            yield self.head("POST /ask HTTP/1.1", **chance.choice(wrong))

    def giant(self, chance):
        size = chance.choice([HEAD, HEAD * 2, HEAD * 40])
        kind = chance.randrange(3)
        if kind == 0:
            yield self.head(f"GET /?{'a' * size} HTTP/1.1")
        elif kind == 1:
            yield self.head("GET / HTTP/1.1", X="a" * size)
        else:
            yield self.head("GET / HTTP/1.1", **{f"X{number}": "" for number in range(size // 4)})

    def method(self, chance):
        yield self.head(f"{chance.choice(METHODS)} {chance.choice(PATHS)} HTTP/1.1", Content_Length=0)

    def tokenless(self, chance):
        right = self.token
        word = chance.choice(["", right[:-1], right + "0", right[::-1] + "x", "0" * 32, "g" * 32, right[:-1] + "\x01", "a" * 9000])
        line = chance.choice([f"GET / HTTP/1.1", f"GET /events?phone=one HTTP/1.1", "POST /ask HTTP/1.1"])
        ways = [None, f"Bearer {word}", f"Basic {right}", word, "Bearer"]
        if chance.random() < 0.5:
            line = f"GET /?token={chance.choice([word, '', '%', '%00'])} HTTP/1.1"
        body = b'{"op":"phones"}' if line.startswith("POST") else b""
        yield self.head(line, Authorization=chance.choice(ways), Content_Length=len(body)) + body

    def foreign(self, chance):
        hosts = ["evil.example", f"evil.example:{self.port}", "127.0.0.1", "127.0.0.1:1", f"{self.host}.evil", "", None, "a" * 9000]
        origins = ["http://evil.example", "null", f"https://{self.host}", "http://127.0.0.1", f"http://{self.host}.evil"]
        wrong = {"Host": chance.choice(hosts)} if chance.random() < 0.5 else {"Origin": chance.choice(origins)}
        yield self.request(b'{"op":"phones"}', **wrong)

    def long(self, chance):
        size = BODY + chance.choice([1, BODY, 40 * BODY])
        yield self.head("POST /ask HTTP/1.1", Content_Length=size)
        if chance.random() < 0.5:
            for _ in range(size >> 16):
                yield b"[" * 65536

    def endless(self, chance):
        yield self.head("POST /ask HTTP/1.1", Transfer_Encoding="chunked")
        for _ in range(chance.randrange(1, 80)):
            if chance.random() < 0.02:
                yield chance.choice([b"ffffffffffffffff\r\n", b"-1\r\n", b"zz\r\n", b"5;" + b"x" * 9000, b"5\r\nabc"])
            size = chance.choice([1, 100, 20_000])
            yield b"%x\r\n" % size + b" " * size + b"\r\n"

    def mutated(self, chance):
        body = mutated(chance)
        if chance.random() < 0.2:
            yield self.head("POST /ask HTTP/1.1", Transfer_Encoding="chunked")
            yield b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n" if body else b"0\r\n\r\n"
        else:
            yield self.request(body, **chance.choice([{}, {}, {}, {"Content_Type": "text/plain"}, {"Connection": "close"}]))

    def half(self, chance):
        heads = [self.head("GET / HTTP/1.1"), self.head("GET /events?phone=one HTTP/1.1")]
        whole = chance.choice([self.request(mutated(chance))] + heads)
        yield whole[: chance.randrange(1, len(whole))]

    def stream(self, chance):
        yield self.head(f"GET /events?phone={chance.choice(PHONES)} HTTP/1.1")
