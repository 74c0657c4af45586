"""What org.bluez answers: the same calls, made of bluetoothd and of Scripts/radio.

    contract.py --bus system|ADDRESS --of bluetoothd|bridge [--print]

devices/contract.yaml is on the air. Each line of the contract is a call, or what happened meanwhile, and the answer as
text: an error as NAME: MESSAGE, a property as NAME TYPE, signals in their order. What is expected of both is in
contract.yaml under `both`; where the two differ, under `differ`, what each of them says: a difference that is gone is
told as well. --print writes down what was found, for that file. Exit code 1: something is other than expected; 12: the
bus, the adapter or the device is not there.
"""

import argparse
import asyncio
import pathlib
import re
import sys

import yaml
from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

# Seconds that an answer or a signal is waited for; a guest of the lab shares its processors with builds.
BOUND = 60
ADDRESS = "F0:C0:00:00:00:01"
HCI0 = "/org/bluez/hci0"
DEVICE = f"{HCI0}/dev_{ADDRESS.replace(':', '_')}"
BLUEZ, DAEMON = "org.bluez", "org.freedesktop.DBus"
PROPERTIES, MANAGER = f"{DAEMON}.Properties", f"{DAEMON}.ObjectManager"
ADAPTER1, DEVICE1, AGENTS = f"{BLUEZ}.Adapter1", f"{BLUEZ}.Device1", f"{BLUEZ}.AgentManager1"
SERVICE1, CHARACTERISTIC1, DESCRIPTOR1 = (f"{BLUEZ}.Gatt{each}1" for each in ("Service", "Characteristic", "Descriptor"))
AGENT = "/contract/agent"
# Properties whose types clients rely on. Others come and go with bluetoothd's versions.
TYPES = {
    ADAPTER1: ("Address", "AddressType", "Name", "Alias", "Class", "Powered", "Discoverable", "Pairable", "Discovering",
               "UUIDs", "Roles"),
    DEVICE1: ("Address", "AddressType", "Name", "Alias", "Paired", "Trusted", "Blocked", "RSSI", "TxPower", "Connected",
              "UUIDs", "Adapter", "ServicesResolved"),
    SERVICE1: ("UUID", "Device", "Primary", "Includes"),
    CHARACTERISTIC1: ("UUID", "Service", "Value", "Notifying", "Flags", "MTU", "NotifyAcquired", "WriteAcquired"),
    DESCRIPTOR1: ("UUID", "Characteristic", "Value"),
}


class Absent(Exception):
    """What the contract is asked of is not there."""


