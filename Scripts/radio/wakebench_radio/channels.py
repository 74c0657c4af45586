"""LE credit-based channels (Core 5.4, Vol 3, Part A, 4.22, 4.24 and 10.1), each with a stream socket for a client.

Bumble's own channels are not used (read in bumble 0.0.236, l2cap.py): they give credits back before the client has taken
the bytes, read no socket, lose what comes with the answer to an opening, keep the numbers of closed ones, know requests
by an identifier that several links share, and have no limits of time. Its manager still finds a channel by its number,
and tells of its end and of that of the link.
"""

import asyncio
import collections
import logging
import select
import socket

from bumble import l2cap

from .bearer import BUSY
from .bus import Refused
from .host import LinkEnded
from .packets import PacketSocket, packet_pair

log = logging.getLogger(__name__)

# Octets of an SDU and of a PDU that a peer may send, and how many PDUs: a PDU and its head fill an LE packet of 251
# octets, and 64 of them, 16 kB, are the most that waits here for a client that does not read.
MTU, MPS, CREDITS = 2048, 247, 64
# The least that either may be, the most credits there can be, the numbers of LE channels, the PSMs that are given out.
LEAST, MOST_CREDITS, NUMBERS, PSMS = 23, 0xFFFF, range(0x40, 0x80), range(0x80, 0x100)
# Seconds for the answer to an opening, and for a peer to take what was sent before the client's end, or to confirm it.
OPENING, LINGERING = 20, 5
# Results (4.23).
NO_PSM, NO_RESOURCES, AUTHENTICATION, ENCRYPTION = 0x0002, 0x0004, 0x0005, 0x0008
BAD_NUMBER, NUMBER_IN_USE, BAD_PARAMETERS = 0x0009, 0x000A, 0x000B


class ChannelRefused(Exception):
    """A channel is not opened; `code` is the result (Core 5.4, Vol 3, Part A, 4.23)."""

    def __init__(self, code):
        super().__init__(f"L2CAP result 0x{code:04x}")
        self.code = code


