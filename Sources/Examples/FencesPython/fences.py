#!/usr/bin/python3
"""The Fences app in another language: the standard library and the documented wire, nothing else."""
import json
import os
import socket

MANAGER = 1  # The number this process gives its only location manager.
REGIONS = [
    {"identifier": "office", "circle": {"latitude": 52.3731, "longitude": 4.8922, "radius": 150}},
    {"identifier": "desk", "beacons": {"uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 1}},
]


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.monitored = []
        self.count = 0

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def ask(self, what, **rest):
        self.send(type=f"location.{what}", manager=MANAGER, **rest)

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := self.socket.recv(65536):
            self.handle(json.loads(packet))

    def handle(self, message):
        kind = message["type"]
        if kind == "welcome":
            keys = ["location"] if message.get("launchOptions", {}).get("location") else []
            log(f"didFinishLaunching pid={os.getpid()} launchOptions={keys}")
            self.ask("create", id=1)
            self.send(type="launched")
        elif kind == "reply":
            self.monitored = sorted(region["identifier"] for region in message["location"]["regions"])
        elif kind == "callback":
            log(message["name"])
        elif kind == "deliver":
            self.deliver(message)
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])

    def deliver(self, message):
        kind, region = message["kind"].removeprefix("location."), message.get("region")
        if kind == "authorization":
            self.authorize(message["authorization"])
        elif kind == "monitoringStarted":
            self.monitored = sorted({*self.monitored, region})
            log(f"didStartMonitoring {region}")
            self.ask("requestState", region=region)
        elif kind == "monitoringFailed":
            log(f"monitoringDidFail {region} {message['error']['message']}")
        elif kind == "regionState":
            log(f"didDetermineState {region} {message['state']}")
        elif kind in ("regionEntered", "regionExited"):
            self.count += 1
            word = "didEnterRegion" if kind == "regionEntered" else "didExitRegion"
            log(f"{word} {region} pid={os.getpid()} count={self.count}")
            # A crossing says where the phone is now, as Core Location tells beside it.
            log(f"didDetermineState {region} {'inside' if kind == 'regionEntered' else 'outside'}")

    def authorize(self, authorization):
        if authorization == "authorizedAlways":
            listed = ", ".join(f'"{name}"' for name in self.monitored)
            log(f"didChangeAuthorization {authorization} monitored=[{listed}]")
            for region in REGIONS:
                if region["identifier"] not in self.monitored:
                    self.ask("monitor", region=region)
        else:
            log(f"didChangeAuthorization {authorization}")
            if authorization == "notDetermined":
                self.ask("requestAuthorization", always=True)


def log(line):
    print(line, flush=True)


App().run()
