"""The plays of Scripts/air: what each needs on the air, does, and proves."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import socket

from world import RADIO, ROOT, Failed, Missing, program, python

SCENARIOS, DEVICES = "Devices/Scenarios", "Devices/Bluetooth"
LAB, HERE = "Scripts/lab.d", "Scripts/air.d"
# The requirements of bleak and of RootCanal.
CLIENTS = f"{HERE}/requirements.txt"


class Play:
    """One play.

    name:     what it is called; of a scenario its own name, unless `scenario` says that
    work:     awaited with the world and this
    seconds:  what it takes, for the order
    lab:      the job of the lab that plays the like on bluetoothd, or None
    proves:   in a line
    limit:    seconds after which it is ended
    words:    options of its run
    """

    def __init__(self, name, work, seconds, lab=None, proves="", device=None, limit=240, words=(), scenario=None):
        self.name, self.work, self.seconds, self.lab, self.proves = name, work, seconds, lab, proves
        self.device, self.limit, self.words = device, limit, words
        self.scenario = f"{SCENARIOS}/{scenario or name}.yaml"


async def equal(world, play):
    """A scenario of Devices has the verdicts and values of a simulated run."""
    await world.simulate(play.scenario)
    await world.devices(f"{DEVICES}/{play.device}.yaml")
    await world.went_well(await world.run(play.scenario, *play.words))
    await world.same()


async def demo(world, play):
    """The run writes down its own adapter's traffic, and a device made of that is like the belt."""
    await equal(world, play)
    same_values(world, "simulated", "run")
    made = await world.bench("import", "import", world.out / "run/hci.btsnoop", "-o", world.out / "captured.yaml")
    if code := await made.code():
        raise Failed(f"wakebench import ended with {code}")
    await like_the_belt(world, "captured", "run")
    await traced(world)
    why = await world.bench("why", "why", "com.example.heartrate", "--run", world.out / "run")
    if code := await why.code():
        raise Failed(f"wakebench why ended with {code}")


def same_values(world, one, other):
    of_one, of_other = world.values(one), world.values(other)
    if of_one != of_other or not of_other:
        raise Failed(f"values of the run {one}: {of_one}; of {other}: {of_other}")


async def like_the_belt(world, name, run):
    """A device file in the folder, NAME.yaml, does in the belt's scenario what the belt did in a run."""
    text = (ROOT / SCENARIOS / "heart-rate-belt.yaml").read_text()
    scenario = world.out / f"{name}-scenario.yaml"
    scenario.write_text(text.replace("../Bluetooth/heart-rate-belt.yaml", f"{name}.yaml"))
    await world.simulate(scenario, f"simulated-{name}")
    await world.same(f"simulated-{name}", run)
    same_values(world, f"simulated-{name}", run)


async def traced(world):
    """Of the run's captures tshark reads each packet, and each value that the run decided about, once."""
    if not shutil.which("tshark"):
        raise Missing("no tshark; install the package tshark")
    log = (world.out / "run/decisions.ndjson").read_text()
    decided = log.count('"kind":"characteristic-notified"')
    for form in "btsnoop", "pcapng":
        for wanted, filter in (0, "_ws.malformed || _ws.expert.severity >= 6291456"), (decided, "btatt.opcode == 0x1b"):
            read = await world.begin(f"tshark-{form}-{wanted}", "tshark", "-r", world.out / f"run/hci.{form}", "-Y", filter)
            await read.code()
            # As root it says first that it should not be.
            if (found := read.count("^ *[0-9]+ ")) != wanted:
                raise Failed(f"tshark finds {found} packets of hci.{form} with {filter}, and not {wanted}")


async def desk_beacon(world, play):
    """The beacon's timetable begins once the app has it watched."""
    await world.simulate(play.scenario)
    await world.link(2)
    run = await world.run(play.scenario)
    await run.said("monitoring-started desk")
    await world.devices(f"{DEVICES}/desk-beacon.yaml", hci=world.transport(1))
    await world.went_well(run)
    await world.same()


