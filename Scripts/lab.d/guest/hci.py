"""Gives the guest's kernel a controller that is at the other end of a serial port: hci.py PORT

The port carries packets of HCI one after the other, and /dev/vhci takes and gives one at a time. Prints the index of the controller.
"""

import errno
import os
import select
import sys

# By the first octet of a packet that comes from a controller: octets of its header, and where and how long its length is.
HEADERS = {2: (5, 3, 2), 3: (4, 3, 1), 4: (3, 2, 1), 5: (5, 3, 2)}
VENDOR, PRIMARY = 0xFF, 0


def packets(octets):
    """Takes whole packets out of a bytearray."""
    while octets:
        header, at, size = HEADERS[octets[0]]
        if len(octets) < header:
            return
        length = header + int.from_bytes(octets[at:at + size], "little")
        if len(octets) < length:
            return
        yield bytes(octets[:length])
        del octets[:length]


port = os.open(sys.argv[1], os.O_RDWR)
kernel = os.open("/dev/vhci", os.O_RDWR)
os.write(kernel, bytes([VENDOR, PRIMARY]))
print(int.from_bytes(os.read(kernel, 4)[2:], "little"), flush=True)
came = bytearray()
ready = select.poll()
for each in port, kernel:
    ready.register(each, select.POLLIN)
while True:
    for each, events in ready.poll():
        if each == kernel:
            packet = os.read(kernel, 4096)
            while packet:
                packet = packet[os.write(port, packet):]
        elif octets := os.read(port, 65536):
            came += octets
            for packet in packets(came):
                try:
                    os.write(kernel, packet)
                except OSError as error:
                    # The kernel takes nothing for a controller that is down, and what comes then is for nothing.
                    if error.errno != errno.ENXIO:
                        raise
        else:
            sys.exit("hci: the port was closed")
