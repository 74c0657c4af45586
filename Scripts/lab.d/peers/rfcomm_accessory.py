"""A Bluetooth accessory with RFCOMM channels, played by Bumble from a file under Devices/Accessory.

    rfcomm_accessory.py DEVICE.yaml TRANSPORT [--control PIPE]

Each protocol becomes a channel with a service record of its UUID. The accessory goes by its controller's address, which btvirt
gives, and not by the file's. A channel is a session: its script begins when it is opened.

Each thing that happens is one line on standard output: `ready ADDRESS`, `attached`, `detached`, `opened PROTOCOL`, `closed PROTOCOL`,
`got COUNT HEX`, `asked HEX`, `sent HEX`, `armed FAULT`. Lines written to the named pipe PIPE drive it: `begin` starts the
file's presence, `attach` and `detach` do it now (in range, and not), `fault NAME` arms one of the file's faults.
"""

import argparse
import asyncio
import os
import signal

from accessory_script import Faults, Session, follow, load
from bumble.core import UUID
from bumble.device import Device
from bumble.hci import Address
from bumble.rfcomm import Server, make_service_sdp_records
from bumble.transport import open_transport
from device_format import say, seconds

# Handles below are the SDP server's own.
FIRST_RECORD = 0x00010001


class Accessory:
    def __init__(self, file, transport):
        self.file = file
        self.faults = Faults(file)
        self.presence = file.get("presence", [])
        self.sessions, self.channels = [], []
        self.device = Device.with_hci(file["name"], Address("F0:F1:F2:F3:F4:F5"), transport.source, transport.sink)
        self.device.classic_enabled, self.device.le_enabled = True, False
        # Bumble's own are on from the beginning.
        self.device.discoverable = self.device.connectable = False
        # A pairing is nobody's decision here, and nothing of it is told to a user.
        self.device.classic_ssp_enabled = True
        server, records = Server(self.device), {}
        for place, described in enumerate(file["protocols"]):
            link = described["rfcomm"] or {}
            channel = server.listen(self.acceptor(described), int(link.get("channel", 0)))
            handle = FIRST_RECORD + place
            records[handle] = make_service_sdp_records(handle, channel, UUID(link.get("service", "1101")))
        self.device.sdp_service_records = records
        self.server, self.offers = server, dict(server.dlc_configs)

    def acceptor(self, described):
        def opened(channel):
            say("opened", described["protocol"])

            async def write(value):
                channel.write(value)
                await channel.drain()

            session = Session(described, self.faults, write, self.pull)
            self.sessions.append(session)
            self.channels.append(channel)

            def got(arrived):
                say("got", len(arrived), arrived[:32].hex())
                session.got(arrived)

            def closed():
                if session in self.sessions:
                    say("closed", described["protocol"])
                    session.end()
                    self.sessions.remove(session)
                    self.channels.remove(channel)

            channel.sink = got
            channel.on(channel.EVENT_CLOSE, closed)

        return opened

    # Range

    async def attach(self):
        self.server.dlc_configs.update(self.offers)
        await self.device.set_discoverable(True)
        await self.device.set_connectable(True)
        say("attached")

    async def detach(self):
        """Hangs up, and is not to be reached any more. The other end closes the link itself when it is idle: closed here, in the
        middle of everything, it now and then breaks kernel 6.1 at the other end (hci_chan_del)."""
        self.server.dlc_configs.clear()
        await self.device.set_discoverable(False)
        await self.device.set_connectable(False)
        for channel in list(self.channels):
            await channel.disconnect()
        say("detached")

    def pull(self):
        self.pulling = asyncio.ensure_future(self.go_away(self.faults.back_after))

    async def go_away(self, back):
        await self.detach()
        if back is not None:
            await asyncio.sleep(back)
            await self.attach()

    async def play_presence(self):
        for change in self.presence:
            word, pause = next(iter(change.items()))
            await asyncio.sleep(seconds(pause))
            await (self.attach() if word == "attach" else self.detach())

    def control(self, words):
        if words[0] == "begin":
            self.playing = asyncio.ensure_future(self.play_presence())
        elif words[0] in ("attach", "detach"):
            self.moving = asyncio.ensure_future(self.attach() if words[0] == "attach" else self.detach())
        elif words[0] == "fault":
            self.faults.arm(" ".join(words[1:]), self.sessions[0] if self.sessions else None)

    async def live(self, control):
        await self.device.power_on()
        if not self.presence or "detach" in self.presence[0]:
            await self.attach()
        if control:
            follow(control, self.control)
        say("ready", str(self.device.public_address).split("/")[0])
        told = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
        await told.wait()
        await self.leave()

    async def leave(self):
        """Ends the process: Bumble would go on, and the controller is left as it is."""
        try:
            # A controller whose owner goes does not tell the other end of the link.
            await asyncio.wait_for(self.detach(), 30)
        except Exception as error:
            say("ending failed:", type(error).__name__, error)
            os._exit(1)
        say("ended")
        os._exit(0)


async def main():
    parser = argparse.ArgumentParser(description="Plays an RFCOMM accessory from a file under Devices/Accessory.")
    parser.add_argument("device")
    parser.add_argument("transport")
    parser.add_argument("--control")
    arguments = parser.parse_args()
    file = load(arguments.device)
    if "bluetooth" not in file:
        raise SystemExit(f"rfcomm_accessory: {arguments.device} is not on Bluetooth")
    async with await open_transport(arguments.transport) as transport:
        await Accessory(file, transport).live(arguments.control)


if __name__ == "__main__":
    asyncio.run(main())
