"""The Attribute Protocol over one link: requests one at a time, commands with flow control, values unasked.

What a peer says is told in its order: a response ends the wait for it in the next turn of the loop, and a value is told
by a call of that turn, behind it. Bumble's own requests take several turns, and values overtake their responses.
"""

import asyncio
import dataclasses
import re

from bumble import att
from bumble.att import ErrorCode
from bumble.core import UUID

from .host import Alarm, LinkEnded

# Seconds: the limit of one request (Core 5.4, Vol 3, Part F, 3.3.3) with a little more, and of the first one of a link.
REQUEST, FIRST = 31, 5
# The longest MTU asked for, as BlueZ does: a value of 512 octets and its head.
LONGEST_MTU = 517
# Octets of a value (Core 5.4, Vol 3, Part F, 3.2.9).
LONGEST_VALUE = 512
# Services, characteristics and descriptors that are kept of a peer. Devices have some hundred at most.
MOST_ATTRIBUTES = 4096
# Octets of a UUID on the air.
UUID_LENGTHS = (2, 16)
# Packets under way above which the answer to a command waits, and above which commands are refused.
BUSY, FULL = 64, 4096
PRIMARY, SECONDARY, INCLUDE, CHARACTERISTIC = (UUID.from_16_bits(each) for each in (0x2800, 0x2801, 0x2802, 0x2803))


class Refusal(Exception):
    """The peer refuses a request with an ATT error code."""

    def __init__(self, code):
        super().__init__(f"ATT error 0x{code:02x}")
        self.code = code


class TooMany(Refusal):
    """The peer's table is longer than what is kept of one."""

    def __init__(self):
        super().__init__(ErrorCode.INSUFFICIENT_RESOURCES)
        self.args = (f"it tells of more than {MOST_ATTRIBUTES} attributes",)


class Silent(Exception):
    """The peer did not answer a request in time; the link is being ended."""


@dataclasses.dataclass
class Characteristic:
    """`handle` is that of the declaration, `descriptors` are pairs of a handle and a UUID."""

    handle: int
    value_handle: int
    properties: int
    uuid: str
    end: int = 0
    descriptors: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Service:
    """`includes` are the handles of other services."""

    handle: int
    end: int
    uuid: str
    primary: bool
    includes: list = dataclasses.field(default_factory=list)
    characteristics: list = dataclasses.field(default_factory=list)


