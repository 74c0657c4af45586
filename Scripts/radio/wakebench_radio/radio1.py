"""Radio1, an interface of this package's own: what clients have from the kernel's sockets where that is the radio."""

import asyncio
import logging

from bumble.att import ATT_CID

from .bearer import BUSY
from .bus import Interface, Refused, WithDescriptors, exported
from .channels import AUTHENTICATION, ENCRYPTION, ChannelRefused
from .host import LinkEnded
from .packets import PacedSocket, packet_pair

log = logging.getLogger(__name__)

# Octets that wait for a client that does not read its ATT socket. What comes then is lost, as in the kernel.
MOST_WAITING = 1 << 18


class Radio1(Interface):
    """Of an adapter. Descriptors are non-blocking, and what belongs to one ends when it is closed.

    An error that the peer answers ends in its code: `Channel refused with L2CAP result: 0x0002`.
    """

    interface = "org.wakebench.Radio1"

    def __init__(self, adapter):
        self.adapter = adapter

    def device(self, path):
        device = next((each for each in self.adapter.devices.values() if each.place == path), None)
        if device is None:
            raise Refused("DoesNotExist", "Does Not Exist")
        return device

    @exported("oq", "h")
    async def OpenChannel(self, _, path, psm):
        """A stream over a link that is up, to an LE credit-based channel of the peer (psm 1 to 255)."""
        self.adapter.check_ready()
        device = self.device(path)
        if not 0 < psm < 0x100:
            raise Refused("InvalidArguments", f"psm {psm} is none of an LE channel's, which are 1 to 255")
        bearer = device.bearer
        if bearer is None:
            raise Refused("NotConnected", "Not Connected")
        try:
            channel = await device.operate(self.open(device, bearer, psm))
        except ChannelRefused as refusal:
            raise Refused("Failed", f"Channel refused with L2CAP result: 0x{refusal.code:04x}") from None
        except LinkEnded:
            raise Refused("NotConnected", "Not Connected") from None
        except asyncio.TimeoutError:
            raise Refused("Failed", "the peer does not answer whether it opens the channel") from None
        return WithDescriptors([0], [channel.release()])

    async def open(self, device, bearer, psm):
        """What wants more security gets it, once: so does the kernel (net/bluetooth/l2cap_core.c, l2cap_le_connect_rsp)."""
        channels = self.adapter.channels
        try:
            return await channels.open(bearer.connection, psm)
        except ChannelRefused as refusal:
            if refusal.code not in (AUTHENTICATION, ENCRYPTION) or bearer.connection.is_encrypted:
                raise
            secured = await device.secure(bearer)
            if not bearer.alive:
                raise LinkEnded from None
            if not secured:
                raise
        return await channels.open(bearer.connection, psm)

    @exported("b", "qh")
    def ListenChannels(self, _, encrypted):
        """A PSM that peers may open, and a socket of packets, each `ADDRESS public|random` with a channel's stream.

        With `encrypted` the link must be. It ends when the socket is closed.
        """
        psm, theirs = self.adapter.channels.listen(encrypted)
        return WithDescriptors([psm, 0], [theirs.detach()])

    @exported("", "h")
    def Monitor(self, _):
        """A socket of frames as the kernel's HCI monitor has them; see monitor.py."""
        return WithDescriptors([0], [self.adapter.monitors.open().detach()])

    @exported("o", "h")
    async def OpenAttributes(self, _, path):
        """A socket of ATT PDUs, over a link that is made for it and ends with it. Nothing else speaks on that link."""
        self.adapter.check_ready()
        device = self.device(path)
        if device.connected or device.attempt is not None:
            raise Refused("InProgress", "the device has a link or is being connected; disconnect it first")
        ours, theirs = packet_pair()
        made = None

        def linked(link):
            nonlocal made
            made = AttributeLink(device, link, ours)
            device.taken_over(made)
            for packet in self.adapter.early.pop(link, []):
                made.hear(packet)

        try:
            await device.attach(linked)
            if made is None:
                raise Refused("InProgress", "the device connected itself meanwhile; disconnect it first")
        except BaseException:
            theirs.close()
            raise
        finally:
            if made is None:
                ours.close()
        return WithDescriptors([0], [theirs.detach()])


class AttributeLink:
    """A link whose ATT PDUs go to and from a client's socket. It stands where a device otherwise has its bearer."""

    def __init__(self, device, connection, ours):
        self.device, self.connection = device, connection
        self.radio = device.adapter.radio
        self.queue = connection.data_packet_queue
        self.lost = False
        connection.on("error", self.radio.complain)
        self.socket = PacedSocket(ours, MOST_WAITING, self.asked, self.closed, self.queue, BUSY)
        self.radio.device.raw_attributes[connection.handle] = self.hear

    @property
    def alive(self):
        return self.socket.is_open and self.radio.lost is None and (
            self.radio.device.connections.get(self.connection.handle) is self.connection
        )

    def asked(self, pdu):
        """A PDU of the client's. It is sent as it is, whatever it is."""
        if self.alive:
            self.radio.host.send_l2cap_pdu(self.connection.handle, ATT_CID, pdu)

    def hear(self, pdu):
        if not self.socket.send(bytes(pdu)) and not self.lost:
            self.lost = True
            log.warning("%s: a client does not read its socket of attributes: PDUs are lost", self.device.text)

    def closed(self):
        self.device.start(self.device.end_link())

    def end(self):
        raw, handle = self.radio.device.raw_attributes, self.connection.handle
        if raw.get(handle) == self.hear:
            del raw[handle]
        self.socket.close()
