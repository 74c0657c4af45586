"""The command python -m wakebench_radio.air: its options, orders and exit codes."""

import asyncio
import contextlib
import io
import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.transport import open_transport

from test_air import BEACON, BELT, LIMIT, Told
from wakebench_radio.air.__main__ import main, parsed


class Out(io.StringIO):
    """Standard output whose lines can be waited for."""

    def __init__(self):
        super().__init__()
        self.told = Told()

    def write(self, text):
        if text != "\n":
            self.told(text)


class CommandTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        self.end = contextlib.AsyncExitStack()
        self.folder = pathlib.Path(self.end.enter_context(tempfile.TemporaryDirectory()))
        self.out, self.errors = Out(), io.StringIO()
        self.end.enter_context(contextlib.redirect_stdout(self.out))
        self.end.enter_context(contextlib.redirect_stderr(self.errors))
        self.read, self.write = os.pipe()
        self.end.callback(os.close, self.read)
        self.belt = self.file("belt", BELT)
        self.beacon = self.file("beacon", BEACON)
        self.running = None

    async def asyncTearDown(self):
        if self.running and not self.running.done():
            self.say("quit")
            await asyncio.wait({self.running}, timeout=LIMIT)
        os.close(self.write)
        await self.end.aclose()

    def file(self, name, text):
        path = self.folder / f"{name}.yaml"
        path.write_text(text)
        return str(path)

    def say(self, line):
        os.write(self.write, line.encode() + b"\n")

    async def run_air(self, *arguments, orders=None):
        return await main([*arguments], self.read if orders is None else orders)

    async def begin(self, *arguments):
        self.running = asyncio.ensure_future(self.run_air(*arguments, "--link", str(self.folder / "air")))
        await self.out.told.until("air: ready")

    async def code(self):
        return await asyncio.wait_for(self.running, LIMIT)

    async def connect(self):
        transport = await open_transport(f"unix:{self.folder}/air/0")
        self.end.push_async_callback(transport.close)
        device = Device.with_hci("Far", Address("F0:AA:00:00:00:01"), transport.source, transport.sink)
        await device.power_on()
        async with asyncio.timeout(LIMIT):
            return Peer(await device.connect(Address("F0:11:22:33:44:55")))

    async def test_the_bench_finds_the_devices(self):
        await self.begin(self.belt, self.beacon)
        await self.connect()
        await self.out.told.until("belt: connected F0:AA:00:00:00:01")

    async def test_orders_are_answered_in_order(self):
        await self.begin(self.belt)
        for line in ("silence", "arm none", "belt: advertise", "other: silence", "jump", "", "quit"):
            self.say(line)
        self.assertEqual(await self.code(), 0)
        answers = [line for line in self.out.told.lines if line == "ok" or line.startswith("no: ")]
        self.assertEqual([line.split()[0] for line in answers], ["ok", "no:", "ok", "no:", "no:", "no:", "ok"])
        self.assertIn("no: no device 'other'; use 'NAME: ORDER' with one of belt", answers)

    async def test_an_order_to_several_names_its_device(self):
        await self.begin(self.belt, self.beacon)
        self.say("silence")
        self.assertIn("which device is meant", await self.out.told.until("no: "))

    async def test_a_device_that_stops_lets_the_others_go_on(self):
        await self.begin(self.belt, self.beacon)
        self.say("beacon: stop")
        await self.out.told.until("beacon: stopped")
        await self.connect()
        await self.out.told.until("belt: connected")

    async def test_quitting_ends_the_links_and_removes_the_sockets(self):
        await self.begin(self.belt)
        peer = await self.connect()
        gone = asyncio.get_running_loop().create_future()
        peer.connection.on("disconnection", gone.set_result)
        self.say("quit")
        self.assertEqual(await asyncio.wait_for(gone, LIMIT), 0x13)
        self.assertEqual(await self.code(), 0)
        self.assertEqual(list((self.folder / "air").iterdir()), [])

    async def test_ready_is_told_with_all_sockets(self):
        read, write = os.pipe()
        self.end.callback(os.close, read)
        await self.begin(self.belt, "--strangers", "1", "--ready", str(write))
        told = json.loads(os.read(read, 4096))
        self.assertEqual(told["bench"], [f"unix:{self.folder}/air/0"])
        self.assertEqual(told["strangers"], [f"unix:{self.folder}/air/2"])
        self.assertEqual([each["name"] for each in told["devices"]], ["belt"])

    async def test_it_ends_with_its_parent(self):
        read, write = os.pipe()
        self.end.callback(os.close, read)
        await self.begin(self.belt, "--parent", str(read))
        os.close(write)
        self.assertEqual(await self.code(), 0)

    async def test_two_of_a_kind_are_told_apart(self):
        other = ["--address", "right=F0:11:22:33:44:66", "--local-name", "right=Other"]
        await self.begin(f"{self.belt}=left", f"{self.belt}=right", *other)
        self.assertIn("right: advertising", self.out.told.lines)

    async def test_a_transport_that_is_not_there_ends_with_12(self):
        self.assertEqual(await self.run_air(self.beacon, "--hci", f"unix:{self.folder}/none"), 12)
        said = "/none: cannot be opened within 5 s: No such file or directory; start what listens there first"
        self.assertIn(said, self.errors.getvalue())

    async def test_a_lost_transport_ends_with_12(self):
        await self.begin(self.belt, "--strangers", "1")
        other = asyncio.ensure_future(self.run_air(self.beacon, "--hci", f"unix:{self.folder}/air/2", orders=-1))
        await self.out.told.until("beacon: on the air")
        self.say("quit")
        self.assertEqual(await asyncio.wait_for(other, LIMIT), 12)
        self.assertIn("air/2: transport lost", self.errors.getvalue())

    async def test_a_fault_that_is_not_there_ends_with_2(self):
        code = await self.run_air(self.belt, "--link", f"{self.folder}/air", "--fault", "belt=none", orders=-1)
        self.assertEqual(code, 2)
        self.assertIn("air: --fault belt=none: no fault 'none'; the device has late", self.errors.getvalue())

    async def test_linked_controllers_are_on_ports_as_well(self):
        self.running = asyncio.ensure_future(self.run_air(self.belt, "--link", "tcp:127.0.0.1:0", "--strangers", "1"))
        await self.out.told.until("air: ready")
        bench = self.out.told.lines[0].removeprefix("air: bench ")
        self.assertRegex(bench, "^tcp-client:127.0.0.1:[0-9]+$")
        self.assertRegex(self.out.told.lines[1], "^air: stranger tcp-client:127.0.0.1:[0-9]+$")
        transport = await open_transport(bench)
        self.end.push_async_callback(transport.close)
        await Device.with_hci("Far", Address("F0:AA:00:00:00:01"), transport.source, transport.sink).power_on()
        self.say("quit")
        self.assertEqual(await self.code(), 0)

    async def test_controllers_are_linked_without_a_device(self):
        self.running = asyncio.ensure_future(self.run_air("--link", f"{self.folder}/air", "--strangers", "1"))
        await self.out.told.until("air: ready")
        self.assertEqual(self.out.told.lines[:2], [f"air: bench unix:{self.folder}/air/0", f"air: stranger unix:{self.folder}/air/1"])
        transport = await open_transport(f"unix:{self.folder}/air/1")
        self.end.push_async_callback(transport.close)
        await Device.with_hci("Far", Address("F0:AA:00:00:00:01"), transport.source, transport.sink).power_on()
        self.say("quit")
        self.assertEqual(await self.code(), 0)

    async def test_a_port_that_is_taken_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            place = f"tcp:127.0.0.1:{taken.getsockname()[1]}"
            self.assertEqual(await self.run_air(self.belt, "--link", place, orders=-1), 12)
        self.assertIn(f"air: {place}: ", self.errors.getvalue())
        self.assertIn("; name another port", self.errors.getvalue())

    async def test_a_folder_that_another_air_uses_is_named_and_stays_its_own(self):
        await self.begin(self.belt)
        place = str(self.folder / "air")
        self.assertEqual(await self.run_air(self.beacon, "--link", place, orders=-1), 12)
        self.assertIn(f"air: {place}: Address already in use; name a folder that", self.errors.getvalue())
        await self.connect()
        await self.out.told.until("belt: connected")

    async def test_a_folder_of_an_air_that_was_killed_is_used_again(self):
        (self.folder / "air").mkdir()
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(f"{self.folder}/air/0")
        await self.begin(self.belt)
        await self.connect()

    async def test_a_file_in_the_place_of_a_socket_is_left(self):
        (self.folder / "air").mkdir()
        (self.folder / "air" / "0").write_text("mine")
        self.assertEqual(await self.run_air(self.belt, "--link", str(self.folder / "air"), orders=-1), 12)
        self.assertIn("/air: File exists; name a folder that", self.errors.getvalue())
        self.assertEqual((self.folder / "air" / "0").read_text(), "mine")

    async def test_a_capture_that_cannot_be_written_ends_with_2(self):
        words = ["--link", f"{self.folder}/air", "--capture", f"belt={self.folder}/none/belt.btsnoop"]
        self.assertEqual(await self.run_air(self.belt, *words, orders=-1), 2)
        self.assertIn("none/belt.btsnoop: No such file or directory; name a file", self.errors.getvalue())

    async def test_a_file_that_is_not_there_ends_with_3(self):
        self.assertEqual(await self.run_air("/none.yaml", "--hci", "usb:0"), 3)
        self.assertIn("air: /none.yaml: No such file or directory; name a device file", self.errors.getvalue())

    async def test_a_wrong_file_ends_with_11(self):
        wrong = self.file("wrong", BELT.replace("2A37", "2A3", 1))
        self.assertEqual(await self.run_air(wrong, "--hci", "usb:0"), 11)
        self.assertIn("wrong.yaml:9: '2A3'; expected a UUID", self.errors.getvalue())