async def absent_belt(world, play):
    devices = await world.devices(f"{DEVICES}/steady-belt.yaml=belt", f"{HERE}/devices/staying-beacon.yaml=beacon")
    run = await world.run(f"{HERE}/scenarios/beacon-and-absent-belt.yaml")
    await run.said("region-entered desk")
    await devices.order("belt: leave")
    await world.went_well(run)


async def hang_up(world, play):
    """The app writes again as soon as a write is answered, and the device hangs up in the middle of that."""
    app = world.out / "apps/Writer.app"
    shutil.copytree(ROOT / LAB / "bundles/Writer", app)
    script = app / "writer"
    script.write_text(script.read_text().replace("PROGRAM", program("BluetoothApp")))
    device = await world.devices(f"{LAB}/devices/writable.yaml")
    run = await world.run(f"{HERE}/scenarios/hang-up.yaml", apps=app.parent)
    await run.said("value-written", 3)
    await device.order("disconnect")
    await world.went_well(run)


async def bridge_restarts(world, play):
    """The run's org.bluez is killed without notice, as bluetoothd is in the lab, and the run starts it again."""
    await world.devices(f"{DEVICES}/steady-belt.yaml")
    run = await world.run(f"{HERE}/scenarios/service-again.yaml")
    await run.said("characteristic-notified", 2)
    os.kill(world.bridge_of(run), signal.SIGKILL)
    await run.said("the radio's program was ended by signal 9: .*; it is started again each time")
    await run.said("the radio's program is there again")
    await world.went_well(run)


async def bridge_stops(world, play):
    """The run's org.bluez stands still for three values: they come late, and none is lost."""
    devices = await world.devices(f"{DEVICES}/steady-belt.yaml")
    run = await world.run(f"{HERE}/scenarios/steady-service.yaml")
    await run.said("characteristic-notified", 2)
    bridge = world.bridge_of(run)
    os.kill(bridge, signal.SIGSTOP)
    await devices.said(" notified ", devices.count(" notified ") + 3)
    os.kill(bridge, signal.SIGCONT)
    await world.went_well(run)
    values = [int(value.removeprefix("value="), 16) for value in world.values("run")]
    if values != list(range(values[0], values[0] + len(values))):
        raise Failed(f"values are missing: {values}")


async def device_vanishes(world, play):
    """The device's program is killed: its controller ends the link as after a supervision timeout."""
    await world.link(2)
    device = await world.devices(f"{DEVICES}/steady-belt.yaml", name="first", hci=world.transport(1))
    run = await world.run(f"{HERE}/scenarios/service-again.yaml")
    await run.said("characteristic-notified", 2)
    await device.end(signal.SIGKILL)
    await run.said("peripheral-disconnected belt")
    await world.devices(f"{DEVICES}/steady-belt.yaml", name="second", hci=world.transport(1))
    await world.went_well(run)


async def transport_closes(world, play):
    """The controllers are gone with all of the air, as a dongle that is unplugged, and come back."""
    await world.link(2)
    await world.devices(f"{DEVICES}/steady-belt.yaml", name="first", hci=world.transport(1))
    run = await world.run(f"{HERE}/scenarios/service-again.yaml")
    await run.said("characteristic-notified", 2)
    await world.processes[0].end(signal.SIGKILL)
    await run.said("peripheral-disconnected belt")
    await run.said("bluetooth=hci: the adapter is gone; ")
    await world.link(2)
    await world.devices(f"{DEVICES}/steady-belt.yaml", name="second", hci=world.transport(1))
    await world.went_well(run)


async def garbage(world, play):
    """In mid-stream come octets that are no packet, an event that is none, and data of a link that is not there."""
    await world.link(2)
    await world.devices(f"{DEVICES}/steady-belt.yaml", hci=world.transport(1))
    async with between(world, 0) as (transport, say):
        world.others = [transport, world.transport(1)]
        run = await world.run(f"{HERE}/scenarios/steady-service.yaml")
        await run.said("characteristic-notified", 2)
        say(bytes(range(0x20, 0x60)) + bytes.fromhex("04ff03000102 02ff0e0700 0300 0400 1b0b00"))
        await run.said("bluetooth=hci: .*what comes is not HCI")
        await world.went_well(run)


