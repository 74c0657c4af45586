"""A D-Bus of the bridge's own: dbus-daemon in a folder, without anything that it could start."""

import ctypes
import html
import os
import pathlib
import select
import shutil
import signal
import subprocess

# Of linux/prctl.h.
PR_SET_PDEATHSIG = 1
# Seconds until the daemon has said where it is.
PATIENCE = 10
# The longest path of a socket: sockaddr_un has 108 bytes, one of them a zero.
LONGEST = 107

# Nothing is started by name; queues are as long as a second of the fastest values.
CONFIGURATION = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
  </policy>
  <limit name="max_incoming_bytes">1000000000</limit>
  <limit name="max_outgoing_bytes">1000000000</limit>
  <limit name="max_message_size">134217728</limit>
  <limit name="max_replies_per_connection">50000</limit>
  <limit name="max_match_rules_per_connection">50000</limit>
</busconfig>
"""


class PrivateBusFailure(Exception):
    """The bus cannot be had: one line that says why, and the remedy."""


def _end_with_parent(parent):
    # A signal for the bridge's group is the bridge's alone: links are told of their end while the bus is there.
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    # The parent may have gone before.
    if os.getppid() != parent:
        os._exit(1)


class PrivateBus:
    """dbus-daemon with the socket `bus` in a folder; it ends with this process.

    address: `unix:path=FOLDER/bus,guid=...`, once it is started.
    """

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.socket = self.folder / "bus"
        self.address = None
        self.process = None

    def start(self):
        """Starts the daemon and waits until it listens. Raises PrivateBusFailure."""
        program = shutil.which("dbus-daemon", path=os.environ.get("PATH", "") + ":/usr/bin:/bin")
        if program is None:
            raise PrivateBusFailure("there is no dbus-daemon; install the package dbus-daemon")
        if len(os.fsencode(self.socket)) > LONGEST:
            raise PrivateBusFailure(f"{self.socket} is too long for a socket; set TMPDIR to a folder with a shorter name")
        configuration = self.folder / "bus.conf"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.socket.unlink(missing_ok=True)
            configuration.write_text(CONFIGURATION.format(socket=html.escape(str(self.socket))))
        except OSError as error:
            raise PrivateBusFailure(f"{self.folder}: {error.strerror}; name another folder") from None
        reading, writing = os.pipe()
        parent = os.getpid()
        try:
            # It would like more descriptors than it may have, and says so each time.
            with open(self.folder / "bus.log", "w", encoding="utf-8") as log:
                self.process = subprocess.Popen(
                    [program, f"--config-file={configuration}", "--nofork", "--nopidfile", "--nosyslog",
                     f"--print-address={writing}"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[writing],
                    preexec_fn=lambda: _end_with_parent(parent),
                )
        finally:
            os.close(writing)
        try:
            self.address = self._line(reading)
        finally:
            os.close(reading)
        if not self.address:
            self.stop()
            raise PrivateBusFailure(f"{program} did not start in {self.folder}; see {self.folder}/bus.log")

    @staticmethod
    def _line(descriptor):
        text = b""
        while not text.endswith(b"\n") and select.select([descriptor], [], [], PATIENCE)[0]:
            part = os.read(descriptor, 4096)
            if not part:
                break
            text += part
        return text.decode().strip()

    def stop(self):
        """Ends the daemon; harmless when there is none."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
