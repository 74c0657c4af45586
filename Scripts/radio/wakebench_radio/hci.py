"""The radio of an adapter: a Bumble device on a transport, its scans, and attempts to connect."""

import asyncio
import hashlib
import logging

from bumble import att, hci
from bumble.core import BaseBumbleError
from bumble.core import ConnectionError as BumbleConnectionError
from bumble.device import (
    AdvertisingEventProperties, AdvertisingParameters, AdvertisingType, ConnectionParametersPreferences, Device,
    DeviceConfiguration,
)
from bumble.keys import MemoryKeyStore

from .host import COMMAND, Line, LinkEnded, RadioFailure, bounded, reason_of

log = logging.getLogger(__name__)

# Advertisements at once (Linux, HCI_MAX_ADV_INSTANCES).
MOST_SETS = 5
# What Linux gives a new connection (net/bluetooth/hci_core.c, hci_alloc_dev): 30 to 50 ms, no latency, 420 ms.
PREFERENCES = ConnectionParametersPreferences(
    connection_interval_min=30, connection_interval_max=50, max_latency=0, supervision_timeout=420
)


class SteadyDevice(Device):
    """Bumble's device. It does not scan of itself when it connects to a peer whose identity key it knows.

    What is heard goes to `heard`, a function of a report: Bumble itself would hold some reports back. A central that
    connected is told by the event 'central', since whatever 'connection' tells is taken for the end of `connect`. What
    a peer asks of the attributes goes to `asked`, a function of its connection and the packet. A packet of a peer's
    server that cannot be read is an answer all the same: Bumble drops it, and the request waits.
    """

    own_address = hci.Address.ANY_RANDOM

    def __init__(self, *facts, **named):
        # By handle of a link, what gets its ATT PDUs in place of client and server.
        self.raw_attributes = {}
        super().__init__(*facts, **named)

    def heard(self, report):
        pass

    def asked(self, connection, packet):
        pass

    def on_advertising_report(self, report):
        self.heard(report)

    def emit(self, event, *arguments):
        if event == self.EVENT_CONNECTION and arguments[0].role == hci.Role.PERIPHERAL:
            event = "central"
        return super().emit(event, *arguments)

    def on_advertising_set_termination(self, status, advertising_handle, connection_handle, events):
        """A set that was removed while a central connected to it makes a connection, too; Bumble would not tell of it."""
        connection = self.lookup_connection(connection_handle)
        known = advertising_handle in self.extended_advertising_sets
        super().on_advertising_set_termination(status, advertising_handle, connection_handle, events)
        if not known and connection is not None and status == hci.HCI_SUCCESS:
            connection.self_address = self.own_address
            self.emit(self.EVENT_CONNECTION, connection)

    def on_gatt_pdu(self, connection_handle, pdu):
        if raw := self.raw_attributes.get(connection_handle):
            raw(pdu)
            return
        connection = self.lookup_connection(connection_handle)
        if connection is None or not pdu:
            return
        # Odd codes are those of a server's packets, but for the bits of commands and signatures.
        if not pdu[0] & 1:
            self.asked(connection, pdu)
            return
        try:
            packet = att.ATT_PDU.from_bytes(pdu)
        except Exception as error:
            log.info("%s: no packet of the Attribute Protocol: %s: %r", connection.peer_address, pdu.hex(), error)
            if hear := getattr(connection.gatt_client, "on_unreadable", None):
                hear(pdu[0])
            return
        connection.gatt_client.on_gatt_pdu(packet)

    async def refresh_resolving_list(self):
        await super().refresh_resolving_list()
        resolver = self.address_resolver
        resolver.can_resolve_to = lambda address: False


class LegacyAdvertisement:
    """The one advertisement of a controller without advertising sets, with the methods of a set."""

    def __init__(self, device, again):
        self.device, self.again = device, again

    async def start(self):
        try:
            await self.again()
        except hci.HCI_Error:
            # Bumble takes it for started.
            self.device.legacy_advertiser = None
            raise

    @property
    def enabled(self):
        return self.device.legacy_advertiser is not None

    async def stop(self):
        await self.device.stop_advertising()

    async def remove(self):
        pass


