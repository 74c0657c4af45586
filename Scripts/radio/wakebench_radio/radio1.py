"""Radio1, an interface of this package's own: what clients have from the kernel's sockets where that is the radio."""

import asyncio
import logging

from .bus import Interface, Refused, WithDescriptors, exported
from .channels import AUTHENTICATION, ENCRYPTION, ChannelRefused
from .hci import LinkEnded

log = logging.getLogger(__name__)


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
    async def OpenChannel(self, sender, path, psm):
        """A stream over a link that is up, to an LE credit-based channel of the peer (psm 1 to 255)."""
        self.adapter.check_ready()
        device = self.device(path)
        if not 0 < psm < 0x100:
            raise Refused("InvalidArguments", f"psm {psm} is none of an LE channel's, which are 1 to 255")
        bearer = device.bearer
        if bearer is None:
            raise Refused("NotConnected", "Not Connected")
        try:
            channel = await device.operate(self.open(device, bearer, psm, sender))
        except ChannelRefused as refusal:
            raise Refused("Failed", f"Channel refused with L2CAP result: 0x{refusal.code:04x}") from None
        except LinkEnded:
            raise Refused("NotConnected", "Not Connected") from None
        except asyncio.TimeoutError:
            raise Refused("Failed", "the peer does not answer whether it opens the channel") from None
        return WithDescriptors([0], [channel.release()])

    async def open(self, device, bearer, psm, sender):
        """What wants more security gets it, once: so does the kernel (net/bluetooth/l2cap_core.c, l2cap_le_connect_rsp)."""
        channels = self.adapter.channels
        try:
            return await channels.open(bearer.connection, psm)
        except ChannelRefused as refusal:
            if refusal.code not in (AUTHENTICATION, ENCRYPTION) or bearer.connection.is_encrypted:
                raise
            if not await self.secured(device, bearer, sender):
                raise
        if not bearer.alive:
            raise LinkEnded
        return await channels.open(bearer.connection, psm)

    async def secured(self, device, bearer, sender):
        if device.paired:
            return await device.secure(bearer)
        if device.delegate is not None:
            return False
        try:
            await device.pair(sender)
        except Refused as refusal:
            log.info("%s: %s", device.text, refusal.text)
            if not bearer.alive:
                raise LinkEnded from None
            return False
        return bearer.connection.is_encrypted

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
