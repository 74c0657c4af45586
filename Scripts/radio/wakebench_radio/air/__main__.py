"""Device files as true Bluetooth LE peripherals, centrals and beacons.

    wakebench air DEVICE.yaml[=NAME]... --hci TRANSPORT [--hci TRANSPORT]...
    wakebench air DEVICE.yaml[=NAME]... --link FOLDER|tcp:HOST:PORT [--strangers N]
    wakebench air --link FOLDER|tcp:HOST:PORT --strangers N

With --hci each device has a transport of its own, of those that Bumble opens: usb:0, serial:PATH,
tcp-client:HOST:PORT, unix:PATH, pty:PATH, hci-socket:0, android-netsim. With --link the air is in this process:
linked controllers on the sockets FOLDER/0, for the bench, FOLDER/1 and so on, for the devices, and behind them those
of the strangers, which may be there alone; or on TCP ports from PORT on in the same order, where port 0 takes free
ones.

What comes about is a line each on standard output, `NAME: WORDS`; NAME is `air` for what concerns all. Lines on
standard input are orders, `[NAME: ]ORDER`, where NAME can be left out with one device: notify UUID HEX, disconnect,
silence, advertise, leave (silence and disconnect), arm FAULT, stop, and quit, which ends all. Each is answered by
`ok`, or `no: REASON`, in the order in which they came.
"""

import argparse
import asyncio
import json
import logging
import os
import pathlib
import re
import signal
import socket
import stat
import sys

if __name__ == "__main__":
    # Ctrl-C ends it without a traceback while Bumble is imported, which takes a second.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from . import device_file
from .beacon import Beacon
from .central import Central
from .failures import USAGE, Failure, FileError, Refused, TransportError
from .peripheral import Peripheral
from .served import bug_of

KINDS = {"bluetooth-peripheral": Peripheral, "bluetooth-central": Central, "ibeacon": Beacon}
NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
RESERVED = {"air", "ok", "no"}
# Orders that wait for those before them, and octets of one.
ORDERS, LONGEST_ORDER = 64, 4096
INTERRUPTED = 130
# Ports of linked controllers: the host, and the first of them.
PORT = re.compile("tcp:(.*):([0-9]{1,5})")
# How the names of transports begin, and no folder.
KIND = re.compile("[a-z-]+:")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"air: {message}; see --help", file=sys.stderr)
        sys.exit(USAGE)


