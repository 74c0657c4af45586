"""A bench of a test session's own: `wakebench serve` as a child."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from . import launch
from .live import LiveBench
from .program import HIDDEN, Program, WakebenchError, refusal, tail

__tracebackhide__ = HIDDEN

# The longest path of a Unix socket.
LONGEST = 107
# How long phones have to shut down, in seconds.
PATIENCE = 30


class ServedBench(LiveBench):
    """A daemon of its own that serves the phones of a state folder; `stop()` ends it, and so does the end of the process."""

    def __init__(self, program: Program, state: Path) -> None:
        #: For names of phones that this has not had.
        self.numbers = itertools.count(1)
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._own = tempfile.mkdtemp(prefix="wakebench-")
        if len(os.fsencode(self._own)) > LONGEST - len("/control.sock"):
            os.rmdir(self._own)
            self._own = tempfile.mkdtemp(prefix="wakebench-", dir="/tmp")
        path = f"{self._own}/control.sock"
        self._talk = open(state / "daemon.log", "a+b")  # noqa: SIM115
        try:
            self._process = self._start(program, state, path)
        except BaseException:
            shutil.rmtree(self._own, ignore_errors=True)
            raise
        try:
            super().__init__(path)
        except WakebenchError:
            # Its socket is closed: it has ended, or is about to.
            code = self._end()
            raise refusal(code, "", tail(self._talk)) from None
        except BaseException:
            self._end()
            raise

    def _start(self, program: Program, state: Path, path: str) -> subprocess.Popen[bytes]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(path)
            listening.listen(128)
            number = listening.fileno()
            own = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), str(number)]
            words = [program.path, "serve", "--state", str(state), "--socket", path]
            return subprocess.Popen(
                [*own, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._talk,
                cwd=program.folder,
                pass_fds=[number],
                start_new_session=True,
            )

    @property
    def talk(self) -> str:
        """What the daemon said on stderr, the last 64 KiB."""
        return tail(self._talk)

    def stop(self) -> None:
        """Ends the daemon with its phones, and waits until it is gone."""
        if self._talk.closed:
            return
        self.close()
        code = self._end()
        said = tail(self._talk)
        self._talk.close()
        if code not in (0, -signal.SIGTERM):
            raise refusal(code, "", said)

    def _end(self) -> int:
        self._process.terminate()
        try:
            return self._process.wait(PATIENCE)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            shutil.rmtree(self._own, ignore_errors=True)

    def __exit__(self, *_: object) -> None:
        self.stop()
