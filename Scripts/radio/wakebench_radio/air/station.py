"""A Bumble host on an HCI transport, and what all devices on the air have in common."""

import asyncio
import logging
import os

from bumble.core import AdvertisingData, BaseBumbleError
from bumble.device import AdvertisingType, Device, DeviceConfiguration
from bumble.hci import Address, HCI_Constant, HCI_LE_Set_Advertising_Enable_Command, HCI_Reset_Command
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig
from bumble.snoop import BtSnooper, Snooper

from ..host import COMMAND, PATIENCE, Line, LinkEnded, RadioFailure, bounded
from . import device_file
from .failures import Refused, TransportError, UsageError

log = logging.getLogger(__name__)

# In seconds.
POWERING, DISCONNECTING, RESETTING = 10, 3, 1
# An extended advertising set that was taken away in the moment of a connection leaves the connection untold.
UNTOLD = 1
# Octets of a legacy advertisement, and of a scan response (Core 5.4, Vol 6, Part B, 2.3.1.3).
LONGEST_ADVERTISEMENT = 31
# Milliseconds from one legacy advertisement to the next (Core 5.4, Vol 4, Part E, 7.8.5).
SHORTEST_INTERVAL, LONGEST_INTERVAL = 20, 10_240
# ACL packets that may wait for the controller before a value is held back.
WAITING = 32

def reason_text(reason):
    """Why a link ended, in words and as HCI has it."""
    if reason == 0:
        return "transport lost"
    return f"{HCI_Constant.error_name(reason).removesuffix('_ERROR').replace('_', ' ').lower()} 0x{reason:02x}"


def guarded(listener):
    """A listener that never raises into Bumble, which would leave out what comes after it."""

    def call(*arguments):
        try:
            return listener(*arguments)
        except Exception:
            log.exception("a listener failed")
            return None

    return call


def advertisement_parts(fields):
    """What an advertisement of a device file has beside flags and name, as [(type, bytes)]."""
    short, full = [], []
    for service in device_file.several(fields, "services"):
        uuid = uuid_octets(service)
        (short if len(uuid) == 2 else full).append(uuid)
    parts = []
    if short:
        parts.append((AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"".join(short)))
    if full:
        parts.append((AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, b"".join(full)))
    if "manufacturer-data" in fields:
        parts.append((AdvertisingData.MANUFACTURER_SPECIFIC_DATA, device_file.octets(fields["manufacturer-data"])))
    for each in device_file.several(fields, "service-data"):
        uuid = uuid_octets(device_file.required(each, "service"))
        kind = AdvertisingData.SERVICE_DATA_16_BIT_UUID if len(uuid) == 2 else AdvertisingData.SERVICE_DATA_128_BIT_UUID
        parts.append((kind, uuid + device_file.octets(device_file.required(each, "data"))))
    if "tx-power" in fields:
        power = device_file.integer(fields["tx-power"], -127, 20)
        parts.append((AdvertisingData.TX_POWER_LEVEL, power.to_bytes(1, "little", signed=True)))
    return parts


def uuid_octets(uuid):
    """A UUID as it lies on the air: 2 octets for those of the Bluetooth base, else 16, least significant first."""
    text = device_file.canonical(uuid)
    return bytes.fromhex(text.replace("-", ""))[::-1]


def packed(parts):
    return b"".join(bytes([len(value) + 1, kind]) + value for kind, value in parts)


