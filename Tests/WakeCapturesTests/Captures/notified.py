"""What tshark says was notified and indicated in each capture beside this file, as NAME.notified.tsv: seconds since the first record, opcode,
handle, value."""

import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
KINDS = (".btsnoop", ".pcap", ".pcapng", ".pklg")

for capture in sorted(each for each in HERE.iterdir() if each.suffix in KINDS):
    asked = ["tshark", "-r", capture, "-Y", "btatt.opcode == 0x1b || btatt.opcode == 0x1d", "-T", "json", "-x"]
    packets = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout or "[]")
    lines = []
    for packet in packets:
        layers = packet["_source"]["layers"]
        # Of notified values tshark knows many by their UUID, so the packet's own bytes are taken.
        attribute = layers["btatt_raw"][0]
        handle = attribute[4:6] + attribute[2:4]
        lines.append(f"{layers['frame']['frame.time_relative']}\t0x{attribute[:2]}\t0x{handle}\t{attribute[6:]}\n")
    (HERE / f"{capture.name}.notified.tsv").write_text("".join(lines), encoding="utf-8")
