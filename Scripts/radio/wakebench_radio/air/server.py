"""Bumble's GATT server with what it leaves out (read in bumble 0.0.236, gatt_server.py).

Permissions and security are asked for, also of each part of a prepared write; a long read is one read; a subscription
can be refused; handles are never given twice; an indication ends with its link; and nothing that a callback raises
leaves a request without an answer.
"""

import asyncio
import logging

from bumble import att
from bumble.gatt import Characteristic, CharacteristicDeclaration, Descriptor
from bumble.gatt_server import Server

log = logging.getLogger(__name__)

# Seconds for a confirmation (Core 5.4, Vol 3, Part F, 3.3.3).
CONFIRMING = 30
LONGEST_VALUE = 512
CONFIRMATION = 0x1E
# What writes, by the code of its request, and whether it is answered: Write Request, Prepare Write Request, and
# Write Command.
WRITES = {0x12: True, 0x16: True, 0x52: False}
# Read Multiple and Read Multiple Variable: a value that cannot be read would leave them without an answer in Bumble.
SEVERAL = {0x0E, 0x20}


def refuse(code, attribute):
    raise att.ATT_Error(error_code=code, att_handle=attribute.handle)


class Attributes(Server):
    """The server of a peripheral, which is its `owner`.

    The owner has `security_error(connection, attribute)`, an ATT error code or None; `subscribed(connection,
    characteristic, bits)`; and `hears(connection, request)`, false for a request that is to have no answer.
    """

    def __init__(self, device, owner):
        super().__init__(device)
        self.owner = owner
        self.highest_handle = 0
        # Of each connection: the attribute that was read last, and its value as it was then.
        self.last_read = {}
        self.is_mute = False
        # Seconds by which the answer to a subscription is late.
        self.late = 0.0

    # The table

    def next_handle(self):
        """One that no attribute has or had: Bumble counts attributes, of which some may go."""
        return self.highest_handle + 1

    def add_attribute(self, attribute):
        super().add_attribute(attribute)
        self.highest_handle = max(self.highest_handle, attribute.handle)

    def remove_service(self, service):
        self.services.remove(service)
        gone = range(service.handle, service.end_group_handle + 1)
        self.attributes = [each for each in self.attributes if each.handle not in gone]
        for subscriptions in self.subscribers.values():
            for handle in gone:
                subscriptions.pop(handle, None)
        self.attributes_by_handle.clear()

    def move_handles(self, services, by):
        """Moves the attributes of these services up."""
        ranges = [range(each.handle, each.end_group_handle + 1) for each in services]
        moved = [each for each in self.attributes if any(each.handle in gone for gone in ranges)]
        handles = {each.handle for each in moved}
        for each in moved:
            each.handle += by
            each.end_group_handle += by
            if isinstance(each, CharacteristicDeclaration):
                each.value_handle += by
                each.value = each.value[:1] + each.value_handle.to_bytes(2, "little") + each.value[3:]
            self.highest_handle = max(self.highest_handle, each.handle)
        for bearer, subscriptions in self.subscribers.items():
            self.subscribers[bearer] = {
                handle + by if handle in handles else handle: value for handle, value in subscriptions.items()
            }
        self.attributes.sort(key=lambda each: each.handle)
        self.attributes_by_handle.clear()
        self.last_read.clear()

    # Requests

    def on_gatt_pdu(self, bearer, att_pdu):
        if self.is_mute or att_pdu.op_code != CONFIRMATION and not self.owner.hears(bearer, att_pdu):
            return
        if att_pdu.op_code in WRITES and (attribute := self.get_attribute(att_pdu.attribute_handle)):
            if code := self.write_error(bearer, attribute):
                if WRITES[att_pdu.op_code]:
                    self.refuse_request(bearer, att_pdu.op_code, attribute.handle, code)
                return
        if att_pdu.op_code in SEVERAL:
            for handle in att_pdu.set_of_handles:
                if (attribute := self.get_attribute(handle)) and (code := self.read_error(bearer, attribute)):
                    self.refuse_request(bearer, att_pdu.op_code, handle, code)
                    return
        super().on_gatt_pdu(bearer, att_pdu)

    def take(self, bearer, pdu):
        """Whether a packet is one of the protocol; a request that is none is answered so."""
        try:
            att.ATT_PDU.from_bytes(pdu)
            return True
        except Exception:
            # Odd codes are answers; bit 6 marks a command.
            if pdu and not pdu[0] & 0x41 and pdu[0] != CONFIRMATION and self.owner.hears(bearer, pdu):
                self.refuse_request(bearer, pdu[0], 0, att.ErrorCode.INVALID_PDU)
            return False

    def refuse_request(self, bearer, request, handle, code):
        refused = att.ATT_Error_Response(
            request_opcode_in_error=request, attribute_handle_in_error=handle, error_code=code
        )
        self.send_response(bearer, refused)

    def send_response(self, bearer, response):
        if not self.is_mute and self.device.connections.get(bearer.handle) is bearer:
            super().send_response(bearer, response)

    def read_error(self, bearer, attribute):
        if not attribute.permissions & att.Attribute.READABLE:
            return att.ErrorCode.READ_NOT_PERMITTED
        return self.owner.security_error(bearer, attribute)

    def write_error(self, bearer, attribute):
        if not attribute.permissions & att.Attribute.WRITEABLE:
            return att.ErrorCode.WRITE_NOT_PERMITTED
        if isinstance(attribute, Characteristic):
            return self.owner.security_error(bearer, attribute)
        return None

    def on_att_read_request(self, bearer, request):
        self.last_read.pop(bearer, None)
        return super().on_att_read_request(bearer, request)

    def on_att_read_blob_request(self, bearer, request):
        """What goes on with a read gives the value that it began with."""
        attribute, value = self.last_read.get(bearer, (None, b""))
        if not request.value_offset or attribute is None or attribute.handle != request.attribute_handle:
            return super().on_att_read_blob_request(bearer, request)
        if request.value_offset > len(value):
            refuse(att.ErrorCode.INVALID_OFFSET, attribute)
        part = value[request.value_offset:request.value_offset + bearer.att_mtu - 1]
        self.send_response(bearer, att.ATT_Read_Blob_Response(part_attribute_value=part))
        return None

    def value(self, attribute, read, write):
        """The value of an attribute whose callbacks are `read(connection)` and `write(connection, value)`.

        They raise ATT_Error to refuse; `attribute` gives the attribute.
        """

        def begin(connection):
            if code := self.read_error(connection, attribute()):
                refuse(code, attribute())
            value = self.answered(read, connection)
            self.last_read[connection] = (attribute(), value)
            return value

        return att.AttributeValue(
            read=begin, write=lambda connection, value: self.answered(write, connection, bytes(value))
        )

    @staticmethod
    def answered(callback, *arguments):
        try:
            return callback(*arguments)
        except att.ATT_Error:
            raise
        except Exception:
            log.exception("a request failed")
            raise att.ATT_Error(error_code=att.ErrorCode.UNLIKELY_ERROR) from None

    # Subscriptions

    async def write_cccd(self, bearer, characteristic, value):
        if len(value) != 2:
            refuse(att.ErrorCode.INVALID_ATTRIBUTE_LENGTH, characteristic)
        if code := self.owner.security_error(bearer, characteristic):
            refuse(code, characteristic)
        before = self.bits(bearer, characteristic)
        super().write_cccd(bearer, characteristic, bytes(value))
        after = self.bits(bearer, characteristic)
        if bool(before) != bool(after):
            self.answered(self.owner.subscribed, bearer, characteristic, after)
        # The subscription counts at once, and its answer waits.
        if self.late:
            await asyncio.sleep(self.late)

    def bits(self, connection, characteristic):
        """1 for notifications, 2 for indications, 3 for both: what a connection has subscribed to, of what there is."""
        value = self.subscribers.get(connection, {}).get(characteristic.handle, b"\0\0")
        can = Characteristic.Properties
        has = characteristic.properties
        return value[0] & ((1 if has & can.NOTIFY else 0) | (2 if has & can.INDICATE else 0))

    # Sending

    def notify(self, connection, characteristic, value):
        pdu = att.ATT_Handle_Value_Notification(
            attribute_handle=characteristic.handle, attribute_value=value[:connection.att_mtu - 3]
        )
        self.send_gatt_pdu(connection, bytes(pdu))

    async def indicate(self, connection, characteristic, value):
        """Whether the indication is confirmed. TimeoutError after 30 s without, when the link is of no more use."""
        async with self.indication_semaphores[connection]:
            if self.device.connections.get(connection.handle) is not connection:
                return False
            confirmed = self.pending_confirmations[connection] = asyncio.get_running_loop().create_future()
            pdu = att.ATT_Handle_Value_Indication(
                attribute_handle=characteristic.handle, attribute_value=value[:connection.att_mtu - 3]
            )
            self.send_gatt_pdu(connection, bytes(pdu))
            done, _ = await asyncio.wait({confirmed}, timeout=CONFIRMING)
            if self.pending_confirmations.get(connection) is confirmed:
                self.pending_confirmations[connection] = None
            if not done:
                raise TimeoutError
            return not confirmed.cancelled()

    def on_att_handle_value_confirmation(self, bearer, confirmation):
        pending = self.pending_confirmations.get(bearer)
        if pending and not pending.done():
            pending.set_result(None)

    def on_disconnection(self, bearer):
        if (pending := self.pending_confirmations.get(bearer)) and not pending.done():
            pending.cancel()
        self.last_read.pop(bearer, None)
        super().on_disconnection(bearer)


def open_descriptor(uuid, value):
    return Descriptor(uuid, Descriptor.READABLE | Descriptor.WRITEABLE, value)
