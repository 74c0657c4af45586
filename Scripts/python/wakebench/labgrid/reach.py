"""The way to a bench: its socket on this machine, or one that ssh forwards from the exporter's."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from types import TracebackType

from labgrid.driver.exception import ExecutionError
from labgrid.util.proxy import proxymanager
from labgrid.util.ssh import sshmanager

from ..live import LiveBench


class Reach:
    """A client of the bench of a resource, until it is closed."""

    def __init__(self, resource: object) -> None:
        self._folder: str | None = None
        self._forward: tuple[list[str], str, str] | None = None
        path = resource.socket  # type: ignore[attr-defined]
        host = _jump(resource)
        try:
            #: The client.
            self.bench = LiveBench(self._forwarded(host, path) if host else path)
        except BaseException:
            self._cancel()
            raise

    def _forwarded(self, host: str, path: str) -> str:
        # labgrid's own forwards are of TCP ports; its connection carries this one too.
        prefix = sshmanager.get(host).get_prefix()
        self._folder = tempfile.mkdtemp(prefix="wakebench-")
        local = f"{self._folder}/control.sock"
        self._forward = (prefix[:-1], f"-L{local}:{path}", prefix[-1])
        self._control("forward")
        return local

    def _control(self, command: str) -> None:
        assert self._forward is not None
        ssh, forward, host = self._forward
        words = [*ssh, "-O", command, forward, host]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
        if done.returncode:
            raise ExecutionError(f"{' '.join(words)}: {done.stderr.strip()}")

    def _cancel(self) -> None:
        if self._forward:
            try:
                self._control("cancel")
            except ExecutionError:
                # The connection is gone, and the forward with it.
                pass
            self._forward = None
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def close(self) -> None:
        """Ends it; the bench goes on."""
        self.bench.close()
        self._cancel()

    def __enter__(self) -> LiveBench:
        return self.bench

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def _jump(resource: object) -> str | None:
    """The machine to go to by ssh; None for this one."""
    extra = getattr(resource, "extra", None) or {}
    host = getattr(resource, "host", None)
    if host and extra.get("proxy_required"):
        return str(extra["proxy"])
    if not host or host in ("localhost", "127.0.0.1", "::1", socket.gethostname(), socket.getfqdn()):
        return None
    # LG_PROXY and --proxy say how to come to every machine of the lab.
    return proxymanager._force_proxy or str(host)
