"""The L2CAP channels of a peripheral (LE credit-based; read in bumble 0.0.236, l2cap.py)."""

from bumble import att
from bumble.l2cap import L2CAP_LE_Credit_Based_Connection_Response, LeCreditBasedChannelSpec

from ..host import bounded
from . import device_file
from .device_file import several
from .station import guarded
from .timetable import Timetable

# Seconds for the other end to close.
CLOSING = 5
Refusal = L2CAP_LE_Credit_Based_Connection_Response.Result


class Channel:
    """A channel of the file. `timetable` is what Timetable is made with."""

    def __init__(self, described):
        self.psm = device_file.integer(device_file.required(described, "psm"), 1, 255)
        self.echo = device_file.truth(described.get("echo", "false"))
        self.security = device_file.word(described.get("security", "none"), ("none", "encrypted", "authenticated"))
        self.timetable = device_file.spelled_out(described, "send")


class Channels:
    """Those that a peripheral offers, its `owner`. Each is played anew for each central that opens it."""

    def __init__(self, owner, file):
        self.owner = owner
        self.offered = [Channel(each) for each in several(file, "l2cap")]
        self.servers = []
        # After so many values from now a channel is closed.
        self.closes_after = None

    def begin(self):
        manager = self.owner.device.l2cap_channel_manager
        take = manager.on_l2cap_le_credit_based_connection_request
        # Bumble asks for no security.
        manager.on_l2cap_le_credit_based_connection_request = guarded(
            lambda connection, cid, request: self.asked(take, connection, cid, request)
        )
        self.accept(True)

    def accept(self, accepts):
        """Begins or ends to accept channels."""
        for server in self.servers:
            server.close()
        self.servers = [
            self.owner.device.create_l2cap_server(
                LeCreditBasedChannelSpec(psm=each.psm), guarded(lambda opened, each=each: self.opened(opened, each))
            )
            for each in (self.offered if accepts else [])
        ]

    def asked(self, take, connection, cid, request):
        security = next((each.security for each in self.offered if each.psm == request.le_psm), "none")
        lacks = self.owner.lacking(connection, security)
        if lacks is None:
            take(connection, cid, request)
            return
        result = Refusal.CONNECTION_REFUSED_INSUFFICIENT_AUTHENTICATION
        if lacks == att.ErrorCode.INSUFFICIENT_ENCRYPTION:
            result = Refusal.CONNECTION_REFUSED_INSUFFICIENT_ENCRYPTION
        refused = L2CAP_LE_Credit_Based_Connection_Response(
            identifier=request.identifier, destination_cid=0, mtu=23, mps=23, initial_credits=0, result=result
        )
        self.owner.device.l2cap_channel_manager.send_control_frame(connection, cid, refused)

    def opened(self, channel, offered):
        tell, psm = self.owner.tell, offered.psm
        tell("channel opened", psm)
        player = self.owner.do(self.play(channel, offered))

        def got(value):
            tell("channel got", psm, value.hex())
            if offered.echo and value:
                channel.write(value)

        def closed():
            player.cancel()
            # Bumble frees only its own number of a closed channel, and refuses the other end's when it comes again.
            known = self.owner.device.l2cap_channel_manager.le_coc_channels
            known.get(channel.connection.handle, {}).pop(channel.destination_cid, None)
            tell("channel closed", psm)

        channel.sink = guarded(got)
        channel.on("close", guarded(closed))

    async def play(self, channel, offered):
        timetable = Timetable(*offered.timetable)
        # It begins when the channel is open, whatever is subscribed to.
        timetable.set_running(True)

        async def send(value):
            if not await self.owner.room(channel.connection):
                return
            if value:
                channel.write(value)
            self.owner.tell("channel sent", offered.psm, value.hex())
            if self.closes_after is None:
                return
            self.closes_after -= 1
            if self.closes_after <= 0:
                self.closes_after = None
                self.owner.do(self.close(channel))

        await timetable.play(send)

    async def close(self, channel):
        """Not the player's own work: the closing ends the player."""
        await self.owner.drained(channel.connection)
        await bounded(channel.disconnect(), CLOSING)
