"""Device1: what is heard of a peer, the link to it, and the objects of its attributes."""

import asyncio
import contextlib
import logging

from bumble.hci import Role
from dbus_fast import Variant

from .agent import end_session, pair
from .attributes import RemoteCharacteristic, objects_of
from .bearer import FIRST, REQUEST, Bearer, Refusal, Silent, uuid_text
from .bus import Interface, Refused, exported
from .host import LinkEnded, RadioFailure, bounded, reason_of
from .server import Link
from .table import AUTHENTICATED, ENCRYPTED, OPEN, SECURE

log = logging.getLogger(__name__)

# Seconds that Connect takes at most, as with bluetoothd (40 s), and that calls under way at a link's end have to fail.
CONNECTING, FAILING = 40, 0.05
# A change of the signal strength, in dB, that is told (BlueZ, adapter.c: RSSI_THRESHOLD).
RSSI_STEP = 8
UNKNOWN_RSSI = 127
# Letters of an alias: a name has at most as many octets (Core 5.4, Vol 3, Part C, 12.1).
LONGEST_NAME = 248
GAP, DEVICE_NAME = "00001800-0000-1000-8000-00805f9b34fb", "00002a00-0000-1000-8000-00805f9b34fb"
SERVICE_CHANGED = "00002a05-0000-1000-8000-00805f9b34fb"
CANCELLED = "le-connection-abort-by-local"
# By HCI reason, what bluetoothd says of the end of a link (since 5.83).
REASONS = {
    0x08: ("org.bluez.Reason.Timeout", "Connection timeout"),
    0x05: ("org.bluez.Reason.Authentication", "Connection terminated due to authentication failure"),
    0x3D: ("org.bluez.Reason.Authentication", "Connection terminated due to authentication failure"),
    0x13: ("org.bluez.Reason.Remote", "Connection terminated by remote user"),
    0x14: ("org.bluez.Reason.Remote", "Connection terminated by remote user"),
    0x15: ("org.bluez.Reason.Remote", "Connection terminated by remote user"),
    0x16: ("org.bluez.Reason.Local", "Connection terminated by local host"),
}
UNKNOWN_REASON = ("org.bluez.Reason.Unknown", "Unknown reason")
TIMEOUT = 0x08


class Heard:
    """What one packet of advertising says, or an advertisement together with its scan response."""

    def __init__(self):
        self.name = self.tx_power = self.flags = self.appearance = None
        self.uuids, self.manufacturer, self.service_data = [], {}, {}

    def take(self, octets):
        """Reads AD structures (Core Supplement, Part A). What is cut short ends it."""
        at = 0
        while at + 1 < len(octets) and octets[at]:
            kind, value = octets[at + 1], bytes(octets[at + 2:at + 1 + octets[at]])
            if at + 1 + octets[at] > len(octets):
                return
            self.field(kind, value)
            at += 1 + octets[at]

    def field(self, kind, value):
        if kind == 0x01 and value:
            self.flags = value
        elif kind in (0x02, 0x03, 0x04, 0x05, 0x06, 0x07):
            size = {0x02: 2, 0x03: 2, 0x04: 4, 0x05: 4, 0x06: 16, 0x07: 16}[kind]
            for start in range(0, len(value) - size + 1, size):
                uuid = uuid_text(value[start:start + size])
                if uuid not in self.uuids:
                    self.uuids.append(uuid)
        elif kind == 0x09 or kind == 0x08 and self.name is None:
            self.name = value.decode("utf-8", "replace").replace("\0", "") or None
        elif kind == 0x0A and len(value) == 1:
            self.tx_power = int.from_bytes(value, "little", signed=True)
        elif kind in (0x16, 0x20, 0x21):
            size = {0x16: 2, 0x20: 4, 0x21: 16}[kind]
            if len(value) >= size:
                self.service_data[uuid_text(value[:size])] = value[size:]
        elif kind == 0x19 and len(value) == 2:
            self.appearance = int.from_bytes(value, "little")
        elif kind == 0xFF and len(value) >= 2:
            self.manufacturer[int.from_bytes(value[:2], "little")] = value[2:]


