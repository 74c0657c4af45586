"""A peripheral on the air, played from a file under Devices/Bluetooth.

It tells: `advertising`, `silent`, `connected ADDRESS`, `subscribed UUID`, `unsubscribed UUID`, `notified UUID HEX`
(also of an indication), `wrote UUID HEX`, `refused UUID CODE`, `paired ADDRESS`, `pairing failed REASON`, `channel
opened PSM`, `channel sent PSM HEX`, `channel got PSM HEX`, `channel closed PSM`, `services changed FIRST LAST`,
`renamed NAME`, `armed FAULT`, `disconnected REASON`, `dies of LENGTH bytes: BUG`.
"""

import asyncio
import logging
import struct

from bumble import att
from bumble.core import AdvertisingData, BaseBumbleError
from bumble.device import AdvertisingType
from bumble.gatt import GATT_DEVICE_NAME_CHARACTERISTIC, Characteristic, Service
from bumble.pairing import PairingConfig

from ..host import LinkEnded, bounded
from . import device_file
from .answers import checked
from .channels import Channels
from .device_file import canonical, several
from .failures import FileError, Refused, TransportError
from .served import Delegate, Served, bug_of
from .server import LONGEST_VALUE, Attributes, open_descriptor
from .station import LONGEST_ADVERTISEMENT, Station, advertisement_parts, guarded, packed
from .timetable import Timetable

log = logging.getLogger(__name__)

# Services that Bumble has of itself: what a file says of them counts places among its characteristics, and no more.
SYSTEM = {"1800", "1801"}
# Seconds that a central has for an answer about the parameters of the link, and a link for its end.
ASKING = 5


