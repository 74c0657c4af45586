"""A USB accessory, played by the kernel's gadget side from a file under Devices/Accessory.

    gadget.py DEVICE.yaml [--control PIPE]

The file's vendor, product and serial number become the device's descriptors, and each protocol becomes a function: an ACM serial
port, or a HID interface with reports of the file's size. Attaching binds the gadget to dummy_hcd's controller, detaching
unbinds it. Needs root, and the modules dummy_hcd, libcomposite, usb_f_acm and usb_f_hid.

Each thing that happens is one line on standard output: `ready`, `attached`, `found NODE`, `detached`, `opened PROTOCOL`,
`closed PROTOCOL`, `got COUNT`, `asked HEX`, `sent HEX`, `armed FAULT`. Lines written to the named pipe PIPE drive it: `begin` starts the
file's presence, `attach` and `detach` do it now, `fault NAME` arms one of the file's faults.

A gadget is not told when the host's program opens the serial port, which a real accessory learns from its protocol's first
message or from DTR. Both sides are in one machine here, so the opening of the host's file is seen by inotify.
"""

import argparse
import asyncio
import ctypes
import os
import signal
import struct
import termios
import tty

from accessory_script import Faults, Session, follow, load
from device_format import say, seconds

GADGETS = "/sys/kernel/config/usb_gadget"
# The language of the strings: American English.
LANGUAGE = "0x409"
IN_OPEN, IN_CLOSE_WRITE, IN_CLOSE_NOWRITE, IN_CREATE = 0x20, 0x08, 0x10, 0x100


def write(path, text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else str(text).encode())


def is_free(controller):
    """Whether no gadget is bound to a device controller."""
    with open(f"/sys/class/udc/{controller}/function", encoding="ascii") as file:
        return not file.read().strip()


