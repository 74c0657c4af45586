"""Uses `wakebench top` as a person does, in an emulated terminal: look.py PROGRAM FOLDER."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

import pyte

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
control = str((folder / "control.sock").resolve())
environment = os.environ | {"WAKEBENCH_SOCKET": control, "WAKEBENCH_STATE": str((folder / "state").resolve()), "TERM": "screen-256color", "LC_ALL": "C.UTF-8"}
environment.pop("NO_COLOR", None)
environment.pop("WAKEBENCH_PHONE", None)
failures = 0
PATIENCE = 60
FLOOD = 2_000
# As a terminal sends them while a program has the whole screen.
UP, DOWN, END = "\x1bOA", "\x1bOB", "\x1b[4~"


def check(what, good, found=""):
    global failures
    if not good:
        failures += 1
    print(f"{'ok    ' if good else 'FAILED'}  {what}{f': {found}' if found != '' else ''}", flush=True)


def wakebench(*words):
    ended = subprocess.run([program, *words], env=environment, capture_output=True, text=True, timeout=PATIENCE)
    if ended.returncode:
        raise SystemExit(f"{words}: {ended.stderr}")
    return ended.stdout


def serve():
    daemon = subprocess.Popen([program, "serve", "--state", str(folder / "state")], env=environment, stdout=subprocess.PIPE, text=True)
    impatience = threading.Timer(PATIENCE, daemon.kill)
    impatience.start()
    heard = []
    for said in daemon.stdout:
        heard.append(said)
        if "serving " in said:
            impatience.cancel()
            return daemon
    impatience.cancel()
    raise SystemExit(f"no line with 'serving' from the daemon in {PATIENCE} s, but {heard}; it ended with {daemon.wait()}")


def finish(daemon):
    daemon.terminate()
    try:
        daemon.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        daemon.kill()
        check("the daemon ends when it is told to", False, f"it still ran {PATIENCE} s later")


class Screen(pyte.Screen):
    """With what pyte lacks of a terminal: the lines between the margins go down, or up."""

    def scroll_down(self, count=1):
        self.at_top(self.insert_lines, count)

    def scroll_up(self, count=1):
        self.at_top(self.delete_lines, count)

    def at_top(self, change, count):
        before = self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        change(count or 1)
        self.cursor.y = before


class Stream(pyte.ByteStream):
    csi = pyte.ByteStream.csi | {"T": "scroll_down", "S": "scroll_up"}
    events = pyte.ByteStream.events | {"scroll_down", "scroll_up"}


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, columns, rows, *words):
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.said = b""
        self.master, slave = pty.openpty()
        self.size(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(
            [program, "top", *words], env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        self.size(columns, rows)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def take(self, patience):
        """Shows what the program draws next; whether there was anything."""
        if not select.select([self.master], [], [], patience)[0]:
            return False
        data = os.read(self.master, 65536)
        self.said += data
        self.stream.feed(data)
        return True

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def line(self, pattern):
        return next((line for line in self.lines if re.search(pattern, line)), None)

    def wait(self, what, condition, seen=None):
        """Waits until a condition holds, which is looked at again after all that is drawn, and gives what it comes to."""
        end = time.monotonic() + PATIENCE
        while not (found := condition()) and (left := end - time.monotonic()) > 0:
            if not self.take(min(left, 1)) and self.process.poll() is not None:
                break
        check(what, found, "" if found else (seen or (lambda: self.lines))())
        if not found:
            # What comes after it would be waited for in vain, too.
            raise SystemExit(f"not within {PATIENCE} s: {what}; `top` ended with {self.process.poll()}")
        return found

    def until(self, what, pattern):
        """Waits for a line."""
        return self.wait(what, lambda: self.line(pattern))

    def gone(self, what, pattern):
        self.wait(what, lambda: self.line(pattern) is None)

    def colour(self, word):
        """The colour in which a word stands on the screen."""
        for number, line in enumerate(self.screen.display):
            if (place := line.find(word)) >= 0:
                return self.screen.buffer[number][place].fg
        return None

    def ended(self):
        """Its exit code, once all that it drew has been taken."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None or select.select([self.master], [], [], 0)[0]:
            self.take(0.1)
            if time.monotonic() > end:
                self.process.kill()
        return self.process.returncode

    def is_as_before(self):
        return termios.tcgetattr(self.slave) == self.before and self.said.rstrip(b"\r\n").rfind(b"\x1b[?1049l") > self.said.rfind(b"\x1b[?1049h")