class Client:
    """A client of the bus: it keeps the objects, and what happened, in order, as texts."""

    def __init__(self, bus):
        self.bus, self.objects, self.events, self.changed = bus, {}, [], asyncio.Event()
        bus.add_message_handler(self.hear)

    @staticmethod
    async def open(address):
        where = {"bus_type": BusType.SYSTEM} if address == "system" else {"bus_address": address}
        try:
            client = Client(await asyncio.wait_for(MessageBus(**where, negotiate_unix_fd=True).connect(), BOUND))
        except Exception as error:
            raise Absent(f"{address}: {error}; is there a bus?") from error
        await client.call("/org/freedesktop/DBus", DAEMON, "AddMatch", "s", f"type='signal',sender='{BLUEZ}'", to=DAEMON)
        answer = await client.send("/", MANAGER, "GetManagedObjects", "")
        if answer.message_type is MessageType.ERROR:
            raise Absent(f"org.bluez: {answer.body[0]}; is it running?")
        client.objects = answer.body[0]
        return client

    def hear(self, message):
        if message.message_type is MessageType.METHOD_CALL and message.path == AGENT:
            # Whatever the agent is asked, it agrees.
            self.note(AGENT, message.member)
            return Message.new_method_return(message)
        if message.message_type is not MessageType.SIGNAL:
            return None
        if message.member == "InterfacesAdded":
            path, there = message.body
            self.objects.setdefault(path, {}).update(there)
            self.note(path, *(f"added {short(each)}" for each in there if each.startswith(BLUEZ)))
        elif message.member == "InterfacesRemoved":
            path, names = message.body
            self.objects.pop(path, None)
            self.note(path, *(f"removed {short(each)}" for each in names if each.startswith(BLUEZ)))
        elif message.member == "PropertiesChanged":
            interface, values, gone = message.body
            there = self.objects.setdefault(message.path, {}).setdefault(interface, {})
            there.update(values)
            self.note(message.path, *(f"{name}={plain(each)}" for name, each in sorted(values.items())))
            for name in gone:
                there.pop(name, None)
            self.note(message.path, *(f"no {name}" for name in sorted(gone)))
        elif message.interface == DEVICE1:
            self.note(message.path, f"{message.member} {message.body[0] if message.body else ''}")
        return None

    def note(self, path, *texts):
        self.events += [(path, text) for text in texts]
        self.changed.set()

    async def until(self, condition, what):
        async def wait():
            while not condition():
                self.changed.clear()
                await self.changed.wait()
        try:
            await asyncio.wait_for(wait(), BOUND)
        except asyncio.TimeoutError:
            raise Absent(f"{what} did not come in {BOUND} s; the last signals: {self.events[-5:]}") from None

    async def send(self, path, interface, member, signature, *body, to=BLUEZ):
        return await asyncio.wait_for(self.bus.call(Message(
            destination=to, path=path, interface=interface, member=member, signature=signature, body=list(body)
        )), BOUND)

    async def call(self, path, interface, member, signature="", *body, to=BLUEZ):
        """The answer as text."""
        try:
            answer = await self.send(path, interface, member, signature, *body, to=to)
        except asyncio.TimeoutError:
            return f"no answer in {BOUND} s"
        if answer.message_type is MessageType.ERROR:
            # Where a program puts its own words for itself into a message of the D-Bus library, they end in a new line.
            return f"{answer.error_name}: {' '.join(str(answer.body[0]).split()) if answer.body else ''}"
        return "answered" + "".join(f" {plain(each)}" for each in answer.body)

    def since(self, start, *patterns, path=None):
        """Signals since a moment, in order, those alone that match; each once for a row of equal ones."""
        found = []
        for where, text in self.events[start:]:
            if path in (None, where) and any(re.match(each, text) for each in patterns) and text not in found[-1:]:
                found.append(text)
        return ", ".join(found) or "nothing"


def short(interface):
    return interface.rpartition(".")[2]


def plain(value):
    value = value.value if isinstance(value, Variant) else value
    if not isinstance(value, bytes):
        return str(value)
    return value.hex() or "empty" if len(value) <= 32 else f"{len(value)} octets, {value[:4].hex()}...{value[-4:].hex()}"


