"""Looks at pages as a person does: look.py PROGRAM FOLDER, where FOLDER has the runs commute, other, belts and failing, and
their pages."""
import collections
import json
import pathlib
import re
import subprocess
import sys

from chromium import Browser

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
failures = 0


def check(what, good, found=""):
    global failures
    if not good:
        failures += 1
    print(f"{'ok    ' if good else 'FAILED'}  {what}{f': {found}' if found != '' else ''}", flush=True)


def records(run):
    """The decisions of a run, as `wakebench log` prints them."""
    lines = subprocess.run([program, "log", str(folder / run)], check=True, capture_output=True, text=True).stdout.splitlines()
    return [record for record in map(json.loads, lines) if record["schema"] == "wake.decision/2"]


def denials(run):
    """How many decisions of the log itself are denials: those of each shape that is one, without wakebench's own reading."""
    shapes, count = {}, 0
    with open(folder / run / "decisions.ndjson") as lines:
        for line in lines:
            value = json.loads(line)
            if value.get("schema") == "wake.shape/1":
                shapes[value["shape"]] = value["record"]["verdict"]
            elif "shape" in value:
                count += shapes[value["shape"]] == "deny"
            elif value.get("schema") == "wake.decision/2":
                count += value["verdict"] == "deny"
    return count


def search(browser, text):
    """Types a search, and gives how many the page says it finds."""
    browser.key("/")
    browser.value("document.querySelector('#find').value = ''")
    browser.call("Input.insertText", text=text)
    browser.value("document.querySelector('#find').dispatchEvent(new Event('input'))")
    browser.settle()
    found = browser.value("document.querySelector('#found').textContent")
    count = re.search(r"([\d\u202f]+) found", found)
    return int(count.group(1).replace("\u202f", "")) if count else None


def pane(browser):
    """What the page says of the decision that is chosen."""
    return browser.value("document.querySelector('#why').innerText")


def plain(text):
    return " ".join(text.split())