class Channel:
    """A channel and its socket, of which `theirs` is the client's end."""

    def __init__(self, manager, connection, number):
        self.manager, self.connection, self.source_cid = manager, connection, number
        self.destination_cid = self.peer_mtu = self.peer_mps = 0
        self.loop = asyncio.get_running_loop()
        self.ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.ours.setblocking(False)
        self.theirs.setblocking(False)
        self.answer = self.loop.create_future()
        self.is_open = False
        # What comes: the peer's credits, the octets of PDUs that the socket has no room for yet, the PDUs that it took
        # since credits were given, and what is missing of the SDU.
        self.granted, self.waiting, self.taken, self.missing = CREDITS, collections.deque(), 0, 0
        # What goes: our credits, and what is left of the SDU.
        self.credits, self.rest = 0, b""
        self.reading = self.writing = self.hung_up = False
        # Tells of a hang-up while nothing is read.
        self.watch = select.epoll()
        self.limit = None
        self.queue = connection.data_packet_queue
        manager.channels.setdefault(connection.handle, {})[number] = self

    def opened(self, number, mtu, mps, credits):
        self.destination_cid, self.peer_mtu, self.peer_mps, self.credits = number, mtu, mps, credits
        self.is_open = True
        self.queue.on("flow", self.flowed)
        self.watch.register(self.ours, select.EPOLLRDHUP)
        self.loop.add_reader(self.watch.fileno(), self.client_hung_up)
        # Not before the client may have its end.
        self.loop.call_soon(self.pump)

    def release(self):
        """The client's descriptor, which is the caller's from now on."""
        return self.theirs.detach()

    # From the client to the peer

    def pump(self):
        """Sends what the client writes, as far as credits and the controller's queue reach; the rest stays its own."""
        while self.is_open:
            if self.queue.pending >= BUSY or self.credits == 0:
                # `flowed` or `on_credits` goes on.
                self.read(False)
                self.expect_credits()
                return
            if not self.rest:
                try:
                    octets = self.ours.recv(min(self.peer_mtu, MTU))
                except (BlockingIOError, InterruptedError):
                    self.read(True)
                    return
                except OSError:
                    octets = b""
                if not octets:
                    self.leave()
                    return
                self.rest = len(octets).to_bytes(2, "little") + octets
            frame, self.rest = self.rest[:self.peer_mps], self.rest[self.peer_mps:]
            self.credits -= 1
            self.manager.host.send_l2cap_pdu(self.connection.handle, self.destination_cid, frame)

    def read(self, on):
        if on != self.reading:
            self.reading = on
            if on:
                self.loop.add_reader(self.ours, self.pump)
            else:
                self.loop.remove_reader(self.ours)

    def flowed(self):
        if self.is_open and not self.reading and self.queue.pending < BUSY:
            self.pump()

    def on_credits(self, credits):
        if self.credits + credits > MOST_CREDITS:
            self.violated("more credits than there can be")
            return
        self.credits += credits
        if self.limit is not None:
            self.limit.cancel()
            self.limit = None
        if not self.reading:
            self.pump()

    def client_hung_up(self):
        """What it wrote before still goes."""
        self.loop.remove_reader(self.watch.fileno())
        self.hung_up = True
        self.expect_credits()

    def expect_credits(self):
        """For a client that is gone there is a limit to the wait for a peer that takes no more."""
        if self.hung_up and self.is_open and self.credits == 0 and self.limit is None:
            self.limit = self.loop.call_later(LINGERING, self.leave)

    # From the peer to the client

    def on_pdu(self, pdu):
        if not self.is_open:
            return
        if self.granted == 0 or len(pdu) > MPS:
            self.violated("a PDU without a credit" if self.granted == 0 else f"a PDU of {len(pdu)} octets")
            return
        self.granted -= 1
        if self.missing == 0:
            self.missing, pdu = int.from_bytes(pdu[:2], "little") if len(pdu) >= 2 else MTU + 1, pdu[2:]
        if self.missing > MTU or len(pdu) > self.missing:
            self.violated("an SDU whose length is wrong")
            return
        self.missing -= len(pdu)
        self.waiting.append(bytes(pdu))
        if not self.writing:
            self.deliver()

    def deliver(self):
        """Gives the client what waits, and the peer credits for what the client's socket has taken."""
        while self.waiting:
            first = self.waiting[0]
            try:
                sent = self.ours.send(first) if first else 0
            except (BlockingIOError, InterruptedError):
                self.write(True)
                return
            except OSError:
                # The client is gone; the channel's end is told by its reader.
                sent = len(first)
            if sent < len(first):
                self.waiting[0] = first[sent:]
                continue
            self.waiting.popleft()
            self.taken += 1
            if self.is_open and self.taken >= CREDITS // 2:
                self.give_credits()
        self.write(False)
        if not self.is_open:
            self.hang_up()

    def write(self, on):
        if on != self.writing:
            self.writing = on
            if on:
                self.loop.add_writer(self.ours, self.deliver)
            else:
                self.loop.remove_writer(self.ours)

    def give_credits(self):
        self.granted += self.taken
        frame = l2cap.L2CAP_LE_Flow_Control_Credit(
            identifier=self.manager.next_identifier(self.connection), cid=self.source_cid, credits=self.taken
        )
        self.taken = 0
        self.manager.send_control_frame(self.connection, l2cap.L2CAP_LE_SIGNALING_CID, frame)

    # Ends

    def violated(self, what):
        log.warning("%s: a channel is closed: %s", self.connection.peer_address.to_string(False), what)
        self.leave()

    def leave(self):
        """Closes the channel from this end. Its number is free once the peer has confirmed that."""
        if not self.is_open:
            return
        self.end()
        frame = l2cap.L2CAP_Disconnection_Request(
            identifier=self.manager.next_identifier(self.connection), destination_cid=self.destination_cid,
            source_cid=self.source_cid,
        )
        self.manager.send_control_frame(self.connection, l2cap.L2CAP_LE_SIGNALING_CID, frame)
        self.limit = self.loop.call_later(LINGERING, self.forget)

    def on_disconnection_response(self, response):
        if not self.is_open and response.destination_cid == self.destination_cid:
            self.forget()

    def on_disconnection_request(self, request):
        if request.source_cid != self.destination_cid:
            return
        frame = l2cap.L2CAP_Disconnection_Response(
            identifier=request.identifier, destination_cid=request.destination_cid, source_cid=request.source_cid
        )
        self.manager.send_control_frame(self.connection, l2cap.L2CAP_LE_SIGNALING_CID, frame)
        self.abort()

    def abort(self):
        """The channel or its link is gone."""
        self.forget()
        if not self.answer.done():
            self.answer.set_exception(LinkEnded())
        self.end()

    def end(self):
        """Nothing is sent or taken any more. The client still gets what waits, however late it reads."""
        if not self.is_open:
            return
        self.is_open = False
        self.read(False)
        self.rest = b""
        self.queue.remove_listener("flow", self.flowed)
        self.loop.remove_reader(self.watch.fileno())
        self.watch.close()
        if self.limit is not None:
            self.limit.cancel()
            self.limit = None
        if not self.waiting:
            self.hang_up()

    def forget(self):
        if self.limit is not None:
            self.limit.cancel()
            self.limit = None
        there = self.manager.channels.get(self.connection.handle, {})
        if there.get(self.source_cid) is self:
            del there[self.source_cid]

    def hang_up(self):
        """Ends the socket. What the client wrote and was not taken is read: else the client would get ECONNRESET."""
        self.write(False)
        try:
            self.ours.shutdown(socket.SHUT_RDWR)
            while self.ours.recv(65_536):
                pass
        except OSError:
            pass
        self.ours.close()

    def discard(self):
        """For a channel that is not given to a client."""
        self.leave()
        self.forget()
        self.watch.close()
        self.ours.close()
        self.theirs.close()