class Peripheral(Station):
    kind = "peripheral"

    # The file

    def read(self):
        file = self.file
        self.machine, self.asked = checked(file), asyncio.Event()
        self.mtu = device_file.integer(file["mtu"], 23, 517) if "mtu" in file else 185
        self.said = file.get("advertising", {})
        self.pause = device_file.seconds(self.said.get("interval", "100ms")) * 1000
        self.connectable = device_file.truth(self.said.get("connectable", "true"))
        self.while_connected = device_file.truth(self.said.get("while-connected", "false"))
        self.advertisement()
        self.way = device_file.text(file.get("pairing", "just-works"), "a way to pair")
        if self.way not in ("just-works", "numeric", "reject"):
            words = self.way.split(" ")
            if len(words) != 2 or words[0] != "passkey" or len(words[1]) != 6 or not words[1].isdecimal():
                expected = "just-works, numeric, reject or passkey 123456"
                raise device_file.wrong(file["pairing"], f"pairing '{self.way}'", expected)
        self.parameters = self.read_parameters(file["connection"]) if "connection" in file else None
        # In the order of the file, and then those of services that come later.
        self.served = []
        self.services = [self.read_service(each) for each in several(file, "gatt")]
        self.channels = Channels(self, file)
        self.faults = device_file.faults(
            file,
            {
                "late-subscribe-answer": device_file.seconds,
                "disconnect-after": lambda value: device_file.integer(value, 1, 1_000_000),
                "stale-handles": lambda value: device_file.integer(value, 1, 1000),
                "no-answer": device_file.seconds,
                "hold-notifications": device_file.seconds,
                "close-channel-after": lambda value: device_file.integer(value, 1, 1_000_000),
                "refuse-channels": device_file.truth,
                "cut-values": lambda value: device_file.integer(value, 0, LONGEST_VALUE),
                "change-services": self.read_change,
                "change-name": device_file.name,
            },
        )
        self.bug = bug_of(self.options.get("bug", "none"))
        self.enforces = not self.options.get("no_security")
        self.bonds = {}
        self.tables = {}
        self.cut = LONGEST_VALUE
        self.moves_by = 0
        self.disconnect_after = None
        self.unanswered = None
        self.held = False
        self.tells_changes = any(
            uuid == "1801" and each.uuid == "2A05" and each.properties & Characteristic.Properties.INDICATE
            for uuid, _, served in self.services for each in served
        )

    def read_service(self, described):
        """(UUID, whether it is primary, its characteristics)."""
        uuid = canonical(device_file.required(described, "service"))
        primary = device_file.truth(described.get("primary", "true"))
        served = []
        for each in several(described, "characteristics"):
            served.append(Served(len(self.served), each))
            self.served.append(served[-1])
        return uuid, primary, served

    def read_change(self, described):
        """(services to add as they stand in the file, UUIDs of those to remove)."""
        before = list(self.served)
        added = several(described, "add")
        for each in added:
            self.read_service(each)
        self.served = before
        return added, {canonical(each) for each in several(described, "remove")}

    @staticmethod
    def read_parameters(described):
        """Milliseconds, events and milliseconds: interval, latency and supervision timeout."""
        interval = device_file.seconds(described.get("interval", "30ms")) * 1000
        timeout = device_file.seconds(described.get("supervision-timeout", "6s")) * 1000
        return interval, device_file.integer(described.get("latency", "0"), 0, 499), timeout

    # Advertising

    def advertisement(self):
        """The name is said unasked where it fits, else in the answer to a scan, and cut where it does not fit there."""
        parts = [(AdvertisingData.FLAGS, b"\x06"), *advertisement_parts(self.said)]
        answered = []
        if self.name:
            whole = (AdvertisingData.COMPLETE_LOCAL_NAME, self.name.encode())
            if len(packed([*parts, whole])) <= LONGEST_ADVERTISEMENT:
                parts.append(whole)
            elif len(packed([whole])) <= LONGEST_ADVERTISEMENT:
                answered.append(whole)
            else:
                begin = self.name.encode()[:LONGEST_ADVERTISEMENT - 2].decode(errors="ignore").encode()
                answered.append((AdvertisingData.SHORTENED_LOCAL_NAME, begin))
        unasked = packed(parts)
        if len(unasked) > LONGEST_ADVERTISEMENT:
            place = device_file.place_of(self.said, device_file.place_of(self.file))
            raise FileError(place, f"{len(unasked)} bytes to advertise", f"at most {LONGEST_ADVERTISEMENT}")
        if self.connectable:
            kind = AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE
        else:
            kind = AdvertisingType.UNDIRECTED_SCANNABLE if answered else AdvertisingType.UNDIRECTED
        return unasked, packed(answered), kind

    def goes_on_advertising(self):
        return self.while_connected

    def interval(self):
        return self.pause

    # Attributes

    def build(self):
        device = self.device
        server = Attributes(device, self)
        server.on("error", lambda error: log.error("%s: %s", self.where, error))
        server.max_mtu = self.mtu
        device.gatt_server = server
        device.add_default_services()
        device.l2cap_channel_manager.register_fixed_channel(att.ATT_CID, guarded(self.take))
        for uuid, primary, served in self.services:
            self.add(uuid, primary, served)
        self.channels.begin()

    @property
    def server(self):
        return self.device.gatt_server

    def take(self, handle, pdu):
        connection = self.device.connections.get(handle)
        if connection and self.server.take(connection, pdu):
            self.device.on_gatt_pdu(handle, pdu)

    def add(self, uuid, primary, served):
        """Adds a service, and gives Bumble's, or None for one that Bumble has of itself."""
        for each in served:
            each.timetable = Timetable(each.entries, each.repeats)
            each.built = Characteristic(
                device_file.long(each.uuid), each.properties, each.permissions, self.value(each),
                [open_descriptor(described, value) for described, value in each.descriptors],
            )
        if uuid in SYSTEM:
            return None
        service = Service(device_file.long(uuid), [each.built for each in served], primary=primary)
        self.device.add_service(service)
        self.tables[service] = (uuid, served)
        return service

    def value(self, served):
        def write(_, value):
            self.tell("wrote", served.uuid, value.hex())
            self.ask(served, value)

        def read(_):
            self.ask(served, None)
            return served.value

        return self.server.value(lambda: served.built, read, write)

    def of(self, characteristic):
        return next((each for each in self.served if each.built is characteristic), None)

    def security_error(self, connection, characteristic):
        served = self.of(characteristic)
        return self.lacking(connection, served.security) if served else None

    def lacking(self, connection, security):
        """The ATT error of a link that has too little security, or None."""
        if not self.enforces or security == "none":
            return None
        if not connection.is_encrypted:
            bonded = connection.peer_address.to_string(False) in self.bonds
            return att.ErrorCode.INSUFFICIENT_ENCRYPTION if bonded else att.ErrorCode.INSUFFICIENT_AUTHENTICATION
        if security == "authenticated" and not self.bonds.get(connection.peer_address.to_string(False)):
            return att.ErrorCode.INSUFFICIENT_AUTHENTICATION
        return None

    def hears(self, connection, request):
        """Whether a request is to have an answer; the first one that has none ends the link a while later."""
        if self.unanswered is None:
            return True
        if self.unanswered > 0:
            asyncio.get_running_loop().call_later(self.unanswered, guarded(self.end_silence))
            self.unanswered = 0.0
        return False

    def end_silence(self):
        self.unanswered = None
        self.do(self.disconnect())

    # Subscriptions and values

    def subscribed(self, connection, characteristic, bits):
        if served := self.of(characteristic):
            self.tell("subscribed" if bits else "unsubscribed", served.uuid)
            self.run_timetables()

    def subscribers(self, served, bits=3):
        return [link for link in self.links if served.built and self.server.bits(link, served.built) & bits]

    def run_timetables(self):
        for each in self.served:
            if each.timetable:
                each.timetable.set_running(not self.held and bool(self.subscribers(each)))

    async def send(self, served, value, bits=3):
        """Sends a value to links that are subscribed, and gives how many they are. A full queue of a link is waited for."""
        value = value[:self.cut]
        served.value = value
        links = self.subscribers(served, bits)
        if not links:
            return 0
        sent = sum(await asyncio.gather(*(self.send_on(link, served, value, bits) for link in links)))
        if sent:
            self.tell("notified", served.uuid, value.hex())
            await self.count()
        return sent

    async def send_on(self, link, served, value, bits):
        if not await self.room(link):
            return 0
        wanted = self.server.bits(link, served.built) & bits
        if wanted & 1:
            self.server.notify(link, served.built, value)
            return 1
        if not wanted:
            return 0
        try:
            return int(await self.server.indicate(link, served.built, value))
        except TimeoutError:
            # Nothing more can be asked on a link whose transaction timed out.
            self.tell("unconfirmed", served.uuid)
            await bounded(link.disconnect(), ASKING)
            return 0

    async def count(self):
        if self.disconnect_after is None:
            return
        self.disconnect_after -= 1
        if self.disconnect_after <= 0:
            self.disconnect_after = None
            self.do(self.disconnect())

    # Answers

    @staticmethod
    def now():
        return int(asyncio.get_running_loop().time() * 1e9)

    def asking(self):
        return {each.place for each in self.served if self.subscribers(each)}

    def ask(self, served, request):
        """What the rules of the file say to a request; a refusal is raised."""
        if request is not None and self.bug and len(request) >= self.bug[1]:
            self.die(len(request))
        error, effects = self.machine.answer(request, served.place, self.now(), self.asking())
        if error is None and request is not None:
            served.value = request
        for _, target, value in effects:
            self.served[target].value = value
        self.asked.set()
        if error is not None:
            self.tell("refused", served.uuid, f"{error:02x}")
            raise att.ATT_Error(error_code=error)

    def die(self, length):
        kind = self.bug[0]
        self.tell("dies of", f"{length} bytes: {kind}:{self.bug[1]}")
        self.bug, self.server.is_mute = None, True
        if kind == "vanish":
            self.do(self.leave())

    async def play_answers(self):
        """Does what the rules say beside the response to a request, when it is due."""
        while True:
            due = self.machine.next_due
            if due is None or due > self.now():
                self.asked.clear()
                try:
                    async with asyncio.timeout(None if due is None else (due - self.now()) / 1e9):
                        await self.asked.wait()
                except TimeoutError:
                    pass
                continue
            for effect, place, value in self.machine.advance(self.now(), self.asking()):
                await self.carry_out(effect, place, value)

    async def carry_out(self, effect, place, value):
        if effect == "disconnect":
            await self.disconnect()
        elif effect == "set":
            self.served[place].value = value
        else:
            await self.send(self.served[place], value, 2 if effect == "indicate" else 1)

    # Links

    def link_came(self, connection):
        connection.on("pairing", guarded(lambda keys: self.paired(connection, keys)))
        connection.on("pairing_failure", guarded(lambda reason: self.not_paired(connection, reason)))
        if self.parameters:
            self.do(self.ask_for_parameters(connection))

    def link_went(self, connection):
        if not self.links:
            self.machine.link_gone()
            if self.moves_by:
                self.server.move_handles(self.tables, self.moves_by)
                self.moves_by = 0
        self.run_timetables()

    async def ask_for_parameters(self, connection):
        interval, latency, timeout = self.parameters
        try:
            asked = connection.update_parameters(interval, interval, latency, timeout, use_l2cap=True)
            await bounded(asked, ASKING)
        except (TimeoutError, LinkEnded):
            # One that is not answered would keep the next link from asking.
            self.device.l2cap_channel_manager.connection_parameters_update_response = None
        except BaseBumbleError as error:
            self.tell("parameters refused", str(error))

    def pairing(self, connection):
        return PairingConfig(
            mitm=self.way not in ("just-works", "reject"), bonding=True, delegate=Delegate(self.way),
            identity_address_type=PairingConfig.AddressType.RANDOM,
        )

    def paired(self, connection, keys):
        key = keys.ltk or keys.ltk_peripheral or keys.ltk_central
        self.bonds[connection.peer_address.to_string(False)] = bool(key and key.authenticated)
        self.tell("paired", connection.peer_address.to_string(False))
        self.end_session(connection)

    def not_paired(self, connection, reason):
        self.tell("pairing failed", f"0x{int(reason):02x}")
        self.end_session(connection)

    def end_session(self, connection):
        """A finished session would take the next pairing on this link, and tell nothing of it."""
        if session := self.device.smp_manager.sessions.get(connection.handle):
            asyncio.get_running_loop().call_soon(guarded(session.on_disconnection), 0)

    # Changes

    async def change_services(self, added, removed):
        """Services come, behind all others, and go; where the file has Service Changed, it tells connected centrals."""
        changed = []
        for described in added:
            uuid, primary, served = self.read_service(described)
            service = self.add(uuid, primary, served)
            for each in served:
                self.do(each.timetable.play(lambda value, each=each: self.send(each, value)))
            if service:
                changed.append(service)
        for service in [each for each, (uuid, _) in self.tables.items() if uuid in removed]:
            uuid, served = self.tables.pop(service)
            self.server.remove_service(service)
            for each in served:
                each.timetable.set_running(False)
                each.built = each.timetable = None
            changed.append(service)
        if changed:
            self.run_timetables()
            first, last = min(each.handle for each in changed), max(each.end_group_handle for each in changed)
            self.tell("services changed", first, last)
            if self.tells_changes:
                await self.tell_change(struct.pack("<HH", first, last))

    async def tell_change(self, value):
        """How many were told by Service Changed."""
        characteristic = self.device.gatt_service.service_changed_characteristic
        links = [link for link in self.links if self.server.bits(link, characteristic)]
        told = await asyncio.gather(
            *(bounded(self.server.indicate(link, characteristic, value), 35) for link in links), return_exceptions=True
        )
        return sum(each is True for each in told)

    async def rename(self, name):
        """Takes another name, on the air and among the attributes."""
        self.name = self.device.name = name
        for attribute in self.server.attributes:
            if attribute.type == GATT_DEVICE_NAME_CHARACTERISTIC:
                attribute.value = name.encode()
        self.tell("renamed", name)
        await self.go_on_advertising()

    # Orders

    def known_orders(self):
        return "use notify UUID HEX, disconnect, silence, advertise, leave, arm FAULT, stop or quit"

    async def own_order(self, words):
        if words[0] != "notify" or len(words) not in (2, 3):
            return False
        try:
            uuid, value = canonical(words[1]), device_file.octets(words[2] if len(words) == 3 else "")
        except FileError as error:
            raise Refused(str(error).removeprefix("device: ")) from None
        if uuid == "2A05" and self.tells_changes:
            if not await self.tell_change(value or struct.pack("<HH", 1, 0xFFFF)):
                raise Refused("nobody is subscribed to 2A05")
            return True
        can = Characteristic.Properties
        known = [each for each in self.served if each.built and each.properties & (can.NOTIFY | can.INDICATE)]
        served = next((each for each in known if each.uuid == uuid), None)
        if served is None:
            names = ", ".join(each.uuid for each in known) or "none"
            raise Refused(f"no characteristic {uuid} notifies; it has {names}")
        if not await self.send(served, value):
            raise Refused(f"nobody is subscribed to {uuid}")
        return True

    async def arm(self, name):
        effect, value = self.known_fault(self.faults, name)
        if effect == "late-subscribe-answer":
            self.server.late = value
        elif effect == "close-channel-after":
            self.channels.closes_after = value
        elif effect == "refuse-channels":
            self.channels.accept(not value)
        elif effect == "disconnect-after":
            self.disconnect_after = value
        elif effect == "stale-handles":
            self.moves_by = value
        elif effect == "no-answer":
            self.unanswered = value
        elif effect == "hold-notifications":
            self.hold(value)
        elif effect == "cut-values":
            self.cut = value
        elif effect == "change-services":
            self.do(self.change_services(*value))
        elif effect == "change-name":
            await self.rename(value)
        self.tell("armed", name)

    def hold(self, seconds):
        self.held = True
        self.run_timetables()

        def go_on():
            self.held = False
            self.run_timetables()

        asyncio.get_running_loop().call_later(seconds, guarded(go_on))

    # Life

    async def begin(self):
        try:
            await self.advertise()
        except (TimeoutError, LinkEnded, BaseBumbleError) as error:
            raise TransportError(str(self.line.failure("it cannot advertise", error))) from None
        self.do(self.play_answers())
        for each in self.served:
            self.do(each.timetable.play(lambda value, each=each: self.send(each, value)))