def why_text(run, record):
    """What `wakebench why` says of a record, in one line."""
    words = [program, "why", record["app"]["bundle"], "--run", str(folder / run), "--event", record["event"]["id"]]
    return plain(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def begin(browser, page, fragment=""):
    paint = browser.open(folder / page, fragment)
    print(f"        {page}: first paint after {paint * 1000:.0f} ms, ready after {browser.loaded * 1000:.0f} ms", flush=True)


def is_quiet(browser, page):
    others = [url for url in browser.requests if not url.endswith(page)]
    check(f"{page} asks the network for nothing", not others, others or "")
    check(f"{page} has nothing to complain of", not browser.complaints, browser.complaints or "")


def commute(browser):
    page = "commute/report.html"
    begin(browser, page)
    log = records("commute")
    counts = collections.Counter(record["verdict"] for record in log)
    for verdict, count in sorted(counts.items()):
        check(f"a search for verdict:{verdict} finds all", search(browser, f"verdict:{verdict}") == count, count)
    words = 'app:companion "region" -verdict:deny'
    wanted = sum(
        bool(record["app"]) and record["app"]["bundle"] == "com.example.companion" and record["verdict"] != "deny"
        and "region" in f"{record['event']['kind']} {record['event']['subject']} {record['reason']}".lower()
        for record in log
    )
    check("words together find what has all of them", search(browser, words) == wanted > 0, wanted)
    same_words(browser, log)
    chosen_by_hand(browser)
    pictures(browser, "commute")
    is_quiet(browser, page)


def same_words(browser, log):
    """Of one decision of each ruling: the page and the command say the same."""
    events = collections.Counter((record["event"]["id"], record["app"] and record["app"]["bundle"]) for record in log)
    samples = {}
    for record in log:
        if record["app"] and events[record["event"]["id"], record["app"]["bundle"]] == 1:
            samples[record["verdict"], record["reason"]] = record
    different = []
    for record in samples.values():
        said = browser.value(f"whyLines(page.runs[0], page.runs[0].find({record['seq']})).map(line => line.join(' ')).join(' ')")
        if plain(said) != why_text("commute", record):
            different.append((plain(said), why_text("commute", record)))
    check(f"the page says of {len(samples)} decisions what wakebench why says", samples and not different, different[:2] or "")


def chosen_by_hand(browser):
    """A click in the list, a click on a sign of the timeline, and the link to what is seen then."""
    count = search(browser, "verdict:deny reason:ForceQuit")
    box = browser.value("(({ x, y }) => ({ x, y }))(document.querySelector('#decisions .line').getBoundingClientRect())")
    browser.click(box["x"] + 60, box["y"] + 10)
    says_why = browser.becomes("['decisive', 'LAUNCH-2'].every(word => document.querySelector('#why').innerText.includes(word))")
    text = pane(browser)
    check("a click in the list says why, with the check that decided", count == 1 and says_why, count if says_why else text)
    browser.value("view.set(chosen.run.time[chosen.i] - 1e12, chosen.run.time[chosen.i] + 1e12), choose(null)")
    browser.settle()
    place = browser.value(
        "(() => { const box = document.querySelector('#rows').getBoundingClientRect(), run = page.runs[0];"
        "const i = run.find(finding.order[0] + 1), row = page.rows.find(each => each.title === run.appOf(i));"
        "showRow(run, i); draw(); return { x: box.x + view.x(run.time[i]), y: box.y + row.y - page.scroller.scrollTop + 11 }; })()"
    )
    browser.click(place["x"], place["y"])
    is_same = browser.becomes(f"document.querySelector('#why').innerText === {json.dumps(text)}")
    check("a click on its sign in the timeline says the same", is_same, "" if is_same else pane(browser))
    browser.mouse("mouseMoved", place["x"] - 80, place["y"])
    browser.mouse("mousePressed", place["x"] - 80, place["y"], button="left", clickCount=1, modifiers=8)
    for step in range(1, 5):
        browser.mouse("mouseMoved", place["x"] - 80 + 40 * step, place["y"], button="left", modifiers=8)
    browser.mouse("mouseReleased", place["x"] + 80, place["y"], button="left", clickCount=1, modifiers=8)
    selects = browser.becomes("['force-quit', 'from T+22:'].every(word => document.querySelector('#span').innerText.includes(word))")
    span = browser.value("document.querySelector('#span').innerText")
    check("a drag with Shift selects a span and tells its length and states", selects, span.splitlines()[0] if selects else span)
    browser.value("tellAddress(true)")
    look = "[location.hash, document.querySelector('#span').innerText, document.querySelector('#find').value]"
    seen = browser.value(look)
    browser.open(folder / "commute/report.html", seen[0])
    browser.value("tellAddress(true)")
    check("its link opens the same view, span, search and decision", browser.value(look) == seen and pane(browser) == text, seen[0])


def keys(browser):
    """The keys move what is seen."""
    look = "[view.from, view.to]"
    browser.value("view.fit(), document.querySelector('#scroller').focus()")
    whole = browser.value(look)
    browser.key("w")
    near = browser.value(look)
    browser.key("d")
    right = browser.value(look)
    browser.key("f")
    check("W zooms in, D goes to the right, F shows the whole run", whole[0] < near[0] < right[0] and browser.value(look) == whole)
    browser.key("?")
    check("? lists the keys", browser.becomes("document.querySelector('#keys').open && document.querySelectorAll('#keys kbd').length > 15"))
    browser.key("Escape")
    check("Escape closes the list of keys", browser.becomes("!document.querySelector('#keys').open"))


def belts(browser):
    page = "belts/report.html"
    begin(browser, page)
    one = browser.value("page.runs[0].ofApp.of(page.runs[0].apps.indexOf('com.example.steady.1')).length")
    check("a search for app:steady.1 finds that app alone, and not steady.10", search(browser, "app:steady.1") == one, one)
    wanted = denials("belts")
    check("a search for verdict:deny finds every denial of the log", search(browser, "verdict:deny") == wanted > 10_000, wanted)
    browser.value("page.list.body.scrollTop = 1e9")
    shown = "Math.max(...[...document.querySelectorAll('#decisions .line')].map(line => line.getAttribute('aria-rowindex')))"
    browser.becomes(f"{shown} === {wanted + 1}")
    last = browser.value(shown)
    lines = browser.value("document.querySelectorAll('#decisions .line').length")
    check("the list has them to the last, and only those in sight in the document", last == wanted + 1 and lines < 100, f"{lines} of {last - 1}")
    apps = browser.value("page.rows.filter(row => row.kind === 'app').length")
    check("the timeline has a row for each of 100 apps", apps == 100, apps)
    keys(browser)
    times = browser.wheel(800, 300)
    print(f"        wheel, from the turn to the end of the frame: {', '.join(f'{time:.0f}' for time in times)} ms", flush=True)
    pictures(browser, "belts")
    is_quiet(browser, page)


def two(browser):
    page = "commute/comparison.html"
    begin(browser, page)
    words = [program, "compare", str(folder / "commute"), str(folder / "other")]
    said = subprocess.run(words, capture_output=True, text=True).stdout
    changes = browser.value("document.querySelector('#tab-changes').textContent")
    told = int(re.search(r"\((.*)\)", changes).group(1).replace("\u202f", ""))
    check("two runs: what differs is counted and marked", told > 0 and search(browser, "is:differing") >= told, changes)
    shown = browser.value("document.querySelector('#changes .said').title")
    check("two runs: the page says what wakebench compare says", plain(shown) == plain(said), said[:80])
    letters = browser.value("[...document.querySelectorAll('#names .letter')].map(letter => letter.textContent).join('')")
    check("two runs: their rows stand in pairs", "AB" in letters, letters)
    pictures(browser, "two")
    is_quiet(browser, page)


OPEN = "[...document.querySelectorAll('#tabs button')].filter(each => each.ariaSelected === 'true').map(each => each.textContent).join()"
HEAD = "(each => each && [each.textContent, getComputedStyle(each).color])(document.querySelector('h1 .missed'))"
DENY = "(each => { each.style.color = 'var(--deny)'; document.body.append(each); const { color } = getComputedStyle(each); each.remove(); return color; })(document.createElement('i'))"


def failing(browser):
    """A run of which one expectation was not met: its page begins with that. One that passed begins with its decisions."""
    page = "commute/report.html"
    begin(browser, page)
    check("a run that passed opens with its decisions, and has no word of a failure", browser.value(f"[{HEAD}, {OPEN}]") == [None, "Decisions"])
    check("nor a mark of one", browser.value("page.runs[0].json.failures.length === 0 && page.rows.every(row => row.label !== 'not met')"))
    page = "failing/report.html"
    begin(browser, page)
    head, colour = browser.value(HEAD) or ("", "")
    check("a run that failed says so in its head", head == "1 of 2 expectations not met", head)
    check("in the colour of a denial", colour == browser.value(DENY), colour)
    browser.resize(1280, 800)
    whole = browser.value("(each => [each.scrollWidth <= each.clientWidth, each.textContent])(document.querySelector('h1'))")
    check("whole, with the name of the scenario, in a window of 1280 pixels", whole == [True, "1 of 2 expectations not met failing"], whole)
    browser.resize(1440, 900)
    check("and opens with what it came to", browser.value(OPEN) == "Run", browser.value(OPEN))
    lines = browser.value("document.querySelector('#run').innerText").split("\n")
    place = next((each for each, line in enumerate(lines) if "pulse relaunch: 1" in line), -1)
    others = [each for each, line in enumerate(lines) if "pulse resume: at least 1" in line or "decisions:" in line]
    check("where what was missed stands first", 0 <= place < min(others, default=-1), lines[:4])
    mark = browser.value("page.runs[0].json.failures.map(([time, , text, place]) => [time, text, place])")
    end = browser.value("page.runs[0].end")
    text = "not met: pulse relaunch: 1; found 0"
    is_marked = [each[:2] for each in mark] == [[end, text]] and mark[0][2].endswith("failing.yaml:16")
    check("its time is marked in the timeline", is_marked, mark)
    found = browser.value(f"page.rows.find(row => row.label === 'not met').under(view.x({end}), 1).lines.join(' ')")
    check("and the mark says what was missed, and where", text in found and "failing.yaml:16" in found, found)
    red = (
        "(() => { draw(); const { canvas, context } = pens.rows; const ratio = canvas.width / canvas.clientWidth;"
        f"const [x, colour] = [Math.round(view.x({end}) * ratio), getComputedStyle(document.documentElement).getPropertyValue('--deny').trim()];"
        "const wanted = colour.match(/[0-9a-f]{2}/gi).map(part => parseInt(part, 16));"
        "const { data } = context.getImageData(x - 2, canvas.height - 8, 5, 1);"
        "return [0, 1, 2, 3, 4].some(place => wanted.every((part, each) => Math.abs(data[place * 4 + each] - part) < 40)); })()"
    )
    check("by a line through its rows", browser.value(red))
    browser.value("openTab('decisions'), tellAddress(true)")
    fragment = browser.value("location.hash")
    browser.open(folder / page, fragment)
    check("a link to another tab opens that", browser.value(OPEN) == "Decisions", fragment)
    values(browser)
    has_room(browser)
    pictures(browser, "failing")
    is_quiet(browser, page)


def has_room(browser):
    """Whether one sees what one searches for beside a run with a long name, in windows of all widths."""
    browser.value("document.querySelector('h1').append(' and-a-name-that-has-no-room-in-a-window'.repeat(5))")
    for width in (1440, 1280, 1000, 900, 390):
        browser.resize(width, 900)
        room = browser.value("document.querySelector('#find').clientWidth")
        reach = browser.value("Math.max(...[...document.querySelectorAll('#search *, #tools *')].map(each => each.getBoundingClientRect().right))")
        check(f"a window of {width} has room to search beside a long name", room >= 150 and reach <= width, [room, reach])
    browser.resize(1440, 900)
    browser.value("document.querySelector('h1').lastChild.remove()")


def values(browser):
    """The bytes that came with events, of an app that has no process."""
    said = [record["value"] for record in records("failing") if record["event"]["kind"] == "characteristic-notified"]
    check("wakebench log has the value of each notification", said[:2] == ["0048", "0049"] and said[-1] == "0051", said)
    check("a search for a value finds its decision", search(browser, "value:0051") == 1)
    row = browser.value("[...document.querySelectorAll('#decisions .line span')].map(cell => cell.textContent)")
    check("its line in the list has the value", "0051" in row, row)
    browser.value("step(1)")
    check("and so has what is said of it", "0051" in pane(browser), pane(browser))


HOSTILE = "</script><img src=x onerror='window.hurt=1'><!--"


def hostile(browser):
    """An app with a name that would be markup, in the logs of a run that is over."""
    run = folder / "hostile"
    run.mkdir(exist_ok=True)
    for name in ("decisions.ndjson", "outcomes.ndjson"):
        text = (folder / "other" / name).read_text()
        (run / name).write_text(text.replace("com.example.player", HOSTILE).replace('"name":"player"', f'"name":"{HOSTILE}"'))
    subprocess.run([program, "report", str(run)], check=True, stdout=subprocess.DEVNULL)
    page = "hostile/report.html"
    begin(browser, page)
    browser.value("step(1), select({from: 0, to: 1e12}), openTab('decisions')")
    browser.settle()
    shown = browser.value("[...document.querySelectorAll('#decisions .line, #names .name, #why')].some(each => each.textContent.includes('onerror'))")
    hurt = browser.value("'hurt' in window || document.images.length > 0")
    check("a name that would be markup is shown as it is, and does nothing", shown and not hurt)
    is_quiet(browser, page)


def pictures(browser, name):
    browser.key("Escape")
    for theme in ("light", "dark"):
        browser.theme(theme)
        browser.settle()
        browser.picture(folder / f"{name}-{theme}.png")
    browser.theme("light")


with Browser() as browser:
    commute(browser)
    belts(browser)
    two(browser)
    failing(browser)
    hostile(browser)
print(f"pictures: {folder}/*.png")
sys.exit(1 if failures else 0)