class Contract:
    def __init__(self, client):
        self.client, self.found = client, {}

    def tell(self, name, text):
        assert name not in self.found, name
        self.found[name] = text

    async def ask(self, name, path, interface, member, signature="", *body):
        self.tell(name, await self.client.call(path, interface, member, signature, *body))

    def types(self, name, path, interface):
        there = self.client.objects[path][interface]
        self.tell(name, ", ".join(
            f"{each} {there[each].signature if each in there else '-'}" for each in TYPES[interface]
        ))

    def attribute(self, interface, uuid):
        uuid = uuid if len(uuid) > 4 else f"0000{uuid}-0000-1000-8000-00805f9b34fb"
        return next(
            path for path, there in self.client.objects.items()
            if path.startswith(DEVICE) and interface in there and there[interface]["UUID"].value == uuid.lower()
        )

    async def play(self):
        await self.adapter()
        await self.discovery()
        await self.link()
        await self.values()
        await self.subscriptions()
        await self.end()
        await self.security()

    async def adapter(self):
        ask = self.ask
        if HCI0 not in self.client.objects:
            raise Absent(f"no {HCI0}")
        await self.client.call(HCI0, PROPERTIES, "Set", "ssv", ADAPTER1, "Powered", Variant("b", True))
        await self.client.until(lambda: self.client.objects[HCI0][ADAPTER1]["Powered"].value, "Powered")
        self.types("types of an adapter", HCI0, ADAPTER1)
        await ask("a method that there is not", HCI0, ADAPTER1, "Fly")
        await ask("an interface that there is not", HCI0, "org.bluez.Fly1", "Fly")
        await ask("an object that there is not", f"{HCI0}/dev_00_00_00_00_00_00", DEVICE1, "Connect")
        await ask("a method with another argument", HCI0, ADAPTER1, "RemoveDevice", "s", "x")
        await ask("getting a property that there is not", HCI0, PROPERTIES, "Get", "ss", ADAPTER1, "Wings")
        await ask("getting of an interface that there is not", HCI0, PROPERTIES, "GetAll", "s", "org.bluez.Fly1")
        await ask("setting what cannot be set", HCI0, PROPERTIES, "Set", "ssv", ADAPTER1, "Address", Variant("s", "x"))
        await ask("setting by another type", HCI0, PROPERTIES, "Set", "ssv", ADAPTER1, "Powered", Variant("s", "yes"))
        await ask("removing a device that there is not", HCI0, ADAPTER1, "RemoveDevice", "o", f"{HCI0}/dev_none")
        await ask("an agent of a capability that there is not", "/org/bluez", AGENTS, "RegisterAgent", "os", AGENT, "Wings")
        await ask("the default agent that there is not", "/org/bluez", AGENTS, "RequestDefaultAgent", "o", AGENT)
        await ask("an agent", "/org/bluez", AGENTS, "RegisterAgent", "os", AGENT, "KeyboardDisplay")
        await ask("a second agent", "/org/bluez", AGENTS, "RegisterAgent", "os", AGENT, "KeyboardDisplay")
        await ask("the default agent", "/org/bluez", AGENTS, "RequestDefaultAgent", "o", AGENT)
        await ask("the agent's end", "/org/bluez", AGENTS, "UnregisterAgent", "o", AGENT)
        await ask("the agent's end again", "/org/bluez", AGENTS, "UnregisterAgent", "o", AGENT)

    async def discovery(self):
        ask, client = self.ask, self.client
        await ask("an end of no discovery", HCI0, ADAPTER1, "StopDiscovery")
        for name, said in (
            ("a filter that there is not", {"Wings": Variant("b", True)}),
            ("a filter of another type", {"Transport": Variant("b", True)}),
            ("a transport that there is not", {"Transport": Variant("s", "air")}),
            ("a filter", {"Transport": Variant("s", "le"), "DuplicateData": Variant("b", True)}),
        ):
            await ask(name, HCI0, ADAPTER1, "SetDiscoveryFilter", "a{sv}", said)
        start = len(client.events)
        await ask("a discovery", HCI0, ADAPTER1, "StartDiscovery")
        await ask("a second one", HCI0, ADAPTER1, "StartDiscovery")
        await client.until(lambda: "RSSI" in client.objects.get(DEVICE, {}).get(DEVICE1, {}), f"the device {ADDRESS}")
        self.tell("signals of an adapter that begins", client.since(start, "Discovering", path=HCI0))
        self.types("types of a device", DEVICE, DEVICE1)
        heard = client.objects[DEVICE][DEVICE1]
        self.tell("a device that was heard", ", ".join(
            f"{name} {plain(heard[name])}" for name in ("Name", "Alias", "AddressType", "UUIDs", "TxPower", "Connected")
        ))
        await ask("an end of no link", DEVICE, DEVICE1, "Disconnect")
        await ask("an end of no pairing", DEVICE, DEVICE1, "CancelPairing")
        start = len(client.events)
        await ask("the discovery's end", HCI0, ADAPTER1, "StopDiscovery")
        await client.until(lambda: "RSSI" not in client.objects[DEVICE][DEVICE1], "the end of RSSI")
        self.tell("signals of a device at its end", client.since(start, "no ", path=DEVICE))
        await ask("the discovery's end again", HCI0, ADAPTER1, "StopDiscovery")

    async def link(self):
        ask, client = self.ask, self.client
        start = len(client.events)
        await ask("a link", DEVICE, DEVICE1, "Connect")
        await client.until(lambda: client.objects[DEVICE][DEVICE1]["ServicesResolved"].value, "ServicesResolved")
        self.tell("signals of a link, characteristics among them", client.since(start, "added GattC", "ServicesResolved"))
        # bluetoothd gives no signal of it where its socket of the link is told before that of the kernel's management.
        await ask("whether it is connected", DEVICE, PROPERTIES, "Get", "ss", DEVICE1, "Connected")
        await ask("a second link", DEVICE, DEVICE1, "Connect")
        self.types("types of a service", self.attribute(SERVICE1, "180d"), SERVICE1)
        for uuid in ("2a37", "2a38", "2a39", "2a3a"):
            path = self.attribute(CHARACTERISTIC1, uuid)
            self.types(f"types of {uuid}", path, CHARACTERISTIC1)
            self.tell(f"flags of {uuid}", plain(client.objects[path][CHARACTERISTIC1]["Flags"]))
        self.types("types of a descriptor", self.attribute(DESCRIPTOR1, "2901"), DESCRIPTOR1)

    async def values(self):
        client = self.client

        async def read(name, path, interface=CHARACTERISTIC1, **options):
            await self.ask(name, path, interface, "ReadValue", "a{sv}", options)

        async def write(name, path, value, interface=CHARACTERISTIC1, **options):
            await self.ask(name, path, interface, "WriteValue", "aya{sv}", bytes.fromhex(value), options)

        readable, writable, commands = (self.attribute(CHARACTERISTIC1, each) for each in ("2a38", "2a39", "2a3a"))
        start = len(client.events)
        await read("a read", readable)
        self.tell("signals of a read", client.since(start, "Value", path=readable))
        start = len(client.events)
        await read("the same again", readable)
        self.tell("signals of the same again", client.since(start, "Value", path=readable))
        await read("a read from an offset", readable, offset=Variant("q", 1))
        await read("a read from beyond the end", readable, offset=Variant("q", 9))
        await read("an offset of another type", readable, offset=Variant("s", "1"))
        await read("a read of what cannot be read", writable)
        await write("a write", writable, "07")
        await write("a write of a kind that there is not", writable, "07", type=Variant("s", "wings"))
        await write("a command to what takes requests", writable, "07", type=Variant("s", "command"))
        await write("a write to what can be read", readable, "07")
        await write("a request to what takes commands", commands, "07", type=Variant("s", "request"))
        await write("a command", commands, "07", type=Variant("s", "command"))
        await write("a command that is too long", commands, "07" * 600, type=Variant("s", "command"))
        refusing = self.attribute(CHARACTERISTIC1, "c2a9a501-8a2d-4b6e-9b43-5b0d6a8d0e11")
        for code in ("06", "07", "08", "0d", "0e", "11", "80", "fc"):
            await write(f"a write that is refused by {code}", refusing, code)
        long = self.attribute(CHARACTERISTIC1, "c2a9a503-8a2d-4b6e-9b43-5b0d6a8d0e11")
        await read("a long read", long)
        await write("a long write", long, bytes(range(200)).hex() + "ff" * 100)
        await read("what was written", long)
        description = self.attribute(DESCRIPTOR1, "2901")
        await read("a descriptor", description, DESCRIPTOR1)
        await write("a write to a descriptor", description, "07", DESCRIPTOR1)
        await write("a write to the client's configuration", self.attribute(DESCRIPTOR1, "2902"), "0100", DESCRIPTOR1)

    async def subscriptions(self):
        ask, client = self.ask, self.client
        notifying, readable = self.attribute(CHARACTERISTIC1, "2a37"), self.attribute(CHARACTERISTIC1, "2a38")
        await ask("a subscription to what notifies nothing", readable, CHARACTERISTIC1, "StartNotify")
        await ask("a socket of what notifies nothing", readable, CHARACTERISTIC1, "AcquireNotify", "a{sv}", {})
        await ask("an end of no subscription", notifying, CHARACTERISTIC1, "StopNotify")
        await ask("a socket for commands of what takes none", readable, CHARACTERISTIC1, "AcquireWrite", "a{sv}", {})
        start = len(client.events)
        await ask("a subscription", notifying, CHARACTERISTIC1, "StartNotify")
        await ask("a second subscription", notifying, CHARACTERISTIC1, "StartNotify")
        await ask("a socket beside it", notifying, CHARACTERISTIC1, "AcquireNotify", "a{sv}", {})
        await client.until(lambda: (notifying, "Value=02") in client.events[start:], "the last value")
        values = [text for path, text in client.events[start:] if path == notifying]
        self.tell("signals of a subscription, two values alike", ", ".join(values))
        start = len(client.events)
        await ask("the subscription's end", notifying, CHARACTERISTIC1, "StopNotify")
        await client.until(lambda: (notifying, "Notifying=False") in client.events[start:], "Notifying=False")
        self.tell("signals of the subscription's end", client.since(start, ".*", path=notifying))
        await ask("the subscription's end again", notifying, CHARACTERISTIC1, "StopNotify")

    async def end(self):
        client = self.client
        hangs_up = self.attribute(CHARACTERISTIC1, "c2a9a502-8a2d-4b6e-9b43-5b0d6a8d0e11")
        objects = [path for path in client.objects if path.startswith(f"{DEVICE}/service")]
        start = len(client.events)
        await client.call(hangs_up, CHARACTERISTIC1, "WriteValue", "aya{sv}", b"\0", {"type": Variant("s", "request")})
        await client.until(lambda: not any(path in client.objects for path in objects), "the attributes' end")
        for each in "Connected=False", "ServicesResolved=False":
            await client.until(lambda: (DEVICE, each) in client.events[start:], each)
        # Which of the two bluetoothd tells first depends on which of its sockets is told first.
        self.tell("signals of the link's end", client.since(
            start, "Connected", "ServicesResolved", "Disconnected", path=DEVICE
        ))
        self.tell("signals of its attributes' end", client.since(start, "removed GattC", "removed GattS"))
        await self.ask("a read after the link's end", hangs_up, CHARACTERISTIC1, "ReadValue", "a{sv}", {})
        start = len(client.events)
        await self.ask("removing a device", HCI0, ADAPTER1, "RemoveDevice", "o", DEVICE)
        await client.until(lambda: DEVICE not in client.objects, "the device's end")
        self.tell("signals of a device that is removed", client.since(start, "removed", path=DEVICE))


    async def security(self):
        """A device that is found again, whose attribute is for encrypted links, and an agent that can show nothing."""
        ask, client = self.ask, self.client
        for member, capability in ("RegisterAgent", ["NoInputNoOutput"]), ("RequestDefaultAgent", []):
            await client.call("/org/bluez", AGENTS, member, "os"[:1 + len(capability)], AGENT, *capability)
        await client.call(HCI0, ADAPTER1, "StartDiscovery")
        await client.until(lambda: DEVICE in client.objects, "the device, again")
        await client.call(HCI0, ADAPTER1, "StopDiscovery")
        await client.call(DEVICE, DEVICE1, "Connect")
        await client.until(lambda: client.objects[DEVICE][DEVICE1]["ServicesResolved"].value, "ServicesResolved")
        locked = self.attribute(CHARACTERISTIC1, "c2a9a504-8a2d-4b6e-9b43-5b0d6a8d0e11")
        start = len(client.events)
        await ask("a subscription that needs an encrypted link", locked, CHARACTERISTIC1, "StartNotify")
        self.tell("what it led to", client.since(start, "Paired", "Bonded", "Notifying"))
        self.tell("what the agent was asked", client.since(start, ".*", path=AGENT))
        await ask("a read that needs an encrypted link", locked, CHARACTERISTIC1, "ReadValue", "a{sv}", {})
        start = len(client.events)
        await ask("a link's end", DEVICE, DEVICE1, "Disconnect")
        # The signal, and not the property: bluetoothd does not always tell of the link's begin.
        await client.until(lambda: (DEVICE, "Connected=False") in client.events[start:], "the link's end")
        self.tell("signals of an end that was asked for", client.since(start, "Connected", "Disconnected", path=DEVICE))
        await client.call(HCI0, ADAPTER1, "RemoveDevice", "o", DEVICE)