def parsed(arguments):
    parser = Parser(
        prog="wakebench air", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("device", nargs="*", metavar="DEVICE.yaml[=NAME]", help="a device file, and its name here")
    parser.add_argument("--hci", action="append", default=[], metavar="TRANSPORT", help="one a device")
    parser.add_argument(
        "--link", metavar="FOLDER|tcp:HOST:PORT",
        help="the folder of the sockets of linked controllers, or the first of their ports",
    )
    parser.add_argument("--strangers", type=int, default=0, metavar="N", help="that many sockets more, at most 200")
    parser.add_argument("--ready", type=int, metavar="FD", help="takes a line once all are on the air: a JSON object")
    parser.add_argument("--parent", type=int, metavar="FD", help="a pipe whose end ends this")
    parser.add_argument(
        "--again", type=float, metavar="SECONDS",
        help="advertises and scans anew so often; for controllers that send an advertisement once, as btvirt's",
    )
    parser.add_argument("--no-security", action="store_true", help="asks for no encryption, whatever a file says")
    for word, what in (
        ("local-name", "NAME=TEXT: the name on the air, in place of the file's"),
        ("address", "NAME=ADDRESS: the address, in place of the file's"),
        ("bug", "NAME=BUG: what the first value of LENGTH or more octets that is written does: hang:LENGTH, no request"
         " is answered any more; vanish:LENGTH, the link ends, and it advertises no more; none"),
        ("fault", "NAME=FAULT: armed from the beginning; may be given several times"),
        ("capture", "NAME=FILE: a btsnoop file of what goes between the device and its controller"),
    ):
        parser.add_argument(f"--{word}", action="append", default=[], metavar="NAME=WORD", help=what)
    options = parser.parse_args(arguments)
    if not options.device and not options.strangers:
        parser.error("expected a device file, or --link with --strangers")
    if bool(options.hci) == bool(options.link):
        parser.error("expected --hci with a transport a device, or --link, and not both")
    named = []
    for each in options.device:
        path, mark, name = each.rpartition("=")
        path, name = (path, name) if mark else (each, pathlib.Path(each).stem)
        if not NAME.fullmatch(name) or name in RESERVED:
            parser.error(f"{each}: '{name}' is no name for a device; use DEVICE.yaml=NAME with letters, digits, - _ .")
        if name in [known for _, known in named]:
            parser.error(f"{each}: a second device '{name}'; use DEVICE.yaml=NAME")
        named.append((path, name))
    if options.hci and len(options.hci) != len(named):
        parser.error(f"a transport for each device: {len(options.hci)} for {len(named)}; give each one of its own")
    if options.link and KIND.match(options.link):
        found = PORT.fullmatch(options.link)
        if not found:
            parser.error(f"--link {options.link}: expected a folder or tcp:HOST:PORT")
        if int(found[2]) + len(options.device) + options.strangers > 65_535:
            parser.error(f"--link {options.link}: no port is left for the last controller")
    if not 0 <= options.strangers <= 200 or options.strangers and not options.link:
        parser.error(f"--strangers {options.strangers}: 0 to 200, and with --link only")
    if options.again is not None and not 0.1 <= options.again <= 3600:
        parser.error(f"--again {options.again}: 0.1 to 3600 seconds")
    common = {"again": options.again, "no_security": options.no_security}
    own = {name: {**common, "called": name, "faults": []} for _, name in named}
    words = {
        "name": options.local_name, "address": options.address, "bug": options.bug, "fault": options.fault,
        "capture": options.capture,
    }
    for key, said in words.items():
        for each in said:
            name, mark, value = each.partition("=")
            if not mark or name not in own:
                parser.error(f"{each}: no device '{name}'; use NAME=WORD with {', '.join(own) or 'a device file'}")
            if key == "fault":
                own[name]["faults"].append(value)
            else:
                own[name][key] = value
    for each in own.values():
        try:
            bug_of(each.get("bug", "none"))
            if "address" in each:
                device_file.address(each["address"])
        except (ValueError, FileError) as error:
            parser.error(str(error).removeprefix("device: "))
    return options, named, own


class Orders:
    """Lines of a descriptor, in order. Its end ends nothing."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.lines, self.rest = asyncio.Queue(), b""
        self.reads = self.is_over = False
        try:
            mode = os.fstat(descriptor).st_mode
        except OSError:
            return
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor):
            self.listen()
        elif stat.S_ISREG(mode):
            self.rest = os.read(descriptor, ORDERS * LONGEST_ORDER)
            self.cut()

    def listen(self):
        if not self.is_over and not self.reads:
            asyncio.get_running_loop().add_reader(self.descriptor, self.hear)
            self.reads = True

    def rest_from_reading(self):
        if self.reads:
            asyncio.get_running_loop().remove_reader(self.descriptor)
            self.reads = False

    def hear(self):
        try:
            data = os.read(self.descriptor, LONGEST_ORDER)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        self.rest += data
        self.cut()
        self.is_over = not data
        if self.is_over or self.lines.qsize() >= ORDERS:
            self.rest_from_reading()

    def cut(self):
        *lines, self.rest = self.rest.split(b"\n")
        if len(self.rest) > LONGEST_ORDER:
            lines, self.rest = [*lines, self.rest], b""
        for line in lines:
            self.lines.put_nowait(line.decode(errors="replace").strip())

    async def next(self):
        line = await self.lines.get()
        if self.lines.qsize() < ORDERS:
            self.listen()
        return line


class Players:
    """All devices of this process."""

    def __init__(self, options, named, own, orders=0):
        self.options, self.named, self.own, self.orders = options, named, own, orders
        self.ending = asyncio.get_running_loop().create_future()
        self.stations, self.servers = {}, []
        self.code = 0

    def end(self, code=0):
        if not self.ending.done():
            self.ending.set_result(code)

    def say(self, line):
        try:
            print(" ".join(line.split()), flush=True)
        except OSError:
            # It is not read any more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            self.end()

    def teller(self, name):
        return lambda *words: self.say(f"{name}: " + " ".join(str(each) for each in words))

    # Begin and end

    async def run(self):
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.end)
        loop.add_signal_handler(signal.SIGINT, self.end, INTERRUPTED)
        # In a shell's background there are no orders to be read, and this must not be stopped for asking.
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)
        if self.options.parent is not None:
            self.watch_parent(self.options.parent)
        try:
            files = [(name, device_file.read(path)) for path, name in self.named]
            for name, file in files:
                KINDS[file["device"]](file, "", lambda *_: None, self.own[name])
            transports = await self.link(len(files)) if self.options.link else self.options.hci
            for (name, file), transport in zip(files, transports):
                self.stations[name] = KINDS[file["device"]](file, transport, self.teller(name), self.own[name])
            if await self.unless_ended(each.live() for each in self.stations.values()):
                self.tell_ready()
                obeying = asyncio.ensure_future(self.obey())
                if await self.unless_ended(self.watch(each) for each in self.stations.values()) and self.options.link:
                    # The bench and strangers stay linked.
                    await self.ending
                obeying.cancel()
            return self.ending.result() if self.ending.done() and self.ending.result() else self.code
        except Failure as error:
            print(f"air: {error}", file=sys.stderr)
            return error.code
        finally:
            await asyncio.gather(*(each.stop() for each in self.stations.values()))
            for each in self.servers:
                each.close()

    async def unless_ended(self, works):
        """Whether all were done before the end came."""
        done = asyncio.gather(*works)
        await asyncio.wait({done, self.ending}, return_when=asyncio.FIRST_COMPLETED)
        if done.done():
            done.result()
            return True
        done.cancel()
        await asyncio.gather(done, return_exceptions=True)
        return False

    async def link(self, count):
        """Listens on the sockets, and gives the transports of the devices."""
        # With --hci there are none of Bumble's controllers, which take a slow machine seconds to import.
        from ..link import Air, serve

        air, (place, remedy) = Air(), self.place()
        try:
            for number in range(1 + count + self.options.strangers):
                self.servers.append(await serve(place(number), air, number + 1))
        except OSError as error:
            if isinstance(error, socket.gaierror):
                remedy = "see the host's name"
            raise TransportError(f"{self.options.link}: {error.strerror or error}; {remedy}") from None
        transports = [each.transport for each in self.servers]
        self.say(f"air: bench {transports[0]}")
        for each in transports[1 + count:]:
            self.say(f"air: stranger {each}")
        return transports[1:1 + count]

    def place(self):
        """What gives the socket of a controller by its number, and what helps where it cannot be had."""
        if found := PORT.fullmatch(self.options.link):
            host, port = found[1], int(found[2])
            return lambda number: f"tcp:{host}:{port + number if port else 0}", "name another port"
        folder, remedy = pathlib.Path(self.options.link), "name a folder that can be written and no other air uses, by a short path"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise TransportError(f"{folder}: {error.strerror}; {remedy}") from None
        return lambda number: f"unix:{folder / str(number)}", remedy

    def tell_ready(self):
        self.say("air: ready")
        if self.options.ready is None:
            return
        devices = [
            {"name": name, "kind": each.kind, "address": each.address, "transport": each.where}
            for name, each in self.stations.items()
        ]
        transports = [each.transport for each in self.servers]
        told = {"bench": transports[:1], "devices": devices, "strangers": transports[1 + len(devices):]}
        try:
            with open(self.options.ready, "w", encoding="utf-8", closefd=self.options.ready > 2) as ready:
                ready.write(json.dumps(told) + "\n")
        except OSError as error:
            print(f"air: --ready {self.options.ready}: {error.strerror}", file=sys.stderr)

    def watch_parent(self, descriptor):
        def look():
            try:
                if os.read(descriptor, 256):
                    return
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                pass
            asyncio.get_running_loop().remove_reader(descriptor)
            self.end()

        try:
            asyncio.get_running_loop().add_reader(descriptor, look)
        except (OSError, ValueError) as error:
            print(f"air: --parent {descriptor}: {error}; give the end of a pipe", file=sys.stderr)
            self.end(USAGE)

    async def watch(self, station):
        """Until a device is lost, stops, or has nothing more to do."""
        waits = [station.lost, asyncio.ensure_future(station.ended.wait())]
        if station.kind == "central":
            waits.append(asyncio.ensure_future(station.finished.wait()))
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if station.lost.done():
            print(f"air: {station.lost.result()}", file=sys.stderr, flush=True)
            self.code = TransportError.code
        await station.stop()

    # Orders

    async def obey(self):
        orders = Orders(self.orders)
        try:
            while True:
                line = await orders.next()
                try:
                    await self.carry_out(line.split())
                    self.say("ok")
                except Refused as error:
                    self.say(f"no: {error}")
                except Exception as error:
                    self.say(f"no: {type(error).__name__} {error}")
        finally:
            orders.rest_from_reading()

    async def carry_out(self, words):
        if words == ["quit"]:
            self.end()
            return
        name = next(iter(self.stations)) if len(self.stations) == 1 else None
        if words and words[0].endswith(":"):
            name = words.pop(0)[:-1]
        if not words:
            raise Refused("an empty order; use 'NAME: ORDER'")
        if not self.stations:
            raise Refused("there is no device; only quit is an order")
        if name not in self.stations:
            found = "which device is meant" if name is None else f"no device '{name}'"
            raise Refused(f"{found}; use 'NAME: ORDER' with one of {', '.join(self.stations)}")
        await self.stations[name].order(words)


async def main(arguments, orders=0):
    """The exit code. `orders` is the descriptor that orders are read from."""
    return await Players(*parsed(arguments), orders).run()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="air: %(message)s")
    # Bumble's own lines name each packet; what matters of them is said here.
    logging.getLogger("bumble").setLevel(logging.CRITICAL)
    logging.getLogger("wakebench_radio.link").setLevel(logging.ERROR)
    sys.exit(asyncio.run(main(sys.argv[1:])))
