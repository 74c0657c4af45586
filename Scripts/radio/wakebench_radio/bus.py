"""The side of org.bluez that is D-Bus: one connection, objects in a table, calls in and out, and clients that vanish.

Objects are plain Python: an `Interface` has a name, properties in their order and methods marked with `@exported`. The
library's own exports are not used: they announce objects at the wrong path and hide which client calls (read in
dbus-fast 5.2.0, message_bus.py).
"""

import array
import asyncio
import contextlib
import inspect
import logging
import os
import re
import socket

from dbus_fast import Message, MessageFlag, MessageType, NameFlag, RequestNameReply, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.aio.message_bus import _future_set_exception, _future_set_result, _MessageWriter
from dbus_fast.signature import get_signature_tree

log = logging.getLogger(__name__)

PROPERTIES = "org.freedesktop.DBus.Properties"
MANAGER = "org.freedesktop.DBus.ObjectManager"
INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
DAEMON = "org.freedesktop.DBus"
# The daemon does not read: as many messages wait before the connection is given up.
MOST_WAITING = 100_000
# Octets above which no further message is written with those before it.
MOST_AT_ONCE = 1 << 16
# Calls under way, of all clients; each takes some 4 KiB. More are refused.
MOST_CALLS = 8192
CHANGED = get_signature_tree("sa{sv}as")
OCTETS = get_signature_tree("ay")
LIBRARY_ERROR = "org.bluez.Error.Failed"


class Refused(Exception):
    """An error answer: a name, of which org.bluez.Error. is left out, and a message."""

    def __init__(self, name, text):
        super().__init__(text)
        self.name = name if "." in name else f"org.bluez.Error.{name}"
        self.text = text


class BusFailure(Exception):
    """The bus cannot be used. Its text says why."""


class WithDescriptors:
    """An answer that carries descriptors. The body holds their places; they are closed here once they are sent."""

    def __init__(self, body, descriptors):
        self.body, self.descriptors = body, descriptors


def close_descriptors(message):
    for descriptor in message.unix_fds:
        os.close(descriptor)


def no_method(message, kind):
    """What the D-Bus library of bluetoothd answers where nothing takes a call; a new line ends it there."""
    return Refused(
        f"org.freedesktop.DBus.Error.{kind}",
        f'Method "{message.member}" with signature "{message.signature}" on interface "{message.interface or "(null)"}"'
        " doesn't exist\n",
    )


def exported(takes="", gives=""):
    """Marks a method of an interface. Its name is the one on the bus; it gets the sender, then the arguments."""

    def mark(function):
        function.exported = takes, gives, inspect.iscoroutinefunction(function)
        return function

    return mark


class Interface:
    """One interface of one object. `properties()` says all that it has now, in order, as Variants."""

    interface = ""
    bus = path = None

    def properties(self):
        return {}

    # By property: the signature, and the method that sets it.
    writable = {}

    def before_get(self, name):
        """None, or a coroutine that gives the value of a property once it may be told."""
        return None

    def changed(self, *names, gone=()):
        """Tells of properties that have other values now, and of those that are gone."""
        if self.bus is None:
            return
        now = self.properties()
        self.bus.tell_changed(self, {name: now[name] for name in names if name in now}, list(gone))


