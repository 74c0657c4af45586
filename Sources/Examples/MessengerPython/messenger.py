#!/usr/bin/python3
"""The Messenger app in another language: the standard library and the documented wire, nothing else."""
import base64
import json
import os
import socket


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := self.socket.recv(65536):
            self.handle(json.loads(packet))

    def handle(self, message):
        kind = message["type"]
        if kind == "welcome":
            push = json.loads(message["launchOptions"].get("remoteNotification", "{}"))
            log(f"didFinishLaunching thread={push.get('thread', 'none')}")
            self.send(type="push.registerCalls")
            self.send(type="push.register")
            self.send(type="launched")
        elif kind == "callback" and message["name"] in ("didBecomeActive", "didEnterBackground", "willTerminate"):
            log(message["name"])
        elif kind == "deliver":
            self.deliver(message)
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])

    def deliver(self, message):
        kind = message["kind"]
        if kind == "push.registered":
            word = "didUpdate" if message.get("calls") else "didRegister"
            log(f"{word} {base64.b64decode(message['token']).hex()[:8]}")
        elif kind == "push.received":
            payload = json.loads(message["payload"])
            log(f"didReceiveRemoteNotification thread={payload.get('thread', 'none')}")
            self.send(type="push.completed", number=message["number"], result="newData")
        elif kind == "push.called":
            log(f"didReceiveIncomingPush {json.loads(message['payload'])['caller']}")
            self.send(type="push.reportCall")
            self.send(type="push.callHandled", number=message["number"])
        elif kind == "notification.due":
            notification = message["notification"]
            is_push = str(notification.get("remote", False)).lower()
            log(f"willPresent {notification['identifier']} {notification['body']} push={is_push}")
            self.send(type="notification.present", number=message["number"], shows=True)
        elif kind == "notification.tapped":
            notification = message["notification"]
            log(f"didReceive {notification['body']} thread={json.loads(notification['userInfo'])['thread']}")


def log(line):
    """Prints a line at once, so that nothing is lost when the process ends."""
    print(line, flush=True)


App().run()