class Station:
    """A device on one transport. `tell` takes what comes about, as words."""

    kind = ""

    def __init__(self, file, transport, tell, options):
        self.file, self.where, self.tell, self.options = file, transport, tell, options
        self.name = options.get("name") or (device_file.name(file["name"]) if "name" in file else "")
        self.address = device_file.address(options.get("address") or device_file.required(file, "address"))
        self.line, self.device = Line(transport, self.lose), None
        self.capture = None
        self.links = []
        self.advertises = False
        # One change of the advertising at a time.
        self.advertising = asyncio.Lock()
        self.tasks = set()
        # Set with the reason once the transport is lost.
        self.lost = asyncio.get_running_loop().create_future()
        self.ended = asyncio.Event()
        self.read()

    # What a kind of device says of itself

    def read(self):
        """Reads what the device file has for this kind. FileError says what is wrong."""

    def build(self):
        """Makes what the device has, once there is a Bumble device."""

    async def begin(self):
        """Goes on the air."""

    def advertisement(self):
        """What is said unasked, what is answered to a scan, and the type."""
        return b"", b"", AdvertisingType.UNDIRECTED

    def goes_on_advertising(self):
        """Whether it advertises while there is a link."""
        return False

    def interval(self):
        """Milliseconds from one advertisement to the next."""
        return 100.0

    # The transport

    async def open(self):
        try:
            await self.line.open(PATIENCE)
            if "capture" in self.options:
                self.begin_capture(self.options["capture"])
            host = self.line.new_host()
            config = DeviceConfiguration(name=self.name, address=Address(self.address), irk=os.urandom(16))
            self.device = Device(config=config, host=host)
            self.device.command_timeout = COMMAND
            self.device.keystore = MemoryKeyStore()
            self.device.pairing_config_factory = self.pairing
            for each in (self.device, self.device.gatt_server):
                each.on("error", self.line.complain)
            host.on("le_connection", guarded(self.linked))
            self.device.on("connection", guarded(self.connected))
            self.build()
            await self.line.ready(self.device.power_on())
        except RadioFailure as failure:
            raise TransportError(str(failure)) from None
        self.line.watch()

    def begin_capture(self, path):
        try:
            # Each packet is whole, however this process ends.
            self.capture = open(path, "wb", buffering=0)
        except OSError as error:
            raise UsageError(f"--capture {path}: {error.strerror}; name a file that can be written") from None
        snooper, ways = BtSnooper(self.capture), Snooper.Direction
        self.line.tap(
            lambda octets, sent: snooper.snoop(octets, ways.HOST_TO_CONTROLLER if sent else ways.CONTROLLER_TO_HOST)
        )

    def lose(self, reason):
        if not self.lost.done() and not self.ended.is_set():
            self.lost.set_result(f"{self.where}: transport lost: {reason}; see whether a controller is there")

    def pairing(self, connection):
        # Bonds are under the address that is advertised with.
        return PairingConfig(bonding=True, identity_address_type=PairingConfig.AddressType.RANDOM)

    def do(self, work):
        """Starts something that is kept until it ends, and ends with the device."""
        task = asyncio.ensure_future(self.watched(work))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def watched(self, work):
        try:
            return await work
        except (LinkEnded, TimeoutError, BaseBumbleError) as error:
            self.tell("failed", str(error) or type(error).__name__)
        except Exception:
            log.exception("%s: a task failed", self.where)
        return None

    # Links

    def linked(self, handle, *_):
        """A link that the controller tells of; Bumble tells of it once the advertising set has ended, too."""
        asyncio.get_running_loop().call_later(UNTOLD, guarded(self.look_for), handle)

    def look_for(self, handle):
        connection = self.device.connections.get(handle)
        if connection and connection not in self.links:
            self.connected(connection)

    def connected(self, connection):
        if connection in self.links:
            return
        self.links.append(connection)
        connection.on("error", lambda error: log.error("%s: %s", self.where, error))
        connection.on("disconnection", guarded(lambda reason: self.disconnected(connection, reason)))
        self.tell("connected", connection.peer_address.to_string(False))
        self.link_came(connection)
        self.do(self.go_on_advertising())

    def link_came(self, connection):
        """A link is up."""

    def disconnected(self, connection, reason):
        if connection not in self.links:
            return
        self.links.remove(connection)
        self.link_went(connection)
        self.tell("disconnected", reason_text(reason))
        if not self.lost.done():
            self.do(self.return_to_air())

    async def return_to_air(self):
        """After a link. One that is there already has ended nothing."""
        if await self.go_on_advertising() and not self.goes_on_advertising():
            self.tell("advertising")

    def link_went(self, connection):
        """A link is gone."""

    async def disconnect(self):
        """Ends all links. Values that are on their way go first."""
        for link in list(self.links):
            if self.device.connections.get(link.handle) is not link:
                continue
            try:
                await self.drained(link)
                await bounded(link.disconnect(), DISCONNECTING)
            except (TimeoutError, LinkEnded, BaseBumbleError) as error:
                if link in self.links:
                    self.tell("disconnecting failed", str(error) or type(error).__name__)

    async def drained(self, link):
        """Waits until the controller has what was sent, at most a second."""
        await self.until(link, lambda queue: queue.pending == 0, 1)

    async def room(self, link):
        """Waits until a value can be sent on a link without filling a queue; false when the link is gone."""
        return await self.until(link, lambda queue: queue.pending < WAITING, None)

    async def until(self, link, condition, limit):
        queue = link.data_packet_queue
        if queue is None or self.device.connections.get(link.handle) is not link:
            return False
        if condition(queue):
            return True
        flowed = asyncio.Event()
        wake = guarded(lambda *_: flowed.set())
        queue.on("flow", wake)
        link.on("disconnection", wake)
        try:
            async with asyncio.timeout(limit):
                while not condition(queue):
                    if self.device.connections.get(link.handle) is not link:
                        return False
                    flowed.clear()
                    await flowed.wait()
        except TimeoutError:
            return False
        finally:
            queue.remove_listener("flow", wake)
            link.remove_listener("disconnection", wake)
        return self.device.connections.get(link.handle) is link

    # Advertising

    async def go_on_advertising(self):
        """A connection has ended the advertising in the controller, and so has nothing else. Says whether it advertises."""
        async with self.advertising:
            wanted = self.advertises and (not self.links or self.goes_on_advertising())
            return wanted and await self.start_advertising()

    async def start_advertising(self):
        """Says whether it advertises: a central may connect meanwhile."""
        said, answered, kind = self.advertisement()
        pause = min(max(self.interval(), SHORTEST_INTERVAL), LONGEST_INTERVAL)
        arguments = {
            "advertising_data": said, "scan_response_data": answered, "advertising_interval_min": pause,
            "advertising_interval_max": pause,
        }
        try:
            await bounded(self.device.start_advertising(advertising_type=kind, **arguments), POWERING)
        except BaseBumbleError:
            # A central connected meanwhile, or the controller takes no second link.
            if not self.links:
                raise
            if not self.goes_on_advertising():
                return False
            kind = AdvertisingType.UNDIRECTED_SCANNABLE if answered else AdvertisingType.UNDIRECTED
            await bounded(self.device.start_advertising(advertising_type=kind, **arguments), POWERING)
        return True

    async def stop_advertising(self):
        await bounded(self.device.stop_advertising(), POWERING)

    async def advertise(self):
        async with self.advertising:
            self.advertises = True
            if not self.links or self.goes_on_advertising():
                await self.start_advertising()
        self.tell("advertising")

    async def silence(self):
        async with self.advertising:
            self.advertises = False
            await self.stop_advertising()
        self.tell("silent")

    async def advertise_again(self, pause):
        """Advertises anew every `pause` seconds: some emulated controllers send an advertisement once."""
        while True:
            await asyncio.sleep(pause)
            try:
                await self.repeat_advertisement()
            except (TimeoutError, LinkEnded, BaseBumbleError) as error:
                # A central connected meanwhile.
                log.debug("%s: %s", self.where, error)

    async def repeat_advertisement(self):
        """Off and on with nothing in between: to connect meanwhile fails, and a host that is slow may try each time just then."""
        async with self.advertising:
            if advertiser := self.device.legacy_advertiser:
                try:
                    await bounded(advertiser.stop(), POWERING)
                except BaseBumbleError as error:
                    log.debug("%s: it was off: %s", self.where, error)
                # A connection takes it away.
                if self.device.legacy_advertiser is advertiser:
                    enable = HCI_LE_Set_Advertising_Enable_Command(advertising_enable=1)
                    await bounded(self.device.send_sync_command(enable), POWERING)
                return
        await self.go_on_advertising()

    # Orders

    async def order(self, words):
        """Carries out what a line of standard input says; Refused says why not."""
        orders = {
            "disconnect": self.end_links, "silence": self.silence, "advertise": self.advertise, "leave": self.leave,
            "stop": self.stop,
        }
        if self.ended.is_set():
            raise Refused("it has stopped")
        if len(words) == 1 and words[0] in orders:
            await orders[words[0]]()
        elif words[0] == "arm" and len(words) == 2:
            await self.arm(words[1])
        elif not await self.own_order(words):
            raise Refused(f"'{' '.join(words)}' is no order for a {self.kind}; {self.known_orders()}")

    def known_orders(self):
        return "use disconnect, silence, advertise, leave, arm FAULT, stop or quit"

    async def own_order(self, words):
        """An order of this kind of device alone; false if there is none."""
        return False

    async def end_links(self):
        if not self.links:
            raise Refused("there is no link")
        await self.disconnect()

    async def leave(self):
        """Away from the air, until it advertises again: nothing is sent, and the links end."""
        await self.silence()
        await self.disconnect()

    def known_fault(self, faults, name):
        if name not in faults:
            raise Refused(f"no fault '{name}'; the device has {', '.join(faults) or 'none'}")
        return faults[name]

    async def arm(self, name):
        raise Refused(f"no fault '{name}'; the device has none")

    # The end

    async def live(self):
        """From the opening of the transport until it is lost, or the device stops or has nothing more to do."""
        await self.open()
        for name in self.options.get("faults", []):
            try:
                await self.arm(name)
            except Refused as error:
                raise UsageError(f"--fault {self.options.get('called', 'device')}={name}: {error}") from None
        await self.begin()
        if pause := self.options.get("again"):
            self.do(self.advertise_again(pause))

    async def stop(self):
        """Leaves the air for good: a controller keeps links and advertising of a host that only goes away."""
        if self.ended.is_set():
            return
        self.ended.set()
        for task in list(self.tasks):
            if task is not asyncio.current_task():
                task.cancel()
        if self.device and not self.lost.done():
            self.advertises = False
            for work in (self.stop_advertising, self.disconnect, self.reset):
                try:
                    await bounded(work(), DISCONNECTING)
                except Exception as error:
                    log.debug("%s: ending: %s", self.where, error)
        if self.line.transport:
            await self.line.close_transport()
            self.tell("stopped")
        if self.capture:
            self.line.tap(None)
            self.capture.close()

    async def reset(self):
        await bounded(self.device.host.send_sync_command(HCI_Reset_Command()), RESETTING)
