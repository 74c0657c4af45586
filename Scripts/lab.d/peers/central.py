"""A central on the air, played by Bumble from a file under Devices/Bluetooth.

    central.py DEVICE.yaml TRANSPORT [--fault NAME]...

The simulated radio plays the same file, so both ends of a comparison have one script. It is another stack than BlueZ on
purpose: what both get wrong alike would not be seen otherwise.

Each thing that happens is one line on standard output, in the words of the simulated central: `connected`, `service UUID
UUID...` (a service and its characteristics), `read UUID HEX`, `read UUID error 0xCC`, `wrote UUID HEX`, `subscribed UUID`,
`notified UUID HEX`, `indicated UUID HEX`, `unsubscribed UUID`, `missing UUID`, `gave up UUID`, `opened channel PSM`,
`exchanged PSM HEX`, `refused channel PSM`, `gave up channel PSM`, `lost channel PSM`, `disconnected`, `finished`.
"""

import argparse
import asyncio
import sys

import ending
import yaml
from device_format import octets, say, seconds
from bumble.att import ATT_Error
from bumble.core import UUID, AdvertisingData, BaseBumbleError
from bumble.device import ConnectionParametersPreferences, Device, Peer
from bumble.gatt import Characteristic
from bumble.hci import HCI_LE_1M_PHY, Address
from bumble.l2cap import L2capError, LeCreditBasedChannelSpec
from bumble.transport import open_transport

BASE = "-0000-1000-8000-00805F9B34FB"
# Services that bluetoothd has of itself; 1844 with its experiments switched on.
SYSTEM = {"1800", "1801", "180A", "1844"}
# Apple's company identifier and the type of the overflow area, as they lie in manufacturer data.
OVERFLOW = bytes([0x4C, 0x00, 0x01])


class LinkLost(Exception):
    """What was asked needs a link, and the link is gone."""


def long(uuid):
    """The 36 capitals of a UUID of a device file."""
    text = str(uuid).upper()
    return {4: "0000" + text + BASE, 8: text + BASE}.get(len(text), text)


def canonical(uuid):
    """How records show a UUID: four capitals for those of the Bluetooth base, else 36."""
    text = long(uuid)
    return text[4:8] if text.startswith("0000") and text.endswith(BASE) else text


def overflow_bit(uuid):
    """The bit of a service in the overflow area: FNV-1a of its 36 capitals, modulo 128."""
    value = 0xCBF29CE484222325
    for byte in long(uuid).encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value % 128


