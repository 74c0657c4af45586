#!/usr/bin/python3
"""The SIPPhone app in another language, without the call's sound: the standard library and the documented wire, nothing
else. The server is HOST:PORT in the environment variable VOIP_SERVER."""
import array
import json
import os
import selectors
import socket

CALLS = 1  # The number this process gives its only socket for calls.
ANSWERS = {"INVITE": [(100, "Trying"), (180, "Ringing"), (200, "OK")], "BYE": [(200, "OK")], "OPTIONS": [(200, "OK")]}


class Phone:
    def __init__(self):
        self.bench = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        host, port = os.environ.get("VOIP_SERVER", "127.0.0.1:5060").split(":")
        self.host, self.port = host, int(port)
        self.line = None
        self.received = b""
        # Bytes that come while the app runs are not announced by the bench.
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.bench, selectors.EVENT_READ)

    def send(self, *descriptors, **message):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.bench.sendmsg([json.dumps(message).encode()], rights)

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is self.line:
                    self.read()
                elif key.fileobj is self.bench:
                    packet = self.bench.recv(65536)
                    if not packet:
                        return
                    self.handle(json.loads(packet))

    def handle(self, message):
        kind = message["type"]
        if kind == "welcome":
            log(f"didFinishLaunching pid={os.getpid()}")
            self.connect()
            self.send(type="voip.setKeepAlive", id=2, period=600)
            self.send(type="launched")
        elif kind == "reply":
            what = "connect watched" if message["id"] == 1 else "setKeepAliveTimeout"
            log(f"{what}={message['granted']}")
        elif kind == "callback":
            log(message["name"])
        elif kind == "deliver" and message["kind"] in ("voip.data", "voip.closed"):
            self.read()
        elif kind == "deliver" and message["kind"] == "voip.keepAlive":
            log("keepAlive")
            self.line.sendall(b"\r\n\r\n")
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])

    def connect(self):
        self.line = socket.create_connection((self.host, self.port))
        self.line.setblocking(False)
        self.selector.register(self.line, selectors.EVENT_READ)
        self.send(self.line.fileno(), type="voip.watch", id=1, socket=CALLS)
        own = f"<sip:phone@{self.host}>"
        self.say(
            f"REGISTER sip:{self.host} SIP/2.0",
            [
                f"Via: SIP/2.0/TCP {self.host};branch=z9hG4bK-register",
                "Max-Forwards: 70",
                f"From: {own};tag=phone",
                f"To: {own}",
                "Call-ID: register@phone",
                "CSeq: 1 REGISTER",
                f"Contact: <sip:phone@{self.host};transport=tcp>",
                "Expires: 3600",
            ],
        )

    def say(self, start, headers):
        # A few hundred bytes always fit into a line that is quiet.
        self.line.sendall("\r\n".join([start, *headers, "Content-Length: 0", "", ""]).encode())

    def read(self):
        while self.line:
            try:
                data = self.line.recv(4096)
            except BlockingIOError:
                break
            except OSError as error:
                log(f"failed {error.errno}")
                data = b""
            if not data:
                log("closed")
                return self.hang_up()
            self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, rest = self.received.lstrip(b"\r\n").partition(b"\r\n\r\n")
            start, *lines = head.decode().split("\r\n")
            headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines]
            length = int(dict(headers).get("Content-Length", 0))
            if len(rest) < length:
                break
            self.received = rest[length:]
            self.take(start, headers)

    def take(self, start, headers):
        log(f"received {start} pid={os.getpid()}")
        for code, reason in ANSWERS.get(start.split()[0], []):
            log(f"answer {code}")
            kept = [f"{name}: {value}" for name, value in headers if name in ("Via", "From", "Call-ID", "CSeq")]
            to = dict(headers)["To"]
            if code > 100 and "tag=" not in to:
                to += ";tag=phone"
            contact = f"Contact: <sip:phone@{self.host};transport=tcp>"
            self.say(f"SIP/2.0 {code} {reason}", [*kept, f"To: {to}", contact])
        if start.startswith("ACK "):
            log("call established")
        elif start.startswith("BYE "):
            log("call ended")

    def hang_up(self):
        self.selector.unregister(self.line)
        # The bench has a duplicate, which would keep the connection up.
        try:
            self.line.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # The server's end has gone already.
        self.line.close()
        self.line = None
        self.send(type="voip.unwatch", socket=CALLS)


def log(line):
    print(line, flush=True)


Phone().run()
