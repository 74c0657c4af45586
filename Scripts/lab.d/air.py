"""The air of a guest, on the machine that it runs on: controllers that hear each other, and the devices that a job asks for.

    air.py FOLDER OUT

FOLDER gets the sockets that the machine's serial ports lead to: hci0 and hci1, a controller each, which the guest takes for its own;
and devices, for lines of words as a shell has them. Prints `ready` once they are there, and removes FOLDER in the end. Each line is answered with `ok`, or with
`no: REASON`:

    start ARG...    plays devices by wakebench_radio.air, which writes /out/devices.log; `--hci air:N` is a controller of its own
    say WORD...     gives them an order
    end, kill       ends them, or kills them

Once they have ended, their status is in /out/devices.ended. The guest's /out is OUT here; all other files are this machine's.
"""

import asyncio
import ctypes
import pathlib
import re
import shlex
import shutil
import signal
import sys

from wakebench_radio import link

GUEST, DEVICES = 2, 3
# A job's folder, in the guest; its paths are below it.
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# Of prctl(2): the signal that comes when the parent ends, however it does.
PR_SET_PDEATHSIG = 1
# Seconds that devices have for their end.
ENDING = 60


class Refused(Exception):
    pass


class Devices:
    def __init__(self, folder, out):
        self.folder, self.out, self.program, self.watch = folder, out, None, None

    @property
    def is_alive(self):
        return self.program is not None and self.program.returncode is None

    async def start(self, *words):
        if self.is_alive:
            raise Refused("devices are there already; end them first")
        words = [word.replace("air:", f"unix:{self.folder}/air", 1) if word.startswith("air:") else word for word in words]
        words = [re.sub("(^|=)/out/", lambda found: f"{found[1]}{self.out}/", word) for word in words]
        (self.out / "devices.ended").unlink(missing_ok=True)
        with open(self.out / "devices.log", "wb") as log:
            self.program = await asyncio.create_subprocess_exec(
                sys.executable, "-B", "-m", "wakebench_radio.air", *words,
                stdin=asyncio.subprocess.PIPE, stdout=log, stderr=log, cwd=REPOSITORY,
            )
        self.watch = asyncio.ensure_future(self.note_end(self.program))

    async def note_end(self, program):
        (self.out / "devices.ended").write_text(f"{await program.wait()}\n")

    async def say(self, *words):
        if not self.is_alive:
            raise Refused("no devices are there")
        self.program.stdin.write(" ".join(words).encode() + b"\n")
        await self.program.stdin.drain()

    async def end(self):
        if not self.is_alive:
            return
        self.program.terminate()
        try:
            await asyncio.wait_for(asyncio.shield(self.watch), ENDING)
        except TimeoutError:
            await self.kill()
            raise Refused(f"they did not end at SIGTERM in {ENDING} s, and were killed") from None

    async def kill(self):
        if self.is_alive:
            self.program.kill()
            await self.watch

    async def hear(self, reader, writer):
        """A job's lines. A guest that is gone takes its devices with it."""
        try:
            while line := await reader.readline():
                try:
                    order, *words = shlex.split(line.decode())
                    if order not in ("start", "say", "end", "kill"):
                        raise Refused(f"no order '{order}'")
                    await getattr(self, order)(*words)
                    answer = "ok"
                except (Refused, ValueError, TypeError, OSError) as error:
                    answer = f"no: {error}"
                writer.write(answer.encode() + b"\n")
                await writer.drain()
        finally:
            await self.kill()
            writer.close()


async def main(folder, out):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    ended = asyncio.Event()
    for number in signal.SIGTERM, signal.SIGINT:
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    air, devices = link.Air(), Devices(folder, out)
    sockets = [f"hci{index}" for index in range(GUEST)] + [f"air{index}" for index in range(1, DEVICES + 1)]
    for number, name in enumerate(sockets, 1):
        await link.serve(f"unix:{folder}/{name}", air, number)
    await asyncio.start_unix_server(devices.hear, folder / "devices")
    print("ready", flush=True)
    await ended.wait()
    await devices.kill()
    # What started this may have been killed.
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    asyncio.run(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
