#!/usr/bin/python3 -IS
"""An app that plays from another language: a ramp from -0.5 to 0.5 in steps of 1/4096, over and over, in both channels.

What else it does stands in BEHAVIOUR: `late` leaves the fifth buffer unanswered until the bench asks for another one, `hostile`
writes a position that cannot be after four buffers, `dies` ends with a signal after four buffers.
"""
import array
import json
import mmap
import os
import select
import signal
import socket
import struct

BEHAVIOUR = "plays"
MANAGER = 1
WRITTEN, WANTED, FRAMES, ENDED, SAMPLES = 64, 192, 200, 208, 4096


class Sound:
    def __init__(self, descriptors, capacity):
        self.doorbell, self.answer, memory = descriptors
        self.capacity = capacity
        self.memory = mmap.mmap(memory, SAMPLES + capacity * 8)
        self.written = 0
        self.buffers = 0
        self.ramp = array.array("f", [s for n in range(4096) for s in ((n - 2048) / 4096,) * 2]).tobytes()

    def number(self, place, form):
        return struct.unpack_from(form, self.memory, place)[0]

    def rung(self):
        os.read(self.doorbell, 8)
        if self.number(ENDED, "<I"):
            return False
        self.buffers += 1
        if BEHAVIOUR == "dies" and self.buffers == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        if BEHAVIOUR == "hostile" and self.buffers == 5:
            struct.pack_into("<Q", self.memory, WRITTEN, 1 << 60)
            return True
        if BEHAVIOUR != "late" or self.buffers != 5:
            self.render()
        os.write(self.answer, struct.pack("<Q", 1))
        return True

    def render(self):
        wanted, frames = self.number(WANTED, "<Q"), self.number(FRAMES, "<I")
        while self.written < wanted:
            count = min(frames, wanted - self.written)
            for frame in range(self.written, self.written + count):
                place, value = SAMPLES + frame % self.capacity * 8, frame % 4096 * 8
                self.memory[place : place + 8] = self.ramp[value : value + 8]
            self.written += count
        struct.pack_into("<Q", self.memory, WRITTEN, self.written)


class App:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.sound = None

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while True:
            watched = [self.socket] + ([self.sound.doorbell] if self.sound else [])
            ready, _, _ = select.select(watched, [], [])
            if self.socket in ready:
                packet, descriptors, _, _ = socket.recv_fds(self.socket, 65536, 4)
                if not packet:
                    return
                self.handle(json.loads(packet), descriptors)
            elif not self.sound.rung():
                self.sound = None

    def handle(self, message, descriptors):
        kind = message["type"]
        if kind == "welcome":
            self.send(type="audio.category", manager=MANAGER, category="playback", options=0)
            self.send(type="audio.start", manager=MANAGER, id=1, plays=True, records=False)
            self.send(type="launched")
        elif kind == "reply" and "audio" in message:
            self.sound = Sound(descriptors, message["audio"]["capacity"])
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])


App().run()
