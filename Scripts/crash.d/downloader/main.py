#!/usr/bin/python3
"""An app that downloads COUNT files once each, keeps each before it acknowledges it, and says what it was told.

The first process that the system launched waits for STALLS seconds at its first result, and has acknowledged none by then. With
SPOILS=file it has written something else into the file of that result before, with SPOILS=folder it has made a folder of that name,
with SPOILS=way a file in place of the folder that holds it, and with SPOILS=kept it has cut off what the bench keeps of task 1, and
added to that of task 2. With HOLDS it never says that it has handled a session's events."""
import json
import os
import pathlib
import shutil
import socket
import time

SESSION = "com.example.downloader.files"
MANAGER = 1
FILES = pathlib.Path(os.environ["HOME"], "files")
COUNT, BASE = int(os.environ["COUNT"]), os.environ["BASE_URL"]


def log(*words):
    # One write a line, which a kill does not cut.
    os.write(1, (" ".join(map(str, (f"{time.monotonic():.6f}", os.getpid(), *words))) + "\n").encode())


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.tasks = set()
        self.owes = False

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := self.socket.recv(65536):
            message = json.loads(packet)
            kind = message["type"]
            if kind == "welcome":
                log("launch")
                self.send(type="transfer.join", manager=MANAGER, id=1, session={"identifier": SESSION})
                self.ask(2)
            elif kind == "reply" and message["id"] >= 2:
                self.listed(message)
            elif kind == "deliver":
                self.deliver(message)
            if "delivery" in message:
                self.send(type="ack", delivery=message["delivery"])
                if kind == "deliver" and message["kind"] == "transfer.finished":
                    log("acknowledged", message["task"])

    def ask(self, number):
        self.send(type="transfer.tasks", manager=MANAGER, id=number, session=SESSION, after=max(self.tasks, default=0))

    def listed(self, message):
        """What the system has of the session comes in parts; what neither it nor the app has is begun."""
        found = {task["task"] for task in message.get("transfers", [])}
        self.tasks |= found
        for task in message.get("transfers", []):
            # A process that was killed between the two had made it and not resumed it.
            if task.get("suspended"):
                self.send(type="transfer.resume", manager=MANAGER, task=task["task"])
        if found:
            return self.ask(message["id"] + 1)
        FILES.mkdir(exist_ok=True)
        missing = [n for n in range(1, COUNT + 1) if n not in self.tasks and not (FILES / str(n)).exists()]
        for number in missing:
            self.send(type="transfer.create", manager=MANAGER, task=number, kind="download", url=f"{BASE}/{number}")
            self.send(type="transfer.resume", manager=MANAGER, task=number)
        log("begun", len(missing))
        self.send(type="launched")

    def stall(self, place):
        mark = FILES / "stalled"
        if os.environ.get("WAKEBENCH_CAUSE") and "STALLS" in os.environ and not mark.exists():
            mark.touch()
            log("stalls")
            if "SPOILS" in os.environ:
                self.spoil(pathlib.Path(place), os.environ["SPOILS"])
                log("spoils")
            time.sleep(float(os.environ["STALLS"]))

    def spoil(self, file, how):
        if how == "kept":
            kept = pathlib.Path(os.environ["HOME"], "../../transfers")
            os.truncate(kept / "1.download", 10)
            return os.truncate(kept / "2.download", 2_000)
        if how == "file":
            return file.write_bytes(b"spoiled")
        shutil.rmtree(file.parent)
        if how == "way":
            return file.parent.write_bytes(b"in the way")
        file.mkdir(parents=True)
        (file / "kept").write_bytes(b"in the way")

    def deliver(self, message):
        kind = message["kind"].removeprefix("transfer.")
        if kind == "events":
            self.owes = True
            log("events")
        elif kind == "finished":
            place = message.get("file")
            self.stall(place)
            if place and os.path.exists(place):
                os.replace(place, FILES / str(message["task"]))
                log("finished", message["task"], message["status"])
            else:
                log("nothing", message["task"], message["status"])
        elif kind == "failed":
            log("failed", message["task"], message["code"])
        elif kind == "eventsFinished" and self.owes:
            log("eventsFinished")
            self.owes = False
            if "HOLDS" not in os.environ:
                self.send(type="transfer.handled", manager=0, session=SESSION)


App().run()
