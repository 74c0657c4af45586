"""The control socket of `wakebench serve`: a JSON object a line, there and back."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import threading
from typing import Any, Callable

from .program import HIDDEN, WakebenchError, place_of

__tracebackhide__ = HIDDEN

# What the daemon calls this way of speaking.
SCHEMA = "wake.control/1"

Answer = dict[str, Any]

# How long a daemon may take to say hello, and to give a sign of life while an answer is due, in seconds: it answers nobody while
# it copies a phone.
PATIENCE = 60
PATIENCE_AT_WORK = 300
# How long an answer is waited for before a sign of life is asked for, and the number of that request.
QUIET = 10
SIGN_OF_LIFE = -1


class Control:
    """A connection to a daemon. Threads may share it: their requests wait for each other."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._count = 0
        self._rest = bytearray()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(PATIENCE)
            self._socket.connect(path)
            self._socket.settimeout(None)
        except OSError as error:
            self._socket.close()
            raise WakebenchError(
                "daemon-unreachable",
                f"no daemon at {path}: {error.strerror or error}",
                "start one with 'wakebench serve', or name its socket",
            ) from None
        # In a folder like /tmp any user may make a socket: another user's process would get the commands, and answer them.
        user = self._user()
        if user not in (os.geteuid(), 0):
            self._socket.close()
            raise WakebenchError(
                "environment",
                f"{path}: a process of user {user} serves there, and not of user {os.geteuid()}",
                "name another socket",
            )
        #: What the daemon said of itself: `version`, `pid`, `state`, `phones`, `booted`, and with a page its address, `page`.
        self.hello: Answer = {}
        try:
            self.hello = self.ask("hello")
            if self.hello.get("schema") != SCHEMA:
                raise WakebenchError(
                    "daemon-unreachable",
                    f"the daemon at {path} speaks {self.hello.get('schema')}, and this {SCHEMA}",
                    "take wakebench and its package for Python of the same version",
                )
        except BaseException:
            self.close()
            raise

    def ask(self, op: str, **members: Any) -> Answer:
        """Asks for something, and gives the whole answer; members that are None are left out.

        Raises a `WakebenchError` with the exit code, kind, message and hint of what the daemon refuses.
        """
        with self._lock:
            self._count += 1
            self._send({"op": op, "request": self._count, **members})
            while True:
                answer = self._awaited()
                if answer is None:
                    raise self._gone()
                # Who was interrupted left the answer to an earlier request.
                if answer.get("request") in (self._count, None):
                    break
        if answer.get("ok") is True:
            return answer
        error = answer.get("error") or {}
        raise WakebenchError(
            str(error.get("kind", "internal")),
            str(error.get("message", "the daemon's answer is none")),
            str(error.get("hint") or ""),
            error.get("code"),
            place_of(error),
        )

    def heard(self, timeout: float | None = None) -> Answer | None:
        """The next line that comes without a request; None when the daemon ends.

        A `WakebenchError` with exit code 6 when for so many seconds none comes.
        """
        while True:
            line = self._read(timeout)
            if line is None or line.get("request") != SIGN_OF_LIFE:
                return line

    def close(self) -> None:
        """Ends the connection, from whatever thread."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()

    def _user(self) -> int:
        """The user of the process that serves."""
        size = struct.calcsize("3i")
        _, user, _ = struct.unpack("3i", self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return user

    def _send(self, request: Answer) -> None:
        request = {key: value for key, value in request.items() if value is not None}
        try:
            self._socket.sendall(json.dumps(request, default=_plain).encode() + b"\n")
        except OSError:
            raise self._gone() from None

    def _awaited(self) -> Answer | None:
        """The next line, which is due: an answer may take long, and is waited for as long as the daemon shows that it lives."""
        if self.hello and not self._has_news(QUIET):
            self._send({"op": "hello", "request": SIGN_OF_LIFE})
        patience = PATIENCE_AT_WORK if self.hello else PATIENCE
        if not self._has_news(patience):
            raise WakebenchError(
                "daemon-unreachable",
                f"the daemon at {self.path} has said nothing for {patience} s",
                "see whether its process is stopped, or hangs",
            )
        return self._read()

    def _has_news(self, timeout: float) -> bool:
        try:
            return bool(self._rest or select.select([self._socket], [], [], timeout)[0])
        except (OSError, ValueError):
            # Closed meanwhile: to read says so.
            return True

    def _read(self, timeout: float | None = None) -> Answer | None:
        end = self._rest.find(b"\n")
        while end < 0:
            try:
                if not select.select([self._socket], [], [], timeout)[0]:
                    raise WakebenchError("timeout", f"nothing was heard for {timeout} s", "give a longer timeout")
                more = self._socket.recv(1 << 16)
            except (OSError, ValueError):
                # Closed meanwhile, by another thread or at the other end.
                return None
            if not more:
                return None
            end = more.find(b"\n")
            end = end if end < 0 else end + len(self._rest)
            self._rest += more
        text = bytes(self._rest[:end])
        del self._rest[: end + 1]
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise WakebenchError(
                "daemon-unreachable", f"what is at {self.path} is no daemon of wakebench", "name another socket"
            )
        return value

    def _gone(self) -> WakebenchError:
        return WakebenchError(
            "daemon-unreachable", f"the daemon at {self.path} is gone", "see its log, and start it again"
        )


def _plain(value: Any) -> Any:
    """What steps may have beside plain data: bytes are written in hexadecimal."""
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} cannot be said in a step; give a dict, list, str, bytes, int, float, bool or path")


def usual_socket(environment: Callable[[str], str | None] = os.environ.get) -> str:
    """Where the verbs of `wakebench` look for the daemon."""
    given = environment("WAKEBENCH_SOCKET")
    if given:
        return given
    runtime = environment("XDG_RUNTIME_DIR")
    if runtime:
        return f"{runtime}/wakebench/control.sock"
    state = environment("XDG_STATE_HOME") or f"{environment('HOME') or '.'}/.local/state"
    return f"{environment('WAKEBENCH_STATE') or state + '/wakebench'}/control.sock"
