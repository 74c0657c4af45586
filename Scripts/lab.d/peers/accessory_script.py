"""What an accessory of a file under Devices/Accessory does on one of its protocols, for the programs that play it.

The simulated end plays the same file, so both ends of a comparison have one script: the timetable begins with the session,
the timetable of an answer when its bytes have arrived, and an armed fault does its work once.
"""

import asyncio
import os

import yaml
from device_format import flat, octets, say, seconds, spelled_out


def load(path):
    with open(path, encoding="utf-8") as text:
        # Every scalar stays text: 0104 and 1101 are not numbers.
        file = yaml.load(text, Loader=yaml.BaseLoader)
    if file.get("device") != "external-accessory":
        raise SystemExit(f"accessory: {path} is no external-accessory")
    return file


def is_set(value):
    return value in ("true", "yes", "on")


def pattern(described):
    """The blocks of a long pattern, in which each byte tells its place."""
    count, block = int(described["bytes"]), int(described.get("block", 1024))
    for start in range(0, count, block):
        places = range(start, min(start + block, count))
        yield bytes((place ^ place >> 8 ^ place >> 16 ^ place >> 24) & 0xFF for place in places)


def values(entry):
    """The values of an entry of a timetable, and the seconds between them."""
    if "text" in entry:
        return [text.encode() for text in entry["text"]], seconds(entry.get("every", "0"))
    if "pattern" in entry:
        return pattern(entry["pattern"]), seconds(entry.get("every", "0"))
    listed, every = spelled_out(entry)
    return listed, seconds(every)


class Faults:
    """The faults of an accessory. An armed one does its work once, over all sessions."""

    def __init__(self, file):
        self.described = {fault["name"]: fault for fault in file.get("faults", [])}
        self.received_left = self.sent_left = self.back_after = None
        self.unplug = None
        self.garbage = 0
        self.stalled = asyncio.Event()
        self.stalled.set()

    def arm(self, name, session):
        fault = self.described[name]
        if "unplug-after-received" in fault:
            self.received_left = int(fault["unplug-after-received"])
        elif "unplug-after-sent" in fault:
            self.sent_left = int(fault["unplug-after-sent"])
        elif "stall" in fault:
            self.stalled.clear()
            asyncio.get_running_loop().call_later(seconds(fault["stall"]), self.stalled.set)
        elif "garbage" in fault:
            self.garbage = int(fault["garbage"])
        elif session:
            session.flood(int(fault["flood"]))
        self.back_after = seconds(fault["back-after"]) if "back-after" in fault else None
        say("armed", name)

    def got(self, count):
        """Whether the accessory is pulled now."""
        if self.received_left is None:
            return False
        self.received_left -= count
        if self.received_left > 0:
            return False
        self.received_left = None
        return True

    def sent(self):
        if self.sent_left is None:
            return False
        self.sent_left -= 1
        if self.sent_left > 0:
            return False
        self.sent_left = None
        return True


class Session:
    """One session of a protocol, from its opening to its end.

    `write` takes bytes and returns when they are on their way; `pull` takes the accessory away.
    """

    LONGEST_ANSWER = 256

    def __init__(self, described, faults, write, pull):
        self.described, self.faults, self.write, self.pull = described, faults, write, pull
        self.tail = b""
        self.answers = [self.answered_bytes(answer) for answer in described.get("answers", [])]
        self.players = {}
        self.echoes = asyncio.Queue()
        self.lock = asyncio.Lock()
        self.start("timetable", self.play(described))
        if is_set(described.get("echo")):
            self.start("echo", self.play_echo())

    @staticmethod
    def answered_bytes(answer):
        return (answer["text"].encode() if "text" in answer else octets(answer["hex"])), answer

    def start(self, name, playing):
        """Begins a timetable; one of the name that runs already begins anew."""
        if name in self.players:
            self.players[name].cancel()
        self.players[name] = asyncio.ensure_future(playing)

    def end(self):
        for player in self.players.values():
            player.cancel()

    def got(self, arrived):
        """The first byte that completes an answer's question counts, whatever the pieces in which bytes arrive."""
        if self.faults.got(len(arrived)):
            self.pull()
            return
        if is_set(self.described.get("echo")):
            self.echoes.put_nowait(arrived)
        for byte in arrived:
            self.tail = (self.tail + bytes([byte]))[-self.LONGEST_ANSWER :]
            for index, (question, answer) in enumerate(self.answers):
                if self.tail.endswith(question):
                    say("asked", question.hex())
                    self.start(index, self.play(answer))

    def flood(self, count):
        self.start("flood", self.send_all(pattern({"bytes": count, "block": 4096})))

    async def send_all(self, blocks):
        for block in blocks:
            await self.send(block)

    async def play_echo(self):
        while True:
            await self.send(await self.echoes.get(), says=False)

    async def play(self, timetable):
        entries = timetable.get("send", [])
        while entries:
            for entry in flat(entries):
                listed, every = values(entry)
                pause = seconds(entry.get("after", "0"))
                for value in listed:
                    await asyncio.sleep(pause)
                    await self.send(value)
                    pause = every
            if not is_set(timetable.get("repeat")):
                return

    async def send(self, value, says=True):
        async with self.lock:
            await self.faults.stalled.wait()
            if self.faults.garbage:
                nonsense, self.faults.garbage = self.faults.garbage, 0
                await self.write(bytes((7 * place + 0x80) & 0xFF for place in range(nonsense)))
            await self.write(value)
        if says and len(value) <= 64:
            say("sent", value.hex())
        if self.faults.sent():
            self.pull()


def follow(path, heard):
    """Hears the lines written to a named pipe, by one writer after the other."""
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    rest = bytearray()

    def readable():
        rest.extend(os.read(descriptor, 4096))
        while b"\n" in rest:
            line, _, after = bytes(rest).partition(b"\n")
            rest[:] = after
            if line.strip():
                heard(line.decode().split())

    asyncio.get_running_loop().add_reader(descriptor, readable)
