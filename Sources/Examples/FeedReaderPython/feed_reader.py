#!/usr/bin/python3
"""The FeedReader app in another language: the standard library and the documented wire, nothing else."""
import json
import os
import socket
import time

REFRESH = "com.example.feedreader.refresh"
CLEANING = "com.example.feedreader.cleaning"


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.registered = []
        self.submitted = {}
        # The tasks that run, by their identifiers: number, name and when the work is done.
        self.running = {}
        self.last = 0

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def request(self, **message):
        self.last += 1
        self.send(id=self.last, **message)
        return self.last

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while True:
            ends = [end for _, _, end in self.running.values()]
            self.socket.settimeout(max(0.001, min(ends) - time.monotonic()) if ends else None)
            try:
                packet = self.socket.recv(65536)
            except TimeoutError:
                self.finish()
                continue
            if not packet:
                return
            self.handle(json.loads(packet))

    def handle(self, message):
        kind = message["type"]
        if kind == "welcome":
            log("didFinishLaunching")
            for identifier in (REFRESH, CLEANING):
                self.request(type="backgroundTask.register", identifier=identifier)
        elif kind == "reply":
            self.answered(message)
        elif kind == "callback" and message["name"] == "didEnterBackground":
            log("didEnterBackground")
            self.schedule_refresh()
            self.schedule_cleaning()
        elif kind == "deliver":
            self.deliver(message)
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])

    def answered(self, message):
        if message["id"] in self.submitted:
            identifier = self.submitted.pop(message["id"])
            error = message.get("error")
            log(f"submit {identifier}" + (f" failed: {error['message']}" if error else ""))
            return
        self.registered.append(message["granted"])
        if len(self.registered) == 2:
            log("register " + " ".join(json.dumps(granted) for granted in self.registered))
            self.send(type="launched")

    def schedule_refresh(self):
        self.submit(identifier=REFRESH, kind="refresh", earliestBegin=time.time() + 15 * 60)

    def schedule_cleaning(self):
        self.submit(
            identifier=CLEANING, kind="processing", requiresExternalPower=True, requiresNetworkConnectivity=True
        )

    def submit(self, **request):
        self.submitted[self.request(type="backgroundTask.submit", request=request)] = request["identifier"]

    def deliver(self, message):
        identifier = message["identifier"]
        if message["kind"] == "backgroundTask.launched":
            name, seconds = ("refresh", 4) if identifier == REFRESH else ("cleaning", 120)
            if identifier == REFRESH:
                # One request is one launch.
                self.schedule_refresh()
            log(f"{name} begins")
            self.running[identifier] = (message["number"], name, time.monotonic() + seconds)
        elif message["kind"] == "backgroundTask.expired" and identifier in self.running:
            number, name, _ = self.running.pop(identifier)
            log(f"{name} expires")
            self.schedule_cleaning()
            self.send(type="backgroundTask.completed", number=number, success=False)

    def finish(self):
        for identifier, (number, name, end) in list(self.running.items()):
            if end <= time.monotonic():
                del self.running[identifier]
                log(f"{name} done")
                self.send(type="backgroundTask.completed", number=number, success=True)


def log(line):
    print(line, flush=True)


App().run()
