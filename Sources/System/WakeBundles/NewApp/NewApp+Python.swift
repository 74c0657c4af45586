extension NewApp {
    var pythonScript: String {
        """
        #!/usr/bin/env python3
        \"""Follows a heart-rate belt in the background, over Wakebench's wire.\"""
        import base64
        import json
        import os
        import socket

        SERVICE, MEASUREMENT = "180D", "2A37"
        CENTRAL = 1  # The number this process gives its only central manager.


        class App:
            def __init__(self):
                self.socket = socket.socket(fileno=int(os.environ["WAKEBENCH_SOCKET"]))
                self.belt = None
                self.count = 0

            def send(self, **message):
                self.socket.send(json.dumps(message).encode())

            def run(self):
                self.send(type="hello", version=1, client="python", pid=os.getpid())
                while packet := self.socket.recv(65536):
                    self.handle(json.loads(packet))

            def handle(self, message):
                kind = message["type"]
                if kind == "welcome":
                    restored = message.get("launchOptions", {}).get("bluetoothCentrals", [])
                    log(f"didFinishLaunching pid={os.getpid()} launchOptions={restored}")
                    # The restore identifier lets the system launch the app again for what its central waits for.
                    self.send(type="central.create", id=1, manager=CENTRAL, restoreIdentifier="belts")
                    self.send(type="launched")
                elif kind == "callback":
                    log(message["name"])
                elif kind == "deliver":
                    self.deliver(message)
                # Only now: what is acknowledged counts as done, and the app may be suspended.
                if "delivery" in message:
                    self.send(type="ack", delivery=message["delivery"])

            def deliver(self, message):
                kind, peripheral = message["kind"], message.get("peripheral")
                if kind == "central.willRestore":
                    log(f"willRestoreState peripherals={len(message['peripherals'])}")
                    self.belt = next(iter(message["peripherals"]), None)
                elif kind == "central.state" and message["state"] == "poweredOn":
                    self.begin()
                elif kind == "central.discovered":
                    log(f"didDiscover {peripheral.get('name', '?')}")
                    self.send(type="central.stopScan", manager=CENTRAL)
                    self.send(type="central.connect", manager=CENTRAL, peripheral=peripheral["identifier"])
                elif kind == "central.connected":
                    log("didConnect")
                    self.ask("discoverServices", peripheral, services=[SERVICE])
                elif kind in ("central.disconnected", "central.failedToConnect"):
                    log("didDisconnect")
                    self.send(type="central.connect", manager=CENTRAL, peripheral=peripheral)
                elif kind == "peripheral.services":
                    for service in message["services"]:
                        self.ask("discoverCharacteristics", peripheral, service=service["handle"],
                                 characteristics=[MEASUREMENT])
                elif kind == "peripheral.characteristics":
                    for characteristic in message["characteristics"]:
                        self.ask("setNotify", peripheral, attribute=characteristic["handle"], enabled=True)
                elif kind == "peripheral.value":
                    value = base64.b64decode(message["value"])
                    self.count += 1
                    log(f"didUpdateValue pid={os.getpid()} count={self.count} value={value.hex()} bpm={value[1]}")

            def begin(self):
                if self.belt is None:
                    self.send(type="central.scan", manager=CENTRAL, services=[SERVICE], allowDuplicates=False)
                elif self.belt["state"] != "connected":
                    self.send(type="central.connect", manager=CENTRAL, peripheral=self.belt["identifier"])
                elif not self.belt.get("services"):
                    self.ask("discoverServices", self.belt["identifier"], services=[SERVICE])

            def ask(self, what, peripheral, **rest):
                self.send(type=f"peripheral.{what}", manager=CENTRAL, peripheral=peripheral, **rest)


        def log(line):
            print(line, flush=True)


        App().run()

        """
    }
}
