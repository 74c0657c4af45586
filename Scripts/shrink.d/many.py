#!/usr/bin/env python3
"""Writes a scenario of many steps into a folder, of which one leads to the refusals that its expectation forbids.

usage: many.py STEPS FOLDER
"""

import random
import sys

BELT = """device: bluetooth-peripheral
address: "F0:11:22:33:44:55"
advertising: {services: [180D]}
gatt:
  - service: 180D
    characteristics:
      - {uuid: 2A37, properties: [notify], value: "0048"}
"""

HEAD = """scenario: many
devices: [{file: belt.yaml, name: belt, count: 40}]
apps:
  # They share belts with the others, and have no restore identifier.
  - scripted: com.example.plain
    name: plain
    count: 40
    modes: [bluetooth-central]
    uses: [{device: belt, characteristic: 2A37}]
    on: [{event: any, work: 1s, then: end}]
  - scripted: com.example.steady
    name: steady
    count: 40
    modes: [bluetooth-central]
    restore-identifier: central
    uses: [{device: belt, characteristic: 2A37}]
    on: [{event: any, work: 1s, then: end}]
steps:
  - {at: 0, launch: [plain, steady]}
  - {at: 5s, home: [plain, steady]}
"""


def main():
    steps, folder = int(sys.argv[1]), sys.argv[2]
    numbers = random.Random(5)
    lines = []
    for number in range(steps - 2):
        time = f"{10 + number}s"
        if number == steps // 2:
            lines.append(f"  - {{at: {time}, terminate: plain.7, cause: memory}}")
            continue
        belt, value = numbers.randrange(40) + 1, numbers.randrange(256)
        lines.append(f'  - {{at: {time}, notify: belt.{belt}, characteristic: 2A37, value: "{value:04x}"}}')
    with open(f"{folder}/belt.yaml", "w") as file:
        file.write(BELT)
    with open(f"{folder}/many.yaml", "w") as file:
        file.write(HEAD + "\n".join(lines) + "\nexpect:\n  - {app: plain, verdict: deny, count: 0}\n")


main()
