"""How fast the page of a run is in Chromium, without a graphics processor: page.py FOLDER."""
import os
import statistics
import sys

from chromium import Browser

MOST_PAINT, MOST_FRAME = 1000, 50
page = os.path.join(sys.argv[1], "report.html")

with Browser() as browser:
    rounds = []
    for _ in range(5):
        paint = browser.open(page) * 1000
        rounds.append((paint, browser.loaded * 1000))
    count = browser.value("page.order.length")
    print(f"{count} decisions, {os.path.getsize(page) / 1e6:.1f} MB")
    paint, ready = (statistics.median(each) for each in zip(*rounds))
    print(f"first paint {paint:.0f} ms, ready {ready:.0f} ms (median of {len(rounds)})")
    frames = []
    for _ in range(5):
        browser.value("view.fit(), page.scroller.scrollTop += 400")
        frames += browser.wheel(800, 300, turns=40)
    frames.sort()
    middle, high = statistics.median(frames), frames[len(frames) * 95 // 100]
    print(f"a turn of the wheel: {middle:.0f} ms to the end of its frame, 95 of 100 below {high:.0f} ms, the slowest {frames[-1]:.0f} ms")
    times = browser.value(
        "['verdict:deny', 'characteristic', 'app:steady.1 -verdict:resume'].map(text => {"
        "const began = performance.now(); find(text); return [text, finding.count, performance.now() - began]; })"
    )
    for text, found, took in times:
        print(f"search for {text}: {found} found in {took:.0f} ms")
sys.exit(0 if paint < MOST_PAINT and high < MOST_FRAME else 1)
