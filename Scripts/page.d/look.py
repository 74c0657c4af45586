"""Uses the page of a daemon as a person does, and tries its door as strangers do: look.py PROGRAM FOLDER."""
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from chromium import Browser

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
control = str((folder / "control.sock").resolve())
environment = os.environ | {"WAKEBENCH_SOCKET": control}
failures = 0
PATIENCE = 60


def check(what, good, found=""):
    global failures
    if not good:
        failures += 1
    print(f"{'ok    ' if good else 'FAILED'}  {what}{f': {found}' if found != '' else ''}", flush=True)


class Daemon:
    def __init__(self, *options):
        line = [program, "serve", "--state", str(folder / "state"), "--http", *options]
        self.process = subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True)
        impatience = threading.Timer(PATIENCE, self.process.kill)
        impatience.start()
        heard = []
        for said in self.process.stderr:
            heard.append(said)
            if found := re.search(r"page at (http://127\.0\.0\.1:(\d+)/)\?token=([0-9a-f]{32})$", said.rstrip()):
                self.page, self.port, self.token = found.group(1), int(found.group(2)), found.group(3)
                impatience.cancel()
                return
        impatience.cancel()
        raise SystemExit(f"no address from the daemon in {PATIENCE} s, but {heard}; it ended with {self.process.wait()}")

    def end(self, how):
        self.process.send_signal(how)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            check("the daemon ends when it is told to", False, f"it still ran {PATIENCE} s later")
        self.process.stderr.close()