@contextlib.asynccontextmanager
async def between(world, index):
    """A transport that passes on what goes between a host and a controller, and what says something to the host."""
    controller, path = world.transport(index).removeprefix("unix:"), str(world.sockets / f"between-{index}")
    hosts = []

    async def pass_on(reader, writer):
        with contextlib.suppress(ConnectionError):
            while octets := await reader.read(4096):
                writer.write(octets)
                await writer.drain()
        writer.close()

    async def taken(reader, writer):
        far_reader, far_writer = await asyncio.open_unix_connection(controller)
        hosts.append(writer)
        await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))

    server = await asyncio.start_unix_server(taken, path)
    try:
        yield f"unix:{path}", lambda octets: hosts[-1].write(octets)
    finally:
        server.close()


async def ends_with(process, wanted, *texts, seconds=120):
    """A process ends with an exit code, and has said these texts."""
    if (code := await process.code(seconds)) != wanted:
        raise Failed(f"{process.name} ended with {code}, not {wanted}")
    said = "\n".join(process.lines)
    if absent := [each for each in texts if each not in said]:
        raise Failed(f"{process.name} does not say: {', '.join(absent)}")


async def device_check(world, play):
    async def check(wanted, name, target, within, *texts):
        await ends_with(await world.on_hci(name, "device", "check", "--live", target, "--within", within), wanted, *texts)

    await check(12, "without-a-controller", "Lamp", "5s", "start what listens there first")
    await world.devices(f"{DEVICES}/heart-rate-belt.yaml=belt", f"{HERE}/devices/bad-lamp.yaml=lamp")
    await check(3, "not-heard", "F0:00:00:00:00:01", "3s", "(HR Belt)", "(Lamp; 2)")
    await check(0, "good-belt", "HR Belt", "60s")
    guidelines = ("ADG-1", "ADG-2", "ADG-9", "ADG-10", "ADG-11", "GATT-1")
    await check(7, "bad-lamp", "F0:11:22:33:44:66", "60s", *(f": {each}: " for each in guidelines))


async def device_fuzz(world, play):
    """A healthy lamp survives; two die of long values, and how and of what is said."""
    lamp = f"{LAB}/devices/lamp.yaml"
    bugs = (
        "--local-name", "vanishing=Vanishing", "--address", "vanishing=F0:11:22:33:44:88", "--bug", "vanishing=vanish:100",
        "--local-name", "hanging=Hanging", "--address", "hanging=F0:11:22:33:44:99", "--bug", "hanging=hang:100",
    )
    await world.devices(f"{lamp}=healthy", f"{lamp}=vanishing", f"{lamp}=hanging", words=bugs)

    async def fuzz(wanted, name, target, time, *texts):
        words = ("--for", time, "--within", "60s", "--seed", "7", "--writes", "all", "-o", world.out / f"fuzz-{name}")
        process = await world.on_hci(name, "device", "fuzz", target, *words)
        await ends_with(process, wanted, *texts)
        return process

    healthy = await fuzz(0, "healthy", "Lamp", "8s", "it is there, and answers")
    if healthy.count("took one|link lost|no answer|another value"):
        raise Failed("something is found about a healthy lamp")
    await fuzz(7, "vanishing", "Vanishing", "30s", "it is gone from the air: lost with operation")
    texts = ("no answer in 30s to operation", "does not answer any more: lost with operation")
    await fuzz(7, "hanging", "Hanging", "30s", *texts)
    for bug in "vanishing", "hanging":
        length = json.loads((world.out / f"fuzz-{bug}/summary.json").read_text())["died_of"]["length"]
        if length < 100:
            raise Failed(f"{bug} died of {length} bytes, and is made to die of 100 or more")


async def record(world, play):
    """The belt is recorded, and a device made of that is like the belt."""
    await world.devices(f"{DEVICES}/heart-rate-belt.yaml")
    await ends_with(await world.on_hci("unnamed", "record", "ble", "-o", world.out / "unnamed.yaml"), 2, "name the device")
    words = ("-o", world.out / "recorded.yaml", "--capture", "btsnoop,pcapng", "--for", "46s")
    await ends_with(await world.on_hci("recorded", "record", "ble", "HR Belt", *words), 0)
    await world.simulate(f"{SCENARIOS}/heart-rate-belt.yaml")
    await like_the_belt(world, "recorded", "simulated")


