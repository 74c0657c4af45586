#!/usr/bin/python3 -IS
"""A well-behaved app for tests of crashes: it appends a line for each event it gets, before it acknowledges it.

Each line of received.log in its home is `PROCESS EVENT DECISION KIND`, written with one write; PROCESS is unique among all
processes. It connects to every peripheral that advertises 180D and subscribes to 2A37 of each. With SLOW it takes so
many seconds over each event.
"""
import json
import os
import socket
import time

SERVICE, MEASUREMENT, CENTRAL = "180D", "2A37", 1


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.process = f"{os.getpid()}.{os.urandom(4).hex()}"
        self.log = os.open("received.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.restored = []

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def write(self, event, decision, kind):
        os.write(self.log, f"{self.process} {event} {decision} {kind}\n".encode())

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := self.socket.recv(65536):
            self.handle(json.loads(packet))

    def handle(self, message):
        kind = message["type"]
        if kind == "welcome":
            self.write("-", "-", "launched")
            self.send(type="central.create", id=1, manager=CENTRAL, restoreIdentifier="recorder")
            self.send(type="launched")
        elif kind == "deliver":
            if message.get("event"):
                time.sleep(float(os.environ.get("SLOW", 0)))
                self.write(message["event"], message["decision"], message["kind"])
            self.deliver(message, message["kind"], message.get("peripheral"))
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])

    def deliver(self, message, kind, peripheral):
        if kind == "central.willRestore":
            self.restored = message["peripherals"]
        elif kind == "central.state" and message["state"] == "poweredOn":
            for known in self.restored:
                if known["state"] == "connected":
                    self.ask("discoverServices", known["identifier"], services=[SERVICE])
            if not self.restored:
                self.send(type="central.scan", manager=CENTRAL, services=[SERVICE], allowDuplicates=False)
        elif kind == "central.discovered":
            self.send(type="central.connect", manager=CENTRAL, peripheral=peripheral["identifier"])
        elif kind == "central.connected":
            self.ask("discoverServices", peripheral, services=[SERVICE])
        elif kind in ("central.disconnected", "central.failedToConnect"):
            self.send(type="central.connect", manager=CENTRAL, peripheral=peripheral)
        elif kind == "peripheral.services":
            for service in message["services"]:
                self.ask("discoverCharacteristics", peripheral, service=service["handle"], characteristics=[MEASUREMENT])
        elif kind == "peripheral.characteristics":
            for characteristic in message["characteristics"]:
                self.ask("setNotify", peripheral, attribute=characteristic["handle"], enabled=True)

    def ask(self, what, peripheral, **rest):
        self.send(type=f"peripheral.{what}", manager=CENTRAL, peripheral=peripheral, **rest)


App().run()
