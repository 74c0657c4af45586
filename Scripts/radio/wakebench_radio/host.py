"""A Bumble host on an HCI transport: how it is opened, all the ways in which it is lost, and calls that end.

What is worked round here was read or tried in bumble 0.0.236: calls without a limit, cancelled calls whose late answers
go to the next one, answers to commands that were not sent, losses that each transport tells in another way or not at all.
"""

import asyncio
import errno
import logging
import os
import re
import socket
import warnings

from bumble import hci
from bumble.core import InvalidPacketError
from bumble.host import Host
from bumble.transport import open_transport
from bumble.transport.common import TransportLostError, TransportSpecError

log = logging.getLogger(__name__)

# Seconds: for a transport to open, for a controller to be made ready, for one command.
OPENING, STARTING, COMMAND = 10, 8, 4
# Seconds for which what should listen behind a new transport is waited for, and after which it is tried again.
PATIENCE, AGAIN = 5, 0.2
# Seconds of silence after which the controller is asked for its address.
SILENCE = 2
# Seconds by which an alarm is late when this process was stopped meanwhile.
LATE = 1
SEE_HELP = "see --help for the kinds of transport"
NOT_HCI = "what comes is not HCI; see its speed, and what is at its other end"
SEE_CONTROLLER = "see whether a controller is there, and whether something else uses it"
START = "start what listens there first"
# By scheme of a transport, what helps when it cannot be opened.
REMEDIES = {
    "usb": "plug the dongle in, see lsusb, and let a udev rule give you its device",
    "pyusb": "plug the dongle in, see lsusb, and let a udev rule give you its device",
    "serial": "see whether the device is there, and whether you are in its group",
    "tcp-client": START,
    "unix": START,
    "unix-client": START,
    "ws-client": START,
    "hci-socket": "stop bluetoothd, take the adapter down (hciconfig hciN down), and give Python cap_net_admin",
    "android-netsim": "start the Android emulator or netsim, and install bumble[android]",
}
HIGHEST_PORT = 65_535
# What may be meant for a TCP port.
TCP_PORT = re.compile(r"(?:tcp:)?([\w.-]+:[0-9]{1,5})")


def start_or(error):
    """What helps where a program should listen, and where its place itself is wrong."""
    if isinstance(error, PermissionError):
        return "run it as a user that may connect there"
    if isinstance(error, socket.gaierror):
        return "see the host's name"
    if isinstance(error, OSError) and "too long" in str(error):
        return "name a shorter path"
    return START


def quiet_loop(verbose):
    """Of what Bumble's own tasks raise, which are not waited for, and of its warnings nothing is written without need."""
    if not verbose:
        warnings.simplefilter("ignore", FutureWarning)

    def told(loop, context):
        level = logging.INFO if isinstance(context.get("future"), asyncio.Task) else logging.ERROR
        log.log(level, "%s: %r", context["message"], context.get("exception"))

    asyncio.get_running_loop().set_exception_handler(told)


class RadioFailure(Exception):
    """A radio cannot be used: a reason and a remedy, on one line."""


class LinkEnded(Exception):
    """The link went while something was under way on it."""

    def __init__(self, text="the link is gone"):
        super().__init__(text)


class Alarm:
    """Calls `ring` after so many seconds. Those in which this process was stopped (SIGSTOP) do not count."""

    def __init__(self, seconds, ring):
        self.loop, self.seconds, self.ring = asyncio.get_running_loop(), seconds, ring
        self.set()

    def set(self):
        self.due = self.loop.time() + self.seconds
        self.handle = self.loop.call_at(self.due, self.expire)

    def expire(self):
        if self.loop.time() - self.due > LATE:
            # What came meanwhile is still to be read.
            self.set()
        else:
            self.ring()

    def cancel(self):
        self.handle.cancel()


# Bumble's tasks that took longer than they were waited for: they end by themselves, and are kept until then.
unfinished = set()