class Radio(Line):
    """One controller on one transport.

    Its `owner` has `lost(reason)`, called once when it is gone; `heard(report)`, for each advertisement and scan
    response; `came(link)`, for a central that connected; and `asked(link, packet)`, for what a peer asks of the
    attributes.
    """

    def __init__(self, transport, owner):
        super().__init__(transport, owner.lost)
        self.owner = owner
        self.device = None
        self.keystore = MemoryKeyStore()
        # The attempt to connect: its address and its task, and whether it is waited for.
        self.pending, self.wanted = None, False

    async def open(self, patience=0):
        """Opens the transport, within some seconds where nothing listens there yet, and makes the controller ready."""
        await super().open(patience)
        try:
            await self.start()
        except BaseException:
            self.lost = self.lost or "it was given up"
            await self.close_transport()
            raise
        self.watch()

    async def start(self):
        """A new host and device on the transport: what an old one knows of a controller that was reset is wrong."""
        if self.host is not None:
            self.device.host = None
        if self.pending is not None:
            # The controller was reset meanwhile: it does not try to connect any more.
            self.pending[1].cancel()
            self.pending = None
        self.new_host()
        configuration = DeviceConfiguration(
            name="wakebench", address=self.own_random_address(), irk=self.own_key(), eatt_enabled=False
        )
        self.device = SteadyDevice(config=configuration, host=self.host)
        self.device.command_timeout = COMMAND
        self.device.keystore = self.keystore
        self.device.on("error", self.complain)
        self.device.heard, self.device.asked = self.owner.heard, self.owner.asked
        self.device.on("central", self.owner.came)
        self.host.on("le_connection", lambda *facts: asyncio.get_running_loop().call_soon(self.check_link, facts[0]))
        await self.ready(self.device.power_on())
        self.device.own_address = self.address

    def digest(self, use):
        return hashlib.sha256(f"wakebench {use} {self.name}".encode()).digest()

    def own_random_address(self):
        """For controllers without an address of their own: the same one for the same transport, so that bonds hold."""
        octets = bytearray(self.digest("address")[:6])
        octets[5] |= 0xC0
        return hci.Address(bytes(octets), hci.Address.RANDOM_DEVICE_ADDRESS)

    def own_key(self):
        """The identity key that peers are given. No private address is made with it."""
        return self.digest("identity")[:16]

    @property
    def has_public_address(self):
        return self.device.public_address not in (hci.Address.ANY, hci.Address.ANY_RANDOM) and any(
            bytes(self.device.public_address)
        )

    @property
    def address(self):
        """What peers see: the controller's public address, or a random one where it has none."""
        return self.device.public_address if self.has_public_address else self.device.random_address

    @property
    def own_type(self):
        return hci.OwnAddressType.PUBLIC if self.has_public_address else hci.OwnAddressType.RANDOM

    # Links that are not wanted

    def check_link(self, handle):
        """A link that the host has and the device has not came after it was given up: it is ended."""
        if handle in self.host.connections and handle not in self.device.connections and self.lost is None:
            command = hci.HCI_Disconnect_Command(connection_handle=handle, reason=0x13)
            asyncio.ensure_future(self.try_out(self.host.send_async_command(command)))

    # Scans

    async def scan(self, on):
        """Begins or ends to scan. Raises as `demand`."""
        if on:
            work = self.device.start_scanning(
                active=True, own_address_type=self.own_type, filter_duplicates=False, scanning_phys=(1,)
            )
        else:
            work = self.device.stop_scanning()
        await self.demand(work, "scan")

    async def demand(self, work, doing):
        """The result of what the controller has to do. Raises RadioFailure, or LinkEnded once the radio is lost."""
        if self.lost is not None:
            work.close()
            raise LinkEnded(self.lost)
        try:
            return await bounded(work, COMMAND)
        except (BaseBumbleError, RuntimeError, AssertionError, TimeoutError, LinkEnded) as error:
            raise self.refusal(doing, error) from error

    def refusal(self, doing, error):
        """What a command's failure is raised as. Of a controller that is gone enough is said elsewhere."""
        if self.lost is not None:
            return LinkEnded(self.lost)
        return RadioFailure(
            f"{self.name}: the controller refuses to {doing}: {reason_of(error)}; switch it off and on (Powered)"
        )

    # Advertising

    @property
    def can_advertise(self):
        """Whether the controller takes connections as a peripheral at all."""
        return self.device.supports_le_extended_advertising or self.host.supports_command(
            hci.HCI_LE_SET_ADVERTISING_ENABLE_COMMAND
        )

    @property
    def most_advertisements(self):
        """How many advertisements there can be at once: what the controller says; as many as Linux has where it does not."""
        if not self.device.supports_le_extended_advertising:
            return 1
        return min(self.host.number_of_supported_advertising_sets or MOST_SETS, MOST_SETS)

    async def advertise(self, data, response, connectable, interval):
        """Begins to advertise, and returns what `advertise_again` and `end_advertising` take. One call at a time.

        `data` and `response` are at most 31 octets each, `interval` is a pair of ms. Raises as `demand`.
        """
        kinds = AdvertisingType
        kind = kinds.UNDIRECTED_SCANNABLE if response else kinds.UNDIRECTED
        if connectable:
            kind = kinds.UNDIRECTED_CONNECTABLE_SCANNABLE
        if self.device.supports_le_extended_advertising:
            work = self.device.create_advertising_set(
                AdvertisingParameters(
                    advertising_event_properties=AdvertisingEventProperties.from_advertising_type(kind),
                    primary_advertising_interval_min=interval[0], primary_advertising_interval_max=interval[1],
                    own_address_type=self.own_type,
                ),
                advertising_data=data, scan_response_data=response, auto_start=False,
            )
            made = await self.demand(work, "advertise")
            try:
                await self.advertise_again(made)
            except (RadioFailure, LinkEnded):
                await self.end_advertising(made)
                raise
            return made
        made = LegacyAdvertisement(
            self.device, lambda: self.device.start_advertising(advertising_type=kind, own_address_type=self.own_type)
        )
        self.device.advertising_data, self.device.scan_response_data = data, response
        self.device.advertising_interval_min, self.device.advertising_interval_max = interval
        await self.advertise_again(made)
        return made

    async def advertise_again(self, advertisement):
        """A connection ends advertising; this goes on with it. Raises as `demand`."""
        await self.demand(advertisement.start(), "go on advertising")

    async def end_advertising(self, advertisement):
        if advertisement.enabled:
            await self.try_out(advertisement.stop())
        await self.try_out(advertisement.remove())

    # Connections

    async def connect(self, address, seconds, given_up):
        """The connection to a peer as its central. `given_up` is an event that ends the attempt. One at a time."""
        if self.pending is not None and self.pending[0] != address:
            await self.cancel()
        if self.pending is None:
            self.pending = address, asyncio.ensure_future(
                self.device.connect(
                    address, connection_parameters_preferences={hci.Phy.LE_1M: PREFERENCES},
                    own_address_type=self.own_type, timeout=None,
                )
            )
            self.pending[1].add_done_callback(self.attempt_ended)
        task = self.pending[1]
        stop = asyncio.ensure_future(given_up.wait())
        self.wanted = True
        try:
            await asyncio.wait({task, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
            self.wanted = task.done()
        if not task.done():
            await self.cancel()
        self.pending = None
        if not self.wanted or task.cancelled():
            raise LinkEnded
        try:
            link = task.result()
        except BumbleConnectionError as error:
            raise LinkEnded from error
        except (BaseBumbleError, RuntimeError, AssertionError, TimeoutError) as error:
            raise self.refusal("connect", error) from error
        if address not in (link.peer_address, link.peer_resolvable_address) or link.role != hci.Role.CENTRAL:
            raise LinkEnded
        return link

    def attempt_ended(self, task):
        """A link that came after all, when it is not wanted any more, is ended."""
        if not task.cancelled() and not task.exception() and not self.wanted:
            self.pending = None
            asyncio.ensure_future(self.hang_up(task.result()))

    async def cancel(self):
        """Ends the attempt under way. A controller that does not complete it can only go on with the same peer."""
        address, task = self.pending
        if self.lost is not None:
            raise LinkEnded
        await self.try_out(self.host.send_sync_command(hci.HCI_LE_Create_Connection_Cancel_Command()))
        await asyncio.wait({task}, timeout=2)
        if not task.done():
            text = address.to_string(False)
            raise RadioFailure(
                f"{self.name}: the controller does not give up to connect to {text}; switch it off and on (Powered)"
            )
        self.pending = None

    async def hang_up(self, link, reason=0x13):
        """Ends a link. True if the controller said so in time."""
        if self.device.connections.get(link.handle) is not link:
            return True
        return await self.try_out(self.device.disconnect(link, reason), 3)

    # Ends

    async def rest(self):
        """Switches off: no scan, no link, nothing in the controller."""
        if self.lost is not None:
            return
        if self.pending is not None:
            try:
                await self.cancel()
            except (RadioFailure, LinkEnded):
                pass
        if self.device.is_scanning:
            await self.try_out(self.device.stop_scanning(), 1)
        links = [self.hang_up(each) for each in list(self.device.connections.values())]
        if links:
            await asyncio.wait({asyncio.ensure_future(each) for each in links}, timeout=2)
        await self.try_out(self.host.send_sync_command(hci.HCI_Reset_Command()), 1)

    async def close(self):
        for task in self.watching:
            task.cancel()
        if self.transport is not None:
            await self.rest()
        await self.close_transport()
