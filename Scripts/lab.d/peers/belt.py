"""A peripheral on the air, played by Bumble from a file under Devices/Bluetooth.

    belt.py DEVICE.yaml TRANSPORT [--control PIPE]

The simulated radio plays the same file, so both ends of a comparison have one script. It is another stack than BlueZ on
purpose: what both get wrong alike would not be seen otherwise.

Each thing that happens is one line on standard output: `advertising`, `connected ADDRESS`, `subscribed UUID`,
`unsubscribed UUID`, `notified UUID HEX`, `wrote UUID HEX`, `refused UUID CODE`, `channel opened PSM`, `channel sent PSM HEX`, `channel got PSM
HEX`, `channel closed PSM`, `services changed FIRST LAST`, `renamed NAME`, `disconnected`, `armed FAULT`. Lines written to the named pipe PIPE drive it: `fault NAME` arms one of the file's faults, `disconnect` closes the link, `silence` and `advertise`
stop and start advertising.
"""

import argparse
import asyncio
import os
import struct
import sys

import ending
import yaml
from answers import Machine, canonical
from bumble.att import ATT_WRITE_NOT_PERMITTED_ERROR, ATT_Error, AttributeValue
from bumble.core import UUID, AdvertisingData, BaseBumbleError
from bumble.device import Device
from bumble.gatt import GATT_DEVICE_NAME_CHARACTERISTIC, Characteristic, Descriptor, Service
from bumble.hci import Address
from bumble.l2cap import LeCreditBasedChannelSpec
from bumble.transport import open_transport
from device_format import flat, octets, say, seconds, spelled_out

LONGEST_ADVERTISEMENT = 31
# Services that Bumble has of itself: what a file says of them counts places among its characteristics, and no more.
SYSTEM = {"1800", "1801"}


class Timetable:
    """The notifications of one characteristic, in order, each with the pause before it.

    The position is the device's, not a link's: it stays over disconnections, and time stands still for it while nobody
    is subscribed.
    """

    def __init__(self, entries, repeat):
        self.steps = []
        for entry in flat(entries):
            values, every = spelled_out(entry)
            for index, value in enumerate(values):
                self.steps.append((seconds(entry.get("after", "0s") if index == 0 else every), value))
        self.repeat = repeat
        self.subscribed = asyncio.Event()
        self.alone = asyncio.Event()
        self.alone.set()

    def set_subscribed(self, someone):
        (self.subscribed.set if someone else self.subscribed.clear)()
        (self.alone.clear if someone else self.alone.set)()

    async def wait(self, pause):
        """Lets `pause` seconds go by during which somebody is subscribed."""
        clock = asyncio.get_running_loop()
        while True:
            await self.subscribed.wait()
            began = clock.time()
            try:
                await asyncio.wait_for(self.alone.wait(), pause)
            except asyncio.TimeoutError:
                return
            pause = max(0.0, pause - (clock.time() - began))

    async def play(self, notify):
        while self.steps:
            for pause, value in self.steps:
                await self.wait(pause)
                await notify(value)
            if not self.repeat:
                return


