"""Adapter1: power, discovery by client, the devices that are heard, and centrals that connect."""

import asyncio
import logging

from bumble import hci
from bumble.pairing import PairingConfig
from dbus_fast import Variant

from .advertising import AdvertisingManager
from .agent import Nothing, Session
from .application import GattManager
from .bearer import canonical
from .bus import Interface, Refused, exported
from .channels import Channels
from .device import LONGEST_NAME, Heard, RemoteDevice
from .hci import Radio
from .host import LinkEnded, RadioFailure
from .monitor import Monitors
from .radio1 import Radio1
from .table import Table

log = logging.getLogger(__name__)

# Seconds that an advertisement waits for its scan response. It comes within a millisecond on the air.
RESPONSE = 0.1
# Devices that are kept without a link or a bond; the one that was not heard for longest goes then.
MOST_DEVICES = 1024
# Octets of an extended advertisement (Core 5.4, Vol 6, Part B, 4.4.2.4): what exceeds them is dropped.
LONGEST_ADVERTISEMENT = 1650
# Seconds that the controller has to take the values before a fence, and packets of a peer that may come before its link
# is told.
FENCE, MOST_EARLY = 10, 16
# Seconds between attempts to open a transport that was lost.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8

Kind = hci.HCI_LE_Extended_Advertising_Report_Event.EventType
Extended = hci.HCI_LE_Extended_Advertising_Report_Event.Report
# By the event type of a legacy report. A scan response does not say what it answers.
LEGACY_KINDS = {
    0: Kind.CONNECTABLE_ADVERTISING | Kind.SCANNABLE_ADVERTISING,
    1: Kind.CONNECTABLE_ADVERTISING | Kind.DIRECTED_ADVERTISING,
    2: Kind.SCANNABLE_ADVERTISING,
    3: Kind(0),
    4: Kind.SCAN_RESPONSE | Kind.SCANNABLE_ADVERTISING,
}
FILTERS = {"UUIDs": "as", "RSSI": "n", "Pathloss": "q", "Transport": "s", "DuplicateData": "b", "Discoverable": "b",
           "Pattern": "s"}


class Filter:
    """What one client wants to hear of. Without words it is all."""

    def __init__(self, said=None):
        said = said or {}
        for name, value in said.items():
            if FILTERS.get(name) != value.signature:
                raise Refused("InvalidArguments", "Invalid arguments in method call")
        values = {name: value.value for name, value in said.items()}
        self.uuids = {canonical(each) for each in values.get("UUIDs", [])}
        self.rssi, self.pathloss = values.get("RSSI"), values.get("Pathloss")
        self.transport = values.get("Transport", "auto")
        self.duplicates = values.get("DuplicateData", False)
        self.pattern = values.get("Pattern", "")
        if self.transport not in ("auto", "le", "bredr") or None in self.uuids:
            raise Refused("InvalidArguments", "Invalid arguments in method call")

    def wants(self, device):
        if self.transport == "bredr":
            return False
        if self.uuids and not self.uuids.intersection(device.uuids):
            return False
        if self.rssi is not None and (device.rssi is None or device.rssi < self.rssi):
            return False
        if self.pathloss is not None:
            if device.rssi is None or device.tx_power is None or device.tx_power - device.rssi > self.pathloss:
                return False
        return device.text.startswith(self.pattern) or (device.name or "").startswith(self.pattern)


