"""The side of org.bluez that is the radio: a Bumble host on a transport, its loss, and calls that end.

What is worked round here was read or tried in bumble 0.0.236: calls without a limit, cancelled calls whose late answers
go to the next one, losses that each transport tells in another way or not at all.
"""

import asyncio
import errno
import hashlib
import logging
import os

from bumble import hci
from bumble.core import ConnectionError as BumbleConnectionError
from bumble.core import InvalidPacketError
from bumble.device import ConnectionParametersPreferences, Device, DeviceConfiguration
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.transport import open_transport
from bumble.transport.common import TransportSpecError

log = logging.getLogger(__name__)

# Seconds: for a transport to open, for a controller to be made ready, for one command.
OPENING, STARTING, COMMAND = 10, 8, 4
# Seconds of silence after which the controller is asked for its address, and within which it answers.
SILENCE, ANSWER = 2, 4
# What Linux gives a new connection (net/bluetooth/hci_core.c, hci_alloc_dev): 30 to 50 ms, no latency, 420 ms.
PREFERENCES = ConnectionParametersPreferences(
    connection_interval_min=30, connection_interval_max=50, max_latency=0, supervision_timeout=420
)
# By scheme of a transport, what helps when it cannot be opened.
REMEDIES = {
    "usb": "plug the dongle in, see lsusb, and let a udev rule give you its device",
    "pyusb": "plug the dongle in, see lsusb, and let a udev rule give you its device",
    "serial": "see whether the device is there, and whether you are in its group",
    "tcp-client": "start what listens there first",
    "unix": "start what listens there first",
    "ws-client": "start what listens there first",
    "hci-socket": "stop bluetoothd, take the adapter down (hciconfig hciN down), and give Python cap_net_admin",
    "android-netsim": "start the Android emulator or netsim, and install bumble[android]",
}


class RadioFailure(Exception):
    """A radio cannot be used: a reason and a remedy, on one line."""


class LinkEnded(Exception):
    """The link went while something was under way on it."""


pending = set()


async def bounded(work, seconds):
    """The result of one of Bumble's coroutines, waited for at most so long.

    It is never cancelled: its late answer would become the result of the next call.
    """
    task = asyncio.ensure_future(work)
    pending.add(task)

    def ended(task):
        pending.discard(task)
        # Whoever gave up waiting does not read it.
        task.cancelled() or task.exception()

    task.add_done_callback(ended)
    await asyncio.wait({task}, timeout=seconds)
    if not task.done():
        raise asyncio.TimeoutError
    if task.cancelled():
        raise LinkEnded
    return task.result()


def reason_of(error):
    text = " ".join(str(error).split())
    if isinstance(error, asyncio.TimeoutError):
        return "no answer"
    return text if text and not isinstance(error, (AssertionError, KeyError)) else type(error).__name__ + (
        f" {text}" if text else ""
    )


class QuietHost(Host):
    """Bumble's host without its log lines, which write every packet out, and with the time of the last packet."""

    heard = 0.0
    # Gets each packet as it is on the transport, and whether it is sent; None while nobody listens.
    tap = None

    def send_hci_packet(self, packet):
        if self.hci_sink:
            octets = bytes(packet)
            if self.tap is not None:
                self.tap(octets, True)
            self.hci_sink.on_packet(octets)

    def on_packet(self, packet):
        if self.tap is not None:
            self.tap(packet, False)
        super().on_packet(packet)

    def on_hci_packet(self, packet):
        self.heard = asyncio.get_running_loop().time()
        kind = packet.hci_packet_type
        if kind == hci.HCI_EVENT_PACKET:
            self.on_hci_event_packet(packet)
        elif kind == hci.HCI_ACL_DATA_PACKET:
            self.on_hci_acl_data_packet(packet)
        elif kind == hci.HCI_SYNCHRONOUS_DATA_PACKET:
            self.on_hci_sco_data_packet(packet)
        elif kind == hci.HCI_ISO_DATA_PACKET:
            self.on_hci_iso_data_packet(packet)

    def on_hci_hardware_error_event(self, event):
        self.emit("hardware_error", getattr(event, "hardware_code", 0))