class Client:
    """A connection to the daemon's control socket."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(control)
        self.answers = self.socket.makefile("rb")

    def ask(self, **request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(self.answers.readline())
        if not answer["ok"]:
            raise SystemExit(f"{request}: {answer}")
        return answer

    def step(self, wait, **step):
        self.ask(op="do", phone="one", wait=wait, command={"step": step})


def wakebench(*words):
    ended = subprocess.run([program, *words], env=environment, capture_output=True, text=True, timeout=PATIENCE)
    if ended.returncode:
        raise SystemExit(f"{words}: {ended.stderr}")
    return ended.stdout


def status(url, body=None, **fields):
    """The status of an answer."""
    request = urllib.request.Request(url, body, {name.replace("_", "-"): value for name, value in fields.items()})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def until(browser, what, condition, seen="[document.querySelector('#told')?.textContent, document.body.innerText]"):
    """Waits until something is so on the page; else says what is seen there."""
    good = browser.becomes(condition, PATIENCE)
    check(what, good, "" if good else f"not {condition}, but {browser.value(seen)}")
    if not good:
        # What comes after it would be waited for in vain, too.
        raise SystemExit(f"not within {PATIENCE} s: {what}; the page complained of {browser.complaints or 'nothing'}")


def press(browser, text, row=None, tells=True):
    """Presses a button by its text, of the phone or of a row of the tables, and waits until the page tells what came of it."""
    place = f"#now tr[data-name=\"{row}\"]" if row else "#live"
    button = f"[...document.querySelectorAll('{place} button')].find(each => each.textContent === '{text}' && !each.hidden)"
    end = time.monotonic() + PATIENCE
    pressed = None
    while not pressed:
        if not browser.becomes(f"!!{button}", PATIENCE) or time.monotonic() > end:
            seen = browser.value("document.body.innerText")
            raise SystemExit(f"no button '{text}' of {place} could be pressed within {PATIENCE} s, but the page says {seen}")
        box = browser.value(
            """(button => {
              if (!button) return null;
              const hear = event => (window.lookPressed = event.target.closest('button')?.textContent);
              window.lookPressed = null;
              addEventListener('click', hear, { capture: true, once: true });
              document.querySelector('#told').textContent = '';
              const box = button.getBoundingClientRect();
              return [box.x + box.width / 2, box.y + box.height / 2];
            })(%s)""" % button
        )
        if box:
            browser.click(*box)
            # None is, where the page puts the buttons anew while one is held down.
            pressed = browser.value("window.lookPressed")
    if pressed != text:
        raise SystemExit(f"'{pressed}' was pressed and not '{text}'")
    told = "document.querySelector('#told')"
    if tells and not browser.becomes(f"{told}.textContent && !{told}.matches('.wrong')", PATIENCE):
        check(f"{text} is accepted", False, browser.value(f"{told}.textContent"))


def cell(row, column):
    return f"document.querySelector('#now tr[data-name=\"{row}\"]').cells[{column}].textContent"


# What the page has of the run, as the timeline draws it.
DRAWN = """(run => ({
  decisions: Array.from(run.number, (number, i) => [number, run.time[i], run.appOf(i), run.happening(i), VERDICTS[run.verdict[i]],
    run.reasonOf(i), run.ruleOf(i), run.budgetOf(i), run.valueOf(i)]),
  moves: Array.from(run.moves.time, (time, i) => [time, run.apps[run.moves.app[i]], STATES[run.moves.state[i]]]),
  links: run.json.devices.map(device => [device.name, device.link.bands]), phone: run.json.phoneRows.map(row => [row.name, row.bands]),
  exits: run.json.exits.map(([time, app, , cause]) => [time, run.apps[app], cause]),
}))(page.runs[0])"""


def strangers(daemon):
    address, good = daemon.page, {"Authorization": f"Bearer {daemon.token}"}
    check("without the token the page is refused", status(address) == 403)
    wrong = daemon.token[:-1] + ("0" if daemon.token[-1] != "0" else "1")
    check("with a wrong token, too", status(f"{address}?token={wrong}") == 403)
    check("with the token it is given", status(f"{address}?token={daemon.token}") == 200)
    check("by another host's name it is not", status(f"{address}?token={daemon.token}", Host="evil.example") == 403)
    request = dict(good, Content_Type="application/json")
    question = b'{"op":"phones"}'
    check("a question with the token is answered", status(f"{address}ask", question, **request) == 200)
    check("one from the page of somebody else is not", status(f"{address}ask", question, **request, Origin="http://evil.example") == 403)
    check("nor one that a form could send", status(f"{address}ask", question, **good, Content_Type="text/plain") == 415)
    check("nor one that is too long", status(f"{address}ask", b" " * 300_000, **request) == 413)
    file = folder / "state/page-token"
    check("the token's file is its owner's alone", file.stat().st_mode & 0o777 == 0o600 and file.read_text().strip() == daemon.token)
    if os.geteuid() == 0:
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        line = [*other, "curl", "-s", "-m", str(PATIENCE), "-o", "/dev/null", "-w", "%{http_code}", address]
        answer = subprocess.run(line, capture_output=True, text=True)
        check("another user's process without it is refused", answer.stdout == "403", answer.stdout)
    else:
        print("left out: another user's process; this takes root")


def first(browser, daemon):
    """A phone whose clock goes when it is told to."""
    browser.navigate(f"{daemon.page}?token={daemon.token}")
    until(browser, "the phone that is booted is shown", f"{cell('heart', 1)} === 'not-running'")
    press(browser, "Launch", "heart")
    until(browser, "an app that is launched is active", f"{cell('heart', 1)} === 'active'")
    press(browser, "+10 s")
    until(browser, "the clock goes on when it is told to", "byId('clock').textContent === 'T+00:00:10'")
    until(browser, "the link of the belt is shown, with its strength", f"{cell('belt', 2)} === 'connected' && {cell('belt', 3)} === '-55 dBm'")
    press(browser, "Home", "heart")
    press(browser, "+1 min")
    until(browser, "an app that is left for the home screen is suspended in time", f"{cell('heart', 1)} === 'suspended'")
    before = browser.value("page.runs[0].count")
    press(browser, "Notify", "belt")
    until(browser, "a value that the belt notifies wakes it", f"page.runs[0].count > {before} && VERDICTS[page.runs[0].verdict.at(-1)] === 'resume'")
    until(browser, "its last verdict says so", f"{cell('heart', 4)} === 'characteristic-notified resume Resumed'")
    browser.value("openTab('decisions'), page.list.go(page.order.length - 1)")
    pane = "document.querySelector('#why').innerText"
    words = "['Resumed', 'LIFE-4', 'Checks', '0040']"
    until(browser, "the decision says why, with what was checked and what came", f"{words}.every(word => {pane}.includes(word))", pane)
    browser.value("openTab('now')")
    press(browser, "Lock")
    until(browser, "the phone that is locked can be unlocked", "[...document.querySelectorAll('#verbs button')].some(each => each.textContent === 'Unlock')")
    press(browser, "+1 min")
    press(browser, "Force quit", "heart")
    until(browser, "an app that is swiped away has no process", f"{cell('heart', 1)} === 'not-running'")
    until(browser, "and the timeline tells that from other ends", "STATES[page.runs[0].moves.state.at(-1)] === 'force-quit'")
    # It is told after all that came of the force quit.
    Client().step(True, note="all is told")
    notes = "page.runs[0].json.notes"
    until(browser, "what is noted is told, too", f"{notes}.some(note => note.includes('all is told'))", notes)
    seen = browser.value(DRAWN)
    browser.navigate(f"{daemon.page}?token={daemon.token}")
    until(browser, "the page that is opened anew has the run", f"page.runs[0].count === {len(seen['decisions'])}")
    again = browser.value(DRAWN)
    for part in seen:
        check(f"{part} as they were told are as the log has them", seen[part] == again[part], "" if seen[part] == again[part] else (seen[part], again[part]))
    browser.picture(folder / "virtual.png")


def many(browser, daemon):
    """Ten thousand decisions, while one who listens reads nothing."""
    slow = socket.create_connection(("127.0.0.1", daemon.port), PATIENCE)
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    slow.sendall(f"GET /events?phone=one&token={daemon.token} HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n\r\n".encode())
    wakebench("app", "launch", "heart", "-p", "one")
    wakebench("time", "advance", "10s", "-p", "one")
    before = browser.value("page.runs[0].count")
    client = Client()
    for number in range(10_000):
        client.step(False, notify="belt", characteristic="2A37", value=f"{number:04x}")
    last = client.ask(op="follow", phone="one")["phones"][0]["seq"]
    until(
        browser, f"the page has all of {last - before} decisions more",
        f"page.runs[0].number.at(-1) === {last} && page.runs[0].count === {last}", "[page.runs[0].number.at(-1), page.runs[0].count]",
    )
    browser.value("openTab('decisions')")
    browser.settle()
    elements = browser.value("document.querySelectorAll('*').length")
    check("no more elements than can be seen", elements < 1_500, elements)
    # The quickest of some: another program may have the processor meanwhile.
    one_more = "(() => { const began = performance.now(); renew(); draw(); return performance.now() - began; })()"
    took = min(browser.value(one_more) for _ in range(20))
    check("one more takes less than a tenth of a second", took < 100, f"{took:.0f} ms")
    # With room for as little as before, what is on its way would take minutes.
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    read, end = b"", time.monotonic() + PATIENCE
    while b'"type":"gap"' not in read[-1_000_000:] and select.select([slow], [], [], max(0, end - time.monotonic()))[0]:
        if not (piece := slow.recv(1 << 20)):
            break
        read += piece
    gap = re.search(rb'\{"type":"gap","dropped":(\d+)\}', read)
    missed = int(gap.group(1)) if gap else f"nothing of a gap in {len(read)} bytes, of which the last are {read[-200:]}"
    check("a listener that reads too slowly is told how much it has missed", gap and missed > 100, missed)
    slow.close()
    browser.picture(folder / "many.png")


def moving(browser, daemon):
    """A phone whose clock is the machine's."""
    browser.navigate(f"{daemon.page}?token={daemon.token}&phone=real")
    until(browser, "a phone that is off can be booted", "[...document.querySelectorAll('#verbs button')].some(each => each.textContent === 'Boot')")
    press(browser, "Boot")
    until(browser, "the clock of a phone in real time goes by itself", "live.isReal && page.list && presentTime() > 2e9")
    place = "view.x(presentTime()) / view.width"
    seen = browser.value(f"[view.from, {place}]")
    until(browser, "the timeline moves with it", f"view.from > {seen[0]} + 5e8 && Math.abs({place} - {seen[1]}) < .02")
    browser.value("view.set(0, 1e9)")
    stays = browser.value("new Promise(done => setTimeout(() => done(view.from === Math.max(view.least, 0) || view.from), 700))")
    check("and stays where it is while one looks at what was", stays is True, stays)
    press(browser, "Now", tells=False)
    until(browser, "until one asks for the present", f"{place} > 0 && {place} < 1")
    press(browser, "Launch", "heart")
    until(browser, "an app connects by itself", f"{cell('belt', 2)} === 'connected'")
    until(browser, "and the timeline has what was decided", "page.runs[0].count >= 4 && page.runs[0].moves.time.length >= 1")
    browser.picture(folder / "real.png")


