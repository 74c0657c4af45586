"""The plays of Scripts/air: what each needs on the air, does, and proves."""

import json
import re
import shutil
import signal

from world import BESIDE, RADIO, ROOT, Failed, Missing, World, program, python

SCENARIOS, DEVICES = "Devices/Scenarios", "Devices/Bluetooth"
LAB, HERE = "Scripts/lab.d", "Scripts/air.d"


class Play:
    """One play.

    name:     what it is called; of a scenario its own name
    work:     awaited with the world and this
    seconds:  what it takes, for the order
    lab:      the job of the lab that plays the same on bluetoothd, or None
    proves:   in a line
    waits:    what is not there yet, so that it is played by its name alone; nothing for the others
    limit:    seconds after which it is ended
    """

    def __init__(self, name, work, seconds, lab=None, proves="", waits="", device=None, limit=240):
        self.name, self.work, self.seconds, self.lab, self.proves = name, work, seconds, lab, proves
        self.waits, self.device, self.limit = waits, device, limit
        self.scenario = f"{SCENARIOS}/{name}.yaml"


async def on_air(world, *devices):
    """The devices, and the bridge beside them."""
    made = await world.devices(*devices)
    await world.bridge()
    return made


async def for_run(world, *devices):
    """The same for a run, which may have a bridge of its own."""
    return await (on_air if BESIDE else World.devices)(world, *devices)


async def equal(world, play):
    """A scenario of Devices has the verdicts and values of a simulated run."""
    await world.simulate(play.scenario)
    await for_run(world, f"{DEVICES}/{play.device}.yaml")
    await world.went_well(await world.run(play.scenario))
    await world.same()


async def demo(world, play):
    await equal(world, play)
    simulated, real = world.values("simulated"), world.values("run")
    if simulated != real or not real:
        raise Failed(f"values of the simulated run: {simulated}; on the air: {real}")
    why = await world.bench("why", "why", "com.example.heartrate", "--run", world.out / "run")
    if code := await why.code():
        raise Failed(f"wakebench why ended with {code}")


async def desk_beacon(world, play):
    """The beacon's timetable begins once the app has it watched."""
    await world.simulate(play.scenario)
    await world.link(2)
    if BESIDE:
        await world.bridge()
    run = await world.run(play.scenario)
    await run.said("monitoring-started desk")
    await world.devices(f"{DEVICES}/desk-beacon.yaml", hci=[world.transport(1)])
    await world.went_well(run)
    await world.same()


async def absent_belt(world, play):
    devices = await for_run(world, f"{DEVICES}/steady-belt.yaml=belt", f"{LAB}/devices/staying-beacon.yaml=beacon")
    run = await world.run(f"{LAB}/scenarios/beacon-and-absent-belt.yaml")
    await run.said("region-entered desk")
    await devices.order("belt: leave")
    await world.went_well(run)


async def hang_up(world, play):
    """The app writes again as soon as a write is answered, and the device hangs up in the middle of that."""
    app = world.out / "apps/Writer.app"
    shutil.copytree(ROOT / LAB / "bundles/Writer", app)
    script = app / "writer"
    script.write_text(script.read_text().replace("PROGRAM", program("BluetoothApp")))
    device = await for_run(world, f"{LAB}/devices/writable.yaml")
    run = await world.run(f"{HERE}/scenarios/hang-up.yaml", apps=app.parent)
    await run.said("value-written", 3)
    await device.order("disconnect")
    await world.went_well(run)


async def bridge_restarts(world, play):
    """The bridge is killed without notice, as bluetoothd is in the lab, and comes again."""
    await world.devices(f"{DEVICES}/steady-belt.yaml")
    first = await world.bridge()
    run = await world.run(f"{HERE}/scenarios/bridge-restarts.yaml", beside=True)
    await run.said("characteristic-notified", 2)
    await first.end(signal.SIGKILL)
    await world.bridge("bridge-again")
    await world.went_well(run)


