"""Plugs recorded devices into a world of umockdev's, for a program that runs in it: plug.py RECORDING PROGRAM ARGUMENT...

To be run by umockdev-wrapper. Lines on standard input are carried out, others go to the program:

    plug NODE       the recorded device is there, with its file under this name, and udev says so
    pull            it goes
    vanish          it goes, and udev does not say so
    say HEX         its tty says bytes
    hear COUNT      waits for so many bytes on its tty: `heard HEX`

What the program says goes to standard output as it is. It is a tty pair of this program that stands behind the device's file.
"""

import os
import pty
import re
import subprocess
import sys
import tty

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402


class World:
    def __init__(self, recording):
        self.testbed = UMockdev.Testbed.new()
        self.root = self.testbed.get_root_dir()
        # The device with the file comes first, then what it hangs on.
        own, _, parents = open(recording, encoding="utf-8").read().partition("\n\n")
        self.own, self.parents = own + "\n\n", parents
        self.was = re.search(r"^N: (\w+)", own, re.M).group(1)
        self.node = self.path = self.far = self.near = None

    def named(self, node):
        """The device under another name, and the number that goes with it."""
        text = re.sub(rf"\b{self.was}\b", node, self.own)
        number = re.search(r"\d+$", node).group()
        text = re.sub(r"^E: MINOR=\d+$", f"E: MINOR={number}", text, flags=re.M)
        return re.sub(r"^A: dev=(\d+):\d+", rf"A: dev=\1:{number}", text, flags=re.M)

    def plug(self, node):
        if self.parents:
            self.testbed.add_from_string(self.parents)
            self.parents = None
        self.far, self.near = pty.openpty()
        tty.setraw(self.near)
        text = self.named(node)
        self.testbed.add_from_string(text)
        self.node, self.path = f"{self.root}/dev/{node}", "/sys" + re.search(r"^P: (\S+)", text, re.M).group(1)
        if os.path.lexists(self.node):
            os.unlink(self.node)
        os.symlink(os.ttyname(self.near), self.node)
        self.testbed.uevent(self.path, "add")

    def pull(self, said=True):
        os.close(self.far)
        os.close(self.near)
        if said:
            self.testbed.uevent(self.path, "remove")
        os.unlink(self.node)
        self.testbed.remove_device(self.path)


def main():
    world = World(sys.argv[1])
    program = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "plug":
            world.plug(words[1])
        elif words[0] == "pull":
            world.pull()
        elif words[0] == "vanish":
            world.pull(said=False)
        elif words[0] == "say":
            os.write(world.far, bytes.fromhex(words[1]))
        elif words[0] == "hear":
            heard = b""
            while len(heard) < int(words[1]):
                heard += os.read(world.far, int(words[1]) - len(heard))
            print("heard", heard.hex(), flush=True)
        else:
            program.stdin.write(line.encode())
            program.stdin.flush()
    program.stdin.close()
    sys.exit(program.wait())


main()
