#!/usr/bin/python3
"""The Downloads app in another language: the standard library and the documented wire, nothing else."""
import json
import os
import pathlib
import socket

SESSION = "com.example.downloads.episodes"
MANAGER = 1
# As a Swift app finds it, below the folder that is the app's own.
SUPPORT = pathlib.Path(os.environ["HOME"], ".local/share")


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.owes_handler = False
        # What each task is of, and the highest number of one.
        self.urls = {}
        self.last = 0

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
            self.send(type="transfer.join", manager=MANAGER, id=1, session={"identifier": SESSION})
        elif kind == "reply":
            tasks = message.get("transfers", [])
            self.urls = {task["task"]: task["url"] for task in tasks}
            self.last = max(self.urls, default=0)
            log(f"tasks {len(tasks)}")
            self.begin()
            self.send(type="launched")
        elif kind == "callback" and message["name"] in ("didBecomeActive", "didEnterBackground", "willTerminate"):
            log(message["name"])
        elif kind == "deliver":
            self.deliver(message)
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])

    def begin(self):
        """Asks for the transfers in the first process of the app, and for none of them again."""
        SUPPORT.mkdir(parents=True, exist_ok=True)
        mark = SUPPORT / "begun"
        if mark.exists():
            return
        mark.touch()
        heard = SUPPORT / "heard.txt"
        heard.write_text("episode 1\n")
        if url := os.environ.get("DOWNLOAD_URL", "https://podcasts.example.com/episodes/3.mp3"):
            number = self.number(url)
            self.send(type="transfer.create", manager=MANAGER, task=number, kind="download", url=url)
            self.send(
                type="transfer.resume", manager=MANAGER, task=number, bytesToSend=200, bytesToReceive=10_000_000
            )
            log(f"download {number}")
        if url := os.environ.get("UPLOAD_URL", "https://podcasts.example.com/recordings"):
            number = self.number(url)
            file = os.environ.get("UPLOAD_FILE", str(heard))
            self.send(
                type="transfer.create", manager=MANAGER, task=number, kind="upload", url=url, method="PUT", file=file
            )
            self.send(type="transfer.resume", manager=MANAGER, task=number)
            log(f"upload {number}")

    def number(self, url):
        self.last += 1
        self.urls[self.last] = url
        return self.last

    def deliver(self, message):
        kind = message["kind"].removeprefix("transfer.")
        task = message.get("task", 0)
        if kind == "events":
            log(f"handleEvents {message['session']}")
            self.owes_handler = True
        elif kind == "finished":
            if file := message.get("file"):
                target = SUPPORT / "episode"
                os.replace(file, target)
                log(f"didFinishDownloading {task} {target.stat().st_size} bytes")
            if url := message.get("url"):
                log(f"redirected to {url}")
            log(f"didComplete {task} status={message['status']} error=0")
        elif kind == "failed":
            log(f"didComplete {task} status=0 error={message['code']}")
            if resumes := message.get("resumes"):
                self.go_on(task, resumes)
        elif kind == "challenged":
            log(f"didReceive challenge {message['realm']} {message.get('failures', 0)}")
            self.answer(task, message.get("failures", 0))
        elif kind == "progress" and message.get("sent"):
            log(f"didSendBodyData {message['sent']} of {message.get('expected', -1)}")
        elif kind == "progress":
            log(f"didWriteData {message.get('received', 0)} of {message.get('expected', -1)}")
        elif kind == "eventsFinished":
            log("didFinishEvents")
            if self.owes_handler:
                self.owes_handler = False
                self.send(type="transfer.handled", manager=0, session=SESSION)

    def go_on(self, task, resumes):
        """Asks for the rest of a download that has failed."""
        url = self.urls[task]
        rest = self.number(url)
        self.send(
            type="transfer.create", manager=MANAGER, task=rest, kind="download", url=url, resumes=resumes
        )
        self.send(type="transfer.resume", manager=MANAGER, task=rest)

    def answer(self, task, failures):
        if failures:
            self.send(type="transfer.answer", manager=MANAGER, task=task, answer="cancel")
        else:
            credential = {"user": "anna", "password": "secret"}
            self.send(type="transfer.answer", manager=MANAGER, task=task, answer="credential", **credential)


def log(line):
    print(line, flush=True)


App().run()
