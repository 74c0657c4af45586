#!/usr/bin/python3
"""The AccessoryLogger app in another language: the standard library and the documented wire, nothing else."""
import json
import os
import selectors
import socket

MANAGER = 1  # The number this process gives its accessory manager; its sessions follow.
GREETINGS = {
    "com.example.dock.log": b"LOG\n",
    "com.example.scanner.codes": b"",
    # DLE EOT 1 asks whether the printer is ready; what follows is printed.
    "com.example.printer.raw": b"\x10\x04\x01Hello\n",
}


class Session:
    def __init__(self, accessory, protocol):
        self.accessory = accessory["connection"]
        self.name = accessory["name"]
        self.protocol = protocol
        self.socket = None


class App:
    def __init__(self):
        self.bench = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.sessions = {}
        self.last = MANAGER
        # Bytes that come while the app runs are not announced by the bench.
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.bench, selectors.EVENT_READ)

    def send(self, **message):
        self.bench.send(json.dumps(message).encode())

    def ask(self, what, **rest):
        self.send(type=f"accessory.{what}", manager=MANAGER, **rest)

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while True:
            for key, _ in self.selector.select():
                if key.data in self.sessions:
                    self.read(key.data)
                elif key.fileobj is self.bench:
                    packet, descriptors, _, _ = socket.recv_fds(self.bench, 65536, 16)
                    if not packet:
                        return
                    self.handle(json.loads(packet), descriptors)

    def handle(self, message, descriptors):
        kind = message["type"]
        if kind == "welcome":
            log(f"didFinishLaunching pid={os.getpid()}")
            self.ask("register")
            self.ask("list", id=1)
            self.send(type="launched")
        elif kind == "reply":
            for accessory in message["accessories"]:
                self.connected(accessory)
        elif kind == "callback":
            log(message["name"])
        elif kind == "deliver":
            self.deliver(message["kind"].removeprefix("accessory."), message, descriptors)
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])

    def deliver(self, kind, message, descriptors):
        number = message["manager"]
        if kind == "connected":
            self.connected(message["accessory"])
        elif kind == "disconnected":
            for number in [n for n, s in self.sessions.items() if s.accessory == message["accessory"]]:
                log(f"disconnected {self.sessions[number].name}")
                self.close(number)
        elif kind == "sessionOpened":
            self.opened(number, message, descriptors)
        elif kind == "data":
            self.read(number)
        elif kind == "sessionEnded":
            log(f"error {message['error']['code']}")
            self.close(number)

    def connected(self, accessory):
        log(f"connected {accessory['name']} serial={accessory['serialNumber']}")
        if any(session.accessory == accessory["connection"] for session in self.sessions.values()):
            return
        for protocol in accessory["protocols"]:
            if protocol in GREETINGS:
                self.last += 1
                self.sessions[self.last] = Session(accessory, protocol)
                self.ask("open", session=self.last, accessory=accessory["connection"], protocol=protocol)

    def opened(self, number, message, descriptors):
        session = self.sessions[number]
        if not descriptors:
            log(f"no session for {session.protocol}: {message['error']['message']}")
            del self.sessions[number]
            return
        session.socket = socket.socket(fileno=descriptors[0])
        session.socket.setblocking(False)
        self.selector.register(session.socket, selectors.EVENT_READ, number)
        log(f"session {session.protocol}")
        # A few bytes always fit into a fresh session.
        session.socket.sendall(GREETINGS[session.protocol])

    def read(self, number):
        while number in self.sessions and self.sessions[number].socket:
            try:
                data = self.sessions[number].socket.recv(1024)
            except BlockingIOError:
                return
            except OSError as error:
                log(f"error {error.errno}")
                data = b""
            if not data:
                return self.close(number)
            text = "".join(chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte}" for byte in data if byte not in (0, 10))
            log(f"received pid={os.getpid()} bytes={len(data)} text={text}")

    def close(self, number):
        session = self.sessions.pop(number, None)
        if session and session.socket:
            self.selector.unregister(session.socket)
            # The bench has a duplicate, which would keep the session up.
            try:
                session.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # The accessory's end has gone already.
            session.socket.close()
            self.ask("close", session=number)


def log(line):
    print(line, flush=True)


App().run()
