#!/usr/bin/env bash
# Bumble 0.0.236 (PyPI): a host has one command under way, and takes whatever Command Complete comes next for its answer. Where a command
# has timed out and the controller answers it late, as slow dongles and emulators do, that answer is given to the next command,
# though the opcode in the event is another's; all that Bumble does is log "command result mismatch". The answer of the next command then
# goes to the one after it, or is dropped with "no pending response future to set".
#
# Seen: HCI_Read_BD_ADDR is not answered in 0.2 s and times out; HCI_Read_Local_Name is sent, the answer to HCI_Read_BD_ADDR comes,
# and is returned for HCI_Read_Local_Name: opcode 0x1009 for 0x0c14. This script fails when that has changed. It needs python3 with
# venv, and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check bumble==0.0.236
"$folder/venv/bin/python" - <<'END'
import asyncio

from bumble import hci
from bumble.host import Host


class Slow:
    """A controller whose answer comes when the next command does."""

    def __init__(self):
        self.host, self.waiting = None, None

    def on_packet(self, packet):
        command = hci.HCI_Packet.from_bytes(packet)
        if self.waiting is not None:
            # Status 0 and an address: what HCI_Read_BD_ADDR returns.
            event = bytes([4, 0x0E, 10, 1]) + self.waiting.op_code.to_bytes(2, "little") + bytes([0, 1, 2, 3, 4, 5, 6])
            asyncio.get_running_loop().call_soon(self.host.on_packet, event)
        self.waiting = command


async def main():
    controller = Slow()
    host = Host()
    controller.host = host
    host.set_packet_sink(controller)
    host.ready = True
    try:
        await host._send_command(hci.HCI_Read_BD_ADDR_Command(), response_timeout=0.2)
        raise AssertionError("the first command was answered")
    except asyncio.TimeoutError:
        print("0x1009 is not answered in 0.2 s")
    answer = await host._send_command(hci.HCI_Read_Local_Name_Command(), response_timeout=5)
    print(f"0x0c14 is answered with the answer to 0x{answer.command_opcode:04x}")
    assert answer.command_opcode == 0x1009, "Bumble behaves differently now"
    print("as found with bumble 0.0.236")


asyncio.run(main())
END