class Peripheral:
    def __init__(self, file, transport):
        self.file, self.transport = file, transport
        self.faults = {fault["name"]: fault for fault in file.get("faults", [])}
        self.answer_delay = 0.0
        self.disconnect_after = None
        self.close_channel_after = None
        self.links = []
        self.channel_players = set()
        self.advertises = False
        self.device = Device.with_hci(
            file.get("name", file.get("device", "")), Address(file["address"]), transport.source, transport.sink
        )
        self.device.advertising_data, self.device.scan_response_data = self.advertisement()
        self.device.gatt_server.max_mtu = int(file.get("mtu", 185))
        self.slow_subscriptions()
        self.machine, self.asked = Machine(file), asyncio.Event()
        # Of each characteristic, in the order of the file: what Bumble has, who is subscribed, and the value.
        self.built, self.subscribers, self.values = [], [], []
        self.begins_read = True
        self.tell_reads_apart()
        self.highest_handle = 0
        self.device.gatt_server.next_handle = self.next_handle
        self.tables_of, self.changes = {}, set()
        self.tells_changes = any(
            canonical(service["service"]) == "1801" and canonical(each["uuid"]) == "2A05"
            and "indicate" in each.get("properties", [])
            for service in file.get("gatt", []) for each in service.get("characteristics", [])
        )
        self.players = [self.add(service) for service in file.get("gatt", [])]
        self.servers, self.open_servers = {}, {}
        for described in file.get("l2cap", []):
            self.offer_channel(described)
        self.accept_channels(True)
        self.device.on("connection", self.connected)

    def advertisement(self):
        """What is said unasked, and what is answered to a scan. The name is said unasked where it fits."""
        said = self.file.get("advertising", {})
        short, long = [], []
        for service in said.get("services", []):
            uuid = UUID(str(service))
            (short if len(uuid.to_bytes()) == 2 else long).append(uuid.to_bytes())
        parts = [(AdvertisingData.FLAGS, bytes([0x06]))]
        if short:
            parts.append((AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"".join(short)))
        if long:
            parts.append((AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, b"".join(long)))
        if "manufacturer-data" in said:
            parts.append((AdvertisingData.MANUFACTURER_SPECIFIC_DATA, octets(said["manufacturer-data"])))
        for each in said.get("service-data", []):
            uuid = UUID(str(each["service"])).to_bytes()
            kind = AdvertisingData.SERVICE_DATA_16_BIT_UUID if len(uuid) == 2 else AdvertisingData.SERVICE_DATA_128_BIT_UUID
            parts.append((kind, uuid + octets(each["data"])))
        if "tx-power" in said:
            parts.append((AdvertisingData.TX_POWER_LEVEL, int(said["tx-power"]).to_bytes(1, "little", signed=True)))
        name = (AdvertisingData.COMPLETE_LOCAL_NAME, self.file["name"].encode()) if "name" in self.file else None
        if name and len(bytes(AdvertisingData(parts + [name]))) <= LONGEST_ADVERTISEMENT:
            parts.append(name)
        unasked, answer = bytes(AdvertisingData(parts)), bytes(AdvertisingData([name] if name else []))
        for said in (unasked, answer):
            if len(said) > LONGEST_ADVERTISEMENT:
                raise SystemExit(f"belt: {len(said)} bytes to advertise; an advertisement holds {LONGEST_ADVERTISEMENT}")
        return unasked, answer

    def slow_subscriptions(self):
        """Makes the answer to a subscription wait, while the subscription itself counts at once."""
        server = self.device.gatt_server
        subscribe = server.write_cccd

        async def write(bearer, characteristic, value):
            subscribe(bearer, characteristic, value)
            if self.answer_delay:
                await asyncio.sleep(self.answer_delay)

        server.write_cccd = write

    def tell_reads_apart(self):
        """Tells the first request of a long read, which is answered anew, from those that go on with it."""
        server = self.device.gatt_server
        read, read_on = server.on_att_read_request, server.on_att_read_blob_request

        def begin(bearer, request):
            self.begins_read = True
            return read(bearer, request)

        def go_on(bearer, request):
            self.begins_read = request.value_offset == 0
            return read_on(bearer, request)

        server.on_att_read_request, server.on_att_read_blob_request = begin, go_on

    # Answers

    def now(self):
        return int(asyncio.get_running_loop().time() * 1e9)

    def subscribed(self):
        return {place for place, links in enumerate(self.subscribers) if links}

    def ask(self, place, request):
        """What the rules of the file say to a request; a refusal is raised."""
        error, effects = self.machine.answer(request, place, self.now(), self.subscribed())
        if error is None and request is not None:
            self.values[place] = request
        for _, target, value in effects:
            self.values[target] = value
        self.asked.set()
        if error is not None:
            say("refused", self.machine.table[place][1], f"{error:02x}")
            raise ATT_Error(error)

    def read(self, place):
        if self.begins_read:
            self.ask(place, None)
        return self.values[place]

    async def play_answers(self):
        """Does what the rules say beside the response to a request, when it is due."""
        while True:
            due = self.machine.next_due
            pause = None if due is None else (due - self.now()) / 1e9
            if pause is None or pause > 0:
                try:
                    await asyncio.wait_for(self.asked.wait(), pause)
                except asyncio.TimeoutError:
                    pass
                self.asked.clear()
                continue
            for effect, place, value in self.machine.advance(self.now(), self.subscribed()):
                await self.carry_out(effect, place, value)

    async def carry_out(self, effect, place, value):
        if effect == "disconnect":
            # Shielded from the end of the link, which ends this player.
            await asyncio.shield(asyncio.ensure_future(self.disconnect()))
            return
        self.values[place] = value
        if effect == "set":
            return
        send = self.device.indicate_subscribers if effect == "indicate" else self.device.notify_subscribers
        await send(self.built[place], value)
        if self.subscribers[place]:
            say("notified", self.machine.table[place][1], value.hex())
            await self.count()

    def add(self, described):
        tables = []
        characteristics = [self.characteristic(each, tables) for each in described.get("characteristics", [])]
        if canonical(described["service"]) in SYSTEM:
            return tables
        service = Service(str(described["service"]), characteristics)
        self.device.add_service(service)
        self.tables_of[service] = tables
        return tables

    def next_handle(self):
        """One that no attribute has or had: Bumble counts attributes, of which some may go."""
        self.highest_handle = max([self.highest_handle] + [each.handle for each in self.device.gatt_server.attributes])
        return self.highest_handle + 1

    async def change_services(self, change):
        """Services come, behind all others, and go; who is connected is told by Service Changed, where the file has it."""
        server = self.device.gatt_server
        changed = []
        for described in change.get("add", []):
            tables = self.add(described)
            self.players.append(tables)
            for table, notify, _ in tables:
                self.do(table.play(notify))
            if canonical(described["service"]) not in SYSTEM:
                changed.append(server.services[-1])
        self.next_handle()
        gone = [UUID(str(each)) for each in change.get("remove", []) if canonical(each) not in SYSTEM]
        for service in [each for each in server.services if each.uuid in gone]:
            server.services.remove(service)
            server.attributes = [
                each for each in server.attributes if not service.handle <= each.handle <= service.end_group_handle
            ]
            for _, _, forget in self.tables_of.pop(service, []):
                for link in self.links:
                    forget(link)
            changed.append(service)
        server.attributes_by_handle.clear()
        if not changed:
            return
        first, last = min(each.handle for each in changed), max(each.end_group_handle for each in changed)
        say("services changed", first, last)
        if not self.tells_changes:
            return
        characteristic = self.device.gatt_service.service_changed_characteristic
        await self.device.indicate_subscribers(characteristic, struct.pack("<HH", first, last))

    def rename(self, name):
        """Takes another name, on the air and among the attributes."""
        self.file["name"] = self.device.name = name
        for attribute in self.device.gatt_server.attributes:
            if attribute.type == GATT_DEVICE_NAME_CHARACTERISTIC:
                attribute.value = name.encode()
        self.device.advertising_data, self.device.scan_response_data = self.advertisement()
        say("renamed", name)

    def do(self, work):
        task = asyncio.ensure_future(work)
        self.changes.add(task)
        task.add_done_callback(self.changes.discard)

    def characteristic(self, described, tables):
        properties = Characteristic.Properties(0)
        for word in described.get("properties", []):
            properties |= Characteristic.Properties[word.upper().replace("-", "_")]
        place = len(self.built)
        takes_writes = properties & (Characteristic.Properties.WRITE | Characteristic.Properties.WRITE_WITHOUT_RESPONSE)

        def write(value):
            # Bumble's own permissions refuse nobody.
            if not takes_writes:
                raise ATT_Error(ATT_WRITE_NOT_PERMITTED_ERROR)
            self.ask(place, value)

        built = Characteristic(
            str(described["uuid"]),
            properties,
            Characteristic.READABLE | Characteristic.WRITEABLE,
            AttributeValue(read=lambda _: self.read(place), write=lambda _, value: write(bytes(value))),
            [
                Descriptor(str(each["uuid"]), Descriptor.READABLE | Descriptor.WRITEABLE, octets(each.get("value", "")))
                for each in described.get("descriptors", [])
            ],
        )
        name = str(described["uuid"])
        table = Timetable(described.get("notifications", []), described.get("repeat", False))
        subscribers = set()
        self.built.append(built)
        self.subscribers.append(subscribers)
        self.values.append(octets(described.get("value", "")))

        def subscribed(link, notifies, indicates):
            (subscribers.add if notifies or indicates else subscribers.discard)(link)
            say("subscribed" if notifies or indicates else "unsubscribed", name)
            table.set_subscribed(bool(subscribers))

        def forget(link):
            subscribers.discard(link)
            table.set_subscribed(bool(subscribers))

        async def notify(value):
            send = self.device.notify_subscribers
            if not properties & Characteristic.Properties.NOTIFY:
                send = self.device.indicate_subscribers
            self.values[place] = value
            await send(built, value)
            say("notified", name, value.hex())
            await self.count()

        built.on("subscription", subscribed)
        built.on("write", lambda link, value: say("wrote", name, bytes(value).hex()))
        tables.append((table, notify, forget))
        return built

    def offer_channel(self, described):
        """Offers a channel of the file, played anew for each central that opens it. Its security is not asked for."""
        psm = int(described["psm"])

        def opened(channel):
            say("channel opened", psm)

            def got(value):
                say("channel got", psm, value.hex())
                if described.get("echo"):
                    channel.write(value)

            player = asyncio.ensure_future(self.play_channel(psm, channel, described))
            self.channel_players.add(player)

            def closed():
                self.channel_players.discard(player)
                player.cancel()
                # Bumble forgets only its own number of a closed channel, and refuses the other end's when it comes again.
                known = self.device.l2cap_channel_manager.le_coc_channels
                known.get(channel.connection.handle, {}).pop(channel.destination_cid, None)
                say("channel closed", psm)

            channel.sink = got
            channel.on("close", closed)

        self.servers[psm] = (LeCreditBasedChannelSpec(psm=psm), opened)

    def accept_channels(self, accepts):
        """Begins or ends to accept channels."""
        for psm, (spec, opened) in self.servers.items():
            server = self.open_servers.pop(psm, None)
            if server:
                server.close()
            if accepts:
                self.open_servers[psm] = self.device.create_l2cap_server(spec, opened)

    async def play_channel(self, psm, channel, described):
        timetable = Timetable(described.get("send", []), described.get("repeat", False))
        # The timetable begins when the channel is open, whoever is subscribed to what.
        timetable.set_subscribed(True)

        async def send(value):
            channel.write(value)
            say("channel sent", psm, value.hex())
            if self.close_channel_after is None:
                return
            self.close_channel_after -= 1
            if self.close_channel_after <= 0:
                self.close_channel_after = None
                await channel.drain()
                # Closing cancels this very player, which is not to cut the closing short.
                await asyncio.shield(asyncio.ensure_future(channel.disconnect()))

        await timetable.play(send)

    async def count(self):
        if self.disconnect_after is None:
            return
        self.disconnect_after -= 1
        if self.disconnect_after <= 0:
            self.disconnect_after = None
            await self.disconnect()

    def connected(self, link):
        self.links.append(link)
        answering = asyncio.ensure_future(self.play_answers())
        say("connected", str(link.peer_address).split("/")[0])

        def gone(reason):
            self.links.remove(link)
            answering.cancel()
            self.machine.link_gone()
            for tables in self.players:
                for _, _, forget in tables:
                    forget(link)
            say("disconnected")

        link.on("disconnection", gone)

    async def disconnect(self):
        for link in list(self.links):
            try:
                await link.disconnect()
            except BaseBumbleError as error:
                say("disconnecting failed:", error)

    async def keep_advertising(self):
        """Advertises anew every second while nobody is connected.

        btvirt's controllers send an advertisement once, when either side begins, and a scanner that is not quite ready
        then would wait for its own next round, which may be missed the same way.
        """
        while True:
            await asyncio.sleep(1)
            if self.links or not self.advertises:
                continue
            try:
                await self.device.stop_advertising()
                await self.start_advertising()
            except BaseBumbleError:
                # Somebody connected meanwhile.
                continue

    async def start_advertising(self):
        interval = seconds(self.file.get("advertising", {}).get("interval", "100ms")) * 1000
        await self.device.start_advertising(
            auto_restart=True, advertising_interval_min=interval, advertising_interval_max=interval
        )

    async def advertise(self):
        self.advertises = True
        await self.start_advertising()
        say("advertising")

    async def silence(self):
        async def nothing():
            pass

        self.advertises = False
        advertiser = self.device.legacy_advertiser
        if self.links and advertiser:
            # There is nothing to stop while there is a link, but Bumble would begin again when it goes.
            advertiser.start = nothing
            self.device.legacy_advertiser = None
        else:
            await self.device.stop_advertising()
        say("silent")

    def arm(self, name):
        fault = self.faults.get(name)
        if fault is None:
            say("unknown fault", name)
            return
        if "late-subscribe-answer" in fault:
            self.answer_delay = seconds(fault["late-subscribe-answer"])
        if "close-channel-after" in fault:
            self.close_channel_after = int(fault["close-channel-after"])
        if fault.get("refuse-channels") in ("true", "yes", "on"):
            self.accept_channels(False)
        if "disconnect-after" in fault:
            self.disconnect_after = int(fault["disconnect-after"])
        if "change-services" in fault:
            self.do(self.change_services(fault["change-services"]))
        if "change-name" in fault:
            self.rename(fault["change-name"])
        say("armed", name)

    async def obey(self, line):
        words = line.split()
        if words[:1] == ["fault"] and len(words) == 2:
            self.arm(words[1])
        elif words == ["disconnect"]:
            await self.disconnect()
        elif words == ["silence"]:
            await self.silence()
        elif words == ["advertise"]:
            await self.advertise()
        elif words:
            say("unknown order", line)

    async def listen(self, path):
        # Opened for both directions, so that the pipe does not end when one writer closes it.
        reader = asyncio.StreamReader()
        pipe = os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        while line := await reader.readline():
            await self.obey(line.decode().strip())

    async def live(self, control):
        await self.device.power_on()
        await self.advertise()
        work = [table.play(notify) for tables in self.players for table, notify, _ in tables]
        work.append(self.keep_advertising())
        if control:
            work.append(self.listen(control))
        await ending.play(asyncio.gather(asyncio.get_running_loop().create_future(), *work))
        await ending.leave(self.leave())

    async def leave(self):
        # A controller whose owner goes does not tell the other end of the link, which would stay up there for ever.
        await self.disconnect()
        # What BUMBLE_SNOOPER captures is whole.
        if close := getattr(self.transport, "close_snooper", None):
            close()


