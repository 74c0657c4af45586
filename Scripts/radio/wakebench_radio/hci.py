"""The radio of an adapter: a Bumble device on a transport, its scans, and attempts to connect."""

import asyncio
import hashlib
import logging

from bumble import att, hci
from bumble.core import BaseBumbleError
from bumble.core import ConnectionError as BumbleConnectionError
from bumble.device import ConnectionParametersPreferences, Device, DeviceConfiguration
from bumble.keys import MemoryKeyStore

from .host import COMMAND, Line, LinkEnded, RadioFailure, bounded, reason_of

log = logging.getLogger(__name__)

# What Linux gives a new connection (net/bluetooth/hci_core.c, hci_alloc_dev): 30 to 50 ms, no latency, 420 ms.
PREFERENCES = ConnectionParametersPreferences(
    connection_interval_min=30, connection_interval_max=50, max_latency=0, supervision_timeout=420
)
# In the code of a packet of the Attribute Protocol: it is not answered.
COMMAND_FLAG = 0x40


class SteadyDevice(Device):
    """Bumble's device. It does not scan of itself when it connects to a peer whose identity key it knows.

    What is heard goes to `heard`, a function of a report: Bumble itself would hold some reports back. A packet of the
    Attribute Protocol that cannot be read is an answer all the same, or gets one: Bumble drops it, and both ends wait.
    """

    def heard(self, report):
        pass

    def on_advertising_report(self, report):
        self.heard(report)

    def on_gatt_pdu(self, handle, pdu):
        connection = self.connections.get(handle)
        if connection is None or not pdu:
            return
        try:
            packet = att.ATT_PDU.from_bytes(pdu)
        except Exception as error:
            log.info("%s: no packet of the Attribute Protocol: %s: %r", connection.peer_address, pdu.hex(), error)
            self.unreadable(connection, pdu[0])
            return
        # Odd codes are of a server: answers, and values.
        if pdu[0] & 1:
            connection.gatt_client.on_gatt_pdu(packet)
        else:
            connection.gatt_server.on_gatt_pdu(connection, packet)

    def unreadable(self, connection, code):
        if code & 1:
            if hear := getattr(connection.gatt_client, "on_unreadable", None):
                hear(code)
        elif not code & COMMAND_FLAG and code != att.Opcode.ATT_HANDLE_VALUE_CONFIRMATION:
            connection.gatt_server.send_response(
                connection,
                att.ATT_Error_Response(
                    request_opcode_in_error=code, attribute_handle_in_error=0, error_code=att.ErrorCode.INVALID_PDU
                ),
            )

    async def refresh_resolving_list(self):
        await super().refresh_resolving_list()
        resolver = self.address_resolver
        resolver.can_resolve_to = lambda address: False


class Radio(Line):
    """One controller on one transport.

    `on_lost(reason)` is called once when it is gone, and `on_report(report)` for each advertisement and scan response.
    """

    def __init__(self, transport, on_lost, on_report):
        super().__init__(transport, on_lost)
        self.on_report = on_report
        self.device = None
        self.keystore = MemoryKeyStore()
        # The attempt to connect: its address and its task, and whether somebody waits for it.
        self.pending, self.wanted = None, False

    async def open(self):
        """Opens the transport and makes the controller ready."""
        await super().open()
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
        for each in (self.device, self.device.gatt_server):
            each.on("error", self.complain)
        self.device.heard = lambda report: self.on_report(report)
        self.host.on("le_connection", lambda *facts: asyncio.get_running_loop().call_soon(self.check_link, facts[0]))
        await self.ready(self.device.power_on())

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

    # Links that nobody wants

    def check_link(self, handle):
        """A link that the host has and the device has not came after it was given up: it is ended."""
        if handle in self.host.connections and handle not in self.device.connections and self.lost is None:
            command = hci.HCI_Disconnect_Command(connection_handle=handle, reason=0x13)
            asyncio.ensure_future(self.try_out(self.host.send_async_command(command)))

    # Scans

    async def scan(self, on):
        try:
            if on:
                work = self.device.start_scanning(
                    active=True, own_address_type=self.own_type, filter_duplicates=False, scanning_phys=(1,)
                )
            else:
                work = self.device.stop_scanning()
            await bounded(work, COMMAND)
        except (BaseBumbleError, RuntimeError, TimeoutError) as error:
            raise self.refusal("scan", error) from error

    def refusal(self, doing, error):
        """What a command's failure is raised as. Of a controller that is gone enough is said elsewhere."""
        if self.lost is not None:
            return LinkEnded(self.lost)
        return RadioFailure(
            f"{self.name}: the controller refuses to {doing}: {reason_of(error)}; switch it off and on (Powered)"
        )

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
        """A link that came after all, when nobody wants it any more, is ended."""
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
