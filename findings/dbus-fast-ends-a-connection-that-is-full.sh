#!/usr/bin/env bash
# dbus-fast 5.2.0 (PyPI, the D-Bus library of bleak) ends its connection when the socket is full at the moment a message begins: the
# BlockingIOError of the non-blocking socket is taken for the connection's failure, where a write in the middle of a message waits until
# there is room. So a program that signals faster than its peer reads, for as long as it takes to fill a socket, is off the bus.
#
# Seen: a peer that answers Hello and then reads nothing. After some hundred signals of 200 octets the client is not connected any more,
# and wait_for_disconnect raises BlockingIOError: [Errno 11] Resource temporarily unavailable. This script fails when that has changed.
# It needs python3 with venv, and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check dbus-fast==5.2.0
"$folder/venv/bin/python" - "$folder/bus" <<'END'
import asyncio
import socket
import sys
import threading

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus


def peer(server, held):
    """A bus that lets its client in, answers Hello, and reads no more."""
    client, _ = server.accept()
    held.append(client)
    stream = client.makefile("rb", buffering=0)
    stream.read(1)
    while not (line := stream.readline()).startswith(b"BEGIN"):
        client.sendall(b"AGREE_UNIX_FD\r\n" if line.startswith(b"NEGOTIATE") else b"OK " + b"0" * 32 + b"\r\n")
    # The serial number of Hello, in the octets 8 to 11 of its head.
    head = client.recv(16, socket.MSG_WAITALL)
    answer = Message(
        message_type=MessageType.METHOD_RETURN, reply_serial=int.from_bytes(head[8:12], "little"), serial=1,
        sender="org.freedesktop.DBus", destination=":1.1", signature="s", body=[":1.1"],
    )
    client.sendall(bytes(answer._marshall(False)))


async def main(path):
    # The futures of what was not sent are of no interest.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    server, held = socket.socket(socket.AF_UNIX), []
    server.bind(path)
    server.listen()
    threading.Thread(target=peer, args=(server, held), daemon=True).start()
    bus = await asyncio.wait_for(MessageBus(bus_address=f"unix:path={path}").connect(), 20)
    sent = []
    for number in range(4000):
        signal = Message.new_signal("/a", "a.b", "C", "s", [f"{number:0100d}"])
        signal.serial = bus.next_serial()
        try:
            sent.append(bus.send(signal))
        except OSError:
            # Its socket is closed by now.
            break
    try:
        await asyncio.wait_for(bus.wait_for_disconnect(), 20)
        said = "it ended"
    except asyncio.TimeoutError:
        said = "the connection is there after 20 s"
    except OSError as error:
        said = f"{type(error).__name__}: {error}"
    print(f"after {len(sent)} signals: {said}")
    assert said.startswith("BlockingIOError: "), "dbus-fast behaves differently now"
    print("as found with dbus-fast 5.2.0")


asyncio.run(main(sys.argv[1]))
END
