#!/usr/bin/python3
"""Notes in a database that lies outside of the app's own folder, as one of an app group does.

Launched for the first time, it goes to the background in the middle of a transaction: the database is locked, and the system ends
the app as it is to be suspended (0xdead10cc). From then on it commits before it returns from didEnterBackground.
"""
import json
import os
import socket
import sqlite3

DATABASE = "../group-notes.db"
BURNT = "was-ended-for-its-lock"


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.database = sqlite3.connect(DATABASE, isolation_level=None)
        self.is_careful = os.path.exists(BURNT)

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while packet := self.socket.recv(65536):
            self.handle(json.loads(packet))

    def handle(self, message):
        if message["type"] == "welcome":
            self.database.execute("CREATE TABLE IF NOT EXISTS notes (text TEXT)")
            self.database.execute("BEGIN IMMEDIATE")
            self.database.execute("INSERT INTO notes VALUES ('a note')")
            self.send(type="launched")
        elif message.get("name") == "didEnterBackground":
            if self.is_careful:
                self.database.execute("COMMIT")
            else:
                open(BURNT, "w").close()
            count = self.database.execute("SELECT count(*) FROM notes").fetchone()[0]
            print(f"{count} notes, {'saved' if self.is_careful else 'not saved yet'}", flush=True)
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])


App().run()
