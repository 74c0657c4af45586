"""Serves org.bluez on a bus with radios behind it: Scripts/radio/bridge --folder FOLDER --hci TRANSPORT."""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import sys

if __name__ == "__main__":
    # Ctrl-C ends it without a traceback while Bumble is imported, which takes a second.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from .adapter import Adapter
from .agent import AgentManager
from .bus import Bus, BusFailure
from .host import PATIENCE, RadioFailure, quiet_loop
from .keys import Keys, KeysFailure
from .private_bus import PrivateBus, PrivateBusFailure

# Seconds that the end may take.
ENDING = 3.5
FAILED = 12

ABOUT = """\
Serves org.bluez, the Bluetooth service of Linux, on a D-Bus of its own or on one that is there. Its radios are Bumble
hosts on any HCI transport; the kernel's Bluetooth, bluetoothd and root are not needed.

When the name is owned, one line is written: a JSON object {"adapters": [{"path": "/org/bluez/hci0", "address":
"00:AA:01:00:00:02", "transport": "..."}]}. SIGTERM and SIGINT end it within 4 seconds: links are disconnected first.
Exit code 12: the bus or a transport cannot be used; standard error says why.
"""
TRANSPORTS = """\
transports: usb:0 (the first dongle)  serial:/dev/ttyUSB0,1000000  tcp-client:HOST:PORT  unix:PATH  pty:  hci-socket:0
android-netsim  ws-client:URL  udp:...; see Bumble's documentation for each.
"""


def options():
    parser = argparse.ArgumentParser(
        prog="Scripts/radio/bridge", description=ABOUT, epilog=TRANSPORTS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    places = parser.add_mutually_exclusive_group(required=True)
    places.add_argument(
        "--folder", help="a bus of its own: dbus-daemon with the socket FOLDER/bus and the log FOLDER/bus.log"
    )
    places.add_argument("--bus", metavar="ADDRESS", help="a bus that is there, such as unix:path=/tmp/bus")
    parser.add_argument(
        "--hci", required=True, action="append", metavar="TRANSPORT",
        help="a controller; several make hci0, hci1 and so on",
    )
    parser.add_argument("--keys", metavar="FOLDER", help="keep the keys of paired devices there; else they are lost")
    parser.add_argument("--ready", type=int, metavar="FD", help="write the line there and close it; else it is printed")
    parser.add_argument("--parent", type=int, metavar="FD", help="end when this pipe ends")
    parser.add_argument("--verbose", action="store_true", help="tell more on standard error")
    chosen = parser.parse_args()
    for name in ("ready", "parent"):
        try:
            if (number := getattr(chosen, name)) is not None:
                os.fstat(number)
        except (OSError, OverflowError):
            parser.error(f"--{name}: {number} is no open descriptor; pass it on to this process")
    return chosen


def complain(text):
    """Says it on standard error, where it is still read: its reader may have gone first."""
    with contextlib.suppress(OSError):
        print(f"radio: {text}", file=sys.stderr, flush=True)


def watch_ends(chosen, ended):
    """Ends by signals, and by the end of the parent's pipe."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    if chosen.parent is not None:
        os.set_blocking(chosen.parent, False)

        def readable():
            try:
                if os.read(chosen.parent, 1024):
                    return
            except BlockingIOError:
                return
            except OSError:
                pass
            loop.remove_reader(chosen.parent)
            ended.set()

        loop.add_reader(chosen.parent, readable)


async def begin(chosen, bus, agents, adapters):
    await bus.open()
    # One that fails ends all.
    await asyncio.gather(*(each.open(PATIENCE) for each in adapters))
    for each in adapters:
        # It may be gone while the others were opened.
        each.check_there()
    bus.add("/org/bluez", agents)
    for each in adapters:
        each.announce()
    # Last: clients that see the name list the objects at once.
    await bus.own("org.bluez")
    line = json.dumps({
        "adapters": [
            {"path": each.place, "address": each.radio.address.to_string(False), "transport": each.transport}
            for each in adapters
        ]
    })
    if chosen.ready is None:
        print(line, flush=True)
    else:
        with open(chosen.ready, "w", encoding="utf-8", closefd=chosen.ready > 2) as ready:
            print(line, file=ready)


async def run(chosen):
    quiet_loop(chosen.verbose)
    ended = asyncio.Event()
    watch_ends(chosen, ended)
    place = chosen.bus or f"unix:path={chosen.folder}/bus"
    bus = Bus(place)
    agents = AgentManager(bus)
    adapters = [
        Adapter(bus, index, transport, Keys(chosen.keys), agents) for index, transport in enumerate(chosen.hci)
    ]
    beginning = asyncio.ensure_future(begin(chosen, bus, agents, adapters))
    # Its failure is not read when a signal came first.
    beginning.add_done_callback(lambda task: task.cancelled() or task.exception())
    stop = asyncio.ensure_future(ended.wait())
    code = 0
    try:
        await asyncio.wait({beginning, stop}, return_when=asyncio.FIRST_COMPLETED)
        if beginning.done():
            beginning.result()
            await asyncio.wait({stop, bus.gone}, return_when=asyncio.FIRST_COMPLETED)
            if not stop.done():
                raise BusFailure(bus.gone.result() or "it is gone")
    except BusFailure as failure:
        complain(f"{place}: {failure}; see whether dbus-daemon runs there")
        code = FAILED
    except (RadioFailure, KeysFailure) as failure:
        complain(failure)
        code = FAILED
    await asyncio.wait({asyncio.ensure_future(end(bus, adapters))}, timeout=ENDING)
    return code


async def end(bus, adapters):
    bus.closing = True
    await asyncio.gather(*(each.close() for each in adapters), return_exceptions=True)
    # What the ends of links tell is sent before the connection ends.
    await asyncio.sleep(0)
    bus.close()
    await asyncio.wait({bus.gone}, timeout=0.5)


def main():
    chosen = options()
    logging.basicConfig(
        level=logging.INFO if chosen.verbose else logging.WARNING, format="radio: %(message)s", stream=sys.stderr
    )
    if not chosen.verbose:
        # Bumble's warnings name packets; what matters of them is said here.
        logging.getLogger("bumble").setLevel(logging.CRITICAL)
    own = PrivateBus(chosen.folder) if chosen.folder else None
    try:
        if own:
            own.start()
        code = asyncio.get_event_loop_policy().new_event_loop().run_until_complete(run(chosen))
    except PrivateBusFailure as failure:
        complain(failure)
        code = FAILED
    if own:
        own.stop()
    # Threads of a transport, and calls that are never answered, do not hold the end up.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