def decisions(phone):
    """What the log of a phone's run has: verdict, reason and event of each decision."""
    log = [json.loads(line) for line in wakebench("log", str(folder / "state/phones" / phone / "run")).splitlines()[1:]]
    return [[each["verdict"], each["reason"], each["event"]["kind"]] for each in log]


def shown(top):
    """The same of the decisions about the app that the list shows."""
    return [line.split()[2:5] for line in top.lines if re.search(r"^  T\S+ +heart +[a-z]", line)]


def looks():
    """A phone whose clock goes when it is told to."""
    top = Terminal(110, 30)
    top.until("the phone is shown, with its clock and lock", r"^> one +booted +virtual +\S+ +T\+00:00:00 +unlocked$")
    top.until("and its app, which was never launched", r"^> heart +not-running +- +- ")
    top.until("and its belt", r"^> belt +bluetooth-peripheral +in range +-?\d* ?\S* ")
    top.press("\r")
    top.until("Enter launches the app", r"^> heart +active ")
    top.press("a")
    top.until("a virtual clock goes on when it is told to", r"^> one +booted +virtual +\S+ +T\+00:01:00 ")
    top.until("the belt is connected, with its strength, and held by the app", r"^> belt +bluetooth-peripheral +connected +-55 dBm +heart +2A37 0040$")
    top.press("h")
    top.press("a")
    top.until("an app that is left for the home screen is suspended in time", r"^> heart +suspended ")
    top.press("n")
    left = top.until("a value that the belt notifies wakes it", r"^> heart +\S+ +- +[\d.]+ s +resume +Resumed +characteristic-notified$")
    check("what is left of its window is shown", 0 < float(left.split()[4]) <= 10, left)
    top.until("the list has the decision", r"^  T\+00:02:00\.000 +heart +resume +Resumed +characteristic-notified belt/2A37$")
    top.wait("a verdict that woke is green", lambda: top.colour("resume") == "green", lambda: top.colour("resume"))
    top.wait(
        "the list has the decisions of the log, in order", lambda: (logged := decisions("one")) and shown(top) == logged,
        lambda: (shown(top), decisions("one")),
    )
    top.until("what was pressed is told", r"^notify belt, characteristic 2A37, value 0040, accepted at T\+00:02:00")
    top.press("w")
    why = wakebench("why", "heart", "-p", "one").splitlines()[0]
    top.until("w says what why says", "^" + re.escape(why[:60]))
    top.press(" ")
    top.press("l")
    top.until("l locks the phone", r"^> one .* locked$")
    top.press("f")
    top.until("f swipes the app away", r"^> heart +(not-running|force-quit) ")
    payload = folder / "push.json"
    payload.write_text('{"aps": {"content-available": 1}}')
    wakebench("push", "send", "heart", str(payload), "-p", "one")
    top.until("what somebody else does is shown, and refused", r"^  T\+00:02:00\.000 +heart +deny +ForceQuit +push-received com.acme.heart$")
    top.wait("in red", lambda: top.colour("deny") == "red", lambda: top.colour("deny"))
    return top


def many(top):
    """Thousands of decisions while somebody looks."""
    top.press("\r")
    top.press("a")
    top.until("the app is back", r"^> heart +active ")
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(control)
        answers = client.makefile("rb")
        for number in range(FLOOD):
            step = {"notify": "belt", "characteristic": "2A37", "value": f"{number:04x}"}
            client.sendall(json.dumps({"op": "do", "phone": "one", "wait": False, "command": {"step": step}}).encode() + b"\n")
            if not json.loads(answers.readline())["ok"]:
                raise SystemExit("a value was refused")
    top.until(f"after {FLOOD} values the last is shown", rf"^> belt .* 2A37 {FLOOD - 1:04x}$")
    top.press("\x1b[5~")
    top.until("PgUp goes back in the list", r"newer below")
    top.press(END)
    top.gone("and End follows it again", r"newer below")
    top.press("?")
    top.until("? lists the keys", r"^q, Ctrl-C +quit")
    top.press(" ")
    top.until("and any other key leaves that", r"^wakebench top")