def advertises(data, service, reads_overflow):
    """Whether an advertisement has a service in one of its lists, or in the overflow area."""
    wanted = UUID(long(service))
    for kind, value in data.ad_structures:
        width = {0x02: 2, 0x03: 2, 0x06: 16, 0x07: 16}.get(kind)
        if width:
            listed = [UUID.from_bytes(value[start : start + width]) for start in range(0, len(value) - width + 1, width)]
            if any(each == wanted for each in listed):
                return True
        if kind == AdvertisingData.MANUFACTURER_SPECIFIC_DATA and reads_overflow and len(value) == 19:
            bit = overflow_bit(service)
            if value.startswith(OVERFLOW) and value[3 + bit // 8] >> bit % 8 & 1:
                return True
    return False


class Central:
    def __init__(self, file, transport, faults):
        self.file = file
        self.script = file.get("script", [])
        self.reads_overflow = file.get("overflow", "true") in ("true", "yes", "on")
        self.mtu = int(file.get("mtu", 185))
        self.device = Device.with_hci(
            file.get("name", "central"), Address(file["address"]), transport.source, transport.sink
        )
        # bluetoothd asks for its own MTU, and gets the smaller of the two.
        self.device.gatt_server.max_mtu = self.mtu
        self.peer = None
        self.values = asyncio.Condition()
        self.heard = {}
        self.confirms = True
        self.left = None
        for name in faults:
            self.arm(name)

    def arm(self, name):
        known = {fault["name"]: fault for fault in self.file.get("faults", [])}
        if name not in known:
            raise SystemExit(f"central: no fault '{name}'; the file has {', '.join(known) or 'none'}")
        fault = known[name]
        if "never-confirm" in fault:
            self.confirms = False
        elif "disconnect-after" in fault:
            self.left = int(fault["disconnect-after"])
        else:
            raise SystemExit(f"central: fault '{name}' needs the simulated radio; a controller takes what comes")

    # Links

    async def find(self, service):
        """The address of somebody who advertises the service."""
        found = asyncio.get_running_loop().create_future()

        def hear(advertisement):
            if not found.done() and advertises(advertisement.data, service, self.reads_overflow):
                found.set_result(advertisement.address)

        self.device.on("advertisement", hear)
        try:
            # btvirt's controllers pass an advertisement on once, when either side begins.
            while not found.done():
                await self.device.start_scanning(active=True, filter_duplicates=False)
                await asyncio.wait([found], timeout=1)
                await self.device.stop_scanning()
            return found.result()
        finally:
            self.device.remove_listener("advertisement", hear)

    async def connect(self, step):
        within = seconds(step["within"]) if "within" in step else None
        try:
            address = await asyncio.wait_for(self.find(step["connect"]), within)
        except asyncio.TimeoutError:
            say("gave up", canonical(step["connect"]))
            raise LinkLost from None
        interval = seconds(self.file.get("interval", "30ms")) * 1000
        wanted = ConnectionParametersPreferences(connection_interval_min=interval, connection_interval_max=interval)
        link = await self.device.connect(address, connection_parameters_preferences={HCI_LE_1M_PHY: wanted}, timeout=30)
        self.peer = Peer(link)
        self.heard = {}
        link.on("disconnection", self.gone)
        if not self.confirms:
            self.peer.gatt_client.send_confirmation = lambda confirmation: None
        say("connected")
        if self.mtu > 23:
            await self.peer.request_mtu(self.mtu)
        await self.peer.discover_services()
        for service in self.peer.services:
            await service.discover_characteristics()

    def gone(self, reason):
        self.peer = None
        say("disconnected")
        asyncio.ensure_future(self.wake())

    async def wake(self):
        async with self.values:
            self.values.notify_all()

    async def disconnect(self):
        if self.peer:
            await self.peer.connection.disconnect()

    async def count(self):
        """A value or an answer came: a central that is to hang up counts them."""
        if self.left is None:
            return
        self.left -= 1
        if self.left <= 0:
            self.left = None
            await self.disconnect()
            raise LinkLost

    # Steps

    def characteristic(self, uuid):
        for service in self.peer.services if self.peer else []:
            for each in service.characteristics:
                if each.uuid == UUID(long(uuid)):
                    return each
        return None

    def discover(self):
        for service in self.peer.services:
            uuid = canonical(service.uuid.to_hex_str("-"))
            if uuid not in SYSTEM:
                say("service", uuid, *[canonical(each.uuid.to_hex_str("-")) for each in service.characteristics])

    async def read(self, uuid, characteristic):
        value = await self.peer.gatt_client.read_value(characteristic)
        say("read", uuid, bytes(value).hex())

    async def write(self, uuid, characteristic, step):
        value, how = octets(step["value"]), step.get("how", "request")
        client = self.peer.gatt_client
        if how == "prepared":
            await client.write_long_value(characteristic.handle, value)
        else:
            await client.write_value(characteristic, value, with_response=how == "request")
        say("wrote", uuid, value.hex())

    async def subscribe(self, uuid, characteristic, step):
        indicates = step.get("indications") in ("true", "yes", "on")
        both = Characteristic.Properties.NOTIFY | Characteristic.Properties.INDICATE
        if not characteristic.properties & both:
            say("missing", uuid)
            return
        indicated = indicates and characteristic.properties & Characteristic.Properties.INDICATE
        verb = "indicated" if indicated or not characteristic.properties & Characteristic.Properties.NOTIFY else "notified"

        def hear(value):
            say(verb, uuid, bytes(value).hex())
            self.heard[uuid] = self.heard.get(uuid, 0) + 1
            asyncio.ensure_future(self.taken())

        self.heard[uuid] = 0
        await self.peer.gatt_client.subscribe(characteristic, hear, prefer_notify=not indicated)
        say("subscribed", uuid)

    async def taken(self):
        await self.wake()
        try:
            await self.count()
        except LinkLost:
            pass

    async def await_values(self, uuid, step):
        wanted = int(step.get("count", 1))
        within = seconds(step["within"]) if "within" in step else None

        async def enough():
            async with self.values:
                await self.values.wait_for(lambda: self.peer is None or self.heard.get(uuid, 0) >= wanted)

        try:
            await asyncio.wait_for(enough(), within)
        except asyncio.TimeoutError:
            return
        if self.peer is None:
            raise LinkLost
        self.heard[uuid] -= wanted

    async def exchange(self, step):
        psm, value, got = int(step["exchange"]), octets(step["value"]), bytearray()
        within = seconds(step["within"]) if "within" in step else None
        done = asyncio.get_running_loop().create_future()

        def end(words):
            if not done.done():
                done.set_result(words)

        def take(part):
            got.extend(part)
            if len(got) >= len(value):
                end("exchanged")

        try:
            channel = await self.peer.connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=psm))
        except L2capError:
            say("refused channel", psm)
            return
        say("opened channel", psm)
        channel.sink = take
        channel.on("close", lambda: end("lost channel"))
        channel.write(value)
        try:
            words = await asyncio.wait_for(done, within)
        except asyncio.TimeoutError:
            words = "gave up channel"
        say(words, psm, got.hex())
        if self.peer is None:
            raise LinkLost
        if words != "lost channel":
            await channel.disconnect()

    async def perform(self, step):
        verb = next(each for each in VERBS if each in step)
        if verb == "wait":
            await asyncio.sleep(seconds(step["wait"]))
        elif verb == "connect":
            await self.connect(step)
        elif self.peer is None:
            raise LinkLost
        elif verb == "disconnect":
            await self.disconnect()
        elif verb == "discover":
            self.discover()
        elif verb == "exchange":
            await self.exchange(step)
        else:
            await self.use(verb, step)

    async def use(self, verb, step):
        uuid = canonical(step[verb])
        characteristic = self.characteristic(step[verb])
        if characteristic is None:
            say("missing", uuid)
            return
        try:
            if verb == "read":
                await self.read(uuid, characteristic)
            elif verb == "write":
                await self.write(uuid, characteristic, step)
            elif verb == "subscribe":
                await self.subscribe(uuid, characteristic, step)
            elif verb == "unsubscribe":
                await self.peer.gatt_client.unsubscribe(characteristic)
                say("unsubscribed", uuid)
            else:
                await self.await_values(uuid, step)
                return
        except ATT_Error as error:
            say({"read": "read", "write": "wrote"}.get(verb, verb), uuid, f"error 0x{error.error_code:02x}")
        await self.count()

    def after_loss(self, index):
        """The step after the one that the link was lost in: what needs it is left out."""
        for place in range(index, len(self.script)):
            if "disconnect" in self.script[place]:
                return place + 1
            if "connect" in self.script[place]:
                return place
        return len(self.script)

    async def play(self):
        index = 0
        while index < len(self.script):
            try:
                await self.perform(self.script[index])
                index += 1
            except LinkLost:
                index = self.after_loss(index + 1 if "connect" in self.script[index] else index)
            except (asyncio.CancelledError, BaseBumbleError) as error:
                # Bumble cancels what waits for an answer when its link goes.
                if self.peer is not None or asyncio.current_task().cancelling():
                    raise
                say("lost the link in", *self.script[index], f"({error})" if str(error) else "")
                index = self.after_loss(index)

    async def live(self):
        await self.device.power_on()
        if await ending.play(self.play_all()):
            say("finished")
        # A controller whose owner goes does not tell the other end of the link, which would stay up there for ever.
        await ending.leave(self.disconnect())

    async def play_all(self):
        await self.play()
        while self.file.get("repeat") in ("true", "yes", "on"):
            await self.play()


VERBS = ["wait", "connect", "discover", "read", "write", "subscribe", "unsubscribe", "await", "exchange", "disconnect"]


async def main():
    parser = argparse.ArgumentParser(description="Plays a central from a file under Devices/Bluetooth on the air.")
    parser.add_argument("device")
    parser.add_argument("transport")
    parser.add_argument("--fault", action="append", default=[])
    arguments = parser.parse_args()
    with open(arguments.device, encoding="utf-8") as text:
        # Every scalar stays text: 180D, 2A37 and 0048 are not numbers.
        file = yaml.load(text, Loader=yaml.BaseLoader)
    if file.get("device") != "bluetooth-central":
        raise SystemExit(f"central: {arguments.device} is no bluetooth-central")
    file["script"] = [step if isinstance(step, dict) else {step: ""} for step in file.get("script", [])]
    async with await open_transport(arguments.transport) as transport:
        await Central(file, transport, arguments.fault).live()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