class UsageTests(unittest.TestCase):
    def test_wrong_usage_is_one_line_and_ends_with_2(self):
        for arguments, expected in (
            ([], "expected a device file, or --link with --strangers"),
            (["--link", "f"], "expected a device file, or --link with --strangers"),
            (["a.yaml"], "expected --hci"),
            (["a.yaml", "--hci", "x", "--hci", "y"], "2 for 1"),
            (["a.yaml", "a.yaml", "--link", "f"], "a second device 'a'"),
            (["a.yaml", "--link", "f", "--hci", "x"], "and not both"),
            (["a.yaml", "--link", "tcp:6402"], "--link tcp:6402: expected a folder or tcp:HOST:PORT"),
            (["a.yaml", "--link", "tcp-client:localhost:6402"], "expected a folder or tcp:HOST:PORT"),
            (["a.yaml", "--link", "tcp:localhost:65535"], "no port is left for the last controller"),
            (["a.yaml=ok", "--link", "f"], "'ok' is no name"),
            (["a.yaml", "--hci", "x", "--strangers", "1"], "with --link only"),
            (["a.yaml", "--link", "f", "--bug", "a=burn"], "no bug 'burn'"),
            (["a.yaml", "--link", "f", "--fault", "b=x"], "no device 'b'"),
            (["a.yaml", "--link", "f", "--address", "a=1"], "expected an address"),
        ):
            with self.subTest(arguments=arguments):
                errors = io.StringIO()
                with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as raised:
                    parsed(arguments)
                self.assertEqual(raised.exception.code, 2)
                self.assertIn(expected, errors.getvalue())
                self.assertEqual(errors.getvalue().count("\n"), 1)


