"""Uses the page of a daemon as a person does, and tries its door as strangers do: look.py PROGRAM FOLDER."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

from chromium import Browser

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
control = str((folder / "control.sock").resolve())
environment = os.environ | {"WAKEBENCH_SOCKET": control}
failures = 0


def check(what, good, found=""):
    global failures
    if not good:
        failures += 1
    print(f"{'ok    ' if good else 'FAILED'}  {what}{f': {found}' if found != '' else ''}", flush=True)


class Daemon:
    def __init__(self, *options):
        line = [program, "serve", "--state", str(folder / "state"), "--http", *options]
        self.process = subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True)
        for said in self.process.stderr:
            if found := re.search(r"page at (http://127\.0\.0\.1:(\d+)/)\?token=([0-9a-f]{32})$", said.rstrip()):
                self.page, self.port, self.token = found.group(1), int(found.group(2)), found.group(3)
                return
        raise SystemExit("the daemon told no address")

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stderr.close()


def wakebench(*words):
    ended = subprocess.run([program, *words], env=environment, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"{words}: {ended.stderr}")
    return ended.stdout


def status(url, body=None, **fields):
    """The status of an answer."""
    request = urllib.request.Request(url, body, {name.replace("_", "-"): value for name, value in fields.items()})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def until(browser, what, condition):
    """Waits until something is so on the page."""
    script = """new Promise((done, fail) => {
      const began = performance.now();
      (function look() {
        let isSo = false;
        try { isSo = %s; } catch { /* Not there yet. */ }
        if (isSo) done(true);
        else if (performance.now() - began > 30000) done(false);
        else setTimeout(look, 20);
      })();
    })""" % condition
    good = browser.value(script)
    found = "" if good else browser.value("[document.querySelector('#told').textContent, document.querySelector('#now').innerText]")
    check(what, good, found)


def press(browser, text, row=None):
    """Presses a button by its text, of the phone or of a row of the tables."""
    place = f"#now tr[data-name=\"{row}\"]" if row else "#live"
    box = browser.value(
        f"(box => [box.x + box.width / 2, box.y + box.height / 2])"
        f"([...document.querySelectorAll('{place} button')].find(each => each.textContent === '{text}' && !each.hidden).getBoundingClientRect())"
    )
    browser.click(*box)


def cell(row, column):
    return f"document.querySelector('#now tr[data-name=\"{row}\"]').cells[{column}].textContent"


# What the page has of the run, as the timeline draws it.
DRAWN = """(run => ({
  decisions: Array.from(run.number, (number, i) => [number, run.time[i], run.appOf(i), run.happening(i), VERDICTS[run.verdict[i]],
    run.reasonOf(i), run.ruleOf(i), run.budgetOf(i)]),
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
        answer = subprocess.run([*other, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", address], capture_output=True, text=True)
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
    pane = browser.value("document.querySelector('#why').innerText")
    check("the decision says why, with what was checked", "Resumed" in pane and "LIFE-4" in pane and "Checks" in pane, pane[:80])
    browser.value("openTab('now')")
    press(browser, "Lock")
    until(browser, "the phone that is locked can be unlocked", "[...document.querySelectorAll('#verbs button')].some(each => each.textContent === 'Unlock')")
    press(browser, "+1 min")
    press(browser, "Force quit", "heart")
    until(browser, "an app that is swiped away has no process", f"{cell('heart', 1)} === 'not-running'")
    until(browser, "and the timeline tells that from other ends", "STATES[page.runs[0].moves.state.at(-1)] === 'force-quit'")
    seen = browser.value(DRAWN)
    browser.navigate(f"{daemon.page}?token={daemon.token}")
    until(browser, "the page that is opened anew has the run", f"page.runs[0].count === {len(seen['decisions'])}")
    again = browser.value(DRAWN)
    for part in seen:
        check(f"{part} as they were told are as the log has them", seen[part] == again[part], "" if seen[part] == again[part] else (seen[part], again[part]))
    browser.picture(folder / "virtual.png")


def many(browser, daemon):
    """Ten thousand decisions, while one who listens reads nothing."""
    slow = socket.create_connection(("127.0.0.1", daemon.port))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    slow.sendall(f"GET /events?phone=one&token={daemon.token} HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n\r\n".encode())
    wakebench("app", "launch", "heart", "-p", "one")
    wakebench("time", "advance", "10s", "-p", "one")
    before = browser.value("page.runs[0].count")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(control)
        answers = client.makefile("rb")
        for number in range(10_000):
            step = {"notify": "belt", "characteristic": "2A37", "value": f"{number:04x}"}
            client.sendall(json.dumps({"op": "do", "phone": "one", "wait": False, "command": {"step": step}}).encode() + b"\n")
            if not json.loads(answers.readline())["ok"]:
                raise SystemExit("a value was refused")
        client.sendall(b'{"op":"follow","phone":"one"}\n')
        last = json.loads(answers.readline())["phones"][0]["seq"]
    until(browser, f"the page has all of {last - before} decisions more", f"page.runs[0].number.at(-1) === {last} && page.runs[0].count === {last}")
    browser.value("openTab('decisions')")
    browser.settle()
    elements = browser.value("document.querySelectorAll('*').length")
    check("no more elements than can be seen", elements < 1_500, elements)
    took = browser.value("(() => { const began = performance.now(); renew(); draw(); return performance.now() - began; })()")
    check("one more takes less than a tenth of a second", took < 100, f"{took:.0f} ms")
    slow.settimeout(20)
    read = b""
    while b'"type":"gap"' not in read[-1_000_000:]:
        piece = slow.recv(1 << 20)
        if not piece:
            break
        read += piece
    gap = re.search(rb'\{"type":"gap","dropped":(\d+)\}', read)
    check("who reads too slowly is told how much he has missed", gap and int(gap.group(1)) > 100, gap and int(gap.group(1)))
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
    press(browser, "Now")
    until(browser, "until one asks for the present", f"{place} > 0 && {place} < 1")
    press(browser, "Launch", "heart")
    until(browser, "an app connects by itself", f"{cell('belt', 2)} === 'connected'")
    until(browser, "and the timeline has what was decided", "page.runs[0].count >= 4 && page.runs[0].moves.time.length >= 1")
    browser.picture(folder / "real.png")


def killed(browser, daemon):
    """The page goes on with the daemon that comes after one that was killed."""
    before = browser.value("page.runs[0].count")
    daemon.end(signal.SIGKILL)
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
