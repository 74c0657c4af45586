#!/usr/bin/env bash
# Bumble 0.0.236 (PyPI): a peripheral that advertises by extended commands learns under which of its addresses a central connected from
# the event LE Advertising Set Terminated, and gives the connection the address 00:00:00:00:00:00 until then. SMP computes with
# the address that stands there when the first packet of pairing comes. A central that pairs at once can be faster than that event, since
# a USB controller has events on one endpoint and data on another; then LE Secure Connections fails at both ends, and nothing says why.
#
# Seen: with the event held back until the central's Pairing Request has come, pairing fails with DHKEY_CHECK_FAILED; the same with the
# event in its place pairs. This script fails when that has changed. It needs python3 with venv, and PyPI.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check bumble==0.0.236
"$folder/venv/bin/python" - <<'END'
import asyncio
import logging

from bumble.controller import Controller
from bumble.core import ProtocolError
from bumble.device import Device
from bumble.hci import Address
from bumble.host import Host
from bumble.link import LocalLink
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport.common import AsyncPipeSink

logging.disable(logging.CRITICAL)
TERMINATED = 0x12
# The fixed channel of the Security Manager, and the code of its Pairing Request.
SMP, PAIRING_REQUEST = b"\x06\x00", 1


class Way:
    """From the controller to the host. The event waits for the first packet of pairing where it `overtakes`."""

    def __init__(self, host, overtakes):
        self.sink, self.overtakes, self.held = AsyncPipeSink(host), overtakes, []

    def on_packet(self, packet):
        if self.overtakes and packet[0] == 4 and packet[1] == 0x3E and packet[3] == TERMINATED:
            self.held.append(packet)
            return
        self.sink.on_packet(packet)
        if packet[0] == 2 and packet[7:9] == SMP and packet[9] == PAIRING_REQUEST:
            while self.held:
                self.sink.on_packet(self.held.pop())


async def device(link, name, address, overtakes=False):
    host = Host()
    controller = Controller(name, host_source=host, link=link, public_address=address)
    controller.host = Way(host, overtakes)
    host.set_packet_sink(AsyncPipeSink(controller))
    made = Device(name=name, address=Address("F0" + address[2:]), host=host)
    made.pairing_config_factory = lambda _: PairingConfig(sc=True, mitm=False, delegate=PairingDelegate())
    await made.power_on()
    return made


async def pairs(overtakes):
    link = LocalLink()
    peripheral = await device(link, "peripheral", "00:00:00:00:00:01", overtakes)
    central = await device(link, "central", "00:00:00:00:00:02")
    assert peripheral.supports_le_extended_advertising
    await peripheral.start_advertising()
    connection = await asyncio.wait_for(central.connect(peripheral.random_address), 10)
    try:
        await asyncio.wait_for(connection.pair(), 10)
        return "paired"
    except ProtocolError as error:
        return error.error_name


async def main():
    in_place, late = await pairs(False), await pairs(True)
    print(f"the event in its place: {in_place}")
    print(f"the event after the Pairing Request: {late}")
    assert (in_place, late) == ("paired", "DHKEY_CHECK_FAILED"), "Bumble behaves differently now"
    print("as found with bumble 0.0.236")


asyncio.run(main())
END
