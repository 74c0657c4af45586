#!/usr/bin/python3
"""The service extension of the Messenger app in another language."""
import json
import os
import socket


class Service:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := self.socket.recv(65536):
            message = json.loads(packet)
            if message["type"] == "welcome":
                self.send(type="launched")
            elif message["type"] == "deliver":
                self.send(type="ack", delivery=message["delivery"])
                self.deliver(message)

    def deliver(self, message):
        if message["kind"] == "push.extend":
            self.notification = message["notification"]
            log(f"didReceive {self.notification['body']} pid={os.getpid()}")
            # A message that never comes to its end.
            if self.notification["body"] == "…":
                return
            self.notification["body"] = f"{self.notification.get('title', '')}: {self.notification['body']}"
        elif message["kind"] == "push.extensionExpires":
            log("serviceExtensionTimeWillExpire")
            self.notification["body"] = "A message"
        self.send(type="push.extended", number=message["number"], notification=self.notification)


def log(line):
    """Prints a line at once, so that nothing is lost when the process ends."""
    print(line, flush=True)


Service().run()