class ProcessTests(unittest.TestCase):
    def test_ctrl_c_at_its_start_is_no_traceback(self):
        """It comes while Bumble is imported: this one sends it."""
        with tempfile.TemporaryDirectory() as folder:
            bumble = pathlib.Path(folder) / "bumble"
            bumble.mkdir()
            (bumble / "__init__.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
            for module in "wakebench_radio", "wakebench_radio.air":
                with self.subTest(module=module):
                    ended = subprocess.run(
                        [sys.executable, "-m", module, "--help"], capture_output=True, text=True,
                        env=os.environ | {"PYTHONPATH": os.pathsep.join([folder, str(HERE.parent)])},
                    )
                    self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (-signal.SIGINT, "", ""))

    def test_in_the_background_of_a_terminal_it_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "belt.yaml"
            path.write_text(BELT)
            paths = os.pathsep.join(str(each) for each in [HERE.parent, os.environ.get("PYTHONPATH", "")] if str(each))
            command = f"set -m; '{sys.executable}' -m wakebench_radio.air '{path}' --link '{folder}/air' & echo $!; wait"
            shell, terminal = pty.fork()
            if shell == 0:
                os.execvpe("bash", ["bash", "-c", command], os.environ | {"PYTHONPATH": paths})
            with open(terminal, "rb", buffering=0) as told:
                air = int(told.readline())
                try:
                    for line in iter(told.readline, b"air: ready\r\n"):
                        self.assertTrue(line)
                    os.write(terminal, b"a line for the shell\n")
                    with socket.socket(socket.AF_UNIX) as host:
                        host.settimeout(LIMIT)
                        host.connect(f"{folder}/air/0")
                        # One answer may come before the line is looked at, and not so many.
                        for _ in range(50):
                            host.sendall(bytes.fromhex("01030c00"))
                            self.assertEqual(host.recv(7), bytes.fromhex("040e0401030c00"))
                finally:
                    for each in air, shell:
                        os.kill(each, signal.SIGKILL)
                    os.waitpid(shell, 0)

    def test_its_line_leaves_standard_output_open(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "belt.yaml"
            path.write_text(BELT)
            paths = os.pathsep.join(str(each) for each in [HERE.parent, os.environ.get("PYTHONPATH", "")] if str(each))
            command = [sys.executable, "-m", "wakebench_radio.air", str(path), "--link", f"{folder}/air", "--ready", "1"]
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths}
            ) as air:
                self.assertEqual(air.communicate("quit\n", timeout=LIMIT)[0].splitlines()[-2:], ["ok", "belt: stopped"])

    def test_a_signal_ends_it_in_order(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "belt.yaml"
            path.write_text(BELT)
            command = [sys.executable, "-m", "wakebench_radio.air", str(path), "--link", f"{folder}/air"]
            paths = os.pathsep.join(str(each) for each in [HERE.parent, os.environ.get("PYTHONPATH", "")] if str(each))
            settings = os.environ | {"PYTHONPATH": paths}
            with subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=settings
            ) as air:
                lines = []
                for line in air.stdout:
                    lines.append(line.strip())
                    if line == "air: ready\n":
                        air.send_signal(signal.SIGTERM)
                self.assertEqual(air.wait(LIMIT), 0)
        self.assertEqual(lines, [f"air: bench unix:{folder}/air/0", "belt: advertising", "air: ready", "belt: stopped"])


if __name__ == "__main__":
    unittest.main()