def uuid_text(octets):
    """A UUID of 2, 4 or 16 octets, least significant first, in its 36 letters."""
    if len(octets) in (2, 4):
        return f"{int.from_bytes(octets, 'little'):08x}-0000-1000-8000-00805f9b34fb"
    text = octets[::-1].hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def canonical(text):
    """The 36 letters of a UUID in any of its forms, as "180d" and "0x180D"; None of what is none."""
    short = re.fullmatch(r"(?:0x)?([0-9A-Fa-f]{4}|[0-9A-Fa-f]{8})", text)
    if short:
        return f"{int(short[1], 16):08x}-0000-1000-8000-00805f9b34fb"
    return text.lower() if re.fullmatch(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", text) else None


class Bearer:
    """A link's attributes.

    `on_values(values)` gets what comes unasked as pairs of a handle and a value, those of one turn of the loop together,
    and `on_silence()` is called when a request had no answer.
    """

    def __init__(self, radio, connection, on_values, on_silence):
        self.radio, self.connection = radio, connection
        self.on_values, self.on_silence = on_values, on_silence
        self.client = connection.gatt_client
        self.client.on_gatt_pdu, self.client.on_unreadable = self.hear, self.hear_unreadable
        self.loop = asyncio.get_running_loop()
        # The request under way: its code, and what gets the response.
        self.asked, self.response = None, None
        # Values that are told in the next turn; behind a response others begin anew.
        self.values = None
        self.lock = asyncio.Lock()
        self.ended = asyncio.Event()
        self.flow = asyncio.Event()
        self.queue = connection.data_packet_queue
        self.queue.on("flow", self.flow.set)
        connection.on("error", radio.complain)

    @property
    def alive(self):
        return not self.ended.is_set() and self.radio.lost is None and (
            self.radio.device.connections.get(self.connection.handle) is self.connection
        )

    @property
    def mtu(self):
        return max(self.connection.att_mtu, att.ATT_DEFAULT_MTU)

    def set_mtu(self, theirs):
        """Takes what the peer can receive for the MTU, within what both ends can."""
        self.connection.on_att_mtu_update(max(att.ATT_DEFAULT_MTU, min(LONGEST_MTU, theirs)))

    def send(self, packet):
        """Queues a packet of the server's."""
        self.client.send_gatt_pdu(packet)

    def end(self):
        self.ended.set()
        self.flow.set()
        if self.response is not None and not self.response.done():
            self.response.set_exception(LinkEnded())
        self.queue.remove_listener("flow", self.flow.set)

    def hear(self, pdu):
        code = pdu.op_code
        if code == att.Opcode.ATT_HANDLE_VALUE_NOTIFICATION or code == att.Opcode.ATT_HANDLE_VALUE_INDICATION:
            if self.values is None:
                self.values = []
                self.loop.call_soon(self.tell, self.values)
            self.values.append((pdu.attribute_handle, bytes(pdu.attribute_value)))
            if code == att.Opcode.ATT_HANDLE_VALUE_INDICATION:
                self.client.send_confirmation(att.ATT_Handle_Value_Confirmation())
        elif self.response is not None and not self.response.done() and self.answers(pdu):
            self.values = None
            self.response.set_result(pdu)

    def hear_unreadable(self, code):
        """An answer that cannot be read is one: to wait for another would end the link."""
        if self.response is not None and not self.response.done() and code in (self.asked + 1, 0x01):
            self.response.set_exception(Refusal(ErrorCode.UNLIKELY_ERROR))

    def answers(self, pdu):
        """A response has the code behind its request's; an error names the request."""
        if pdu.op_code == att.Opcode.ATT_ERROR_RESPONSE:
            return pdu.request_opcode_in_error == self.asked
        return pdu.op_code == self.asked + 1

    def tell(self, values):
        if self.values is values:
            self.values = None
        self.on_values(values)

    def expire(self):
        if not self.response.done():
            # Nothing may be asked on this link any more (Core 5.4, Vol 3, Part F, 3.3.3).
            self.response.set_exception(Silent())
            self.on_silence()

    async def ask(self, request, seconds=REQUEST):
        """The response to a request."""
        async with self.lock:
            if not self.alive:
                raise LinkEnded
            self.asked, self.response = int(request.op_code), self.loop.create_future()
            limit = Alarm(seconds, self.expire)
            try:
                self.client.send_gatt_pdu(bytes(request))
                response = await self.response
            finally:
                limit.cancel()
                self.response = None
        if response.op_code == att.Opcode.ATT_ERROR_RESPONSE:
            raise Refusal(int(response.error_code))
        return response

    async def exchange_mtu(self, seconds=FIRST):
        """Asks for the longest MTU. A peer that refuses keeps 23."""
        try:
            response = await self.ask(att.ATT_Exchange_MTU_Request(client_rx_mtu=LONGEST_MTU), seconds)
        except Refusal:
            return
        self.set_mtu(response.server_rx_mtu)

    # Values

    async def read(self, handle, offset=0):
        """A value from an offset on, whole."""
        value = b""
        if offset == 0:
            response = await self.ask(att.ATT_Read_Request(attribute_handle=handle))
            value = part = bytes(response.attribute_value)
            if len(part) < self.mtu - 1:
                return value
        while True:
            try:
                response = await self.ask(
                    att.ATT_Read_Blob_Request(attribute_handle=handle, value_offset=offset + len(value))
                )
            except Refusal as error:
                if value and error.code in (ErrorCode.ATTRIBUTE_NOT_LONG, ErrorCode.INVALID_OFFSET):
                    return value
                raise
            part = bytes(response.part_attribute_value)
            value += part
            if len(part) < self.mtu - 1:
                return value

    async def write(self, handle, value, offset=0, reliable=False):
        """Writes with a response; in parts what is longer than one request."""
        if offset == 0 and not reliable and len(value) <= self.mtu - 3:
            await self.ask(att.ATT_Write_Request(attribute_handle=handle, attribute_value=value))
            return
        size = self.mtu - 5
        try:
            for start in range(0, max(len(value), 1), size):
                part = value[start:start + size]
                response = await self.ask(
                    att.ATT_Prepare_Write_Request(
                        attribute_handle=handle, value_offset=offset + start, part_attribute_value=part
                    )
                )
                if reliable and bytes(response.part_attribute_value) != part:
                    raise Refusal(ErrorCode.UNLIKELY_ERROR)
        except Refusal:
            await self.ask(att.ATT_Execute_Write_Request(flags=0))
            raise
        await self.ask(att.ATT_Execute_Write_Request(flags=1))

    def command(self, handle, value):
        """Hands a write without response over to the link's queue."""
        if not self.alive:
            raise LinkEnded
        self.client.send_gatt_pdu(bytes(att.ATT_Write_Command(attribute_handle=handle, attribute_value=value)))

    async def room(self):
        """Waits until the controller has taken most of what is queued. LinkEnded if the link goes before that."""
        while self.alive and self.queue.pending >= BUSY:
            self.flow.clear()
            await self.flow.wait()
        if not self.alive:
            raise LinkEnded

    @property
    def is_full(self):
        return self.queue.pending >= FULL

    # The table

    async def listed(self, start, end, request, entries):
        """What a peer lists between two handles: (first handle, last handle, value), in order.

        `request` is a function of the handle to go on from, and `entries` gives what a response holds. An entry out of
        order ends the list.
        """
        found = []
        while start <= end:
            try:
                response = await self.ask(request(start))
            except Refusal as error:
                if error.code == ErrorCode.ATTRIBUTE_NOT_FOUND:
                    break
                raise
            last = start - 1
            for each in entries(response):
                if not last < each[0] <= each[1] or each[0] > end:
                    return found
                found.append(each)
                last = each[1]
            if len(found) > MOST_ATTRIBUTES:
                raise TooMany
            if last < start:
                break
            start = last + 1
        return found

    async def groups(self, kind):
        """The services of a kind. One whose UUID has another length than UUIDs have is left out."""
        found = await self.listed(
            1, 0xFFFF,
            lambda start: att.ATT_Read_By_Group_Type_Request(
                starting_handle=start, ending_handle=0xFFFF, attribute_group_type=kind
            ),
            lambda response: response.attributes,
        )
        return [Service(*each[:2], uuid_text(each[2]), kind is PRIMARY) for each in found if len(each[2]) in UUID_LENGTHS]

    async def declarations(self, service, kind):
        """Pairs of a handle and a value, of one type within a service."""
        found = await self.listed(
            service.handle, service.end,
            lambda start: att.ATT_Read_By_Type_Request(
                starting_handle=start, ending_handle=service.end, attribute_type=kind
            ),
            lambda response: [(handle, handle, bytes(value)) for handle, value in response.attributes],
        )
        return [(handle, value) for handle, _, value in found]

    async def descriptors(self, characteristic):
        """Pairs of a handle and a UUID."""
        found = await self.listed(
            characteristic.value_handle + 1, characteristic.end,
            lambda start: att.ATT_Find_Information_Request(starting_handle=start, ending_handle=characteristic.end),
            lambda response: [(handle, handle, uuid) for handle, uuid in response.information],
        )
        return [(handle, uuid_text(uuid)) for handle, _, uuid in found if len(uuid) in UUID_LENGTHS]

    async def secondary(self):
        """Peers may refuse to list secondary services."""
        try:
            return await self.groups(SECONDARY)
        except TooMany:
            raise
        except Refusal:
            return []

    async def discover(self):
        """All services, in the order of their handles."""
        services = sorted(
            await self.groups(PRIMARY) + await self.secondary(), key=lambda service: service.handle
        )
        known = {service.handle for service in services}
        count = len(services)
        for service in services:
            for _, value in await self.declarations(service, INCLUDE):
                handle = int.from_bytes(value[:2], "little")
                if handle in known:
                    service.includes.append(handle)
            for handle, value in await self.declarations(service, CHARACTERISTIC):
                value_handle = int.from_bytes(value[1:3], "little")
                if len(value) in (5, 19) and handle < value_handle <= service.end:
                    service.characteristics.append(
                        Characteristic(handle, value_handle, value[0], uuid_text(value[3:]))
                    )
            for index, each in enumerate(service.characteristics):
                later = service.characteristics[index + 1:index + 2]
                each.end = later[0].handle - 1 if later else service.end
                each.descriptors = await self.descriptors(each)
                count += 1 + len(each.descriptors)
                if count > MOST_ATTRIBUTES:
                    raise TooMany
        return services