class PatientWriter(_MessageWriter):
    """The library's writer, for a socket that is full: the library takes that for the end of the connection.

    Messages that wait are written together: a call of the kernel costs more than a message.
    """

    def __init__(self, bus):
        super().__init__(bus)
        self.futures = []
        # Whether messages wait for `release`, and whether they wait for the socket.
        self.held = self.waits = False

    def schedule_write(self, msg=None, future=None):
        if self.held and msg is not None:
            self.buffer_message(msg, future)
            return
        try:
            super().schedule_write(msg, future)
        except OSError:
            # What finds the end of the bus closes the socket, and the library would wait for room on it.
            if self.bus.connected:
                raise

    def release(self):
        self.held = False
        if not self.waits:
            self.write_callback(remove_writer=False)

    def take(self):
        """The next messages as one buffer. One with descriptors goes alone."""
        octets, self.unix_fds, future = self.messages.popleft()
        self.futures, parts, size = [future], [octets], len(octets)
        while not self.unix_fds and self.messages and not self.messages[0][1] and size < MOST_AT_ONCE:
            octets, _, future = self.messages.popleft()
            self.futures.append(future)
            parts.append(octets)
            size += len(octets)
        self.buf, self.offset = memoryview(b"".join(parts) if len(parts) > 1 else octets), 0

    def write_callback(self, remove_writer=True):
        try:
            while self.buf is not None or self.messages:
                if self.buf is None:
                    self.take()
                rest = self.buf[self.offset:]
                if self.unix_fds and self.negotiate_unix_fd:
                    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", self.unix_fds))]
                    self.offset += self.sock.sendmsg([rest], rights)
                    self.unix_fds = None
                else:
                    self.offset += self.sock.send(rest)
                if self.offset == len(self.buf):
                    self.buf = None
                    for each in self.futures:
                        _future_set_result(each, None)
            if self.waits or remove_writer:
                self.waits = False
                self.loop.remove_writer(self.fd)
        except (BlockingIOError, InterruptedError):
            self.waits = True
            self.loop.add_writer(self.fd, self.write_callback)
        except Exception as error:
            for each in self.futures:
                if self.bus._user_disconnect:
                    _future_set_result(each, None)
                else:
                    _future_set_exception(each, error)
            self.bus._finalize(error)


