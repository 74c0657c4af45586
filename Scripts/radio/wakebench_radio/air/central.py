"""A central on the air, played from a file under Devices/Bluetooth.

It tells, in the words of the simulated central: `connected ADDRESS`, `service UUID UUID...` (a service and its
characteristics), `read UUID HEX`, `read UUID error 0xCC`, `wrote UUID HEX`, `subscribed UUID`, `notified UUID HEX`,
`indicated UUID HEX`, `unsubscribed UUID`, `missing UUID`, `gave up UUID`, `opened channel PSM`, `exchanged PSM HEX`,
`refused channel PSM`, `gave up channel PSM`, `lost channel PSM`, `lost the link in STEP`, `disconnected REASON`,
`finished`.
"""

import asyncio

from bumble.att import ATT_Error
from bumble.core import UUID, AdvertisingData, BaseBumbleError
from bumble.device import ConnectionParametersPreferences, Peer
from bumble.gatt import Characteristic
from bumble.hci import HCI_LE_1M_PHY
from bumble.l2cap import L2capError, LeCreditBasedChannelSpec

from ..host import LinkEnded, bounded
from . import device_file
from .device_file import canonical, long, several
from .failures import FileError, Refused
from .station import Station, guarded

# Services that bluetoothd has of itself; 1844 with its experiments switched on.
SYSTEM = {"1800", "1801", "180A", "1844"}
# Apple's company identifier and the type of the overflow area, as they lie in manufacturer data.
OVERFLOW = bytes([0x4C, 0x00, 0x01])
# Seconds for a connection, its MTU, a request (Core 5.4, Vol 3, Part F, 3.3.3), a channel, and a cancelled connection.
CONNECTING, MTU, REQUESTING, OPENING, CANCELLING = 30, 10, 31, 10, 2
VERBS = ["wait", "connect", "discover", "read", "write", "subscribe", "unsubscribe", "await", "exchange", "disconnect"]
BOTH = Characteristic.Properties.NOTIFY | Characteristic.Properties.INDICATE


def overflow_bit(uuid):
    """The bit of a service in the overflow area: FNV-1a of its 36 capitals, modulo 128."""
    value = 0xCBF29CE484222325
    for byte in long(uuid).encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value % 128