async def peripheral(world, play):
    """A central does all that centrals do, with a service in the foreground and with one in the background."""
    reader = f"{LAB}/devices/reader.yaml"
    await world.link(2)
    await world.bridge()
    for place in "foreground", "background":
        words = [place] if place == "background" else []
        service = await world.begin(
            place, program("PeripheralEnd"), ROOT / reader, *words, DBUS_SYSTEM_BUS_ADDRESS=world.bus
        )
        await service.said("^advertising-started")
        central = await world.devices(f"{reader}=reader", name=f"central-{place}", hci=world.transport(1))
        if code := await central.code(60):
            raise Failed(f"the central ended with {code}")
        for pattern in (
            "connected", "service 180D 2A37 2A38 2A39 2A3A 2A3B", "read 2A38 01", "wrote 2A39 01", "read 2A3A 000102.*c5c6c7$",
            "wrote 2A3A 0102030405060708090a0b0c0d0e0f", "read 2A3A 0102030405060708090a0b0c0d0e0f$", "subscribed 2A37",
            "indicated 2A3B", "unsubscribed 2A37", "disconnected",
        ):
            await central.said(f"^reader: {pattern}")
        await central.said("^reader: notified 2A37", 3)
        if wrong := await service.end():
            raise Failed(wrong)


PHONE = """scenario: {phone}
devices: [{{file: {phone}-belt.yaml, name: belt}}]
apps:
  - scripted: com.acme.{phone}
    name: heart
    modes: [bluetooth-central]
    restore-identifier: heart
    uses: [{{device: belt, characteristic: 2A37}}]
    on: [{{event: any, work: 1s, then: end}}]
"""


class Phones:
    """The phones of one daemon, each with an app that follows a belt."""

    def __init__(self, world):
        self.world, self.state = world, world.out / "state"
        self.variables = {"WAKEBENCH_STATE": str(self.state), "WAKEBENCH_SOCKET": str(world.sockets / "control.sock")}
        # What follows the log of a phone, by its name.
        self.logs = {}

    async def ask(self, *words):
        """A command of wakebench, which must end with 0."""
        name = "-".join(word for word in map(str, words[:3]) if word.isalpha())
        asked = await self.world.bench(name, *words, **self.variables)
        if code := await asked.code(60):
            raise Failed(f"wakebench {' '.join(map(str, words))} ended with {code}: {asked.lines[-1:]}")
        return asked

    async def serve(self, name):
        daemon = await self.world.bench(name, "serve", **self.variables)
        await daemon.said("^serving ")
        return daemon

    async def make(self, phone, address, transport):
        """A phone that is booted, and whose app follows the belt at an address."""
        belt = (ROOT / DEVICES / "steady-belt.yaml").read_text().replace("F0:11:22:33:44:77", address)
        (self.world.out / f"{phone}-belt.yaml").write_text(belt)
        (self.world.out / f"{phone}.yaml").write_text(PHONE.format(phone=phone))
        words = ("--scenario", self.world.out / f"{phone}.yaml", "--backend", "bluetooth=hci", "--hci", transport)
        await self.ask("phone", "create", phone, *words)
        await self.ask("phone", "boot", phone)
        await self.ask("app", "launch", "heart", "-p", phone, "--no-wait")
        await self.follow(phone)

    async def follow(self, phone):
        """Follows the log of a phone until its daemon ends."""
        name = f"log-{phone}-{len(self.world.processes)}"
        self.logs[phone] = await self.world.bench(name, "log", self.state / "phones" / phone / "run", "--follow")

    async def goes_on(self, *phones):
        """Two values more than there are now come to each of these phones."""
        for phone in phones:
            log, value = self.logs[phone], '"kind":"characteristic-notified"'
            await log.said(value, log.count(value) + 2)


