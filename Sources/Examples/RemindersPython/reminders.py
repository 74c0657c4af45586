#!/usr/bin/python3
"""The Reminders app in another language: the standard library and the documented wire, nothing else."""
import json
import os
import socket

REMINDERS = [
    {"identifier": "tea", "body": "The tea is ready.", "trigger": {"interval": 240}},
    {"identifier": "morning", "body": "Good morning.", "trigger": {"repeats": True, "hour": 7, "minute": 30}},
]


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.pending = []

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := self.socket.recv(65536):
            self.handle(json.loads(packet))

    def handle(self, message):
        kind = message["type"]
        if kind == "welcome":
            log("didFinishLaunching")
            self.list()
        elif kind == "reply":
            self.listed(message["notifications"])
        elif kind == "callback" and message["name"] in ("didBecomeActive", "didEnterBackground", "willTerminate"):
            log(message["name"])
        elif kind == "deliver":
            self.deliver(message)
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])

    def list(self):
        """Asks for the next part of what is not due yet."""
        self.send(type="notification.list", id=1, delivered=False, **{"from": len(self.pending)})

    def listed(self, part):
        self.pending += [reminder["identifier"] for reminder in part["list"]]
        if part["list"] and len(self.pending) < part["count"]:
            self.list()
            return
        log(f"pending {json.dumps(sorted(self.pending))}")
        for reminder in REMINDERS:
            name = reminder["identifier"]
            if name not in self.pending:
                more = {"sound": "", "badge": 1, "userInfo": json.dumps({"kind": name})}
                self.send(type="notification.schedule", notification={**reminder, **more})
                log(f"add {name} scheduled")
        self.send(type="launched")

    def deliver(self, message):
        reminder = message["notification"]
        if message["kind"] == "notification.due":
            log(f"willPresent {reminder['identifier']}")
            self.send(type="notification.present", number=message["number"], shows=True)
        elif message["kind"] == "notification.tapped":
            kind = json.loads(reminder["userInfo"])["kind"]
            log(f"didReceive {kind} badge={reminder['badge']}")
            self.send(type="notification.setBadge", badge=0)


def log(line):
    print(line, flush=True)


App().run()
