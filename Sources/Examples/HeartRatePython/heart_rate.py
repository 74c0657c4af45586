#!/usr/bin/python3
"""The HeartRate app in another language: the standard library and the documented wire, nothing else."""
import base64
import json
import os
import socket

SERVICE, MEASUREMENT = "180D", "2A37"
CENTRAL = 1  # The number this process gives its only central manager.


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.backlog = []
        self.belt = None
        self.count = 0

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while message := self.receive():
            self.handle(message)

    def receive(self):
        if self.backlog:
            return self.backlog.pop(0)
        packet = self.socket.recv(65536)
        return json.loads(packet) if packet else None

    def request(self, **message):
        """Sends a request and waits for its reply; what comes in between is handled afterwards, in order."""
        self.send(**message)
        while packet := self.socket.recv(65536):
            answer = json.loads(packet)
            if answer["type"] == "reply" and answer["id"] == message["id"]:
                return answer
            self.backlog.append(answer)
        raise SystemExit

    def handle(self, message):
        kind = message["type"]
        if kind == "welcome":
            restored = message.get("launchOptions", {}).get("bluetoothCentrals")
            log(f"didFinishLaunching pid={os.getpid()} launchOptions={['bluetoothCentrals'] if restored else []}")
            self.send(type="central.create", id=1, manager=CENTRAL, restoreIdentifier="heart-rate")
            self.send(type="launched")
        elif kind == "callback":
            log(message["name"])
        elif kind == "deliver":
            self.deliver(message)
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])

    def deliver(self, message):
        kind, peripheral = message["kind"], message.get("peripheral")
        if kind == "central.willRestore":
            log(f"willRestoreState peripherals={len(message['peripherals'])}")
            self.belt = next(iter(message["peripherals"]), None)
        elif kind == "central.state":
            log(f"didUpdateState {message['state']}")
            if message["state"] == "poweredOn":
                self.begin()
        elif kind == "central.discovered":
            log(f"didDiscover {peripheral.get('name', '?')}")
            self.send(type="central.stopScan", manager=CENTRAL)
            self.send(type="central.connect", manager=CENTRAL, peripheral=peripheral["identifier"])
        elif kind == "central.connected":
            log("didConnect")
            self.ask("discoverServices", peripheral, services=[SERVICE])
        elif kind in ("central.disconnected", "central.failedToConnect"):
            log("didDisconnect" if kind == "central.disconnected" else "didFailToConnect")
            self.send(type="central.connect", manager=CENTRAL, peripheral=peripheral)
        elif kind == "peripheral.services":
            for service in message["services"]:
                if service["uuid"] == SERVICE:
                    self.ask("discoverCharacteristics", peripheral, service=service["handle"],
                             characteristics=[MEASUREMENT])
        elif kind == "peripheral.characteristics":
            for characteristic in message["characteristics"]:
                if characteristic["uuid"] == MEASUREMENT:
                    self.ask("setNotify", peripheral, attribute=characteristic["handle"], enabled=True)
        elif kind == "peripheral.notifyState":
            log(f"didUpdateNotificationState {str(message['notifying']).lower()}")
        elif kind == "peripheral.value":
            value = base64.b64decode(message["value"])
            self.count += 1
            log(f"didUpdateValue pid={os.getpid()} count={self.count} value={value.hex()} bpm={value[1]}")

    def begin(self):
        belt = self.belt
        if belt is None:
            # A belt that another app is connected to does not advertise.
            reply = self.request(type="central.retrieveConnected", id=2, manager=CENTRAL, services=[SERVICE])
            belt = next(iter(reply["peripherals"]), None)
        if belt is None:
            self.send(type="central.scan", manager=CENTRAL, services=[SERVICE], allowDuplicates=False)
        elif belt["state"] != "connected":
            self.send(type="central.connect", manager=CENTRAL, peripheral=belt["identifier"])
        elif not belt.get("services"):
            self.ask("discoverServices", belt["identifier"], services=[SERVICE])

    def ask(self, what, peripheral, **rest):
        self.send(type=f"peripheral.{what}", manager=CENTRAL, peripheral=peripheral, **rest)


def log(line):
    print(line, flush=True)


App().run()