class Adapter(Interface):
    interface = "org.bluez.Adapter1"

    def __init__(self, owner, index, transport, keys, agents):
        # `bus` is set while the object is on the bus.
        self.owner_bus, self.transport, self.keys, self.agents = owner, transport, keys, agents
        self.place = f"/org/bluez/hci{index}"
        self.radio = self.new_radio()
        self.powered = False
        self.alias = "wakebench"
        # By address; those that were paired under a private address also by their identity.
        self.devices, self.identities = {}, {}
        # By client: its filter, and whether it discovers.
        self.filters, self.sessions = {}, set()
        self.scanning = False
        self.settling, self.initiating, self.powering = asyncio.Lock(), asyncio.Lock(), asyncio.Lock()
        self.connecting = 0
        # By address: advertisements that wait for their response, and the first parts of long ones.
        self.waiting, self.parts = {}, {}
        self.closing = False
        # What is offered to centrals; the interfaces are on the bus where the controller can be a peripheral.
        self.table = Table(lambda: self.alias, self.table_changed)
        self.offers, self.advertising = GattManager(self), AdvertisingManager(self)
        # By connection, what a peer asked before its link was told.
        self.early = {}
        self.channels = Channels(self.has_key, self.name_of_peer)
        self.monitors = Monitors(index, lambda: self.radio)
        self.radio1 = Radio1(self)
        owner.vanished.append(self.client_gone)

    def new_radio(self):
        return Radio(self.transport, self)

    def properties(self):
        address = self.radio.address
        return {
            "Address": Variant("s", address.to_string(False)),
            "AddressType": Variant("s", "public" if address.is_public else "random"),
            "Name": Variant("s", "wakebench"),
            "Alias": Variant("s", self.alias),
            "Class": Variant("u", 0),
            "Powered": Variant("b", self.powered),
            "PowerState": Variant("s", "on" if self.powered else "off"),
            "Discoverable": Variant("b", False),
            "DiscoverableTimeout": Variant("u", 0),
            "Pairable": Variant("b", True),
            "PairableTimeout": Variant("u", 0),
            "Discovering": Variant("b", self.scanning),
            "UUIDs": Variant("as", []),
            "Roles": Variant("as", ["central"] + (["peripheral"] if self.radio.can_advertise else [])),
        }

    writable = {"Powered": ("b", "set_powered"), "Alias": ("s", "set_alias")}

    def set_alias(self, alias):
        self.alias = alias[:LONGEST_NAME] or "wakebench"
        self.changed("Alias")

    # Power

    async def open(self, patience=0):
        """Makes the radio ready. The object is not on the bus yet."""
        self.radio.keystore = self.keys.store
        await self.radio.open(patience)
        self.powered = True
        self.prepare()
        self.keys.open(self.radio.address.to_string(False))
        await self.radio.device.refresh_resolving_list()

    def prepare(self):
        """Tells a new Bumble device how to pair."""
        self.radio.device.pairing_config_factory = self.pairing_configuration
        self.radio.device.smp_manager.session_proxy = Session
        self.channels.install(self.radio.device)

    def pairing_configuration(self, connection):
        """What is said of this end. `delegate` of the device is set while it is being paired from here."""
        device = self.peer(connection)
        kinds = PairingConfig.AddressType
        return PairingConfig(
            sc=True, mitm=True, bonding=True,
            delegate=device and (device.delegate or self.agents.delegate(device, None, by_peer=True)) or Nothing(),
            identity_address_type=kinds.PUBLIC if self.radio.has_public_address else kinds.RANDOM,
        )

    def device_of(self, connection):
        """The device whose link it is, or None."""
        return next(
            (each for each in self.devices.values() if each.bearer and each.bearer.connection is connection), None
        )

    def has_key(self, connection):
        device = self.device_of(connection)
        return self.keys.has(device.identity if device else connection.peer_address)

    def name_of_peer(self, connection):
        """A peer's address and type, as its device says them."""
        device = self.peer(connection)
        address = device.address if device else connection.peer_address
        return f"{address.to_string(False)} {'public' if address.is_public else 'random'}"

    def announce(self):
        roles = [self.offers, self.advertising] if self.radio.can_advertise else []
        self.owner_bus.add(self.place, self, self.radio1, *roles)
        self.monitors.came()
        for address in self.keys.addresses():
            if self.key(address) not in self.devices:
                self.keep(RemoteDevice(self, address))

    async def set_powered(self, powered):
        async with self.powering:
            if powered == self.powered:
                return
            if self.radio.lost is not None:
                raise Refused("Failed", "Failed")
            if powered:
                try:
                    await self.radio.start()
                except RadioFailure as failure:
                    log.error("%s", failure)
                    raise Refused("Failed", "Failed") from None
                self.prepare()
                self.powered = True
            else:
                self.powered = False
                self.sessions.clear()
                await self.try_to_settle("Powered")
                for device in list(self.devices.values()):
                    if device.attempt is not None:
                        device.attempt.set()
                    await device.end_link()
                await self.radio.rest()
            self.changed("Powered", "PowerState")
            if not powered:
                # Services stay, as with bluetoothd.
                self.advertising.close()

    def check_ready(self):
        if not self.powered or self.radio.lost is not None or self.closing:
            raise Refused("NotReady", "Resource Not Ready")

    def check_there(self):
        """RadioFailure if the radio was lost after its opening, before the adapter is announced."""
        if self.radio.lost is not None:
            raise RadioFailure(f"{self.transport}: lost: {self.radio.lost}; see what is behind it")

    def lost(self, reason):
        """The radio is gone: links end, and the adapter goes with all that it has. It comes back with its transport."""
        if self.closing or self.bus is None:
            return
        log.error(
            "%s: lost: %s; see what is behind it; %s is withdrawn until it is back", self.transport, reason, self.place
        )
        for device in self.devices.values():
            if device.attempt is not None:
                device.attempt.set()
            if device.bearer is not None:
                device.link_gone(device.bearer, 0)
        self.owner_bus.start(self.withdraw())

    async def withdraw(self):
        """Takes all objects away, behind the answers that fail with the links."""
        self.channels.end()
        clearing = {each.clearing for each in self.devices.values() if each.clearing is not None}
        if clearing:
            await asyncio.wait(clearing, timeout=1)
        self.powered = self.scanning = False
        self.sessions.clear()
        self.filters.clear()
        self.forget_waiting()
        self.offers.close()
        self.advertising.close()
        for device in list(self.devices.values()):
            self.drop(device)
        self.identities.clear()
        self.owner_bus.remove(self.place)
        self.monitors.went()
        await self.come_back()

    async def come_back(self):
        pause = FIRST_PAUSE
        await self.radio.close()
        while not self.closing:
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            radio = self.radio = self.new_radio()
            try:
                await self.open()
            except RadioFailure as failure:
                log.info("%s", failure)
                continue
            if self.closing:
                await radio.close()
            else:
                log.error("%s: back; %s is there again", self.transport, self.place)
                self.announce()
            return

    async def close(self):
        """Ends all that goes on in the air, and tells of it."""
        self.closing = True
        self.sessions.clear()
        self.forget_waiting()
        for device in self.devices.values():
            if device.attempt is not None:
                device.attempt.set()
            device.asked_to_end = True
        await self.radio.close()

    # Discovery

    @exported("a{sv}")
    async def SetDiscoveryFilter(self, sender, said):
        self.check_ready()
        if said:
            self.filters[sender] = Filter(said)
        else:
            self.filters.pop(sender, None)
        if sender in self.sessions:
            await self.try_to_settle("SetDiscoveryFilter")

    @exported("", "as")
    def GetDiscoveryFilters(self, _):
        return [list(FILTERS)]

    @exported()
    async def StartDiscovery(self, sender):
        self.check_ready()
        if sender in self.sessions:
            raise Refused("InProgress", "Operation already in progress")
        self.sessions.add(sender)
        for device in self.devices.values():
            # The first advertisement of each discovery is told.
            device.told_rssi = None
        try:
            await self.settle()
        except (RadioFailure, LinkEnded) as failure:
            self.sessions.discard(sender)
            self.tell_failure("StartDiscovery", failure)
            raise Refused("Failed", "Failed to start discovery") from None

    @exported()
    async def StopDiscovery(self, sender):
        self.check_ready()
        if sender not in self.sessions:
            raise Refused("Failed", "No discovery started")
        self.sessions.discard(sender)
        await self.try_to_settle("StopDiscovery")

    async def try_to_settle(self, doing):
        try:
            await self.settle()
        except (RadioFailure, LinkEnded) as failure:
            self.tell_failure(doing, failure)

    def tell_failure(self, doing, failure):
        # The loss of a radio is told once.
        if self.radio.lost is None:
            log.error("%s: %s: %s", self.place, doing, failure)

    def active_filters(self):
        return [self.filters.get(sender) or Filter() for sender in self.sessions]

    async def settle(self):
        """Scans if a client wants it and nothing is being connected: some controllers cannot do both at once."""
        async with self.settling:
            discovers = any(each.transport != "bredr" for each in self.active_filters())
            wanted = discovers and not self.connecting and self.powered
            if self.radio.lost is None and wanted != self.radio.device.is_scanning:
                await self.radio.scan(wanted)
            ended = self.scanning and not discovers
            if self.scanning != discovers:
                self.scanning = discovers
                self.changed("Discovering")
            if ended:
                self.discovery_ended()

    def discovery_ended(self):
        self.forget_waiting()
        for device in list(self.devices.values()):
            if device.connected or device.attempt is not None:
                continue
            if not device.connectable and not device.paired and not device.trusted:
                self.drop(device)
            else:
                device.no_longer_heard()

    def client_gone(self, sender):
        self.filters.pop(sender, None)
        if sender in self.sessions:
            self.sessions.discard(sender)
            self.owner_bus.start(self.try_to_settle("the end of a client"))
        for device in list(self.devices.values()):
            device.client_gone(sender)
        self.offers.client_gone(sender)
        self.advertising.client_gone(sender)

    # What is heard

    @staticmethod
    def key(address):
        return bytes(address), address.address_type & 1

    def heard(self, report):
        """A report of the controller. An advertisement waits for its scan response, so that both are one sighting."""
        if not self.sessions:
            return
        kind = report.event_type if isinstance(report, Extended) else LEGACY_KINDS.get(report.event_type)
        if kind is None or report.address.address_type > 3:
            return
        kind, status = int(kind) & 0x1F, int(kind) >> 5 & 3
        key = self.key(report.address)
        data = self.parts.pop(key, b"") + bytes(report.data)
        if status == 1:
            if len(data) <= LONGEST_ADVERTISEMENT:
                self.parts[key] = data
                if len(self.parts) > MOST_DEVICES:
                    # The rest of the one that began first did not come.
                    del self.parts[next(iter(self.parts))]
            return
        waiting = self.waiting.pop(key, None)
        if waiting is not None:
            waiting.timer.cancel()
        if kind & Kind.SCAN_RESPONSE:
            if waiting is not None:
                self.sight(report.address, waiting.data, data, report.rssi, waiting.kind)
            else:
                self.sight(report.address, b"", data, report.rssi, None)
            return
        if waiting is not None:
            self.sight(report.address, waiting.data, b"", waiting.rssi, waiting.kind)
        if kind & Kind.SCANNABLE_ADVERTISING:
            self.waiting[key] = Waiting(self, key, report, data, kind)
        else:
            self.sight(report.address, data, b"", report.rssi, kind)

    def forget_waiting(self):
        for each in self.waiting.values():
            each.timer.cancel()
        self.waiting.clear()
        self.parts.clear()

    def sight(self, address, advertisement, response, rssi, kind):
        """A device was heard. `kind` is None for a response that came by itself."""
        heard = Heard()
        heard.take(advertisement)
        heard.take(response)
        filters = self.active_filters()
        identity = self.resolved(address)
        device = self.devices.get(self.key(identity)) or self.identities.get(self.key(identity))
        if device is None:
            device = RemoteDevice(self, identity)
            device.take(heard, rssi, kind is not None and bool(kind & Kind.CONNECTABLE_ADVERTISING))
            device.air_address = address
            if any(each.wants(device) for each in filters):
                device.told_rssi = device.rssi
                self.make_room()
                self.keep(device)
            return
        device.air_address = address
        # The order of the table is that of the last sightings.
        self.devices[self.key(device.address)] = self.devices.pop(self.key(device.address))
        connectable = device.connectable if kind is None else bool(kind & Kind.CONNECTABLE_ADVERTISING)
        changed = device.take(heard, rssi, connectable)
        if device.connected:
            device.changed(*changed)
        else:
            device.tell_heard(changed, any(each.duplicates for each in filters))

    def resolved(self, address):
        """The identity of a peer that uses a private address, if its key is known."""
        resolver = self.radio.device.address_resolver
        if address.is_resolvable and resolver is not None:
            if identity := resolver.resolve(address):
                return hci.Address(bytes(identity), hci.AddressType(identity.address_type & 1))
        return address

    def keep(self, device):
        self.devices[self.key(device.address)] = device
        self.owner_bus.add(device.place, device)

    def drop(self, device):
        self.devices.pop(self.key(device.address), None)
        self.identities.pop(self.key(device.identity), None)
        device.drop_objects(device.remote)
        self.owner_bus.remove(device.place)

    def make_room(self):
        if len(self.devices) < MOST_DEVICES:
            return
        for device in self.devices.values():
            if not device.connected and device.attempt is None and not device.paired and not device.trusted:
                self.drop(device)
                return

    @exported("o")
    async def RemoveDevice(self, _, path):
        self.check_ready()
        device = next((each for each in self.devices.values() if each.place == path), None)
        if device is None:
            raise Refused("DoesNotExist", "Does Not Exist")
        if device.attempt is not None:
            device.attempt.set()
        await device.end_link()
        if device.clearing is not None:
            await device.clearing
        await self.keys.forget(device.identity)
        await self.radio.device.refresh_resolving_list()
        self.drop(device)

    # Links

    async def connect(self, device, seconds, given_up):
        """The connection to a device, one after the other. `given_up` ends the attempt, and the wait for its turn."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        turn, stop = asyncio.ensure_future(self.initiating.acquire()), asyncio.ensure_future(given_up.wait())
        await asyncio.wait({turn, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not turn.done():
            turn.cancel()
            raise LinkEnded
        try:
            if given_up.is_set():
                raise LinkEnded
            self.connecting += 1
            await self.try_to_settle("Connect")
            self.check_ready()
            return await self.radio.connect(device.air_address, until - loop.time(), given_up)
        finally:
            self.connecting = 0
            self.initiating.release()
            if self.sessions:
                self.owner_bus.start(self.try_to_settle("going on with discovery"))

    # Centrals

    def came(self, link):
        """A central connected: it is a connected device before anything that it asks is passed on."""
        if self.closing or not self.powered:
            self.owner_bus.start(self.radio.hang_up(link))
            return
        if self.device_of(link) is not None:
            return
        identity = self.resolved(link.peer_address)
        device = self.devices.get(self.key(identity)) or self.identities.get(self.key(identity))
        known = device is not None
        if not known:
            device = RemoteDevice(self, identity)
        elif device.blocked:
            self.owner_bus.start(self.radio.hang_up(link))
            return
        if device.bearer is not None:
            # The controller has a new one, so the old one is gone.
            device.link_gone(device.bearer, 0)
        device.air_address = link.peer_resolvable_address or link.peer_address
        device.linked(link)
        if not known:
            self.make_room()
            self.keep(device)
        if device.attempt is not None:
            # What it waits for is there.
            device.attempt.set()
        self.owner_bus.start(self.advertising.resume())

    def peer(self, link):
        """The device of a link, or None. A central that asks for something is one."""
        device = self.device_of(link)
        if device is None and link.role == hci.Role.PERIPHERAL:
            # Its first request overtook the controller's word of which advertisement it answered, by which Bumble knows
            # the address of this end. Pairing fails without it. All advertisements have the same one.
            link.self_address = self.radio.address
            self.came(link)
            device = self.device_of(link)
        return device

    def asked(self, link, packet):
        """A peer asks something of the table."""
        device = self.peer(link)
        if device is not None:
            device.serving.hear(packet)
        elif link not in self.early:
            self.early[link] = [packet]
            link.on("disconnection", lambda _: self.early.pop(link, None))
        elif len(self.early[link]) < MOST_EARLY:
            self.early[link].append(packet)

    def table_changed(self, start, end):
        for device in self.devices.values():
            if device.serving is not None:
                device.serving.table_changed(start, end)

    def before_get(self, name):
        return self.fence() if name == "Address" else None

    async def fence(self):
        """The address, once the controller has taken all values that came before: clients count on that order.

        bluetoothd answers when it has written them; what it has no room for waits in the kernel.
        """
        queues = {id(each): each for each in (
            device.bearer.queue for device in self.devices.values() if device.bearer is not None
        )}
        await asyncio.gather(*(self.taken(each) for each in queues.values()))
        return self.properties()["Address"]

    async def taken(self, queue):
        """Waits until the controller has what is in a queue now. Of what it has not sent yet it takes so many."""
        wanted, flow = queue.queued - queue.max_in_flight, asyncio.Event()
        queue.on("flow", flow.set)
        try:
            async with asyncio.timeout(FENCE):
                while queue.completed < wanted and self.radio.lost is None:
                    flow.clear()
                    await flow.wait()
        except TimeoutError:
            log.warning("%s: the controller does not take what it is given", self.place)
        finally:
            queue.remove_listener("flow", flow.set)


class Waiting:
    """An advertisement that waits for its scan response, for a short time."""

    def __init__(self, adapter, key, report, data, kind):
        self.data, self.kind, self.rssi = data, kind, report.rssi
        address = report.address

        def alone():
            if adapter.waiting.pop(key, None) is self:
                adapter.sight(address, data, b"", self.rssi, kind)

        self.timer = asyncio.get_running_loop().call_later(RESPONSE, alone)
