#!/usr/bin/python3
"""Two apps in one file, over the documented wire alone. Started as `tone` it plays the samples of /tmp/played.raw, started as
`recorder` it keeps what it hears in /tmp/heard.f32."""
import array
import json
import mmap
import os
import select
import socket
import struct
import sys

MANAGER, START = 1, 2
WRITTEN, READ, WANTED, BUFFER, ENDED, SAMPLES = 64, 128, 192, 200, 208, 4096
PLAY_AND_RECORD, MIX = "play-and-record", 1


class Ring:
    """Sound in memory that is shared with the bench."""

    def __init__(self, descriptor, capacity, channels):
        self.capacity, self.frame = capacity, 4 * channels
        self.memory = mmap.mmap(descriptor, SAMPLES + capacity * self.frame)

    def get(self, place):
        return struct.unpack_from("<Q", self.memory, place)[0]

    def set(self, place, value):
        struct.pack_into("<Q", self.memory, place, value)

    @property
    def has_ended(self):
        return struct.unpack_from("<I", self.memory, ENDED)[0] != 0

    @property
    def buffer(self):
        return struct.unpack_from("<I", self.memory, BUFFER)[0]

    def pieces(self, position, frames):
        """Where so many frames are: one slice of the memory, or two round its end."""
        while frames > 0:
            start = position % self.capacity
            count = min(frames, self.capacity - start)
            yield slice(SAMPLES + start * self.frame, SAMPLES + (start + count) * self.frame)
            position, frames = position + count, frames - count

    def write(self, data):
        position = self.get(WRITTEN)
        for piece in self.pieces(position, len(data) // self.frame):
            count = piece.stop - piece.start
            self.memory[piece], data = data[:count], data[count:]
            position += count // self.frame
        self.set(WRITTEN, position)

    def read(self):
        first, last = self.get(READ), self.get(WRITTEN)
        data = b"".join(self.memory[piece] for piece in self.pieces(first, last - first))
        self.set(READ, last)
        return data


class App:
    def __init__(self, records):
        self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
        self.records = records
        self.ring = None
        self.doorbell = self.answer = -1

    def send(self, **message):
        self.socket.send(json.dumps(message).encode())

    def run(self):
        self.send(type="hello", version=1, client="python", pid=os.getpid())
        while True:
            waiting = [self.socket] + ([self.doorbell] if self.ring else [])
            ready = select.select(waiting, [], [])[0]
            # Sound first: it has a deadline.
            if self.doorbell in ready:
                self.turn()
            if self.socket in ready and not self.receive():
                return

    def receive(self):
        packet, descriptors, _, _ = socket.recv_fds(self.socket, 65536, 16)
        if not packet:
            return False
        message = json.loads(packet)
        if message["type"] == "welcome":
            self.send(type="audio.category", manager=MANAGER, options=MIX,
                      category=PLAY_AND_RECORD if self.records else "playback")
            self.send(type="audio.start", id=START, manager=MANAGER, plays=not self.records, records=self.records)
            self.send(type="launched")
        elif message["type"] == "reply" and message["id"] == START:
            self.begin(message, descriptors)
        elif message["type"] == "callback":
            log(message["name"])
        elif message["type"] == "deliver":
            log(f"heard of {message['kind']}")
        if "delivery" in message:
            self.send(type="ack", delivery=message["delivery"])
        return True

    def begin(self, message, descriptors):
        if "audio" not in message:
            log(f"refused {message}")
            return
        self.doorbell, self.answer, memory = descriptors
        self.ring = Ring(memory, message["audio"]["capacity"], 1 if self.records else 2)
        log(f"sounds rate={message['audio']['rate']} frames={message['audio']['frames']}")

    def turn(self):
        os.read(self.doorbell, 8)
        if self.ring.has_ended:
            log("ended")
            self.ring = None
            return
        self.sound()
        os.write(self.answer, struct.pack("<Q", 1))


class Tone(App):
    def __init__(self):
        super().__init__(records=False)
        samples = array.array("h")
        with open("/tmp/played.raw", "rb") as file:
            samples.frombytes(file.read())
        self.samples = array.array("f", (each / 32768 for each in samples)).tobytes()

    def sound(self):
        while (written := self.ring.get(WRITTEN)) < (wanted := self.ring.get(WANTED)):
            size = min(self.ring.buffer, wanted - written) * self.ring.frame
            piece, self.samples = self.samples[:size], self.samples[size:]
            if piece and not self.samples:
                log("all was played")
            self.ring.write(piece + bytes(size - len(piece)))


class Recorder(App):
    def __init__(self):
        super().__init__(records=True)
        self.file = open("/tmp/heard.f32", "wb")
        self.heard = False

    def sound(self):
        data = self.ring.read()
        self.file.write(data)
        self.file.flush()
        if any(data) != self.heard:
            self.heard = not self.heard
            log("hears something" if self.heard else "hears nothing")


def log(line):
    print(line, flush=True)


# Sound goes before everything ordinary.
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
(Recorder if "recorder" in sys.argv[0] else Tone)().run()
