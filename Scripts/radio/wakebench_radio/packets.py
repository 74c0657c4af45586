"""Packets on a client's socket (SOCK_SEQPACKET), with a bounded queue for what it has no room for."""

import asyncio
import collections
import socket

# Octets of the longest packet that is read, and what a packet that waits takes beside its own.
LONGEST, KEEPING = 65_535, 64


def packet_pair():
    """Two ends of a socket of packets, both non-blocking: the one to keep, and the one to give away."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    theirs.setblocking(False)
    return ours, theirs


class PacketSocket:
    """The end that is kept. Packets of at most `most` octets wait here.

    `heard(packet)` gets what the client sends, and `closed()` is called once when it has closed its end.
    """

    def __init__(self, ours, most, heard, closed):
        self.ours, self.heard, self.closed = ours, heard, closed
        self.waiting, self.room = collections.deque(), most
        self.reading = False
        self.loop = asyncio.get_running_loop()
        self.resume()

    @property
    def is_open(self):
        return self.ours is not None

    def resume(self):
        if self.is_open and not self.reading:
            self.reading = True
            self.loop.add_reader(self.ours, self.readable)

    def pause(self):
        """Leaves in the socket what the client sends, so that its writes fail with EAGAIN once that is full."""
        if self.is_open and self.reading:
            self.reading = False
            self.loop.remove_reader(self.ours)

    def readable(self):
        # An empty packet looks like the end. Nothing here takes one, and the client has closed or is out of order.
        try:
            packet = self.ours.recv(LONGEST)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            packet = b""
        if packet:
            self.heard(packet)
        else:
            self.close()
            self.closed()

    def send(self, packet):
        """False if the packet is lost: as much waits as may."""
        if not self.is_open:
            return True
        if self.waiting or not self.pass_on(packet):
            if self.room < len(packet) + KEEPING:
                return False
            if not self.waiting:
                self.loop.add_writer(self.ours, self.writable)
            self.waiting.append(packet)
            self.room -= len(packet) + KEEPING
        return True

    def pass_on(self, packet):
        """False if the socket is full. One that is closed is seen by its reader."""
        try:
            self.ours.send(packet)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            pass
        return True

    def writable(self):
        while self.waiting:
            if not self.pass_on(self.waiting[0]):
                return
            self.room += len(self.waiting.popleft()) + KEEPING
        self.loop.remove_writer(self.ours)
        self.emptied()

    def emptied(self):
        """Nothing waits any more."""

    def close(self):
        """Hangs up. What waits still goes as far as the socket has room."""
        if not self.is_open:
            return
        self.pause()
        self.loop.remove_writer(self.ours)
        while self.waiting and self.pass_on(self.waiting[0]):
            self.waiting.popleft()
        self.waiting.clear()
        self.ours.close()
        self.ours = None


class PacedSocket(PacketSocket):
    """One whose packets go on to a link's queue. None is read while so many packets are under way there."""

    def __init__(self, ours, most, heard, closed, queue, busy):
        self.queue, self.busy = queue, busy
        super().__init__(ours, most, heard, closed)
        queue.on("flow", self.flowed)

    def readable(self):
        super().readable()
        if self.queue.pending >= self.busy:
            self.pause()

    def flowed(self):
        if self.queue.pending < self.busy:
            self.resume()

    def close(self):
        if self.is_open:
            self.queue.remove_listener("flow", self.flowed)
        super().close()