class RemoteDevice(Interface):
    interface = "org.bluez.Device1"

    def __init__(self, adapter, address):
        # `air_address` is what it uses on the air now: another one if it changes private addresses.
        self.adapter, self.address, self.air_address = adapter, address, address
        # What its keys are kept under, and what answers while it is being paired.
        self.identity, self.delegate = address, None
        self.text = address.to_string(False)
        self.place = f"{adapter.place}/dev_{self.text.replace(':', '_')}"
        self.name = self.alias = self.rssi = self.tx_power = self.flags = self.appearance = None
        self.told_rssi = None
        self.uuids, self.manufacturer, self.service_data = [], {}, {}
        self.connectable = True
        self.trusted = self.blocked = False
        self.resolved = False
        # The link: its bearer, what it asks of the adapter, the attempt to connect, the calls under way on it, and the
        # objects that it brought.
        self.bearer = self.serving = None
        self.attempt = None
        self.asked_to_end = False
        self.operations = set()
        self.services, self.remote = [], []
        self.handles = {}
        self.resolving = asyncio.Lock()
        self.clearing = self.securing = None
        # Whether a discovery waits for its turn, since services changed.
        self.changing = False

    @property
    def connected(self):
        return self.bearer is not None

    @property
    def paired(self):
        return self.adapter.keys.has(self.identity)

    def start(self, work):
        return self.adapter.owner_bus.start(work)

    def properties(self):
        said = {
            "Address": Variant("s", self.text),
            "AddressType": Variant("s", "public" if self.address.is_public else "random"),
        }
        if self.name is not None:
            said["Name"] = Variant("s", self.name)
        said["Alias"] = Variant("s", self.alias or self.name or self.text.replace(":", "-"))
        if self.appearance is not None:
            said["Appearance"] = Variant("q", self.appearance)
        said["Paired"] = said["Bonded"] = Variant("b", self.paired)
        said["Trusted"] = Variant("b", self.trusted)
        said["Blocked"] = Variant("b", self.blocked)
        said["LegacyPairing"] = Variant("b", False)
        if self.rssi is not None:
            said["RSSI"] = Variant("n", self.rssi)
        said["Connected"] = Variant("b", self.connected)
        said["UUIDs"] = Variant("as", self.uuids)
        said["Adapter"] = Variant("o", self.adapter.place)
        if self.manufacturer:
            said["ManufacturerData"] = Variant(
                "a{qv}", {company: Variant("ay", value) for company, value in self.manufacturer.items()}
            )
        if self.service_data:
            said["ServiceData"] = Variant(
                "a{sv}", {uuid: Variant("ay", value) for uuid, value in self.service_data.items()}
            )
        if self.tx_power is not None:
            said["TxPower"] = Variant("n", self.tx_power)
        said["ServicesResolved"] = Variant("b", self.resolved)
        if self.flags is not None:
            said["AdvertisingFlags"] = Variant("ay", self.flags)
        return said

    writable = {"Alias": ("s", "set_alias"), "Trusted": ("b", "set_trusted"), "Blocked": ("b", "set_blocked")}

    def set_alias(self, alias):
        self.alias = alias[:LONGEST_NAME] or None
        self.changed("Alias")

    def set_trusted(self, trusted):
        self.trusted = trusted
        self.changed("Trusted")

    def set_blocked(self, blocked):
        self.blocked = blocked
        self.changed("Blocked")

    # What is heard

    def take(self, heard, rssi, connectable):
        """Keeps what was heard. Returns the names of the properties that have other values now."""
        self.connectable = connectable
        changed = []
        for name, property_name in (
            ("name", "Name"), ("tx_power", "TxPower"), ("flags", "AdvertisingFlags"), ("appearance", "Appearance")
        ):
            value = getattr(heard, name)
            if value is not None and value != getattr(self, name):
                setattr(self, name, value)
                changed.append(property_name)
        if "Name" in changed:
            changed.append("Alias")
        for name, property_name in (
            ("uuids", "UUIDs"), ("manufacturer", "ManufacturerData"), ("service_data", "ServiceData")
        ):
            value = getattr(heard, name)
            if value and value != getattr(self, name):
                setattr(self, name, value)
                changed.append(property_name)
        self.rssi = None if rssi == UNKNOWN_RSSI else rssi
        return changed

    def tell_heard(self, changed, every):
        """Tells what changed. With `every` the signal strength and the data are told at each advertisement."""
        if every:
            changed = list(dict.fromkeys(changed + ["ManufacturerData", "ServiceData"]))
        told = self.told_rssi
        if self.rssi is not None and (every or told is None or abs(self.rssi - told) >= RSSI_STEP):
            self.told_rssi = self.rssi
            changed = ["RSSI"] + changed
        self.changed(*changed)

    def no_longer_heard(self):
        """A discovery ended: nothing is known of the strength of what is not connected."""
        gone = [name for name, value in (("RSSI", self.rssi), ("TxPower", self.tx_power)) if value is not None]
        self.rssi = self.tx_power = self.told_rssi = None
        if gone:
            self.changed(gone=gone)

    # The link

    @exported()
    async def Connect(self, _):
        self.adapter.check_ready()
        if self.attempt is not None:
            raise Refused("InProgress", "In Progress")
        if self.connected:
            return
        await self.attach(self.linked)

    async def attach(self, linked):
        """Makes a link, which `linked` is called with. Refused says what bluetoothd says of a failure."""
        if self.blocked:
            raise Refused("Failed", "the device is blocked")
        self.attempt = asyncio.Event()
        try:
            link = await self.adapter.connect(self, CONNECTING, self.attempt)
            if self.attempt.is_set():
                # Disconnect came together with the link.
                await self.adapter.radio.hang_up(link)
            elif self.bearer is None and self.adapter.radio.device.connections.get(link.handle) is link:
                linked(link)
        except LinkEnded:
            # Unless it connected itself meanwhile.
            pass
        except (RadioFailure, asyncio.TimeoutError) as failure:
            log.warning("%s: Connect: %s", self.text, reason_of(failure))
        finally:
            self.attempt = None
        if not self.connected:
            raise Refused("Failed", CANCELLED)

    @exported()
    async def Disconnect(self, _):
        if self.attempt is not None:
            # Connect answers by itself.
            self.attempt.set()
        if self.bearer is None:
            return
        await self.end_link()

    async def end_link(self):
        bearer = self.bearer
        if bearer is None:
            return
        self.asked_to_end = True
        if not await self.adapter.radio.hang_up(bearer.connection) and self.bearer is bearer:
            self.link_gone(bearer, 0x16)

    def linked(self, link):
        """A link is up: that is told before anything else."""
        bearer = Bearer(self.adapter.radio, link, self.values_heard, self.silent)
        self.serving = Link(self.adapter.table, bearer, self.place, lambda: self.security(bearer), self.end_served)
        self.taken_over(bearer)
        for packet in self.adapter.early.pop(link, []):
            self.serving.hear(packet)
        self.start(self.resolve(bearer))

    def taken_over(self, bearer):
        """What speaks on a new link is there."""
        self.asked_to_end = False
        self.bearer, link = bearer, bearer.connection
        # A turn later: what the peer said before is told before.
        soon = asyncio.get_running_loop().call_soon
        link.on("disconnection", lambda reason: soon(self.link_gone, bearer, reason))
        link.on("security_request", lambda _: self.security_requested(bearer))
        link.on("pairing", lambda keys: self.now_paired(bearer))
        link.on("pairing_failure", lambda reason: self.end_session(bearer))
        self.changed("Connected")

    def end_served(self, reason):
        log.warning("%s: %s; its link is ended", self.text, reason)
        self.start(self.end_link())

    def security(self, bearer):
        """How secure the link is: Bumble takes each encrypted one for authenticated, so the key is looked at."""
        if not bearer.connection.is_encrypted:
            return OPEN
        if not self.adapter.keys.authenticated(self.identity):
            return ENCRYPTED
        return SECURE if bearer.connection.sc else AUTHENTICATED

    def silent(self):
        log.warning("%s: the peer does not answer; its link is ended; restart it, or bring it nearer", self.text)
        self.start(self.end_link())

    def link_gone(self, bearer, reason):
        """The end of a link: its reason, then that it is gone, then what waits fails, then the objects go."""
        if self.bearer is not bearer:
            return
        bearer.end()
        # Where the controller is gone Bumble does not tell what waits for its packets.
        bearer.queue.emit("flow")
        self.adapter.channels.end(bearer.connection)
        serving, self.bearer, self.serving = self.serving, None, None
        resolved, self.resolved = self.resolved, False
        if self.asked_to_end:
            reason = 0x16
        elif reason == 0:
            # The controller is gone, and with it the air.
            reason = TIMEOUT
        if self.bus is not None:
            self.bus.emit(self.path, self.interface, "Disconnected", "ss", REASONS.get(reason, UNKNOWN_REASON))
            self.changed("Connected", *(["ServicesResolved"] if resolved else []))
        if serving is not None:
            serving.close()
        self.start(self.adapter.advertising.resume())
        for each in self.remote:
            if isinstance(each, RemoteCharacteristic):
                each.link_gone()
        self.handles.clear()
        self.clearing = self.start(self.clear(list(self.operations)))

    async def clear(self, operations):
        if operations:
            await asyncio.wait(operations, timeout=FAILING)
        self.drop_objects(self.remote)
        self.remote, self.services = [], []

    def drop_objects(self, remote):
        """Each object before the one that it belongs to."""
        for each in reversed(remote):
            self.adapter.owner_bus.remove(each.place)

    async def operate(self, work):
        """A call on the link. Its end knows which tasks still have to answer."""
        task = asyncio.current_task()
        self.operations.add(task)
        try:
            return await work
        finally:
            self.operations.discard(task)

    async def secure(self, bearer):
        """Encrypts the link, and pairs first where there is no key. False if nothing more was won by that.

        Calls that need it at one time wait for one attempt. On the link of a central that is the central's to do.
        """
        if bearer.connection.is_encrypted or not bearer.alive or bearer.connection.role != Role.CENTRAL:
            return False
        if self.securing is None:
            self.securing = self.start(self.encrypt(bearer))
            self.securing.add_done_callback(lambda _: setattr(self, "securing", None))
        return await asyncio.shield(self.securing)

    def security_requested(self, bearer):
        """A peer that asks again while the link is made secure waits for that."""
        if self.securing is None and self.delegate is None:
            self.start(self.secure(bearer))

    async def encrypt(self, bearer):
        try:
            if self.paired:
                await bounded(bearer.connection.encrypt(), 5)
            elif self.delegate is None:
                await self.pair(None)
        except (Exception, LinkEnded, asyncio.TimeoutError) as error:
            log.info("%s: cannot be encrypted: %r", self.text, error)
            return False
        return bearer.alive and bearer.connection.is_encrypted

    # The attributes

    async def resolve(self, bearer):
        """Reads the table of a new link, and tells that it is whole."""
        if self.clearing is not None:
            await self.clearing
        try:
            async with self.resolving:
                # A peer that was there when the link was made is asked at once; a central may be busy with its own.
                await bearer.exchange_mtu(FIRST if bearer.connection.role == Role.CENTRAL else REQUEST)
                services = await bearer.discover()
                name = await self.read_name(bearer, services)
                if self.bearer is not bearer:
                    return
                self.show(services)
                if name and name != self.name:
                    self.name = name
                    self.changed("Name", "Alias")
                await self.follow_changes(bearer)
        except Refusal as refusal:
            log.warning("%s: its services cannot be read: %s; see its table", self.text, refusal)
        except (LinkEnded, Silent):
            return
        if self.bearer is bearer:
            self.resolved = True
            self.changed("ServicesResolved")

    async def read_name(self, bearer, services):
        """What the peer calls itself now, or None."""
        for service in services:
            for each in service.characteristics if service.uuid == GAP else []:
                if each.uuid == DEVICE_NAME:
                    try:
                        octets = await bearer.read(each.value_handle)
                    except Refusal:
                        return None
                    return octets.decode("utf-8", "replace").replace("\0", "") or None
        return None

    def show(self, services):
        """Makes the objects of services that are new, and removes those of services that are gone or others now."""
        stale = [each for each in self.services if each not in services]
        kept = [each for each in self.services if each in services]
        if stale:
            places = tuple(f"{self.place}/service{each.handle:04x}" for each in stale)
            gone = [each for each in self.remote if each.place.startswith(places)]
            for each in gone:
                if isinstance(each, RemoteCharacteristic):
                    self.handles.pop(each.handle, None)
                    each.link_gone()
            self.drop_objects(gone)
            self.remote = [each for each in self.remote if each not in gone]
        for service in services:
            if service in kept:
                continue
            for place, each in objects_of(self, service):
                self.remote.append(each)
                if isinstance(each, RemoteCharacteristic):
                    self.handles[each.handle] = each
                self.adapter.owner_bus.add(place, each)
        self.services = services

    async def follow_changes(self, bearer):
        """Asks the peer to tell when its services change."""
        for each in list(self.handles.values()):
            if each.facts.uuid == SERVICE_CHANGED and each.configuration is not None:
                try:
                    await bearer.write(each.configuration, b"\2\0")
                    # The end of a client's StartNotify must not end this.
                    each.configured, each.kept = 2, True
                except (Refusal, LinkEnded, Silent):
                    pass

    def values_heard(self, values):
        with self.adapter.owner_bus.together():
            for handle, value in values:
                try:
                    self.value_heard(handle, value)
                except Exception:
                    log.exception("%s: a value of attribute 0x%04x was not told", self.text, handle)

    def value_heard(self, handle, value):
        characteristic = self.handles.get(handle)
        if characteristic is None:
            log.info("%s: a value of attribute 0x%04x, which has no object", self.text, handle)
            return
        characteristic.heard(value)
        if characteristic.facts.uuid == SERVICE_CHANGED and not self.changing:
            self.changing = True
            self.start(self.discover_again(self.bearer))

    async def discover_again(self, bearer):
        """The peer's services changed: what is other now comes and goes as objects of a link that stays resolved."""
        try:
            async with self.resolving:
                # What changes from now on is found by another one.
                self.changing = False
                if self.bearer is not bearer or bearer is None:
                    return
                services = await bearer.discover()
                if self.bearer is bearer:
                    self.show(services)
        except (Refusal, LinkEnded, Silent) as error:
            log.info("%s: its changed services cannot be read: %r", self.text, error)

    # Pairing

    @exported()
    async def Pair(self, sender):
        if self.paired:
            raise Refused("AlreadyExists", "Already Exists")
        if self.delegate is not None:
            raise Refused("InProgress", "In Progress")
        await self.pair(sender, connects=True)

    async def pair(self, sender, connects=False):
        delegate = self.delegate = self.adapter.agents.delegate(self, sender)
        try:
            if connects and not self.connected:
                with contextlib.suppress(Refused):
                    await self.Connect(sender)
            if delegate.cancelled:
                raise Refused("AuthenticationCanceled", "Authentication Canceled")
            if self.bearer is None:
                raise Refused("ConnectionAttemptFailed", "Page Timeout")
            await pair(self, delegate)
        finally:
            self.delegate = None

    @exported()
    async def CancelPairing(self, _):
        if self.delegate is None:
            raise Refused("DoesNotExist", "Does Not Exist")
        self.cancel_pairing()
        await self.end_link()

    def cancel_pairing(self):
        self.delegate.cancelled = True
        if self.attempt is not None:
            self.attempt.set()

    def now_paired(self, bearer):
        """There is a key, by whichever end pairing began. It is kept, also where the link ends now."""
        if self.bearer is not bearer:
            return
        self.identity = bearer.connection.peer_address
        self.adapter.identities[self.adapter.key(self.identity)] = self
        self.changed("Paired", "Bonded")
        self.end_session(bearer)

    def end_session(self, bearer):
        if self.delegate is None:
            end_session(self, bearer)

    # Ends

    def client_gone(self, sender):
        if self.delegate is not None and self.delegate.caller == sender:
            self.cancel_pairing()
            self.start(self.end_link())
        for each in self.remote:
            if isinstance(each, RemoteCharacteristic):
                each.client_gone(sender)