class SteadyDevice(Device):
    """Bumble's device. It does not scan of itself when it connects to a peer whose identity key it knows.

    What is heard goes to `heard`, a function of a report: Bumble itself would hold some reports back.
    """

    def __init__(self, *facts, **named):
        # By handle of a link, what gets its ATT PDUs in place of client and server.
        self.raw_attributes = {}
        super().__init__(*facts, **named)

    def heard(self, report):
        pass

    def on_gatt_pdu(self, handle, pdu):
        if raw := self.raw_attributes.get(handle):
            raw(pdu)
        else:
            super().on_gatt_pdu(handle, pdu)

    def on_advertising_report(self, report):
        self.heard(report)

    async def refresh_resolving_list(self):
        await super().refresh_resolving_list()
        resolver = self.address_resolver
        resolver.can_resolve_to = lambda address: False


class Radio:
    """One controller on one transport.

    `on_lost(reason)` is called once when it is gone, and `on_report(report)` for each advertisement and scan response.
    """

    def __init__(self, transport, on_lost, on_report):
        self.name, self.on_lost, self.on_report = transport, on_lost, on_report
        self.transport = self.device = self.host = None
        # Why it is gone, and whether it was there.
        self.lost, self.opened, self.garbage = None, False, False
        self.gone = asyncio.Event()
        self.keystore = MemoryKeyStore()
        self.watching = []
        self.tapped_by = None
        # The attempt to connect: its address and its task, and whether somebody waits for it.
        self.pending, self.wanted = None, False

    def failure(self, doing, error):
        see_help = "see --help for the kinds of transport"
        remedy = REMEDIES.get(self.name.partition(":")[0], see_help)
        if isinstance(error, OSError) and error.errno == errno.EAFNOSUPPORT:
            return RadioFailure(f"{self.name}: {doing}: the kernel has no Bluetooth; use another kind of transport")
        wrong = isinstance(error, (AssertionError, ValueError)) and not isinstance(error, TransportSpecError)
        if wrong and self.transport is None:
            # Bumble takes the name apart without looking.
            return RadioFailure(f"{self.name}: {doing}: what stands behind its colon is not complete; {see_help}")
        if self.garbage:
            return RadioFailure(
                f"{self.name}: {doing}: what comes is not HCI; see its speed, and what is at its other end"
            )
        if self.transport is not None:
            remedy = "see whether a controller is there, and whether something else uses it"
        return RadioFailure(f"{self.name}: {doing}: {reason_of(error)}; {remedy}")

    async def open(self):
        """Opens the transport and makes the controller ready."""
        # It would wrap the transport in one that does not tell of its loss.
        os.environ.pop("BUMBLE_SNOOPER", None)
        opening = asyncio.ensure_future(open_transport(self.name))
        await asyncio.wait({opening}, timeout=OPENING)
        if not opening.done():
            opening.cancel()
            raise self.failure("cannot be opened", asyncio.TimeoutError())
        if opening.cancelled() or opening.exception():
            raise self.failure("cannot be opened", opening.exception() or asyncio.TimeoutError())
        self.transport = opening.result()
        self.watch_garbage()
        if self.name.startswith("hci-socket"):
            self.read_socket(self.transport.source.socket)
        # From the beginning: a loss before there is a host is told to nobody else.
        self.watching.append(asyncio.ensure_future(self.watch_end(self.transport.source)))
        try:
            await self.start()
        except BaseException:
            self.lost = "it was given up"
            self.watching.pop().cancel()
            await self.close_transport()
            raise
        self.opened = True
        self.watching.append(asyncio.ensure_future(self.watch_silence()))

    async def start(self):
        """A new host and device on the transport: what an old one knows of a controller that was reset is wrong."""
        if self.host is not None:
            self.device.host = None
        self.host = QuietHost(self.transport.source, self.transport.sink)
        self.host.tap = self.tapped_by
        configuration = DeviceConfiguration(
            name="wakebench", address=self.own_random_address(), irk=self.own_key(), eatt_enabled=False
        )
        self.device = SteadyDevice(config=configuration, host=self.host)
        self.device.command_timeout = COMMAND
        self.device.keystore = self.keystore
        for each in (self.host, self.device, self.device.gatt_server):
            each.on("error", lambda error: log.error("a listener failed: %r", error))
        self.device.heard = lambda report: self.on_report(report)
        self.host.on("flush", lambda: self.lose("the transport was closed"))
        self.host.on("hardware_error", lambda code: self.lose(f"the controller reports a hardware error 0x{code:02x}"))
        self.host.on("le_connection", lambda *facts: asyncio.get_running_loop().call_soon(self.check_link, facts[0]))
        powering = asyncio.ensure_future(bounded(self.device.power_on(), STARTING))
        gone = asyncio.ensure_future(self.gone.wait())
        # A command that is sent after the loss would wait for its answer all the same.
        await asyncio.wait({powering, gone}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if self.lost is not None:
            powering.cancel()
            raise self.failure("cannot be made ready", ConnectionResetError(self.lost))
        try:
            powering.result()
        except Exception as error:
            raise self.failure("cannot be made ready", error) from error
        self.host.heard = asyncio.get_running_loop().time()

    def tap(self, tap):
        """What gets each packet as it is on the transport, and whether it is sent; None for nobody."""
        self.tapped_by = tap
        if self.host is not None:
            self.host.tap = tap

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

    # Loss

    def lose(self, reason):
        if self.lost is None:
            self.lost = reason
            self.gone.set()
            if self.opened:
                asyncio.get_running_loop().call_soon(self.on_lost, reason)

    def watch_garbage(self):
        """Says once what comes that is not HCI. Bumble drops the chunk that it is in, and goes on."""
        parser = getattr(self.transport.source, "parser", None)
        if parser is None:
            return
        feed = parser.feed_data

        def feeding(data):
            try:
                feed(data)
            except InvalidPacketError:
                if not self.garbage and self.opened:
                    log.error("%s: what comes is not HCI; see its speed, and what is at its other end", self.name)
                self.garbage = True
                raise

        parser.feed_data = feeding

    def read_socket(self, sock):
        """Reads an HCI socket in Bumble's stead, whose reader goes round for ever when the adapter is gone."""
        loop = asyncio.get_running_loop()

        def readable():
            try:
                packet = sock.recv(4096)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                packet = b""
                log.debug("%s: %r", self.name, error)
            if not packet:
                loop.remove_reader(sock)
                self.lose("the adapter is gone")
                return
            try:
                self.transport.source.parser.feed_data(packet)
            except InvalidPacketError:
                log.debug("%s: a packet that is not HCI", self.name)

        loop.remove_reader(sock)
        loop.add_reader(sock, readable)

    async def watch_end(self, source):
        try:
            await asyncio.shield(source.terminated)
            self.lose("the transport was closed")
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self.lose(f"the transport was closed: {reason_of(error)}")

    async def watch_silence(self):
        """Asks a silent controller for its address: one that is stopped is found so, whatever the transport tells."""
        loop = asyncio.get_running_loop()
        while self.lost is None:
            quiet = loop.time() - self.host.heard
            if quiet < SILENCE:
                await asyncio.sleep(SILENCE - quiet)
                continue
            host, asked = self.host, loop.time()
            try:
                await bounded(host.send_sync_command(hci.HCI_Read_BD_ADDR_Command()), ANSWER)
            except hci.HCI_Error:
                pass
            except Exception as error:
                # Who was stopped itself may find the answer and the end of the time at once.
                if host is self.host and host.heard < asked:
                    self.lose(f"the controller does not answer: {reason_of(error)}")
                continue
            host.heard = loop.time()

    def check_link(self, handle):
        """A link that the host has and the device has not came after it was given up: it is ended."""
        if handle in self.host.connections and handle not in self.device.connections and self.lost is None:
            command = hci.HCI_Disconnect_Command(connection_handle=handle, reason=0x13)
            asyncio.ensure_future(self.try_out(self.host.send_async_command(command)))

    async def try_out(self, work, seconds=COMMAND):
        """Does what may fail. True if it was done."""
        if self.lost is not None:
            work.close()
            return False
        try:
            await bounded(work, seconds)
            return True
        except (Exception, asyncio.TimeoutError) as error:
            log.debug("%s: %r", self.name, error)
            return False

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
        except hci.HCI_Error as error:
            raise RadioFailure(f"{self.name}: the controller refuses to scan: {reason_of(error)}") from error

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
        except hci.HCI_Error as error:
            raise RadioFailure(f"{self.name}: the controller refuses to connect: {reason_of(error)}") from error
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
            raise RadioFailure(f"{self.name}: the controller does not give up to connect to {address.to_string(False)}")
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

    async def close_transport(self):
        try:
            await asyncio.wait_for(self.transport.close(), 1)
        except Exception as error:
            log.debug("%s: closing: %r", self.name, error)