class Bus:
    """A connection to a bus, and the objects that are on it."""

    def __init__(self, address):
        self.address = address
        self.objects = {}
        self.tasks = set()
        # Called with the unique name of each client that is gone.
        self.vanished = []
        # By sender and path, the functions that get the signals from there; by serial, calls that wait:
        # (destination, function, timer).
        self.followers, self.asked = {}, {}
        self.closing = False
        self.gone = asyncio.get_running_loop().create_future()
        self.connection = None

    async def open(self):
        try:
            bus = MessageBus(bus_address=self.address, negotiate_unix_fd=True, auth_timeout=5)
            self.connection = await asyncio.wait_for(bus.connect(), 10)
        except Exception as error:
            raise BusFailure(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from error
        self.connection._writer = PatientWriter(self.connection)
        self.connection.add_message_handler(self.handle)
        self.start(self.watch())
        # Of each client that goes, from the beginning: a rule a client would come late for one that is gone at once.
        await self.call(
            DAEMON, "/org/freedesktop/DBus", DAEMON, "AddMatch", "s",
            [f"type='signal',sender='{DAEMON}',interface='{DAEMON}',member='NameOwnerChanged',arg2=''"],
        )

    async def watch(self):
        try:
            await self.connection.wait_for_disconnect()
        except Exception:
            pass
        if not self.gone.done():
            self.gone.set_result(None)

    async def own(self, name):
        if await self.connection.request_name(name, NameFlag.DO_NOT_QUEUE) != RequestNameReply.PRIMARY_OWNER:
            raise BusFailure(f"{name} has another owner there; end it, or use another bus")

    def close(self):
        self.closing = True
        for task in self.tasks:
            task.cancel()
        if self.usable:
            self.connection.disconnect()

    @property
    def usable(self):
        return self.connection is not None and self.connection.connected and not self.gone.done()

    def start(self, work):
        """Runs a coroutine on the side. What it raises is logged."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)

        def ended(task):
            self.tasks.discard(task)
            if not task.cancelled() and task.exception():
                log.error("a task failed: %r", task.exception(), exc_info=task.exception())

        task.add_done_callback(ended)
        return task

    # Objects

    def add(self, path, *interfaces):
        """Puts interfaces on an object, and tells of them."""
        there = self.objects.setdefault(path, {})
        for each in interfaces:
            each.bus, each.path = self, path
            there[each.interface] = each
        self.emit("/", MANAGER, "InterfacesAdded", "oa{sa{sv}}",
                  [path, {each.interface: each.properties() for each in interfaces}])

    def remove(self, path):
        """Takes an object away with all its interfaces, and tells of that."""
        there = self.objects.pop(path, None)
        if there is None:
            return
        for each in there.values():
            each.bus = None
        self.emit("/", MANAGER, "InterfacesRemoved", "oas", [path, list(there)])

    def tell_changed(self, interface, values, gone=()):
        if values or gone:
            self.emit(interface.path, PROPERTIES, "PropertiesChanged", CHANGED,
                      [interface.interface, values, list(gone)])

    def tell_value(self, interface, value):
        """The one change that comes often: a characteristic's value."""
        if interface.bus is None:
            return
        self.send(
            Message(
                path=interface.path, interface=PROPERTIES, member="PropertiesChanged", message_type=MessageType.SIGNAL,
                signature=CHANGED, body=[interface.interface, {"Value": Variant(OCTETS, value, False)}, []],
                validate=False,
            )
        )

    @contextlib.contextmanager
    def together(self):
        """What is sent within is written at its end, at once."""
        writer = self.connection._writer
        writer.held = True
        try:
            yield
        finally:
            if self.usable:
                writer.release()

    def emit(self, path, interface, member, signature="", body=()):
        self.send(
            Message(
                path=path, interface=interface, member=member, message_type=MessageType.SIGNAL, signature=signature,
                body=list(body),
            )
        )

    # Messages out

    def send(self, message):
        if not self.usable:
            return None
        if len(self.connection._writer.messages) > MOST_WAITING:
            if not self.gone.done():
                self.gone.set_result("the bus does not read")
            return None
        sent = self.connection.send(message)
        sent.add_done_callback(lambda future: future.cancelled() or future.exception())
        return sent

    async def call(self, destination, path, interface, member, signature="", body=(), descriptors=(), seconds=10):
        """Calls a method of another connection. Returns the answer's message; an error answer is raised as Refused."""
        if not self.usable:
            raise Refused("org.freedesktop.DBus.Error.Disconnected", "the bus is gone")
        message = Message(
            destination=destination, path=path, interface=interface, member=member, signature=signature,
            body=list(body), unix_fds=list(descriptors),
        )
        try:
            answer = await asyncio.wait_for(self.connection.call(message), seconds)
        except asyncio.TimeoutError:
            raise Refused("org.freedesktop.DBus.Error.NoReply", f"{member} was not answered in {seconds} s") from None
        except (EOFError, OSError) as error:
            raise Refused("org.freedesktop.DBus.Error.Disconnected", f"the bus is gone: {error}") from error
        if answer.message_type is MessageType.ERROR:
            raise Refused(answer.error_name, str(answer.body[0]) if answer.body else "")
        return answer

    def ask(self, destination, path, interface, member, signature, body, on_answer, seconds):
        """Calls a method of another connection, whose answer must keep its place among other messages.

        `on_answer(message, refusal)` gets the answer, or a Refused, before any later message is looked at. It takes the
        descriptors out of `message.unix_fds` that it keeps.
        """
        if not self.usable:
            on_answer(None, Refused("org.freedesktop.DBus.Error.Disconnected", "the bus is gone"))
            return
        message = Message(
            destination=destination, path=path, interface=interface, member=member, signature=signature, body=body,
            serial=self.connection.next_serial(),
        )

        def expire():
            del self.asked[message.serial]
            on_answer(None, Refused("org.freedesktop.DBus.Error.NoReply", f"{member} was not answered in {seconds} s"))

        timer = asyncio.get_running_loop().call_later(seconds, expire)
        self.asked[message.serial] = destination, on_answer, timer
        self.send(message)

    def follow(self, sender, path, on_signal):
        """`on_signal(message)` gets each signal of an object of another connection. See `match`."""
        self.followers.setdefault((sender, path), []).append(on_signal)

    def unfollow(self, sender, path, on_signal):
        there = self.followers.get((sender, path), [])
        if on_signal in there:
            there.remove(on_signal)
        if not there:
            self.followers.pop((sender, path), None)

    async def match(self, sender, root, on):
        """Has the daemon pass the signals of objects at and below a path on, or no longer."""
        await self.call(
            DAEMON, "/org/freedesktop/DBus", DAEMON, "AddMatch" if on else "RemoveMatch", "s",
            [f"type='signal',sender='{sender}',path_namespace='{root}'"],
        )

    # Messages in

    def handle(self, message):
        """Returns the answer to a message, True where one follows, or None where the library answers."""
        if message.message_type in (MessageType.METHOD_RETURN, MessageType.ERROR):
            self.answered(message)
            return None
        # Nothing here takes one, and the library leaves them open.
        close_descriptors(message)
        if message.message_type is MessageType.SIGNAL:
            if message.sender == DAEMON and message.member == "NameOwnerChanged":
                self.owner_changed(*message.body)
            for tell in list(self.followers.get((message.sender, message.path), ())):
                try:
                    tell(message)
                except Exception:
                    log.exception("a signal of %s failed", message.path)
            return None
        if message.message_type is not MessageType.METHOD_CALL or message.interface == "org.freedesktop.DBus.Peer":
            return None
        try:
            return self.dispatch(message)
        except Refused as refusal:
            return self.refuse(message, refusal)
        except Exception as error:
            log.exception("%s.%s failed", message.interface, message.member)
            return self.refuse(message, Refused("Failed", f"{type(error).__name__}: {error}"))

    def answered(self, message):
        destination, on_answer, timer = self.asked.get(message.reply_serial, (None, None, None))
        if on_answer is not None and message.sender in (destination, DAEMON):
            del self.asked[message.reply_serial]
            timer.cancel()
            refusal = None
            if message.message_type is MessageType.ERROR:
                refusal = Refused(message.error_name, str(message.body[0]) if message.body else "")
            try:
                on_answer(message, refusal)
            except Exception:
                log.exception("an answer of %s failed", message.sender)
        close_descriptors(message)

    def owner_changed(self, name, _, new):
        if name.startswith(":") and not new:
            for tell in list(self.vanished):
                try:
                    tell(name)
                except Exception:
                    log.exception("forgetting %s failed", name)

    def dispatch(self, message):
        if self.closing:
            raise Refused("NotReady", "Resource Not Ready")
        if message.interface == MANAGER and message.path == "/" and message.member == "GetManagedObjects":
            managed = {
                path: {name: each.properties() for name, each in there.items()} for path, there in self.objects.items()
            }
            return self.answer(message, "a{oa{sa{sv}}}", [managed])
        if message.interface == INTROSPECTABLE and message.member == "Introspect":
            return self.answer(message, "s", [self.introspection(message.path)])
        there = self.objects.get(message.path)
        if there is None:
            raise no_method(message, "UnknownObject")
        if message.interface == PROPERTIES:
            return self.properties_call(message, there)
        places = [there.get(message.interface)] if message.interface else list(there.values())
        for each in places:
            method = getattr(each, message.member, None) if each is not None else None
            if marks := getattr(method, "exported", None):
                takes, gives, later = marks
                if message.signature != takes:
                    break
                if later:
                    self.check_room()
                    self.start(self.answer_later(message, gives, method(message.sender, *message.body)))
                    return True
                return self.answer(message, gives, method(message.sender, *message.body))
        raise no_method(message, "UnknownMethod")

    def check_room(self):
        if len(self.tasks) >= MOST_CALLS:
            raise Refused("org.freedesktop.DBus.Error.LimitsExceeded", "too many calls are under way; wait for answers")

    def properties_call(self, message, there):
        expected = {"Get": "ss", "GetAll": "s", "Set": "ssv"}.get(message.member)
        if expected is None:
            raise no_method(message, "UnknownMethod")
        if expected != message.signature:
            raise Refused("org.freedesktop.DBus.Error.InvalidArgs", f"{message.member} takes {expected}")
        each = there.get(message.body[0])
        if each is None:
            raise Refused("org.freedesktop.DBus.Error.InvalidArgs", f"No such interface '{message.body[0]}'")
        values = each.properties()
        if message.member == "GetAll":
            return self.answer(message, "a{sv}", [values])
        name = message.body[1]
        if message.member == "Get":
            if name not in values:
                raise Refused("org.freedesktop.DBus.Error.InvalidArgs", f"No such property '{name}'")
            if (waiting := each.before_get(name)) is not None:
                self.start(self.answer_later(message, "v", waiting))
                return True
            return self.answer(message, "v", [values[name]])
        if name not in each.writable:
            raise Refused("org.freedesktop.DBus.Error.PropertyReadOnly", f"Property '{name}' is not writable")
        signature, setter = each.writable[name]
        value = message.body[2]
        if value.signature != signature:
            raise Refused("org.freedesktop.DBus.Error.InvalidSignature", f"Invalid signature for '{name}'")
        self.check_room()
        setting = getattr(each, setter)(value.value)
        if inspect.isawaitable(setting):
            self.start(self.answer_later(message, "", setting))
            return True
        return self.answer(message, "", None)

    async def answer_later(self, message, gives, work):
        try:
            answer = self.answer(message, gives, await work)
        except Refused as refusal:
            answer = self.refuse(message, refusal)
        except asyncio.CancelledError:
            if self.closing:
                raise
            answer = self.refuse(message, Refused("Failed", "the call was given up"))
        except Exception as error:
            log.exception("%s.%s failed", message.interface, message.member)
            answer = self.refuse(message, Refused("Failed", f"{type(error).__name__}: {error}"))
        if answer is not True:
            self.send(answer)

    def answer(self, message, gives, result):
        """A method's answer. With descriptors it is sent here, since they are closed once they are sent."""
        if isinstance(result, WithDescriptors):
            answer = Message.new_method_return(message, gives, result.body, result.descriptors)
            sent = self.send(answer)

            def close(_):
                for descriptor in result.descriptors:
                    os.close(descriptor)

            if sent is None:
                close(None)
            else:
                sent.add_done_callback(close)
            return True
        body = [] if result is None else result if isinstance(result, list) else [result]
        if message.flags & MessageFlag.NO_REPLY_EXPECTED:
            return True
        answer = Message.new_method_return(message, gives, body)
        # What cannot be written would otherwise never be answered.
        answer._marshall(False)
        return answer

    def refuse(self, message, refusal):
        if message.flags & MessageFlag.NO_REPLY_EXPECTED:
            return True
        name = refusal.name if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", refusal.name) else LIBRARY_ERROR
        return Message.new_error(message, name, refusal.text.replace("\0", ""))

    def introspection(self, path):
        """What busctl and d-feet show of an object: its interfaces, and the names of what is below it."""
        # Neither names nor signatures have letters that XML would want escaped.
        said = ["<node>"]
        for name, each in self.objects.get(path, {}).items():
            said.append(f'<interface name="{name}">')
            for member in dir(each):
                if marks := getattr(getattr(type(each), member, None), "exported", None):
                    arguments = "".join(
                        f'<arg type="{each.signature}" direction="{direction}"/>'
                        for direction, signature in (("in", marks[0]), ("out", marks[1]))
                        for each in get_signature_tree(signature).types
                    )
                    said.append(f'<method name="{member}">{arguments}</method>')
            for member, value in each.properties().items():
                access = "readwrite" if member in each.writable else "read"
                said.append(f'<property name="{member}" type="{value.signature}" access="{access}"/>')
            said.append("</interface>")
        if path == "/":
            said.append(f'<interface name="{MANAGER}"/>')
        below = path.rstrip("/") + "/"
        for name in sorted({each[len(below):].split("/")[0] for each in self.objects if each.startswith(below)}):
            said.append(f'<node name="{name}"/>')
        return "".join(said) + "</node>"