async def bounded(work, seconds):
    """The result of one of Bumble's coroutines, or TimeoutError after so many seconds (see Alarm).

    It is never cancelled: its late answer would become the result of the next call. A link that goes cancels what waits
    for it, which is LinkEnded here.
    """
    task = asyncio.ensure_future(work)
    unfinished.add(task)
    task.add_done_callback(settle)
    expired = asyncio.get_running_loop().create_future()
    alarm = Alarm(seconds, lambda: expired.done() or expired.set_result(None))
    try:
        await asyncio.wait({task, expired}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        alarm.cancel()
    if not task.done():
        raise TimeoutError
    if task.cancelled():
        raise LinkEnded
    return task.result()


def settle(task):
    unfinished.discard(task)
    # Where the wait was given up it is not read.
    task.cancelled() or task.exception()


def reason_of(error):
    if isinstance(error, TimeoutError) and not error.args:
        return "no answer"
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    return text if text and not isinstance(error, (AssertionError, KeyError)) else type(error).__name__ + (
        f" {text}" if text else ""
    )


class Passkey(int):
    """A passkey of pairing. 000000 is true: else Bumble takes it for none, and pairing stands still (smp.py)."""

    def __bool__(self):
        return True


class QuietHost(Host):
    """Bumble's host without its log lines, which write every packet out, and with the time of the last packet.

    Each command is answered in time, or the event "silent" says which one was not. An answer counts for its own
    command alone.
    """

    heard = 0.0
    # Gets each packet as it is on the transport, and whether it is sent; None while there is no monitor.
    tap = None
    # Nothing is sent any more.
    over = False

    def send_hci_packet(self, packet):
        if self.hci_sink and not self.over:
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

    def on_hci_disconnection_complete_event(self, event):
        super().on_hci_disconnection_complete_event(event)
        # Bumble drops the packets of a link that ended, but sends none of others in their place, and tells of no room.
        for queue in {self.acl_packet_queue, self.le_acl_packet_queue} - {None}:
            queue._check_queue()
            queue.emit("flow")

    def on_hci_hardware_error_event(self, event):
        # Bumble does not know its field.
        self.emit("hardware_error", event.parameters[0] if event.parameters else 0)

    # Commands

    async def _send_command(self, command, response_timeout=None):
        # Bumble's own waits without a limit, also for a controller that takes no commands.
        limit = Alarm(response_timeout or COMMAND, lambda: self.expire(command, limit))
        response = None
        try:
            await self.command_semaphore.acquire()
        except BaseException:
            limit.cancel()
            raise
        try:
            if self.over:
                raise TransportLostError("the transport is gone")
            self.pending_command = command
            self.pending_response = asyncio.get_running_loop().create_future()
            limit.cancel()
            limit.set()
            self.send_hci_packet(command)
            response = await self.pending_response
            return response
        finally:
            limit.cancel()
            self.pending_command = self.pending_response = None
            if (response is None or response.num_hci_command_packets) and self.command_semaphore.locked():
                self.command_semaphore.release()

    def expire(self, command, limit):
        if self.pending_command is not None and self.pending_command is not command:
            # It waits for its turn.
            limit.set()
            return
        if self.pending_response is not None and not self.pending_response.done():
            self.pending_response.set_exception(TimeoutError())
        # Where another limit was set, as by drivers of dongles, that code handles it.
        if limit.seconds == COMMAND:
            self.emit("silent", command.name)

    def on_command_processed(self, event):
        asked = self.pending_command
        if asked is not None and (self.pending_response.done() or event.command_opcode != asked.op_code):
            log.debug("an answer to 0x%04x, which is not waited for", event.command_opcode)
            return
        super().on_command_processed(event)

    async def send_sync_command_raw(self, command, response_timeout=None):
        response = await self._send_command(command, response_timeout)
        if isinstance(response, hci.HCI_Command_Complete_Event):
            return response
        # Bumble takes a status for an answer of an unknown command alone.
        return hci.HCI_Command_Complete_Event(
            num_hci_command_packets=response.num_hci_command_packets, command_opcode=command.op_code,
            return_parameters=hci.HCI_StatusReturnParameters(
                status=hci.HCI_ErrorCode(response.status or hci.HCI_ErrorCode.UNSPECIFIED_ERROR)
            ),
        )

    # The end

    def on_transport_lost(self):
        if self.pending_response is not None and not self.pending_response.done():
            self.pending_response.set_exception(TransportLostError("the transport is gone"))
        self.finish()
        self.emit("flush")

    def finish(self):
        """Nothing is sent any more: commands that wait for their turn fail, one after the other."""
        self.over = True
        if self.pending_response is not None and not self.pending_response.done():
            self.pending_response.set_exception(TransportLostError("the transport is gone"))
        if self.command_semaphore.locked() and self.pending_command is None:
            self.command_semaphore.release()


class Line:
    """A transport with a controller behind it. `on_lost(reason)` is called once when it is gone after its opening."""

    def __init__(self, name, on_lost):
        self.name, self.on_lost = name, on_lost
        self.transport = self.host = None
        # Why it is gone, whether it was there, and what is said once.
        self.lost, self.opened, self.garbage, self.complained = None, False, False, False
        self.gone = asyncio.Event()
        self.watching, self.tapped_by = [], None

    def failure(self, doing, error):
        """What could not be done, why, and what helps."""
        remedy = REMEDIES.get(self.name.partition(":")[0], SEE_HELP)
        is_known = self.name.partition(":")[0] in REMEDIES
        if isinstance(error, TransportSpecError) and not is_known and (port := TCP_PORT.fullmatch(self.name)):
            remedy = f"for a TCP port write tcp-client:{port[1]}"
        if remedy == START:
            remedy = start_or(error)
        if isinstance(error, OSError) and error.errno == errno.EAFNOSUPPORT:
            return RadioFailure(f"{self.name}: {doing}: the kernel has no Bluetooth; use another kind of transport")
        wrong = isinstance(error, (AssertionError, ValueError, LookupError)) and not isinstance(error, TransportSpecError)
        if wrong and self.transport is None:
            # Bumble takes the name apart without looking.
            return RadioFailure(f"{self.name}: {doing}: what stands behind its colon is not complete; {SEE_HELP}")
        if self.garbage:
            return RadioFailure(f"{self.name}: {doing}: {NOT_HCI}")
        if self.transport is not None:
            remedy = SEE_CONTROLLER
        return RadioFailure(f"{self.name}: {doing}: {reason_of(error)}; {remedy}")

    async def open(self, patience=0):
        """Opens the transport, and waits some seconds for what should listen there. What it tells of its end is heard
        from then on."""
        # It would wrap the transport in one that does not tell of its loss.
        os.environ.pop("BUMBLE_SNOOPER", None)
        kind, port = self.name.partition(":")[0], self.name.rpartition(":")[2]
        if kind in ("tcp-client", "tcp-server") and port.isdecimal() and int(port) > HIGHEST_PORT:
            # asyncio takes the port's last 16 bits.
            raise RadioFailure(f"{self.name}: cannot be opened: {port} is no port; use 1 to {HIGHEST_PORT}")
        last = asyncio.get_running_loop().time() + patience
        while True:
            opening = asyncio.ensure_future(open_transport(self.name))
            await asyncio.wait({opening}, timeout=OPENING)
            if not opening.done():
                opening.cancel()
                raise self.failure("cannot be opened", TimeoutError())
            error = TimeoutError() if opening.cancelled() else opening.exception()
            if error is None:
                break
            if not self.may_come(error):
                raise self.failure("cannot be opened", error)
            if asyncio.get_running_loop().time() >= last:
                raise self.failure(f"cannot be opened within {patience} s" if patience else "cannot be opened", error)
            await asyncio.sleep(AGAIN)
        self.transport = opening.result()
        self.watch_garbage()
        if self.name.startswith("hci-socket"):
            self.read_socket(self.transport.source.socket)
        if getattr(self.transport.source, "terminated", None) is not None:
            self.watching.append(asyncio.ensure_future(self.watch_end(self.transport.source)))

    def may_come(self, error):
        """Whether nothing listens there, and may yet. Of a host with several addresses the errors have no number."""
        several = isinstance(error, OSError) and str(error).startswith("Multiple exceptions")
        absent = isinstance(error, (ConnectionRefusedError, FileNotFoundError))
        return (absent or several) and REMEDIES.get(self.name.partition(":")[0]) == START

    def new_host(self):
        """A new host on the transport, whose end is this one's."""
        host = self.host = QuietHost(self.transport.source, self.transport.sink)
        host.on("error", self.complain)
        host.on("flush", lambda: self.lose("the transport was closed"))
        host.on("hardware_error", lambda code: self.lose(f"the controller reports a hardware error 0x{code:02x}"))
        host.on("silent", lambda command: self.silent(host, command))
        host.tap = self.tapped_by
        return host

    def tap(self, tap):
        """What gets each packet as it is on the transport, and whether it is sent; None for nothing."""
        self.tapped_by = tap
        if self.host is not None:
            self.host.tap = tap

    async def ready(self, work):
        """Waits for what makes the controller ready, at most as long as the transport is there."""
        starting = asyncio.ensure_future(bounded(work, STARTING))
        gone = asyncio.ensure_future(self.gone.wait())
        await asyncio.wait({starting, gone}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if self.lost is not None:
            # Also where both came at once: a loss before `watch` is told by this alone.
            starting.cancel()
            await asyncio.wait({starting})
            raise self.failure("cannot be made ready", ConnectionResetError(self.lost))
        try:
            starting.result()
        except Exception as error:
            raise self.failure("cannot be made ready", error) from error
        self.host.heard = asyncio.get_running_loop().time()

    def watch(self):
        """From now on a loss is told."""
        self.opened = True
        self.watching.append(asyncio.ensure_future(self.watch_silence()))

    def complain(self, error):
        """What one of Bumble's listeners raised: something came that it does not expect. It is said once."""
        log.log(
            logging.INFO if self.complained else logging.ERROR,
            "%s: something was sent that fits nothing, and is left out: %s; see what is behind it",
            self.name, reason_of(error),
        )
        self.complained = True

    # Loss

    def lose(self, reason):
        if self.lost is None:
            self.lost = reason
            self.gone.set()
            if self.opened:
                asyncio.get_running_loop().call_soon(self.on_lost, reason)
            if self.host is not None:
                self.host.finish()
                # What waits for a link's end hears of it. Not all of Bumble's transports tell of a loss themselves.
                self.host.emit("flush")

    def silent(self, host, command):
        # One that was replaced waits for nothing.
        if host is self.host:
            unanswered = f"the controller does not answer {command} in {COMMAND} s"
            self.lose("what comes is not HCI" if self.garbage else unanswered)

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
                    log.error("%s: %s", self.name, NOT_HCI)
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
            host = self.host
            # The host itself tells of a command that is not answered.
            await self.try_out(host.send_sync_command(hci.HCI_Read_BD_ADDR_Command()), None)
            host.heard = loop.time()

    async def try_out(self, work, seconds=COMMAND):
        """Does what may fail. True if it was done."""
        if self.lost is not None:
            work.close()
            return False
        try:
            await (bounded(work, seconds) if seconds else work)
            return True
        except Exception as error:
            log.debug("%s: %r", self.name, error)
            return False

    async def close_transport(self):
        for task in self.watching:
            task.cancel()
        if self.host is not None:
            self.host.finish()
        if self.transport is None:
            return
        try:
            await asyncio.wait_for(self.transport.close(), 1)
        except Exception as error:
            log.debug("%s: closing: %r", self.name, error)