def differences(found, known, who):
    """What is other than the file says, a line each."""
    both, differ = known["both"] or {}, known["differ"] or {}
    expected = {**both, **{name: each[who] for name, each in differ.items()}}
    for name in {**expected, **found}:
        if found.get(name) != expected.get(name):
            yield f"{name}\n  expected: {expected.get(name)}\n  found:    {found.get(name)}"
    for name, each in differ.items():
        if name in both or each["bridge"] == each["bluetoothd"]:
            yield f"{name}: it is no difference; have it under `both` alone"


async def ask(bus):
    client = await Client.open(bus)
    contract = Contract(client)
    await contract.play()
    return contract.found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bus", required=True, metavar="system|ADDRESS")
    parser.add_argument("--of", required=True, choices=("bluetoothd", "bridge"))
    parser.add_argument("--print", action="store_true", help="print what was found, and compare nothing")
    options = parser.parse_args()
    try:
        found = asyncio.run(ask(options.bus))
    except Absent as error:
        print(f"contract: {error}", file=sys.stderr)
        return 12
    if options.print:
        print(yaml.safe_dump(found, sort_keys=False, width=120), end="")
        return 0
    known = yaml.safe_load((pathlib.Path(__file__).parent / "contract.yaml").read_text())
    wrong = list(differences(found, known, options.of))
    print("\n".join(wrong + [f"contract of {options.of}: {len(found)} lines, {len(wrong)} other than expected"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