async def phones(world, play):
    """Two phones of one daemon have a controller each; a third shares controller and belt with the first."""
    await world.link(4)
    addresses = {"one": "F0:11:22:33:44:88", "two": "F0:11:22:33:44:99"}
    for place, (phone, address) in enumerate(addresses.items()):
        name = f"{phone}-belt"
        words = ("--local-name", f"{name}=Belt of {phone}", "--address", f"{name}={address}")
        await world.devices(f"{DEVICES}/steady-belt.yaml={name}", name=name, hci=world.transport(2 + place), words=words)
    phones = Phones(world)
    daemon = await phones.serve("daemon-1")
    for place, (phone, address) in enumerate(addresses.items()):
        await phones.make(phone, address, world.transport(place))
    await phones.goes_on("one", "two")
    await phones.ask("app", "home", "heart", "-p", "one", "--no-wait")
    await phones.ask("app", "wait", "heart", "suspended", "-p", "one", "--timeout", "60s")
    await phones.goes_on("one", "two")
    await phones.make("three", addresses["one"], world.transport(0))
    await phones.goes_on("one", "three")
    await phones.ask("phone", "shutdown", "three")
    await phones.goes_on("one", "two")
    await daemon.end(signal.SIGKILL)
    await phones.serve("daemon-2")
    for phone in addresses:
        await phones.follow(phone)
    await phones.goes_on("one", "two")
    for phone in addresses:
        await phones.ask("phone", "shutdown", phone)
        await phones.ask("run", "--from", phones.state / "phones" / phone / "run")


async def bleak(world, play):
    """A third program as the client of the bus, twice, with a bridge that is killed in between."""
    devices = await world.devices(f"{DEVICES}/heart-rate-belt.yaml")
    for turn, values in enumerate((["0048", "0049"], ["004a"]), 1):
        bridge = await world.bridge(f"bridge-{turn}")
        central = await world.begin(
            f"bleak-{turn}", python(CLIENTS), "-B", ROOT / LAB / "peers/bleak_central.py",
            "HR Belt", "2a37", len(values), DBUS_SYSTEM_BUS_ADDRESS=world.bus,
        )
        if (code := await central.code(120)) or central.lines != values:
            raise Failed(f"bleak ended with {code}, and was given {central.lines} in place of {values}")
        await devices.said("^heart-rate-belt: disconnected", turn)
        await bridge.end(signal.SIGKILL)


async def bumble_example(world, play):
    """Bumble's own heart-rate server is the device. Its values are random, so that nothing is compared."""
    scenario = ROOT / HERE / "scenarios/bumble-heart.yaml"
    example = await fetched(world)
    configuration = world.out / "bumble.json"
    configuration.write_text(json.dumps({"name": "Bumble", "address": "F0:F1:F2:F3:F4:F5", "advertising_interval": 100}))
    await world.link(2)
    await world.begin("heart_rate_server", python(), "-B", example, configuration, world.transport(1))
    await world.went_well(await world.run(scenario))


async def fetched(world):
    """An example of Bumble's, which its package for PyPI has in its sources alone; fetched once, of the version in use."""
    version = re.search("^bumble==(.*)$", (RADIO / "requirements.txt").read_text(), re.M)[1]
    folder = world.out.parent / f"bumble-{version}"
    example = folder / f"bumble-{version}/examples/heart_rate_server.py"
    if not example.exists():
        words = ("--quiet", "--no-deps", "--no-binary", "bumble", "--dest", folder, f"bumble=={version}")
        if await (await world.begin("pip", python(), "-m", "pip", "download", *words)).code():
            raise Missing(f"PyPI gives no sources of bumble {version}")
        await (await world.begin("tar", "tar", "-xzf", folder / f"bumble-{version}.tar.gz", "-C", folder)).code()
    return example