class Channels:
    """The channels of one adapter: those that clients open to peers, and those that peers open to clients' sockets.

    `bonded(connection)` says whether there is a key of a peer, and `name(connection)` gives its address as D-Bus
    knows it.
    """

    def __init__(self, bonded, name):
        self.bonded, self.name = bonded, name
        self.manager = None
        # Openings that wait for their answer, by the link's handle and the identifier of the request.
        self.requests = {}
        self.listeners = {}

    def install(self, device):
        """Serves a new Bumble device; the links of the one before are gone."""
        self.end()
        self.manager = manager = device.l2cap_channel_manager
        manager.on_l2cap_le_credit_based_connection_request = self.requested
        manager.on_l2cap_le_credit_based_connection_response = self.answered
        manager.on_l2cap_le_flow_control_credit = self.credited
        manager.on_l2cap_command_reject = self.rejected

    def all(self):
        there = self.manager.channels.values() if self.manager is not None else []
        return [each for channels in there for each in channels.values() if isinstance(each, Channel)]

    def end(self, connection=None):
        """A link is gone, or all are with their radio: Bumble tells no channel of some of that."""
        for each in self.all():
            if connection is None or each.connection is connection:
                each.abort()

    def made(self, connection):
        """A channel with a free number, or None where there is none, or no descriptor for it."""
        there = self.manager.channels.get(connection.handle, {})
        number = next((each for each in NUMBERS if each not in there), None)
        try:
            return None if number is None else Channel(self.manager, connection, number)
        except OSError as error:
            log.error("a channel gets no socket: %s; raise the limit of open files", error.strerror)
            return None

    def uses(self, connection, number):
        """Whether a channel of the link has this number at the peer's end."""
        there = self.manager.channels.get(connection.handle, {}).values()
        return any(isinstance(each, Channel) and each.destination_cid == number for each in there)

    # To a peer

    async def open(self, connection, psm):
        """A channel to a PSM of a peer. Raises ChannelRefused, LinkEnded or asyncio.TimeoutError."""
        channel = self.made(connection)
        if channel is None:
            raise ChannelRefused(NO_RESOURCES)
        place = connection.handle, self.manager.next_identifier(connection)
        self.requests[place] = channel
        request = l2cap.L2CAP_LE_Credit_Based_Connection_Request(
            identifier=place[1], le_psm=psm, source_cid=channel.source_cid, mtu=MTU, mps=MPS, initial_credits=CREDITS
        )
        try:
            self.manager.send_control_frame(connection, l2cap.L2CAP_LE_SIGNALING_CID, request)
            await asyncio.wait_for(channel.answer, OPENING)
        except BaseException:
            channel.discard()
            raise
        finally:
            if self.requests.get(place) is channel:
                del self.requests[place]
        return channel

    def answered(self, connection, _, response):
        channel = self.requests.pop((connection.handle, response.identifier), None)
        if channel is None or channel.answer.done():
            return
        result, number = int(response.result), response.destination_cid
        if result == 0 and (number not in NUMBERS or self.uses(connection, number)):
            result = BAD_NUMBER
        elif result == 0 and min(response.mtu, response.mps) < LEAST:
            result = BAD_PARAMETERS
        if result:
            channel.answer.set_exception(ChannelRefused(result))
        else:
            # At once: the peer's first octets may come with its answer.
            channel.opened(number, response.mtu, response.mps, response.initial_credits)
            channel.answer.set_result(None)

    def rejected(self, connection, _, rejection):
        """A peer that knows no such channels has no such PSM."""
        channel = self.requests.pop((connection.handle, rejection.identifier), None)
        if channel is not None and not channel.answer.done():
            channel.answer.set_exception(ChannelRefused(NO_PSM))

    def credited(self, connection, _, given):
        for each in list(self.manager.channels.get(connection.handle, {}).values()):
            if isinstance(each, Channel) and each.is_open and each.destination_cid == given.cid:
                each.on_credits(given.credits)

    # From a peer

    def listen(self, encrypted):
        """(The PSM, the client's socket) of new channels that peers may open."""
        psm = next((each for each in PSMS if each not in self.listeners), None)
        if psm is None:
            raise Refused("Failed", f"no PSM of 0x{PSMS[0]:02x} to 0x{PSMS[-1]:02x} is free; close one that is listened on")
        ours, theirs = packet_pair()
        self.listeners[psm] = PacketSocket(ours, 0, lambda packet: None, lambda: self.listeners.pop(psm, None))
        self.listeners[psm].encrypted = encrypted
        return psm, theirs

    def requested(self, connection, cid, request):
        channel, result = None, self.refusal(connection, request)
        if result == 0:
            channel = self.made(connection)
            result = NO_RESOURCES if channel is None else 0
        if channel is not None and not self.hand_over(channel, self.listeners[request.le_psm]):
            channel.discard()
            channel, result = None, NO_RESOURCES
        if channel is not None:
            channel.answer.cancel()
            channel.opened(request.source_cid, request.mtu, request.mps, request.initial_credits)
        response = l2cap.L2CAP_LE_Credit_Based_Connection_Response(
            identifier=request.identifier, destination_cid=channel.source_cid if channel else 0, mtu=MTU, mps=MPS,
            initial_credits=CREDITS if channel else 0, result=result,
        )
        self.manager.send_control_frame(connection, cid, response)

    def refusal(self, connection, request):
        """The result of an opening that may not be; 0 for one that may."""
        listener = self.listeners.get(request.le_psm)
        if listener is None:
            return NO_PSM
        if listener.encrypted and not connection.is_encrypted:
            # Which of both depends on the key (Core 5.4, Vol 3, Part C, 10.3.1).
            return ENCRYPTION if self.bonded(connection) else AUTHENTICATION
        if request.source_cid not in NUMBERS:
            return BAD_NUMBER
        if self.uses(connection, request.source_cid):
            return NUMBER_IN_USE
        return BAD_PARAMETERS if min(request.mtu, request.mps) < LEAST else 0

    def hand_over(self, channel, listener):
        """Gives a listener's client the other end. False if its socket is full or closed."""
        said = self.name(channel.connection).encode()
        try:
            socket.send_fds(listener.ours, [said], [channel.theirs.fileno()])
        except OSError as error:
            log.warning("a channel is refused: its listener does not take it: %s", error.strerror)
            return False
        channel.theirs.close()
        return True