class Serial:
    """An ACM function. Bytes in pieces of any size."""

    kind = "acm"
    node_prefix = "ttyACM"

    def __init__(self, number, described):
        self.number = number

    def configure(self, folder):
        self.path = "/dev/ttyGS" + open(folder + "/port_num", encoding="ascii").read().strip()

    def open(self):
        descriptor = os.open(self.path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
        tty.setraw(descriptor, termios.TCSANOW)
        return descriptor

    def pieces(self, value):
        return [value]

    def arrived(self, piece):
        return piece


class Reports:
    """A HID function: reports of one number and size, in both directions."""

    kind = "hid"
    node_prefix = "hidraw"

    def __init__(self, number, described):
        described = described["hid"] or {}
        self.size = int(described.get("size", 64))
        self.report = bytes([int(described["report"])]) if "report" in described else b""

    def descriptor(self):
        """Usage page of the vendor's own; one collection with one input and one output of bytes."""
        number = b"\x85" + self.report if self.report else b""
        count = b"\x96" + struct.pack("<H", self.size)
        byte = b"\x15\x00\x26\xff\x00\x75\x08"
        fields = b"".join(count + b"\x09\x01" + item for item in (b"\x81\x02", b"\x91\x02"))
        return b"\x06\x00\xff\x09\x01\xa1\x01" + number + byte + fields + b"\xc0"

    def configure(self, folder):
        write(folder + "/protocol", 0)
        write(folder + "/subclass", 0)
        write(folder + "/report_length", self.size + len(self.report))
        write(folder + "/report_desc", self.descriptor())
        self.folder = folder

    def open(self):
        major, minor = open(self.folder + "/dev", encoding="ascii").read().strip().split(":")
        path = os.path.realpath(f"/dev/char/{major}:{minor}")
        if not os.path.exists(path):
            path = "/dev/" + os.path.basename(os.path.realpath(f"/sys/dev/char/{major}:{minor}"))
        return os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def pieces(self, value):
        cut = [value[start : start + self.size] for start in range(0, len(value), self.size)]
        return [self.report + piece.ljust(self.size, b"\0") for piece in cut]

    def arrived(self, piece):
        # What fills a report up is no part of what was said.
        return piece[len(self.report) :].rstrip(b"\0")


class Openings:
    """Who opens and closes files in /dev, and which appear there."""

    def __init__(self, heard):
        self.heard = heard
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        mask = IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE | IN_CREATE
        if self.descriptor < 0 or libc.inotify_add_watch(self.descriptor, b"/dev", mask) < 0:
            raise OSError(ctypes.get_errno(), "inotify")
        asyncio.get_running_loop().add_reader(self.descriptor, self.read)

    def read(self):
        events, place = os.read(self.descriptor, 65536), 0
        while place < len(events):
            _, mask, _, length = struct.unpack_from("iIII", events, place)
            name = events[place + 16 : place + 16 + length].rstrip(b"\0").decode()
            place += 16 + length
            self.heard(name, mask)


class Function:
    """One protocol: the gadget's file, and the session while the host has its file open."""

    def __init__(self, accessory, number, described):
        self.accessory, self.described = accessory, described
        self.line = (Serial if "tty" in described else Reports)(number, described)
        link = described.get("tty", described.get("hid")) or {}
        self.interface = int(link.get("interface", 0))
        self.descriptor = self.node = self.session = None
        self.opens = 0
        self.writable = asyncio.Event()

    def attached(self):
        self.descriptor = self.line.open()
        asyncio.get_running_loop().add_reader(self.descriptor, self.readable)

    def detached(self):
        self.ended()
        self.node, self.opens = None, 0
        if self.descriptor is not None:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self.descriptor)
            loop.remove_writer(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = None

    def opened(self):
        self.opens += 1
        if self.session is None:
            say("opened", self.described["protocol"])
            self.session = Session(self.described, self.accessory.faults, self.send, self.accessory.pull)

    def closed(self):
        self.opens = max(0, self.opens - 1)
        if self.opens == 0:
            self.ended()

    def ended(self):
        if self.session:
            say("closed", self.described["protocol"])
            self.session.end()
            self.session = None

    def readable(self):
        try:
            piece = os.read(self.descriptor, 4096)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            asyncio.get_running_loop().remove_reader(self.descriptor)
            return
        arrived = self.line.arrived(piece)
        say("got", len(arrived), arrived[:32].hex())
        if self.session:
            self.session.got(arrived)

    async def send(self, value):
        for piece in self.line.pieces(value):
            while piece:
                try:
                    piece = piece[os.write(self.descriptor, piece) :]
                except BlockingIOError:
                    await self.room()

    async def room(self):
        loop = asyncio.get_running_loop()
        self.writable.clear()
        loop.add_writer(self.descriptor, self.writable.set)
        try:
            await self.writable.wait()
        finally:
            if self.descriptor is not None:
                loop.remove_writer(self.descriptor)


class Accessory:
    def __init__(self, file):
        self.file = file
        self.faults = Faults(file)
        self.folder = f"{GADGETS}/g{os.getpid()}"
        self.serial = file["usb"].get("serial-number", "")
        self.presence = file.get("presence", [])
        described = sorted(file["protocols"], key=lambda one: int((one.get("tty") or one.get("hid") or {}).get("interface", 0)))
        self.functions = [Function(self, number, one) for number, one in enumerate(described)]
        self.is_attached = False
        self.held = []
        self.openings = Openings(self.heard)

    def configure(self):
        if not os.path.isdir(GADGETS):
            os.system("mount -t configfs configfs /sys/kernel/config")
        usb, folder = self.file["usb"], self.folder
        strings = f"{folder}/strings/{LANGUAGE}"
        os.makedirs(folder)
        os.makedirs(strings)
        os.makedirs(folder + "/configs/c.1")
        write(folder + "/idVendor", "0x" + usb["vendor"])
        write(folder + "/idProduct", "0x" + usb["product"])
        for name, text in (
            ("serialnumber", self.serial),
            ("manufacturer", self.file.get("manufacturer", "")),
            ("product", self.file["name"]),
        ):
            write(f"{strings}/{name}", text)
        for number, function in enumerate(self.functions):
            name = f"{function.line.kind}.{os.getpid()}-{number}"
            os.makedirs(f"{folder}/functions/{name}")
            function.line.configure(f"{folder}/functions/{name}")
            os.symlink(f"{folder}/functions/{name}", f"{folder}/configs/c.1/{name}")

    # Plugging

    def attach(self):
        if self.is_attached:
            return
        self.is_attached = True
        write(self.folder + "/UDC", next(name for name in sorted(os.listdir("/sys/class/udc")) if is_free(name)))
        for function in self.functions:
            function.attached()
        say("attached")

    def detach(self):
        if not self.is_attached:
            return
        self.is_attached = False
        write(self.folder + "/UDC", "\n")
        for function in self.functions:
            function.detached()
        say("detached")

    def pull(self):
        """A fault takes it away, perhaps for a while. It is back under another number: the one that it had is held, as by a
        program that has not noticed yet."""
        back = self.faults.back_after
        if back is not None:
            for function in self.functions:
                if function.node and function.node.startswith("ttyACM"):
                    self.held.append(os.open("/dev/" + function.node, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
        self.detach()
        if back is not None:
            asyncio.get_running_loop().call_later(back, self.attach)

    async def play_presence(self):
        for change in self.presence:
            word, pause = next(iter(change.items()))
            await asyncio.sleep(seconds(pause))
            self.attach() if word == "attach" else self.detach()

    # The host's files

    def heard(self, name, mask):
        if mask & IN_CREATE:
            self.found(name)
        for function in self.functions:
            if function.node == name:
                if mask & IN_OPEN:
                    function.opened()
                elif mask & (IN_CLOSE_WRITE | IN_CLOSE_NOWRITE):
                    function.closed()

    def found(self, name):
        for function in self.functions:
            if name.startswith(function.line.node_prefix) and self.is_ours(name, function.interface):
                function.node = name
                say("found", name)

    def is_ours(self, name, interface):
        """Whether a file of the host belongs to this device and an interface of it."""
        kind = "tty" if name.startswith("tty") else "hidraw"
        place, number = os.path.realpath(f"/sys/class/{kind}/{name}/device"), None
        while place != "/":
            if number is None and os.path.exists(place + "/bInterfaceNumber"):
                number = int(open(place + "/bInterfaceNumber", encoding="ascii").read(), 16)
            if os.path.exists(place + "/idVendor"):
                serial = place + "/serial"
                there = open(serial, encoding="utf-8").read().strip() if os.path.exists(serial) else ""
                return number == interface and there == self.serial
            place = os.path.dirname(place)
        return False

    # Driving

    def control(self, words):
        if words[0] == "begin":
            self.playing = asyncio.ensure_future(self.play_presence())
        elif words[0] == "attach":
            self.attach()
        elif words[0] == "detach":
            self.detach()
        elif words[0] == "fault":
            self.faults.arm(" ".join(words[1:]), next((each.session for each in self.functions if each.session), None))

    async def live(self, control):
        self.configure()
        if not self.presence or "detach" in self.presence[0]:
            self.attach()
        if control:
            follow(control, self.control)
        say("ready")
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        await ended.wait()
        self.detach()
        say("ended")


async def main():
    parser = argparse.ArgumentParser(description="Plays a USB accessory from a file under Devices/Accessory.")
    parser.add_argument("device")
    parser.add_argument("--control")
    arguments = parser.parse_args()
    file = load(arguments.device)
    if "usb" not in file:
        raise SystemExit(f"gadget: {arguments.device} is not on USB")
    await Accessory(file).live(arguments.control)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