async def root_canal(world, play):
    """The controllers are those of RootCanal, Android's emulator: a connection to its port makes one."""
    with contextlib.ExitStack() as free:
        sockets = [free.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(4)]
        ports = [each.getsockname()[1] for each in sockets]
    words = [f"--{name}_port={port}" for name, port in zip(("test", "hci", "link", "link_ble"), ports)]
    controllers = await world.begin("rootcanal", python(CLIENTS), "-m", "rootcanal", *words)
    await controllers.said(f"Listening on: {ports[1]} ")
    world.others = [f"tcp-client:127.0.0.1:{ports[1]}"] * 2
    await world.simulate(play.scenario)
    await world.devices(f"{DEVICES}/{play.device}.yaml", hci=world.transport(1))
    await world.went_well(await world.run(play.scenario))
    await world.same()


async def contract(world, play):
    """The bridge answers a client of the bus as bluetoothd does, but in what is known."""
    devices = await world.devices(f"{HERE}/devices/contract.yaml")
    await world.bridge()
    asked = await world.begin(
        "contract", python(), "-B", ROOT / HERE / "contract.py", "--bus", world.bus, "--of", "bridge"
    )
    if await asked.code(120):
        raise Failed("\n".join(asked.lines))
    await devices.said("^contract: disconnected")


def scenario(name, device, seconds, lab=None, work=equal, proves="verdicts of a simulated run", words=()):
    return Play(name, work, seconds, lab, proves, device, words=words)


PLAYS = [
    scenario(
        "heart-rate-belt", "heart-rate-belt", 75, "capture", demo,
        "verdicts and all values, the answer of why, and what the run captures", ("--capture", "btsnoop,pcapng"),
    ),
    scenario("heart-rate-belt-force-quit", "heart-rate-belt", 39),
    scenario("heart-rate-belt-python", "heart-rate-belt", 47),
    scenario("two-apps-shared-belt", "heart-rate-belt", 47),
    scenario("two-apps-one-belt", "heart-rate-belt", 96),
    scenario("no-restore-identifier", "heart-rate-belt", 50),
    scenario("no-background-mode", "heart-rate-belt", 30),
    scenario("bluetooth-off", "heart-rate-belt", 50),
    scenario("steady-belt", "steady-belt", 72),
    scenario("scan-duplicates", "thermometer", 17),
    scenario("uart-echo", "nordic-uart", 6),
    scenario("glucose-records", "glucose-meter", 22),
    scenario("l2cap-logger", "l2cap-logger", 80, "wakebench"),
    scenario("l2cap-logger-waits", "l2cap-logger", 95),
    scenario("thermometer-peripheral", "thermometer-reader", 110, "wakebench"),
    scenario("desk-beacon", "desk-beacon", 85, None, desk_beacon),
    Play("beacon-and-absent-belt", absent_belt, 85, None, "a beacon is heard between attempts to connect"),
    Play("hang-up", hang_up, 12, "faults", "service again after a device hung up in mid-write"),
    Play("bridge-restarts", bridge_restarts, 16, "restarts", "service again after org.bluez was killed"),
    Play("bridge-stops", bridge_stops, 16, None, "no value is lost while org.bluez stands still"),
    Play("device-vanishes", device_vanishes, 16, "faults", "service again after the device's program was killed"),
    Play("transport-closes", transport_closes, 20, None, "service again after all controllers were gone"),
    Play("garbage", garbage, 20, None, "service goes on though a controller says what is no HCI, which is said"),
    Play("device-check", device_check, 10, None, "live checks of a good belt and of a bad lamp"),
    Play("device-fuzz", device_fuzz, 70, "device", "a healthy lamp survives, two die of what is said"),
    Play("record", record, 60, "record", "the belt recorded is like the belt"),
    Play("peripheral", peripheral, 20, "peripheral", "a central uses a service"),
    Play("phones", phones, 25, None, "phones of a daemon share a controller and a belt"),
    Play("bleak", bleak, 46, "bluetooth", "bleak is a client of the bridge, before and after it was killed"),
    Play("bumble-heart", bumble_example, 30, None, "an example of Bumble's is a device"),
    Play(
        "root-canal", root_canal, 30, None, "a scenario with an encrypted link on RootCanal's controllers", "glucose-meter",
        scenario="glucose-records",
    ),
    Play("contract", contract, 6, "bluetooth", "calls and signals are answered as by bluetoothd"),
]