def resized(top):
    top.resize(72, 16)
    top.wait("a smaller terminal shows the phone, too", lambda: is_whole(top) and top.line(r"^> one +booted"))
    top.wait(
        "a line that is too long is cut, and goes on in no other", lambda: is_whole(top) and not wrapped(top), lambda: wrapped(top)
    )
    top.wait("the last line tells what came of the last key", lambda: top.lines[-1].startswith("force-quit heart, accepted"))
    top.resize(110, 30)
    top.wait("and a larger one all again", lambda: is_whole(top) and top.line(r"^> belt +bluetooth-peripheral"))


def is_whole(top):
    """Whether the screen is drawn in the size that it has now: what was before has no title, or nothing in the last line."""
    return top.lines[0].startswith("wakebench top") and top.lines[-1]


def wrapped(top):
    """What stands in the list and begins no line of it; all of the screen where there is no list."""
    heading = next((number for number, line in enumerate(top.lines) if "WHAT HAPPENED" in line), -1)
    return [line for line in top.lines[heading + 1 : -1] if line and not line.startswith("  T+")]


def second_phone(top):
    wakebench("phone", "create", "two", "--scenario", str(folder / "phone.yaml"))
    top.until("a phone that is made meanwhile comes into the list", r"^  two +shutdown ")
    top.press(DOWN)
    top.until("the arrow chooses it", r"^> two +shutdown ")
    top.press("b")
    top.until("b boots it, and its clock goes by itself", r"^> two +booted +real +\S+ +T\+(?!00:00:00)\d\d:\d\d:\d\d")
    top.press("a")
    top.until("a key that fits nothing says so", r"^a: nothing is chosen that it could be done to")


def daemon_gone(top, daemon):
    daemon.send_signal(signal.SIGKILL)
    daemon.wait()
    top.until("that the daemon is gone is told", r"the daemon is gone")
    following = serve()
    top.until("and all is shown again when it is back", r"^wakebench top +2 of 2 phones booted")
    top.press(UP)
    top.until("with what was decided before", rf"^  T\S+ +heart +foreground-deliver +InForeground +characteristic-notified belt/2A37$")
    top.until("under its heading", "WHAT HAPPENED ON one")
    return following


def given_back():
    for what, end in [("q", lambda top: top.press("q")), ("Ctrl-C", lambda top: top.press("\x03")), ("SIGTERM", lambda top: top.process.send_signal(signal.SIGTERM))]:
        top = Terminal(80, 24)
        top.until(f"before {what} it is shown", r"^wakebench top")
        end(top)
        code = top.ended()
        check(f"{what} ends it, and the terminal is as it was", code == 0 and top.is_as_before(), (code, top.is_as_before()))
    plain = subprocess.run(
        [program, "top"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )
    lines = plain.stderr.splitlines()
    check("without a terminal it says what to do", plain.returncode == 12 and len(lines) == 1 and "--once" in lines[0], lines)


SCENARIO = """scenario: top
phone: {passcode: true, unlocked: true}
devices: [{file: quiet-belt.yaml, name: belt}]
apps:
  - scripted: com.acme.heart
    name: heart
    modes: [bluetooth-central, remote-notification]
    restore-identifier: heart
    push: {}
    uses: [{device: belt, characteristic: 2A37}]
    on: [{event: any, work: 1s, then: end}]
"""

(folder / "phone.yaml").write_text(SCENARIO)
shutil.copy("Scripts/page.d/quiet-belt.yaml", folder)
daemon = serve()
try:
    wakebench("phone", "create", "one", "--scenario", str(folder / "phone.yaml"), "--clock", "virtual")
    wakebench("phone", "boot", "one")
    top = looks()
    resized(top)
    many(top)
    second_phone(top)
    daemon = daemon_gone(top, daemon)
    top.press("q")
    code = top.ended()
    check("q ends it, and the terminal is as it was", code == 0 and top.is_as_before(), (code, top.is_as_before()))
    given_back()
finally:
    finish(daemon)
sys.exit(f"{failures} failed" if failures else 0)
