"""Takes an adapter away from bluetoothd for as long as this runs: away.py INDEX

Whoever holds the user channel of an adapter owns it alone, and the kernel tells everybody else that its index is gone.
Its links are gone with it. Prints `away` once it is; it comes back when the process ends.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys

USER_CHANNEL = 1
HCIDEVDOWN = 0x400448CA

with socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI) as control:
    fcntl.ioctl(control.fileno(), HCIDEVDOWN, int(sys.argv[1]))
held = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI)
address = struct.pack("<HHH", socket.AF_BLUETOOTH, int(sys.argv[1]), USER_CHANNEL)
# Python's own bind() knows no channel.
if ctypes.CDLL(None, use_errno=True).bind(held.fileno(), address, len(address)) != 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("away", flush=True)
signal.pause()
