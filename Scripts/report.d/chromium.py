"""A Chromium without a window, driven over the DevTools protocol by the pipe that it offers: no port, and no package is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 120


class Browser:
    """A browser with one page. What the page asks of the network, and what it complains of, is kept."""

    def __init__(self, width=1440, height=900, reaches=None):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            raise SystemExit("chromium is missing; Scripts/install test installs it")
        self.profile = tempfile.TemporaryDirectory(prefix="wakebench-page-", ignore_cleanup_errors=True)
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        # The browser expects its ends of the pipe as descriptors 3 and 4.
        line = [
            "sh", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "sh", program, "--headless", "--remote-debugging-pipe",
            "--no-first-run", "--no-default-browser-check", "--disable-gpu", "--disable-extensions", "--disable-background-networking",
            "--disable-component-update", "--hide-scrollbars", f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}",
        ]
        # Its sandbox needs what a build server's container may not give; the pages are our own, and are given no network, or
        # the one host that they are on.
        rules = "MAP * ~NOTFOUND" + (f", EXCLUDE {reaches}" if reaches else "")
        line += ["--no-sandbox", "--disable-dev-shm-usage", f"--host-resolver-rules={rules}", "about:blank"]
        self.process = subprocess.Popen(
            line, pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(commands)
        os.close(answers)
        self.number = 0
        self.bytes = b""
        self.loads = set()
        self.requests, self.complaints = [], []
        self.session = None
        page = self.first_page()
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.resize(width, height)

    def first_page(self):
        """The page that the browser begins with. It may answer before there is one."""
        end = time.monotonic() + PATIENCE
        while True:
            targets = self.call("Target.getTargets")["targetInfos"]
            if page := next((each for each in targets if each["type"] == "page"), None):
                return page
            if time.monotonic() > end:
                raise RuntimeError(f"no page in the browser after {PATIENCE} s, but {targets}")
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    def call(self, method, **parameters):
        """Sends a command and gives its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(f"an answer to {method} {parameters}", end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive(self, awaited, end):
        while b"\0" not in self.bytes:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.answers, 1 << 20) if ready else b""
            if not piece:
                state = f"the browser ended with {self.process.poll()}" if ready else f"nothing came for {PATIENCE} s"
                raise RuntimeError(f"expected {awaited}; {state}")
            self.bytes += piece
        message, _, self.bytes = self.bytes.partition(b"\0")
        message = json.loads(message)
        self.take(message)
        return message

    def take(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(each.get("value", each.get("description"))) for each in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Page.lifecycleEvent" and parameters["name"] == "load":
            self.loads.add(parameters["loaderId"])

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def theme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path, fragment=""):
        """Opens a file, and waits until it is there and was painted. Gives the seconds to its first paint."""
        self.navigate("about:blank")
        self.requests.clear()
        began = time.monotonic()
        self.navigate(f"file://{os.path.abspath(path)}{fragment}")
        self.loaded = time.monotonic() - began
        # What is painted first need not have contents, and may be told alone.
        return self.value(
            """new Promise(done => new PerformanceObserver(list => {
              for (const paint of list.getEntriesByName('first-contentful-paint')) done(paint.startTime / 1000);
            }).observe({ type: 'paint', buffered: true }))"""
        )

    def navigate(self, url):
        answer = self.call("Page.navigate", url=url)
        if "errorText" in answer:
            raise RuntimeError(f"{url}: {answer['errorText']}")
        end = time.monotonic() + PATIENCE
        while answer["loaderId"] not in self.loads:
            self.receive(f"{url} to be loaded", end)

    def value(self, expression):
        """What an expression of the page comes to; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def becomes(self, condition, patience=60):
        """Waits until a condition of the page holds, and says whether it came to that."""
        return self.value(
            """new Promise(done => {
              const began = performance.now();
              (function look() {
                let isSo = false;
                try { isSo = %s; } catch { /* Not there yet. */ }
                if (isSo) done(true);
                else if (performance.now() - began > %d) done(false);
                else setTimeout(look, 20);
              })();
            })"""
            % (condition, patience * 1000)
        )

    def settle(self):
        """Waits until what was asked for is painted."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def key(self, key):
        code = {"Escape": 27, "Enter": 13}.get(key, 0)
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def wheel(self, x, y, turns=12):
        """Turns the wheel in and out again; the milliseconds from each turn to the end of the frame that it asked for."""
        turn = "{deltaY: turn < %d ? -120 : 120, clientX: %d, clientY: %d, bubbles: true, cancelable: true}" % (turns // 2, x, y)
        return self.value(
            """(async () => {
              const times = [];
              for (let turn = 0; turn < %d; turn++) {
                const began = performance.now();
                document.querySelector('#rows').dispatchEvent(new WheelEvent('wheel', %s));
                await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
                times.push(performance.now() - began);
              }
              return times;
            })()"""
            % (turns, turn)
        )

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