def advertises(structures, service, reads_overflow):
    """Whether an advertisement, as [(type, bytes)], has a service in one of its lists, or in the overflow area."""
    wanted = bytes.fromhex(long(service).replace("-", ""))[::-1]
    base = bytes.fromhex(long("0000").replace("-", ""))[::-1]
    for kind, value in structures:
        width = {0x02: 2, 0x03: 2, 0x06: 16, 0x07: 16}.get(kind)
        for start in range(0, len(value) - width + 1, width) if width else ():
            listed = value[start:start + width]
            if (base[:12] + listed + base[14:] if width == 2 else listed) == wanted:
                return True
        if kind == AdvertisingData.MANUFACTURER_SPECIFIC_DATA and reads_overflow and len(value) == 19:
            bit = overflow_bit(service)
            if value.startswith(OVERFLOW) and value[3 + bit // 8] >> bit % 8 & 1:
                return True
    return False


class Central(Station):
    kind = "central"

    # The file

    def read(self):
        file = self.file
        self.reads_overflow = device_file.truth(file.get("overflow", "true"))
        self.mtu = device_file.integer(file["mtu"], 23, 517) if "mtu" in file else 185
        self.pause = device_file.seconds(file.get("interval", "30ms")) * 1000
        self.repeats = device_file.truth(file.get("repeat", "false"))
        self.script = [self.read_step(each) for each in several(file, "script")]
        if self.repeats and not any(verb != "wait" or value for verb, value, _ in self.script):
            raise device_file.wrong(file["repeat"], "a repetition that takes no time", "steps in script")
        self.faults = device_file.faults(
            file,
            {
                "disconnect-after": lambda value: device_file.integer(value, 1, 1_000_000),
                "never-confirm": device_file.truth,
                "slow-reader": device_file.seconds,
            },
        )
        self.peer = None
        self.values = asyncio.Condition()
        # Values that came since the subscription or the last await, by UUID.
        self.heard = {}
        self.confirms = True
        self.left = None
        # One search at a time, of the script or an order.
        self.connecting = asyncio.Lock()

    @staticmethod
    def read_step(step):
        """(verb, what it is about, the step as a mapping)."""
        fields = step if isinstance(step, dict) else device_file.Fields({step: ""}) if isinstance(step, str) else {}
        verbs = [verb for verb in VERBS if verb in fields]
        if len(verbs) != 1:
            raise device_file.wrong(step, "what is no step", f"one of {', '.join(VERBS)}")
        verb, value = verbs[0], fields[verbs[0]]
        if verb == "wait":
            value = device_file.seconds(value)
        elif verb == "exchange":
            value = device_file.integer(value, 1, 255)
        elif verb not in ("discover", "disconnect"):
            value = canonical(value)
        made = dict(fields)
        if verb in ("write", "exchange"):
            made["value"] = device_file.octets(device_file.required(fields, "value"))
        if "within" in fields:
            made["within"] = device_file.seconds(fields["within"])
        made["count"] = device_file.integer(fields["count"], 1, 1_000_000) if "count" in fields else 1
        made["how"] = device_file.word(fields.get("how", "request"), ("request", "command", "prepared"))
        made["indications"] = device_file.truth(fields.get("indications", "false"))
        return verb, value, made

    async def arm(self, name):
        effect, value = self.known_fault(self.faults, name)
        if effect == "slow-reader":
            raise Refused(f"fault '{name}' needs the simulated radio; a controller takes what comes")
        if effect == "never-confirm":
            self.confirms = False
            if self.peer:
                self.confirm_nothing()
        else:
            self.left = value
        self.tell("armed", name)

    def confirm_nothing(self):
        self.peer.gatt_client.send_confirmation = lambda confirmation: None

    # Links

    def build(self):
        # The other end asks for its own MTU, and gets the smaller of the two.
        self.device.gatt_server.max_mtu = self.mtu

    async def find(self, service, within):
        """The address of a device that advertises the service; None if none does `within` so many seconds."""
        loop = asyncio.get_running_loop()
        found, until = loop.create_future(), None if within is None else loop.time() + within

        def hear(advertisement):
            if not found.done() and advertisement.is_connectable:
                if advertises(advertisement.data.ad_structures, service, self.reads_overflow):
                    found.set_result(advertisement.address)

        hear = guarded(hear)
        self.device.on("advertisement", hear)
        try:
            # A controller that sends an advertisement once is asked anew.
            while not found.done() and (until is None or loop.time() < until):
                pauses = [self.options.get("again"), None if until is None else until - loop.time()]
                scanning = self.device.start_scanning(active=True, filter_duplicates=False, scanning_phys=(1,))
                await bounded(scanning, REQUESTING)
                await asyncio.wait({found}, timeout=min((each for each in pauses if each), default=None))
                await bounded(self.device.stop_scanning(), REQUESTING)
            return found.result() if found.done() else None
        finally:
            self.device.remove_listener("advertisement", hear)

    async def connect(self, service, step):
        """A link to a device that offers the service; one that is up is enough."""
        async with self.connecting:
            if self.peer is None:
                await self.link_to(service, step)

    async def link_to(self, service, step):
        address = await self.find(service, step.get("within"))
        if address is None:
            self.tell("gave up", service)
            raise LinkEnded
        wanted = ConnectionParametersPreferences(connection_interval_min=self.pause, connection_interval_max=self.pause)
        connecting = self.device.connect(address, connection_parameters_preferences={HCI_LE_1M_PHY: wanted})
        try:
            link = await bounded(connecting, CONNECTING)
        except TimeoutError:
            await bounded(self.device.cancel_connection(), CANCELLING)
            raise LinkEnded from None
        if link not in self.links:
            raise LinkEnded
        peer = self.peer = Peer(link)
        self.heard = {}
        if not self.confirms:
            self.confirm_nothing()
        if self.mtu > 23:
            await self.request(peer.request_mtu(self.mtu), MTU)
        await self.request(peer.discover_services())
        for service in peer.services:
            await self.request(service.discover_characteristics())

    async def request(self, work, limit=REQUESTING):
        """An answer of the other end; one that does not come costs the link."""

        async def begin():
            # Bumble does not see that a link has ended, as it may have since this task was made.
            if self.peer is None:
                work.close()
                raise LinkEnded
            return await work

        try:
            return await bounded(begin(), limit)
        except TimeoutError:
            await self.disconnect()
            raise LinkEnded from None
        except BaseBumbleError as error:
            if self.peer is None:
                raise LinkEnded from error
            raise

    def link_went(self, connection):
        self.peer = None
        self.do(self.wake())

    async def wake(self):
        async with self.values:
            self.values.notify_all()

    async def count(self):
        """A value or an answer came: a central that is to hang up counts them."""
        if self.left is None:
            return
        self.left -= 1
        if self.left <= 0:
            self.left = None
            await self.disconnect()
            raise LinkEnded

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
                self.tell("service", uuid, *[canonical(each.uuid.to_hex_str("-")) for each in service.characteristics])

    async def read_value(self, uuid, characteristic):
        value = await self.request(self.peer.gatt_client.read_value(characteristic))
        self.tell("read", uuid, bytes(value).hex())

    async def write(self, uuid, characteristic, step):
        value, client = step["value"], self.peer.gatt_client
        if step["how"] == "prepared":
            await self.request(client.write_long_value(characteristic.handle, value))
        elif step["how"] == "command" and len(value) > self.peer.connection.att_mtu - 3:
            # One packet carries it, or none.
            self.tell("too long", uuid)
            return
        else:
            if not await self.room(self.peer.connection):
                raise LinkEnded
            await self.request(client.write_value(characteristic, value, with_response=step["how"] == "request"))
        self.tell("wrote", uuid, value.hex())

    async def subscribe(self, uuid, characteristic, step):
        if not characteristic.properties & BOTH:
            self.tell("missing", uuid)
            return
        can = Characteristic.Properties
        indicated = step["indications"] and characteristic.properties & can.INDICATE
        verb = "indicated" if indicated or not characteristic.properties & can.NOTIFY else "notified"

        def hear(value):
            self.tell(verb, uuid, bytes(value).hex())
            self.heard[uuid] = self.heard.get(uuid, 0) + 1
            self.do(self.taken())

        self.heard[uuid] = 0
        subscribing = self.peer.gatt_client.subscribe(characteristic, guarded(hear), prefer_notify=not indicated)
        await self.request(subscribing)
        self.tell("subscribed", uuid)

    async def taken(self):
        await self.wake()
        try:
            await self.count()
        except LinkEnded:
            pass

    async def await_values(self, uuid, step):
        wanted = step["count"]
        try:
            async with asyncio.timeout(step.get("within")), self.values:
                await self.values.wait_for(lambda: self.peer is None or self.heard.get(uuid, 0) >= wanted)
        except TimeoutError:
            return
        if self.peer is None:
            raise LinkEnded
        self.heard[uuid] -= wanted

    async def exchange(self, psm, step):
        value, got = step["value"], bytearray()
        done = asyncio.get_running_loop().create_future()

        def end(words):
            if not done.done():
                done.set_result(words)

        def take(part):
            got.extend(part)
            if len(got) >= len(value):
                end("exchanged")

        opening = self.peer.connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=psm))
        try:
            channel = await self.request(opening, OPENING)
        except L2capError:
            self.tell("refused channel", psm)
            return
        channel.sink = guarded(take)
        channel.on("close", guarded(lambda: end("lost channel")))
        self.tell("opened channel", psm)
        if value:
            channel.write(value)
        try:
            async with asyncio.timeout(step.get("within")):
                words = await done
        except TimeoutError:
            words = "gave up channel"
        self.tell(words, psm, got.hex())
        if self.peer is None:
            raise LinkEnded
        if words != "lost channel":
            await self.request(channel.disconnect(), OPENING)

    async def perform(self, verb, value, step):
        if verb == "wait":
            await asyncio.sleep(value)
        elif verb == "connect":
            await self.connect(value, step)
        elif self.peer is None:
            raise LinkEnded
        elif verb == "disconnect":
            await self.disconnect()
        elif verb == "discover":
            self.discover()
        elif verb == "exchange":
            await self.exchange(value, step)
        else:
            await self.use(verb, value, step)

    async def use(self, verb, uuid, step):
        characteristic = self.characteristic(uuid)
        if characteristic is None:
            self.tell("missing", uuid)
            return
        try:
            if verb == "read":
                await self.read_value(uuid, characteristic)
            elif verb == "write":
                await self.write(uuid, characteristic, step)
            elif verb == "subscribe":
                await self.subscribe(uuid, characteristic, step)
            elif verb == "unsubscribe":
                await self.request(self.peer.gatt_client.unsubscribe(characteristic))
                self.tell("unsubscribed", uuid)
            else:
                await self.await_values(uuid, step)
                return
        except ATT_Error as error:
            self.tell({"write": "wrote"}.get(verb, verb), uuid, f"error 0x{int(error.error_code):02x}")
        await self.count()

    def after_loss(self, index):
        """The step after the one that the link was lost in: what needs it is left out."""
        for place in range(index, len(self.script)):
            if self.script[place][0] == "disconnect":
                return place + 1
            if self.script[place][0] == "connect":
                return place
        return len(self.script)

    async def play(self):
        index = 0
        while index < len(self.script):
            verb, value, step = self.script[index]
            try:
                await self.perform(verb, value, step)
                index += 1
            except (LinkEnded, BaseBumbleError) as error:
                if not isinstance(error, LinkEnded):
                    self.tell("lost the link in", verb, value, f"({error})" if str(error) else "")
                    await self.disconnect()
                index = self.after_loss(index + 1 if verb == "connect" else index)

    async def play_all(self):
        await self.play()
        while self.repeats:
            await self.play()
        self.tell("finished")
        # Its end is not awaited by itself, which the end would cancel.
        self.finished.set()

    # Life

    async def begin(self):
        self.finished = asyncio.Event()
        self.tell("ready")
        self.do(self.play_all())

    # Orders

    def known_orders(self):
        return (
            "use connect SERVICE, read UUID, write UUID HEX [request|command|prepared], subscribe UUID [indications],"
            " disconnect, arm FAULT, stop or quit"
        )

    async def order(self, words):
        if words[0] in ("silence", "advertise", "leave"):
            raise Refused(f"a central does not advertise; {self.known_orders()}")
        await super().order(words)

    async def own_order(self, words):
        """One step beside the script."""
        described = self.step_of(words)
        if described is None:
            return False
        try:
            verb, value, step = self.read_step(described)
        except FileError as error:
            raise Refused(str(error).removeprefix("device: ")) from None
        if self.peer is None and verb != "connect":
            raise Refused("there is no link; use connect SERVICE")
        try:
            await self.perform(verb, value, step)
        except LinkEnded:
            raise Refused("the link is gone") from None
        return True

    @staticmethod
    def step_of(words):
        """An order as the script has it; None for what is none."""
        verb, count = words[0], len(words)
        if verb in ("connect", "read") and count == 2:
            return {verb: words[1]}
        if verb == "write" and count in (3, 4):
            return {verb: words[1], "value": words[2], "how": words[3] if count == 4 else "request"}
        if verb == "subscribe" and (count == 2 or words[2:] == ["indications"]):
            return {verb: words[1], "indications": "true" if count == 3 else "false"}
        return None