def killed(browser, daemon):
    """The page goes on with the daemon that comes after one that was killed."""
    before = browser.value("page.runs[0].count")
    daemon.end(signal.SIGKILL)
    # Nobody else is given the port before the next daemon listens on it.
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", daemon.port))
        following = Daemon(str(daemon.port))
    check("the token is the same after a kill", following.token == daemon.token)
    browser.value("live.source.readyState")
    until(browser, "the page listens again by itself", f"live.source.readyState === 1 && live.state === 'booted' && page.runs[0].count >= {before}")
    return following


daemon = Daemon()
try:
    wakebench("phone", "create", "one", "--scenario", "Scripts/page.d/belt.yaml", "--clock", "virtual")
    wakebench("phone", "create", "real", "--scenario", "Scripts/page.d/belt.yaml")
    wakebench("phone", "boot", "one")
    strangers(daemon)
    with Browser(reaches="127.0.0.1") as browser:
        first(browser, daemon)
        many(browser, daemon)
        moving(browser, daemon)
        others = [url for url in browser.requests if not url.startswith((daemon.page, "data:", "about:"))]
        check("the page asks nobody else for anything", not others, others or "")
        check("it has nothing to complain of", not browser.complaints, browser.complaints[:3] or "")
        daemon = killed(browser, daemon)
finally:
    daemon.end(signal.SIGTERM)
sys.exit(f"{failures} failed" if failures else 0)