async def main():
    parser = argparse.ArgumentParser(description="Plays a file under Devices/Bluetooth on the air.")
    parser.add_argument("device")
    parser.add_argument("transport")
    parser.add_argument("--control")
    arguments = parser.parse_args()
    with open(arguments.device, encoding="utf-8") as text:
        # Every scalar stays text: 180D, 2A37 and 0048 are not numbers.
        file = yaml.load(text, Loader=yaml.BaseLoader)
    file = plain(file)
    if file.get("device") != "bluetooth-peripheral":
        raise SystemExit(f"belt: {arguments.device} is no bluetooth-peripheral")
    async with await open_transport(arguments.transport) as transport:
        await Peripheral(file, transport).live(arguments.control)


def truths(entry, *keys):
    for key in keys:
        if key in entry:
            entry[key] = entry[key] in ("true", "yes", "on")


def plain(file):
    """Turns the two kinds of value that are not text into what Python calls them."""
    changes = [fault["change-services"] for fault in file.get("faults", []) if "change-services" in fault]
    for service in file.get("gatt", []) + [each for change in changes for each in change.get("add", [])]:
        for characteristic in service.get("characteristics", []):
            truths(characteristic, "repeat", "stream")
    for channel in file.get("l2cap", []):
        truths(channel, "repeat", "echo")
    return file


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