async def device_check(world, play):
    async def ends_with(wanted, name, target, within, *texts):
        check = await world.bench(name, "device", "check", "--live", target, "--within", within)
        if (code := await check.code()) != wanted:
            raise Failed(f"{name} ended with {code}, not {wanted}")
        said = "\n".join(check.lines)
        if absent := [each for each in texts if each not in said]:
            raise Failed(f"{name} does not say: {', '.join(absent)}")

    await ends_with(12, "without-bluetooth", "Lamp", "5s")
    await on_air(world, f"{DEVICES}/heart-rate-belt.yaml=belt", f"{LAB}/devices/bad-lamp.yaml=lamp")
    await ends_with(3, "not-heard", "F0:00:00:00:00:01", "3s", "(HR Belt)", "(Lamp; 2)")
    await ends_with(0, "good-belt", "HR Belt", "60s")
    guidelines = ("ADG-1", "ADG-2", "ADG-9", "ADG-10", "ADG-11", "GATT-1")
    await ends_with(7, "bad-lamp", "F0:11:22:33:44:66", "60s", *(f": {each}: " for each in guidelines))


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
        central = await world.devices(f"{reader}=reader", name=f"central-{place}", hci=[world.transport(1)])
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


async def bleak(world, play):
    """A third program as the client of the bus, twice, with a bridge that is killed in between."""
    devices = await world.devices(f"{DEVICES}/heart-rate-belt.yaml")
    for turn, values in enumerate((["0048", "0049"], ["004a"]), 1):
        bridge = await world.bridge(f"bridge-{turn}")
        central = await world.begin(
            f"bleak-{turn}", python(f"{HERE}/requirements.txt"), "-B", ROOT / LAB / "peers/bleak_central.py",
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
    if BESIDE:
        await world.bridge()
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


async def contract(world, play):
    """The bridge answers a client of the bus as bluetoothd does, but in what is known."""
    devices = await on_air(world, f"{HERE}/devices/contract.yaml")
    asked = await world.begin(
        "contract", python(), "-B", ROOT / HERE / "contract.py", "--bus", world.bus, "--of", "bridge"
    )
    if await asked.code(120):
        raise Failed("\n".join(asked.lines))
    await devices.said("^contract: disconnected")


def scenario(name, device, seconds, lab=None, work=equal, proves="verdicts and values of a simulated run", waits=""):
    return Play(name, work, seconds, lab, proves, waits, device)


CHANNELS = "channels of the bridge"
PLAYS = [
    scenario("heart-rate-belt", "heart-rate-belt", 47, "capture", demo, "verdicts and all values, and the answer of why"),
    scenario("heart-rate-belt-force-quit", "heart-rate-belt", 39, "wakebench"),
    scenario("heart-rate-belt-python", "heart-rate-belt", 47),
    scenario("two-apps-shared-belt", "heart-rate-belt", 47, "wakebench"),
    scenario("two-apps-one-belt", "heart-rate-belt", 96),
    scenario("no-restore-identifier", "heart-rate-belt", 50),
    scenario("no-background-mode", "heart-rate-belt", 30),
    scenario("bluetooth-off", "heart-rate-belt", 50),
    scenario("steady-belt", "steady-belt", 72),
    scenario("scan-duplicates", "thermometer", 17),
    scenario("uart-echo", "nordic-uart", 6, "answers"),
    scenario("glucose-records", "glucose-meter", 22, "answers"),
    scenario("l2cap-logger", "l2cap-logger", 80, "wakebench", waits=CHANNELS),
    scenario("l2cap-logger-waits", "l2cap-logger", 95, waits=CHANNELS),
    scenario("thermometer-peripheral", "thermometer-reader", 110, "wakebench", waits=CHANNELS),
    scenario("desk-beacon", "desk-beacon", 85, "restarts", desk_beacon),
    Play("beacon-and-absent-belt", absent_belt, 85, "faults", "a beacon is heard between attempts to connect"),
    Play("hang-up", hang_up, 12, "faults", "service again after a device hung up in mid-write"),
    Play("bridge-restarts", bridge_restarts, 16, "restarts", "service again after org.bluez was killed"),
    Play("device-check", device_check, 10, "device", "live checks of a good belt and of a bad lamp"),
    Play("peripheral", peripheral, 20, "peripheral", "a central uses a service", "the bridge as a peripheral"),
    Play("bleak", bleak, 46, "bluetooth", "bleak is a client of the bridge, before and after it was killed"),
    Play("bumble-heart", bumble_example, 30, None, "an example of Bumble's is a device"),
    Play("contract", contract, 6, "bluetooth", "calls and signals are answered as by bluetoothd"),
]
